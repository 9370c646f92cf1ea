#include "asg/http/server.hpp"

#include <sys/socket.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "asg/base/task.hpp"
#include "connection.hpp"
#include "http_metrics.hpp"
#include "shared.hpp"

namespace asg::http {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kAcceptBackOff{100};  // no descriptors left: some must be closed first

/// Owns a connection for as long as it is served.
Task<void> serve(std::unique_ptr<Connection> connection, std::shared_ptr<Shared> shared) {
  try {
    co_await connection->run();
  } catch (const std::exception& error) {
    log_event(shared->log, LogLevel::error, "connection_failed", {{"error", error.what()}});
  }
}

/// Tells a client why it is not served, as far as its socket takes it without waiting.
void turn_away(tcp::socket socket) {
  constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.send(asio::buffer(kBusy), 0, ignored);
}

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Server::Impl> {
 public:
  Impl(asio::io_context& context, Shared shared)
      : acceptor_(context), back_off_(context), shared_(std::make_shared<Shared>(std::move(shared))) {}

  Result<void> adopt(int fd) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return fail_errno("reading the listening address");
    boost::system::error_code error;
    acceptor_.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd, error);
    if (error) return fail_errno("taking the listening socket", error.value());
    return {};
  }

  void start() { asio::co_spawn(acceptor_.get_executor(), accept_loop(shared_from_this()), asio::detached); }

  void drain(std::function<void()> idle) {
    shared_->draining = Draining::yes;
    stop_accepting();
    for (ConnectionHandle* connection : connections()) connection->close_if_idle();
    if (shared_->open_calls == 0) {
      idle();
    } else {
      shared_->on_idle = std::move(idle);
    }
  }

  void close() {
    shared_->draining = Draining::yes;
    stop_accepting();
    for (ConnectionHandle* connection : connections()) connection->abort();
  }

  [[nodiscard]] const Shared& shared() const { return *shared_; }

  Result<void> reload(const Credentials& credentials) {
    auto tls = make_tls_context(credentials);
    if (!tls) return std::unexpected(std::move(tls.error()));
    std::optional<Keys> keys;
    if (!credentials.keys.empty()) {
      auto parsed = Keys::parse(credentials.keys);
      if (!parsed) return std::unexpected(std::move(parsed.error()));
      keys = std::move(*parsed);
    }
    shared_->tls = std::move(*tls);
    shared_->access.set_keys(std::move(keys));
    return {};
  }

  [[nodiscard]] unsigned short port() const {
    boost::system::error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

 private:
  static Task<void> accept_loop(std::shared_ptr<Impl> self) {
    while (self->acceptor_.is_open()) {
      auto [error, socket] = co_await self->acceptor_.async_accept(kTuple);
      if (!error) {
        self->welcome(std::move(socket));
        continue;
      }
      if (!self->acceptor_.is_open()) break;
      log_event(self->shared_->log, LogLevel::warn, "accept_failed", {{"error", error.message()}});
      self->make_room();
      self->back_off_.expires_after(kAcceptBackOff);
      co_await self->back_off_.async_wait(kTuple);
    }
  }

  void welcome(tcp::socket socket) {
    shared_->metrics.add(kConnectionsOpened, {});
    if (shared_->connections.size() >= shared_->settings.max_connections && !make_room()) {
      shared_->metrics.add(kConnectionsDropped, {{"reason", "turned_away"}});
      turn_away(std::move(socket));
      return;
    }
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto wire = shared_->tls ? make_tls_wire(std::move(socket), shared_->tls) : make_plain_wire(std::move(socket));
    auto connection = std::make_unique<Connection>(std::move(wire), shared_);
    // Not lost though detached: it stands in shared_->connections, through which drain() and close() reach it.
    asio::co_spawn(acceptor_.get_executor(), serve(std::move(connection), shared_), asio::detached);
  }

  /// Closes the one that has gone longest without a request: so many that only wait do not keep others out.
  bool make_room() {
    if (shared_->without_request.empty()) return false;
    shared_->metrics.add(kConnectionsDropped, {{"reason", "evicted"}});
    shared_->without_request.front()->abort();
    return true;
  }

  void stop_accepting() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    back_off_.cancel();
  }

  /// A copy: what is done to them may take them out of the set.
  [[nodiscard]] std::vector<ConnectionHandle*> connections() const {
    return {shared_->connections.begin(), shared_->connections.end()};
  }

  tcp::acceptor acceptor_;
  asio::steady_timer back_off_;
  std::shared_ptr<Shared> shared_;
};

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { impl_->close(); }

Result<std::unique_ptr<Server>> Server::create(asio::io_context& context, int listening_fd, Settings settings) {
  Guard guard(settings.server);
  const std::uint64_t bodies = settings.server.max_buffered_bytes;
  auto impl = std::make_shared<Impl>(context, Shared{.settings = std::move(settings.server),
                                                     .timing = settings.timing,
                                                     .dispatcher = settings.dispatcher,
                                                     .metrics = settings.metrics,
                                                     .pages = std::move(settings.pages),
                                                     .guard = std::move(guard),
                                                     .access = Access(settings.rate),
                                                     .bodies = ByteBudget(bodies),
                                                     .tls = {},
                                                     .log = std::move(settings.log),
                                                     .on_idle = {},
                                                     .connections = {},
                                                     .without_request = {}});
  if (auto loaded = impl->reload(settings.credentials); !loaded) {
    ::close(listening_fd);
    return std::unexpected(std::move(loaded.error()));
  }
  if (auto adopted = impl->adopt(listening_fd); !adopted) {
    ::close(listening_fd);
    return std::unexpected(std::move(adopted.error()));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::start() { impl_->start(); }
Result<void> Server::reload(const Credentials& credentials) { return impl_->reload(credentials); }
void Server::drain(std::function<void()> idle) { impl_->drain(std::move(idle)); }
void Server::close() { impl_->close(); }
std::size_t Server::open_calls() const { return impl_->shared().open_calls; }
std::size_t Server::open_connections() const { return impl_->shared().connections.size(); }
unsigned short Server::port() const { return impl_->port(); }

}  // namespace asg::http
