#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "asg/base/error.hpp"

namespace asg::config {

/// Where a server listens: a literal address (no name is looked up) and a port.
struct Endpoint {
  std::string address;     // "127.0.0.1", "::1"
  std::uint16_t port = 0;  // 0 takes a free one

  [[nodiscard]] std::string to_string() const;  // "127.0.0.1:8080", "[::1]:8080"
};

/// Reads ADDR:PORT or [v6]:PORT. Error: invalid_argument.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace asg::config
