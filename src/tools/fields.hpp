#pragma once
// Reads members of a JSON object with the path of the field in every refusal ("arguments.code: must be a string").
// Null counts as absent for optional members: models send it for what they do not mean to set.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "asg/base/error.hpp"

namespace asg::tools {

/// invalid_argument "path: why".
[[nodiscard]] std::unexpected<Error> refuse(std::string_view path, std::string_view why);

/// A view of one object and where it stands. object must outlive it; string members are moved out of it.
class Fields {
 public:
  Fields(nlohmann::json& object, std::string path) : object_(object), path_(std::move(path)) {}

  /// Refuses a member outside known, naming the nearest known one.
  [[nodiscard]] Result<void> only(std::span<const std::string_view> known) const;

  [[nodiscard]] Result<std::string> string(std::string_view name);
  [[nodiscard]] Result<std::optional<std::string>> optional_string(std::string_view name);
  /// A number, whole or not; a boolean is none.
  [[nodiscard]] Result<std::optional<double>> optional_number(std::string_view name) const;
  /// A whole number; 3.0 counts.
  [[nodiscard]] Result<std::optional<std::int64_t>> optional_integer(std::string_view name) const;
  /// The member itself, null when absent.
  [[nodiscard]] Result<nlohmann::json*> optional_array(std::string_view name, std::size_t max_items);
  [[nodiscard]] Result<nlohmann::json*> optional_object(std::string_view name);

  [[nodiscard]] std::string path(std::string_view name) const;

 private:
  [[nodiscard]] nlohmann::json* find(std::string_view name) const;

  nlohmann::json& object_;
  std::string path_;
};

/// The one of known that takes the fewest edits to reach; known is not empty.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

}  // namespace asg::tools
