#pragma once
// What *we* failed to do. What the user's code did is a value of its own (sandbox/outcome.hpp): the two never share a
// type.

#include <expected>
#include <string>
#include <string_view>

namespace asg {

enum class ErrorCode {
  invalid_argument,  // the caller's fault; the message names the field
  not_found,
  busy,         // no slot and the queue is full, or draining
  cancelled,    // the caller cancelled or went away
  unsupported,  // this host cannot do it
  io,           // a system call failed; sys_errno says how
  sandbox,      // the sandbox broke: nothing is charged
  internal,     // a bug of ours
};

/// An error with words for the log, added to on the way up by in(). Thread: a plain value.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  int sys_errno = 0;  // errno(3), or 0 when no system call failed

  /// Puts what was being done before the message: Error{...}.in("creating cgroup").
  [[nodiscard]] Error in(std::string_view doing) const;
  /// message, with strerror of sys_errno when there is one.
  [[nodiscard]] std::string to_string() const;
};

template <class T>
using Result = std::expected<T, Error>;

/// std::unexpected of an Error, to return from a function that gives a Result.
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string message);
/// The same from the present errno.
[[nodiscard]] std::unexpected<Error> fail_errno(std::string message);
[[nodiscard]] std::unexpected<Error> fail_errno(std::string message, int sys_errno);

}  // namespace asg
