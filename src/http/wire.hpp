#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "asg/base/task.hpp"

namespace asg::http {

/// Bytes in and out of one connection, each with a deadline; plain or TLS. Thread: the executor's.
class Wire {
 public:
  virtual ~Wire() = default;
  /// The deadline of everything that is started from now on.
  virtual void expires_after(std::chrono::milliseconds time) = 0;
  /// What must be said before the first byte (TLS); false: failed or too late.
  virtual Task<bool> open() = 0;
  /// At least one byte; 0: closed, failed or too late.
  virtual Task<std::size_t> read_some(boost::asio::mutable_buffer space) = 0;
  /// All of both; false: failed or too late.
  virtual Task<bool> write(std::array<boost::asio::const_buffer, 2> parts) = 0;
  /// Says that nothing more will be sent.
  virtual Task<void> shutdown_send() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual boost::asio::ip::tcp::socket& socket() = 0;
};

[[nodiscard]] std::unique_ptr<Wire> make_plain_wire(boost::asio::ip::tcp::socket socket);

}  // namespace asg::http
