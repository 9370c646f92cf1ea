#pragma once
// Who may ask at all: framing, Host, Origin (DNS rebinding), and who it is. Everything that is decided before the body.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "asg/config/config.hpp"
#include "head.hpp"

namespace asg::http {

class Guard {
 public:
  explicit Guard(const config::Server& settings);

  /// Framing (RFC 9112 section 6.3), Host and Origin; none: go on.
  [[nodiscard]] std::optional<Answer> check(const Head& head) const;
  /// The origin to name in Access-Control-Allow-Origin, empty when there is none. Only after check().
  [[nodiscard]] std::string allow_origin(const Head& head) const { return head.origin.value; }
  /// The answer to a preflight. Only after check().
  [[nodiscard]] static Answer preflight();

 private:
  [[nodiscard]] std::optional<Answer> check_host(const Head& head) const;
  [[nodiscard]] bool host_allowed(std::string_view host, const Head& head) const;
  [[nodiscard]] bool origin_allowed(std::string_view origin) const;

  std::vector<std::string> hosts_;    // lower case
  std::vector<std::string> origins_;  // lower case
};

/// The host of "host", "host:port", "[v6]" or "[v6]:port", in lower case and without brackets; none: malformed.
[[nodiscard]] std::optional<std::string> host_name(std::string_view host);

}  // namespace asg::http
