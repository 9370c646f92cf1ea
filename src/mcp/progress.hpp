#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace asg::mcp {

/// notifications/progress of one call: one at once, one for each phase, and one at least every interval. Nothing is sent
/// after stop(). Thread: the executor's.
class ProgressReporter : public std::enable_shared_from_this<ProgressReporter> {
 public:
  using Notify = std::function<void(std::string frame)>;

  /// token is the JSON text to echo.
  ProgressReporter(const boost::asio::any_io_executor& executor, std::string token, Notify notify);

  void start(std::chrono::milliseconds interval);
  void say(std::string_view phase);
  void stop();

 private:
  void send();
  void arm();

  boost::asio::steady_timer timer_;
  std::string token_;
  Notify notify_;
  std::string phase_ = "queued";
  std::chrono::milliseconds interval_{};
  std::uint64_t count_ = 0;  // "progress" must grow
};

}  // namespace asg::mcp
