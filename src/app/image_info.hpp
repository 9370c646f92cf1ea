#pragma once

#include <string>

#include "asg/tools/registry.hpp"

namespace asg::app {

/// What the image says of itself (etc/asg-image.json, written by the image's builder). What is not there keeps its default.
[[nodiscard]] tools::ImageInfo image_info(const std::string& json);

}  // namespace asg::app
