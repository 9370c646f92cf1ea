#pragma once
// The filter as a value: what a program inside may ask the kernel for, one reason a line. Compiled by seccomp.cpp.

#include <cstdint>
#include <span>

namespace asg::sandbox {

enum class Action : std::uint8_t {
  allow,
  refuse,       // EPERM: a power nobody inside may have, and the default
  unknown,      // ENOSYS: programs then fall back, as on an older kernel
  unsupported,  // EOPNOTSUPP
};

/// (argument & mask) == value. Masks cover what the kernel reads: an int argument has 32 bits, whatever stands above them.
struct Condition {
  std::uint8_t argument;
  std::uint64_t mask;
  std::uint64_t value;
};

inline constexpr std::size_t kMaxConditions = 3;

struct Rule {
  const char* call;
  Action action;
  std::uint8_t condition_count;
  Condition conditions[kMaxConditions];  // all must hold
  const char* why;
};

/// Number of the newest call this list knows (set_mempolicy_home_node, Linux 5.17): newer ones are Action::unknown, so that
/// programs fall back as on an older kernel. Any other call that is not allowed is refused.
inline constexpr std::uint32_t kNewestCall = 450;

/// Several rules of one call are alternatives. A refuse rule says why the default is right for that call.
[[nodiscard]] std::span<const Rule> seccomp_rules();

}  // namespace asg::sandbox
