#include "asg/mcp/json_rpc.hpp"

#include <utility>

#include "json_dom.hpp"

namespace asg::mcp {

namespace {

using nlohmann::json;

Refusal invalid(std::string why) {
  return {.fault = Fault::invalid_request, .message = "Invalid Request: " + std::move(why), .data = {}, .id = {}};
}

Refusal invalid(std::string why, const std::optional<Id>& id) {
  Refusal refusal = invalid(std::move(why));
  if (id) refusal.id = id->text;
  return refusal;
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

/// The letter behind the backslash; 0: there is none.
char short_escape(char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

std::variant<Message, Refusal> read_message(json& value) {
  if (!value.is_object()) return invalid("a message is an object");
  Message message;
  if (const auto id = value.find("id"); id != value.end()) {
    auto text = token_text(*id);
    if (!text) return invalid("id must be a string or an integer");
    message.id = Id{std::move(*text)};
  }
  const auto version = value.find("jsonrpc");
  if (version == value.end() || *version != "2.0") return invalid("jsonrpc must be \"2.0\"", message.id);
  const auto method = value.find("method");
  if (method == value.end()) {
    if (!value.contains("result") && !value.contains("error")) return invalid("no method", message.id);
    message.kind = Kind::response;
    return message;
  }
  if (!method->is_string()) return invalid("method must be a string", message.id);
  message.method = std::move(method->get_ref<std::string&>());
  message.kind = message.id ? Kind::request : Kind::notification;
  if (const auto params = value.find("params"); params != value.end()) {
    if (!params->is_object()) return invalid("params must be an object", message.id);
    message.params = std::move(*params);
  }
  return message;
}

}  // namespace

std::variant<Payload, Refusal> decode(std::string_view body) {
  auto parsed = parse_json(body);
  if (!parsed) return Refusal{.fault = Fault::parse_error, .message = "Parse error: " + parsed.error().message, .data = {}, .id = {}};
  Payload payload;
  payload.batch = parsed->is_array();
  if (!payload.batch) {
    auto message = read_message(*parsed);
    if (auto* refusal = std::get_if<Refusal>(&message)) return std::move(*refusal);
    payload.messages.push_back(std::move(std::get<Message>(message)));
    return payload;
  }
  if (parsed->empty()) return invalid("an empty batch");
  if (parsed->size() > kMaxBatch) return invalid("a batch of more than " + std::to_string(kMaxBatch) + " messages");
  for (json& element : *parsed) {
    // Refused as a whole: an error without id inside a 200 answer would break clients, and "id":null more so.
    auto message = read_message(element);
    if (auto* refusal = std::get_if<Refusal>(&message)) return invalid("in a batch: " + refusal->message);
    payload.messages.push_back(std::move(std::get<Message>(message)));
  }
  return payload;
}

std::optional<std::string> token_text(const json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return value.dump();
  if (value.is_binary()) return std::string(value.get_binary().begin(), value.get_binary().end());
  return std::nullopt;
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (!needs_escape(c)) continue;
    out.append(text.substr(done, at - done));
    done = at + 1;
    if (const char letter = short_escape(c); letter != 0) {
      out.append({'\\', letter});
    } else {
      const auto code = static_cast<unsigned char>(c);
      out.append({'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 15]});
    }
  }
  out.append(text.substr(done)).push_back('"');
}

std::string quote(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string encode_result_text(const Id& id, std::string_view result) {
  std::string text;
  text.reserve(result.size() + id.text.size() + 40);
  text.append(R"({"jsonrpc":"2.0","id":)").append(id.text).append(R"(,"result":)").append(result).append("}");
  return text;
}

std::string encode_result(const Id& id, const nlohmann::ordered_json& result) {
  return encode_result_text(id, result.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string encode_error(const std::optional<Id>& id, const Refusal& refusal) {
  std::string text = R"({"jsonrpc":"2.0",)";
  if (id) text.append(R"("id":)").append(id->text).append(",");
  const int code = wire_status(refusal.fault, Era::modern).code;
  text.append(R"("error":{"code":)").append(std::to_string(code)).append(R"(,"message":)").append(quote(refusal.message));
  if (!refusal.data.empty()) text.append(R"(,"data":)").append(refusal.data);
  return text.append("}}");
}

std::string encode_notification(std::string_view method, std::string_view params) {
  return std::string(R"({"jsonrpc":"2.0","method":)").append(quote(method)).append(R"(,"params":)").append(params).append("}");
}

std::string encode_batch(const std::vector<std::string>& responses) {
  std::string text = "[";
  for (const std::string& response : responses) {
    if (text.size() > 1) text.append(",");
    text.append(response);
  }
  return text.append("]");
}

}  // namespace asg::mcp
