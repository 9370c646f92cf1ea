#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "wire.hpp"

namespace asg::http {

namespace asio = boost::asio;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

class PlainWire final : public Wire {
 public:
  explicit PlainWire(asio::ip::tcp::socket socket) : stream_(std::move(socket)) {}

  void expires_after(std::chrono::milliseconds time) override { stream_.expires_after(time); }

  Task<bool> open() override { co_return true; }

  Task<std::size_t> read_some(asio::mutable_buffer space) override {
    const auto [error, size] = co_await stream_.async_read_some(space, kTuple);
    co_return error ? 0 : size;
  }

  Task<bool> write(std::array<asio::const_buffer, 2> parts) override {
    const auto [error, size] = co_await asio::async_write(stream_, parts, kTuple);
    co_return !error;
  }

  Task<void> shutdown_send() override {
    boost::system::error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    co_return;
  }

  void close() override { stream_.close(); }
  asio::ip::tcp::socket& socket() override { return stream_.socket(); }

 private:
  boost::beast::tcp_stream stream_;
};

}  // namespace

std::unique_ptr<Wire> make_plain_wire(asio::ip::tcp::socket socket) { return std::make_unique<PlainWire>(std::move(socket)); }

}  // namespace asg::http
