// cgroup v1: one directory in each hierarchy. A group is entered by its own child, which writes "0" to a cgroup.procs that the
// supervisor opened (the opener's rights count, not the child's).

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/io.hpp"

namespace asg::sys {
namespace {

constexpr std::uint64_t kCpuPeriodUs = 100'000;

class CgroupV1 final : public CgroupTree {
 public:
  CgroupV1(const CgroupHost& host, const CgroupOptions& options) : explanation_(options.v2_fault) {
    for (const char* controller : {"memory", "pids", "cpu", "cpuacct"}) add(host, controller, options.owner);
    enforced_ = probe();
  }

  ~CgroupV1() override {
    for (const auto& [controller, base] : bases_) (void)remove_group_tree(base);
  }

  Result<CgroupFds> make(const std::string& name, const CgroupLimits& limits) override {
    CgroupFds fds;
    for (const auto& [controller, base] : bases_) {
      auto made = make_one(controller, base + "/" + name, limits, fds);
      if (made) continue;
      (void)remove(name);
      return std::unexpected(made.error().in("cgroup " + controller));
    }
    return fds;
  }

  bool remove(const std::string& name) override {
    bool gone = true;
    for (const auto& [controller, base] : bases_) gone = remove_group_tree(base + "/" + name) && gone;
    return gone;
  }

  Result<void> adopt_launcher(int) override { return {}; }
  std::set<Controller> enforced() const override { return enforced_; }
  int version() const override { return bases_.empty() ? 0 : 1; }
  std::string explain() const override { return explanation_; }

 private:
  void add(const CgroupHost& host, const std::string& controller, const std::string& owner) {
    const auto found = host.v1.find(controller);
    if (found == host.v1.end()) return;
    const std::string base = found->second + "/" + owner;
    if (::mkdir(base.c_str(), 0755) == 0 || errno == EEXIST) {
      bases_[controller] = base;
    } else {
      explanation_ = "cannot make " + base + " (started without the right to; start as root)";
    }
  }

  std::set<Controller> probe() {
    constexpr std::uint64_t kAnyMemory = 64ULL << 20;
    const CgroupLimits any{.memory_bytes = kAnyMemory, .cpus = 1, .processes = 8};
    std::set<Controller> can;
    for (const auto& [controller, base] : std::map(bases_)) {
      CgroupFds fds;
      const std::string directory = base + "/probe";
      auto made = make_one(controller, directory, any, fds);
      fds.clear();
      (void)remove_group_tree(directory);
      if (!made) {
        explanation_ = made.error().to_string();
        bases_.erase(controller);
        continue;
      }
      if (controller == "memory") can.insert(Controller::memory);
      if (controller == "pids") can.insert(Controller::processes);
      if (controller == "cpu") can.insert(Controller::cpu);
    }
    return can;
  }

  static Result<void> make_one(const std::string& controller, const std::string& directory, const CgroupLimits& limits,
                               CgroupFds& fds) {
    // cpu and cpuacct may be one directory: the second finds it there.
    const bool made = ::mkdir(directory.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) return fail_errno("mkdir " + directory);
    auto dir = open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!dir) return std::unexpected(dir.error());
    // The launcher reads below this descriptor; a strict umask would keep it out.
    if (::fchmod(dir->get(), 0755) != 0) return fail_errno("chmod " + directory);
    auto set = set_limits(controller, dir->get(), limits);
    if (!set) return set;
    if (controller == "memory") {
      auto event = watch_oom(dir->get());
      if (!event) return std::unexpected(event.error());
      fds.push_back({CgroupFdKind::oom_event, std::move(*event)});
    }
    if (made) {
      auto procs = open_at(dir->get(), "cgroup.procs", O_WRONLY);
      if (!procs) return std::unexpected(procs.error());
      fds.push_back({CgroupFdKind::procs, std::move(*procs)});
    }
    if (controller == "memory") fds.push_back({CgroupFdKind::memory_dir, std::move(*dir)});
    else if (controller == "pids") fds.push_back({CgroupFdKind::processes_dir, std::move(*dir)});
    else if (controller == "cpuacct") fds.push_back({CgroupFdKind::cpu_dir, std::move(*dir)});
    return {};
  }

  static Result<void> set_limits(const std::string& controller, int dir, const CgroupLimits& limits) {
    if (controller == "pids") return write_file(dir, "pids.max", std::to_string(limits.processes));
    if (controller == "cpu") {
      const auto quota = static_cast<std::uint64_t>(std::llround(limits.cpus * double(kCpuPeriodUs)));
      auto period = write_file(dir, "cpu.cfs_period_us", std::to_string(kCpuPeriodUs));
      return period ? write_file(dir, "cpu.cfs_quota_us", std::to_string(quota)) : period;
    }
    if (controller != "memory") return {};
    const std::string bytes = std::to_string(limits.memory_bytes);
    auto set = write_file(dir, "memory.limit_in_bytes", bytes);
    // v1 counts socket buffers apart from memory: an eighth of it is far more than a loopback needs.
    (void)write_file(dir, "memory.kmem.tcp.limit_in_bytes", std::to_string(limits.memory_bytes / 8));
    // Memory and swap together: absent where the kernel does not account swap, and then swappiness 0 has to do.
    if (set && !write_file(dir, "memory.memsw.limit_in_bytes", bytes)) (void)write_file(dir, "memory.swappiness", "0");
    return set;
  }

  /// v1 kills one process and lets the rest live: an eventfd tells the launcher, which ends the run (cgroup-v1/memory.rst 9, 10).
  static Result<UniqueFd> watch_oom(int dir) {
    UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) return fail_errno("eventfd");
    auto control = open_at(dir, "memory.oom_control", O_RDONLY);
    if (!control) return std::unexpected(control.error());
    auto set = write_file(dir, "cgroup.event_control",
                          std::to_string(event.get()) + " " + std::to_string(control->get()));
    if (!set) return std::unexpected(set.error());
    return event;
  }

  std::map<std::string, std::string> bases_;
  std::set<Controller> enforced_;
  std::string explanation_;
};

}  // namespace

std::unique_ptr<CgroupTree> make_cgroup_v1(const CgroupHost& host, const CgroupOptions& options) {
  return std::make_unique<CgroupV1>(host, options);
}

}  // namespace asg::sys
