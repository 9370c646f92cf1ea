#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/launcher.hpp"
#include "asg/sandbox/protocol.hpp"
#include "spawn.hpp"

namespace asg::sandbox {

/// Serves the front's requests and watches the sandboxes. One thread, one poll loop; ends when a socket is closed.
class LauncherLoop {
 public:
  LauncherLoop(const LauncherSettings& settings, sys::UniqueFd front, sys::UniqueFd supervisor);
  void run();

 private:
  struct Run {
    sys::UniqueFd pidfd;  // of its PID 1
    sys::CgroupFds group;
    std::uint32_t slot = 0;
    bool oom = false;       // v1: told by its event
    bool finished = false;  // the front has had its usage
    bool reaped = false;
  };

  [[nodiscard]] bool serve_front();
  void launch(const Message& request, std::vector<sys::UniqueFd> fds);
  [[nodiscard]] Result<Spawned> start(const Message& request, std::vector<sys::UniqueFd>& fds, Run& run);
  void finish(RunId id);
  [[nodiscard]] static bool heard_of_oom(Run& run);
  void kill(const Run& run) const;
  void reap(RunId id, Run& run);
  void forget(RunId id);
  void answer(const Message& message, std::span<const int> fds = {}) const;
  [[nodiscard]] Result<sys::CgroupFds> make_group(RunId id) const;
  [[nodiscard]] std::uint32_t take_slot();

  const LauncherSettings& settings_;
  sys::UniqueFd front_;
  sys::UniqueFd supervisor_;
  Spawner spawner_;
  std::map<RunId, Run> runs_;
  std::set<std::uint32_t> taken_slots_;
  bool stopping_ = false;
};

}  // namespace asg::sandbox
