// Output files between a run's end and its answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "executor_fixture.hpp"
#include "support/temp_dir.hpp"

namespace asg::executor {
namespace {

using sandbox::RunId;
using sandbox::Cause;
using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::chrono_literals;

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

TEST_F(Collecting, AProgramsOwnWordsOnlyEndItself) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  launcher_.words(run, {.type = sandbox::ControlType::running});
  launcher_.words(run, {.type = sandbox::ControlType::failed});
  wants_finish(run);
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

TEST_F(Collecting, APieceOfAWordIsRubbish) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  launcher_.words(run, {.type = sandbox::ControlType::running});
  launcher_.words(run, "xyz");
  wants_finish(run);
  launcher_.finished(run);
  launcher_.collected(run, {});
  answered(call);
  EXPECT_EQ((*call->result)->exit_code, 127);
}

TEST_F(Collecting, AProgramThatClosesItsPipeIsHeardOfByItsParent) {
  const auto call = collecting_call();
  const sys::UniqueFd workspace = folder();
  const RunId run = started(workspace.get());
  launcher_.words(run, {.type = sandbox::ControlType::running});
  launcher_.sandbox(run).words.reset();
  ends(run, exit_status(3));
  launcher_.collected(run, {});
  answered(call);
  EXPECT_EQ((*call->result)->exit_code, 3);
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
