#include "asg/linux/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "asg/linux/unique_fd.hpp"

namespace asg::sys {
namespace {

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::optional<long> to_number(const std::string& text) {
  long value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.socket_ = take_variable("NOTIFY_SOCKET");
  const auto interval = to_number(take_variable("WATCHDOG_USEC"));
  const std::string for_whom = take_variable("WATCHDOG_PID");
  if (interval && *interval > 0 && (for_whom.empty() || to_number(for_whom) == ::getpid())) {
    manager.watchdog_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(*interval));
  }
  return manager;
}

void ServiceManager::tell(std::string_view assignments) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // abstract
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(socket.get(), assignments.data(), assignments.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 size);
}

}  // namespace asg::sys
