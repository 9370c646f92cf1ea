#pragma once
// Control groups over two backends: cgroup v2 (kernel Documentation/admin-guide/cgroup-v2.rst) and the v1 hierarchies of hybrid
// hosts (admin-guide/cgroup-v1/), always below the group this process already is in. Roots are parameters, so that tests run
// on a temporary directory.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"

namespace asg::sys {

enum class Controller { memory, processes, cpu };
[[nodiscard]] const char* to_string(Controller controller);

struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // swap is off
  double cpus = 0;                 // CPU seconds a second
  std::uint32_t processes = 0;     // processes and threads
};

/// What each descriptor of one group is for. v2 has dir and kill; v1 the rest.
enum class CgroupFdKind : std::uint8_t { none, dir, kill, memory_dir, processes_dir, cpu_dir, procs, oom_event };

struct CgroupFd {
  CgroupFdKind kind = CgroupFdKind::none;
  UniqueFd fd;
};

/// The descriptors of one group: enough to enter, watch, read and kill it, nothing to change its limits. Can be handed to a
/// process without privilege.
using CgroupFds = std::vector<CgroupFd>;

struct CgroupUsage {
  std::uint64_t cpu_us = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint32_t processes_peak = 0;
  std::uint64_t oom_kills = 0;  // the kernel's own count
};

/// Reads what the kernel says of a group; what it does not offer stays 0.
[[nodiscard]] CgroupUsage read_usage(std::span<const CgroupFd> fds);

/// One server's groups. Owned by the supervisor, which has the right to make them. Thread: one.
class CgroupTree {
 public:
  virtual ~CgroupTree() = default;
  /// Makes an empty group with limits. The name must be new.
  [[nodiscard]] virtual Result<CgroupFds> make(const std::string& name, const CgroupLimits& limits) = 0;
  /// Puts the launcher into its own leaf (v2: the groups of its children must lie beside it). Nothing to do on v1.
  [[nodiscard]] virtual Result<void> adopt_launcher(int pid) = 0;
  /// Removes it; false while something in it is still dying.
  [[nodiscard]] virtual bool remove(const std::string& name) = 0;
  /// What can be enforced here, found out by doing it.
  [[nodiscard]] virtual std::set<Controller> enforced() const = 0;
  /// 2 or 1; 0 when nothing can be enforced.
  [[nodiscard]] virtual int version() const = 0;
  /// Why a controller is missing, for `check`.
  [[nodiscard]] virtual std::string explain() const = 0;
};

/// Where the hierarchies are: from /proc/self/mountinfo and /proc/self/cgroup (cgroups(7)).
struct CgroupHost {
  std::string v2;                         // directory of our own group; empty: not mounted
  std::map<std::string, std::string> v1;  // controller -> directory of our own group
};
[[nodiscard]] Result<CgroupHost> find_cgroups(const std::string& mountinfo, const std::string& self_cgroup);

struct CgroupOptions {
  std::string owner;        // name of the base group, see owner_name()
  std::uint32_t enter_uid = 0;  // who may clone into the groups (v2); the launcher's id outside
  std::string v2_fault{};       // why v2 cannot be used: what v1 explains where it has no hierarchy
};

/// Picks v2 when it has the controllers, else v1, and makes the base group. Never fails for lack of rights: what cannot be had
/// is missing in enforced(). Moves this process into a leaf of its own on v2.
[[nodiscard]] std::unique_ptr<CgroupTree> make_cgroup_tree(const CgroupHost& host, const CgroupOptions& options);
[[nodiscard]] std::unique_ptr<CgroupTree> make_cgroup_v1(const CgroupHost& host, const CgroupOptions& options);
[[nodiscard]] Result<std::unique_ptr<CgroupTree>> make_cgroup_v2(const CgroupHost& host, const CgroupOptions& options);

/// "asg-sandbox-PID-STARTTIME": names the process that owns a base group, so that a later start can tell a dead one's.
[[nodiscard]] std::string owner_name();
/// Removes the groups of owners that are gone (killed servers). Returns how many base groups went.
std::size_t sweep_cgroups(const CgroupHost& host);

/// Removes a group and all below it, deepest first. False when something is still in it.
[[nodiscard]] bool remove_group_tree(const std::string& directory);

}  // namespace asg::sys
