#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include <linux/filter.h>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/limits.hpp"

namespace asg::sandbox {

/// How many ready sandboxes wait for their program. All zero: every run starts cold.
struct PoolSizes {
  std::uint32_t python_light = 0;  // the standard library imported
  std::uint32_t python_heavy = 0;  // and numpy, pandas, requests, pillow
  std::uint32_t node = 0;
};

/// What a launcher is started with. Copied into it by fork; immutable.
struct LauncherSettings {
  std::string image;   // directory of the runtime image
  std::string runner;  // directory of our own files inside (init, prepare.cjs)
  LimitSet limits;
  std::vector<sock_filter> filter;
  PoolSizes pool;
  // Ids outside: [uid_base, uid_base + uid_count) becomes [0, uid_count) inside. A count of 1 maps only the starter's own id.
  std::uint32_t uid_base = 0;
  std::uint32_t uid_count = 1;
};

struct LauncherHandle {
  pid_t pid = -1;
  sys::UniqueFd pidfd;
  sys::UniqueFd front;       // the front's end of its socket to the launcher
  sys::UniqueFd supervisor;  // the supervisor's end
};

/// Forks the launcher into namespaces of its own and writes its id maps. Call from a single-threaded process that holds the
/// privilege. The launcher dies with the caller and when either socket is closed. Errors: what could not be set up, by name.
[[nodiscard]] Result<LauncherHandle> spawn_launcher(const LauncherSettings& settings);

/// Ids that are taken in the launcher's range.
inline constexpr std::uint32_t kFrontId = 1;  // the front runs as uid_base + kFrontId when started with the privilege
inline constexpr std::uint32_t kInitId = 2;   // PID 1 of every sandbox
inline constexpr std::uint32_t kFirstRunId = 1000;

}  // namespace asg::sandbox
