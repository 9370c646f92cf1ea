#pragma once
// The table of all settings: load, print-config, the range checks and the shipped file follow it.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asg/config/config.hpp"
#include "codec.hpp"

namespace asg::config {

/// One setting.
struct Key {
  std::string_view name;  // "server.listen"
  std::string_view doc;   // one sentence
  std::string range;      // in words; may be empty
  /// Stores the value of the node; gives what is wrong with it otherwise.
  std::function<std::optional<std::string>(Config&, const toml::node&)> read;
  /// The value as TOML, on one line.
  std::function<std::string(const Config&)> print;

  [[nodiscard]] std::string_view section() const { return name.substr(0, name.find('.')); }
  [[nodiscard]] std::string_view leaf() const { return name.substr(name.find('.') + 1); }
};

/// What must hold between two settings. Not looked at when one of them is wrong by itself.
struct Rule {
  std::string_view first;  // the key that is blamed, if the file sets it
  std::string_view second;
  std::string_view message;
  bool (*holds)(const Config&);
};

[[nodiscard]] const std::vector<Key>& keys();
[[nodiscard]] const std::vector<Rule>& rules();

}  // namespace asg::config
