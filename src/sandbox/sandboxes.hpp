#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "asg/linux/cgroup.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/launcher.hpp"
#include "asg/sandbox/protocol.hpp"
#include "spawn.hpp"
#include "zygote.hpp"

namespace asg::sandbox {

/// What a ready sandbox is for.
enum class Variant { python_light, python_heavy, node };
inline constexpr Variant kVariants[] = {Variant::python_light, Variant::python_heavy, Variant::node};

/// A front's request for a run, kept until the run has a sandbox.
struct PendingLaunch {
  RunId run = 0;
  Language language{};
  Variant variant{};
  Start start{};
  sys::UniqueFd payload;
  sys::UniqueFd input;  // may be empty
};

enum class State {
  setting_up,  // PID 1 isolates itself
  forking,     // the zygote was asked for the main process
  warming,     // the main process gets ready
  ready,       // waits for its program
  handed_out,  // the front has it
  discarded,   // nobody will use it
};

/// One sandbox from clone3 until its PID namespace is empty. Used once.
struct Sandbox {
  std::uint64_t id = 0;  // names its control group
  Variant variant{};
  State state = State::setting_up;
  std::uint32_t slot = 0;
  sys::CgroupFds group;
  sys::UniqueFd init;   // pidfd of PID 1
  sys::UniqueFd main;   // pidfd of a main process that a zygote forked: our child, too
  Streams streams;
  sys::UniqueFd payload;    // what the main process reads; ours to write until it starts
  sys::UniqueFd input;      // its standard input, likewise
  sys::UniqueFd workspace;  // O_PATH
  std::optional<PendingLaunch> waiting;  // somebody waits for this very one
  RunId run = 0;         // once handed out
  bool oom = false;      // v1: told by its event
  std::vector<sys::UniqueFd> collection;  // asked for: working directory, patterns, answer
  sys::UniqueFd collector;                // pidfd, while it works
  bool finished = false; // the front has had its usage, or it has no front
};

/// All sandboxes of a launcher, warm and running, and the zygotes. Thread: the launcher's only one. Owned by LauncherLoop.
class Sandboxes {
 public:
  /// The sockets stay the caller's.
  Sandboxes(const LauncherSettings& settings, int front, int supervisor);

  void launch(PendingLaunch launch);
  /// collection: empty, or the descriptors of a finish message.
  void finish(RunId run, std::vector<sys::UniqueFd> collection);
  /// Makes one more ready sandbox when there is a lack of them and nothing better to do. Returns whether it did.
  bool refill();

  // What the poll loop heard of.
  void control_readable(std::uint64_t id);
  void words_readable(std::uint64_t id);
  void main_ended(std::uint64_t id);
  void init_ended(std::uint64_t id);
  void out_of_memory(std::uint64_t id);
  void collector_ended(std::uint64_t id);
  void zygote_readable(Preload preload);

  [[nodiscard]] const std::map<std::uint64_t, std::unique_ptr<Sandbox>>& all() const { return all_; }
  /// -1 when there is none.
  [[nodiscard]] int zygote_socket(Preload preload) const;

 private:
  [[nodiscard]] Result<Sandbox*> create(Variant variant, int pipe_bytes);
  [[nodiscard]] Result<void> start_warm(Sandbox& sandbox);
  void start_cold(PendingLaunch launch);
  void hand_out(Sandbox& sandbox, PendingLaunch launch);
  void advance(Sandbox& sandbox, const Control& control, std::vector<sys::UniqueFd> fds);
  void ask_zygote(Sandbox& sandbox);
  void start_collector(Sandbox& sandbox);
  void discard(Sandbox& sandbox);
  void forget(Sandbox& sandbox);
  void kill(const Sandbox& sandbox) const;
  static bool heard_of_oom(Sandbox& sandbox);
  void fail_launch(RunId run, const Error& error) const;
  void answer(const Message& message, std::span<const int> fds = {}) const;
  [[nodiscard]] Result<sys::CgroupFds> make_group(std::uint64_t id) const;
  [[nodiscard]] Sandbox* find_ready(Variant variant);
  [[nodiscard]] Zygote* zygote(Preload preload);
  /// Starts it when there is none.
  [[nodiscard]] bool zygote_ready(Variant variant);
  void zygote_died(Preload preload);
  [[nodiscard]] std::uint32_t wanted(Variant variant) const;
  [[nodiscard]] std::uint32_t running() const;

  const LauncherSettings& settings_;
  int front_;
  int supervisor_;
  Spawner spawner_;
  std::map<std::uint64_t, std::unique_ptr<Sandbox>> all_;
  std::map<RunId, std::uint64_t> by_run_;
  std::set<std::uint32_t> taken_slots_;
  std::map<Preload, std::unique_ptr<Zygote>> zygotes_;
  std::map<Preload, int> zygote_failures_;
  std::uint64_t next_id_ = 1;
};

}  // namespace asg::sandbox
