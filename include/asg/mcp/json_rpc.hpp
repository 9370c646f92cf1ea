#pragma once
// JSON-RPC 2.0 messages: bytes to values and back. No era, no method is known here.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "asg/mcp/errors.hpp"

namespace asg::mcp {

/// Bounds of one body. Beyond them it is refused (-32700 for nesting and members, -32600 for a batch).
inline constexpr int kMaxDepth = 64;
inline constexpr std::size_t kMaxMembers = 4096;  // of one object
inline constexpr std::size_t kMaxBatch = 32;

/// A request id: the JSON text as it is echoed, so that 0, "", 2^63 and longer integers come back digit by digit.
struct Id {
  std::string text;
  auto operator<=>(const Id&) const = default;
};

enum class Kind { request, notification, response };

struct Message {
  Kind kind = Kind::request;
  std::optional<Id> id;     // of requests (and of responses, unused)
  std::string method;       // empty for responses
  nlohmann::json params;    // object, or null when absent
};

/// One body: a single message, or the batch of revision 2025-03-26.
struct Payload {
  std::vector<Message> messages;  // exactly one unless batch
  bool batch = false;
};

/// Parses and checks the shape. Refuses (Fault::parse_error) what is not JSON, not UTF-8, nested or grown beyond the
/// bounds above, or has a member twice; (Fault::invalid_request) what is no JSON-RPC message or an empty batch.
/// The refusal carries the id when one could be read.
[[nodiscard]] std::variant<Payload, Refusal> decode(std::string_view body);

/// The text of an id-like value (request id, progress token) with the digits as they came; none when it is neither a
/// string nor an integer.
[[nodiscard]] std::optional<std::string> token_text(const nlohmann::json& value);

[[nodiscard]] std::string encode_result(const Id& id, const nlohmann::ordered_json& result);
/// As above with a result that is JSON text already.
[[nodiscard]] std::string encode_result_text(const Id& id, std::string_view result);
/// An error response; without an id the member is left out (never "id":null).
[[nodiscard]] std::string encode_error(const std::optional<Id>& id, const Refusal& refusal);
/// A notification; params is JSON text of an object.
[[nodiscard]] std::string encode_notification(std::string_view method, std::string_view params);
[[nodiscard]] std::string encode_batch(const std::vector<std::string>& responses);

/// Appends text, which must be UTF-8, as a JSON string with its quotes.
void append_quoted(std::string& out, std::string_view text);
/// Text as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace asg::mcp
