#pragma once

#include <utility>

namespace asg {

/// A value that must not be printed by accident: no stream operator, no formatter, no conversion, no place in a log
/// field. reveal() is the only way in, so that a search for it finds every use.
template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  [[nodiscard]] const T& reveal() const { return value_; }

 private:
  T value_{};
};

}  // namespace asg
