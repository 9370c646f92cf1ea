#include "asg/app/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>
#include <span>

#include "asg/linux/io.hpp"
#include "asg/linux/service_manager.hpp"
#include "asg/sandbox/protocol.hpp"
#include "credentials.hpp"
#include "front.hpp"
#include "host.hpp"
#include "listen.hpp"

namespace asg::app {
namespace {

using sandbox::Message;
using sandbox::MessageType;

constexpr int kDrainPollMs = 500;
constexpr std::chrono::seconds kDrainMargin{5};   // beyond server.drain_seconds
constexpr int kRetryMs = 20;                      // groups whose last process is still dying
constexpr std::chrono::seconds kCalm{10};         // a child that lived this long may be restarted at once
constexpr int kMaxQuickDeaths = 5;                // after that many quick ones, give up and say so
constexpr int kPingsPerWatchdog = 4;              // one that comes late does no harm

class Supervisor {
 public:
  Supervisor(const config::Config& config, Mode mode, const Logger& log, Host host)
      : config_(config), mode_(mode), log_(log), host_(std::move(host)) {}

  int run() {
    auto prepared = prepare();
    if (prepared) prepared = start_launcher();
    if (prepared) prepared = start_front();
    if (!prepared) {
      log_event(log_, LogLevel::error, "cannot start", {{"error", prepared.error().to_string()}});
      stop_children();
      return 1;
    }
    while (!exit_status_) step();
    stop_children();
    retry_removals();
    return *exit_status_;
  }

 private:
  Result<void> prepare() {
    sigset_t handled;
    ::sigemptyset(&handled);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&handled, number);
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
    signals_.reset(::signalfd(-1, &handled, SFD_CLOEXEC));
    if (!signals_) return fail_errno("signalfd");
    if (mode_ != Mode::serve) return {};
    if (auto exposure = check_exposure(config_); !exposure) return exposure;
    auto socket = listen_on(config_.server.listen);
    if (!socket) return std::unexpected(socket.error());
    listening_ = std::move(*socket);
    return {};
  }

  Result<void> start_launcher() {
    auto launcher = sandbox::spawn_launcher(host_.launcher);
    if (!launcher) return std::unexpected(launcher.error());
    auto adopted = host_.cgroups->adopt_launcher(launcher->pid);
    if (!adopted) return adopted;
    launcher_ = std::move(*launcher);
    launcher_started_ = std::chrono::steady_clock::now();
    return {};
  }

  Result<void> start_front() {
    auto channel = sys::make_message_pair();
    if (!channel) return std::unexpected(channel.error());
    FrontStart start{.config = config_,
                     .mode = mode_,
                     .log = log_,
                     .host = host_,
                     .listening = listening_.get(),
                     .launcher = launcher_.front.get(),
                     .supervisor = channel->second.get()};
    auto pid = fork_front(start);
    if (!pid) return std::unexpected(pid.error());
    front_pid_ = *pid;
    front_was_ready_ = false;
    channel_ = std::move(channel->first);
    launcher_.front.reset();  // the front has it now: its death must be seen
    front_started_ = std::chrono::steady_clock::now();
    return {};
  }

  void step() {
    std::array<pollfd, 3> polled{{{signals_.get(), POLLIN, 0}, {launcher_.supervisor.get(), POLLIN, 0}, {channel_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), next_wake_ms()) < 0 && errno != EINTR) return;
    ping_front();
    end_stuck_front();
    if (polled[1].revents != 0) serve_launcher();
    if (polled[2].revents != 0) serve_front();
    if (polled[0].revents != 0) take_signal();
    retry_removals();
  }

  /// A front that does not end by itself is ended: a stop always comes to its end.
  void end_stuck_front() {
    if (!give_up_at_ || std::chrono::steady_clock::now() < *give_up_at_ || front_pid_ < 0) return;
    log_event(log_, LogLevel::error, "front did not end", {{"effect", "killed"}});
    give_up_at_.reset();
    ::kill(front_pid_, SIGKILL);
  }

  int next_wake_ms() const {
    if (give_up_at_) return kDrainPollMs;
    if (!to_remove_.empty()) return kRetryMs;
    return manager_.watchdog() ? static_cast<int>(ping_interval().count()) : -1;
  }

  std::chrono::milliseconds ping_interval() const { return *manager_.watchdog() / kPingsPerWatchdog; }

  /// The service manager hears of us what the front's event loop answers.
  void ping_front() {
    const auto now = std::chrono::steady_clock::now();
    if (!manager_.watchdog() || now < last_ping_ + ping_interval()) return;
    last_ping_ = now;
    tell_front({.type = MessageType::ping});
  }

  void take_signal() {
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo == SIGCHLD) return reap();
    if (info.ssi_signo == SIGHUP) return reload();
    log_event(log_, LogLevel::info, "stopping", {{"signal", static_cast<int>(info.ssi_signo)}});
    if (!draining_) give_up_at_ = std::chrono::steady_clock::now() + config_.server.drain + kDrainMargin;
    draining_ = true;
    manager_.tell("STOPPING=1");
    tell_front({.type = MessageType::drain});
  }

  /// The front may not open the files itself.
  void reload() {
    if (mode_ != Mode::serve) return;
    auto files = open_credentials(config_);
    if (!files) {
      log_event(log_, LogLevel::error, "cannot reload", {{"error", files.error().to_string()}});
      return;
    }
    std::vector<int> fds;
    for (const auto& fd : files->fds) fds.push_back(fd.get());
    tell_front({.type = MessageType::reload, .value = files->which}, fds);
  }

  void tell_front(const Message& message, std::span<const int> fds = {}) {
    if (channel_) (void)sys::send_message(channel_.get(), sys::bytes_of(message), fds);
  }

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return;
      if (pid == front_pid_) front_died(status);
      if (pid == launcher_.pid) launcher_died();
      if (exit_status_) return;
    }
  }

  void front_died(int status) {
    front_pid_ = -1;
    channel_.reset();
    if (draining_ || mode_ != Mode::serve) {
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      return;
    }
    // One that ends by itself before it serves has said why, and would say it again.
    if (!front_was_ready_ && WIFEXITED(status)) {
      exit_status_ = 1;
      return;
    }
    log_event(log_, LogLevel::error, "front died", {{"status", status}});
    if (too_many_quick_deaths(front_started_)) return;
    // The launcher ends with its front, and every run with the launcher: start both anew.
    end_launcher();
    auto started = start_launcher();
    if (started) started = start_front();
    if (!started) give_up(started.error());
  }

  void launcher_died() {
    launcher_.pid = -1;
    launcher_.supervisor.reset();
    forget_groups();
    if (draining_ || front_pid_ < 0) return;
    log_event(log_, LogLevel::error, "launcher died", {{"effect", "runs in flight fail"}});
    if (too_many_quick_deaths(launcher_started_)) return;
    auto started = start_launcher();
    if (!started) return give_up(started.error());
    const int socket = launcher_.front.get();
    tell_front({.type = MessageType::new_launcher}, std::span(&socket, 1));
    launcher_.front.reset();
  }

  bool too_many_quick_deaths(std::chrono::steady_clock::time_point started) {
    quick_deaths_ = std::chrono::steady_clock::now() - started < kCalm ? quick_deaths_ + 1 : 0;
    if (quick_deaths_ < kMaxQuickDeaths) return false;
    give_up({.code = ErrorCode::internal, .message = "a child keeps dying", .sys_errno = 0});
    return true;
  }

  void give_up(const Error& error) {
    log_event(log_, LogLevel::error, "giving up", {{"error", error.to_string()}});
    exit_status_ = 1;
  }

  void serve_launcher() {
    Message request;
    auto received = sys::receive_message(launcher_.supervisor.get(), sys::writable_bytes_of(request), MSG_DONTWAIT);
    if (!received || (*received && (*received)->size != sizeof request)) {
      launcher_.supervisor.reset();  // its SIGCHLD follows
      return;
    }
    if (!*received) return;
    if (request.type == MessageType::make_group) make_group(request.run);
    if (request.type == MessageType::remove_group) remove_group(request.run);
  }

  static std::string group_name(sandbox::RunId run) { return "run-" + std::to_string(run); }

  void make_group(sandbox::RunId run) {
    const auto& limits = host_.launcher.limits;
    // Init is a process of the group, too.
    auto fds = host_.cgroups->make(group_name(run), {.memory_bytes = limits.memory_bytes,
                                                     .cpus = limits.cpus,
                                                     .processes = limits.processes + 1});
    Message reply{.type = MessageType::group, .run = run};
    std::vector<int> raw;
    if (fds) {
      groups_.insert(run);
      for (std::size_t i = 0; i < fds->size(); ++i) {
        reply.kinds[i] = (*fds)[i].kind;
        raw.push_back((*fds)[i].fd.get());
      }
    } else {
      log_event(log_, LogLevel::error, "cannot make a control group", {{"error", fds.error().to_string()}});
      reply.value = static_cast<std::uint32_t>(fds.error().sys_errno != 0 ? fds.error().sys_errno : EIO);
    }
    (void)sys::send_message(launcher_.supervisor.get(), sys::bytes_of(reply), raw);
  }

  void remove_group(sandbox::RunId run) {
    if (groups_.erase(run) != 0) to_remove_.insert(run);
  }

  void retry_removals() {
    std::erase_if(to_remove_, [this](sandbox::RunId run) { return host_.cgroups->remove(group_name(run)); });
  }

  /// The launcher's death ended every process in them.
  void forget_groups() {
    to_remove_.merge(groups_);
    groups_.clear();
  }

  void serve_front() {
    Message message;
    auto received = sys::receive_message(channel_.get(), sys::writable_bytes_of(message), MSG_DONTWAIT);
    if (!received || (*received && (*received)->size != sizeof message)) return channel_.reset();
    if (!*received) return;
    front_was_ready_ |= message.type == MessageType::ready;
    if (message.type == MessageType::ready) manager_.tell("READY=1");
    if (message.type == MessageType::alive) manager_.tell("WATCHDOG=1");
  }

  void end_launcher() {
    if (launcher_.pid < 0) return;
    (void)::syscall(SYS_pidfd_send_signal, launcher_.pidfd.get(), SIGKILL, nullptr, 0);
    (void)::waitpid(launcher_.pid, nullptr, 0);
    launcher_.pid = -1;
    launcher_.supervisor.reset();
    forget_groups();
  }

  void stop_children() {
    end_launcher();
    if (front_pid_ > 0) {
      ::kill(front_pid_, SIGKILL);
      (void)::waitpid(front_pid_, nullptr, 0);
    }
  }

  const config::Config& config_;
  Mode mode_;
  const Logger& log_;
  Host host_;
  sys::ServiceManager manager_ = sys::ServiceManager::from_environment();
  sys::UniqueFd signals_;
  sys::UniqueFd listening_;
  sandbox::LauncherHandle launcher_;
  pid_t front_pid_ = -1;
  bool front_was_ready_ = false;
  sys::UniqueFd channel_;
  std::set<sandbox::RunId> groups_;
  std::set<sandbox::RunId> to_remove_;
  std::chrono::steady_clock::time_point launcher_started_;
  std::chrono::steady_clock::time_point front_started_;
  std::chrono::steady_clock::time_point last_ping_;
  int quick_deaths_ = 0;
  bool draining_ = false;
  std::optional<std::chrono::steady_clock::time_point> give_up_at_;  // while draining
  std::optional<int> exit_status_;
};

}  // namespace

int supervise(const config::Config& config, Mode mode, const Logger& log) {
  auto host = prepare_host(config);
  if (!host) {
    log_event(log, LogLevel::error, "cannot start", {{"error", host.error().to_string()}});
    return 1;
  }
  if (mode != Mode::check && !host->missing.empty()) {
    for (const auto& reason : host->missing) {
      log_event(log, LogLevel::error, "required limit cannot be kept here", {{"limit", reason}});
    }
    log_event(log, LogLevel::error, "refusing to serve", {{"what_to_do", "see asg-sandbox check, or shorten sandbox.require"}});
    return 1;
  }
  return Supervisor(config, mode, log, std::move(*host)).run();
}

}  // namespace asg::app
