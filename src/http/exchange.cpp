#include "exchange.hpp"

#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asg::http {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

}  // namespace

Exchange::Exchange(const asio::any_io_executor& executor, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), news_(executor), token_(std::make_shared<CancelToken>()) {}

void Exchange::start(mcp::Incoming incoming, McpCall::Streams streams) {
  incoming.cancel = token_;
  if (streams == McpCall::Streams::yes) {
    incoming.notify = [this](std::string frame) {  // lives in the coroutine, which holds this
      frames_.push_back(std::move(frame));
      news_.cancel();
    };
  }
  ++shared_->open_calls;
  // Not lost though detached: the connection waits for done(), and open_calls counts it.
  asio::co_spawn(news_.get_executor(), call(shared_from_this(), std::move(incoming)), asio::detached);
}

Task<void> Exchange::call(std::shared_ptr<Exchange> self, mcp::Incoming incoming) {
  try {
    mcp::Reply reply = co_await self->shared_->dispatcher.handle(std::move(incoming));
    self->reply_ = std::move(reply);
  } catch (const std::exception& error) {  // out of memory while decoding: the dispatcher answers all else itself
    log_event(self->shared_->log, LogLevel::error, "request_failed", {{"error", error.what()}});
    self->reply_ = mcp::Reply{.http_status = 500, .body = R"({"error":"internal error"})"};
  }
  self->shared_->call_ended();
  self->news_.cancel();
}

Task<void> Exchange::wait_until(asio::steady_timer::time_point time) {
  news_.expires_at(time);
  co_await news_.async_wait(kTuple);
}

void Exchange::abandon() {
  if (std::exchange(abandoned_, true)) return;
  news_.cancel();
  token_->cancel();
}

}  // namespace asg::http
