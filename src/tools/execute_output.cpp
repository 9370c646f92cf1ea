#include "execute_output.hpp"

#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
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

/// Where the file was, inside (RFC 8089): clients parse the uri of a resource, so every byte outside RFC 3986's unreserved
/// characters is escaped.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string uri = "file:///workspace/";
  for (const char byte : path) {
    if (kPlain.contains(byte)) uri += byte;
    else fmt::format_to(std::back_inserter(uri), "%{:02X}", static_cast<unsigned char>(byte));
  }
  return uri;
}

/// What a client shows or keeps of a file: a picture is an image, all else an embedded resource (every revision has both).
Json write_block(const Json& entry) {
  const std::string_view type = entry["mime_type"].get_ref<const std::string&>();
  Json block;
  if (is_picture(type)) {
    block["type"] = "image";
    block["data"] = entry["content"];
    block["mimeType"] = type;
    return block;
  }
  block["type"] = "resource";
  block["resource"]["uri"] = uri_of(entry["path"].get_ref<const std::string&>());
  block["resource"]["mimeType"] = type;
  block["resource"][entry["encoding"] == "utf-8" ? "text" : "blob"] = entry["content"];
  return block;
}

/// Text files come as they are, the rest as base64; each also becomes a content block.
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
  entry["content"] = text ? std::move(file.content) : mcp::base64_encode(file.content);
  blocks.push_back(write_block(entry));
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
  Json blocks = Json::array();
  if (files == FilesWanted::yes) {
    run["files"] = Json::array();
    for (OutputFile& file : outcome.files) run["files"].push_back(write_file(std::move(file), blocks));
  }
  if (!hint.empty()) run["hint"] = std::move(hint);

  mcp::ToolResult result;
  result.outcome = outcome_word(outcome.cause);
  result.body["content"] = std::move(blocks);
  result.body["isError"] = false;
  result.structured = R"({"stdout":)";
  mcp::append_quoted(result.structured, to_utf8(std::move(outcome.out.text)));
  result.structured.append(R"(,"stderr":)");
  mcp::append_quoted(result.structured, to_utf8(std::move(outcome.err.text)));
  result.structured.append(",").append(run.dump(), 1);
  return result;
}

}  // namespace asg::tools
