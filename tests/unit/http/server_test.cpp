#include "loopback.hpp"

namespace asg::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Loopback, AnswersJson) {
  const std::string answer = ask(post(kPing));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nDate: "));
  EXPECT_THAT(answer, ::testing::EndsWith(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
}

TEST_F(Loopback, KeepsConnectionsAliveAndAnswersPipelinedRequestsInOrder) {
  Client client(port);
  const std::string second = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  client.send(post(kPing) + post(second) + post(kPing, kClose));
  EXPECT_THAT(client.read_response(), HasSubstr(R"("id":1)"));
  EXPECT_THAT(client.read_response(), HasSubstr(R"("id":2)"));
  EXPECT_THAT(client.read_all(), HasSubstr("Connection: close"));
}

TEST_F(Loopback, NotificationsHaveNoBody) {
  const std::string answer = ask(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("\r\nContent-Type")));
}

TEST_F(Loopback, TakesChunkedBodies) {
  EXPECT_THAT(ask("POST /mcp/?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json; charset=utf-8\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n11\r\n{\"jsonrpc\":\"2.0\",\r\n13\r\n\"id\":1,\"method\":\"pi\r\n4\r\nng\"}\r\n0\r\n\r\n"),
              HasSubstr(R"("result":{})"));
}

TEST_F(Loopback, AnswersExpectBeforeTheBody) {
  Client client(port);
  client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(kPing);
  EXPECT_THAT(client.read_response(), HasSubstr(R"("result":{})"));
}

TEST_F(Loopback, TakesABodyByteByByte) {
  Client client(port);
  for (const char c : post(kPing)) client.send({&c, 1});
  EXPECT_THAT(client.read_response(), HasSubstr(R"("result":{})"));
}

TEST_F(Loopback, SendsLargeAnswersWhole) {
  const std::string answer = ask(post(call("quick", R"(,"arguments":{"fill":5000000})")));
  EXPECT_THAT(answer.substr(0, 20), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, std::string(R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false,"fill":""}})").size() + 5000000);
}

TEST_F(Loopback, TellsPlainCallersApart) {
  ask(post(call("quick")));
  EXPECT_EQ(quick.last_kind, mcp::CallerKind::plain_http);
  ask(post(call("quick"), "MCP-Protocol-Version: 2025-06-18\r\n"));
  EXPECT_EQ(quick.last_kind, mcp::CallerKind::mcp_client);
  ask(post(call("quick"), kEvents));
  EXPECT_EQ(quick.last_kind, mcp::CallerKind::mcp_client);
}

TEST_F(Loopback, StreamsWhenAskedForProgress) {
  Client client(port);
  client.send(post(call("hang", R"(,"_meta":{"progressToken":0})"), kEvents));
  wait(hang.started.get_future());
  const std::string head = client.read_until(": ok\n\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"));
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(client.read_until("\n\n\r\n"), HasSubstr("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":0,\"progress\":1,"));
  EXPECT_THAT(client.read_until("\n\n\r\n"), HasSubstr(R"("progress":2,"message":"running")"));
  on_server([this] { hang.let_go(); });
  const std::string last = client.read_until("0\r\n\r\n");
  EXPECT_THAT(last, HasSubstr(R"("id":1,"result":{)"));
  EXPECT_THAT(last, Not(HasSubstr("id: ")));
  client.send(post(kPing));
  EXPECT_THAT(client.read_response(), HasSubstr(R"("result":{})"));
}

TEST_F(Loopback, DoesNotStreamToThoseWhoDoNotNameIt) {
  EXPECT_THAT(ask(post(call("quick", R"(,"_meta":{"progressToken":0})"), "Accept: */*\r\n")), HasSubstr("application/json"));
}

TEST_F(Loopback, ADisconnectCancelsTheCall) {
  Client client(port);
  client.send(post(call("hang")));
  wait(hang.started.get_future());
  client.reset();
  wait(hang.cancelled.get_future());
}

TEST_F(Loopback, ADisconnectBehindPipelinedBytesCancelsTheCall) {
  Client client(port);
  client.send(post(call("hang")));
  wait(hang.started.get_future());
  client.send("POST /mcp HTTP/1.1\r\n");
  client.close();
  wait(hang.cancelled.get_future());
}

TEST_F(Loopback, PipelinedBytesAreNoDisconnect) {
  Client client(port);
  client.send(post(call("hang")));
  wait(hang.started.get_future());
  client.send(post(kPing));
  ask(post(kPing));  // the server has gone round its loop
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(client.read_response(), HasSubstr(R"("isError":false)"));
  EXPECT_THAT(client.read_response(), HasSubstr(R"("result":{})"));
}

TEST_F(Loopback, DrainsInTwoSteps) {
  Client idle(port);
  idle.send(post(kPing));
  idle.read_response();
  Client busy(port);
  busy.send(post(call("hang")) + post(kPing));
  wait(hang.started.get_future());
  std::promise<void> drained;
  on_server([&] { http->drain([&] { drained.set_value(); }); });
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(on_server([this] { return http->open_calls(); }), 1U);
  on_server([this] { hang.let_go(); });
  wait(drained.get_future());
  const std::string last = busy.read_all();
  EXPECT_THAT(last, HasSubstr(R"("isError":false)"));
  EXPECT_THAT(last, HasSubstr("Connection: close"));
}

TEST_F(Loopback, RefusesCallsThatComeWhileDraining) {
  Client client(port);
  client.send("POST /mcp HTTP/1.1\r\n");
  ask(post(kPing));
  on_server([&] { http->drain([] {}); });
  client.send("Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n");
  const std::string answer = client.read_all();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: "));
}

TEST_F(Loopback, CloseCancelsCalls) {
  Client client(port);
  client.send(post(call("hang")));
  wait(hang.started.get_future());
  on_server([this] { http->close(); });
  wait(hang.cancelled.get_future());
  EXPECT_EQ(client.read_all(), "");
}

}  // namespace
}  // namespace asg::http::testing
