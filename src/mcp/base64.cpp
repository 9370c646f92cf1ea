#include "asg/mcp/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

namespace asg::mcp {

namespace {

bool in_alphabet(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock writes a NUL behind
  const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                      reinterpret_cast<const unsigned char*>(bytes.data()),
                                      static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(written));
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.empty()) return std::string{};
  if (text.size() % 4 != 0) return fail(ErrorCode::invalid_argument, "base64: length is no multiple of 4");
  if (text.size() > std::numeric_limits<int>::max()) return fail(ErrorCode::invalid_argument, "base64: too long");
  std::size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  // EVP_DecodeBlock trims white space and takes '=' anywhere, so the alphabet is checked first.
  if (!std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), in_alphabet)) {
    return fail(ErrorCode::invalid_argument, "base64: character outside the alphabet");
  }
  std::string bytes(text.size() / 4 * 3, '\0');
  const int written = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (written < 0) return fail(ErrorCode::invalid_argument, "base64: cannot be decoded");
  bytes.resize(static_cast<std::size_t>(written) - padding);
  return bytes;
}

}  // namespace asg::mcp
