#pragma once

#include <string>
#include <vector>

#include "asg/sandbox/outcome.hpp"

namespace asg::sandbox {

/// Reads the files that patterns (paths or globs, "**" over directories) name below a directory whose processes are all dead. Never
/// follows a link, opens nothing but regular files, never leaves the directory, and is bounded in count, depth and bytes. What
/// matched but could not be returned has an error. No glob means the run's own source.
[[nodiscard]] std::vector<OutputFile> collect(int directory, const std::vector<std::string>& patterns);

/// Collects in the calling process, a fork of the launcher that may take no longer than kCollectSeconds. Never returns.
[[noreturn]] void run_collector(int directory, int patterns, int result);

}  // namespace asg::sandbox
