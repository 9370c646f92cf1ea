#include "spawn.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "asg/linux/io.hpp"
#include "payload.hpp"
#include "runtimes.hpp"

namespace asg::sandbox {
namespace {

constexpr std::uint64_t kNamespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
constexpr rlim_t kLockedMemory = 8 << 20;

/// A limit may be lowered by anyone and raised by none of us.
rlimit at_most(int resource, rlim_t wanted) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
  const rlim_t value = std::min(wanted, now.rlim_max);
  return {.rlim_cur = value, .rlim_max = value};
}

std::vector<PlanLimit> resource_limits(const LimitSet& limits) {
  return {
      {RLIMIT_NOFILE, at_most(RLIMIT_NOFILE, limits.open_files)},
      {RLIMIT_CORE, {.rlim_cur = 0, .rlim_max = 0}},        // no dumps of anything
      {RLIMIT_MEMLOCK, at_most(RLIMIT_MEMLOCK, kLockedMemory)},
      {RLIMIT_MSGQUEUE, {.rlim_cur = 0, .rlim_max = 0}},    // kernel memory outside the group
  };
}

class Mapping {
 public:
  static Result<Mapping> of(int fd) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fail_errno("fstat of payload");
    const auto size = static_cast<std::size_t>(info.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) return fail_errno("mmap of payload");
    return Mapping(static_cast<const char*>(start), size);
  }
  Mapping(Mapping&& other) noexcept : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (start_ != nullptr) ::munmap(const_cast<char*>(start_), size_);
  }
  [[nodiscard]] std::span<const char> bytes() const { return {start_, size_}; }

 private:
  Mapping(const char* start, std::size_t size) : start_(start), size_(size) {}
  const char* start_;
  std::size_t size_;
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const auto& text : texts) out.push_back(text.c_str());
  return out;
}

}  // namespace

/// The child's ends and ours of its streams and control socket.
struct Spawner::Streams {
  sys::Pipe out;
  sys::Pipe err;
  std::pair<sys::UniqueFd, sys::UniqueFd> control;
  sys::UniqueFd null;

  static Result<Streams> create(int pipe_bytes) {
    auto out = sys::make_pipe();
    auto err = sys::make_pipe();
    auto control = sys::make_message_pair();
    auto null = sys::open_at(AT_FDCWD, "/dev/null", O_RDONLY);
    if (!out) return std::unexpected(out.error());
    if (!err) return std::unexpected(err.error());
    if (!control) return std::unexpected(control.error());
    if (!null) return std::unexpected(null.error());
    for (const int fd : {out->write_end.get(), err->write_end.get()}) {
      // Many runs at once may reach the kernel's pages per user (pipe(7)): a smaller pipe still works.
      for (int bytes = pipe_bytes; bytes > (64 << 10) && ::fcntl(fd, F_SETPIPE_SZ, bytes) < 0;) bytes /= 2;
    }
    return Streams{std::move(*out), std::move(*err), std::move(*control), std::move(*null)};
  }
};

Spawner::Spawner(const LauncherSettings& settings)
    : settings_(settings),
      environment_(base_environment(settings.limits)),
      limits_(resource_limits(settings.limits)),
      tmpfs_size_(std::to_string(settings.limits.files_bytes)),
      tmpfs_inodes_(std::to_string(settings.limits.inodes)) {}

ChildPlan Spawner::common_plan(std::uint32_t slot) const {
  const bool range = settings_.uid_count > 1;
  ChildPlan plan;
  plan.tmpfs_size = tmpfs_size_.c_str();
  plan.tmpfs_inodes = tmpfs_inodes_.c_str();
  plan.main_id = range ? kFirstRunId + slot : 0;
  plan.init_id = range ? kInitId : 0;
  plan.limits = limits_.data();
  plan.limit_count = limits_.size();
  plan.filter = {.len = static_cast<unsigned short>(settings_.filter.size()),
                 .filter = const_cast<sock_filter*>(settings_.filter.data())};
  plan.init_program = "/opt/asg/init";
  return plan;
}

Result<Spawned> Spawner::spawn(const SpawnRequest& request) const {
  const Runtime& what = runtime(request.language);
  auto mapping = Mapping::of(request.payload_fd);
  if (!mapping) return std::unexpected(mapping.error());
  auto payload = decode_payload(mapping->bytes());
  if (!payload) return std::unexpected(payload.error());
  auto streams = Streams::create(what.pipe_bytes);
  if (!streams) return std::unexpected(streams.error());

  const auto command = command_line(what, settings_.limits);
  auto argv = pointers(command);
  argv.push_back(nullptr);
  auto envp = pointers(environment_);
  envp.insert(envp.end(), payload->env.begin(), payload->env.end());
  envp.push_back(nullptr);
  std::vector<int> procs;
  int group_dir = -1;
  for (const auto& item : request.group) {
    if (item.kind == sys::CgroupFdKind::procs) procs.push_back(item.fd.get());
    if (item.kind == sys::CgroupFdKind::dir) group_dir = item.fd.get();
  }

  ChildPlan plan = common_plan(request.slot);
  const std::string id_map = "1000 " + std::to_string(plan.main_id) + " 1";
  plan.id_map = id_map.c_str();
  plan.procs_fds = procs.data();
  plan.procs_count = procs.size();
  plan.files = payload->files.data();
  plan.file_count = payload->files.size();
  plan.program = what.program;
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.stdin_fd = request.stdin_fd >= 0 ? request.stdin_fd : streams->null.get();
  plan.stdout_fd = streams->out.write_end.get();
  plan.stderr_fd = streams->err.write_end.get();
  plan.control_fd = streams->control.second.get();

  int pidfd = -1;
  clone_args args{};
  args.flags = kNamespaces | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if (group_dir >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(group_dir);
  }
  // Last allocation is behind us.
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) run_child(plan);
  if (pid < 0) return fail_errno("clone3");
  return Spawned{.pidfd = sys::UniqueFd(pidfd),
                 .stdout_fd = std::move(streams->out.read_end),
                 .stderr_fd = std::move(streams->err.read_end),
                 .control = std::move(streams->control.first)};
}

}  // namespace asg::sandbox
