// Everything is bounded: time, bytes, connections, and the patience with those who do not read.

#include "loopback.hpp"

namespace asg::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Limited : public Loopback {
  void configure(config::Server& server) override {
    server.header_timeout = std::chrono::seconds(1);
    server.body_timeout = std::chrono::seconds(1);
    server.idle_timeout = std::chrono::seconds(1);
    server.max_body_bytes = 1000;
    server.max_connections = 2;
  }
};

TEST_F(Limited, RefusesABodyBeyondTheLimitBeforeReadingIt) {
  EXPECT_THAT(ask("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2147483648\r\n\r\n{"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, ' ')),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(Limited, CutsOffSlowHeadsBodiesAndIdleConnections) {
  for (const std::string& part : {std::string(), std::string("POST /mcp HTTP/1.1\r\nHost: loc"),
                                  std::string("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{")}) {
    Client client(port);
    client.send(part);
    EXPECT_EQ(client.read_all(), "");
  }
  Client client(port);
  client.send(post(kPing));
  client.read_response();
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(Limited, TheOldestWithoutARequestMakesRoom) {
  Client first(port);
  first.send("POST /mcp HTTP/1.1\r\nHo");  // a slow head is no better than silence
  Client second(port);
  second.send(post(kPing));
  second.read_response();
  Client third(port);
  third.send(post(kPing));
  EXPECT_THAT(third.read_response(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(first.read_all(), "");
  second.send(post(kPing));
  EXPECT_THAT(second.read_response(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(on_server([this] { return metrics.text(); }), HasSubstr("asg_http_connections_dropped_total{reason=\"evicted\"} 1\n"));
}

TEST_F(Limited, WhoeverIsAtWorkKeepsItsPlace) {
  Client first(port);
  first.send(post(call("hang")));
  wait(hang.started.get_future());
  Client second(port);
  second.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n");
  second.read_until("\r\n\r\n");
  Client third(port);
  EXPECT_THAT(third.read_all(), StartsWith("HTTP/1.1 503 "));
  second.send(kPing);
  EXPECT_THAT(second.read_response(), HasSubstr(R"("result":{})"));
}

class Patient : public Loopback {
 protected:
  /// Lets the server go on for some time.
  void pause(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer(context, time);
    std::promise<void> over;
    on_server([&] { timer.async_wait([&](const boost::system::error_code&) { over.set_value(); }); });
    wait(over.get_future());
  }

 private:
  void configure(config::Server& server) override {
    server.max_body_bytes = 1 << 20;
    server.max_buffered_bytes = 300'000;
    timing.write_deadline = std::chrono::milliseconds(100);
    timing.stream_after = std::chrono::milliseconds(20);
    timing.keep_alive = std::chrono::milliseconds(20);
  }
};

TEST_F(Patient, AReaderThatDoesNotReadIsCutOff) {
  Client client(port);
  client.send(post(call("quick", R"(,"arguments":{"fill":50000000})")));
  const std::string dropped = "asg_http_connections_dropped_total{reason=\"unwritable\"} 1\n";
  const auto is_dropped = [&] { return metrics.text().find(dropped) != std::string::npos; };
  for (int i = 0; i < 1000 && !on_server(is_dropped); ++i) pause(std::chrono::milliseconds(10));
  EXPECT_TRUE(on_server(is_dropped));
}

TEST_F(Patient, RequestBodiesTogetherAreBounded) {
  Client holder(port);
  const std::string filler(200'000, ' ');
  holder.send(post(call("hang") + filler));
  wait(hang.started.get_future());
  const std::string answer = ask(post(call("quick") + filler));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 2\r\n"));
  EXPECT_THAT(ask(post(call("quick"))), StartsWith("HTTP/1.1 200 "));
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(holder.read_response(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask(post(call("quick") + filler)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(Patient, ALongCallBecomesAStreamThatIsNeverSilent) {
  Client client(port);
  client.send(post(call("hang"), kEvents));
  EXPECT_THAT(client.read_until(": ok\n\n\r\n"), HasSubstr("text/event-stream"));
  client.read_until(": keepalive\n\n\r\n");
  client.read_until(": keepalive\n\n\r\n");
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(client.read_until("0\r\n\r\n"), HasSubstr("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"));
}

TEST_F(Patient, ALongCallStaysPlainForThoseWhoTakeNoStream) {
  Client client(port);
  client.send(post(call("hang"), "Accept: application/json\r\n"));
  wait(hang.started.get_future());
  pause(std::chrono::milliseconds(60));
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"));
}

}  // namespace
}  // namespace asg::http::testing
