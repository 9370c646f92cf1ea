// Slots, the queue, cancelling, launchers that die, draining.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor_fixture.hpp"

namespace asg::executor {
namespace {

using sandbox::RunId;
using sandbox::Cause;
using sandbox::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace asg::executor
