#include "asg/executor/launcher_client.hpp"

#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <utility>

#include "asg/linux/io.hpp"

namespace asg::executor {
namespace {

using sandbox::Message;
using sandbox::MessageType;

Error launcher_lost() { return {.code = ErrorCode::sandbox, .message = "the launcher died", .sys_errno = 0}; }

}  // namespace

LauncherClient::LauncherClient(boost::asio::io_context& io, OnGone on_gone)
    : io_(io), socket_(io), on_gone_(std::move(on_gone)) {}

void LauncherClient::attach(sys::UniqueFd socket) {
  if (socket_.is_open()) lost();
  socket_.assign(socket.release());
  wait();
}

void LauncherClient::launch(const Launch& what, OnLaunched on_launched) {
  pending_[what.run].on_launched = std::move(on_launched);
  const Message request{.type = MessageType::launch, .run = what.run, .language = what.language, .start = what.start};
  const int fds[] = {what.payload_fd, what.stdin_fd};
  const std::size_t count = what.stdin_fd >= 0 ? 2 : 1;
  auto sent = attached() ? sys::send_message(socket_.native_handle(), sys::bytes_of(request), std::span(fds, count))
                         : Result<void>(std::unexpected(launcher_lost()));
  if (sent) return;
  boost::asio::post(io_, [this, run = what.run, error = sent.error()] {
    auto found = pending_.find(run);
    if (found == pending_.end()) return;
    auto callback = std::move(found->second.on_launched);
    pending_.erase(found);
    if (callback) callback(std::unexpected(error));
    on_gone_(run);
  });
}

void LauncherClient::finish(sandbox::RunId run, OnFinished on_finished) {
  if (send_finish(run, {})) {
    pending_[run].on_finished = std::move(on_finished);
    return;
  }
  boost::asio::post(io_, [callback = std::move(on_finished)] { callback(std::unexpected(launcher_lost())); });
}

void LauncherClient::finish_and_collect(sandbox::RunId run, const Collection& collection, OnFinished on_finished,
                                        OnCollected on_collected) {
  const int fds[] = {collection.workspace, collection.patterns, collection.answer};
  if (send_finish(run, fds)) {
    pending_[run].on_finished = std::move(on_finished);
    pending_[run].on_collected = std::move(on_collected);
    return;
  }
  boost::asio::post(io_, [finished = std::move(on_finished), collected = std::move(on_collected)] {
    finished(std::unexpected(launcher_lost()));
    collected(std::unexpected(launcher_lost()));
  });
}

bool LauncherClient::send_finish(sandbox::RunId run, std::span<const int> fds) {
  const Message request{.type = MessageType::finish, .run = run};
  return pending_.contains(run) && attached() && sys::send_message(socket_.native_handle(), sys::bytes_of(request), fds);
}

void LauncherClient::wait() {
  socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) read_all();
  });
}

void LauncherClient::read_all() {
  for (;;) {
    Message message;
    auto received = sys::receive_message(socket_.native_handle(), sys::writable_bytes_of(message), MSG_DONTWAIT);
    if (!received || (*received && (*received)->size != sizeof message)) return lost();
    if (!*received) return wait();
    take(message, std::move((*received)->fds));
    if (!attached()) return;
  }
}

void LauncherClient::take(const Message& message, std::vector<sys::UniqueFd> fds) {
  const auto found = pending_.find(message.run);
  if (found == pending_.end()) return;
  switch (message.type) {
    case MessageType::launched: {
      auto callback = std::exchange(found->second.on_launched, nullptr);
      if (fds.size() < 3) return callback(std::unexpected(launcher_lost()));
      Launched launched{std::move(fds[0]), std::move(fds[1]), std::move(fds[2]), {}, {}};
      if (fds.size() > 3) launched.words = std::move(fds[3]);
      if (fds.size() > 4) launched.workspace = std::move(fds[4]);
      return callback(std::move(launched));
    }
    case MessageType::launch_failed: {
      auto callback = std::exchange(found->second.on_launched, nullptr);
      return callback(std::unexpected(Error{
          .code = ErrorCode::sandbox, .message = message.text, .sys_errno = static_cast<int>(message.value)}));
    }
    case MessageType::finished: {
      auto callback = std::exchange(found->second.on_finished, nullptr);
      if (callback) callback(message.usage);
      return;
    }
    case MessageType::collected: {
      auto callback = std::exchange(found->second.on_collected, nullptr);
      if (!callback) return;
      if (message.value == 0) return callback({});
      return callback(fail(ErrorCode::sandbox, "the collection of output files took too long"));
    }
    case MessageType::gone:
      pending_.erase(found);
      on_gone_(message.run);
      return;
    default: return;
  }
}

void LauncherClient::lost() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  for (auto& [run, pending] : std::exchange(pending_, {})) {
    if (pending.on_launched) pending.on_launched(std::unexpected(launcher_lost()));
    if (pending.on_finished) pending.on_finished(std::unexpected(launcher_lost()));
    if (pending.on_collected) pending.on_collected(std::unexpected(launcher_lost()));
    on_gone_(run);
  }
}

}  // namespace asg::executor
