#pragma once

namespace asg::tools {

/// Arguments that are decoded and checked but not served yet: refused by name while off, and not in the schema.
inline constexpr bool kFilesAvailable = true;     // files, output_files
inline constexpr bool kPackagesAvailable = false;  // packages

}  // namespace asg::tools
