#pragma once

#include <utility>
#include <vector>

#include "asg/executor/runner.hpp"

namespace asg::tools::testing {

/// Gives the result that the test set and notes the specs.
class FakeRunner final : public executor::Runner {
 public:
  Task<Result<sandbox::Outcome>> run(sandbox::RunSpec spec, executor::RunHooks hooks) override {
    specs.push_back(std::move(spec));
    if (hooks.on_phase) {
      hooks.on_phase(executor::Phase::queued);
      hooks.on_phase(executor::Phase::running);
    }
    co_return result;
  }

  Result<sandbox::Outcome> result = sandbox::Outcome{};
  std::vector<sandbox::RunSpec> specs;
};

}  // namespace asg::tools::testing
