#include "fields.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace asg::tools {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxShown = 64;  // of a caller's name in our words
constexpr double kMaxInteger = 9007199254740992.0;  // 2^53: beyond it a double is no exact integer

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::unexpected<Error> refuse(std::string_view path, std::string_view why) {
  return fail(ErrorCode::invalid_argument, std::string(path).append(": ").append(why));
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view shown = name.substr(0, kMaxShown);
  return *std::min_element(known.begin(), known.end(), [shown](std::string_view a, std::string_view b) {
    return edit_distance(shown, a) < edit_distance(shown, b);
  });
}

std::string Fields::path(std::string_view name) const { return path_ + "." + std::string(name.substr(0, kMaxShown)); }

json* Fields::find(std::string_view name) const {
  const auto member = object_.find(name);
  return member == object_.end() || member->is_null() ? nullptr : &*member;
}

Result<void> Fields::only(std::span<const std::string_view> known) const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return refuse(path(name), "unknown; the nearest known one is \"" + std::string(nearest(name, known)) + "\"");
  }
  return {};
}

Result<std::string> Fields::string(std::string_view name) {
  json* member = find(name);
  if (member == nullptr) return refuse(path(name), "is required");
  if (!member->is_string()) return refuse(path(name), "must be a string");
  return std::move(member->get_ref<std::string&>());
}

Result<std::optional<std::string>> Fields::optional_string(std::string_view name) {
  if (find(name) == nullptr) return std::nullopt;
  auto text = string(name);
  if (!text) return std::unexpected(std::move(text.error()));
  return std::move(*text);
}

Result<std::optional<double>> Fields::optional_number(std::string_view name) const {
  const json* member = find(name);
  if (member == nullptr) return std::nullopt;
  if (!member->is_number()) return refuse(path(name), "must be a number");
  return member->get<double>();
}

Result<std::optional<std::int64_t>> Fields::optional_integer(std::string_view name) const {
  auto number = optional_number(name);
  if (!number) return std::unexpected(std::move(number.error()));
  if (!*number) return std::nullopt;
  if (std::trunc(**number) != **number) return refuse(path(name), "must be a whole number");
  return static_cast<std::int64_t>(std::clamp(**number, -kMaxInteger, kMaxInteger));
}

Result<json*> Fields::optional_array(std::string_view name, std::size_t max_items) {
  json* member = find(name);
  if (member == nullptr) return nullptr;
  if (!member->is_array()) return refuse(path(name), "must be an array");
  if (member->size() > max_items) return refuse(path(name), "must have at most " + std::to_string(max_items) + " items");
  return member;
}

Result<json*> Fields::optional_object(std::string_view name) {
  json* member = find(name);
  if (member == nullptr) return nullptr;
  if (!member->is_object()) return refuse(path(name), "must be an object");
  return member;
}

}  // namespace asg::tools
