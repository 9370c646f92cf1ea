#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asg/base/error.hpp"

namespace asg::http {

/// The API keys of callers, known by their SHA-256 only: keys are random, so that a plain hash cannot be guessed.
class Keys {
 public:
  /// Lines "id sha256hex"; empty ones and those that begin with # are skipped. An id may stand on several lines: the old key
  /// and the new one. Error: the first line that is wrong, or none that holds a key.
  static Result<Keys> parse(std::string_view text);

  /// The id of the key that this is; none: nobody's. Takes the same time for every token of one length.
  [[nodiscard]] std::optional<std::string> find(std::string_view token) const;
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Key {
    std::string id;
    Digest digest;
  };
  static Result<Key> parse_line(std::string_view line);

  std::vector<Key> keys_;
};

}  // namespace asg::http
