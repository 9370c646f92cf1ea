#pragma once

#include <nlohmann/json_fwd.hpp>

#include "asg/config/config.hpp"
#include "asg/tools/registry.hpp"

namespace asg::tools {

/// The tools/list entry of sandbox_execute: the limits and the image's versions are in its words.
[[nodiscard]] nlohmann::ordered_json execute_definition(const config::Limits& limits, const ImageInfo& image);

}  // namespace asg::tools
