#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "asg/base/cancel.hpp"

namespace asg::mcp {

/// The calls that notifications/cancelled can reach, by scope (one authenticated key, or the one caller of stdio) and
/// request id. Thread: the front's single thread.
class RunningCalls {
 public:
  struct Call {
    CancelTokenPtr token;
    enum class CancelledBy { nobody, notice } cancelled_by = CancelledBy::nobody;
  };

  /// Keeps a call in the list for as long as it lives. The list must outlive it.
  class Entry {
   public:
    Entry(RunningCalls& calls, const std::string& scope, const std::string& id, CancelTokenPtr token);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();
    [[nodiscard]] bool cancelled_by_notice() const { return call_.cancelled_by == Call::CancelledBy::notice; }

   private:
    RunningCalls& calls_;
    Call call_;
    std::multimap<std::pair<std::string, std::string>, Call*>::iterator place_;
  };

  /// Cancels the call of this scope and id. Does nothing for an empty scope, an unknown id, or an id that two running
  /// calls share: guessing would end the wrong one.
  void cancel(const std::string& scope, const std::string& id);

 private:
  std::multimap<std::pair<std::string, std::string>, Call*> calls_;
};

}  // namespace asg::mcp
