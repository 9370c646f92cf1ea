#include "http/rate_limit.hpp"

#include <gtest/gtest.h>

#include "http/access.hpp"
#include "http/byte_budget.hpp"

namespace asg::http {
namespace {

using Outcome = RateLimiter::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

const RateLimiter::Clock::time_point kStart{};

TEST(RateLimiter, ABucketEmptiesAndFills) {
  RateLimiter limiter({.per_minute = 60, .burst = 2, .concurrent = 0});
  EXPECT_EQ(limiter.take("a", kStart).remaining, 1U);
  EXPECT_EQ(limiter.take("a", kStart).outcome, Outcome::allowed);
  const auto refused = limiter.take("a", kStart);
  EXPECT_EQ(refused.outcome, Outcome::too_fast);
  EXPECT_EQ(refused.limit, 60U);
  EXPECT_EQ(refused.remaining, 0U);
  EXPECT_EQ(refused.retry, seconds(1));
  EXPECT_EQ(refused.reset, seconds(2));
  EXPECT_EQ(limiter.take("b", kStart).outcome, Outcome::allowed);
  EXPECT_EQ(limiter.take("a", kStart + milliseconds(900)).outcome, Outcome::too_fast);
  EXPECT_EQ(limiter.take("a", kStart + milliseconds(1100)).outcome, Outcome::allowed);
  EXPECT_EQ(limiter.take("a", kStart + seconds(100)).remaining, 1U);  // no more than the burst is saved up
}

TEST(RateLimiter, TheBurstIsTenSecondsWorth) {
  RateLimiter limiter({.per_minute = 600, .burst = 0, .concurrent = 0});
  EXPECT_EQ(limiter.take("a", kStart).remaining, 99U);
}

TEST(RateLimiter, RunningRequestsAreBoundedUntilTheyEnd) {
  RateLimiter limiter({.per_minute = 0, .burst = 0, .concurrent = 2});
  auto first = limiter.take("a", kStart);
  auto second = limiter.take("a", kStart);
  EXPECT_EQ(limiter.take("a", kStart).outcome, Outcome::too_many);
  EXPECT_EQ(limiter.take("b", kStart).outcome, Outcome::allowed);
  {
    const RateLimiter::Ticket ended = std::move(first.ticket);
  }
  EXPECT_EQ(limiter.take("a", kStart).outcome, Outcome::allowed);
}

TEST(RateLimiter, CallersAtRestAreForgotten) {
  RateLimiter limiter({.per_minute = 60, .burst = 1, .concurrent = 0});
  const auto busy = limiter.take("busy", kStart);
  for (int i = 0; i < 10'000; ++i) (void)limiter.take(std::to_string(i), kStart + seconds(i));
  EXPECT_LT(limiter.callers(), 5000U);
  EXPECT_EQ(limiter.take("busy", kStart + milliseconds(10'000'100)).outcome, Outcome::allowed);
}

TEST(RateLimiter, WithoutLimitsNobodyIsNoted) {
  RateLimiter limiter({});
  EXPECT_EQ(limiter.take("a", kStart).outcome, Outcome::allowed);
  EXPECT_EQ(limiter.callers(), 0U);
}

TEST(RateSubject, IsTheNetworkOfOneMachine) {
  EXPECT_EQ(rate_subject("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(rate_subject("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(rate_subject("2001:db8:1:2::9"), rate_subject("2001:db8:1:2:ffff::1"));
}

TEST(ByteBudget, BoundsTheLargeOnes) {
  ByteBudget budget(1'000'000);
  ByteBudget::Lease first(budget);
  EXPECT_TRUE(first.grow_to(600'000));
  EXPECT_TRUE(first.grow_to(600'000));
  ByteBudget::Lease second(budget);
  EXPECT_FALSE(second.grow_to(400'001));
  EXPECT_TRUE(second.grow_to(ByteBudget::kFree));
  EXPECT_TRUE(second.grow_to(400'000));
  first.release();
  EXPECT_EQ(budget.used(), 400'000U);
  EXPECT_TRUE(second.grow_to(1'000'000));
}

}  // namespace
}  // namespace asg::http
