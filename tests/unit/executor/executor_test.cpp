#include "asg/executor/executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fake_launcher.hpp"
#include "support/temp_dir.hpp"

namespace asg::executor {
namespace {

using sandbox::Cause;
using sandbox::Outcome;
using sandbox::RunId;
using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::chrono_literals;

constexpr int exit_status(int code) { return code << 8; }

/// One call as its caller sees it.
struct Call {
  CancelTokenPtr cancel = std::make_shared<CancelToken>();
  std::vector<Phase> phases;
  std::optional<Result<Outcome>> result;

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
    run.timeout = 1h;
    run.output_cap = 1 << 20;
    return run;
  }

  CallPtr call(sandbox::RunSpec run = spec()) {
    auto call = std::make_shared<Call>();
    RunHooks hooks{.cancel = call->cancel, .on_phase = [call](Phase phase) { call->phases.push_back(phase); }};
    auto task = executor_->run(std::move(run), std::move(hooks));
    boost::asio::co_spawn(io_, std::move(task), [call](const std::exception_ptr& failure, Result<Outcome> result) {
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
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    io_.restart();
    while (!holds() && std::chrono::steady_clock::now() < give_up) (void)io_.run_one_until(give_up);
    EXPECT_TRUE(holds());
  }
  void answered(const CallPtr& call) {
    until([&] { return call->result.has_value(); });
  }
  /// Waits for the executor's wish to end the run.
  void wants_finish(RunId run) {
    RunId asked = 0;
    until([&] { return asked != 0 || (asked = launcher_.asked_to_finish()) != 0; });
    EXPECT_EQ(asked, run);
  }
  /// A run that is going.
  RunId started(int workspace = -1) {
    const RunId run = launcher_.asked_to_launch();
    EXPECT_NE(run, 0U);
    launcher_.launched(run, workspace);
    settle();
    return run;
  }
  void ends(RunId run, int wait_status = 0, const sandbox::Usage32& usage = {}) {
    launcher_.exited(run, wait_status);
    wants_finish(run);
    launcher_.finished(run, usage);
    settle();
  }
  void leaves(RunId run) {
    launcher_.gone(run);
    settle();
  }

  boost::asio::io_context io_;
  test::FakeLauncher launcher_;
  std::optional<Executor> executor_;
};

TEST_F(ExecutorTest, ARunFromLaunchToOutcome) {
  make(1, 1);
  auto run = spec();
  run.stdin_text = "input";
  const auto call = this->call(std::move(run));
  const RunId id = started();
  EXPECT_EQ(launcher_.last_launch().fds.size(), 2U);
  EXPECT_EQ(sys::read_whole(launcher_.last_launch().fds[1].get()).value(), "input");
  launcher_.prints(id, "hello\n");
  EXPECT_EQ(::write(launcher_.sandbox(id).err.get(), "oops", 4), 4);
  ends(id, exit_status(3), {.cpu_us = 5500, .memory_peak_bytes = 4096, .oom_kills = 0, .processes_peak = 3});
  answered(call);
  ASSERT_TRUE(*call->result) << call->result->error().to_string();
  const Outcome& outcome = **call->result;
  EXPECT_EQ(outcome.cause, Cause::exited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(outcome.signal);
  EXPECT_EQ(outcome.out.text, "hello\n");
  EXPECT_EQ(outcome.err.text, "oops");
  EXPECT_EQ(outcome.usage.cpu, 5ms);
  EXPECT_EQ(outcome.usage.processes_peak, 2U);  // init is not the program's
  EXPECT_THAT(call->phases, ElementsAre(Phase::running));
}

TEST_F(ExecutorTest, ExactlySoManyAtOnceThenAQueueThenBusy) {
  make(2, 3);
  std::vector<CallPtr> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(call());
  EXPECT_EQ(executor_->counts().running, 2U);
  EXPECT_EQ(executor_->counts().queued, 3U);
  EXPECT_EQ(executor_->counts().slots, 2U);
  EXPECT_EQ(calls[5]->error(), ErrorCode::busy);
  EXPECT_THAT(calls[5]->result->error().message, HasSubstr("2 sandboxes"));
  EXPECT_TRUE(calls[5]->phases.empty());
  EXPECT_THAT(calls[4]->phases, ElementsAre(Phase::queued));
  const RunId first = started();
  started();
  EXPECT_EQ(launcher_.asked_to_launch(), 0U);
  ends(first);
  EXPECT_EQ(launcher_.asked_to_launch(), 0U) << "answered is not gone: the slot is still taken";
  leaves(first);
  EXPECT_NE(launcher_.asked_to_launch(), 0U);
  EXPECT_EQ(launcher_.asked_to_launch(), 0U);
  EXPECT_THAT(calls[2]->phases, ElementsAre(Phase::queued, Phase::running));
}

TEST_F(ExecutorTest, WhoWaitsForARunThatIsAnsweredTakesNoPlaceInTheQueue) {
  make(1, 1);
  const auto first = call();
  const RunId run = started();
  ends(run);
  answered(first);
  const auto next = call();
  const auto queued = call();
  EXPECT_EQ(call()->error(), ErrorCode::busy);
  EXPECT_FALSE(next->result);
  EXPECT_FALSE(queued->result);
}

TEST_F(ExecutorTest, FirstComeFirstServed) {
  make(1, 8);
  std::vector<CallPtr> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(call());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const RunId run = started();
    for (std::size_t j = 0; j < calls.size(); ++j) EXPECT_EQ(calls[j]->phases.back() == Phase::running, j <= i) << i << " " << j;
    ends(run);
    answered(calls[i]);
    leaves(run);
  }
}

TEST_F(ExecutorTest, CancelledWhileItWaits) {
  make(1, 2);
  call();
  const RunId first = started();
  const auto waiting = call();
  const auto behind = call();
  waiting->cancel->cancel();
  settle();
  EXPECT_EQ(waiting->error(), ErrorCode::cancelled);
  EXPECT_EQ(executor_->counts().queued, 1U);
  ends(first);
  leaves(first);
  EXPECT_NE(launcher_.asked_to_launch(), 0U);
  EXPECT_EQ(launcher_.asked_to_launch(), 0U);
  EXPECT_THAT(behind->phases, ElementsAre(Phase::queued, Phase::running));
  EXPECT_THAT(waiting->phases, ElementsAre(Phase::queued));
}

TEST_F(ExecutorTest, CancelledWhileItRuns) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.prints(run, "so far");
  call->cancel->cancel();
  call->cancel->cancel();
  wants_finish(run);
  EXPECT_FALSE(call->result);
  launcher_.finished(run);
  answered(call);
  ASSERT_TRUE(*call->result);
  EXPECT_EQ((*call->result)->cause, Cause::cancelled);
  EXPECT_EQ((*call->result)->out.text, "so far");
  EXPECT_EQ(launcher_.asked_to_finish(), 0U);
}

TEST_F(ExecutorTest, CancelledBeforeItIsLaunched) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = launcher_.asked_to_launch();
  call->cancel->cancel();
  settle();
  EXPECT_EQ(launcher_.asked_to_finish(), 0U) << "there is nothing to end yet";
  launcher_.launched(run);
  wants_finish(run);
  launcher_.finished(run);
  answered(call);
  EXPECT_EQ((*call->result)->cause, Cause::cancelled);
  leaves(run);
  EXPECT_EQ(executor_->counts().running, 0U);
}

TEST_F(ExecutorTest, CancelledBeforeItIsAskedFor) {
  make(1, 1);
  auto call = std::make_shared<Call>();
  call->cancel->cancel();
  RunHooks hooks{.cancel = call->cancel, .on_phase = {}};
  auto task = executor_->run(spec(), std::move(hooks));
  boost::asio::co_spawn(io_, std::move(task), [call](const std::exception_ptr&, Result<Outcome> result) { call->result = std::move(result); });
  settle();
  EXPECT_EQ(call->error(), ErrorCode::cancelled);
  EXPECT_EQ(launcher_.asked_to_launch(), 0U);
}

TEST_F(ExecutorTest, ACancelThatComesTooLateChangesNothing) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.exited(run, exit_status(0));
  wants_finish(run);
  call->cancel->cancel();
  launcher_.finished(run);
  answered(call);
  EXPECT_EQ((*call->result)->cause, Cause::exited);
  call->cancel->cancel();
  leaves(run);
}

TEST_F(ExecutorTest, TheDeadlineDecides) {
  make(1, 1);
  auto short_run = spec();
  short_run.timeout = 1ms;
  const auto call = this->call(std::move(short_run));
  const RunId run = launcher_.asked_to_launch();
  launcher_.launched(run);
  wants_finish(run);
  launcher_.prints(run, "before the end");
  launcher_.exited(run, exit_status(0));  // too late
  launcher_.finished(run, {.cpu_us = 0, .memory_peak_bytes = 0, .oom_kills = 1, .processes_peak = 0});
  answered(call);
  EXPECT_EQ((*call->result)->cause, Cause::timed_out);
  EXPECT_EQ((*call->result)->exit_code, 124);
  EXPECT_FALSE((*call->result)->signal);
  EXPECT_EQ((*call->result)->out.text, "before the end");
  EXPECT_GE((*call->result)->duration, 1ms);
}

TEST_F(ExecutorTest, AProgramThatExits124HasNotTimedOut) {
  make(1, 1);
  const auto call = this->call();
  ends(started(), exit_status(124));
  answered(call);
  EXPECT_EQ((*call->result)->cause, Cause::exited);
  EXPECT_EQ((*call->result)->exit_code, 124);
}

TEST_F(ExecutorTest, TheKernelsCountDecidesOnMemory) {
  make(2, 1);
  const sandbox::Usage32 oom{.cpu_us = 0, .memory_peak_bytes = 0, .oom_kills = 1, .processes_peak = 0};
  const auto by_status = call();
  const auto by_death = call();
  const RunId first = started();
  const RunId second = started();
  ends(first, SIGKILL, oom);
  launcher_.sandbox(second).control.reset();  // init was killed with all the rest
  wants_finish(second);
  launcher_.finished(second, oom);
  for (const auto& call : {by_status, by_death}) {
    answered(call);
    EXPECT_EQ((*call->result)->cause, Cause::out_of_memory);
    EXPECT_EQ((*call->result)->exit_code, 137);
    EXPECT_EQ((*call->result)->signal, "SIGKILL");
  }
}

TEST_F(ExecutorTest, AnInitThatDiesWithoutReasonIsOurFault) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.sandbox(run).control.reset();
  wants_finish(run);
  launcher_.finished(run);
  answered(call);
  EXPECT_EQ(call->error(), ErrorCode::sandbox);
}

TEST_F(ExecutorTest, SignalsHaveTheirNames) {
  make(1, 1);
  const std::pair<int, const char*> cases[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"},   {SIGKILL, "SIGKILL"},      {SIGTERM, "SIGTERM"},
                                               {SIGSYS, "SIGSYS"},   {SIGBUS, "SIGBUS"},     {SIGRTMIN, "SIGRTMIN+0"}, {SIGRTMAX, "SIGRTMIN+30"},
                                               {33, "SIG33"},        {SIGFPE | 0x80, "SIGFPE"}};
  for (const auto& [status, name] : cases) {
    const auto call = this->call();
    const RunId run = started();
    ends(run, status);
    answered(call);
    EXPECT_EQ((*call->result)->cause, Cause::signaled) << name;
    EXPECT_EQ((*call->result)->signal, name);
    EXPECT_EQ((*call->result)->exit_code, 128 + (status & 0x7f)) << name;
    leaves(run);
  }
}

TEST_F(ExecutorTest, WhatStandsInThePipesAtTheEndIsRead) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.exited(run, exit_status(0));
  wants_finish(run);
  launcher_.prints(run, std::string(60'000, 'x') + "end");  // a child that wrote on until it was killed
  launcher_.finished(run);
  answered(call);
  EXPECT_EQ((*call->result)->out.bytes, 60'003U);
  EXPECT_THAT((*call->result)->out.text, testing::EndsWith("end"));
}

TEST_F(ExecutorTest, AnOpenPipeIsNotWaitedForAndAClosedOneEndsNothing) {
  make(2, 1);
  const auto open = call();
  const auto closed = call();
  const RunId first = started();
  const RunId second = started();
  const sys::UniqueFd held(::dup(launcher_.sandbox(first).out.get()));
  ends(first);
  answered(open);
  launcher_.sandbox(second).out.reset();
  launcher_.sandbox(second).err.reset();
  settle();
  EXPECT_FALSE(closed->result);
  EXPECT_EQ(launcher_.asked_to_finish(), 0U);
}

TEST_F(ExecutorTest, AFloodIsTakenWithoutHoldingUpTheOthers) {
  make(2, 1);
  auto capped = spec();
  capped.output_cap = 1000;
  const auto flood = call(std::move(capped));
  const auto quiet = call();
  const RunId first = started();
  const RunId second = started();
  const std::string block(65536, 'f');
  std::uint64_t written = 0;
  for (int round = 0; round < 100; ++round) {
    launcher_.prints(first, block);  // would block for ever if nobody read
    written += block.size();
    settle();
  }
  ends(second);
  answered(quiet);
  ends(first);
  answered(flood);
  EXPECT_EQ((*flood->result)->out.bytes, written);
  EXPECT_TRUE((*flood->result)->out.truncated);
  EXPECT_LE((*flood->result)->out.text.size(), 1000U);
}

TEST_F(ExecutorTest, ALaunchThatFailsIsOurFaultAndFreesItsSlot) {
  make(1, 2);
  const auto failed = call();
  const auto next = call();
  launcher_.launch_failed(launcher_.asked_to_launch(), EAGAIN, "clone3");
  answered(failed);
  EXPECT_EQ(failed->error(), ErrorCode::sandbox);
  EXPECT_THAT(failed->result->error().to_string(), HasSubstr("clone3"));
  RunId run = 0;
  until([&] { return run != 0 || (run = launcher_.asked_to_launch()) != 0; });
  launcher_.launched(run);
  settle();
  ends(run);
  answered(next);
  EXPECT_TRUE(*next->result);
}

TEST_F(ExecutorTest, AFailedSetUpNamesItsStep) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.control(run, {.type = sandbox::ControlType::failed, .value = ENOSPC, .stage = 3, .index = 7});
  wants_finish(run);
  launcher_.finished(run);
  answered(call);
  EXPECT_EQ(call->error(), ErrorCode::sandbox);
  EXPECT_THAT(call->result->error().to_string(), HasSubstr("No space left on device"));
}

TEST_F(ExecutorTest, ALauncherThatDiesFailsItsRunsAndTheNextOneServesOn) {
  make(2, 4);
  const auto running = call();
  started();
  const auto launching = call();
  const auto waiting = call();
  launcher_.die();
  answered(running);
  answered(launching);
  EXPECT_EQ(running->error(), ErrorCode::sandbox);
  EXPECT_EQ(launching->error(), ErrorCode::sandbox);
  EXPECT_FALSE(waiting->result) << "it had not begun: the next launcher runs it";
  const auto meanwhile = call();
  EXPECT_FALSE(meanwhile->result);
  EXPECT_EQ(executor_->counts().running, 0U);
  launcher_ = test::FakeLauncher();
  executor_->attach(launcher_.socket());
  settle();
  for (const auto& call : {waiting, meanwhile}) {
    ends(started());
    answered(call);
    EXPECT_TRUE(*call->result);
  }
}

TEST_F(ExecutorTest, ARunThatWaitsForItsUsageHearsOfTheLaunchersDeath) {
  make(1, 1);
  const auto call = this->call();
  const RunId run = started();
  launcher_.exited(run, 0);
  wants_finish(run);
  launcher_.die();
  answered(call);
  EXPECT_EQ(call->error(), ErrorCode::sandbox);
}

TEST_F(ExecutorTest, TheQueueStaysBoundedWhileADeadLaunchersRunsAreUnanswered) {
  make(2, 1);
  const auto first = call();
  const auto second = call();
  started();
  started();
  auto dying = launcher_.die_alone();  // their control sockets stay open for a while
  settle();
  launcher_ = test::FakeLauncher();
  executor_->attach(launcher_.socket());
  const std::vector<CallPtr> running = {call(), call()};
  const auto queued = call();
  const auto refused = call();
  EXPECT_EQ(executor_->counts().running, 2U);
  EXPECT_EQ(executor_->counts().queued, 1U);
  EXPECT_EQ(refused->error(), ErrorCode::busy);
  dying.clear();
  answered(first);
  answered(second);
  EXPECT_EQ(first->error(), ErrorCode::sandbox);
}

TEST_F(ExecutorTest, DrainingRefusesAndLetsRunningOnesEnd) {
  make(1, 2);
  const auto running = call();
  const RunId run = started();
  const auto waiting = call();
  executor_->drain();
  settle();
  EXPECT_EQ(waiting->error(), ErrorCode::busy);
  EXPECT_EQ(call()->error(), ErrorCode::busy);
  EXPECT_FALSE(running->result);
  int idle = 0;
  executor_->on_idle([&] { ++idle; });
  ends(run, exit_status(7));
  answered(running);
  EXPECT_EQ((*running->result)->exit_code, 7);
  EXPECT_EQ(idle, 0);
  leaves(run);
  EXPECT_EQ(idle, 1);
}

TEST_F(ExecutorTest, CancelAllEndsWhatRuns) {
  make(2, 1);
  const std::vector<CallPtr> calls = {call(), call()};
  const RunId first = started();
  const RunId second = started();
  executor_->cancel_all();
  wants_finish(first);
  wants_finish(second);
  launcher_.finished(first);
  launcher_.finished(second);
  for (const auto& call : calls) {
    answered(call);
    EXPECT_EQ((*call->result)->cause, Cause::cancelled);
  }
}

class Collecting : public ExecutorTest {
 protected:
  void SetUp() override { make(1, 1); }
  CallPtr collecting_call() {
    auto run = spec();
    run.output_files = {"*.png", "out"};
    return call(std::move(run));
  }
  [[nodiscard]] sys::UniqueFd folder() const { return sys::open_at(AT_FDCWD, directory_.path(), O_PATH | O_DIRECTORY).value(); }

  test::TempDir directory_;
};

TEST_F(Collecting, TheAnswerComesWithItsFiles) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  ends(run, exit_status(0));
  ASSERT_EQ(launcher_.last_finish().fds.size(), 3U);
  const std::string patterns = sys::read_whole(launcher_.last_finish().fds[1].get()).value();
  EXPECT_THAT(sandbox::decode_patterns(patterns), ElementsAre("*.png", "out"));
  EXPECT_FALSE(call->result);
  launcher_.collected(run, {{.path = "out", .size = 3, .content = std::string("a\0b", 3), .error = ""}});
  answered(call);
  ASSERT_TRUE(*call->result);
  ASSERT_EQ((*call->result)->files.size(), 1U);
  EXPECT_EQ((*call->result)->files[0].content, std::string("a\0b", 3));
}

TEST_F(Collecting, AColdSandboxSendsItsWorkingDirectoryItself) {
  const auto call = collecting_call();
  const RunId run = started();
  const sys::UniqueFd workspace = folder();
  launcher_.control(run, {.type = sandbox::ControlType::started}, {workspace.get()});
  ends(run);
  EXPECT_EQ(launcher_.last_finish().fds.size(), 3U);
  launcher_.collected(run, {});
  answered(call);
  EXPECT_TRUE((*call->result)->files.empty());
}

TEST_F(Collecting, AProgramsOwnWordsReplaceNoDirectory) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  launcher_.control(run, {.type = sandbox::ControlType::running});
  const sys::UniqueFd other = sys::open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY).value();
  launcher_.control(run, {.type = sandbox::ControlType::started}, {other.get()});
  wants_finish(run);  // it has only ended itself
  struct stat given {};
  struct stat own {};
  ASSERT_EQ(::fstat(launcher_.last_finish().fds.at(0).get(), &given), 0);
  ASSERT_EQ(::fstat(workspace.get(), &own), 0);
  EXPECT_EQ(given.st_ino, own.st_ino);
  launcher_.finished(run);
  launcher_.collected(run, {});
  answered(call);
  EXPECT_EQ((*call->result)->exit_code, 127);
}

TEST_F(Collecting, ACollectionCutShortIsTold) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  ends(run);
  launcher_.collection_cut_short(run);
  answered(call);
  ASSERT_TRUE(*call->result);
  ASSERT_EQ((*call->result)->files.size(), 1U);
  EXPECT_THAT((*call->result)->files[0].error, HasSubstr("too long"));
}

TEST_F(Collecting, ALauncherThatDiesMeanwhileCostsTheFilesOnly) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  ends(started(workspace.get()), exit_status(4));
  launcher_.die();
  answered(call);
  ASSERT_TRUE(*call->result);
  EXPECT_EQ((*call->result)->exit_code, 4);
  EXPECT_THAT((*call->result)->files.at(0).error, HasSubstr("launcher"));
}

TEST_F(Collecting, ATimeLimitDoesNotCostThem) {
  auto run = spec();
  run.output_files = {"out"};
  run.timeout = 1ms;
  const auto call = this->call(std::move(run));
  const sys::UniqueFd workspace = folder();
  const RunId id = launcher_.asked_to_launch();
  launcher_.launched(id, workspace.get());
  wants_finish(id);
  launcher_.finished(id);
  launcher_.collected(id, {{.path = "out", .size = 1, .content = "x", .error = ""}});
  answered(call);
  EXPECT_EQ((*call->result)->cause, Cause::timed_out);
  EXPECT_EQ((*call->result)->files.size(), 1U);
}

}  // namespace
}  // namespace asg::executor
