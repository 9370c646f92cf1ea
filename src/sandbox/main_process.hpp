#pragma once
// The last steps of a program's main process, the same for a cold one (before execve) and a warm one (forked from a zygote).

#include <cstdint>

#include "plan.hpp"

namespace asg::sandbox {

/// Where a warm process finds the descriptors that it has beside its standard streams.
inline constexpr int kWordsFd = 3;  // MainPlan::report_fd
inline constexpr int kPayloadFd = 4;
inline constexpr int kGoFd = 5;

/// Streams, limits, ids, user namespace, capabilities. With a payload, the three come to stand at 3, 4 and 5 (close-on-exec for a
/// process that is already what it will be); everything else is closed, now or at exec. Reports and ends when a step fails.
void become_program(const MainPlan& plan) noexcept;
/// The system call filter: last, since the steps above need more calls than a program may make.
void load_filter(const MainPlan& plan) noexcept;
/// Cuts the bounding set, clears the rest. The bounding set can only be cut while CAP_SETPCAP is there.
void drop_bounding_set() noexcept;
[[nodiscard]] bool drop_capabilities() noexcept;
/// Groups, group id, user id. 0, or the number of the failed step.
[[nodiscard]] std::uint32_t change_ids(std::uint32_t id) noexcept;

}  // namespace asg::sandbox
