#pragma once
// Skips that cannot hide a failure: with ASG_MUST_RUN=1 (CI) a skip fails, unless its key stands in allowed_skips.txt.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace asg::test {

/// Whether a test may be skipped for the reason with this key on this machine.
inline bool skip_allowed(std::string_view key) {
  const char* must_run = std::getenv("ASG_MUST_RUN");
  if (must_run == nullptr || std::string_view(must_run) != "1") return true;
  std::ifstream list(ASG_SOURCE_DIR "/tests/support/allowed_skips.txt");
  for (std::string line; std::getline(list, line);) {
    if (line.substr(0, line.find(' ')) == key) return true;
  }
  return false;
}

}  // namespace asg::test

/// ASG_SKIP("cgroup-v2-memory", "no delegated cgroup"): leaves the test, as skipped or as failed. A macro because it
/// returns from the test itself.
#define ASG_SKIP(key, reason)                                                                \
  do {                                                                                       \
    if (!::asg::test::skip_allowed(key)) GTEST_FAIL() << "must run here, but: " << (reason); \
    GTEST_SKIP() << (key) << ": " << (reason);                                               \
  } while (false)
