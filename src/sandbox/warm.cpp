// The warm half of the launcher: ready sandboxes, zygotes, refills.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "asg/linux/io.hpp"
#include "runtimes.hpp"
#include "sandboxes.hpp"

namespace asg::sandbox {
namespace {

// A zygote that cannot start (an image of another make) is not tried for ever: runs go cold then.
constexpr int kMaxZygoteFailures = 3;

Preload preload_of(Variant variant) { return variant == Variant::python_heavy ? Preload::heavy : Preload::light; }

bool is_over(int pidfd) {
  pollfd polled{pidfd, POLLIN, 0};
  return pidfd >= 0 && ::poll(&polled, 1, 0) > 0;
}

}  // namespace

std::uint32_t Sandboxes::wanted(Variant variant) const {
  switch (variant) {
    case Variant::python_light: return settings_.pool.python_light;
    case Variant::python_heavy: return settings_.pool.python_heavy;
    case Variant::node: return settings_.pool.node;
  }
  return 0;
}

std::uint32_t Sandboxes::running() const { return static_cast<std::uint32_t>(by_run_.size()); }

Sandbox* Sandboxes::find_ready(Variant variant) {
  for (auto& [id, sandbox] : all_) {
    if (sandbox->variant != variant || sandbox->state != State::ready) continue;
    // One that died while it waited is found out by the loop in its turn.
    if (!is_over(sandbox->main.get()) && !is_over(sandbox->init.get())) return sandbox.get();
  }
  return nullptr;
}

bool Sandboxes::refill() {
  // While runs go on every core is better used by them; a pool that runs low is worth it all the same.
  for (const Variant variant : kVariants) {
    std::uint32_t have = 0;
    for (const auto& [id, sandbox] : all_) {
      have += sandbox->variant == variant && sandbox->state <= State::ready && !sandbox->waiting ? 1 : 0;
    }
    if (have >= wanted(variant)) continue;
    if (running() > 0 && (have * 2 >= wanted(variant) || variant == Variant::node)) continue;
    if (variant != Variant::node && !zygote_ready(variant)) continue;
    auto created = create(variant, runtime(variant == Variant::node ? Language::javascript : Language::python).pipe_bytes);
    if (!created) return false;
    if (!start_warm(**created)) discard(**created);
    return true;
  }
  return false;
}

Result<void> Sandboxes::start_warm(Sandbox& sandbox) {
  auto piped = sandbox.streams.add_warm_pipes();
  if (!piped) return piped;
  auto payload = sys::make_memfd("payload");
  if (!payload) return std::unexpected(payload.error());
  auto input = sys::make_memfd("stdin");
  if (!input) return std::unexpected(input.error());
  sandbox.payload = std::move(*payload);
  sandbox.input = std::move(*input);
  const Spawner::Place place{
      .slot = sandbox.slot, .group = sandbox.group, .streams = sandbox.streams, .stdin_fd = sandbox.input.get()};
  auto init = sandbox.variant == Variant::node ? spawner_.waiting(Language::javascript, place, sandbox.payload.get())
                                               : spawner_.shell(place);
  if (!init) return std::unexpected(init.error());
  sandbox.init = std::move(*init);
  if (sandbox.variant == Variant::node) {
    sandbox.streams.out.write_end.reset();
    sandbox.streams.err.write_end.reset();
    sandbox.streams.control_inner.reset();
    sandbox.streams.words.write_end.reset();
    sandbox.streams.go.read_end.reset();
    sandbox.state = State::warming;
  }
  return {};
}

void Sandboxes::control_readable(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state >= State::handed_out) return;
  Sandbox& sandbox = *found->second;
  Control control;
  auto received = sys::receive_message(sandbox.streams.control.get(), sys::writable_bytes_of(control), MSG_DONTWAIT);
  if (received && !*received) return;
  if (!received || (*received)->size != sizeof control) return discard(sandbox);
  advance(sandbox, control, std::move((*received)->fds));
}

void Sandboxes::words_readable(std::uint64_t id) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second->state >= State::handed_out) return;
  Control control;
  if (::read(found->second->streams.words.read_end.get(), &control, sizeof control) != sizeof control) return discard(*found->second);
  advance(*found->second, control, {});
}

void Sandboxes::advance(Sandbox& sandbox, const Control& control, std::vector<sys::UniqueFd> fds) {
  switch (control.type) {
    case ControlType::started:
      if (!fds.empty()) sandbox.workspace = std::move(fds[0]);
      return;
    case ControlType::up:
      if (sandbox.state == State::setting_up) ask_zygote(sandbox);
      return;
    case ControlType::ready:
      if (sandbox.state == State::warming) sandbox.state = State::ready;
      return;
    default: return discard(sandbox);
  }
}

void Sandboxes::ask_zygote(Sandbox& sandbox) {
  Zygote* const parent = zygote(preload_of(sandbox.variant));
  if (parent == nullptr) return discard(sandbox);
  ForkRequest request;
  request.main_id = spawner_.main_id(sandbox.slot);
  request.warm_up = sandbox.waiting ? WarmUp::no : WarmUp::yes;
  id_map_of(request.main_id).copy(request.id_map, sizeof request.id_map - 1);
  std::vector<int> fds = {sandbox.init.get(),
                          sandbox.streams.words.write_end.get(),
                          sandbox.input.get(),
                          sandbox.streams.out.write_end.get(),
                          sandbox.streams.err.write_end.get(),
                          sandbox.payload.get(),
                          sandbox.streams.go.read_end.get()};
  for (const auto& item : sandbox.group) {
    if (item.kind == sys::CgroupFdKind::dir) request.group_version = 2;
    if (item.kind == sys::CgroupFdKind::procs) request.group_version = 1;
    if (item.kind == sys::CgroupFdKind::dir || item.kind == sys::CgroupFdKind::procs) fds.push_back(item.fd.get());
  }
  if (!parent->ask(request, fds, sandbox.id)) return discard(sandbox);
  sandbox.state = State::forking;
}

bool Sandboxes::zygote_ready(Variant variant) {
  const Zygote* const parent = zygote(preload_of(variant));
  return parent != nullptr && parent->ready();
}

int Sandboxes::zygote_socket(Preload preload) const {
  const auto found = zygotes_.find(preload);
  return found == zygotes_.end() || !found->second ? -1 : found->second->socket();
}

Zygote* Sandboxes::zygote(Preload preload) {
  auto& current = zygotes_[preload];
  if (current && current->worn_out()) current.reset();
  if (!current && zygote_failures_[preload] < kMaxZygoteFailures) {
    auto started = Zygote::start(preload, spawner_, settings_.filter);
    if (started) current = std::move(*started);
    else ++zygote_failures_[preload];
  }
  return current.get();
}

void Sandboxes::zygote_readable(Preload preload) {
  for (;;) {
    auto& current = zygotes_[preload];
    auto answered = current->answer();
    if (!answered) return zygote_died(preload);
    if (!*answered) return;
    Zygote::Answer& got = **answered;
    zygote_failures_[preload] = 0;
    const auto found = all_.find(got.tag);
    if (found == all_.end()) continue;
    Sandbox& sandbox = *found->second;
    if (got.child) sandbox.main = std::move(*got.child);
    if (!got.child || sandbox.state != State::forking) {
      discard(sandbox);
      continue;
    }
    sandbox.streams.out.write_end.reset();
    sandbox.streams.err.write_end.reset();
    sandbox.state = State::warming;
    if (sandbox.waiting) {
      PendingLaunch launch = std::move(*sandbox.waiting);
      sandbox.waiting.reset();
      hand_out(sandbox, std::move(launch));
    }
  }
}

void Sandboxes::zygote_died(Preload preload) {
  const auto lost = zygotes_[preload]->asked();
  zygotes_[preload].reset();
  ++zygote_failures_[preload];
  for (const std::uint64_t id : lost) {
    if (const auto found = all_.find(id); found != all_.end()) discard(*found->second);
  }
}

/// Ends it; a launch that waited for it starts cold.
void Sandboxes::discard(Sandbox& sandbox) {
  sandbox.state = State::discarded;
  sandbox.finished = true;
  kill(sandbox);
  std::optional<PendingLaunch> waiting = std::move(sandbox.waiting);
  sandbox.waiting.reset();
  forget(sandbox);
  if (waiting) start_cold(std::move(*waiting));
}

}  // namespace asg::sandbox
