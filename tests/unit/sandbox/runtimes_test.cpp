#include "sandbox/runtimes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "asg/sandbox/stage_name.hpp"
#include "sandbox/stage_id.hpp"

namespace asg::sandbox {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

LimitSet limits() { return {.memory_bytes = 512ULL << 20, .cpus = 1.5, .processes = 64, .files_bytes = 1, .inodes = 1, .open_files = 1}; }

TEST(Runtimes, PythonRunsAPlainFile) {
  EXPECT_THAT(command_line(runtime(Language::python), limits()), testing::ElementsAre("/usr/bin/python3.11", "/workspace/main.py"));
}

TEST(Runtimes, NodeLearnsItsHeapFromTheMemoryLimit) {
  const auto command = command_line(runtime(Language::javascript), limits());
  EXPECT_THAT(command, Contains("--max-old-space-size=384"));
  EXPECT_EQ(command.back(), "/workspace/main.cjs");
}

TEST(Runtimes, ThreadCountsFollowTheCpuLimitRoundedUp) {
  const auto env = base_environment(limits());
  EXPECT_THAT(env, Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(env, Contains("OPENBLAS_NUM_THREADS=2"));
  LimitSet half = limits();
  half.cpus = 0.25;
  EXPECT_THAT(base_environment(half), Contains("OMP_NUM_THREADS=1"));
}

TEST(Runtimes, TheEnvironmentIsShortAndSaysNothingOfTheDaemon) {
  ::setenv("ASG_TEST_SECRET_TOKEN", "canary", 1);
  const auto env = base_environment(limits());
  EXPECT_LE(env.size(), 40U);
  EXPECT_THAT(env, Not(Contains(HasSubstr("canary"))));
  EXPECT_THAT(env, Contains("HOME=/workspace"));
  EXPECT_THAT(env, Contains("PYTHONUNBUFFERED=1"));
}

TEST(Stages, EachHasAName) {
  for (std::uint32_t stage = 1; stage <= static_cast<std::uint32_t>(StageId::main_exec); ++stage) {
    EXPECT_STRNE(stage_name(stage), "an unknown step") << stage;
  }
  EXPECT_STREQ(stage_name(0), "an unknown step");
}

}  // namespace
}  // namespace asg::sandbox
