#include "front_loop.hpp"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "asg/base/metrics.hpp"
#include "asg/executor/executor.hpp"
#include "asg/http/server.hpp"
#include "asg/linux/io.hpp"
#include "asg/mcp/dispatcher.hpp"
#include "asg/mcp/stdio_server.hpp"
#include "asg/sandbox/protocol.hpp"
#include "asg/tools/registry.hpp"
#include "check.hpp"
#include "credentials.hpp"
#include "image_info.hpp"
#include "listen.hpp"

namespace asg::app {
namespace {

using sandbox::Message;
using sandbox::MessageType;

constexpr std::chrono::milliseconds kClosingPoll{10};
constexpr std::chrono::seconds kSelfCheckRetry{5};

std::vector<mcp::Tool*> borrow(const std::vector<std::unique_ptr<mcp::Tool>>& tools) {
  std::vector<mcp::Tool*> borrowed;
  for (const auto& tool : tools) borrowed.push_back(tool.get());
  return borrowed;
}

/// Connections must leave room for the pipes of runs.
std::uint32_t connections_within_limits(const config::Config& config) {
  constexpr std::uint64_t kOwn = 64;
  constexpr std::uint64_t kPerRun = 8;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return config.server.max_connections;
  const std::uint64_t kept = kOwn + kPerRun * concurrency_of(config);
  const std::uint64_t room = limit.rlim_cur > 2 * kept ? limit.rlim_cur - kept : limit.rlim_cur / 2;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(config.server.max_connections, room));
}

/// Every object of the front, in the order they need each other; destroyed the other way round.
class Front {
 public:
  Front(const FrontStart& start, FrontSockets sockets, http::Credentials credentials)
      : start_(start),
        log_(start.log.named("front")),
        sockets_(std::move(sockets)),
        credentials_(std::move(credentials)),
        channel_(io_, sockets_.supervisor.release()),
        drain_timer_(io_),
        executor_(io_, {.max_concurrent = concurrency_of(start.config), .queue = queue_of(start.config)},
                  start.log.named("executor")),
        tools_(tools::make_tools({.runner = executor_,
                                  .metrics = metrics_,
                                  .limits = start.config.limits,
                                  .image = image_info(start.host.image_json),
                                  .log = start.log.named("tools")})),
        dispatcher_(borrow(tools_),
                    {.name = "asg-sandbox", .title = "ASG Sandbox", .version = ASG_VERSION,
                     .instructions = tools::server_instructions()},
                    start.log.named("mcp")) {}

  int run() {
    show_executor();
    executor_.attach(std::move(sockets_.launcher));
    listen_to_supervisor();
    switch (start_.mode) {
      case Mode::check: spawn(check()); break;
      case Mode::stdio: spawn(stdio()); break;
      case Mode::serve: serve(); break;
    }
    io_.run();
    return status_;
  }

 private:
  void spawn(Task<void> task) {
    boost::asio::co_spawn(io_, std::move(task), [this](const std::exception_ptr& failure) {
      if (!failure) return;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        log_event(log_, LogLevel::error, "front failed", {{"error", error.what()}});
      }
      stop(1);
    });
  }

  void stop(int status) {
    status_ = status;
    io_.stop();
  }

  Task<void> check() {
    auto findings = co_await probe_all(start_.host, start_.config, executor_);
    const std::string table = to_table(findings);
    std::fputs(table.c_str(), stdout);
    stop(exit_status(findings));
  }

  Task<void> stdio() {
    mcp::StdioSettings settings;
    auto served = co_await mcp::serve_stdio(dispatcher_, settings);
    if (!served) log_event(log_, LogLevel::error, "stdio", {{"error", served.error().to_string()}});
    stop(served ? 0 : 1);
  }

  void show_executor() {
    const auto show = [this](const char* name, const char* help, std::uint32_t executor::ExecutorCounts::*count) {
      metrics_.gauge(name, help, [this, count] { return executor_.counts().*count; });
    };
    show("asg_slots", "Runs that may be at work at once.", &executor::ExecutorCounts::slots);
    show("asg_running", "Slots in use: runs at work, or being cleared away.", &executor::ExecutorCounts::running);
    show("asg_queued", "Calls that wait for a slot.", &executor::ExecutorCounts::queued);
  }

  void serve() {
    const std::string address = bound_address(sockets_.listening.get());
    http::Settings settings{.server = start_.config.server,
                            .rate = start_.config.rate,
                            .dispatcher = dispatcher_,
                            .metrics = metrics_,
                            .pages = {.version = ASG_VERSION,
                                      .not_ready = [this] { return not_ready_; },
                                      .metrics = [this] { return metrics_.text(); }},
                            .log = start_.log.named("http"),
                            .credentials = std::move(credentials_),
                            .timing = {}};
    settings.server.max_connections = connections_within_limits(start_.config);
    auto server = http::Server::create(io_, sockets_.listening.release(), std::move(settings));
    if (!server) {
      log_event(log_, LogLevel::error, "cannot serve", {{"error", server.error().to_string()}});
      return stop(1);
    }
    server_ = std::move(*server);
    metrics_.gauge("asg_http_connections", "Connections open now.", [this] { return static_cast<double>(server_->open_connections()); });
    server_->start();
    log_event(log_, LogLevel::info, "listening", {{"address", address}, {"version", ASG_VERSION}});
    spawn(become_ready());
  }

  Task<void> become_ready() {
    std::string fault = co_await self_check(executor_);
    if (draining_) co_return;
    if (!fault.empty()) {
      not_ready_ = "self-check failed: " + fault;
      log_event(log_, LogLevel::error, "not ready", {{"reason", *not_ready_}});
      retry_timer_.expires_after(kSelfCheckRetry);
      retry_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error && !draining_) spawn(become_ready());
      });
      co_return;
    }
    not_ready_.reset();
    log_event(log_, LogLevel::info, "ready", {{"slots", concurrency_of(start_.config)}});
    tell_supervisor(MessageType::ready);
  }

  void tell_supervisor(MessageType what) {
    (void)sys::send_message(channel_.native_handle(), sys::bytes_of(Message{.type = what}));
  }

  void listen_to_supervisor() {
    channel_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
      if (!error) take_message();
    });
  }

  void take_message() {
    Message message;
    auto received = sys::receive_message(channel_.native_handle(), sys::writable_bytes_of(message), MSG_DONTWAIT);
    if (!received || (*received && (*received)->size != sizeof message)) return stop(1);  // no supervisor, no service
    if (*received && message.type == MessageType::drain) drain();
    if (*received && message.type == MessageType::reload) reload(credentials_in(message.value, (*received)->fds));
    if (*received && message.type == MessageType::ping) tell_supervisor(MessageType::alive);
    if (*received && message.type == MessageType::new_launcher && !(*received)->fds.empty()) {
      executor_.attach(std::move((*received)->fds[0]));
    }
    listen_to_supervisor();
  }

  /// The last answers are still on their way when the last call has ended.
  void stop_when_closed() {
    if (server_->open_connections() == 0) return stop(0);
    closing_timer_.expires_after(kClosingPoll);
    closing_timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) stop_when_closed();
    });
  }

  /// What cannot be used changes nothing: the operator reads why, and callers go on.
  void reload(Result<http::Credentials> credentials) {
    Result<void> loaded = credentials ? server_->reload(*credentials) : std::unexpected(credentials.error());
    if (loaded) return log_event(log_, LogLevel::info, "reloaded", {{"what", "keys and certificate"}});
    log_event(log_, LogLevel::error, "cannot reload", {{"error", loaded.error().to_string()}, {"effect", "keys and certificate stay as they were"}});
  }

  void drain() {
    if (std::exchange(draining_, true)) return;
    not_ready_ = "shutting down";
    executor_.drain();
    if (!server_) return stop(0);
    drain_timer_.expires_after(start_.config.server.drain);
    drain_timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      log_event(log_, LogLevel::warn, "drain time is over", {{"calls_ended", server_->open_calls()}});
      server_->close();
      executor_.cancel_all();
      stop(0);
    });
    server_->drain([this] { stop_when_closed(); });
  }

  const FrontStart& start_;
  Logger log_;
  FrontSockets sockets_;
  http::Credentials credentials_;  // until the server has them
  Metrics metrics_;
  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor channel_;
  boost::asio::steady_timer drain_timer_;
  boost::asio::steady_timer closing_timer_{io_};
  boost::asio::steady_timer retry_timer_{io_};
  executor::Executor executor_;
  std::vector<std::unique_ptr<mcp::Tool>> tools_;
  mcp::Dispatcher dispatcher_;
  std::unique_ptr<http::Server> server_;
  std::optional<std::string> not_ready_ = "starting";
  bool draining_ = false;
  int status_ = 0;
};

}  // namespace

int run_front(const FrontStart& start, FrontSockets sockets, http::Credentials credentials) {
  return Front(start, std::move(sockets), std::move(credentials)).run();
}

}  // namespace asg::app
