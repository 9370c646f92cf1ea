#pragma once

#include <functional>
#include <string>
#include <vector>

#include "asg/base/task.hpp"
#include "asg/executor/runner.hpp"
#include "host.hpp"

namespace asg::app {

enum class Verdict { ok, degraded, missing };

/// One promise of the sandbox and whether this host lets us keep it.
struct Finding {
  Verdict verdict = Verdict::ok;
  std::string promise;
  std::string detail;  // what was seen, or what to do
  bool required = true;
};

/// Tries each promise by running a program inside. Takes a few seconds.
Task<std::vector<Finding>> probe_all(const Host& host, const config::Config& config, executor::Runner& runner);

/// The quick ones before serving: both runtimes start and print. An empty text: all is well.
Task<std::string> self_check(executor::Runner& runner);

[[nodiscard]] std::string to_table(const std::vector<Finding>& findings);
/// 1 when something required is missing.
[[nodiscard]] int exit_status(const std::vector<Finding>& findings);

}  // namespace asg::app
