#pragma once

#include <cstdint>

namespace asg::sandbox {

/// The limits of every run. A call may not raise them.
struct LimitSet {
  std::uint64_t memory_bytes = 0;
  double cpus = 0;               // CPU seconds a second
  std::uint32_t processes = 0;   // processes and threads of the program
  std::uint64_t files_bytes = 0; // the one tmpfs behind /workspace, /tmp and /dev/shm
  std::uint32_t inodes = 0;
  std::uint32_t open_files = 0;
};

}  // namespace asg::sandbox
