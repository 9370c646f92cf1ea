#include "asg/mcp/json_rpc.hpp"
#include "asg/mcp/tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asg::mcp {
namespace {

using ::testing::HasSubstr;

Payload good(std::string_view body) {
  auto decoded = decode(body);
  const auto* refusal = std::get_if<Refusal>(&decoded);
  EXPECT_EQ(refusal, nullptr) << (refusal != nullptr ? refusal->message : "");
  return std::get<Payload>(std::move(decoded));
}

Refusal bad(std::string_view body) {
  auto decoded = decode(body);
  if (auto* refusal = std::get_if<Refusal>(&decoded)) return *refusal;
  ADD_FAILURE() << "accepted: " << body.substr(0, 80);
  return {};
}

std::string ping_with_id(std::string_view id) { return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})"; }

TEST(JsonRpc, EchoesIdsExactly) {
  for (const std::string_view id :
       {"0", "1", "-7", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "123456789012345678901234567890", R"("")", R"("a\"b")", R"("é")"}) {
    const Payload payload = good(ping_with_id(id));
    ASSERT_EQ(payload.messages.size(), 1U);
    EXPECT_EQ(payload.messages.front().id->text, id);
    EXPECT_EQ(encode_result_text(*payload.messages.front().id, "{}"),
              R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{}})");
  }
}

TEST(JsonRpc, RefusesOtherIds) {
  for (const std::string_view id : {"null", "1.5", "1e3", "true", "{}", "[]", "[1]"}) {
    EXPECT_EQ(bad(ping_with_id(id)).fault, Fault::invalid_request) << id;
  }
}

TEST(JsonRpc, TellsKindsApart) {
  EXPECT_EQ(good(ping_with_id("1")).messages.front().kind, Kind::request);
  EXPECT_EQ(good(R"({"jsonrpc":"2.0","method":"x"})").messages.front().kind, Kind::notification);
  EXPECT_EQ(good(R"({"jsonrpc":"2.0","id":1,"result":{}})").messages.front().kind, Kind::response);
  EXPECT_EQ(good(R"({"jsonrpc":"2.0","id":1,"error":{}})").messages.front().kind, Kind::response);
}

TEST(JsonRpc, RefusesWhatIsNoJson) {
  const std::string nul(1, '\0');
  for (const std::string& body : {std::string("{not json"), std::string(), nul, std::string(R"({"a":1}})"), std::string("{\"a\":\"\xFF\xFE\"}"),
                                  std::string(R"({"a":"\ud800x"})"), std::string("{\"a\":1,}"), std::string("{'a':1}"), std::string("1 2"),
                                  std::string("{\"a\":\"\xC0\x80\"}"), std::string("[1e999]"), std::string("NaN")}) {
    const Refusal refusal = bad(body);
    EXPECT_EQ(refusal.fault, Fault::parse_error) << body;
    EXPECT_TRUE(refusal.id.empty());
  }
}

TEST(JsonRpc, RefusesWhatIsNoMessage) {
  for (const std::string_view body :
       {"null", "1", "\"x\"", "[]", "{}", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", R"({"id":1,"method":"ping"})",
        R"({"jsonrpc":"2.0","id":1,"method":5})", R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":null})", R"({"jsonrpc":"2.0","id":1})", "[1]", "[[]]"}) {
    EXPECT_EQ(bad(body).fault, Fault::invalid_request) << body;
  }
}

TEST(JsonRpc, NamesTheIdOfARefusedMessage) {
  EXPECT_EQ(bad(R"({"jsonrpc":"2.0","id":"a","method":5})").id, R"("a")");
}

TEST(JsonRpc, BoundsNesting) {
  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","method":"x","params":{"a":)" + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']') + "}}";
  };
  good(nested(kMaxDepth - 2));
  EXPECT_THAT(bad(nested(kMaxDepth - 1)).message, HasSubstr("nested"));
  EXPECT_EQ(bad(std::string(2'000'000, '[')).fault, Fault::parse_error);
}

TEST(JsonRpc, RefusesAMemberTwice) {
  EXPECT_EQ(bad(R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})").fault, Fault::parse_error);
  EXPECT_EQ(bad(R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1,"\u0061":2}})").fault, Fault::parse_error);
}

TEST(JsonRpc, BoundsMembers) {
  std::string body = R"({"jsonrpc":"2.0","method":"x","params":{"k":0)";
  for (std::size_t i = 0; i < kMaxMembers; ++i) body += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(bad(body + "}}").fault, Fault::parse_error);
}

TEST(JsonRpc, BoundsBatches) {
  const auto batch = [](std::size_t size) {
    std::string text = "[";
    for (std::size_t i = 0; i < size; ++i) text += (i > 0 ? "," : "") + ping_with_id(std::to_string(i));
    return text + "]";
  };
  EXPECT_EQ(good(batch(kMaxBatch)).messages.size(), kMaxBatch);
  EXPECT_TRUE(good(batch(1)).batch);
  EXPECT_EQ(bad(batch(kMaxBatch + 1)).fault, Fault::invalid_request);
}

TEST(JsonRpc, EncodesErrors) {
  Refusal refusal{.fault = Fault::unknown_method, .message = "no \"x\"\n", .data = R"({"a":1})", .id = {}};
  EXPECT_EQ(encode_error(Id{"7"}, refusal),
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \"x\"\n","data":{"a":1}}})");
  EXPECT_EQ(encode_error(std::nullopt, {.fault = Fault::parse_error, .message = "m", .data = {}, .id = {}}),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}})");
}

TEST(JsonRpc, QuotesAnything) { EXPECT_EQ(quote("a\"\xFF"), "\"a\\\"\xEF\xBF\xBD\""); }

TEST(JsonRpc, ReadsTokens) {
  EXPECT_EQ(token_text(nlohmann::json(0)), "0");
  EXPECT_EQ(token_text(nlohmann::json("t")), "\"t\"");
  EXPECT_EQ(token_text(nlohmann::json(1.0)), std::nullopt);
  EXPECT_EQ(token_text(nlohmann::json(true)), std::nullopt);
  EXPECT_EQ(token_text(nlohmann::json()), std::nullopt);
}

TEST(Quoting, EscapesWhatJsonMustEscapeAndNothingElse) {
  std::string all;
  for (char c = 0; c < 127; ++c) all.push_back(c);
  all += "\x7F \xC3\xA9 \xE2\x80\xA8 \xF0\x9F\x98\x80";
  std::string quoted;
  append_quoted(quoted, all);
  EXPECT_EQ(quoted, nlohmann::json(all).dump());
  EXPECT_EQ(nlohmann::json::parse(quoted), all);
  std::string empty;
  append_quoted(empty, "");
  EXPECT_EQ(empty, "\"\"");
}

TEST(ToolResults, StructuredTextStandsInThreePlaces) {
  ToolResult result;
  result.body["content"] = nlohmann::ordered_json::array({{{"type", "image"}}});
  result.body["isError"] = false;
  result.body["_meta"]["k"] = 1;
  result.structured = R"({"a":"x\n","b":[1]})";
  EXPECT_EQ(encode_tool_result(result),
            R"({"content":[{"type":"text","text":"{\"a\":\"x\\n\",\"b\":[1]}"},{"type":"image"}],)"
            R"("structuredContent":{"a":"x\n","b":[1]},"isError":false,"_meta":{"k":1},"a":"x\n","b":[1]})");
  result.structured = "{}";
  EXPECT_TRUE(nlohmann::json::accept(encode_tool_result(result)));
}

}  // namespace
}  // namespace asg::mcp
