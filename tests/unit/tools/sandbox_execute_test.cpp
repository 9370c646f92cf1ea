#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "asg/tools/registry.hpp"
#include "fake_runner.hpp"

namespace asg::tools {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SandboxExecuteTest : public ::testing::Test {
 protected:
  mcp::ToolResult call(json arguments, std::function<void(std::string_view)> progress = {}) {
    mcp::CallContext call_context;
    call_context.cancel = std::make_shared<CancelToken>();
    call_context.progress = std::move(progress);
    mcp::ToolResult result;
    boost::asio::co_spawn(context, tool().call(std::move(call_context), std::move(arguments)),
                          [&](std::exception_ptr error, mcp::ToolResult got) {
                            EXPECT_EQ(error, nullptr);
                            result = std::move(got);
                          });
    context.restart();
    context.run();
    return result;
  }

  mcp::Tool& tool() { return *tools.front(); }

  boost::asio::io_context context;
  testing::FakeRunner runner;
  Metrics metrics;
  std::vector<std::unique_ptr<mcp::Tool>> tools = make_tools({.runner = runner, .metrics = metrics, .limits = {}, .image = {}, .log = {}});
};

const json kPrint{{"language", "python"}, {"code", "print(1)"}};

TEST_F(SandboxExecuteTest, RunsAndAnswers) {
  sandbox::Outcome outcome;
  outcome.out.text = "1\n";
  runner.result = outcome;
  std::vector<std::string> phases;
  const auto result = call(kPrint, [&](std::string_view phase) { phases.emplace_back(phase); });
  EXPECT_EQ(json::parse(mcp::encode_tool_result(result))["stdout"], "1\n");
  EXPECT_EQ(runner.specs.at(0).code, "print(1)");
  EXPECT_THAT(phases, ElementsAre("queued", "running"));
}

TEST_F(SandboxExecuteTest, RunsNothingForBadArguments) {
  const auto result = call({{"language", "python"}});
  EXPECT_EQ(result.body["isError"], true);
  EXPECT_EQ(result.body["_meta"]["asg_code"], "INVALID_ARGUMENTS");
  EXPECT_FALSE(result.body.contains("structuredContent"));
  EXPECT_TRUE(runner.specs.empty());
}

TEST_F(SandboxExecuteTest, MapsFailures) {
  runner.result = fail(ErrorCode::busy, "full");
  EXPECT_EQ(call(kPrint).body["_meta"]["asg_code"], "CAPACITY_EXHAUSTED");
  runner.result = fail(ErrorCode::sandbox, "/run/secret broke");
  const auto broken = call(kPrint).body;
  EXPECT_EQ(broken["_meta"]["asg_code"], "EXECUTION_FAILED");
  EXPECT_THAT(broken.dump(), Not(HasSubstr("secret")));
  runner.result = fail(ErrorCode::cancelled, "gone");
  EXPECT_EQ(call(kPrint).body["_meta"]["asg_code"], "CANCELLED");
  sandbox::Outcome cancelled;
  cancelled.cause = sandbox::Cause::cancelled;
  runner.result = cancelled;
  EXPECT_EQ(call(kPrint).body["_meta"]["asg_code"], "CANCELLED");
}

TEST_F(SandboxExecuteTest, DescribesItself) {
  const auto& definition = tool().definition();
  EXPECT_EQ(definition["name"], "sandbox_execute");
  EXPECT_EQ(definition["inputSchema"]["type"], "object");
  EXPECT_EQ(definition["inputSchema"]["additionalProperties"], false);
  EXPECT_EQ(definition["inputSchema"]["required"], nlohmann::ordered_json::array({"language", "code"}));
  for (const char* keyword : {"anyOf", "oneOf", "allOf", "$schema"}) EXPECT_FALSE(definition["inputSchema"].contains(keyword));
  EXPECT_EQ(definition["outputSchema"]["type"], "object");
  EXPECT_FALSE(definition["outputSchema"].contains("$schema"));
  EXPECT_FALSE(definition["inputSchema"]["properties"].contains("packages"));
  for (const char* promised : {"numpy", "/workspace", "output_files", "No network", "512 MiB", "read-only"}) {
    EXPECT_THAT(definition["description"].get<std::string>(), HasSubstr(promised));
  }
  for (const char* hint : {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}) {
    EXPECT_EQ(definition["annotations"][hint], false) << hint;
  }
}

}  // namespace
}  // namespace asg::tools
