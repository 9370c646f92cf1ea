#include "front.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <vector>

#include "asg/linux/io.hpp"
#include "credentials.hpp"
#include "front_loop.hpp"

namespace asg::app {
namespace {

constexpr int kLastCapability = 63;

/// From here on this process can do what any user can, and less.
Result<void> drop_privilege(const Host& host) {
  for (int capability = 0; capability <= kLastCapability; ++capability) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (host.id_range) {
    const std::uint32_t id = host.launcher.uid_base + sandbox::kFrontId;
    if (::setgroups(0, nullptr) != 0) return fail_errno("setgroups");
    if (::setresgid(id, id, id) != 0) return fail_errno("setresgid");
    if (::setresuid(id, id, id) != 0) return fail_errno("setresuid");
  }
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) return fail_errno("capset");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_errno("no_new_privs");
  // After the change of ids, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return fail_errno("PR_SET_PDEATHSIG");
  return {};
}

void default_signals() {
  // A terminal's ^C and a service manager's TERM reach the whole group: the supervisor speaks for all of us.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Each connection is a descriptor: as many as the host lets us have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Only the server over HTTP asks for keys. While we still may read them.
Result<http::Credentials> load_credentials(const FrontStart& start) {
  if (start.mode != Mode::serve) return http::Credentials();
  auto files = open_credentials(start.config);
  if (!files) return std::unexpected(files.error());
  return credentials_in(files->which, files->fds);
}

int front_main(const FrontStart& start, FrontSockets sockets) {
  default_signals();
  raise_descriptor_limit();
  auto credentials = load_credentials(start);
  if (!credentials) {
    log_event(start.log, LogLevel::error, "cannot serve", {{"error", credentials.error().to_string()}});
    return 1;
  }
  std::vector<sys::UniqueFd*> kept = {&sockets.launcher, &sockets.supervisor};
  if (sockets.listening) kept.push_back(&sockets.listening);
  const bool stdio = start.mode == Mode::stdio || start.mode == Mode::check;
  auto ready = sys::keep_only(kept, stdio ? sys::StandardStreams::keep : sys::StandardStreams::only_stderr);
  if (ready) ready = drop_privilege(start.host);
  if (!ready) {
    log_event(start.log, LogLevel::error, "front cannot start", {{"error", ready.error().to_string()}});
    return 1;
  }
  return run_front(start, std::move(sockets), std::move(*credentials));
}

}  // namespace

Result<pid_t> fork_front(const FrontStart& start) {
  const pid_t supervisor = ::getpid();
  FrontSockets sockets;
  sockets.launcher.reset(::fcntl(start.launcher, F_DUPFD_CLOEXEC, 3));
  sockets.supervisor.reset(::fcntl(start.supervisor, F_DUPFD_CLOEXEC, 3));
  if (start.listening >= 0) sockets.listening.reset(::fcntl(start.listening, F_DUPFD_CLOEXEC, 3));
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork of the front");
  if (pid > 0) return pid;
  int status = 1;
  try {
    status = front_main(start, std::move(sockets));
  } catch (const std::exception& error) {
    log_event(start.log, LogLevel::error, "front failed", {{"error", error.what()}});
  }
  if (::getppid() != supervisor) status = 1;
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace asg::app
