#include "guard.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "text.hpp"

namespace asg::http {

namespace {

using std::string_view;

bool is_loopback_name(string_view host) { return host == "localhost" || host == "127.0.0.1" || host == "::1"; }

bool all_digits(string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A length in one way only: what two readers could frame differently is never read (request smuggling).
std::optional<Answer> check_framing(const Head& head) {
  constexpr unsigned kBadRequest = 400;
  if (head.content_length.count > 1) return refusal(kBadRequest, "several Content-Length headers", "framing");
  if (head.content_length.present() && !all_digits(head.content_length.value)) {
    return refusal(kBadRequest, "Content-Length is no number", "framing");
  }
  if (!head.transfer_encoding.present()) return std::nullopt;
  if (head.content_length.present()) return refusal(kBadRequest, "Content-Length and Transfer-Encoding", "framing");
  if (head.version == HttpVersion::one_zero) return refusal(kBadRequest, "Transfer-Encoding in HTTP/1.0", "framing");
  if (head.transfer_encoding.count > 1 || lower(head.transfer_encoding.value) != "chunked") {
    return refusal(kBadRequest, "Transfer-Encoding can only be chunked", "framing");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> host_name(string_view host) {
  string_view name = host;
  string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == string_view::npos) return std::nullopt;
    name = host.substr(1, end - 1);
    port = host.substr(end + 1);
  } else if (const std::size_t colon = host.find(':'); colon != string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon);
  }
  if (name.empty()) return std::nullopt;
  if (!port.empty() && (port.front() != ':' || !all_digits(port.substr(1)))) return std::nullopt;
  return lower(name);
}

Guard::Guard(const config::Server& settings) {
  for (const std::string& host : settings.allowed_hosts) hosts_.push_back(host_name(host).value_or(lower(host)));
  if (auto own = host_name(settings.listen)) hosts_.push_back(std::move(*own));
  for (const std::string& origin : settings.allowed_origins) origins_.push_back(lower(origin));
}

std::optional<Answer> Guard::check(const Head& head) const {
  if (auto refused = check_framing(head)) return refused;
  if (auto refused = check_host(head)) return refused;
  if (!head.origin.present()) return std::nullopt;
  if (head.origin.count == 1 && origin_allowed(head.origin.value)) return std::nullopt;
  return refusal(403, "this Origin is not allowed; server.allowed_origins names those that are", "origin");
}

std::optional<Answer> Guard::check_host(const Head& head) const {
  if (head.host.count > 1) return refusal(400, "several Host headers", "host");
  if (!head.host.present() && head.version == HttpVersion::one_one) return refusal(400, "the Host header is missing", "host");
  const std::string& given = head.target_host.empty() ? head.host.value : head.target_host;
  if (!head.host.present() && given.empty()) return std::nullopt;  // HTTP/1.0: no browser sends it
  const auto host = host_name(given);
  if (!host) return refusal(400, "the Host header is malformed", "host");
  if (!host_allowed(*host, head)) {
    return refusal(403, "this Host is not allowed; server.allowed_hosts names those that are", "host");
  }
  return std::nullopt;
}

bool Guard::host_allowed(string_view host, const Head& head) const {
  // A page that rebinds a name to us still sends that name; the address itself cannot be forged so.
  if (is_loopback_name(host) || host == head.local_address) return true;
  return std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end();
}

bool Guard::origin_allowed(string_view origin) const {
  const std::string given = lower(origin);
  if (std::find(origins_.begin(), origins_.end(), given) != origins_.end()) return true;
  for (const string_view scheme : {"http://", "https://"}) {
    if (!given.starts_with(scheme)) continue;
    const auto host = host_name(string_view(given).substr(scheme.size()));
    return host && is_loopback_name(*host);
  }
  return false;
}

Answer Guard::preflight() {
  Answer answer;
  answer.status = 204;
  answer.headers = {
      {"Allow", "POST, OPTIONS"},
      {"Access-Control-Allow-Methods", "POST, GET, DELETE, OPTIONS"},
      {"Access-Control-Allow-Headers",
       "content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"},
      {"Access-Control-Max-Age", "600"},
  };
  return answer;
}

}  // namespace asg::http
