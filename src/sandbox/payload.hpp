#pragma once
// What one run is made of, as bytes in a sealed memfd: environment and files, written by the front and laid out by the child.
// Layout: u32 count, then entries, for the variables ("NAME=value\0") and for the files (path with NUL, u64 size, content).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "asg/base/error.hpp"
#include "plan.hpp"

namespace asg::sandbox {

/// Views into the bytes they were read from, which must outlive them.
struct Payload {
  std::vector<const char*> env;
  std::vector<PlanFile> files;
};

/// Reads it, bounds checked: the launcher trusts no length.
[[nodiscard]] Result<Payload> decode_payload(std::span<const char> bytes);

}  // namespace asg::sandbox
