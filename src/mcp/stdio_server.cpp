#include "asg/mcp/stdio_server.hpp"

#include <fcntl.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "asg/mcp/json_rpc.hpp"

namespace asg::mcp {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kReadChunk = 65536;

/// Cuts a byte stream into lines within a bound.
class LineReader {
 public:
  explicit LineReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void feed(std::string_view bytes) { pending_.append(bytes); }

  /// The next whole line without its end; none: more bytes are needed. A line beyond the bound comes as an empty
  /// optional inside: there was one, it is gone.
  std::optional<std::optional<std::string>> next() {
    const std::size_t end = pending_.find('\n', searched_);
    if (end == std::string::npos) {
      if (pending_.size() > max_bytes_) {
        pending_.clear();
        skipping_ = true;
      }
      searched_ = pending_.size();
      return std::nullopt;
    }
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    searched_ = 0;
    if (std::exchange(skipping_, false) || line.size() > max_bytes_) return std::optional<std::string>{};
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }

  /// What stands behind the last line end; at end of input it counts as a line.
  std::string rest() { return skipping_ ? std::string{} : std::move(pending_); }

 private:
  std::size_t max_bytes_;
  std::string pending_;
  std::size_t searched_ = 0;
  bool skipping_ = false;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Dispatcher& dispatcher, asio::any_io_executor executor, const StdioSettings& settings)
      : dispatcher_(dispatcher), input_(executor), output_(executor), changed_(executor), settings_(settings),
        lines_(settings.max_message_bytes) {}

  Result<void> open() {
    const int input = ::fcntl(settings_.input, F_DUPFD_CLOEXEC, 3);
    if (input < 0) return fail_errno("duplicating standard input");
    boost::system::error_code error;
    input_.assign(input, error);
    if (error) return fail_errno("watching standard input", error.value());
    const int output = ::fcntl(settings_.output, F_DUPFD_CLOEXEC, 3);
    if (output < 0) return fail_errno("duplicating standard output");
    output_.assign(output, error);
    if (error) return fail_errno("watching standard output", error.value());
    return {};
  }

  Task<void> run() {
    watch_output();
    std::array<char, kReadChunk> chunk;
    const auto space = asio::buffer(chunk);
    while (!broken_) {
      const auto [error, size] = co_await input_.async_read_some(space, kTuple);
      if (error) break;
      lines_.feed(std::string_view(chunk.data(), size));
      co_await take_lines();
    }
    if (std::string line = lines_.rest(); !line.empty() && !broken_) spawn(std::move(line));
    while (running_ > 0 || writing_) co_await wait_for_change();
    output_.close();
  }

 private:
  Task<void> take_lines() {
    while (auto line = lines_.next()) {
      if (!line->has_value()) {
        Refusal refusal;
        refusal.fault = Fault::parse_error;
        refusal.message = "Parse error: the message is beyond the size limit";
        send(encode_error(std::nullopt, refusal));
        continue;
      }
      if ((*line)->find_first_not_of(" \t") == std::string::npos) continue;
      while (running_ >= settings_.max_running) co_await wait_for_change();
      spawn(std::move(**line));
    }
  }

  Task<void> wait_for_change() {
    changed_.expires_at(asio::steady_timer::time_point::max());
    co_await changed_.async_wait(kTuple);
  }

  void spawn(std::string line) {
    ++running_;  // counted: run() ends only when all have
    asio::co_spawn(input_.get_executor(), handle(shared_from_this(), std::move(line)), asio::detached);
  }

  static Task<void> handle(std::shared_ptr<Session> self, std::string line) {
    Incoming incoming;
    incoming.body = std::move(line);
    incoming.caller.cancel_scope = "stdio";
    incoming.cancel = std::make_shared<CancelToken>();
    incoming.notify = [self](std::string frame) { self->send(std::move(frame)); };
    const CancelTokenPtr token = incoming.cancel;
    self->tokens_.insert(token);
    Reply reply = co_await self->dispatcher_.handle(std::move(incoming));
    self->tokens_.erase(token);
    if (!reply.body.empty() && !reply.cancelled_by_notice) self->send(std::move(reply.body));
    --self->running_;
    self->changed_.cancel();
  }

  void send(std::string text) {
    if (broken_) return;
    outbox_.push_back(std::move(text) + "\n");
    if (!writing_) write_next();
  }

  void write_next() {
    writing_ = !outbox_.empty();
    if (!writing_) {
      changed_.cancel();
      return;
    }
    asio::async_write(output_, asio::buffer(outbox_.front()),
                      [self = shared_from_this()](const boost::system::error_code& error, std::size_t /*size*/) {
                        self->outbox_.pop_front();
                        if (error) self->break_off();
                        self->write_next();
                      });
  }

  /// The reader of the output is gone: nobody waits for the calls either.
  void break_off() {
    if (std::exchange(broken_, true)) return;
    while (outbox_.size() > 1) outbox_.pop_back();  // the first one is being written
    output_.cancel();
    for (const CancelTokenPtr& token : std::set(tokens_)) token->cancel();
    input_.cancel();
    changed_.cancel();
  }

  void watch_output() {
    output_.async_wait(asio::posix::stream_descriptor::wait_error,
                       [weak = weak_from_this()](const boost::system::error_code& error) {
                         const auto self = weak.lock();
                         if (self && !error) self->break_off();
                       });
  }

  Dispatcher& dispatcher_;
  asio::posix::stream_descriptor input_;
  asio::posix::stream_descriptor output_;
  asio::steady_timer changed_;  // cancelled when running_, writing_ or broken_ changes
  StdioSettings settings_;
  LineReader lines_;
  std::deque<std::string> outbox_;
  std::set<CancelTokenPtr> tokens_;
  std::size_t running_ = 0;
  bool writing_ = false;
  bool broken_ = false;
};

}  // namespace

Task<Result<void>> serve_stdio(Dispatcher& dispatcher, StdioSettings settings) {
  const auto executor = co_await asio::this_coro::executor;
  const auto session = std::make_shared<Session>(dispatcher, executor, settings);
  auto opened = session->open();
  if (opened) co_await session->run();
  co_return opened;
}

}  // namespace asg::mcp
