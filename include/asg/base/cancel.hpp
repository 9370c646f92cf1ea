#pragma once

#include <functional>
#include <memory>

namespace asg {

/// Tells one running call that nobody waits for its answer any more. Shared by the connection (which cancels) and the
/// call (which listens). Thread: the front's single thread.
class CancelToken {
 public:
  /// Calls the listener, once. Later calls do nothing.
  void cancel();
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  /// Sets the one listener (an empty function removes it). Called at once when already cancelled.
  void on_cancel(std::function<void()> listener);

 private:
  bool cancelled_ = false;
  std::function<void()> listener_;
};

using CancelTokenPtr = std::shared_ptr<CancelToken>;

}  // namespace asg
