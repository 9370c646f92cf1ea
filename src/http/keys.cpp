#include "keys.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace asg::http {

namespace {

using std::string_view;

constexpr std::size_t kMaxId = 64;

bool is_id(string_view text) {
  return !text.empty() && text.size() <= kMaxId && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

Result<Keys::Key> Keys::parse_line(string_view line) {
  const std::size_t gap = line.find_first_of(" \t");
  const string_view id = line.substr(0, gap);
  const string_view hex = gap == string_view::npos ? string_view() : trim(line.substr(gap));
  if (!is_id(id)) return fail(ErrorCode::invalid_argument, "an id is 1 to 64 of [A-Za-z0-9._-]");
  Key key{.id = std::string(id), .digest = {}};
  if (hex.size() != 2 * key.digest.size()) return fail(ErrorCode::invalid_argument, "not \"id sha256hex\": 64 hex digits are wanted");
  for (std::size_t i = 0; i < key.digest.size(); ++i) {
    const auto high = hex_digit(hex[2 * i]);
    const auto low = hex_digit(hex[2 * i + 1]);
    if (!high || !low) return fail(ErrorCode::invalid_argument, "not \"id sha256hex\": no hex digit");
    key.digest[i] = static_cast<unsigned char>(*high << 4 | *low);
  }
  return key;
}

Result<Keys> Keys::parse(string_view text) {
  Keys keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    string_view content = trim(line);
    if (content.ends_with('\r')) content = trim(content.substr(0, content.size() - 1));
    if (content.empty() || content.starts_with('#')) continue;
    auto key = parse_line(content);
    if (!key) return std::unexpected(key.error().in("access.keys_file, line " + std::to_string(number)));
    keys.keys_.push_back(std::move(*key));
  }
  if (keys.keys_.empty()) return fail(ErrorCode::invalid_argument, "access.keys_file holds no key: nobody could call");
  return keys;
}

std::optional<std::string> Keys::find(string_view token) const {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  const Key* found = nullptr;
  for (const Key& key : keys_) {
    if (CRYPTO_memcmp(key.digest.data(), digest.data(), digest.size()) == 0) found = &key;
  }
  if (found == nullptr) return std::nullopt;
  return found->id;
}

}  // namespace asg::http
