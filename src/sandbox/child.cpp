// Runs between clone3 and execve: system calls on a plan built before, nothing that allocates, locks or throws. Order matters
// and each step that fails reports {step, index, errno} on the control socket.

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "asg/sandbox/protocol.hpp"
#include "plan.hpp"
#include "stage_id.hpp"

namespace asg::sandbox {
namespace {

// Where init finds its descriptors after exec; nothing below 3 is open in it.
constexpr int kControlFd = 3;
constexpr int kReadyFd = 4;
constexpr int kLastCapability = 63;  // CAPBSET_DROP of unknown ones fails with EINVAL, which is fine

class Child {
 public:
  explicit Child(const ChildPlan& plan) noexcept : plan_(plan) {}

  [[noreturn]] void run() noexcept {
    enter_cgroup();
    mount_files();
    bind_folders();
    mount_proc();
    loopback_up();
    write_files();
    report_started();
    const int ready_write = fork_main();
    become_init(ready_write);
  }

 private:
  [[noreturn]] void die(StageId stage, std::uint32_t index = 0) const noexcept {
    const Control report{.type = ControlType::failed,
                         .value = static_cast<std::uint32_t>(errno),
                         .stage = static_cast<std::uint32_t>(stage),
                         .index = index};
    (void)::send(plan_.control_fd, &report, sizeof report, MSG_NOSIGNAL);
    ::_exit(127);
  }
  void check(long result, StageId stage, std::uint32_t index = 0) const noexcept {
    if (result < 0) die(stage, index);
  }

  void enter_cgroup() const noexcept {
    for (std::size_t i = 0; i < plan_.procs_count; ++i) {
      check(::write(plan_.procs_fds[i], "0", 1), StageId::enter_cgroup, static_cast<std::uint32_t>(i));
    }
    check(::unshare(CLONE_NEWCGROUP), StageId::unshare_cgroup);
  }

  int new_mount(const char* type, unsigned attributes, StageId stage) const noexcept {
    const auto context = static_cast<int>(::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
    check(context, stage, 1);
    if (stage == StageId::mount_files) {
      check(::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "size", plan_.tmpfs_size, 0), stage, 2);
      check(::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "nr_inodes", plan_.tmpfs_inodes, 0), stage, 3);
      check(::syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "mode", "0755", 0), stage, 4);
    }
    check(::syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), stage, 5);
    const auto mount = static_cast<int>(::syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes));
    check(mount, stage, 6);
    ::close(context);
    return mount;
  }

  void attach(int mount, const char* target, StageId stage) const noexcept {
    check(::syscall(SYS_move_mount, mount, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH), stage, 7);
    ::close(mount);
  }

  /// One tmpfs for all that can be written, so that several limits do not add up. It first sits on /workspace.
  void mount_files() const noexcept {
    attach(new_mount("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, StageId::mount_files), "/workspace", StageId::mount_files);
    make_folder("/workspace/workspace", 0755, 1);
    make_folder("/workspace/tmp", 01777, 2);
    make_folder("/workspace/shm", 01777, 3);
  }

  void make_folder(const char* path, unsigned mode, std::uint32_t index) const noexcept {
    check(::mkdir(path, mode), StageId::make_folders, index);
    check(::chmod(path, mode), StageId::make_folders, index);
    check(::chown(path, plan_.main_id, plan_.main_id), StageId::make_folders, index);
  }

  void bind_folders() const noexcept {
    check(::mount("/workspace/tmp", "/tmp", nullptr, MS_BIND, nullptr), StageId::bind_folders, 1);
    check(::mount("/workspace/shm", "/dev/shm", nullptr, MS_BIND, nullptr), StageId::bind_folders, 2);
    // Last: it hides the tmpfs's own root.
    check(::mount("/workspace/workspace", "/workspace", nullptr, MS_BIND, nullptr), StageId::bind_folders, 3);
    check(::chdir("/workspace"), StageId::change_directory);
  }

  void mount_proc() const noexcept {
    attach(new_mount("proc", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, StageId::mount_proc), "/proc",
           StageId::mount_proc);
  }

  /// The network namespace belongs to the launcher's user namespace: only before the ids are dropped can it be set up.
  void loopback_up() const noexcept {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    check(socket, StageId::loopback, 1);
    ifreq request{};
    std::memcpy(request.ifr_name, "lo", 3);
    request.ifr_flags = IFF_UP;
    check(::ioctl(socket, SIOCSIFFLAGS, &request), StageId::loopback, 2);
    ::close(socket);
  }

  void write_files() const noexcept {
    for (std::size_t i = 0; i < plan_.file_count; ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      const PlanFile& file = plan_.files[i];
      make_parents(file.path, index);
      const int fd = ::open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
      check(fd, StageId::write_files, index);
      for (std::size_t done = 0; done < file.size;) {
        const ssize_t n = ::write(fd, file.content + done, file.size - done);
        check(n, StageId::write_files, index);
        done += static_cast<std::size_t>(n);
      }
      check(::fchmod(fd, 0644), StageId::write_files, index);
      check(::fchown(fd, plan_.main_id, plan_.main_id), StageId::write_files, index);
      ::close(fd);
    }
  }

  void make_parents(const char* path, std::uint32_t index) const noexcept {
    std::array<char, 4096> prefix{};
    for (std::size_t i = 0; path[i] != '\0' && i + 1 < prefix.size(); ++i) {
      if (path[i] == '/' && i > 0) {
        prefix[i] = '\0';
        if (::mkdir(prefix.data(), 0755) == 0) {
          check(::chown(prefix.data(), plan_.main_id, plan_.main_id), StageId::write_files, index);
        } else if (errno != EEXIST) {
          die(StageId::write_files, index);
        }
      }
      prefix[i] = path[i];
    }
  }

  /// Hands the working directory out, so that files can be collected when everything here is dead.
  void report_started() const noexcept {
    const int directory = ::open("/workspace", O_PATH | O_DIRECTORY | O_CLOEXEC);
    check(directory, StageId::report_started, 1);
    const Control report{.type = ControlType::started, .value = 0, .stage = 0, .index = 0};
    Control sent = report;
    iovec part{.iov_base = &sent, .iov_len = sizeof sent};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &directory, sizeof directory);
    check(::sendmsg(plan_.control_fd, &message, MSG_NOSIGNAL), StageId::report_started, 2);
    ::close(directory);
  }

  /// The main process waits until init cannot be looked into any more (end of file on this pipe), then starts.
  int fork_main() const noexcept {
    std::array<int, 2> ready{};
    check(::pipe2(ready.data(), O_CLOEXEC), StageId::fork_main, 1);
    const long pid = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    check(pid, StageId::fork_main, 2);
    if (pid == 0) {
      ::close(ready[1]);
      become_main(ready[0]);
    }
    ::close(ready[0]);
    return ready[1];
  }

  void change_ids(std::uint32_t id, StageId stage) const noexcept {
    // setgroups is refused where only one id is mapped: then there are no groups to lose a right by.
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 && errno != EPERM) die(stage, 1);
    check(::syscall(SYS_setresgid, id, id, id), stage, 2);
    check(::syscall(SYS_setresuid, id, id, id), stage, 3);
  }

  void drop_capabilities(StageId stage) const noexcept {
    for (int capability = 0; capability <= kLastCapability; ++capability) {
      if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EPERM) break;  // already without the right to
    }
    (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    check(::syscall(SYS_capset, &header, none.data()), stage);
  }

  [[noreturn]] void become_init(int ready_write) const noexcept {
    // First out of the way of both places, then into them.
    const int control = ::fcntl(plan_.control_fd, F_DUPFD_CLOEXEC, kReadyFd + 1);
    const int ready = ::fcntl(ready_write, F_DUPFD_CLOEXEC, kReadyFd + 1);
    check(control, StageId::init_exec, 1);
    check(ready, StageId::init_exec, 2);
    check(::dup2(control, kControlFd), StageId::init_exec, 3);
    check(::dup2(ready, kReadyFd), StageId::init_exec, 4);
    (void)::syscall(SYS_close_range, kReadyFd + 1, ~0U, 0);
    for (int fd = 0; fd < kControlFd; ++fd) ::close(fd);
    drop_bounding_before_ids();
    change_ids(plan_.init_id, StageId::init_ids);
    drop_capabilities(StageId::init_ids);
    check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), StageId::init_ids, 4);
    std::array<const char*, 2> argv{"init", nullptr};
    std::array<const char*, 1> envp{nullptr};
    ::execve(plan_.init_program, const_cast<char* const*>(argv.data()), const_cast<char* const*>(envp.data()));
    const Control report{.type = ControlType::failed,
                         .value = static_cast<std::uint32_t>(errno),
                         .stage = static_cast<std::uint32_t>(StageId::init_exec),
                         .index = 5};
    (void)::send(kControlFd, &report, sizeof report, MSG_NOSIGNAL);
    ::_exit(127);
  }

  /// The bounding set can only be cut while CAP_SETPCAP is there, and a change from id 0 takes that away.
  static void drop_bounding_before_ids() noexcept {
    for (int capability = 0; capability <= kLastCapability; ++capability) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }

  [[noreturn]] void become_main(int ready_read) const noexcept {
    // Not our terminal, not our group: kill(0, ...) reaches the program's own processes only.
    (void)::setsid();
    standard_streams();
    for (std::size_t i = 0; i < plan_.limit_count; ++i) {
      const PlanLimit& item = plan_.limits[i];
      check(::setrlimit(static_cast<__rlimit_resource>(item.resource), &item.limit), StageId::main_limits,
            static_cast<std::uint32_t>(i));
    }
    change_ids(plan_.main_id, StageId::main_ids);
    own_user_namespace();
    drop_capabilities(StageId::main_capabilities);
    check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), StageId::main_no_new_privs);
    char byte = 0;
    check(::read(ready_read, &byte, 1), StageId::main_wait_init);  // 0 is end of file: init is closed
    check(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan_.filter), StageId::main_filter);
    ::execve(plan_.program, const_cast<char* const*>(plan_.argv), const_cast<char* const*>(plan_.envp));
    die(StageId::main_exec);
  }

  void standard_streams() const noexcept {
    // /dev/stdout is opened anew by some programs: the pipes must be theirs.
    check(::fchown(plan_.stdout_fd, plan_.main_id, plan_.main_id), StageId::main_descriptors, 1);
    check(::fchown(plan_.stderr_fd, plan_.main_id, plan_.main_id), StageId::main_descriptors, 2);
    check(::dup2(plan_.stdin_fd, 0), StageId::main_descriptors, 3);
    check(::dup2(plan_.stdout_fd, 1), StageId::main_descriptors, 4);
    check(::dup2(plan_.stderr_fd, 2), StageId::main_descriptors, 5);
    // Everything else closes at exec: all descriptors here are close-on-exec from birth.
    check(::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC), StageId::main_descriptors, 6);
  }

  void own_user_namespace() const noexcept {
    // A change of ids makes a process undumpable, and then its /proc/self belongs to root.
    check(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), StageId::main_user_namespace, 1);
    check(::unshare(CLONE_NEWUSER), StageId::main_user_namespace, 2);
    write_proc("/proc/self/setgroups", "deny", 1);
    write_proc("/proc/self/uid_map", plan_.id_map, 2);
    write_proc("/proc/self/gid_map", plan_.id_map, 3);
  }

  void write_proc(const char* path, const char* text, std::uint32_t index) const noexcept {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    check(fd, StageId::main_id_maps, index);
    check(::write(fd, text, std::strlen(text)), StageId::main_id_maps, index + 10);
    ::close(fd);
  }

  const ChildPlan& plan_;
};

}  // namespace

void run_child(const ChildPlan& plan) noexcept { Child(plan).run(); }

}  // namespace asg::sandbox
