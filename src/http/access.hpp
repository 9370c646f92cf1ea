#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "answer.hpp"
#include "asg/config/config.hpp"
#include "head.hpp"
#include "keys.hpp"
#include "rate_limit.hpp"

namespace asg::http {

/// A request that may go on: who it is from, and its place among the requests at work for as long as this lives.
struct Admission {
  std::string principal;  // id of its key; empty: no keys are asked for
  RateLimiter::Ticket by_address;
  RateLimiter::Ticket by_key;
  std::vector<std::pair<std::string, std::string>> headers;  // X-RateLimit-*, for every answer to it
};

/// Who may call, and how much. Thread: the front's single thread.
class Access {
 public:
  explicit Access(const config::Rate& rate);

  /// Asks for one of these from now on; none: for no key at all.
  void set_keys(std::optional<Keys> keys) { keys_ = std::move(keys); }
  [[nodiscard]] bool asks_for_keys() const { return keys_.has_value(); }

  /// The principal, or 401.
  [[nodiscard]] std::variant<std::string, Answer> authenticate(const Head& head) const;
  /// authenticate(), between the limits for the address (so that guessing is slow) and those for the key; 401 or 429.
  [[nodiscard]] std::variant<Admission, Answer> admit(const Head& head, RateLimiter::Clock::time_point now);

 private:
  std::optional<Keys> keys_;
  RateLimiter addresses_;
  RateLimiter principals_;
};

/// What counts as one caller: an IPv4 address, or the /64 of an IPv6 one, which one machine owns as a whole.
[[nodiscard]] std::string rate_subject(const std::string& address);

}  // namespace asg::http
