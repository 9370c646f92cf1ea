#include "rate_limit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace asg::http {

namespace {

constexpr std::size_t kForgetAt = 4096;  // callers in the table before it is looked through
constexpr std::uint32_t kTenSecondsOfMinute = 6;

std::chrono::seconds whole_seconds(double seconds) { return std::chrono::seconds(static_cast<std::int64_t>(std::ceil(seconds))); }

}  // namespace

RateLimiter::RateLimiter(RateSettings settings) : settings_(settings), per_second_(settings.per_minute / 60.0), forget_at_(kForgetAt) {
  if (settings_.burst == 0) settings_.burst = std::max(1U, settings_.per_minute / kTenSecondsOfMinute);
}

void RateLimiter::refill(Caller& caller, Clock::time_point now) const {
  const std::chrono::duration<double> passed = now - caller.at;
  caller.tokens = std::min(static_cast<double>(settings_.burst), caller.tokens + passed.count() * per_second_);
  caller.at = now;
}

RateLimiter::Verdict RateLimiter::take(const std::string& who, Clock::time_point now) {
  Verdict verdict;
  if (settings_.per_minute == 0 && settings_.concurrent == 0) return verdict;
  if (callers_.size() >= forget_at_) forget_resting(now);
  const auto [place, is_new] = callers_.try_emplace(who, Caller{static_cast<double>(settings_.burst), now, 0});
  Caller& caller = place->second;
  verdict.limit = settings_.per_minute;
  if (settings_.per_minute > 0) {
    refill(caller, now);
    if (caller.tokens < 1) {
      verdict.outcome = Outcome::too_fast;
      verdict.retry = std::max(std::chrono::seconds(1), whole_seconds((1 - caller.tokens) / per_second_));
    }
  }
  if (verdict.outcome == Outcome::allowed && settings_.concurrent > 0 && caller.running >= settings_.concurrent) {
    verdict.outcome = Outcome::too_many;
  }
  if (verdict.outcome == Outcome::allowed) {
    if (settings_.per_minute > 0) caller.tokens -= 1;
    ++caller.running;
    verdict.ticket = Ticket(*this, who);
  }
  if (settings_.per_minute > 0) {
    verdict.remaining = static_cast<std::uint32_t>(caller.tokens);
    verdict.reset = whole_seconds((settings_.burst - caller.tokens) / per_second_);
  }
  return verdict;
}

void RateLimiter::end(const std::string& who) {
  const auto place = callers_.find(who);
  if (place != callers_.end() && place->second.running > 0) --place->second.running;
}

/// A caller with a full bucket and nothing at work is as good as a new one.
void RateLimiter::forget_resting(Clock::time_point now) {
  for (auto place = callers_.begin(); place != callers_.end();) {
    Caller& caller = place->second;
    refill(caller, now);
    const bool full = settings_.per_minute == 0 || caller.tokens >= settings_.burst;
    place = full && caller.running == 0 ? callers_.erase(place) : std::next(place);
  }
  // While most of them are busy, looking again soon would cost much and free little.
  forget_at_ = std::max(kForgetAt, 2 * callers_.size());
}

}  // namespace asg::http
