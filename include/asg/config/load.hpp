#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "asg/config/config.hpp"

namespace asg::config {

/// One thing that is wrong with a configuration file.
struct Problem {
  std::string file;
  unsigned line = 0;    // from 1; 0 when the file could not be read at all
  unsigned column = 0;  // from 1
  std::string key;      // "server.listen"; empty for a fault of the TOML itself
  std::string message;

  [[nodiscard]] std::string to_string() const;  // "FILE:LINE:COLUMN: KEY: MESSAGE"
};

using Problems = std::vector<Problem>;  // in the order of the file

/// The settings, or everything that is wrong with the file at once. Without a file: the defaults.
[[nodiscard]] std::expected<Config, Problems> load(const std::optional<std::filesystem::path>& file);
/// The same from text; name stands for the file in the problems.
[[nodiscard]] std::expected<Config, Problems> parse(std::string_view text, const std::string& name);

/// Every key with its value, default and meaning, as TOML that loads again to the same settings.
[[nodiscard]] std::string print_config(const Config& config);
/// The text of the shipped config/asg-sandbox.toml: every key, commented out, with its default.
[[nodiscard]] std::string shipped_config();

}  // namespace asg::config
