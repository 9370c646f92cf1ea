#include "access.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "text.hpp"

namespace asg::http {

namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Answer unauthorized(const char* challenge, const char* why) {
  Answer answer = refusal(401, why);
  answer.headers.emplace_back("WWW-Authenticate", challenge);
  answer.reason = "unauthorized";
  return answer;
}

Headers rate_headers(const RateLimiter::Verdict& verdict) {
  if (verdict.limit == 0) return {};
  return {{"X-RateLimit-Limit", std::to_string(verdict.limit)},
          {"X-RateLimit-Remaining", std::to_string(verdict.remaining)},
          {"X-RateLimit-Reset", std::to_string(verdict.reset.count())}};
}

Answer limited(const RateLimiter::Verdict& verdict, std::string_view whose) {
  const bool fast = verdict.outcome == RateLimiter::Outcome::too_fast;
  const std::string what = fast ? "too many requests a minute" : "too many requests at once";
  Answer answer = refusal(429, what + " " + std::string(whose) + "; CAPACITY_EXHAUSTED");
  answer.headers = rate_headers(verdict);
  answer.headers.emplace_back("Retry-After", std::to_string(verdict.retry.count()));
  answer.reason = fast ? "rate" : "concurrency";
  return answer;
}

bool refused(const RateLimiter::Verdict& verdict) { return verdict.outcome != RateLimiter::Outcome::allowed; }

}  // namespace

std::string rate_subject(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error || !parsed.is_v6()) return address;
  auto bytes = parsed.to_v6().to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), static_cast<unsigned char>(0));
  return boost::asio::ip::address_v6(bytes).to_string() + "/64";
}

Access::Access(const config::Rate& rate)
    : addresses_({.per_minute = rate.address_per_minute, .burst = rate.address_burst, .concurrent = rate.address_concurrent}),
      principals_({.per_minute = rate.key_per_minute, .burst = rate.key_burst, .concurrent = rate.key_concurrent}) {}

std::variant<std::string, Answer> Access::authenticate(const Head& head) const {
  if (!keys_) return std::string();
  const std::string_view value = head.authorization.value;
  const std::string_view scheme = value.substr(0, value.find(' '));
  if (!head.authorization.present() || lower(scheme) != "bearer") {
    return unauthorized("Bearer", "an API key is needed: Authorization: Bearer KEY");
  }
  const std::string_view token = trim(value.substr(scheme.size()));
  if (head.authorization.count == 1 && !token.empty()) {
    if (auto id = keys_->find(token)) return std::move(*id);
  }
  return unauthorized("Bearer error=\"invalid_token\"", "this API key is not known");
}

std::variant<Admission, Answer> Access::admit(const Head& head, RateLimiter::Clock::time_point now) {
  Admission admission;
  auto by_address = addresses_.take(rate_subject(head.client_address), now);
  if (refused(by_address)) return limited(by_address, "from this address");
  admission.by_address = std::move(by_address.ticket);
  auto authenticated = authenticate(head);
  if (auto* answer = std::get_if<Answer>(&authenticated)) return std::move(*answer);
  admission.principal = std::move(std::get<std::string>(authenticated));
  admission.headers = rate_headers(by_address);
  if (admission.principal.empty()) return admission;
  auto by_key = principals_.take(admission.principal, now);
  if (refused(by_key)) return limited(by_key, "with this key");
  admission.by_key = std::move(by_key.ticket);
  const bool tighter = by_key.limit > 0 && (by_address.limit == 0 || by_key.remaining < by_address.remaining);
  if (tighter) admission.headers = rate_headers(by_key);
  return admission;
}

}  // namespace asg::http
