#pragma once
// What the user's code did. Never an error of ours.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace asg::sandbox {

/// Who ended the run: decided by what happened (deadline fired, the kernel's out-of-memory count), never by the status.
enum class Cause { exited, signaled, timed_out, out_of_memory, cancelled };

/// One output stream: raw bytes with one marker line in place of what the cap cut out.
struct Captured {
  std::string text;          // raw bytes as written; decoded once, later
  std::uint64_t bytes = 0;   // what the program wrote in all
  bool truncated = false;
};

struct Usage {
  std::chrono::milliseconds cpu{};
  std::uint64_t memory_peak_bytes = 0;
  std::uint32_t processes_peak = 0;
};

/// A file that output_files asked for; error is set instead of content when it could not be returned.
struct OutputFile {
  std::string path;
  std::uint64_t size = 0;
  std::string content;
  std::string error;
};

struct Outcome {
  Cause cause = Cause::exited;
  int exit_code = 0;                  // 128+N for signal N, 124 for the deadline, 137 for memory
  std::optional<std::string> signal;  // "SIGSEGV", when a signal ended the main process
  Captured out;
  Captured err;
  std::chrono::nanoseconds duration{};  // wall clock
  Usage usage;
  std::vector<OutputFile> files;
};

}  // namespace asg::sandbox
