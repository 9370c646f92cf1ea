#include "launcher_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "asg/linux/io.hpp"

namespace asg::sandbox {
namespace {

struct Watched {
  enum class What { front, supervisor, process, out_of_memory } what;
  RunId run = 0;
};

}  // namespace

LauncherLoop::LauncherLoop(const LauncherSettings& settings, sys::UniqueFd front, sys::UniqueFd supervisor)
    : settings_(settings), front_(std::move(front)), supervisor_(std::move(supervisor)), spawner_(settings) {}

void LauncherLoop::run() {
  std::vector<pollfd> polled;
  std::vector<Watched> watched;
  while (!stopping_) {
    polled.assign({{front_.get(), POLLIN, 0}, {supervisor_.get(), POLLIN, 0}});
    watched.assign({{Watched::What::front}, {Watched::What::supervisor}});
    for (const auto& [id, run] : runs_) {
      if (run.reaped) continue;
      polled.push_back({run.pidfd.get(), POLLIN, 0});
      watched.push_back({Watched::What::process, id});
      for (const auto& item : run.group) {
        if (item.kind != sys::CgroupFdKind::oom_event) continue;
        polled.push_back({item.fd.get(), POLLIN, 0});
        watched.push_back({Watched::What::out_of_memory, id});
      }
    }
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const auto found = runs_.find(watched[i].run);
      switch (watched[i].what) {
        case Watched::What::front: stopping_ = !serve_front(); break;
        case Watched::What::supervisor: return;  // it never speaks first: it is gone
        case Watched::What::out_of_memory:
          if (found != runs_.end() && heard_of_oom(found->second)) kill(found->second);
          break;
        case Watched::What::process:
          if (found != runs_.end()) reap(found->first, found->second);
          break;
      }
    }
  }
}

bool LauncherLoop::serve_front() {
  Message request;
  auto received = sys::receive_message(front_.get(), sys::writable_bytes_of(request), MSG_DONTWAIT);
  if (!received) return false;
  if (!*received) return true;
  if ((*received)->size != sizeof request) return false;
  if (request.type == MessageType::launch) launch(request, std::move((*received)->fds));
  else if (request.type == MessageType::finish) finish(request.run);
  return true;
}

void LauncherLoop::answer(const Message& message, std::span<const int> fds) const {
  (void)sys::send_message(front_.get(), sys::bytes_of(message), fds);  // a front that is gone ends the loop by itself
}

Result<sys::CgroupFds> LauncherLoop::make_group(RunId id) const {
  const Message request{.type = MessageType::make_group, .run = id};
  auto sent = sys::send_message(supervisor_.get(), sys::bytes_of(request));
  if (!sent) return std::unexpected(sent.error());
  Message reply;
  auto received = sys::receive_message(supervisor_.get(), sys::writable_bytes_of(reply));
  if (!received) return std::unexpected(received.error());
  if (!*received || (*received)->size != sizeof reply) return fail(ErrorCode::io, "the supervisor is gone");
  if (reply.value != 0) return fail_errno("making a control group", static_cast<int>(reply.value));
  sys::CgroupFds fds;
  for (std::size_t i = 0; i < (*received)->fds.size(); ++i) fds.push_back({reply.kinds[i], std::move((*received)->fds[i])});
  return fds;
}

std::uint32_t LauncherLoop::take_slot() {
  std::uint32_t slot = 0;
  while (taken_slots_.contains(slot)) ++slot;
  taken_slots_.insert(slot);
  return slot;
}

Result<Spawned> LauncherLoop::start(const Message& request, std::vector<sys::UniqueFd>& fds, Run& run) {
  if (fds.empty()) return fail(ErrorCode::internal, "a launch without payload");
  auto group = make_group(request.run);
  if (!group) return std::unexpected(group.error());
  run.group = std::move(*group);
  const SpawnRequest spawn{.language = request.language,
                           .payload_fd = fds[0].get(),
                           .stdin_fd = fds.size() > 1 ? fds[1].get() : -1,
                           .slot = run.slot,
                           .group = run.group};
  return spawner_.spawn(spawn);
}

void LauncherLoop::launch(const Message& request, std::vector<sys::UniqueFd> fds) {
  Run& run = runs_[request.run];
  run.slot = take_slot();
  auto spawned = start(request, fds, run);
  if (!spawned) {
    const int number = spawned.error().sys_errno != 0 ? spawned.error().sys_errno : EINVAL;
    Message reply{.type = MessageType::launch_failed, .value = static_cast<std::uint32_t>(number), .run = request.run};
    spawned.error().message.copy(reply.text, sizeof reply.text - 1);
    answer(reply);
    run.finished = run.reaped = true;
    forget(request.run);
    return;
  }
  run.pidfd = std::move(spawned->pidfd);
  const int out[] = {spawned->stdout_fd.get(), spawned->stderr_fd.get(), spawned->control.get()};
  answer({.type = MessageType::launched, .run = request.run}, out);
}

void LauncherLoop::kill(const Run& run) const {
  if (run.reaped) return;
  for (const auto& item : run.group) {
    if (item.kind == sys::CgroupFdKind::kill && ::write(item.fd.get(), "1", 1) < 0) break;
  }
  // The death of PID 1 ends its namespace, whatever control groups there are.
  (void)::syscall(SYS_pidfd_send_signal, run.pidfd.get(), SIGKILL, nullptr, 0);
}

bool LauncherLoop::heard_of_oom(Run& run) {
  for (const auto& item : run.group) {
    std::uint64_t count = 0;
    if (item.kind == sys::CgroupFdKind::oom_event && ::read(item.fd.get(), &count, sizeof count) > 0) run.oom = true;
  }
  return run.oom;
}

void LauncherLoop::finish(RunId id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  const bool oom = heard_of_oom(found->second);
  kill(found->second);
  const sys::CgroupUsage usage = sys::read_usage(found->second.group);
  Message reply{.type = MessageType::finished, .run = id};
  reply.usage = {.cpu_us = usage.cpu_us,
                 .memory_peak_bytes = usage.memory_peak_bytes,
                 // Our kill may come before the kernel's own, which then is not counted.
                 .oom_kills = std::max<std::uint64_t>(usage.oom_kills, oom ? 1 : 0),
                 .processes_peak = usage.processes_peak};
  answer(reply);
  found->second.finished = true;
  if (found->second.reaped) forget(id);
}

void LauncherLoop::reap(RunId id, Run& run) {
  siginfo_t info{};
  // PID 1 can only be waited for when everything in its namespace is gone.
  if (::waitid(P_PIDFD, static_cast<id_t>(run.pidfd.get()), &info, WEXITED | WNOHANG) != 0 || info.si_pid == 0) return;
  run.reaped = true;
  if (run.finished) forget(id);
}

void LauncherLoop::forget(RunId id) {
  const auto found = runs_.find(id);
  const Message remove{.type = MessageType::remove_group, .run = id};
  (void)sys::send_message(supervisor_.get(), sys::bytes_of(remove));
  taken_slots_.erase(found->second.slot);
  runs_.erase(found);
  answer({.type = MessageType::gone, .run = id});
}

}  // namespace asg::sandbox
