#pragma once

#include "asg/base/error.hpp"
#include "asg/sandbox/run_spec.hpp"
#include "fields.hpp"

namespace asg::tools {

/// arguments.env: names of the shell's form, none that the sandbox itself sets, values without NUL.
[[nodiscard]] Result<void> read_env(Fields& fields, sandbox::RunSpec& spec);

}  // namespace asg::tools
