#pragma once

#include <string>
#include <string_view>

namespace asg::tools {

/// Bytes as valid UTF-8: each maximal part of an ill-formed sequence becomes one U+FFFD (WHATWG Encoding, "UTF-8 decode";
/// Unicode 15 section 3.9). Valid input comes back as it is, without a copy.
[[nodiscard]] std::string to_utf8(std::string bytes);

[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace asg::tools
