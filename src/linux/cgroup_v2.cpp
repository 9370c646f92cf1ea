// cgroup v2: one directory a run, entered by CLONE_INTO_CGROUP. Layout below our own (delegated) group:
//   OWNER/self        this process and the front      OWNER/box/launcher   the launcher
//   OWNER/box/run-N   one a run
// A group with controllers for its children may hold no process ("no internal processes"), hence the leaves. Cloning into a
// group needs write access to the common ancestor's cgroup.procs: OWNER/box is the launcher's, and nothing above it.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"

namespace asg::sys {
namespace {

constexpr std::uint64_t kCpuPeriodUs = 100'000;
constexpr const char* kControllers = "+memory +pids +cpu";
constexpr const char* kNoControllers = "-memory -pids -cpu";

Result<void> make_group(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail_errno("mkdir " + directory);
}

/// Lets the launcher clone into a group. A starter that may not give files away (it has no CAP_CHOWN) opens the file to all
/// instead, which lets in nobody new: the kernel asks for the same right at the common ancestor (cgroup-v2.rst, Delegation
/// Containment), so only what is below OWNER/box already can move, and no sandbox sees a cgroup file system.
Result<void> let_enter(int dir, const std::string& file, std::uint32_t uid) {
  if (::fchownat(dir, file.c_str(), uid, static_cast<gid_t>(-1), 0) == 0) return {};
  if (errno == EPERM && ::fchmodat(dir, file.c_str(), 0666, 0) == 0) return {};
  return fail_errno("chown " + file);
}

/// Steps back out of the leaf and takes the layout away, so that a server started by hand leaves nothing. Where another one
/// divides the same group the kernel refuses, and the next start sweeps.
void dissolve(const std::string& own, const std::string& owner_dir) {
  (void)remove_group_tree(owner_dir + "/box");
  (void)write_file(AT_FDCWD, owner_dir + "/cgroup.subtree_control", kNoControllers);
  (void)write_file(AT_FDCWD, own + "/cgroup.subtree_control", kNoControllers);
  (void)write_file(AT_FDCWD, own + "/cgroup.procs", "0");
  (void)remove_group_tree(owner_dir);
}

class CgroupV2 final : public CgroupTree {
 public:
  CgroupV2(std::string own, const CgroupOptions& options)
      : own_(std::move(own)), owner_(own_ + "/" + options.owner), box_(owner_ + "/box"), enter_uid_(options.enter_uid) {}

  ~CgroupV2() override { dissolve(own_, owner_); }

  Result<CgroupFds> make(const std::string& name, const CgroupLimits& limits) override {
    const std::string directory = box_ + "/" + name;
    if (::mkdir(directory.c_str(), 0755) != 0) return fail_errno("mkdir " + directory);
    auto fds = open_group(directory, limits);
    if (!fds) (void)::rmdir(directory.c_str());
    return fds;
  }

  Result<void> adopt_launcher(int pid) override {
    return write_file(AT_FDCWD, box_ + "/launcher/cgroup.procs", std::to_string(pid));
  }
  bool remove(const std::string& name) override { return remove_group_tree(box_ + "/" + name); }
  std::set<Controller> enforced() const override {
    return {Controller::memory, Controller::processes, Controller::cpu};
  }
  int version() const override { return 2; }
  std::string explain() const override { return {}; }

 private:
  Result<CgroupFds> open_group(const std::string& directory, const CgroupLimits& limits) {
    auto dir = open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!dir) return std::unexpected(dir.error());
    const auto quota = static_cast<std::uint64_t>(std::llround(limits.cpus * double(kCpuPeriodUs)));
    const std::pair<const char*, std::string> settings[] = {
        {"memory.max", std::to_string(limits.memory_bytes)},
        {"memory.oom.group", "1"},
        {"pids.max", std::to_string(limits.processes)},
        {"cpu.max", std::to_string(quota) + " " + std::to_string(kCpuPeriodUs)},
    };
    for (const auto& [file, value] : settings) {
      auto set = write_file(dir->get(), file, value);
      if (!set) return std::unexpected(set.error());
    }
    (void)write_file(dir->get(), "memory.swap.max", "0");  // absent where the kernel has no swap accounting
    // The launcher reads below this descriptor; a strict umask would keep it out.
    if (::fchmod(dir->get(), 0755) != 0) return fail_errno("chmod " + directory);
    auto enterable = let_enter(dir->get(), "cgroup.procs", enter_uid_);
    if (!enterable) return std::unexpected(enterable.error());
    auto kill = open_at(dir->get(), "cgroup.kill", O_WRONLY);  // since 5.14
    CgroupFds fds;
    fds.push_back({CgroupFdKind::dir, std::move(*dir)});
    if (kill) fds.push_back({CgroupFdKind::kill, std::move(*kill)});
    return fds;
  }

  std::string own_;  // the group we were started in
  std::string owner_;
  std::string box_;
  std::uint32_t enter_uid_;
};

/// Makes the layout and moves this process into its leaf.
Result<void> prepare(const std::string& own, const std::string& owner_dir, std::uint32_t enter_uid) {
  const std::string box = owner_dir + "/box";
  for (const auto& directory : {owner_dir, owner_dir + "/self"}) {
    auto made = make_group(directory);
    if (!made) return made;
  }
  auto moved = write_file(AT_FDCWD, owner_dir + "/self/cgroup.procs", "0");
  if (!moved) return moved;
  for (const auto& directory : {own, owner_dir}) {
    auto enabled = write_file(AT_FDCWD, directory + "/cgroup.subtree_control", kControllers);
    if (!enabled) return enabled;
  }
  for (const auto& directory : {box, box + "/launcher"}) {
    auto made = make_group(directory);
    if (!made) return made;
  }
  auto enabled = write_file(AT_FDCWD, box + "/cgroup.subtree_control", kControllers);
  if (!enabled) return enabled;
  for (const auto& file : {box + "/cgroup.procs", box + "/launcher/cgroup.procs"}) {
    auto enterable = let_enter(AT_FDCWD, file, enter_uid);
    if (!enterable) return enterable;
  }
  return {};
}

std::string with_remedy(const std::string& why) {
  return why + "; start it by: systemd-run " + (::geteuid() == 0 ? "" : "--user ") + "--scope -p Delegate=yes -- asg-sandbox ...";
}

/// What the kernel's refusal means: the group of a login holds its shell, or belongs to somebody else.
std::string explain_refusal(const std::string& own, const Error& error) {
  if (error.sys_errno == EBUSY) return "other processes are in the control group that this was started in (" + own + ")";
  if (error.sys_errno != EACCES && error.sys_errno != EPERM) return error.to_string();
  return "the control group that this was started in is not ours to divide (" + own + ")";
}

}  // namespace

Result<std::unique_ptr<CgroupTree>> make_cgroup_v2(const CgroupHost& host, const CgroupOptions& options) {
  if (host.v2.empty()) return fail(ErrorCode::unsupported, "cgroup v2 is not mounted");
  auto controllers = read_file(AT_FDCWD, host.v2 + "/cgroup.controllers");
  if (!controllers) return std::unexpected(controllers.error());
  for (const char* needed : {"memory", "pids", "cpu"}) {
    if (controllers->find(needed) == std::string::npos) {
      return fail(ErrorCode::unsupported, with_remedy(std::string("no ") + needed + " controller in " + host.v2));
    }
  }
  const std::string owner_dir = host.v2 + "/" + options.owner;
  auto prepared = prepare(host.v2, owner_dir, options.enter_uid);
  if (!prepared) {
    dissolve(host.v2, owner_dir);
    return fail(ErrorCode::unsupported, with_remedy(explain_refusal(host.v2, prepared.error())));
  }
  return std::make_unique<CgroupV2>(host.v2, options);
}

}  // namespace asg::sys
