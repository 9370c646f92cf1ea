#include "payload.hpp"

#include <cstdint>
#include <cstring>

#include "asg/sandbox/payload_writer.hpp"
#include "runtimes.hpp"

namespace asg::sandbox {
namespace {

void put_number(std::string& out, std::uint64_t value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}
void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text);
  out.push_back('\0');
}
void put_file(std::string& out, std::string_view path, std::string_view content) {
  put_text(out, path);
  put_number(out, content.size());
  out.append(content);
}

class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}

  bool number(std::uint64_t& value) {
    if (bytes_.size() - at_ < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  bool block(std::uint64_t size, const char*& start) {
    if (bytes_.size() - at_ < size) return false;
    start = bytes_.data() + at_;
    at_ += size;
    return true;
  }
  /// A text with its terminator, and no NUL before that.
  bool text(const char*& start) {
    std::uint64_t size = 0;
    if (!number(size) || size >= bytes_.size() || !block(size + 1, start)) return false;
    return std::memchr(start, '\0', size + 1) == start + size;
  }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::span<const char> bytes_;
  std::size_t at_ = 0;
};

bool read_file(Reader& reader, PlanFile& file) {
  std::uint64_t size = 0;
  if (!reader.text(file.path) || !reader.number(size) || !reader.block(size, file.content)) return false;
  file.size = size;
  return true;
}

bool read_all(Reader& reader, Payload& payload) {
  std::uint64_t count = 0;
  if (!reader.number(count)) return false;
  for (; count > 0; --count) {
    const char* variable = nullptr;
    if (!reader.text(variable)) return false;
    payload.env.push_back(variable);
  }
  if (!reader.number(count)) return false;
  for (; count > 0; --count) {
    PlanFile file{};
    if (!read_file(reader, file)) return false;
    payload.files.push_back(file);
  }
  return reader.at_end();
}

}  // namespace

std::string encode_payload(const RunSpec& spec) {
  std::string out;
  out.reserve(spec.code.size() + 256);
  put_number(out, spec.env.size());
  for (const auto& [name, value] : spec.env) put_text(out, name + "=" + value);
  put_number(out, spec.files.size() + 1);
  put_file(out, runtime(spec.language).main_file, spec.code);
  for (const auto& file : spec.files) put_file(out, file.path, file.content);
  return out;
}

Result<Payload> decode_payload(std::span<const char> bytes) {
  Payload payload;
  Reader reader(bytes);
  if (!read_all(reader, payload)) return fail(ErrorCode::internal, "malformed payload");
  return payload;
}

}  // namespace asg::sandbox
