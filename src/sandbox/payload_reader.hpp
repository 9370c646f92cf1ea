#pragma once
// Reads a payload (payload.hpp) without allocating: the launcher and a warm process share it, and neither trusts a length.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "plan.hpp"

namespace asg::sandbox {

class PayloadReader {
 public:
  PayloadReader(const char* bytes, std::size_t size) noexcept : bytes_(bytes), size_(size) {}

  /// How many entries of the next kind follow: first the variables, then the files.
  [[nodiscard]] bool count(std::uint64_t& value) noexcept { return number(value); }
  /// "NAME=value", NUL-terminated, inside the bytes.
  [[nodiscard]] bool variable(const char*& start) noexcept { return text(start); }
  [[nodiscard]] bool file(PlanFile& file) noexcept {
    std::uint64_t size = 0;
    if (!text(file.path) || !number(size) || !block(size, file.content)) return false;
    file.size = size;
    return true;
  }
  [[nodiscard]] bool at_end() const noexcept { return at_ == size_; }

 private:
  bool number(std::uint64_t& value) noexcept {
    if (size_ - at_ < sizeof value) return false;
    std::memcpy(&value, bytes_ + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }
  bool block(std::uint64_t size, const char*& start) noexcept {
    if (size_ - at_ < size) return false;
    start = bytes_ + at_;
    at_ += size;
    return true;
  }
  /// A text with its terminator, and no NUL before that.
  bool text(const char*& start) noexcept {
    std::uint64_t size = 0;
    if (!number(size) || size >= size_ || !block(size + 1, start)) return false;
    return std::memchr(start, '\0', size + 1) == start + size;
  }

  const char* bytes_;
  std::size_t size_;
  std::size_t at_ = 0;
};

}  // namespace asg::sandbox
