#include <stdexcept>

#include "asg/mcp/errors.hpp"
#include "dispatch_fixture.hpp"

namespace asg::mcp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModern = "2026-07-28";

TEST_F(DispatchFixture, PingIsEmpty) {
  EXPECT_EQ(post(request("ping")).body, R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_F(DispatchFixture, NegotiatesVersions) {
  const auto version = [&](const std::string& asked) {
    return parse(post(request("initialize", R"("protocolVersion":")" + asked + "\"")))["result"]["protocolVersion"];
  };
  for (const char* served : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) EXPECT_EQ(version(served), served);
  EXPECT_EQ(version("2026-07-28"), "2025-11-25");
  EXPECT_EQ(version("1.0.0"), "2025-11-25");
}

TEST_F(DispatchFixture, InitializeSaysWhoWeAre) {
  const auto result = parse(post(request("initialize")))["result"];
  EXPECT_EQ(result["serverInfo"]["name"], "asg-sandbox");
  EXPECT_EQ(result["serverInfo"]["version"], "9");
  EXPECT_EQ(result["capabilities"], nlohmann::json::parse(R"({"tools":{}})"));
  EXPECT_EQ(result["instructions"], "hi");
  EXPECT_FALSE(result.contains("resultType"));
}

TEST_F(DispatchFixture, DiscoverHasEverythingButServerInfoInTheBody) {
  const auto result = parse(post(request("server/discover", envelope()), kModern, "server/discover"))["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["supportedVersions"][0], kModern);
  EXPECT_EQ(result["capabilities"], nlohmann::json::parse(R"({"tools":{}})"));
  EXPECT_TRUE(result["ttlMs"].is_number_integer());
  EXPECT_EQ(result["cacheScope"], "public");
  EXPECT_FALSE(result.contains("serverInfo"));
  EXPECT_EQ(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "asg-sandbox");
}

TEST_F(DispatchFixture, ListsToolsByEra) {
  const auto legacy = parse(post(request("tools/list")))["result"];
  EXPECT_EQ(legacy.size(), 1U);
  EXPECT_EQ(legacy["tools"][0]["name"], "echo");
  const auto modern = parse(post(request("tools/list", envelope()), kModern, "tools/list"))["result"];
  EXPECT_EQ(modern["tools"], legacy["tools"]);
  EXPECT_EQ(modern["ttlMs"], 300000);
  EXPECT_EQ(parse(post(request("tools/list", R"("cursor":"x")")))["error"]["code"], -32602);
}

TEST(Dispatcher, ListsToolsInTheOrderOfNames) {
  FakeTool b("b");
  FakeTool a("a");
  boost::asio::io_context context;
  Dispatcher dispatcher({&b, &a}, {.name = "n", .title = "", .version = "1", .instructions = ""}, Logger());
  Incoming incoming;
  incoming.body = request("tools/list");
  std::string body;
  boost::asio::co_spawn(context, dispatcher.handle(std::move(incoming)), [&](std::exception_ptr, Reply reply) { body = reply.body; });
  context.run();
  EXPECT_LT(body.find(R"("a")"), body.find(R"("b")"));
}

TEST_F(DispatchFixture, CallsTools) {
  post(request("tools/call", R"("name":"echo","arguments":{"x":1},"_meta":{"k":"v","progressToken":0})"));
  ASSERT_EQ(tool.seen.size(), 1U);
  EXPECT_EQ(tool.seen[0], nlohmann::json::parse(R"({"x":1})"));
  EXPECT_EQ(tool.contexts[0].meta["k"], "v");
  EXPECT_EQ(tool.contexts[0].era, Era::legacy);
  EXPECT_FALSE(tool.contexts[0].progress);
}

TEST_F(DispatchFixture, MissingArgumentsAreEmpty) {
  for (const char* params : {R"("name":"echo")", R"("name":"echo","arguments":null)"}) {
    EXPECT_TRUE(parse(post(request("tools/call", params))).contains("result"));
  }
  EXPECT_EQ(tool.seen, std::vector(2, nlohmann::json::object()));
  EXPECT_EQ(parse(post(request("tools/call", R"("name":"echo","arguments":[1])")))["error"]["code"], -32602);
}

TEST_F(DispatchFixture, RefusesBadCalls) {
  const Reply unknown = post(request("tools/call", R"("name":"nope")"));
  EXPECT_EQ(unknown.http_status, 200);
  EXPECT_EQ(parse(unknown)["error"]["code"], -32602);
  EXPECT_EQ(parse(unknown)["error"]["message"], "Unknown tool: nope");
  for (const char* params : {"", R"("name":5)", R"("arguments":{})"}) {
    EXPECT_EQ(parse(post(request("tools/call", params)))["error"]["code"], -32602) << params;
  }
}

TEST_F(DispatchFixture, AnExceptionIsAnInternalErrorWithTheId) {
  tool.on_call = [](const CallContext&) -> ToolResult { throw std::runtime_error("secret words"); };
  const Reply reply = post(request("tools/call", R"("name":"echo")", R"("x")"));
  EXPECT_EQ(reply.http_status, 200);
  EXPECT_EQ(parse(reply)["id"], "x");
  EXPECT_EQ(parse(reply)["error"]["code"], -32603);
  EXPECT_THAT(reply.body, Not(HasSubstr("secret")));
}

TEST_F(DispatchFixture, ModernResultsAreComplete) {
  tool.on_call = [](const CallContext&) { return tool_busy("full", std::chrono::seconds(3)); };
  const auto result = parse(post(request("tools/call", R"("name":"echo",)" + envelope()), kModern, "tools/call", "echo"))["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["_meta"]["asg_code"], "CAPACITY_EXHAUSTED");
  EXPECT_EQ(result["_meta"]["retry_after_seconds"], 3);
  EXPECT_TRUE(result["_meta"].contains("io.modelcontextprotocol/serverInfo"));
}

TEST_F(DispatchFixture, AnswersBatches) {
  const Reply reply = post("[" + request("ping", "", "1") + R"(,{"jsonrpc":"2.0","method":"n"},)" + request("nope", "", "2") + "]");
  const auto answers = parse(reply);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0]["result"], nlohmann::json::object());
  EXPECT_EQ(answers[1]["error"]["code"], -32601);
}

TEST_F(DispatchFixture, SendsProgressWithTheTokenAsItCame) {
  std::vector<std::string> frames;
  tool.on_call = [](const CallContext& call) {
    call.progress("running");
    call.progress("running");
    return tool_failure(AsgCode::cancelled, "x");
  };
  Incoming incoming;
  incoming.body = request("tools/call", R"("name":"echo","_meta":{"progressToken":18446744073709551616})");
  incoming.notify = [&](std::string frame) { frames.push_back(std::move(frame)); };
  handle(std::move(incoming));
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0],
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":18446744073709551616,"progress":1,"message":"queued"}})");
  EXPECT_THAT(frames[1], HasSubstr(R"("progress":2,"message":"running")"));
}

TEST_F(DispatchFixture, SendsNoProgressWithoutAToken) {
  Incoming incoming;
  incoming.body = request("tools/call", R"("name":"echo")");
  incoming.notify = [](const std::string& frame) { ADD_FAILURE() << frame; };
  handle(std::move(incoming));
  EXPECT_FALSE(tool.contexts.at(0).progress);
}

struct CancelCase {
  const char* what;
  std::string call_scope;
  std::string notice_scope;
  std::string notice_id;
  bool cancelled;
};

TEST_F(DispatchFixture, CancelsWithinOneScopeOnly) {
  for (const CancelCase& row : {CancelCase{"same", "key1", "key1", "1", true}, {"other key", "key1", "key2", "1", false},
                                {"anonymous", "", "", "1", false}, {"other id", "key1", "key1", "2", false},
                                {"id of another type", "key1", "key1", "\"1\"", false}}) {
    bool cancelled = false;
    tool.on_call = [&](const CallContext& call) {
      Incoming notice;
      notice.body = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + row.notice_id + "}}";
      notice.caller.cancel_scope = row.notice_scope;
      boost::asio::co_spawn(context, dispatcher.handle(std::move(notice)), [](std::exception_ptr, const Reply&) {});
      context.poll();
      cancelled = call.cancel->cancelled();
      return tool_failure(AsgCode::cancelled, "x");
    };
    Incoming incoming;
    incoming.body = request("tools/call", R"("name":"echo")");
    incoming.caller.cancel_scope = row.call_scope;
    const Reply reply = handle(std::move(incoming));
    EXPECT_EQ(cancelled, row.cancelled) << row.what;
    EXPECT_EQ(reply.cancelled_by_notice, row.cancelled) << row.what;
  }
}

TEST(Errors, TableOfStatuses) {
  struct Row {
    Fault fault;
    int code;
    int modern;
    int legacy;
  };
  for (const Row& row : {Row{Fault::parse_error, -32700, 400, 400}, {Fault::invalid_request, -32600, 400, 400},
                         {Fault::missing_envelope, -32602, 400, 400}, {Fault::header_mismatch, -32020, 400, 400},
                         {Fault::unsupported_version, -32022, 400, 400}, {Fault::unknown_method, -32601, 404, 200},
                         {Fault::invalid_params, -32602, 200, 200}, {Fault::internal, -32603, 200, 200}}) {
    EXPECT_EQ(wire_status(row.fault, Era::modern).code, row.code);
    EXPECT_EQ(wire_status(row.fault, Era::modern).http, row.modern);
    EXPECT_EQ(wire_status(row.fault, Era::legacy).http, row.legacy);
  }
}

TEST(Errors, ToolFailuresFromErrors) {
  const auto result = [](ErrorCode code) { return tool_failure(Error{.code = code, .message = "/etc/secret", .sys_errno = 0}).body; };
  EXPECT_EQ(result(ErrorCode::invalid_argument)["_meta"]["asg_code"], "INVALID_ARGUMENTS");
  EXPECT_EQ(result(ErrorCode::invalid_argument)["content"][0]["text"], "/etc/secret");
  EXPECT_EQ(result(ErrorCode::cancelled)["_meta"]["asg_code"], "CANCELLED");
  EXPECT_TRUE(result(ErrorCode::busy)["_meta"]["retry_after_seconds"].is_number());
  for (const ErrorCode code : {ErrorCode::sandbox, ErrorCode::io, ErrorCode::internal, ErrorCode::unsupported, ErrorCode::not_found}) {
    EXPECT_EQ(result(code)["_meta"]["asg_code"], "EXECUTION_FAILED");
    EXPECT_THAT(result(code).dump(), Not(HasSubstr("secret")));
    EXPECT_FALSE(result(code).contains("structuredContent"));
    EXPECT_EQ(result(code)["isError"], true);
  }
}

}  // namespace
}  // namespace asg::mcp::testing
