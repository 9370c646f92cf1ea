#pragma once

#include <string>

#include "asg/sandbox/run_spec.hpp"

namespace asg::sandbox {

/// The payload of a run (src/sandbox/payload.hpp): its code under the runtime's file name, its files and its variables.
[[nodiscard]] std::string encode_payload(const RunSpec& spec);

}  // namespace asg::sandbox
