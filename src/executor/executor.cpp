#include "asg/executor/executor.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <utility>

#include "active_run.hpp"

namespace asg::executor {

using sandbox::Outcome;

/// One call: waits in the queue, then runs. The timer never fires: cancelling it wakes the caller.
struct Executor::Job {
  Job(boost::asio::io_context& io, sandbox::RunSpec run_spec, RunHooks run_hooks)
      : spec(std::move(run_spec)), hooks(std::move(run_hooks)), wake(io, boost::asio::steady_timer::time_point::max()) {}

  void finish(Result<Outcome> outcome) {
    if (hooks.cancel) hooks.cancel->on_cancel(nullptr);
    result = std::move(outcome);
    wake.cancel();
  }
  void tell(Phase phase) const {
    if (hooks.on_phase) hooks.on_phase(phase);
  }

  sandbox::RunSpec spec;
  RunHooks hooks;
  boost::asio::steady_timer wake;
  std::optional<Result<Outcome>> result;
};

Executor::Executor(boost::asio::io_context& io, const ExecutorSettings& settings, Logger log)
    : io_(io),
      settings_(settings),
      log_(std::move(log)),
      launcher_(io, [this](sandbox::RunId run) { gone(run); }) {}

Executor::~Executor() = default;

void Executor::attach(sys::UniqueFd launcher_socket) {
  launcher_.attach(std::move(launcher_socket));
  log_event(log_, LogLevel::debug, "launcher attached");
  begin_queued();
}

Task<Result<Outcome>> Executor::run(sandbox::RunSpec spec, RunHooks hooks) {
  auto job = std::make_shared<Job>(io_, std::move(spec), std::move(hooks));
  submit(job);
  if (!job->result) {
    const auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
    co_await job->wake.async_wait(token);
  }
  co_return std::move(*job->result);
}

void Executor::submit(const JobPtr& job) {
  if (draining_) return job->finish(fail(ErrorCode::busy, "the server is shutting down"));
  if (job->hooks.cancel && job->hooks.cancel->cancelled()) return give_up(job);
  if (free_slot() && queue_.empty()) return begin(job);
  // A run that has been answered leaves its slot within milliseconds: who waits for that takes no place in the queue.
  const std::size_t leaving = active_.size() - std::min(active_.size(), unanswered_);
  if (queue_.size() >= settings_.queue + leaving) {
    return job->finish(fail(ErrorCode::busy, "all " + std::to_string(settings_.max_concurrent) +
                                                 " sandboxes are in use and the queue is full"));
  }
  queue_.push_back(job);
  job->tell(Phase::queued);
  if (job->hooks.cancel) job->hooks.cancel->on_cancel([this, weak = std::weak_ptr(job)] {
    if (auto waiting = weak.lock()) give_up(waiting);
  });
}

void Executor::give_up(const JobPtr& job) {
  std::erase(queue_, job);
  job->finish(fail(ErrorCode::cancelled, "cancelled before the run began"));
}

void Executor::begin(const JobPtr& job) {
  const sandbox::RunId id = next_id_++;
  auto active = std::make_shared<ActiveRun>(io_, launcher_, id, job->spec);
  active_[id] = active;
  job->tell(Phase::running);
  if (job->hooks.cancel) job->hooks.cancel->on_cancel([weak = std::weak_ptr(active)] {
    if (auto running = weak.lock()) running->cancel();
  });
  ++unanswered_;
  auto done = [this, job](Result<Outcome> outcome) {
    --unanswered_;
    if (!outcome) log_event(log_, LogLevel::error, "sandbox failed", {{"error", outcome.error().to_string()}});
    job->finish(std::move(outcome));
  };
  auto started = active->start(job->spec, done);
  if (started) return;
  active_.erase(id);
  done(std::unexpected(started.error()));
}

/// Between the death of a launcher and the next one calls wait: only those that ran are lost.
bool Executor::free_slot() const { return launcher_.attached() && active_.size() < settings_.max_concurrent; }

void Executor::begin_queued() {
  while (!queue_.empty() && free_slot()) {
    const JobPtr job = queue_.front();
    queue_.pop_front();
    begin(job);
  }
}

void Executor::gone(sandbox::RunId run) {
  active_.erase(run);
  begin_queued();
  if (active_.empty() && on_idle_) on_idle_();
}

void Executor::drain() {
  draining_ = true;
  for (const auto& job : std::exchange(queue_, {})) job->finish(fail(ErrorCode::busy, "the server is shutting down"));
}

void Executor::cancel_all() {
  for (const auto& [id, weak] : std::map(active_)) {
    if (auto run = weak.lock()) run->cancel();
  }
}

ExecutorCounts Executor::counts() const {
  return {.running = static_cast<std::uint32_t>(active_.size()),
          .queued = static_cast<std::uint32_t>(queue_.size()),
          .slots = settings_.max_concurrent};
}

}  // namespace asg::executor
