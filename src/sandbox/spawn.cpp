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

Result<Streams> Streams::create(int pipe_bytes) {
  auto out = sys::make_pipe();
  auto err = sys::make_pipe();
  auto control = sys::make_message_pair();
  if (!out) return std::unexpected(out.error());
  if (!err) return std::unexpected(err.error());
  if (!control) return std::unexpected(control.error());
  for (const int fd : {out->write_end.get(), err->write_end.get()}) {
    // Many runs at once may reach the kernel's pages per user (pipe(7)): a smaller pipe still works.
    for (int bytes = pipe_bytes; bytes > (64 << 10) && ::fcntl(fd, F_SETPIPE_SZ, bytes) < 0;) bytes /= 2;
  }
  return Streams{std::move(*out), std::move(*err), std::move(control->first), std::move(control->second), {}, {}};
}

Result<void> Streams::add_warm_pipes() {
  auto made = sys::make_pipe();
  if (!made) return std::unexpected(made.error());
  words = std::move(*made);
  made = sys::make_pipe();
  if (!made) return std::unexpected(made.error());
  go = std::move(*made);
  return sys::set_nonblocking(words.read_end.get());
}

std::string id_map_of(std::uint32_t id) { return "1000 " + std::to_string(id) + " 1"; }

Spawner::Spawner(const LauncherSettings& settings)
    : settings_(settings),
      environment_(base_environment(settings.limits)),
      limits_(resource_limits(settings.limits)),
      tmpfs_size_(std::to_string(settings.limits.files_bytes)),
      tmpfs_inodes_(std::to_string(settings.limits.inodes)),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

std::uint32_t Spawner::main_id(std::uint32_t slot) const { return settings_.uid_count > 1 ? kFirstRunId + slot : 0; }

Result<sys::UniqueFd> Spawner::cold(Language language, const Place& place, int payload_fd) const {
  const Runtime& what = runtime(language);
  auto mapping = Mapping::of(payload_fd);
  if (!mapping) return std::unexpected(mapping.error());
  auto payload = decode_payload(mapping->bytes());
  if (!payload) return std::unexpected(payload.error());
  const auto command = command_line(what, settings_.limits);
  auto argv = pointers(command);
  argv.push_back(nullptr);
  auto envp = pointers(environment_);
  envp.insert(envp.end(), payload->env.begin(), payload->env.end());
  envp.push_back(nullptr);
  ChildPlan plan;
  plan.files = payload->files.data();
  plan.file_count = payload->files.size();
  plan.program = what.program;
  plan.argv = argv.data();
  plan.envp = envp.data();
  return start(plan, place);
}

Result<sys::UniqueFd> Spawner::waiting(Language language, const Place& place, int payload_fd) const {
  const Runtime& what = runtime(language);
  const auto command = command_line(what, settings_.limits);
  auto argv = pointers(command);
  argv.push_back(nullptr);
  auto envp = pointers(environment_);
  envp.push_back(nullptr);
  ChildPlan plan;
  plan.program = what.program;
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.main.payload_fd = payload_fd;
  plan.main.report_fd = place.streams.words.write_end.get();
  plan.main.go_fd = place.streams.go.read_end.get();
  return start(plan, place);
}

Result<sys::UniqueFd> Spawner::shell(const Place& place) const { return start(ChildPlan(), place); }

Result<sys::UniqueFd> Spawner::start(ChildPlan plan, const Place& place) const {
  const std::string id_map = id_map_of(main_id(place.slot));
  std::vector<int> procs;
  int group_dir = -1;
  for (const auto& item : place.group) {
    if (item.kind == sys::CgroupFdKind::procs) procs.push_back(item.fd.get());
    if (item.kind == sys::CgroupFdKind::dir) group_dir = item.fd.get();
  }
  plan.procs_fds = procs.data();
  plan.procs_count = procs.size();
  plan.tmpfs_size = tmpfs_size_.c_str();
  plan.tmpfs_inodes = tmpfs_inodes_.c_str();
  plan.init_id = settings_.uid_count > 1 ? kInitId : 0;
  plan.init_program = "/opt/asg/init";
  plan.main.main_id = main_id(place.slot);
  plan.main.id_map = id_map.c_str();
  plan.main.limits = limits_.data();
  plan.main.limit_count = limits_.size();
  plan.main.filter = {.len = static_cast<unsigned short>(settings_.filter.size()),
                      .filter = const_cast<sock_filter*>(settings_.filter.data())};
  plan.main.stdin_fd = place.stdin_fd >= 0 ? place.stdin_fd : null_.get();
  plan.main.stdout_fd = place.streams.out.write_end.get();
  plan.main.stderr_fd = place.streams.err.write_end.get();
  plan.control_fd = place.streams.control_inner.get();
  if (plan.main.payload_fd < 0) plan.main.report_fd = plan.control_fd;

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
  return sys::UniqueFd(pidfd);
}

}  // namespace asg::sandbox
