#pragma once
// What a child may do after a fork when a step fails: say which, and end. System calls only.

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "asg/sandbox/protocol.hpp"
#include "stage_id.hpp"

namespace asg::sandbox {

[[noreturn]] inline void die(int report_fd, StageId stage, std::uint32_t index) noexcept {
  const Control report{.type = ControlType::failed,
                       .value = static_cast<std::uint32_t>(errno),
                       .stage = static_cast<std::uint32_t>(stage),
                       .index = index};
  (void)!::write(report_fd, &report, sizeof report);  // a socket or a pipe
  ::_exit(127);
}

inline void check(int report_fd, long result, StageId stage, std::uint32_t index = 0) noexcept {
  if (result < 0) die(report_fd, stage, index);
}

}  // namespace asg::sandbox
