// How a run ends decides what it was.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "executor_fixture.hpp"

namespace asg::executor {
namespace {

using sandbox::RunId;
using sandbox::Cause;
using sandbox::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace asg::executor
