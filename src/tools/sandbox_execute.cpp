#include "sandbox_execute.hpp"

#include <utility>

#include "execute_input.hpp"
#include "execute_output.hpp"
#include "execute_schema.hpp"
#include "hints.hpp"

namespace asg::tools {

namespace {

std::string_view phase_words(executor::Phase phase) {
  switch (phase) {
    case executor::Phase::queued: return "queued";
    case executor::Phase::installing: return "installing packages";
    case executor::Phase::running: return "running";
  }
  std::unreachable();
}

/// meter must outlive the run.
executor::RunHooks make_hooks(mcp::CallContext& context, CallMeter& meter) {
  executor::RunHooks hooks;
  hooks.cancel = context.cancel;
  hooks.on_phase = [say = std::move(context.progress), &meter](executor::Phase phase) {
    if (phase == executor::Phase::running) meter.run_begins();
    if (say) say(phase_words(phase));
  };
  return hooks;
}

bool is_ours(ErrorCode code) {
  return code != ErrorCode::busy && code != ErrorCode::cancelled && code != ErrorCode::invalid_argument;
}

}  // namespace

SandboxExecute::SandboxExecute(const ToolDeps& deps)
    : runner_(deps.runner), metrics_(deps.metrics), limits_(deps.limits), log_(deps.log), definition_(execute_definition(deps.limits, deps.image)) {}

Task<mcp::ToolResult> SandboxExecute::call(mcp::CallContext context, nlohmann::json arguments) {
  CallMeter meter(metrics_);
  mcp::ToolResult result = co_await run(std::move(context), std::move(arguments), meter);
  meter.finish(name(), result);
  co_return result;
}

Task<mcp::ToolResult> SandboxExecute::run(mcp::CallContext context, nlohmann::json arguments, CallMeter& meter) {
  auto spec = read_execute(arguments, limits_);
  if (!spec) co_return mcp::tool_failure(spec.error());
  meter.language(spec->language);
  const HintContext hints = hint_context(*spec);
  const FilesWanted files = arguments.contains("output_files") ? FilesWanted::yes : FilesWanted::no;
  executor::RunHooks hooks = make_hooks(context, meter);
  sandbox::RunSpec run = std::move(*spec);
  auto outcome = co_await runner_.run(std::move(run), std::move(hooks));
  if (!outcome) {
    if (is_ours(outcome.error().code)) {
      log_event(log_, LogLevel::error, "run_failed", {{"id", context.call_id}, {"error", outcome.error().to_string()}});
    }
    co_return mcp::tool_failure(outcome.error());
  }
  meter.run_ended(*outcome);
  if (outcome->cause == sandbox::Cause::cancelled) {
    co_return mcp::tool_failure(mcp::AsgCode::cancelled, "The call was cancelled while it ran.");
  }
  std::string hint = make_hint(hints, *outcome, limits_);
  co_return write_execute(std::move(*outcome), std::move(hint), files);
}

}  // namespace asg::tools
