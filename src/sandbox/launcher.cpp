// The launcher: single-threaded, root only inside its own user namespace, PID 1 of its own PID namespace. When it dies the
// kernel ends every sandbox below it.

#include "asg/sandbox/launcher.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "asg/linux/io.hpp"
#include "launcher_loop.hpp"
#include "stage.hpp"

namespace asg::sandbox {
namespace {

constexpr std::uint64_t kNamespaces =
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET;

/// Reports to the parent over the supervisor socket: errno and a text, both empty when the stage stands.
struct StartReport {
  int sys_errno = 0;
  char text[200]{};
};

void report(int socket, const Error* error) {
  StartReport message;
  if (error != nullptr) {
    message.sys_errno = error->sys_errno;
    error->message.copy(message.text, sizeof message.text - 1);
  }
  (void)sys::send_message(socket, sys::bytes_of(message));
}

Result<void> become_launcher(const LauncherSettings& settings, int supervisor) {
  char go = 0;
  auto image = enter_image(settings);
  // The id maps are written while we wait.
  if (::read(supervisor, &go, 1) != 1) return fail(ErrorCode::io, "the supervisor went away");
  if (!image) return image;
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 && errno != EPERM) return fail_errno("setgroups");
  if (::syscall(SYS_setresgid, 0, 0, 0) != 0) return fail_errno("setresgid");
  if (::syscall(SYS_setresuid, 0, 0, 0) != 0) return fail_errno("setresuid");
  // After the change of ids, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return fail_errno("PR_SET_PDEATHSIG");
  return finish_stage();
}

/// OpenSSL 3 draws anew after a fork only when getpid() changes (crypto/threads_pthread.c), and every program is pid 2 of its
/// namespace: no zygote may be pid 2 of ours.
void pass_over_pid_2() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  if (pid > 0) (void)::waitpid(pid, nullptr, 0);
}

[[noreturn]] void launcher_main(const LauncherSettings& settings, sys::UniqueFd front, sys::UniqueFd supervisor) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);  // the children's, too
  ::umask(022);                                // and what programs in sandboxes find, however strict the starter's is
  sys::UniqueFd* const kept[] = {&front, &supervisor};
  auto alone = sys::keep_only(kept, sys::StandardStreams::only_stderr);
  if (!alone) {
    report(supervisor.get(), &alone.error());
    ::_exit(1);
  }
  auto ready = become_launcher(settings, supervisor.get());
  report(supervisor.get(), ready ? nullptr : &ready.error());
  if (!ready) ::_exit(1);
  pass_over_pid_2();
  LauncherLoop loop(settings, std::move(front), std::move(supervisor));
  loop.run();
  ::_exit(0);
}

/// newuidmap(1) is not needed: the caller has CAP_SETUID over a range, or maps its own id alone.
Result<void> write_maps(pid_t pid, const LauncherSettings& settings) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/";
  const bool single = settings.uid_count == 1;
  const std::string tail = " " + std::to_string(settings.uid_count);
  const std::string uids = "0 " + std::to_string(single ? ::geteuid() : settings.uid_base) + tail;
  const std::string gids = "0 " + std::to_string(single ? ::getegid() : settings.uid_base) + tail;
  if (single) {
    auto denied = sys::write_file(AT_FDCWD, directory + "setgroups", "deny");
    if (!denied) return denied;
  }
  auto wrote = sys::write_file(AT_FDCWD, directory + "uid_map", uids);
  if (wrote) wrote = sys::write_file(AT_FDCWD, directory + "gid_map", gids);
  return wrote;
}

Result<void> await_report(const LauncherHandle& handle) {
  StartReport answer;
  auto got = sys::receive_message(handle.supervisor.get(), sys::writable_bytes_of(answer));
  if (!got) return std::unexpected(got.error());
  if (!*got || (*got)->size != sizeof answer) return fail(ErrorCode::unsupported, "the launcher died while starting");
  if (answer.sys_errno == 0 && answer.text[0] == '\0') return {};
  return fail_errno(answer.text, answer.sys_errno);
}

}  // namespace

Result<LauncherHandle> spawn_launcher(const LauncherSettings& settings) {
  auto front = sys::make_message_pair();
  if (!front) return std::unexpected(front.error());
  auto supervisor = sys::make_message_pair();
  if (!supervisor) return std::unexpected(supervisor.error());
  int pidfd = -1;
  clone_args args{};
  args.flags = kNamespaces | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return fail_errno("clone3 of the launcher (are user namespaces allowed here?)");
  if (pid == 0) {
    front->first.reset();
    supervisor->first.reset();
    launcher_main(settings, std::move(front->second), std::move(supervisor->second));
  }
  LauncherHandle handle{.pid = static_cast<pid_t>(pid),
                        .pidfd = sys::UniqueFd(pidfd),
                        .front = std::move(front->first),
                        .supervisor = std::move(supervisor->first)};
  front->second.reset();
  supervisor->second.reset();
  auto ready = write_maps(handle.pid, settings);
  if (ready && ::write(handle.supervisor.get(), "g", 1) != 1) ready = fail_errno("write to the launcher");
  if (ready) ready = await_report(handle);
  if (ready) return handle;
  (void)::syscall(SYS_pidfd_send_signal, handle.pidfd.get(), SIGKILL, nullptr, 0);
  (void)::waitpid(handle.pid, nullptr, 0);
  return std::unexpected(ready.error().in("starting the launcher"));
}

}  // namespace asg::sandbox
