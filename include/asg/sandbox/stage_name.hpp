#pragma once

#include <cstdint>

namespace asg::sandbox {

/// The set-up step that Control::stage names, for an error text.
[[nodiscard]] const char* stage_name(std::uint32_t stage);

}  // namespace asg::sandbox
