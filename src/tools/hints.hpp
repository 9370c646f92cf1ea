#pragma once

#include <string>

#include "asg/config/config.hpp"
#include "asg/sandbox/outcome.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::tools {

/// What a hint is made from, taken before the run takes the spec away.
struct HintContext {
  sandbox::Language language = sandbox::Language::python;
  double timeout_seconds = 0;
  bool has_stdin = false;
  bool code_installs = false;  // the code runs pip or npm itself
};

[[nodiscard]] HintContext hint_context(const sandbox::RunSpec& spec);

/// One sentence a model can act on, for what a limit or the sandbox's rules did to the run; empty when nothing helps.
[[nodiscard]] std::string make_hint(const HintContext& context, const sandbox::Outcome& outcome, const config::Limits& limits);

}  // namespace asg::tools
