#include "utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace asg::tools {

namespace {

/// The part of a sequence at one place: how many bytes, and whether they are a character.
struct Part {
  std::size_t size = 1;
  bool valid = false;
};

struct Range {
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

/// What may follow a lead byte first: this is where overlong forms, surrogates and numbers beyond U+10FFFF are refused.
Range second_byte(unsigned char lead) {
  switch (lead) {
    case 0xE0: return {0xA0, 0xBF};
    case 0xED: return {0x80, 0x9F};
    case 0xF0: return {0x90, 0xBF};
    case 0xF4: return {0x80, 0x8F};
    default: return {};
  }
}

std::size_t sequence_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

Part part_at(std::string_view bytes, std::size_t place) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t size = sequence_size(byte(place));
  if (size == 0) return {};
  Range range = second_byte(byte(place));
  for (std::size_t i = 1; i < size; ++i, range = {}) {
    if (place + i >= bytes.size() || byte(place + i) < range.low || byte(place + i) > range.high) return {.size = i};
  }
  return {.size = size, .valid = true};
}

/// Where the next byte above 0x7F stands, at or behind place: eight at a time, as most output is ASCII.
std::size_t skip_ascii(std::string_view bytes, std::size_t place) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  for (std::uint64_t word = 0; place + sizeof(word) <= bytes.size(); place += sizeof(word)) {
    std::memcpy(&word, bytes.data() + place, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (place < bytes.size() && static_cast<unsigned char>(bytes[place]) < 0x80) ++place;
  return place;
}

/// The first byte that is not part of a character; size() when there is none.
std::size_t first_invalid(std::string_view bytes) {
  std::size_t place = skip_ascii(bytes, 0);
  while (place < bytes.size()) {
    const Part part = part_at(bytes, place);
    if (!part.valid) return place;
    place = skip_ascii(bytes, place + part.size);
  }
  return bytes.size();
}

}  // namespace

bool is_utf8(std::string_view bytes) { return first_invalid(bytes) == bytes.size(); }

std::string to_utf8(std::string bytes) {
  std::size_t place = first_invalid(bytes);
  if (place == bytes.size()) return bytes;
  std::string text(bytes, 0, place);
  text.reserve(bytes.size() + bytes.size() / 2);
  while (place < bytes.size()) {
    const Part part = part_at(bytes, place);
    text.append(part.valid ? std::string_view(bytes).substr(place, part.size) : std::string_view("\xEF\xBF\xBD"));
    place += part.size;
  }
  return text;
}

}  // namespace asg::tools
