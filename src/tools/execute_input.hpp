#pragma once
// The arguments of sandbox_execute.

#include <nlohmann/json_fwd.hpp>

#include "asg/base/error.hpp"
#include "asg/config/config.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::tools {

inline constexpr std::size_t kMaxCodeBytes = 4UL << 20;
inline constexpr std::size_t kMaxPackages = 32;
inline constexpr std::size_t kMaxEnvVariables = 64;
inline constexpr std::size_t kMaxEnvBytes = 128UL << 10;  // names and values together; the kernel's bound for one string

/// Checks every argument and makes the run of it; invalid_argument names the field. arguments is an object; its strings
/// are moved out.
[[nodiscard]] Result<sandbox::RunSpec> read_execute(nlohmann::json& arguments, const config::Limits& limits);

}  // namespace asg::tools
