#include "routes.hpp"

#include <string_view>
#include <utility>

#include "asg/mcp/json_rpc.hpp"
#include "guard.hpp"
#include "text.hpp"

namespace asg::http {

namespace {

using std::string_view;

Answer not_allowed(const char* allow) {
  Answer answer = refusal(405, std::string("only ") + allow + " here", "method");
  answer.headers.emplace_back("Allow", allow);
  return answer;
}

/// The parameters of one Accept element say q=0: not wanted.
bool unwanted(string_view parameters) {
  for (std::size_t at = parameters.find("q="); at != string_view::npos; at = parameters.find("q=", at + 1)) {
    const string_view weight = trim(parameters.substr(at + 2, parameters.find(';', at) - at - 2));
    if (!weight.empty() && weight.front() == '0' && weight.find_first_of("123456789") == string_view::npos) return true;
  }
  return false;
}

bool is_json(const Field& content_type) {
  const string_view value = content_type.value;
  return content_type.count == 1 && lower(trim(value.substr(0, value.find(';')))) == "application/json";
}

bool is_mcp(const Head& head) { return head.path == "/mcp" || head.path == "/mcp/"; }

std::variant<McpCall, Answer> route_mcp(const Head& head, Draining draining) {
  if (head.method == "OPTIONS") return Guard::preflight();
  if (head.method != "POST") return not_allowed("POST");  // GET, too: there is no stream outside a call
  if (!is_json(head.content_type)) return refusal(415, "Content-Type must be application/json", "content_type");
  const Accepted accepted = read_accept(head.accept);
  if (!accepted.any) return refusal(406, "Accept must admit application/json or text/event-stream", "accept");
  if (head.expect.present() && lower(head.expect.value) != "100-continue") return refusal(417, "unknown expectation", "expect");
  if (draining == Draining::yes) {
    Answer answer = refusal(503, "the server is stopping; CAPACITY_EXHAUSTED", "draining");
    answer.headers.emplace_back("Retry-After", "5");
    return answer;
  }
  return McpCall{accepted.events ? McpCall::Streams::yes : McpCall::Streams::no};
}

Answer health(const Pages& pages) {
  Answer answer;
  answer.body = R"({"status":"ok","version":)" + mcp::quote(pages.version) + "}";
  return answer;
}

Answer ready(const Pages& pages, Draining draining) {
  std::optional<std::string> reason;
  if (draining == Draining::yes) reason = "draining";
  if (!reason && pages.not_ready) reason = pages.not_ready();
  if (!reason) return health(pages);
  Answer answer;
  answer.status = 503;
  answer.body = R"({"status":"unavailable","reason":)" + mcp::quote(*reason) + "}";
  answer.headers.emplace_back("Retry-After", "5");
  return answer;
}

Answer metrics(const Pages& pages) {
  if (!pages.metrics) return refusal(404, "not found", "path");
  Answer answer;
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  answer.body = pages.metrics();
  return answer;
}

}  // namespace

Accepted read_accept(const Field& accept) {
  if (!accept.present()) return {};
  Accepted result{.any = false, .events = false};
  string_view rest = accept.value;
  while (!rest.empty()) {
    const string_view element = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), element.size() + 1));
    const std::size_t semicolon = element.find(';');
    const std::string type = lower(trim(element.substr(0, semicolon)));
    if (semicolon != string_view::npos && unwanted(element.substr(semicolon))) continue;
    if (type == "text/event-stream") result.events = true;
    if (type == "text/event-stream" || type == "application/json" || type == "*/*" || type == "application/*" || type == "text/*") {
      result.any = true;
    }
  }
  return result;
}

mcp::CallerKind caller_kind(const Head& head) {
  const bool mcp_headers = head.mcp.protocol_version.count + head.mcp.method.count + head.mcp.name.count + head.session_id.count > 0;
  return mcp_headers || read_accept(head.accept).events ? mcp::CallerKind::mcp_client : mcp::CallerKind::plain_http;
}

Needs needs(const Head& head) {
  if (is_mcp(head)) return head.method == "POST" ? Needs::admission : Needs::nothing;
  return head.path == "/metrics" ? Needs::key : Needs::nothing;
}

std::variant<McpCall, Answer> route(const Head& head, const Pages& pages, Draining draining) {
  if (is_mcp(head)) return route_mcp(head, draining);
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (head.path == "/healthz" || head.path == "/health") return reads ? health(pages) : not_allowed("GET, HEAD");
  if (head.path == "/readyz") return reads ? ready(pages, draining) : not_allowed("GET, HEAD");
  if (head.path == "/metrics") return reads ? metrics(pages) : not_allowed("GET, HEAD");
  // /.well-known/oauth-* among them: any other answer would start an OAuth dance in clients that have a key.
  return refusal(404, "not found; MCP is at POST /mcp", "path");
}

}  // namespace asg::http
