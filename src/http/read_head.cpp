#include "read_head.hpp"

#include <string_view>

#include "text.hpp"

namespace asg::http {

namespace {

namespace beast_http = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

template <class Name>
Field field(const beast_http::fields& fields, const Name& name) {
  Field result;
  const auto [first, last] = fields.equal_range(name);
  for (auto it = first; it != last; ++it) {
    if (result.count++ > 0) result.value += ", ";
    result.value += trim(view(it->value()));
  }
  return result;
}

mcp::HeaderValue mcp_header(const beast_http::fields& fields, boost::beast::string_view name) {
  Field found = field(fields, name);
  return {.count = found.count, .value = std::move(found.value)};
}

/// Splits origin-form and absolute-form targets; the query is dropped.
void read_target(std::string_view target, Head& head) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!lower(target.substr(0, scheme.size())).starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = target.find('/');
    head.target_host = target.substr(0, end);
    target = end == std::string_view::npos ? "/" : target.substr(end);
    break;
  }
  head.path = target.substr(0, target.find('?'));
}

}  // namespace

Head read_head(const beast_http::request_header<>& header) {
  using beast_http::field;
  Head head;
  head.version = header.version() >= 11 ? HttpVersion::one_one : HttpVersion::one_zero;
  head.method = view(header.method_string());
  read_target(view(header.target()), head);
  head.host = http::field(header, field::host);
  head.origin = http::field(header, field::origin);
  head.content_type = http::field(header, field::content_type);
  head.content_length = http::field(header, field::content_length);
  head.transfer_encoding = http::field(header, field::transfer_encoding);
  head.accept = http::field(header, field::accept);
  head.expect = http::field(header, field::expect);
  head.authorization = http::field(header, field::authorization);
  head.session_id = http::field(header, boost::beast::string_view("Mcp-Session-Id"));
  head.mcp.protocol_version = mcp_header(header, "MCP-Protocol-Version");
  head.mcp.method = mcp_header(header, "Mcp-Method");
  head.mcp.name = mcp_header(header, "Mcp-Name");
  return head;
}

}  // namespace asg::http
