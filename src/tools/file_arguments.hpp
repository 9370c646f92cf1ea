#pragma once
// arguments.files and arguments.output_files: relative paths below the working directory, bounded in number and size.

#include <cstddef>

#include "asg/base/error.hpp"
#include "asg/sandbox/run_spec.hpp"
#include "fields.hpp"

namespace asg::tools {

inline constexpr std::size_t kMaxFiles = 64;
inline constexpr std::size_t kMaxFileBytes = 8UL << 20;  // of all contents together, decoded
inline constexpr std::size_t kMaxOutputFiles = 32;

[[nodiscard]] Result<void> read_files(Fields& fields, sandbox::RunSpec& spec);
[[nodiscard]] Result<void> read_output_files(Fields& fields, sandbox::RunSpec& spec);

/// What read_files does when the switch in features.hpp is on.
[[nodiscard]] Result<void> decode_files(Fields& fields, sandbox::RunSpec& spec);
[[nodiscard]] Result<void> decode_output_files(Fields& fields, sandbox::RunSpec& spec);

/// The path without "." parts, or why it is none: empty, absolute, "..", NUL, too long.
[[nodiscard]] Result<std::string> relative_path(std::string_view path);

}  // namespace asg::tools
