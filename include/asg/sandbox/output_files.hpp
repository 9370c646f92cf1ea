#pragma once
// The files that a run shall return: what is asked of the launcher's collector and how it answers, both as bytes in a memfd.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/sandbox/outcome.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::sandbox {

/// Bounds of one collection.
inline constexpr std::size_t kMaxCollectedFiles = 32;
inline constexpr std::uint64_t kMaxCollectedBytes = 8ULL << 20;  // of all contents together
inline constexpr unsigned kCollectSeconds = 5;

/// Paths and globs, each with its NUL.
[[nodiscard]] std::string encode_patterns(const RunSpec& spec);
[[nodiscard]] std::vector<std::string> decode_patterns(std::span<const char> bytes);

[[nodiscard]] std::string encode_files(const std::vector<OutputFile>& files);
/// Error: malformed (a collector that was cut short).
[[nodiscard]] Result<std::vector<OutputFile>> decode_files(std::span<const char> bytes);

}  // namespace asg::sandbox
