#include "execute_schema.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "execute_input.hpp"
#include "features.hpp"
#include "file_arguments.hpp"

namespace asg::tools {

namespace {

using Json = nlohmann::ordered_json;
using config::Limits;

Json typed(const char* type, std::string description) {
  Json value;
  value["type"] = type;
  value["description"] = std::move(description);
  return value;
}

Json list_of(Json items, std::size_t max_items, std::string description) {
  Json value = typed("array", std::move(description));
  value["items"] = std::move(items);
  value["maxItems"] = max_items;
  return value;
}

Json string_items() {
  Json value;
  value["type"] = "string";
  return value;
}

Json time_property(const Limits& limits) {
  Json value = typed("number", fmt::format("Wall-clock limit of the run in seconds; fractions allowed. Default {}, at most {}.",
                                           limits.default_timeout_seconds, limits.max_timeout_seconds));
  value["exclusiveMinimum"] = 0;
  value["maximum"] = limits.max_timeout_seconds;
  value["default"] = limits.default_timeout_seconds;
  return value;
}

Json integer_property(double maximum, std::string description) {
  Json value = typed("integer", std::move(description));
  value["minimum"] = 1;
  value["maximum"] = static_cast<std::uint64_t>(maximum);
  return value;
}

Json env_property() {
  Json value = typed("object", "Extra environment variables. PATH, LD_*, PYTHON*, NODE_* and proxy variables are refused.");
  value["additionalProperties"] = string_items();
  return value;
}

Json files_property() {
  Json file;
  file["type"] = "object";
  file["properties"]["path"] = typed("string", "Relative path below the working directory.");
  file["properties"]["content"] = typed("string", "Text, or base64 when encoding says so.");
  file["properties"]["encoding"] = typed("string", "utf-8 (default) or base64.");
  file["properties"]["encoding"]["enum"] = {"utf-8", "base64"};
  file["required"] = {"path", "content"};
  file["additionalProperties"] = false;
  return list_of(std::move(file), kMaxFiles, "Files laid into the working directory before the run; 8 MiB together.");
}

Json input_schema(const Limits& limits, const ImageInfo& image) {
  Json properties;
  properties["language"] = typed("string", fmt::format("python ({}) or javascript ({}).", image.python, image.node));
  properties["language"]["enum"] = {"python", "javascript"};
  properties["code"] = typed("string", "The whole program, run as a file of its own. Print what you want to see: the value of a last line is not shown. 4 MiB at most.");
  properties["timeout_seconds"] = time_property(limits);
  if (kPackagesAvailable) properties["packages"] = list_of(string_items(), kMaxPackages, "pip or npm packages to install first.");
  properties["stdin"] = typed("string", "Standard input of the program; without it stdin is at end of file.");
  if (kFilesAvailable) {
    properties["files"] = files_property();
    properties["output_files"] = list_of(
        string_items(), kMaxOutputFiles,
        "Files to return after the run: paths or globs relative to the working directory, such as plot.png, out/*.csv or **/*.json; "
        "8 MiB together. They come in the result's files, and as content blocks: pictures as images, others as resources.");
  }
  properties["env"] = env_property();
  properties["timeout_ms"] = integer_property(limits.max_timeout_seconds * 1000, "timeout_seconds in milliseconds; give one of them.");
  properties["max_output_bytes"] = integer_property(static_cast<double>(limits.output_bytes), "Lowers the cap of stdout and of stderr.");
  Json schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  schema["required"] = {"language", "code"};
  schema["additionalProperties"] = false;
  return schema;
}

Json output_files_property() {
  Json file;
  file["type"] = "object";
  file["properties"]["path"]["type"] = "string";
  file["properties"]["size"]["type"] = "integer";
  file["properties"]["mime_type"]["type"] = "string";
  file["properties"]["encoding"]["enum"] = {"utf-8", "base64"};
  file["properties"]["content"]["type"] = "string";
  file["properties"]["error"] = typed("string", "Why it could not be returned; content is missing then.");
  file["required"] = {"path", "size"};
  Json value = typed("array", "What output_files named.");
  value["items"] = std::move(file);
  return value;
}

/// The keys of a run. anyOf admits the object that x402 clients read when a payment is missing: clients of older
/// revisions check structuredContent against this even when isError is set.
Json output_schema() {
  Json properties;
  properties["stdout"] = typed("string", "What the program printed.");
  properties["stderr"] = typed("string", "What it printed on standard error.");
  properties["exit_code"] = typed("integer", "Its exit status; 128+N after signal N, 124 after the time limit, 137 after the memory limit.");
  properties["duration_ms"] = typed("integer", "Wall-clock time of the run.");
  for (const char* flag : {"timed_out", "oom_killed", "stdout_truncated", "stderr_truncated"}) properties[flag]["type"] = "boolean";
  properties["signal"]["type"] = {"string", "null"};
  for (const char* count : {"stdout_bytes", "stderr_bytes"}) properties[count]["type"] = "integer";
  properties["usage"]["type"] = "object";
  properties["hint"] = typed("string", "What to do about it, where that helps.");
  if (kFilesAvailable) properties["files"] = output_files_property();
  Json run;
  run["required"] = {"stdout", "stderr", "exit_code", "duration_ms"};
  Json payment;
  payment["required"] = {"x402Version", "accepts"};
  Json schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  schema["anyOf"] = Json::array({std::move(run), std::move(payment)});
  return schema;
}

std::string description(const Limits& limits, const ImageInfo& image) {
  std::string text = fmt::format(
      "Runs Python ({}) or JavaScript ({}) in a fresh, isolated Linux sandbox and returns stdout, stderr and exit_code. "
      "Every call starts clean: nothing is kept from call to call, so one call holds all the code and data that it needs. "
      "Print the results you need. Preinstalled: Python {}; JavaScript {}{}. JavaScript may use require, import and top-level await. "
      "The working directory is /workspace; it and /tmp can be written, all else is read-only. ",
      image.python, image.node, fmt::join(image.python_packages, ", "), fmt::join(image.node_packages, ", "),
      kPackagesAvailable ? "; name others in packages" : "; others cannot be installed");
  if (kFilesAvailable) {
    text += "Hand data over in files; have files that the code saved returned by naming them in output_files, for example "
            "[\"chart.png\", \"results/*.csv\"]: pictures come back as images. There is no display: save pictures to files. ";
  }
  return text + fmt::format(
      "No network: the code reaches no other host. "
      "Limits: {} MiB memory, {} CPU, {} processes and threads, {} MiB of files, {} s by default ({} s at most), {} KiB of each "
      "output stream. A program that fails, times out or runs out of memory is still a result: read exit_code, stderr and hint.",
      limits.memory_bytes >> 20, limits.cpus, limits.processes, limits.files_bytes >> 20, limits.default_timeout_seconds,
      limits.max_timeout_seconds, limits.output_bytes >> 10);
}

Json annotations() {
  Json value;
  value["title"] = "Run code in a sandbox";
  value["readOnlyHint"] = false;
  value["destructiveHint"] = false;
  value["idempotentHint"] = false;
  value["openWorldHint"] = false;
  return value;
}

}  // namespace

Json execute_definition(const Limits& limits, const ImageInfo& image) {
  Json tool;
  tool["name"] = "sandbox_execute";
  tool["title"] = "Run code in a sandbox";
  tool["description"] = description(limits, image);
  tool["inputSchema"] = input_schema(limits, image);
  tool["outputSchema"] = output_schema();
  tool["annotations"] = annotations();
  return tool;
}

}  // namespace asg::tools
