#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace asg::sys {

/// The service manager that started this process, as sd_notify(3) describes it: datagrams to a socket named in the environment.
/// Says nothing where there is none. Thread: one.
class ServiceManager {
 public:
  /// Takes NOTIFY_SOCKET and the watchdog's variables out of the environment: children are not to speak for us.
  static ServiceManager from_environment();

  /// "READY=1", "STATUS=..."; several assignments a line each.
  void tell(std::string_view assignments) const;
  /// How long the manager waits for a "WATCHDOG=1" before it restarts us.
  [[nodiscard]] std::optional<std::chrono::milliseconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace asg::sys
