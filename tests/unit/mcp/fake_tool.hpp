#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "asg/mcp/tool.hpp"

namespace asg::mcp::testing {

/// A tool that does what the test says and notes what it was called with.
class FakeTool final : public Tool {
 public:
  explicit FakeTool(std::string name) : name_(std::move(name)) {
    definition_["name"] = name_;
    definition_["inputSchema"]["type"] = "object";
  }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const nlohmann::ordered_json& definition() const override { return definition_; }

  Task<ToolResult> call(CallContext context, nlohmann::json arguments) override {
    contexts.push_back(context);
    seen.push_back(arguments);
    if (pause == Pause::yes) {  // lets everything that is ready go first
      constexpr auto awaitable = boost::asio::use_awaitable;
      co_await boost::asio::post(awaitable);
    }
    if (on_call) co_return on_call(context);
    ToolResult result;
    result.body["content"] = nlohmann::ordered_json::array();
    result.body["isError"] = false;
    result.outcome = "exited";
    co_return result;
  }

  enum class Pause { no, yes } pause = Pause::no;
  std::function<ToolResult(const CallContext&)> on_call;
  std::vector<CallContext> contexts;
  std::vector<nlohmann::json> seen;

 private:
  std::string name_;
  nlohmann::ordered_json definition_;
};

}  // namespace asg::mcp::testing
