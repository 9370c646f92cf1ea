#include "main_process.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "report.hpp"

namespace asg::sandbox {
namespace {

constexpr int kLastCapability = 63;  // CAPBSET_DROP of unknown ones fails with EINVAL, which is fine

/// Returns where to report from now on.
int standard_streams(const MainPlan& plan) noexcept {
  const int old = plan.report_fd;
  // /dev/stdout is opened anew by some programs: the pipes must be theirs.
  check(old, ::fchown(plan.stdout_fd, plan.main_id, plan.main_id), StageId::main_descriptors, 1);
  check(old, ::fchown(plan.stderr_fd, plan.main_id, plan.main_id), StageId::main_descriptors, 2);
  check(old, ::dup2(plan.stdin_fd, 0), StageId::main_descriptors, 3);
  check(old, ::dup2(plan.stdout_fd, 1), StageId::main_descriptors, 4);
  check(old, ::dup2(plan.stderr_fd, 2), StageId::main_descriptors, 5);
  if (plan.payload_fd < 0) {
    // A cold program has its streams alone. All descriptors here are close-on-exec from birth; this is for those that are not.
    check(old, ::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC), StageId::main_descriptors, 6);
    return old;
  }
  std::array<int, 3> moved{plan.report_fd, plan.payload_fd, plan.go_fd};
  for (int& fd : moved) {  // out of the way of all three places first
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, kGoFd + 1);
    check(old, fd, StageId::main_descriptors, 7);
  }
  const int flags = plan.descriptors == Descriptors::closed_now ? O_CLOEXEC : 0;
  for (int i = 0; i < 3; ++i) {
    check(moved[0], ::dup3(moved[static_cast<std::size_t>(i)], kWordsFd + i, flags), StageId::main_descriptors, 8);
  }
  const auto how = plan.descriptors == Descriptors::closed_now ? 0U : static_cast<unsigned>(CLOSE_RANGE_CLOEXEC);
  check(kWordsFd, ::syscall(SYS_close_range, kGoFd + 1, ~0U, how), StageId::main_descriptors, 9);
  return kWordsFd;
}

void write_proc(int control, const char* path, const char* text, std::uint32_t index) noexcept {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  check(control, fd, StageId::main_id_maps, index);
  check(control, ::write(fd, text, std::strlen(text)), StageId::main_id_maps, index + 10);
  ::close(fd);
}

void own_user_namespace(const MainPlan& plan, int control) noexcept {
  // A change of ids makes a process undumpable, and then its /proc/self belongs to root.
  check(control, ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), StageId::main_user_namespace, 1);
  check(control, ::unshare(CLONE_NEWUSER), StageId::main_user_namespace, 2);
  write_proc(control, "/proc/self/setgroups", "deny", 1);
  write_proc(control, "/proc/self/uid_map", plan.id_map, 2);
  write_proc(control, "/proc/self/gid_map", plan.id_map, 3);
}

}  // namespace

void drop_bounding_set() noexcept {
  for (int capability = 0; capability <= kLastCapability; ++capability) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

bool drop_capabilities() noexcept {
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

std::uint32_t change_ids(std::uint32_t id) noexcept {
  // setgroups is refused where only one id is mapped: then there are no groups to lose a right by.
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 && errno != EPERM) return 1;
  if (::syscall(SYS_setresgid, id, id, id) != 0) return 2;
  if (::syscall(SYS_setresuid, id, id, id) != 0) return 3;
  return 0;
}

void become_program(const MainPlan& plan) noexcept {
  // Not our terminal, not our group: kill(0, ...) reaches the program's own processes only.
  (void)::setsid();
  const int control = standard_streams(plan);
  for (std::size_t i = 0; i < plan.limit_count; ++i) {
    const PlanLimit& item = plan.limits[i];
    check(control, ::setrlimit(static_cast<__rlimit_resource>(item.resource), &item.limit), StageId::main_limits,
          static_cast<std::uint32_t>(i));
  }
  if (const std::uint32_t step = change_ids(plan.main_id); step != 0) die(control, StageId::main_ids, step);
  own_user_namespace(plan, control);
  drop_bounding_set();
  if (!drop_capabilities()) die(control, StageId::main_capabilities, 0);
  check(control, ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), StageId::main_no_new_privs);
}

void load_filter(const MainPlan& plan) noexcept {
  const int control = plan.payload_fd < 0 ? plan.report_fd : kWordsFd;
  check(control, ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan.filter), StageId::main_filter);
}

}  // namespace asg::sandbox
