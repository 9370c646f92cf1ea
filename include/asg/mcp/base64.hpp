#pragma once
// Base64 of RFC 4648 section 4: strict, with padding, over OpenSSL.

#include <string>
#include <string_view>

#include "asg/base/error.hpp"

namespace asg::mcp {

[[nodiscard]] std::string base64_encode(std::string_view bytes);
/// invalid_argument for a character outside the alphabet, wrong padding or a length that is no multiple of four.
[[nodiscard]] Result<std::string> base64_decode(std::string_view text);

}  // namespace asg::mcp
