#pragma once

#include <string>

#include "asg/config/config.hpp"

namespace asg::app {

/// What a sandbox may do, in words: mounts, identity, limits, variables and the filter with its reasons (print-policy).
[[nodiscard]] std::string describe_policy(const config::Config& config);

}  // namespace asg::app
