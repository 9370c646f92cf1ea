#pragma once

#include <sys/types.h>

#include "asg/app/supervisor.hpp"
#include "host.hpp"

namespace asg::app {

/// What a front is forked with. Descriptors are the caller's and are duplicated.
struct FrontStart {
  const config::Config& config;
  Mode mode;
  const Logger& log;
  const Host& host;
  int listening = -1;  // -1 unless Mode::serve
  int launcher = -1;
  int supervisor = -1;
};

/// Forks the front: no privilege, no descriptor of the supervisor's but these. It dies with the supervisor.
[[nodiscard]] Result<pid_t> fork_front(const FrontStart& start);

}  // namespace asg::app
