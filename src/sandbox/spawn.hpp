#pragma once

#include <string>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/linux/cgroup.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/launcher.hpp"
#include "asg/sandbox/run_spec.hpp"
#include "plan.hpp"

namespace asg::sandbox {

struct SpawnRequest {
  Language language{};
  int payload_fd = -1;
  int stdin_fd = -1;  // -1: /dev/null
  std::uint32_t slot = 0;
  const sys::CgroupFds& group;
};

struct Spawned {
  sys::UniqueFd pidfd;
  sys::UniqueFd stdout_fd;  // read ends
  sys::UniqueFd stderr_fd;
  sys::UniqueFd control;
};

/// Starts one cold sandbox: plan, clone3, the rest is the child's. Owned by the launcher, which has to be on its stage.
class Spawner {
 public:
  explicit Spawner(const LauncherSettings& settings);
  [[nodiscard]] Result<Spawned> spawn(const SpawnRequest& request) const;

 private:
  struct Streams;
  [[nodiscard]] ChildPlan common_plan(std::uint32_t slot) const;

  const LauncherSettings& settings_;
  std::vector<std::string> environment_;
  std::vector<PlanLimit> limits_;
  std::string tmpfs_size_;
  std::string tmpfs_inodes_;
};

}  // namespace asg::sandbox
