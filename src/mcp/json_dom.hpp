#pragma once
// JSON text to a DOM within bounds: depth, members of an object, no member twice.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "asg/base/error.hpp"

namespace asg::mcp {

/// invalid_argument with the reason. An integer beyond 64 bits under "id", "progressToken" or "requestId" is kept as its
/// digits in a binary value (which JSON text cannot make otherwise): such values must be echoed exactly.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace asg::mcp
