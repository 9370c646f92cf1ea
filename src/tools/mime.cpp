#include "mime.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "utf8.hpp"

namespace asg::tools {

namespace {

using std::string_view;
using namespace std::string_view_literals;

constexpr std::array<std::pair<string_view, string_view>, 6> kMagic{{
    {"\x89PNG\r\n\x1A\n"sv, "image/png"},
    {"\xFF\xD8\xFF"sv, "image/jpeg"},
    {"GIF87a"sv, "image/gif"},
    {"GIF89a"sv, "image/gif"},
    {"%PDF-"sv, "application/pdf"},
    {"PK\x03\x04"sv, "application/zip"},
}};

// Names decide after magic, so that a zip-based .xlsx keeps its own type: see mime_type.
constexpr std::array<std::pair<string_view, string_view>, 19> kEndings{{
    {".csv", "text/csv"},
    {".css", "text/css"},
    {".gz", "application/gzip"},
    {".html", "text/html"},
    {".htm", "text/html"},
    {".js", "text/javascript"},
    {".json", "application/json"},
    {".md", "text/markdown"},
    {".npy", "application/octet-stream"},
    {".parquet", "application/vnd.apache.parquet"},
    {".py", "text/x-python"},
    {".svg", "image/svg+xml"},
    {".tar", "application/x-tar"},
    {".tsv", "text/tab-separated-values"},
    {".txt", "text/plain"},
    {".xml", "application/xml"},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
}};

string_view by_magic(string_view content) {
  if (content.size() >= 12 && content.starts_with("RIFF") && content.substr(8, 4) == "WEBP") return "image/webp";
  for (const auto& [magic, type] : kMagic) {
    if (content.starts_with(magic)) return type;
  }
  return {};
}

string_view by_ending(string_view path) {
  std::string lower(path);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [ending, type] : kEndings) {
    if (lower.ends_with(ending)) return type;
  }
  return {};
}

}  // namespace

string_view mime_type(string_view path, string_view content) {
  const string_view magic = by_magic(content);
  const string_view ending = by_ending(path);
  if (magic == "application/zip" && ending.starts_with("application/vnd.openxml")) return ending;
  if (!magic.empty()) return magic;
  if (!ending.empty()) return ending;
  return is_utf8(content) && content.find('\0') == string_view::npos ? "text/plain" : "application/octet-stream";
}

bool is_picture(string_view type) {
  constexpr std::array kPictures{"image/png"sv, "image/jpeg"sv, "image/gif"sv, "image/webp"sv};
  return std::find(kPictures.begin(), kPictures.end(), type) != kPictures.end();
}

}  // namespace asg::tools
