#pragma once

#include <functional>

#include "asg/base/cancel.hpp"
#include "asg/base/error.hpp"
#include "asg/base/task.hpp"
#include "asg/sandbox/outcome.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::executor {

enum class Phase { queued, installing, running };

/// What a caller wants to hear while a run goes on.
struct RunHooks {
  CancelTokenPtr cancel;                  // may be null: cannot be cancelled
  std::function<void(Phase)> on_phase;    // may be empty; called on the front's thread
};

/// Runs code in a sandbox. An Error is what we failed to do (busy: queue full or draining; cancelled before the run began;
/// sandbox: it broke); whatever the code did is an Outcome. A run cancelled while running is an Outcome with
/// Cause::cancelled. Thread: the front's single thread.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual Task<Result<sandbox::Outcome>> run(sandbox::RunSpec spec, RunHooks hooks) = 0;
};

}  // namespace asg::executor
