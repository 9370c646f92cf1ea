#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace asg::http {

/// How much one caller may ask; 0: as much as it likes.
struct RateSettings {
  std::uint32_t per_minute = 0;
  std::uint32_t burst = 0;       // 0: ten seconds' worth
  std::uint32_t concurrent = 0;
};

/// Token buckets and running requests by caller. Callers that are at rest are forgotten. Thread: the front's single thread.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// One running request of a caller; its end is the end of this. The limiter must outlive it.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(RateLimiter& limiter, std::string who) : limiter_(&limiter), who_(std::move(who)) {}
    Ticket(Ticket&& other) noexcept : limiter_(std::exchange(other.limiter_, nullptr)), who_(std::move(other.who_)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(limiter_, other.limiter_);
      std::swap(who_, other.who_);
      return *this;
    }
    ~Ticket() {
      if (limiter_ != nullptr) limiter_->end(who_);
    }

   private:
    RateLimiter* limiter_ = nullptr;
    std::string who_;
  };

  enum class Outcome { allowed, too_fast, too_many };
  struct Verdict {
    Outcome outcome = Outcome::allowed;
    Ticket ticket;                   // of an allowed one
    std::uint32_t limit = 0;         // requests a minute; 0: no such limit
    std::uint32_t remaining = 0;     // that could come now
    std::chrono::seconds reset{0};   // until the bucket is full again
    std::chrono::seconds retry{1};   // until the next one could be allowed
  };

  explicit RateLimiter(RateSettings settings);
  [[nodiscard]] Verdict take(const std::string& who, Clock::time_point now);
  [[nodiscard]] std::size_t callers() const { return callers_.size(); }

 private:
  struct Caller {
    double tokens = 0;
    Clock::time_point at;
    std::uint32_t running = 0;
  };

  void end(const std::string& who);
  void refill(Caller& caller, Clock::time_point now) const;
  void forget_resting(Clock::time_point now);

  RateSettings settings_;
  double per_second_ = 0;
  std::unordered_map<std::string, Caller> callers_;
  std::size_t forget_at_;
};

}  // namespace asg::http
