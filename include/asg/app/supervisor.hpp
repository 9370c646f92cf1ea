#pragma once

#include "asg/base/log.hpp"
#include "asg/config/config.hpp"

namespace asg::app {

/// What the front does with the sandboxes.
enum class Mode {
  serve,  // HTTP on the listening socket
  stdio,  // MCP on standard input and output
  check,  // probe, print a table, end
};

/// The supervisor: single-threaded, keeps the privilege it was started with, has no socket to the world. Starts front and launcher,
/// makes control groups for the launcher, restarts what dies, passes signals on. Returns the program's exit status.
[[nodiscard]] int supervise(const config::Config& config, Mode mode, const Logger& log);

}  // namespace asg::app
