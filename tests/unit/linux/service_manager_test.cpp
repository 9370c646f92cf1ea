#include "asg/linux/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "asg/linux/unique_fd.hpp"
#include "support/temp_dir.hpp"

namespace asg::sys {
namespace {

using namespace std::chrono_literals;

TEST(ServiceManager, SaysNothingWithoutOne) {
  ::unsetenv("NOTIFY_SOCKET");
  const auto manager = ServiceManager::from_environment();
  EXPECT_FALSE(manager.watchdog());
  manager.tell("READY=1");
}

TEST(ServiceManager, IsToldAtItsSocketAndKeptFromChildren) {
  const test::TempDir temp;
  const std::string path = (temp.path() / "notify").string();
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  const auto manager = ServiceManager::from_environment();
  EXPECT_EQ(::getenv("NOTIFY_SOCKET"), nullptr);
  manager.tell("READY=1\nSTATUS=serving");
  std::array<char, 64> buffer{};
  const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(size)), "READY=1\nSTATUS=serving");
}

TEST(ServiceManager, WatchdogIsOursOnlyWhenItNamesUs) {
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(ServiceManager::from_environment().watchdog(), 30s);
  EXPECT_FALSE(ServiceManager::from_environment().watchdog());  // it was taken
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid() + 1).c_str(), 1);
  EXPECT_FALSE(ServiceManager::from_environment().watchdog());
  ::setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_FALSE(ServiceManager::from_environment().watchdog());
}

}  // namespace
}  // namespace asg::sys
