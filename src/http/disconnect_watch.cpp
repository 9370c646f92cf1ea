#include "disconnect_watch.hpp"

#include <poll.h>

#include <chrono>
#include <utility>

namespace asg::http {

namespace {

// While unread bytes stand in the socket it stays readable, so the end behind them is looked for at this pace.
constexpr std::chrono::milliseconds kLookAgain{100};

}  // namespace

DisconnectWatch::DisconnectWatch(boost::asio::ip::tcp::socket& socket, std::function<void()> gone)
    : socket_(socket), again_(socket.get_executor()), gone_(std::move(gone)) {}

void DisconnectWatch::start() { wait_readable(); }

void DisconnectWatch::stop() {
  gone_ = nullptr;
  again_.cancel();
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void DisconnectWatch::wait_readable() {
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error && self->gone_) self->look();
                     });
}

void DisconnectWatch::look() {
  pollfd state{.fd = socket_.native_handle(), .events = POLLIN | POLLRDHUP, .revents = 0};
  const int ready = ::poll(&state, 1, 0);
  if (ready < 0 || (state.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
    std::exchange(gone_, nullptr)();
    return;
  }
  if ((state.revents & POLLIN) == 0) {
    wait_readable();
    return;
  }
  again_.expires_after(kLookAgain);
  again_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && self->gone_) self->look();
  });
}

}  // namespace asg::http
