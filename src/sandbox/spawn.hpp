#pragma once

#include <string>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/launcher.hpp"
#include "asg/sandbox/run_spec.hpp"
#include "plan.hpp"

namespace asg::sandbox {

/// The outer and inner ends of one sandbox's streams and control socket. The inner ones belong to its main process.
struct Streams {
  sys::Pipe out;
  sys::Pipe err;
  sys::UniqueFd control;        // ours, in the end the front's
  sys::UniqueFd control_inner;  // PID 1's; the launcher's own word comes this way, too
  // Of a warm sandbox only: what its program says itself, and what makes it start.
  sys::Pipe words;
  sys::Pipe go;

  [[nodiscard]] static Result<Streams> create(int pipe_bytes);
  [[nodiscard]] Result<void> add_warm_pipes();
};

/// Starts sandboxes: plan, clone3, the rest is the child's. Owned by the launcher, which has to be on its stage.
class Spawner {
 public:
  explicit Spawner(const LauncherSettings& settings);

  struct Place {
    std::uint32_t slot = 0;
    const sys::CgroupFds& group;
    const Streams& streams;
    int stdin_fd = -1;  // -1: /dev/null
  };
  /// A program with its files and variables, started by execve. Returns the pidfd of PID 1.
  [[nodiscard]] Result<sys::UniqueFd> cold(Language language, const Place& place, int payload_fd) const;
  /// A program that waits for its payload (ControlType::ready, go).
  [[nodiscard]] Result<sys::UniqueFd> waiting(Language language, const Place& place, int payload_fd) const;
  /// Namespaces and PID 1 alone: a zygote forks the main process into them.
  [[nodiscard]] Result<sys::UniqueFd> shell(const Place& place) const;

  /// Ids and id map of a slot's program. The text lives as long as this object is told to keep it: see IdMap.
  [[nodiscard]] std::uint32_t main_id(std::uint32_t slot) const;
  [[nodiscard]] const std::vector<PlanLimit>& limits() const { return limits_; }
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }

 private:
  [[nodiscard]] Result<sys::UniqueFd> start(ChildPlan plan, const Place& place) const;

  const LauncherSettings& settings_;
  std::vector<std::string> environment_;
  std::vector<PlanLimit> limits_;
  std::string tmpfs_size_;
  std::string tmpfs_inodes_;
  sys::UniqueFd null_;
};

/// "1000 ID 1", what uid_map and gid_map of a program get.
[[nodiscard]] std::string id_map_of(std::uint32_t id);

}  // namespace asg::sandbox
