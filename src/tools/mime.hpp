#pragma once

#include <string>
#include <string_view>

namespace asg::tools {

/// The media type of a file, by its first bytes, else by the end of its name, else text/plain or
/// application/octet-stream. Never taken from the program.
[[nodiscard]] std::string_view mime_type(std::string_view path, std::string_view content);

/// Whether MCP clients show it as a picture (image content block): PNG, JPEG, GIF, WebP by their first bytes.
[[nodiscard]] bool is_picture(std::string_view mime_type);

}  // namespace asg::tools
