#include "zygote.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "asg/linux/io.hpp"
#include "runtimes.hpp"

namespace asg::sandbox {
namespace {

constexpr std::uint32_t kMaxForks = 4000;
constexpr std::int64_t kMaxAgeSeconds = 600;
constexpr int kSocketPlace = 3;
constexpr int kSettingsPlace = 4;
constexpr int kLogPlace = 5;  // our stderr, for a last word

std::int64_t now_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/// In a mount namespace of its own our main.py stands where a program's stands in a sandbox, so that the command line which the
/// children inherit is that of a program.
[[noreturn]] void become_zygote(int socket, int settings, char* const* argv, char* const* envp) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) ::_exit(120);
  if (::unshare(CLONE_NEWNS) != 0) ::_exit(121);
  if (::mount("/opt/asg/zygote", "/workspace", nullptr, MS_BIND, nullptr) != 0) ::_exit(122);
  if (::chdir("/workspace") != 0) ::_exit(123);
  // A program's stdout is a pipe: what the interpreter finds out about its streams when it starts must be true in its children.
  std::array<int, 2> nobody{};
  if (::pipe(nobody.data()) != 0) ::_exit(124);
  const int high_socket = ::fcntl(socket, F_DUPFD_CLOEXEC, kLogPlace + 1);
  const int high_settings = ::fcntl(settings, F_DUPFD_CLOEXEC, kLogPlace + 1);
  const int high_log = ::fcntl(2, F_DUPFD_CLOEXEC, kLogPlace + 1);
  const int high_pipe = ::fcntl(nobody[1], F_DUPFD_CLOEXEC, kLogPlace + 1);
  if (::dup2(high_pipe, 1) < 0 || ::dup2(high_pipe, 2) < 0 || ::dup2(high_socket, kSocketPlace) < 0) ::_exit(125);
  if (::dup2(high_settings, kSettingsPlace) < 0 || ::dup2(high_log, kLogPlace) < 0) ::_exit(125);
  if (::syscall(SYS_close_range, kLogPlace + 1, ~0U, 0) != 0) ::_exit(126);
  ::execve(argv[0], argv, envp);
  ::_exit(127);
}

Result<sys::UniqueFd> settings_file(Preload preload, const Spawner& spawner, const std::vector<sock_filter>& filter) {
  auto settings = std::make_unique<ZygoteSettings>();
  if (filter.size() > kMaxFilter || spawner.limits().size() > kMaxLimits) return fail(ErrorCode::internal, "zygote settings");
  settings->preload = preload;
  settings->limit_count = static_cast<std::uint32_t>(spawner.limits().size());
  settings->filter_length = static_cast<std::uint32_t>(filter.size());
  std::copy(spawner.limits().begin(), spawner.limits().end(), settings->limits);
  std::copy(filter.begin(), filter.end(), settings->filter);
  return sys::make_sealed_memfd("zygote", {reinterpret_cast<const char*>(settings.get()), sizeof *settings});
}

std::vector<char*> raw(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<std::unique_ptr<Zygote>> Zygote::start(Preload preload, const Spawner& spawner, const std::vector<sock_filter>& filter) {
  auto pair = sys::make_message_pair();
  if (!pair) return std::unexpected(pair.error());
  auto settings = settings_file(preload, spawner, filter);
  if (!settings) return std::unexpected(settings.error());
  const std::vector<std::string> command = {runtime(Language::python).program, "/workspace/main.py"};
  const auto argv = raw(command);
  const auto envp = raw(spawner.environment());
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) become_zygote(pair->second.get(), settings->get(), argv.data(), envp.data());
  if (pid < 0) return fail_errno("clone3 of a zygote");
  std::unique_ptr<Zygote> zygote(new Zygote());
  zygote->pidfd_.reset(pidfd);
  zygote->socket_ = std::move(pair->first);
  zygote->started_s_ = now_seconds();
  return zygote;
}

Zygote::~Zygote() {
  if (!pidfd_) return;
  (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  (void)::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
}

Result<void> Zygote::ask(const ForkRequest& request, const std::vector<int>& fds, std::uint64_t tag) {
  auto sent = sys::send_message(socket_.get(), sys::bytes_of(request), fds);
  if (!sent) return sent;
  asked_.push_back(tag);
  ++forks_;
  return {};
}

Result<std::optional<Zygote::Answer>> Zygote::answer() {
  ForkReply reply;
  auto received = sys::receive_message(socket_.get(), sys::writable_bytes_of(reply), MSG_DONTWAIT);
  if (!received) return std::unexpected(received.error());
  if (!*received) return std::optional<Answer>();
  if ((*received)->size == sizeof reply && !ready_) {  // its greeting
    ready_ = true;
    return answer();
  }
  if ((*received)->size != sizeof reply || asked_.empty()) return fail(ErrorCode::sandbox, "a zygote is gone");
  const std::uint64_t tag = asked_.front();
  asked_.pop_front();
  if (reply.error != 0 || (*received)->fds.size() != 1) {
    return std::optional(Answer{tag, fail_errno("fork from a zygote", reply.error)});
  }
  return std::optional(Answer{tag, std::move((*received)->fds[0])});
}

bool Zygote::worn_out() const {
  return asked_.empty() && (forks_ >= kMaxForks || now_seconds() - started_s_ > kMaxAgeSeconds);
}

}  // namespace asg::sandbox
