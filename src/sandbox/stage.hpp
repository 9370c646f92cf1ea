#pragma once

#include "asg/base/error.hpp"
#include "asg/sandbox/launcher.hpp"

namespace asg::sandbox {

/// Makes the calling process's mount namespace the "stage": its root is the read-only runtime image with a minimal /dev, a fresh
/// /proc and our own files in /opt/asg, and the host's files are in nobody's mount table any more. To be called in fresh user,
/// PID, mount and UTS namespaces, as PID 1, before and after the id maps are written: see both parts.
///
/// enter_image() still reaches directories that only the starter may search (a clone of the repository in /root);
/// finish_stage() runs with the mapped id 0, which can own files.
[[nodiscard]] Result<void> enter_image(const LauncherSettings& settings);
[[nodiscard]] Result<void> finish_stage();

}  // namespace asg::sandbox
