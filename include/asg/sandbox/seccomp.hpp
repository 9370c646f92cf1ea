#pragma once

#include <linux/filter.h>

#include <string>
#include <vector>

#include "asg/base/error.hpp"

namespace asg::sandbox {

/// The filter of every run as a program for seccomp(2): built once at start (libseccomp allocates), loaded raw in the child.
[[nodiscard]] Result<std::vector<sock_filter>> compile_filter();

/// One line a rule, for print-policy.
[[nodiscard]] std::string describe_filter();

}  // namespace asg::sandbox
