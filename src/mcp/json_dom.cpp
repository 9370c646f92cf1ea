#include "json_dom.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "asg/mcp/json_rpc.hpp"

namespace asg::mcp {

namespace {

using nlohmann::json;

bool all_digits(const std::string& token) {
  const std::size_t from = token.starts_with('-') ? 1 : 0;
  return token.size() > from && token.find_first_not_of("0123456789", from) == std::string::npos;
}

bool is_token_key(const std::string& key) { return key == "id" || key == "progressToken" || key == "requestId"; }

/// The library's own DOM builder knows no bounds: nesting would be limited by memory only, and of members with one name
/// the last would win silently.
class BoundedBuilder final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return add(json(nullptr)); }
  bool boolean(bool value) override { return add(json(value)); }
  bool number_integer(number_integer_t value) override { return add(json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(json(value)); }
  bool number_float(number_float_t value, const string_t& token) override {
    if (is_token_key(key_) && token.size() <= kMaxTokenDigits && all_digits(token)) {
      return add(json::binary({token.begin(), token.end()}));
    }
    return add(json(value));
  }
  bool string(string_t& value) override { return add(json(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    json& object = *open_.back();
    if (object.size() >= kMaxMembers) return refuse("an object has too many members");
    if (object.contains(name)) return refuse("an object has the same member twice");
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::detail::exception& /*ex*/) override {
    return refuse("invalid JSON at byte " + std::to_string(position));
  }

  json root;
  std::string reason;

 private:
  static constexpr std::size_t kMaxTokenDigits = 128;

  json* place(json&& value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    json& member = parent[key_];
    member = std::move(value);
    return &member;
  }

  bool add(json&& value) {
    place(std::move(value));
    return true;
  }

  bool open(json&& container) {
    if (open_.size() >= kMaxDepth) return refuse("nested too deeply");
    open_.push_back(place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    key_.clear();
    return true;
  }

  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }

  std::vector<json*> open_;  // stays valid: only the innermost container grows
  std::string key_;
};

}  // namespace

Result<json> parse_json(std::string_view text) {
  BoundedBuilder builder;
  if (!json::sax_parse(text.begin(), text.end(), &builder)) return fail(ErrorCode::invalid_argument, builder.reason);
  return std::move(builder.root);
}

}  // namespace asg::mcp
