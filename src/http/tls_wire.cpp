#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "tls.hpp"

namespace asg::http {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

class TlsWire final : public Wire {
 public:
  TlsWire(asio::ip::tcp::socket socket, TlsContext context) : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  void expires_after(std::chrono::milliseconds time) override { stream_.next_layer().expires_after(time); }

  Task<bool> open() override {
    const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
    if (!error) state_ = State::open;
    co_return !error;
  }

  Task<std::size_t> read_some(asio::mutable_buffer space) override {
    if (state_ != State::open) {  // what still comes behind our end is only waited out
      auto& raw = stream_.next_layer();
      const auto [error, size] = co_await raw.async_read_some(space, kTuple);
      co_return error ? 0 : size;
    }
    const auto [error, size] = co_await stream_.async_read_some(space, kTuple);
    co_return error ? 0 : size;
  }

  Task<bool> write(std::array<asio::const_buffer, 2> parts) override {
    const auto [error, size] = co_await asio::async_write(stream_, parts, kTuple);
    co_return !error;
  }

  Task<void> shutdown_send() override {
    if (state_ == State::open) {
      state_ = State::ended;
      co_await stream_.async_shutdown(kTuple);
    }
    boost::system::error_code ignored;
    socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override { stream_.next_layer().close(); }
  asio::ip::tcp::socket& socket() override { return stream_.next_layer().socket(); }

 private:
  enum class State { shaking_hands, open, ended } state_ = State::shaking_hands;
  TlsContext context_;
  asio::ssl::stream<boost::beast::tcp_stream> stream_;
};

}  // namespace

std::unique_ptr<Wire> make_tls_wire(asio::ip::tcp::socket socket, TlsContext context) {
  return std::make_unique<TlsWire>(std::move(socket), std::move(context));
}

}  // namespace asg::http
