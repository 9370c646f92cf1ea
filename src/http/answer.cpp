#include "answer.hpp"

#include <array>
#include <ctime>

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "asg/mcp/json_rpc.hpp"

namespace asg::http {

namespace {

/// RFC 9110 section 5.6.7, in the words of no locale.
std::string http_date() {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

void add_common(std::string& head, const Framing& framing) {
  head.append("Date: ").append(http_date()).append("\r\nX-Content-Type-Options: nosniff\r\n");
  for (const auto& [name, value] : framing.headers) head.append(name).append(": ").append(value).append("\r\n");
  if (!framing.allow_origin.empty()) {
    head.append("Access-Control-Allow-Origin: ").append(framing.allow_origin);
    head.append("\r\nAccess-Control-Expose-Headers: mcp-session-id, www-authenticate, retry-after, "
                "x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset\r\nVary: Origin\r\n");
  }
  head.append(framing.after == AfterAnswer::close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n");
}

std::string chunk(std::string_view data) {
  return fmt::format("{:x}\r\n", data.size()).append(data).append("\r\n");
}

}  // namespace

Answer refusal(unsigned status, std::string_view why, std::string_view reason) {
  Answer answer;
  answer.reason = reason;
  answer.status = status;
  answer.body = R"({"error":)" + mcp::quote(why) + "}";
  return answer;
}

std::string encode_head(const Answer& answer, const Framing& framing) {
  constexpr unsigned kNoContent = 204;
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(answer.status));
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, std::string_view(reason.data(), reason.size()));
  if (!answer.body.empty()) head.append("Content-Type: ").append(answer.content_type).append("\r\n");
  if (answer.status != kNoContent) head.append("Content-Length: ").append(std::to_string(answer.body.size())).append("\r\n");
  for (const auto& [name, value] : answer.headers) head.append(name).append(": ").append(value).append("\r\n");
  add_common(head, framing);
  return head;
}

std::string encode_stream_head(const Framing& framing) {
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
      "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n";
  add_common(head, framing);
  return head;
}

std::string encode_event(std::string_view json) {
  return chunk(std::string("event: message\ndata: ").append(json).append("\n\n"));
}

std::string encode_comment(std::string_view text) { return chunk(std::string(": ").append(text).append("\n\n")); }

}  // namespace asg::http
