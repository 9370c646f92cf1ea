#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "asg/base/log.hpp"
#include "asg/executor/launcher_client.hpp"
#include "asg/executor/runner.hpp"

namespace asg::executor {

struct ExecutorSettings {
  std::uint32_t max_concurrent = 1;  // runs at once, exactly
  std::uint32_t queue = 0;           // calls that may wait beyond that
};

struct ExecutorCounts {
  std::uint32_t running = 0;
  std::uint32_t queued = 0;
  std::uint32_t slots = 0;  // max_concurrent
};

class ActiveRun;

/// Slots, a bounded queue in order of arrival, and the runs. A slot is free again only when the launcher says that nothing of
/// its run is left. Thread: the front's.
class Executor final : public Runner {
 public:
  Executor(boost::asio::io_context& io, const ExecutorSettings& settings, Logger log);
  ~Executor() override;

  /// A launcher to run on, the first one or after the death of another. Without one calls wait.
  void attach(sys::UniqueFd launcher_socket);

  Task<Result<sandbox::Outcome>> run(sandbox::RunSpec spec, RunHooks hooks) override;

  /// No new calls: they get ErrorCode::busy, as do those that wait. Running ones go on.
  void drain();
  /// Ends what still runs, as if every caller had gone away.
  void cancel_all();
  [[nodiscard]] ExecutorCounts counts() const;
  /// Called whenever a run has gone entirely.
  void on_idle(std::function<void()> listener) { on_idle_ = std::move(listener); }

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;

  void submit(const JobPtr& job);
  void begin(const JobPtr& job);
  void begin_queued();
  [[nodiscard]] bool free_slot() const;
  void gone(sandbox::RunId run);
  void give_up(const JobPtr& job);

  boost::asio::io_context& io_;
  ExecutorSettings settings_;
  Logger log_;
  LauncherClient launcher_;
  std::deque<JobPtr> queue_;
  std::map<sandbox::RunId, std::weak_ptr<ActiveRun>> active_;
  std::size_t unanswered_ = 0;  // of those in active_, and of those that a dead launcher took with it
  sandbox::RunId next_id_ = 1;
  bool draining_ = false;
  std::function<void()> on_idle_;
};

}  // namespace asg::executor
