// Every row of the era decision and every step of the modern ladder, as code and status on the wire.

#include <ostream>

#include "dispatch_fixture.hpp"

namespace asg::mcp::testing {
namespace {

struct Row {
  const char* what;
  std::string body;
  std::string version;  // MCP-Protocol-Version; empty: absent
  std::string method;   // Mcp-Method
  std::string name;     // Mcp-Name
  int status;
  int code;             // of the JSON-RPC error; 0: none
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class EraTable : public DispatchFixture, public ::testing::WithParamInterface<Row> {};

TEST_P(EraTable, Answers) {
  const Row& row = GetParam();
  const Reply reply = post(row.body, row.version, row.method, row.name);
  EXPECT_EQ(reply.http_status, row.status) << reply.body;
  if (row.status == 202) {
    EXPECT_EQ(reply.body, "");
    return;
  }
  const auto answer = parse(reply);
  if (answer.is_array()) return;
  EXPECT_EQ(answer.contains("error") ? answer["error"]["code"].get<int>() : 0, row.code) << reply.body;
  EXPECT_NE(answer.contains("error"), answer.contains("result"));
  EXPECT_FALSE(answer.contains("id") && answer["id"].is_null());
}

const std::string kModern = "2026-07-28";
const std::string kCall = R"("name":"echo","arguments":{},)";

INSTANTIATE_TEST_SUITE_P(
    Decision, EraTable,
    ::testing::Values(
        Row{"batch with a claim", "[" + request("ping") + "," + request("ping", envelope(), "2") + "]", "", "", "", 400, -32600},
        Row{"batch with a claim and header", "[" + request("ping", envelope()) + "]", kModern, "ping", "", 400, -32600},
        Row{"batch under the modern header", "[" + request("ping") + "]", kModern, "", "", 400, -32600},
        Row{"legacy batch", "[" + request("ping") + "]", "", "", "", 200, 0},
        Row{"legacy batch with header", "[" + request("ping") + "]", "2025-03-26", "", "", 200, 0},
        Row{"batch of notifications", R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])", "", "", "", 202, 0},
        Row{"batch, unknown version", "[" + request("ping") + "]", "1999-01-01", "", "", 400, -32022},
        Row{"empty batch", "[]", "", "", "", 400, -32600},
        Row{"claim and header", request("server/discover", envelope()), kModern, "server/discover", "", 200, 0},
        Row{"claim, other header", request("server/discover", envelope()), "2025-11-25", "server/discover", "", 400, -32020},
        Row{"claim, no header", request("server/discover", envelope()), "", "server/discover", "", 400, -32020},
        Row{"header, no claim", request("tools/list"), kModern, "tools/list", "", 400, -32602},
        Row{"header, _meta without claim", request("tools/list", R"("_meta":{})"), kModern, "tools/list", "", 400, -32602},
        Row{"initialize", request("initialize", R"("protocolVersion":"2025-11-25")"), "", "", "", 200, 0},
        Row{"initialize, legacy header", request("initialize"), "2025-06-18", "", "", 200, 0},
        Row{"initialize, modern header", request("initialize"), kModern, "", "", 400, -32020},
        Row{"initialize with a claim", request("initialize", envelope()), kModern, "initialize", "", 404, -32601},
        Row{"bare request", request("tools/list"), "", "", "", 200, 0},
        Row{"2024-11-05", request("tools/list"), "2024-11-05", "", "", 200, 0},
        Row{"2025-03-26", request("tools/list"), "2025-03-26", "", "", 200, 0},
        Row{"2025-06-18", request("tools/list"), "2025-06-18", "", "", 200, 0},
        Row{"2025-11-25", request("tools/list"), "2025-11-25", "", "", 200, 0},
        Row{"unknown version", request("tools/list"), "1999-01-01", "", "", 400, -32022},
        Row{"notification", R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "", "", "", 202, 0},
        Row{"notification, legacy", R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "2025-11-25", "", "", 202, 0},
        Row{"notification, modern", R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listen:0"}})", kModern, "", "", 202, 0},
        Row{"notification, unknown version", R"({"jsonrpc":"2.0","method":"x"})", "1999-01-01", "", "", 400, -32022},
        Row{"response, legacy", R"({"jsonrpc":"2.0","id":1,"result":{}})", "", "", "", 202, 0},
        Row{"response, modern", R"({"jsonrpc":"2.0","id":1,"result":{}})", kModern, "", "", 400, -32600},
        Row{"id null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", "", "", "", 400, -32600}));

INSTANTIATE_TEST_SUITE_P(
    Ladder, EraTable,
    ::testing::Values(
        Row{"no capabilities", request("tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"), kModern, "tools/list", "", 400, -32602},
        Row{"claim is no string", request("tools/list", R"("_meta":{"io.modelcontextprotocol/protocolVersion":5})"), kModern, "tools/list", "", 400, -32602},
        Row{"bad log level", request("tools/list", envelope(kModern, R"(,"io.modelcontextprotocol/logLevel":"loud")")), kModern, "tools/list", "", 400, -32602},
        Row{"good log level", request("tools/list", envelope(kModern, R"(,"io.modelcontextprotocol/logLevel":"debug")")), kModern, "tools/list", "", 200, 0},
        Row{"header is not the claim", request("tools/list", envelope("v999.0.0")), kModern, "tools/list", "", 400, -32020},
        Row{"version not served", request("tools/list", envelope("v999.0.0")), "v999.0.0", "tools/list", "", 400, -32022},
        Row{"legacy version claimed", request("tools/list", envelope("2025-11-25")), "2025-11-25", "tools/list", "", 400, -32022},
        Row{"no Mcp-Method", request("tools/list", envelope()), kModern, "", "", 400, -32020},
        Row{"Mcp-Method of another", request("tools/list", envelope()), kModern, "tools/call", "", 400, -32020},
        Row{"Mcp-Method in capitals", request("tools/list", envelope()), kModern, "TOOLS/LIST", "", 400, -32020},
        Row{"no Mcp-Name", request("tools/call", kCall + envelope()), kModern, "tools/call", "", 400, -32020},
        Row{"Mcp-Name of another", request("tools/call", kCall + envelope()), kModern, "tools/call", "other", 400, -32020},
        Row{"Mcp-Name", request("tools/call", kCall + envelope()), kModern, "tools/call", "echo", 200, 0},
        Row{"Mcp-Name in base64", request("tools/call", kCall + envelope()), kModern, "tools/call", "=?base64?ZWNobw==?=", 200, 0},
        Row{"Mcp-Name, no padding", request("tools/call", kCall + envelope()), kModern, "tools/call", "=?base64?ZWNobw?=", 400, -32020},
        Row{"Mcp-Name, bad alphabet", request("tools/call", kCall + envelope()), kModern, "tools/call", "=?base64?ZW!obw==?=", 400, -32020},
        Row{"Mcp-Name, marker in capitals", request("tools/call", kCall + envelope()), kModern, "tools/call", "=?BASE64?ZWNobw==?=", 400, -32020},
        Row{"no name at all", request("tools/call", envelope()), kModern, "tools/call", "", 200, -32602},
        Row{"ping", request("ping", envelope()), kModern, "ping", "", 404, -32601},
        Row{"logging/setLevel", request("logging/setLevel", envelope()), kModern, "logging/setLevel", "", 404, -32601},
        Row{"resources/subscribe", request("resources/subscribe", envelope()), kModern, "resources/subscribe", "", 404, -32601},
        Row{"subscriptions/listen", request("subscriptions/listen", envelope()), kModern, "subscriptions/listen", "", 404, -32601},
        Row{"unknown/method", request("unknown/method", envelope()), kModern, "unknown/method", "", 404, -32601},
        Row{"discover in the legacy era", request("server/discover"), "", "", "", 200, -32601}));

TEST_F(DispatchFixture, RefusesDuplicatedHeaders) {
  for (const auto member : {&McpHeaders::protocol_version, &McpHeaders::method, &McpHeaders::name}) {
    Incoming incoming;
    incoming.body = request("tools/call", kCall + envelope());
    incoming.headers = McpHeaders{.protocol_version = {1, kModern}, .method = {1, "tools/call"}, .name = {1, "echo"}};
    ((*incoming.headers).*member).count = 2;
    const Reply reply = handle(std::move(incoming));
    EXPECT_EQ(reply.http_status, 400);
    EXPECT_EQ(parse(reply)["error"]["code"], -32020);
  }
}

TEST_F(DispatchFixture, NamesTheServedVersions) {
  const auto error = parse(post(request("tools/list", envelope("v999.0.0")), "v999.0.0", "tools/list"))["error"];
  EXPECT_EQ(error["data"]["requested"], "v999.0.0");
  EXPECT_EQ(error["data"]["supported"][0], kModern);
}

TEST_F(DispatchFixture, ComparesNoHeadersWithoutHeaders) {
  Incoming incoming;
  incoming.body = request("tools/call", kCall + envelope());
  const Reply reply = handle(std::move(incoming));
  EXPECT_EQ(parse(reply)["result"]["resultType"], "complete");
}

}  // namespace
}  // namespace asg::mcp::testing
