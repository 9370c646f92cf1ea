#pragma once

#include <string>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"

namespace asg::app {

/// A listening TCP socket on ADDR:PORT ([v6]:PORT). Port 0 takes a free one.
[[nodiscard]] Result<sys::UniqueFd> listen_on(const std::string& endpoint);
/// The address a socket is bound to, as ADDR:PORT.
[[nodiscard]] std::string bound_address(int socket);

}  // namespace asg::app
