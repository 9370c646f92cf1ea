#include "progress.hpp"

#include <utility>

#include "asg/mcp/json_rpc.hpp"

namespace asg::mcp {

ProgressReporter::ProgressReporter(const boost::asio::any_io_executor& executor, std::string token, Notify notify)
    : timer_(executor), token_(std::move(token)), notify_(std::move(notify)) {}

void ProgressReporter::start(std::chrono::milliseconds interval) {
  interval_ = interval;
  send();
  arm();
}

void ProgressReporter::say(std::string_view phase) {
  if (!notify_ || phase == phase_) return;
  phase_ = phase;
  send();
  arm();
}

void ProgressReporter::stop() {
  notify_ = nullptr;
  timer_.cancel();
}

void ProgressReporter::send() {
  if (!notify_) return;
  std::string params = R"({"progressToken":)" + token_ + R"(,"progress":)" + std::to_string(++count_);
  params.append(R"(,"message":)").append(quote(phase_)).append("}");
  notify_(encode_notification("notifications/progress", params));
}

void ProgressReporter::arm() {
  timer_.expires_after(interval_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->notify_) return;
    self->send();
    self->arm();
  });
}

}  // namespace asg::mcp
