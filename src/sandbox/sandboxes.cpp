// The life of a sandbox in the launcher: made, handed to the front, finished, gone. The warm half is in warm.cpp.

#include "sandboxes.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "asg/linux/io.hpp"
#include "collector.hpp"
#include "runtimes.hpp"

namespace asg::sandbox {
namespace {

constexpr std::size_t kCollectionFds = 3;

}  // namespace

Sandboxes::Sandboxes(const LauncherSettings& settings, int front, int supervisor)
    : settings_(settings), front_(front), supervisor_(supervisor), spawner_(settings) {}

void Sandboxes::answer(const Message& message, std::span<const int> fds) const {
  (void)sys::send_message(front_, sys::bytes_of(message), fds);  // a front that is gone ends the loop by itself
}

void Sandboxes::fail_launch(RunId run, const Error& error) const {
  Message reply{.type = MessageType::launch_failed, .run = run};
  reply.value = static_cast<std::uint32_t>(error.sys_errno);
  error.message.copy(reply.text, sizeof reply.text - 1);
  answer(reply);
  answer({.type = MessageType::gone, .run = run});
}

Result<sys::CgroupFds> Sandboxes::make_group(std::uint64_t id) const {
  const Message request{.type = MessageType::make_group, .run = id};
  auto sent = sys::send_message(supervisor_, sys::bytes_of(request));
  if (!sent) return std::unexpected(sent.error());
  Message reply;
  auto received = sys::receive_message(supervisor_, sys::writable_bytes_of(reply));
  if (!received) return std::unexpected(received.error());
  if (!*received || (*received)->size != sizeof reply) return fail(ErrorCode::io, "the supervisor is gone");
  if (reply.value != 0) return fail_errno("making a control group", static_cast<int>(reply.value));
  sys::CgroupFds fds;
  for (std::size_t i = 0; i < (*received)->fds.size(); ++i) fds.push_back({reply.kinds[i], std::move((*received)->fds[i])});
  return fds;
}

Result<Sandbox*> Sandboxes::create(Variant variant, int pipe_bytes) {
  auto streams = Streams::create(pipe_bytes);
  if (!streams) return std::unexpected(streams.error());
  const std::uint64_t id = next_id_++;
  auto group = make_group(id);
  if (!group) return std::unexpected(group.error());
  auto sandbox = std::make_unique<Sandbox>();
  sandbox->id = id;
  sandbox->variant = variant;
  sandbox->group = std::move(*group);
  sandbox->streams = std::move(*streams);
  while (taken_slots_.contains(sandbox->slot)) ++sandbox->slot;
  taken_slots_.insert(sandbox->slot);
  return (all_[id] = std::move(sandbox)).get();
}

void Sandboxes::launch(PendingLaunch launch) {
  if (launch.start == Start::cold) return start_cold(std::move(launch));
  if (Sandbox* ready = find_ready(launch.variant)) return hand_out(*ready, std::move(launch));
  // Forking from a zygote beats starting an interpreter; a Node that has just been started does not.
  const bool forkable = launch.variant != Variant::node && wanted(launch.variant) > 0 && zygote_ready(launch.variant);
  if (!forkable) return start_cold(std::move(launch));
  auto created = create(launch.variant, runtime(launch.language).pipe_bytes);
  if (!created) return fail_launch(launch.run, created.error());
  Sandbox& sandbox = **created;
  sandbox.waiting = std::move(launch);
  if (!start_warm(sandbox)) discard(sandbox);  // and the launch that waits for it starts cold
}

void Sandboxes::start_cold(PendingLaunch launch) {
  auto created = create(launch.variant, runtime(launch.language).pipe_bytes);
  if (!created) return fail_launch(launch.run, created.error());
  Sandbox& sandbox = **created;
  auto init = spawner_.cold(
      launch.language,
      {.slot = sandbox.slot, .group = sandbox.group, .streams = sandbox.streams, .stdin_fd = launch.input.get()},
      launch.payload.get());
  if (!init) {
    fail_launch(launch.run, init.error());
    sandbox.finished = true;
    return forget(sandbox);
  }
  sandbox.init = std::move(*init);
  sandbox.streams.control_inner.reset();
  launch.payload.reset();
  hand_out(sandbox, std::move(launch));
}

void Sandboxes::hand_out(Sandbox& sandbox, PendingLaunch launch) {
  const bool warm = static_cast<bool>(launch.payload);
  if (warm) {
    auto given = sys::copy_file(launch.payload.get(), sandbox.payload.get());
    if (given && launch.input) given = sys::copy_file(launch.input.get(), sandbox.input.get());
    const Control go{.type = ControlType::go, .value = 0, .stage = 0, .index = 0};
    if (given && ::write(sandbox.streams.go.write_end.get(), &go, sizeof go) != sizeof go) given = fail_errno("go");
    if (!given) {
      discard(sandbox);
      return start_cold(std::move(launch));
    }
  }
  sandbox.state = State::handed_out;
  sandbox.run = launch.run;
  by_run_[launch.run] = sandbox.id;
  std::vector<int> fds = {sandbox.streams.out.read_end.get(), sandbox.streams.err.read_end.get(),
                          sandbox.streams.control.get()};
  if (warm) fds.push_back(sandbox.streams.words.read_end.get());
  if (warm && sandbox.workspace) fds.push_back(sandbox.workspace.get());
  answer({.type = MessageType::launched, .value = warm ? 1U : 0U, .run = launch.run}, fds);
  // Only the program holds the other ends now: its death is end of file.
  sandbox.streams.out = {};
  sandbox.streams.err = {};
  sandbox.streams.control.reset();
  sandbox.streams.words = {};
  sandbox.streams.go = {};
  sandbox.payload.reset();
  sandbox.input.reset();
  sandbox.workspace.reset();
}

void Sandboxes::kill(const Sandbox& sandbox) const {
  for (const auto& item : sandbox.group) {
    if (item.kind == sys::CgroupFdKind::kill && ::write(item.fd.get(), "1", 1) < 0) break;
  }
  // The death of PID 1 ends its namespace, whatever control groups there are.
  if (sandbox.init) (void)::syscall(SYS_pidfd_send_signal, sandbox.init.get(), SIGKILL, nullptr, 0);
}

bool Sandboxes::heard_of_oom(Sandbox& sandbox) {
  for (const auto& item : sandbox.group) {
    std::uint64_t count = 0;
    if (item.kind == sys::CgroupFdKind::oom_event && ::read(item.fd.get(), &count, sizeof count) > 0) sandbox.oom = true;
  }
  return sandbox.oom;
}

void Sandboxes::finish(RunId run, std::vector<sys::UniqueFd> collection) {
  const auto found = by_run_.find(run);
  if (found == by_run_.end()) return;
  Sandbox& sandbox = *all_.at(found->second);
  const bool oom = heard_of_oom(sandbox);
  kill(sandbox);
  const sys::CgroupUsage usage = sys::read_usage(sandbox.group);
  Message reply{.type = MessageType::finished, .run = run};
  reply.usage = {.cpu_us = usage.cpu_us,
                 .memory_peak_bytes = usage.memory_peak_bytes,
                 // Our kill may come before the kernel's own, which then is not counted.
                 .oom_kills = std::max<std::uint64_t>(usage.oom_kills, oom ? 1 : 0),
                 .processes_peak = usage.processes_peak};
  answer(reply);
  sandbox.finished = true;
  if (collection.size() == kCollectionFds) sandbox.collection = std::move(collection);
  forget(sandbox);
}

void Sandboxes::start_collector(Sandbox& sandbox) {
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) run_collector(sandbox.collection[0].get(), sandbox.collection[1].get(), sandbox.collection[2].get());
  sandbox.collection.clear();
  if (pid > 0) return sandbox.collector.reset(pidfd);
  answer({.type = MessageType::collected, .value = 1, .run = sandbox.run});
}

void Sandboxes::collector_ended(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  siginfo_t info{};
  const auto pidfd = static_cast<id_t>(found->second->collector.get());
  if (::waitid(P_PIDFD, pidfd, &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
  const bool whole = info.si_code == CLD_EXITED && info.si_status == 0;
  found->second->collector.reset();
  answer({.type = MessageType::collected, .value = whole ? 0U : 1U, .run = found->second->run});
  forget(*found->second);
}

void Sandboxes::out_of_memory(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found != all_.end() && heard_of_oom(*found->second)) kill(*found->second);
}

void Sandboxes::init_ended(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  Sandbox& sandbox = *found->second;
  siginfo_t info{};
  // PID 1 can only be waited for when everything in its namespace is gone.
  if (::waitid(P_PIDFD, static_cast<id_t>(sandbox.init.get()), &info, WEXITED | WNOHANG | __WALL) != 0 || info.si_pid == 0) return;
  sandbox.init.reset();
  if (sandbox.state != State::handed_out) return discard(sandbox);
  forget(sandbox);
}

void Sandboxes::main_ended(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  Sandbox& sandbox = *found->second;
  siginfo_t info{};
  if (::waitid(P_PIDFD, static_cast<id_t>(sandbox.main.get()), &info, WEXITED | WNOHANG | __WALL) != 0 || info.si_pid == 0) return;
  sandbox.main.reset();
  if (sandbox.state != State::handed_out) return discard(sandbox);
  // The program has not said how it ended (or has, and this is not heard any more): we are its parent and know.
  const bool exited = info.si_code == CLD_EXITED;
  const int status = exited ? (info.si_status & 0xff) << 8 : info.si_status;
  const Control report{.type = ControlType::exited, .value = static_cast<std::uint32_t>(status), .stage = 0, .index = 0};
  (void)sys::send_message(sandbox.streams.control_inner.get(), sys::bytes_of(report));
  forget(sandbox);
}

/// Removes it when nothing of it is left and nobody will ask about it.
void Sandboxes::forget(Sandbox& sandbox) {
  if (!sandbox.finished || sandbox.init || sandbox.main || sandbox.collector) return;
  // Nobody is left who could race the collector for a name.
  if (!sandbox.collection.empty()) {
    start_collector(sandbox);
    if (sandbox.collector) return;
  }
  const Message remove{.type = MessageType::remove_group, .run = sandbox.id};
  (void)sys::send_message(supervisor_, sys::bytes_of(remove));
  taken_slots_.erase(sandbox.slot);
  if (sandbox.state == State::handed_out) {
    by_run_.erase(sandbox.run);
    answer({.type = MessageType::gone, .run = sandbox.run});
  }
  all_.erase(sandbox.id);
}

}  // namespace asg::sandbox
