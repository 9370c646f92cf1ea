#pragma once
// Between the launcher and a zygote (a warmed interpreter that forks main processes on request). Fixed-size packets; the zygote
// is started with its socket at 3 and a memfd that holds one ZygoteSettings at 4.

#include <linux/filter.h>

#include <cstdint>

#include "plan.hpp"

namespace asg::sandbox {

/// What a zygote has imported before it forks: a heavy one forks more slowly and spares a program the import.
enum class Preload : std::uint32_t { light, heavy };

inline constexpr std::size_t kMaxFilter = 2048;
inline constexpr std::size_t kMaxLimits = 8;

struct ZygoteSettings {
  Preload preload{};
  std::uint32_t limit_count = 0;
  std::uint32_t filter_length = 0;
  PlanLimit limits[kMaxLimits]{};
  sock_filter filter[kMaxFilter]{};
};

/// Warm up what is not needed at once; a request that somebody waits for starts right away.
enum class WarmUp : std::uint32_t { no, yes };

/// Descriptors: PID 1's pidfd, words, stdin, stdout, stderr, payload, go, then the group's: its directory (v2) or its procs files.
struct ForkRequest {
  std::uint32_t main_id = 0;
  WarmUp warm_up{};
  std::uint32_t group_version = 0;  // 2: one directory follows; 1: procs files; 0: none
  char id_map[32]{};
};
inline constexpr std::size_t kForkFds = 7;

/// With the child's pidfd when it was forked.
struct ForkReply {
  std::int32_t error = 0;  // errno
};

}  // namespace asg::sandbox
