#pragma once
// A real server on a free port of loopback, its io_context on a thread of its own, and a client of plain sockets.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "asg/http/server.hpp"

namespace asg::http::testing {

/// "quick" answers at once; "hang" waits until it is cancelled or let go; "report" says two phases before it hangs.
class ScriptedTool final : public mcp::Tool {
 public:
  explicit ScriptedTool(std::string name) : name_(std::move(name)) { definition_["name"] = name_; }
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const nlohmann::ordered_json& definition() const override { return definition_; }

  Task<mcp::ToolResult> call(mcp::CallContext context, nlohmann::json arguments) override {
    last_kind = context.caller;
    if (name_ == "hang") {
      const auto executor = co_await boost::asio::this_coro::executor;
      boost::asio::steady_timer timer(executor);
      timer.expires_at(boost::asio::steady_timer::time_point::max());
      context.cancel->on_cancel([&timer] { timer.cancel(); });
      let_go = [&timer] { timer.cancel(); };
      if (context.progress) context.progress("running");
      started.set_value();
      constexpr auto tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
      co_await timer.async_wait(tuple);
      context.cancel->on_cancel(nullptr);
      if (context.cancel->cancelled()) cancelled.set_value();
    }
    mcp::ToolResult result;
    result.body["content"] = nlohmann::ordered_json::array();
    result.body["isError"] = false;
    if (arguments.contains("fill")) result.body["fill"] = std::string(arguments["fill"].get<std::size_t>(), 'x');
    result.outcome = "exited";
    co_return result;
  }

  std::promise<void> started;
  std::promise<void> cancelled;
  std::function<void()> let_go;  // on the server's thread
  std::atomic<mcp::CallerKind> last_kind{};

 private:
  std::string name_;
  nlohmann::ordered_json definition_;
};

class Client {
 public:
  explicit Client(unsigned short port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  /// Everything until the server closes (or ten seconds of silence, which fails).
  std::string read_all() {
    while (more()) {
    }
    return std::exchange(pending_, {});
  }

  /// Until text has come; what came up to its end.
  std::string read_until(std::string_view text) {
    std::size_t end = 0;
    while ((end = pending_.find(text)) == std::string::npos) {
      if (!more()) return std::exchange(pending_, {});
    }
    std::string result = pending_.substr(0, end + text.size());
    pending_.erase(0, end + text.size());
    return result;
  }

  /// One response with Content-Length: head and body.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const std::size_t length = std::stoul(head.substr(at + 16));
    while (pending_.size() < length && more()) {
    }
    head += pending_.substr(0, length);
    pending_.erase(0, length);
    return head;
  }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
  }

 private:
  bool more() {
    pollfd state{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&state, 1, 10'000) <= 0) {
      ADD_FAILURE() << "nothing came; so far: " << pending_.substr(0, 500);
      return false;
    }
    char chunk[4096];
    const ssize_t size = ::recv(fd_, chunk, sizeof(chunk), 0);
    if (size <= 0) return false;
    pending_.append(chunk, static_cast<std::size_t>(size));
    return true;
  }

  int fd_;
  std::string pending_;
};

inline std::string post(std::string_view body, std::string_view headers = "", std::string_view target = "/mcp") {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

inline std::string call(std::string_view tool, std::string_view more = "") {
  return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + std::string(tool) + "\"" + std::string(more) + "}}";
}

inline const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
inline constexpr std::string_view kClose = "Connection: close\r\n";
inline constexpr std::string_view kEvents = "Accept: application/json, text/event-stream\r\n";

class Loopback : public ::testing::Test {
 protected:
  virtual void configure(config::Server& /*server*/) {}

  void SetUp() override {
    config::Server server;
    configure(server);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(fd, 128), 0);
    auto created = Server::create(context, fd, {.server = server, .rate = rate, .dispatcher = dispatcher, .metrics = metrics, .pages = pages,
                                                .log = Logger(), .credentials = credentials, .timing = timing});
    ASSERT_TRUE(created.has_value());
    http = std::move(*created);
    http->start();
    port = http->port();
    thread = std::thread([this] { context.run(); });
  }

  /// Does it on the server's thread, and waits.
  template <class Action>
  auto on_server(Action action) {
    std::packaged_task<decltype(action())()> task(std::move(action));
    auto done = task.get_future();
    boost::asio::post(context, [&task] { task(); });
    return done.get();
  }

  void TearDown() override {
    on_server([this] { http->close(); });
    work.reset();
    thread.join();  // returns only when every connection has ended
    EXPECT_EQ(http->open_connections(), 0U);
    EXPECT_EQ(http->open_calls(), 0U);
  }

  std::string ask(std::string_view request) {
    Client client(port);
    client.send(request);
    return client.read_response();
  }

  static void wait(std::future<void> event) {
    ASSERT_EQ(event.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  }

  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  ScriptedTool quick{"quick"};
  ScriptedTool hang{"hang"};
  mcp::Dispatcher dispatcher{{&quick, &hang}, {.name = "n", .title = "", .version = "1", .instructions = ""}, Logger()};
  config::Rate rate;
  Credentials credentials;
  Timing timing;
  Metrics metrics;
  Pages pages{.version = "9", .not_ready = {}, .metrics = {}};
  std::unique_ptr<Server> http;
  unsigned short port = 0;
  std::thread thread;
};

}  // namespace asg::http::testing
