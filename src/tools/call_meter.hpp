#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "asg/base/metrics.hpp"
#include "asg/mcp/tool.hpp"
#include "asg/sandbox/outcome.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::tools {

/// Counts one call of sandbox_execute, from its making to finish(). metrics must outlive it.
class CallMeter {
 public:
  explicit CallMeter(Metrics& metrics) : metrics_(metrics) {}

  void language(sandbox::Language language);
  void run_begins();
  void run_ended(const sandbox::Outcome& outcome);
  void finish(std::string_view tool, const mcp::ToolResult& result);

 private:
  using Clock = std::chrono::steady_clock;

  Metrics& metrics_;
  Clock::time_point started_ = Clock::now();
  std::optional<Clock::time_point> running_;
  std::string_view language_ = "none";
};

}  // namespace asg::tools
