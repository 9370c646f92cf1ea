#pragma once
// An executor on a loop that the test turns, over a launcher that the test plays.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "asg/executor/executor.hpp"
#include "fake_launcher.hpp"

namespace asg::executor {

/// As waitpid(2) gives it.
constexpr int exit_status(int code) { return code << 8; }

/// One call as its caller sees it.
struct Call {
  CancelTokenPtr cancel = std::make_shared<CancelToken>();
  std::vector<Phase> phases;
  std::optional<Result<sandbox::Outcome>> result;

  [[nodiscard]] ErrorCode error() const { return result && !*result ? result->error().code : ErrorCode::internal; }
};
using CallPtr = std::shared_ptr<Call>;

class ExecutorTest : public testing::Test {
 protected:
  void make(std::uint32_t slots, std::uint32_t queue) {
    executor_.emplace(io_, ExecutorSettings{.max_concurrent = slots, .queue = queue}, Logger());
    executor_->attach(launcher_.socket());
  }

  static sandbox::RunSpec spec() {
    sandbox::RunSpec run;
    run.code = "print(1)";
    run.timeout = std::chrono::hours(1);
    run.output_cap = 1 << 20;
    return run;
  }

  CallPtr call(sandbox::RunSpec run = spec()) {
    auto call = std::make_shared<Call>();
    RunHooks hooks{.cancel = call->cancel, .on_phase = [call](Phase phase) { call->phases.push_back(phase); }};
    auto task = executor_->run(std::move(run), std::move(hooks));
    boost::asio::co_spawn(io_, std::move(task), [call](const std::exception_ptr& failure, Result<sandbox::Outcome> result) {
      EXPECT_FALSE(failure);
      call->result = std::move(result);
    });
    settle();
    return call;
  }

  /// All that can go on without anything new from outside.
  void settle() {
    io_.restart();
    while (io_.poll() != 0) {
    }
  }
  /// Runs the executor until something holds; fails after long.
  void until(const std::function<bool()>& holds) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    io_.restart();
    while (!holds() && std::chrono::steady_clock::now() < give_up) (void)io_.run_one_until(give_up);
    EXPECT_TRUE(holds());
  }
  void answered(const CallPtr& call) {
    until([&] { return call->result.has_value(); });
  }
  /// Waits for the executor's wish to end the run.
  void wants_finish(sandbox::RunId run) {
    sandbox::RunId asked = 0;
    until([&] { return asked != 0 || (asked = launcher_.asked_to_finish()) != 0; });
    EXPECT_EQ(asked, run);
  }
  /// A run that is going.
  sandbox::RunId started(int workspace = -1) {
    const sandbox::RunId run = launcher_.asked_to_launch();
    EXPECT_NE(run, 0U);
    launcher_.launched(run, workspace);
    settle();
    return run;
  }
  void ends(sandbox::RunId run, int wait_status = 0, const sandbox::Usage32& usage = {}) {
    launcher_.exited(run, wait_status);
    wants_finish(run);
    launcher_.finished(run, usage);
    settle();
  }
  void leaves(sandbox::RunId run) {
    launcher_.gone(run);
    settle();
  }

  boost::asio::io_context io_;
  test::FakeLauncher launcher_;
  std::optional<Executor> executor_;
};

}  // namespace asg::executor
