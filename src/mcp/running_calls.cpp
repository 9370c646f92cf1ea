#include "running_calls.hpp"

namespace asg::mcp {

RunningCalls::Entry::Entry(RunningCalls& calls, const std::string& scope, const std::string& id, CancelTokenPtr token)
    : calls_(calls), call_{.token = std::move(token)}, place_(calls.calls_.end()) {
  if (!scope.empty()) place_ = calls_.calls_.emplace(std::pair(scope, id), &call_);
}

RunningCalls::Entry::~Entry() {
  if (place_ != calls_.calls_.end()) calls_.calls_.erase(place_);
}

void RunningCalls::cancel(const std::string& scope, const std::string& id) {
  const auto [first, last] = calls_.equal_range(std::pair(scope, id));
  if (first == last || std::next(first) != last) return;
  Call& call = *first->second;
  call.cancelled_by = Call::CancelledBy::notice;
  const CancelTokenPtr token = call.token;  // the listener may end the call, and the entry with it
  token->cancel();
}

}  // namespace asg::mcp
