#include "asg/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace asg {
namespace {

TEST(Error, WordsAreAddedOnTheWayUp) {
  const Error low{.code = ErrorCode::io, .message = "mkdir /x", .sys_errno = EACCES};
  const Error high = low.in("creating cgroup");
  EXPECT_EQ(high.to_string(), "creating cgroup: mkdir /x: Permission denied");
  EXPECT_EQ(high.code, ErrorCode::io);
  EXPECT_EQ(high.sys_errno, EACCES);
}

TEST(Error, NoSystemCallNoStrerror) {
  const Error error{.code = ErrorCode::busy, .message = "queue full"};
  EXPECT_EQ(error.to_string(), "queue full");
}

TEST(Error, FailMakesAResult) {
  const Result<int> result = fail(ErrorCode::not_found, "no such thing");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_EQ(result.error().sys_errno, 0);
}

TEST(Error, FailErrnoTakesThePresentErrno) {
  errno = ENOSPC;
  const Result<int> present = fail_errno("write");
  EXPECT_EQ(present.error().sys_errno, ENOSPC);
  EXPECT_EQ(present.error().code, ErrorCode::io);
  const Result<int> given = fail_errno("write", EPIPE);
  EXPECT_EQ(given.error().sys_errno, EPIPE);
}

}  // namespace
}  // namespace asg
