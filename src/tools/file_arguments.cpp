#include "file_arguments.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "asg/mcp/base64.hpp"
#include "features.hpp"

namespace asg::tools {

namespace {

using nlohmann::json;
using std::string_view;

constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxNameBytes = 255;  // of the kernel's file systems

/// While the switch is off an empty list passes, anything else is refused by name.
Result<void> refuse_unserved(Fields& fields, string_view name, std::size_t max_items) {
  auto list = fields.optional_array(name, max_items);
  if (!list) return std::unexpected(std::move(list.error()));
  if (*list == nullptr || (*list)->empty()) return {};
  return refuse(fields.path(name), "is not available in this version");
}

Result<std::string> decode_content(Fields& file) {
  auto content = file.string("content");
  if (!content) return content;
  auto encoding = file.optional_string("encoding");
  if (!encoding) return std::unexpected(std::move(encoding.error()));
  const std::string name = encoding->value_or("utf-8");
  if (name == "utf-8") return content;
  if (name != "base64") return refuse(file.path("encoding"), "must be \"utf-8\" or \"base64\"");
  auto bytes = mcp::base64_decode(*content);
  if (!bytes) return refuse(file.path("content"), bytes.error().message);
  return bytes;
}

Result<sandbox::InputFile> decode_file(json& value, const std::string& path) {
  constexpr std::array<string_view, 3> kKnown{"path", "content", "encoding"};
  if (!value.is_object()) return refuse(path, "must be an object");
  Fields file(value, path);
  if (auto checked = file.only(kKnown); !checked) return std::unexpected(std::move(checked.error()));
  auto given = file.string("path");
  if (!given) return std::unexpected(std::move(given.error()));
  auto place = relative_path(*given);
  if (!place) return refuse(file.path("path"), place.error().message);
  auto content = decode_content(file);
  if (!content) return std::unexpected(std::move(content.error()));
  return sandbox::InputFile{.path = std::move(*place), .content = std::move(*content)};
}

/// Whether path is one of taken, or a folder of one of them, or below one of them.
bool collides(const std::set<std::string>& taken, const std::string& path) {
  const auto below = taken.lower_bound(path + "/");
  if (below != taken.end() && below->starts_with(path + "/")) return true;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (taken.contains(path.substr(0, slash))) return true;
  }
  return taken.contains(path);
}

}  // namespace

Result<std::string> relative_path(string_view path) {
  if (path.empty()) return fail(ErrorCode::invalid_argument, "must not be empty");
  if (path.size() > kMaxPathBytes) return fail(ErrorCode::invalid_argument, "its size is beyond 1024 bytes");
  if (path.find('\0') != string_view::npos) return fail(ErrorCode::invalid_argument, "must not hold a NUL character");
  if (path.front() == '/') return fail(ErrorCode::invalid_argument, "must be relative to the working directory");
  if (path.back() == '/') return fail(ErrorCode::invalid_argument, "must name a file, not a folder");
  std::string clean;
  while (!path.empty()) {
    const string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part == "..") return fail(ErrorCode::invalid_argument, "must not hold \"..\"");
    if (part.size() > kMaxNameBytes) return fail(ErrorCode::invalid_argument, "the size of a name in it is beyond 255 bytes");
    if (part.empty() || part == ".") continue;
    clean.append(clean.empty() ? "" : "/").append(part);
  }
  if (clean.empty()) return fail(ErrorCode::invalid_argument, "must name a file, not a folder");
  return clean;
}

Result<void> decode_files(Fields& fields, sandbox::RunSpec& spec) {
  auto list = fields.optional_array("files", kMaxFiles);
  if (!list) return std::unexpected(std::move(list.error()));
  if (*list == nullptr) return {};
  std::set<std::string> taken{"main.py", "main.cjs", "main.mjs"};  // where the code itself stands
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", fields.path("files"), i);
    auto file = decode_file((**list)[i], path);
    if (!file) return std::unexpected(std::move(file.error()));
    if (collides(taken, file->path)) return refuse(path + ".path", "is taken by the code or another file");
    bytes += file->content.size();
    if (bytes > kMaxFileBytes) {
      return refuse(fields.path("files"), fmt::format("their size together is beyond the limit of {} bytes", kMaxFileBytes));
    }
    taken.insert(file->path);
    spec.files.push_back(std::move(*file));
  }
  return {};
}

Result<void> decode_output_files(Fields& fields, sandbox::RunSpec& spec) {
  auto list = fields.optional_array("output_files", kMaxOutputFiles);
  if (!list) return std::unexpected(std::move(list.error()));
  if (*list == nullptr) return {};
  for (std::size_t i = 0; i < (*list)->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", fields.path("output_files"), i);
    const json& value = (**list)[i];
    if (!value.is_string()) return refuse(path, "must be a string");
    auto pattern = relative_path(value.get_ref<const std::string&>());
    if (!pattern) return refuse(path, pattern.error().message);
    spec.output_files.push_back(std::move(*pattern));
  }
  return {};
}

Result<void> read_files(Fields& fields, sandbox::RunSpec& spec) {
  if constexpr (kFilesAvailable) return decode_files(fields, spec);
  return refuse_unserved(fields, "files", kMaxFiles);
}

Result<void> read_output_files(Fields& fields, sandbox::RunSpec& spec) {
  if constexpr (kFilesAvailable) return decode_output_files(fields, spec);
  return refuse_unserved(fields, "output_files", kMaxOutputFiles);
}

}  // namespace asg::tools
