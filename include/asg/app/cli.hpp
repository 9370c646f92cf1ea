#pragma once

namespace asg::app {

/// The command line: serve, stdio, check, print-config, print-policy. Returns the exit status: 0, 1 for a failure said on stderr,
/// 2 for wrong usage.
[[nodiscard]] int run_cli(int argc, char** argv);

}  // namespace asg::app
