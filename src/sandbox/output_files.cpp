#include "asg/sandbox/output_files.hpp"

#include <cstring>

namespace asg::sandbox {
namespace {

void put(std::string& out, std::string_view text) {
  const std::uint64_t size = text.size();
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  out.append(bytes, sizeof bytes);
  out.append(text);
}

bool get(std::span<const char>& bytes, std::string& text) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (bytes.size() < size) return false;
  text.assign(bytes.data(), size);
  bytes = bytes.subspan(size);
  return true;
}

}  // namespace

std::string encode_patterns(const RunSpec& spec) {
  std::string out;
  for (const auto& pattern : spec.output_files) put(out, pattern);
  return out;
}

std::vector<std::string> decode_patterns(std::span<const char> bytes) {
  std::vector<std::string> patterns;
  for (std::string pattern; get(bytes, pattern);) patterns.push_back(std::move(pattern));
  return patterns;
}

std::string encode_files(const std::vector<OutputFile>& files) {
  std::string out;
  for (const OutputFile& file : files) {
    put(out, file.path);
    put(out, std::to_string(file.size));
    put(out, file.content);
    put(out, file.error);
  }
  return out;
}

Result<std::vector<OutputFile>> decode_files(std::span<const char> bytes) {
  std::vector<OutputFile> files;
  while (!bytes.empty()) {
    OutputFile file;
    std::string size;
    if (!get(bytes, file.path) || !get(bytes, size) || !get(bytes, file.content) || !get(bytes, file.error)) {
      return fail(ErrorCode::sandbox, "malformed collection");
    }
    file.size = std::strtoull(size.c_str(), nullptr, 10);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace asg::sandbox
