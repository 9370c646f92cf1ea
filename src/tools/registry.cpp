#include "asg/tools/registry.hpp"

#include "sandbox_execute.hpp"

namespace asg::tools {

std::vector<std::unique_ptr<mcp::Tool>> make_tools(const ToolDeps& deps) {
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  tools.push_back(std::make_unique<SandboxExecute>(deps));
  return tools;
}

std::string server_instructions() {
  return "Runs Python and JavaScript in fresh, isolated sandboxes: call sandbox_execute with language and code. "
         "Nothing is kept between calls; print what you need.";
}

}  // namespace asg::tools
