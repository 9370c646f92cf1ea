#pragma once
// The interpreters: a new runtime is a row here.

#include <string>
#include <vector>

#include "asg/sandbox/environment.hpp"
#include "asg/sandbox/limits.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::sandbox {

struct Runtime {
  Language language;
  const char* program;    // inside the image
  const char* main_file;  // what the code is called in /workspace
  int pipe_bytes;         // of stdout and stderr
};

[[nodiscard]] const Runtime& runtime(Language language);

/// The command line, with what follows from the limits.
[[nodiscard]] std::vector<std::string> command_line(const Runtime& runtime, const LimitSet& limits);

}  // namespace asg::sandbox
