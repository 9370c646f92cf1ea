#pragma once

#include <string>
#include <vector>

#include "asg/sandbox/limits.hpp"

namespace asg::sandbox {

/// The sandbox's own variables, as NAME=value: fixed, nothing of the daemon's.
[[nodiscard]] std::vector<std::string> base_environment(const LimitSet& limits);

}  // namespace asg::sandbox
