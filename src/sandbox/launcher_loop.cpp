#include "launcher_loop.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "asg/linux/io.hpp"

namespace asg::sandbox {
namespace {

// How long nothing may have happened before ready sandboxes are made: a request that follows its forerunner's answer at once
// must not find the cores busy with that.
constexpr int kRefillAfterMs = 3;

Variant variant_of(const Message& request) {
  if (request.language == Language::javascript) return Variant::node;
  return request.start == Start::heavy ? Variant::python_heavy : Variant::python_light;
}

}  // namespace

LauncherLoop::LauncherLoop(const LauncherSettings& settings, sys::UniqueFd front, sys::UniqueFd supervisor)
    : front_(std::move(front)), supervisor_(std::move(supervisor)), sandboxes_(settings, front_.get(), supervisor_.get()) {}

void LauncherLoop::watch(int fd, What what, std::uint64_t id) {
  if (fd < 0) return;
  polled_.push_back({fd, POLLIN, 0});
  watched_.push_back({what, id});
}

void LauncherLoop::watch_all() {
  polled_.clear();
  watched_.clear();
  watch(front_.get(), What::front);
  watch(supervisor_.get(), What::supervisor);
  watch(sandboxes_.zygote_socket(Preload::light), What::light_zygote);
  watch(sandboxes_.zygote_socket(Preload::heavy), What::heavy_zygote);
  for (const auto& [id, sandbox] : sandboxes_.all()) {
    if (sandbox->state < State::handed_out) {
      watch(sandbox->streams.control.get(), What::control, id);
      watch(sandbox->streams.words.read_end.get(), What::words, id);
    }
    watch(sandbox->main.get(), What::main_process, id);
    watch(sandbox->init.get(), What::init, id);
    watch(sandbox->collector.get(), What::collector, id);
    for (const auto& item : sandbox->group) {
      if (item.kind == sys::CgroupFdKind::oom_event) watch(item.fd.get(), What::out_of_memory, id);
    }
  }
}

void LauncherLoop::run() {
  bool refilling = true;
  for (;;) {
    watch_all();
    const int count = ::poll(polled_.data(), polled_.size(), refilling ? kRefillAfterMs : -1);
    if (count < 0 && errno != EINTR) return;
    if (count == 0) {
      refilling = sandboxes_.refill();
      continue;
    }
    refilling = true;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if (polled_[i].revents != 0 && !heard(watched_[i])) return;
    }
  }
}

bool LauncherLoop::heard(const Watched& watched) {
  switch (watched.what) {
    case What::front: return serve_front();
    case What::supervisor: return false;  // it never speaks first: it is gone
    case What::light_zygote: sandboxes_.zygote_readable(Preload::light); break;
    case What::heavy_zygote: sandboxes_.zygote_readable(Preload::heavy); break;
    case What::control: sandboxes_.control_readable(watched.id); break;
    case What::words: sandboxes_.words_readable(watched.id); break;
    case What::main_process: sandboxes_.main_ended(watched.id); break;
    case What::init: sandboxes_.init_ended(watched.id); break;
    case What::collector: sandboxes_.collector_ended(watched.id); break;
    case What::out_of_memory: sandboxes_.out_of_memory(watched.id); break;
  }
  return true;
}

bool LauncherLoop::serve_front() {
  Message request;
  auto received = sys::receive_message(front_.get(), sys::writable_bytes_of(request), MSG_DONTWAIT);
  if (!received) return false;
  if (!*received) return true;
  if ((*received)->size != sizeof request) return false;
  auto& fds = (*received)->fds;
  if (request.type == MessageType::finish) sandboxes_.finish(request.run, std::move(fds));
  if (request.type != MessageType::launch || fds.empty()) return true;
  PendingLaunch launch{.run = request.run, .language = request.language, .variant = variant_of(request), .start = request.start, .payload = {}, .input = {}};
  launch.payload = std::move(fds[0]);
  if (fds.size() > 1) launch.input = std::move(fds[1]);
  sandboxes_.launch(std::move(launch));
  return true;
}

}  // namespace asg::sandbox
