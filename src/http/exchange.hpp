#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "asg/base/task.hpp"
#include "shared.hpp"

namespace asg::http {

/// One message at the dispatcher, and what has come from it so far. The connection waits on it while the call runs in a
/// coroutine of its own. Thread: the executor's.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(const boost::asio::any_io_executor& executor, std::shared_ptr<Shared> shared);

  /// Starts the call; with McpCall::Streams::yes its notifications are kept for the stream.
  void start(mcp::Incoming incoming, McpCall::Streams streams);
  /// Until something has come, or the time.
  Task<void> wait_until(boost::asio::steady_timer::time_point time);
  /// Nobody waits for the answer any more: cancels the call.
  void abandon();

  [[nodiscard]] bool abandoned() const { return abandoned_; }
  [[nodiscard]] bool done() const { return reply_.has_value(); }
  [[nodiscard]] mcp::Reply& reply() { return *reply_; }
  [[nodiscard]] std::deque<std::string>& frames() { return frames_; }

 private:
  static Task<void> call(std::shared_ptr<Exchange> self, mcp::Incoming incoming);

  std::shared_ptr<Shared> shared_;
  boost::asio::steady_timer news_;  // cancelled when something has come
  CancelTokenPtr token_;
  std::deque<std::string> frames_;
  std::optional<mcp::Reply> reply_;
  bool abandoned_ = false;
};

}  // namespace asg::http
