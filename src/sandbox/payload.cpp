#include "payload.hpp"

#include <cstdint>
#include <cstring>

#include "asg/sandbox/payload_writer.hpp"
#include "payload_reader.hpp"
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

bool read_all(PayloadReader& reader, Payload& payload) {
  std::uint64_t count = 0;
  if (!reader.count(count)) return false;
  for (; count > 0; --count) {
    const char* variable = nullptr;
    if (!reader.variable(variable)) return false;
    payload.env.push_back(variable);
  }
  if (!reader.count(count)) return false;
  for (; count > 0; --count) {
    PlanFile file{};
    if (!reader.file(file)) return false;
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
  PayloadReader reader(bytes.data(), bytes.size());
  if (!read_all(reader, payload)) return fail(ErrorCode::internal, "malformed payload");
  return payload;
}

}  // namespace asg::sandbox
