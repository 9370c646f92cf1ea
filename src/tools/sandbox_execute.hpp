#pragma once

#include <nlohmann/json.hpp>

#include "asg/mcp/tool.hpp"
#include "asg/tools/registry.hpp"
#include "call_meter.hpp"

namespace asg::tools {

/// The tool: arguments to a run, the run's outcome to a result. Thread: the front's single thread.
class SandboxExecute final : public mcp::Tool {
 public:
  explicit SandboxExecute(const ToolDeps& deps);

  [[nodiscard]] std::string_view name() const override { return "sandbox_execute"; }
  [[nodiscard]] const nlohmann::ordered_json& definition() const override { return definition_; }
  Task<mcp::ToolResult> call(mcp::CallContext context, nlohmann::json arguments) override;

 private:
  Task<mcp::ToolResult> run(mcp::CallContext context, nlohmann::json arguments, CallMeter& meter);

  executor::Runner& runner_;
  Metrics& metrics_;
  config::Limits limits_;
  Logger log_;
  nlohmann::ordered_json definition_;
};

}  // namespace asg::tools
