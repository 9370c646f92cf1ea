#pragma once

#include "asg/http/credentials.hpp"
#include "asg/linux/unique_fd.hpp"
#include "front.hpp"

namespace asg::app {

struct FrontSockets {
  sys::UniqueFd launcher;
  sys::UniqueFd supervisor;
  sys::UniqueFd listening;
};

/// The front's life, with the privilege already dropped: wires executor, tools, dispatcher and transport, runs the one event loop,
/// drains, returns the exit status.
[[nodiscard]] int run_front(const FrontStart& start, FrontSockets sockets, http::Credentials credentials);

}  // namespace asg::app
