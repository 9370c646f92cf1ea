#pragma once

#include <cstddef>

#include "asg/base/task.hpp"
#include "asg/mcp/dispatcher.hpp"

namespace asg::mcp {

struct StdioSettings {
  int input = 0;                                // not owned; duplicated
  int output = 1;                               // not owned; duplicated
  std::size_t max_message_bytes = 32UL << 20;   // a longer line is answered with -32700 and skipped
  std::size_t max_running = 64;                 // messages at work at once; beyond it nothing is read
};

/// The stdio transport: one JSON-RPC message a line, nothing else on the output. Returns at end of input, after the calls
/// that run then have been answered, or when nobody reads the output any more (running calls are cancelled).
/// An Error only when the descriptors cannot be used. Runs on the executor of the caller; dispatcher must outlive it.
Task<Result<void>> serve_stdio(Dispatcher& dispatcher, StdioSettings settings);

}  // namespace asg::mcp
