#include "asg/config/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <system_error>

namespace asg::config {
namespace {

bool is_address(int family, const std::string& text) {
  in6_addr buffer{};  // large enough for both families
  return inet_pton(family, text.c_str(), &buffer) == 1;
}

bool is_v6(std::string_view address) {
  return address.contains(':');
}

std::unexpected<Error> refuse(std::string_view text) {
  return fail(ErrorCode::invalid_argument,
              "must be ADDR:PORT or [v6]:PORT with a literal address, such as "
              "127.0.0.1:8080, not \"" +
                  std::string(text) + "\"");
}

}  // namespace

std::string Endpoint::to_string() const {
  return (is_v6(address) ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse(text);
  std::string_view address = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);

  Endpoint endpoint;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
  if (error != std::errc{} || end != digits.data() + digits.size()) return refuse(text);

  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  if (bracketed) address = address.substr(1, address.size() - 2);
  endpoint.address = address;
  if (!is_address(bracketed ? AF_INET6 : AF_INET, endpoint.address)) return refuse(text);
  return endpoint;
}

}  // namespace asg::config
