#pragma once

#include <memory>
#include <string>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/config/config.hpp"
#include "asg/linux/cgroup.hpp"
#include "asg/sandbox/launcher.hpp"

namespace asg::app {

/// What the start found out about this host: fixed afterwards, and told by `check`.
struct Host {
  sandbox::LauncherSettings launcher;
  std::shared_ptr<sys::CgroupTree> cgroups;
  std::string image_json;         // etc/asg-image.json of the image
  bool id_range = false;          // each sandbox its own id outside
  std::vector<std::string> missing;  // required limits that cannot be enforced, each with its reason
};

/// Looks around and prepares: files, filter, control groups (sweeps what dead servers left). Errors: what must be there and is
/// not, with what to do.
[[nodiscard]] Result<Host> prepare_host(const config::Config& config);

[[nodiscard]] sandbox::LimitSet limits_of(const config::Config& config);
/// limits.max_concurrent with its default filled in.
[[nodiscard]] std::uint32_t concurrency_of(const config::Config& config);
[[nodiscard]] std::uint32_t queue_of(const config::Config& config);

}  // namespace asg::app
