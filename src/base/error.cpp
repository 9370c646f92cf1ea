#include "asg/base/error.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace asg {

Error Error::in(std::string_view doing) const {
  return Error{.code = code, .message = std::string(doing) + ": " + message, .sys_errno = sys_errno};
}

std::string Error::to_string() const {
  if (sys_errno == 0) return message;
  return message + ": " + std::strerror(sys_errno);
}

std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message), .sys_errno = 0});
}

std::unexpected<Error> fail_errno(std::string message) {
  return fail_errno(std::move(message), errno);
}

std::unexpected<Error> fail_errno(std::string message, int sys_errno) {
  return std::unexpected(Error{.code = ErrorCode::io, .message = std::move(message), .sys_errno = sys_errno});
}

}  // namespace asg
