// Runs between clone3 and execve: system calls on a plan built before, nothing that allocates, locks or throws. Order matters
// and each step that fails reports {step, index, errno} on the control socket.

#include <fcntl.h>
#include <linux/if.h>
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
#include "main_process.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "stage_id.hpp"

namespace asg::sandbox {
namespace {

// Where init finds its descriptors after exec; nothing below 3 is open in it.
constexpr int kControlFd = 3;
constexpr int kReadyFd = 4;

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
    become_init(plan_.program == nullptr ? -1 : fork_main());
  }

 private:
  void check(long result, StageId stage, std::uint32_t index = 0) const noexcept {
    sandbox::check(plan_.control_fd, result, stage, index);
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
    check(::chown(path, plan_.main.main_id, plan_.main.main_id), StageId::make_folders, index);
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
    // Some of what is in there opens for writing to anybody: settings, and triggers that cost the kernel memory.
    for (const char* part : {"/proc/sys", "/proc/pressure"}) {
      if (::mount(part, part, nullptr, MS_BIND, nullptr) != 0 && errno == ENOENT) continue;
      mount_attr read_only{};
      read_only.attr_set = MOUNT_ATTR_RDONLY;
      check(::syscall(SYS_mount_setattr, AT_FDCWD, part, 0, &read_only, sizeof read_only), StageId::mount_proc, 8);
    }
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
      check(::fchown(fd, plan_.main.main_id, plan_.main.main_id), StageId::write_files, index);
      ::close(fd);
    }
  }

  void make_parents(const char* path, std::uint32_t index) const noexcept {
    std::array<char, 4096> prefix{};
    for (std::size_t i = 0; path[i] != '\0' && i + 1 < prefix.size(); ++i) {
      if (path[i] == '/' && i > 0) {
        prefix[i] = '\0';
        if (::mkdir(prefix.data(), 0755) == 0) {
          check(::chown(prefix.data(), plan_.main.main_id, plan_.main.main_id), StageId::write_files, index);
        } else if (errno != EEXIST) {
          die(plan_.control_fd, StageId::write_files, index);
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

  [[noreturn]] void become_init(int ready_write) const noexcept {
    // First out of the way of both places, then into them.
    const int control = ::fcntl(plan_.control_fd, F_DUPFD_CLOEXEC, kReadyFd + 1);
    check(control, StageId::init_exec, 1);
    const int ready = ready_write < 0 ? -1 : ::fcntl(ready_write, F_DUPFD_CLOEXEC, kReadyFd + 1);
    check(::dup2(control, kControlFd), StageId::init_exec, 2);
    if (ready >= 0) check(::dup2(ready, kReadyFd), StageId::init_exec, 3);
    (void)::syscall(SYS_close_range, ready >= 0 ? kReadyFd + 1 : kReadyFd, ~0U, 0);
    for (int fd = 0; fd < kControlFd; ++fd) ::close(fd);
    drop_bounding_set();
    if (const std::uint32_t step = change_ids(plan_.init_id); step != 0) die(kControlFd, StageId::init_ids, step);
    if (!drop_capabilities()) die(kControlFd, StageId::init_ids, 4);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die(kControlFd, StageId::init_ids, 5);
    std::array<const char*, 2> argv{"init", nullptr};
    std::array<const char*, 1> envp{nullptr};
    ::execve(plan_.init_program, const_cast<char* const*>(argv.data()), const_cast<char* const*>(envp.data()));
    die(kControlFd, StageId::init_exec, 4);
  }

  [[noreturn]] void become_main(int ready_read) const noexcept {
    become_program(plan_.main);
    if (plan_.main.payload_fd < 0) {
      char byte = 0;
      sandbox::check(plan_.main.report_fd, ::read(ready_read, &byte, 1), StageId::main_wait_init);  // 0 is end of file: init is closed
    }
    load_filter(plan_.main);
    ::execve(plan_.program, const_cast<char* const*>(plan_.argv), const_cast<char* const*>(plan_.envp));
    die(plan_.main.payload_fd < 0 ? plan_.main.report_fd : kWordsFd, StageId::main_exec, 0);
  }

  const ChildPlan& plan_;
};

}  // namespace

void run_child(const ChildPlan& plan) noexcept { Child(plan).run(); }

}  // namespace asg::sandbox
