#pragma once

#include <functional>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace asg::http {

/// Tells when the other side of a connection goes away while nobody reads from it. Bytes that wait to be read (a
/// pipelined request) are no disconnect, and are left where they are. Between start() and stop() nothing else may read.
class DisconnectWatch : public std::enable_shared_from_this<DisconnectWatch> {
 public:
  /// The socket must outlive the time between start() and stop().
  DisconnectWatch(boost::asio::ip::tcp::socket& socket, std::function<void()> gone);

  void start();
  /// Cancels every wait on the socket: the caller has none of its own then.
  void stop();

 private:
  void wait_readable();
  void look();

  boost::asio::ip::tcp::socket& socket_;
  boost::asio::steady_timer again_;
  std::function<void()> gone_;
};

}  // namespace asg::http
