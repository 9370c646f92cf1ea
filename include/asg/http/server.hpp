#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "asg/base/error.hpp"
#include "asg/base/log.hpp"
#include "asg/base/metrics.hpp"
#include "asg/config/config.hpp"
#include "asg/http/credentials.hpp"
#include "asg/mcp/dispatcher.hpp"

namespace boost::asio {
class io_context;
}

namespace asg::http {

/// What the pages beside /mcp say. Called on the front's thread, must not block.
struct Pages {
  std::string version;
  std::function<std::optional<std::string>()> not_ready;  // why /readyz is 503; empty function: always ready
  std::function<std::string()> metrics;                   // Prometheus text; empty function: 404
};

/// Paces that only tests change.
struct Timing {
  std::chrono::milliseconds stream_after{10'000};    // then a call without progress becomes a stream, too
  std::chrono::milliseconds keep_alive{15'000};      // longest silence on a stream
  std::chrono::milliseconds write_deadline{30'000};  // for each 256 KiB
};

struct Settings {
  config::Server server;
  config::Rate rate;
  mcp::Dispatcher& dispatcher;  // must outlive the server
  Metrics& metrics;             // must outlive the server
  Pages pages;
  Logger log;
  Credentials credentials;
  Timing timing;
};

/// The HTTP/1.1 server, with TLS when there is a certificate: POST /mcp for the dispatcher, health and metrics pages. Owns its connections. Stops in two steps:
/// drain(), then close(); destroying it closes. Thread: the front's single thread, like everything here. Connections end
/// on the io_context: let it run its ready handlers before it is destroyed itself.
class Server {
 public:
  /// Takes over a socket that is bound and listening (owned by the server from here on, also on failure).
  static Result<std::unique_ptr<Server>> create(boost::asio::io_context& context, int listening_fd, Settings settings);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void start();

  /// Other keys and another certificate, for what comes from now on; connections live on. Error: nothing has changed.
  Result<void> reload(const Credentials& credentials);

  /// Step one of stopping: accepts no more, closes idle connections, answers requests that still come with 503 and
  /// Retry-After. idle is called once, when no call runs any more (at once when none does).
  void drain(std::function<void()> idle);
  /// Step two: cancels the calls that still run and closes every connection.
  void close();

  [[nodiscard]] std::size_t open_calls() const;
  [[nodiscard]] std::size_t open_connections() const;
  /// The port it listens on.
  [[nodiscard]] unsigned short port() const;

 private:
  class Impl;
  explicit Server(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace asg::http
