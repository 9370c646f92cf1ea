#include "call_meter.hpp"

#include "execute_output.hpp"

namespace asg::tools {

namespace {

constexpr Metric kCalls{.name = "asg_calls_total",
                        .help = "Tool calls by tool, language (none: refused before it was read) and outcome: exited, signaled, "
                                "timed_out, out_of_memory, or the code of a failure."};
constexpr Metric kSeconds{.name = "asg_call_seconds",
                          .help = "Time of calls by phase: queue (until the run began), run (wall clock of the program), total.",
                          .kind = Metric::Kind::histogram};
constexpr Metric kKilled{.name = "asg_killed_total",
                         .help = "Runs that we ended, by reason: timed_out, out_of_memory, cancelled (the caller cancelled or went away)."};
constexpr Metric kOutput{.name = "asg_output_bytes_total", .help = "Bytes that programs wrote, by stream; what was cut counts."};

}  // namespace

void CallMeter::language(sandbox::Language language) {
  language_ = language == sandbox::Language::python ? "python" : "javascript";
}

void CallMeter::run_begins() {
  running_ = Clock::now();
  metrics_.observe(kSeconds, {{"phase", "queue"}, {"language", language_}}, *running_ - started_);
}

void CallMeter::run_ended(const sandbox::Outcome& outcome) {
  metrics_.observe(kSeconds, {{"phase", "run"}, {"language", language_}}, outcome.duration);
  metrics_.add(kOutput, {{"stream", "stdout"}}, outcome.out.bytes);
  metrics_.add(kOutput, {{"stream", "stderr"}}, outcome.err.bytes);
  const bool by_us = outcome.cause != sandbox::Cause::exited && outcome.cause != sandbox::Cause::signaled;
  if (by_us) metrics_.add(kKilled, {{"reason", outcome_word(outcome.cause)}});
}

void CallMeter::finish(std::string_view tool, const mcp::ToolResult& result) {
  metrics_.add(kCalls, {{"tool", tool}, {"language", language_}, {"outcome", result.outcome}});
  metrics_.observe(kSeconds, {{"phase", "total"}, {"language", language_}}, Clock::now() - started_);
}

}  // namespace asg::tools
