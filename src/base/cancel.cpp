#include "asg/base/cancel.hpp"

#include <utility>

namespace asg {

void CancelToken::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  if (auto listener = std::exchange(listener_, nullptr)) listener();
}

void CancelToken::on_cancel(std::function<void()> listener) {
  if (cancelled_ && listener) {
    listener();
    return;
  }
  listener_ = std::move(listener);
}

}  // namespace asg
