#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "asg/base/log.hpp"
#include "asg/base/metrics.hpp"
#include "asg/config/config.hpp"
#include "asg/executor/runner.hpp"
#include "asg/mcp/tool.hpp"

namespace asg::tools {

/// What the runtime image holds, in the words of the tool's description.
struct ImageInfo {
  std::string python = "CPython 3.11";
  std::string node = "Node 18";
  std::vector<std::string> python_packages = {"numpy", "pandas", "requests", "pillow"};
  std::vector<std::string> node_packages = {"axios", "lodash", "dayjs"};
};

/// What the tools work with. runner and metrics must outlive them; limits are copied.
struct ToolDeps {
  executor::Runner& runner;
  Metrics& metrics;
  config::Limits limits;
  ImageInfo image;
  Logger log;
};

/// Every tool, one line each. The caller owns them and keeps them for as long as the dispatcher lives.
[[nodiscard]] std::vector<std::unique_ptr<mcp::Tool>> make_tools(const ToolDeps& deps);

/// The words for the model that initialize and server/discover carry (mcp::ServerInfo::instructions).
[[nodiscard]] std::string server_instructions();

}  // namespace asg::tools
