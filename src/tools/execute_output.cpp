#include "execute_output.hpp"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "asg/mcp/base64.hpp"
#include "asg/mcp/json_rpc.hpp"
#include "mime.hpp"
#include "utf8.hpp"

namespace asg::tools {

namespace {

using Json = nlohmann::ordered_json;
using sandbox::Cause;
using sandbox::OutputFile;

std::int64_t milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Text files come as they are, the rest as base64; a picture also becomes an image block, which shares the base64.
Json write_file(OutputFile file, Json& blocks) {
  Json entry;
  entry["path"] = to_utf8(std::move(file.path));
  entry["size"] = file.size;
  if (!file.error.empty()) {
    entry["error"] = to_utf8(std::move(file.error));
    return entry;
  }
  const std::string_view type = mime_type(entry["path"].get_ref<const std::string&>(), file.content);
  entry["mime_type"] = type;
  const bool text = is_utf8(file.content) && !is_picture(type);
  entry["encoding"] = text ? "utf-8" : "base64";
  std::string content = text ? std::move(file.content) : mcp::base64_encode(file.content);
  if (is_picture(type)) {
    Json block;
    block["type"] = "image";
    block["data"] = content;
    block["mimeType"] = type;
    blocks.push_back(std::move(block));
  }
  entry["content"] = std::move(content);
  return entry;
}

Json write_usage(const sandbox::Usage& usage) {
  Json value;
  value["cpu_ms"] = usage.cpu.count();
  value["memory_peak_bytes"] = usage.memory_peak_bytes;
  value["processes_peak"] = usage.processes_peak;
  return value;
}

/// Everything but the texts.
Json write_run(const sandbox::Outcome& outcome) {
  Json run;
  run["exit_code"] = outcome.exit_code;
  run["duration_ms"] = milliseconds(outcome.duration);
  run["timed_out"] = outcome.cause == Cause::timed_out;
  run["oom_killed"] = outcome.cause == Cause::out_of_memory;
  run["signal"] = nullptr;
  if (outcome.signal) run["signal"] = *outcome.signal;
  run["stdout_truncated"] = outcome.out.truncated;
  run["stderr_truncated"] = outcome.err.truncated;
  run["stdout_bytes"] = outcome.out.bytes;
  run["stderr_bytes"] = outcome.err.bytes;
  run["usage"] = write_usage(outcome.usage);
  return run;
}

}  // namespace

std::string_view outcome_word(Cause cause) {
  switch (cause) {
    case Cause::exited: return "exited";
    case Cause::signaled: return "signaled";
    case Cause::timed_out: return "timed_out";
    case Cause::out_of_memory: return "out_of_memory";
    case Cause::cancelled: return "cancelled";
  }
  std::unreachable();
}

mcp::ToolResult write_execute(sandbox::Outcome outcome, std::string hint, FilesWanted files) {
  Json run = write_run(outcome);
  Json pictures = Json::array();
  if (files == FilesWanted::yes) {
    run["files"] = Json::array();
    for (OutputFile& file : outcome.files) run["files"].push_back(write_file(std::move(file), pictures));
  }
  if (!hint.empty()) run["hint"] = std::move(hint);

  mcp::ToolResult result;
  result.outcome = outcome_word(outcome.cause);
  result.body["content"] = std::move(pictures);
  result.body["isError"] = false;
  result.structured = R"({"stdout":)";
  mcp::append_quoted(result.structured, to_utf8(std::move(outcome.out.text)));
  result.structured.append(R"(,"stderr":)");
  mcp::append_quoted(result.structured, to_utf8(std::move(outcome.err.text)));
  result.structured.append(",").append(run.dump(), 1);
  return result;
}

}  // namespace asg::tools
