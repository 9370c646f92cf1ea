#include "asg/base/cancel.hpp"

#include <gtest/gtest.h>

namespace asg {
namespace {

TEST(CancelToken, CallsTheListenerOnce) {
  CancelToken token;
  int calls = 0;
  token.on_cancel([&] { ++calls; });
  EXPECT_FALSE(token.cancelled());
  token.cancel();
  token.cancel();
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(calls, 1);
}

TEST(CancelToken, ALateListenerIsCalledAtOnce) {
  CancelToken token;
  token.cancel();
  int calls = 0;
  token.on_cancel([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(CancelToken, AnEmptyFunctionRemovesTheListener) {
  CancelToken token;
  int calls = 0;
  token.on_cancel([&] { ++calls; });
  token.on_cancel(nullptr);
  token.cancel();
  token.on_cancel(nullptr);
  EXPECT_EQ(calls, 0);
}

TEST(CancelToken, AListenerMayReplaceItself) {
  CancelToken token;
  int calls = 0;
  token.on_cancel([&] { token.on_cancel([&] { ++calls; }); });
  token.cancel();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace asg
