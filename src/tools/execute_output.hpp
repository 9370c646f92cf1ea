#pragma once
// The result of sandbox_execute.

#include <string_view>

#include "asg/mcp/tool.hpp"
#include "asg/sandbox/outcome.hpp"

namespace asg::tools {

enum class FilesWanted { no, yes };  // whether output_files was given: then "files" is there, even when empty

/// structuredContent, the same keys at the top level, and its text as content[0]; pictures follow as image blocks.
/// Whatever the code did is isError:false, since a run that failed is still a result.
[[nodiscard]] mcp::ToolResult write_execute(sandbox::Outcome outcome, std::string hint, FilesWanted files);

/// One word for logs and metrics.
[[nodiscard]] std::string_view outcome_word(sandbox::Cause cause);

}  // namespace asg::tools
