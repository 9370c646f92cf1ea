#include "asg/base/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Metric kCalls{.name = "calls_total", .help = "Calls."};
constexpr Metric kTime{.name = "call_seconds", .help = "Time.", .kind = Metric::Kind::histogram};

TEST(Metrics, CountsByLabels) {
  Metrics metrics;
  metrics.add(kCalls, {{"tool", "a"}, {"outcome", "x"}});
  metrics.add(kCalls, {{"tool", "a"}, {"outcome", "x"}}, 2);
  metrics.add(kCalls, {});
  EXPECT_EQ(metrics.text(), "# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total 1\ncalls_total{tool=\"a\",outcome=\"x\"} 3\n");
}

TEST(Metrics, BucketsHoldAllBelow) {
  Metrics metrics;
  metrics.observe(kTime, {{"phase", "run"}}, std::chrono::milliseconds(1));
  metrics.observe(kTime, {{"phase", "run"}}, std::chrono::milliseconds(2));
  metrics.observe(kTime, {{"phase", "run"}}, std::chrono::hours(1));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE call_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_bucket{phase=\"run\",le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_bucket{phase=\"run\",le=\"0.0025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_bucket{phase=\"run\",le=\"300\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_bucket{phase=\"run\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_count{phase=\"run\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("call_seconds_sum{phase=\"run\"} 3600.003\n"));
}

TEST(Metrics, GaugesAreReadWhenAskedFor) {
  Metrics metrics;
  double value = 1;
  metrics.gauge("slots", "Slots.", [&] { return value; });
  value = 2;
  EXPECT_EQ(metrics.text(), "# HELP slots Slots.\n# TYPE slots gauge\nslots 2\n");
}

}  // namespace
}  // namespace asg
