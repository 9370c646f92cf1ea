// cgroup v2: one directory a run, entered by CLONE_INTO_CGROUP. Layout below our own (delegated) group:
//   OWNER/self        this process and the front      OWNER/box/launcher   the launcher
//   OWNER/box/run-N   one a run
// A group with controllers for its children may hold no process ("no internal processes"), hence the leaves. Cloning into a
// group needs write access to the common ancestor's cgroup.procs: OWNER/box is the launcher's, and nothing above it.

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"

namespace asg::sys {
namespace {

constexpr std::uint64_t kCpuPeriodUs = 100'000;
constexpr const char* kControllers = "+memory +pids +cpu";

Result<void> make_group(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail_errno("mkdir " + directory);
}

class CgroupV2 final : public CgroupTree {
 public:
  CgroupV2(std::string owner_dir, std::uint32_t enter_uid)
      : owner_(std::move(owner_dir)), box_(owner_ + "/box"), enter_uid_(enter_uid) {}

  ~CgroupV2() override {
    // We sit in OWNER/self ourselves: what remains is swept by the next start or by systemd.
    (void)remove_group_tree(box_);
  }

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
    if (::fchownat(dir->get(), "cgroup.procs", enter_uid_, static_cast<gid_t>(-1), 0) != 0) return fail_errno("chown cgroup.procs");
    auto kill = open_at(dir->get(), "cgroup.kill", O_WRONLY);  // since 5.14
    CgroupFds fds;
    fds.push_back({CgroupFdKind::dir, std::move(*dir)});
    if (kill) fds.push_back({CgroupFdKind::kill, std::move(*kill)});
    return fds;
  }

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
    if (!enabled) return std::unexpected(enabled.error().in("enabling controllers (is the group delegated and empty?)"));
  }
  for (const auto& directory : {box, box + "/launcher"}) {
    auto made = make_group(directory);
    if (!made) return made;
  }
  auto enabled = write_file(AT_FDCWD, box + "/cgroup.subtree_control", kControllers);
  if (!enabled) return enabled;
  for (const auto& file : {box + "/cgroup.procs", box + "/launcher/cgroup.procs"}) {
    if (::chown(file.c_str(), enter_uid, static_cast<gid_t>(-1)) != 0) return fail_errno("chown " + file);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<CgroupTree>> make_cgroup_v2(const CgroupHost& host, const CgroupOptions& options) {
  if (host.v2.empty()) return fail(ErrorCode::unsupported, "cgroup v2 is not mounted");
  auto controllers = read_file(AT_FDCWD, host.v2 + "/cgroup.controllers");
  if (!controllers) return std::unexpected(controllers.error());
  for (const char* needed : {"memory", "pids", "cpu"}) {
    if (controllers->find(needed) == std::string::npos) {
      return fail(ErrorCode::unsupported, std::string("cgroup v2 has no ") + needed + " controller here");
    }
  }
  const std::string owner_dir = host.v2 + "/" + options.owner;
  auto prepared = prepare(host.v2, owner_dir, options.enter_uid);
  if (!prepared) {
    // Step back out of the leaf, so that the half-made groups can go.
    (void)write_file(AT_FDCWD, host.v2 + "/cgroup.procs", "0");
    (void)remove_group_tree(owner_dir);
    return std::unexpected(prepared.error());
  }
  return std::make_unique<CgroupV2>(owner_dir, options.enter_uid);
}

}  // namespace asg::sys
