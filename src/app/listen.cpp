#include "listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "asg/config/endpoint.hpp"

namespace asg::app {
namespace {

constexpr int kBacklog = 1024;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> to_address(const config::Endpoint& endpoint) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, endpoint.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(endpoint.port);
    address.size = sizeof *v4;
    return address;
  }
  if (::inet_pton(AF_INET6, endpoint.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(endpoint.port);
    address.size = sizeof *v6;
    return address;
  }
  return fail(ErrorCode::invalid_argument, "server.listen: not an address: " + endpoint.address);
}

}  // namespace

Result<sys::UniqueFd> listen_on(const std::string& text) {
  auto endpoint = config::parse_endpoint(text);
  if (!endpoint) return std::unexpected(endpoint.error());
  auto address = to_address(*endpoint);
  if (!address) return std::unexpected(address.error());
  sys::UniqueFd socket(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail_errno("socket");
  const int on = 1;
  // A server that was just stopped leaves connections in TIME_WAIT: they must not keep the next one from starting.
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->size) != 0) {
    return fail_errno("server.listen: cannot bind " + text);
  }
  if (::listen(socket.get(), kBacklog) != 0) return fail_errno("listen");
  return socket;
}

std::string bound_address(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  config::Endpoint endpoint;
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    endpoint.port = ntohs(v4->sin_port);
  } else {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    endpoint.port = ntohs(v6->sin6_port);
  }
  endpoint.address = text.data();
  return endpoint.to_string();
}

}  // namespace asg::app
