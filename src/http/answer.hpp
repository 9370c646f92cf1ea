#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asg::http {

/// A whole response but for what the connection adds (length, date, CORS, keep-alive).
struct Answer {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view reason;  // of a refusal, for the metrics: a constant
};

/// A refusal below MCP: {"error": why}. reason is a word for the metrics, a constant.
[[nodiscard]] Answer refusal(unsigned status, std::string_view why, std::string_view reason = "other");

enum class AfterAnswer { keep, close };

/// What every response of one request carries.
struct Framing {
  std::string allow_origin;  // echoed to browsers; empty: none
  AfterAnswer after = AfterAnswer::keep;
  std::vector<std::pair<std::string, std::string>> headers;  // of the caller's limits
};

/// The head with its empty line. Bodies of 204 and 202 without text have no Content-Type.
[[nodiscard]] std::string encode_head(const Answer& answer, const Framing& framing);
/// The head of an event stream: chunked, never cached, not buffered by proxies.
[[nodiscard]] std::string encode_stream_head(const Framing& framing);

/// One server-sent event with one line of data as a chunk of the body. No id: a stream is never resumed.
[[nodiscard]] std::string encode_event(std::string_view json);
/// A comment as a chunk.
[[nodiscard]] std::string encode_comment(std::string_view text);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace asg::http
