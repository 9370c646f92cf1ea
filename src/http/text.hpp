#pragma once

#include <string>
#include <string_view>

namespace asg::http {

/// ASCII only, as header names and tokens are.
[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Without the spaces and tabs around it.
[[nodiscard]] inline std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace asg::http
