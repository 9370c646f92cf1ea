#include "codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "asg/config/endpoint.hpp"

namespace asg::config {
namespace {

constexpr std::array kUnits = {std::pair{std::string_view("GiB"), std::uint64_t{1} << 30},
                               std::pair{std::string_view("MiB"), std::uint64_t{1} << 20},
                               std::pair{std::string_view("KiB"), std::uint64_t{1} << 10},
                               std::pair{std::string_view("B"), std::uint64_t{1}}};

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::unexpected<std::string> wrong_type(std::string_view wanted, const toml::node& node) {
  return std::unexpected(fmt::format("must be {}, not {}", wanted, type_name(node)));
}

std::string joined(const std::vector<std::string_view>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

bool among(const std::vector<std::string_view>& words, std::string_view text) {
  return std::ranges::find(words, text) != words.end();
}

// "512MiB" -> 536870912; nothing when it is no size or does not fit.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  for (const auto& [name, factor] : kUnits) {
    std::uint64_t bytes = 0;
    if (name == unit && !__builtin_mul_overflow(count, factor, &bytes)) return bytes;
  }
  return std::nullopt;
}

std::string size_text(std::uint64_t bytes) {
  for (const auto& [name, factor] : kUnits) {
    if (bytes != 0 && bytes % factor == 0 && factor > 1) return fmt::format("{}{}", bytes / factor, name);
  }
  return std::to_string(bytes);
}

}  // namespace

Decoded<std::string> Text::read(const toml::node& node) const {
  if (const auto value = node.value_exact<std::string>()) return *value;
  return wrong_type("text", node);
}

std::string Text::print(const std::string& value) const {
  std::ostringstream out;
  // Without flags a line break would become a block of several lines, which cannot stand behind a '#'.
  out << toml::toml_formatter(toml::value<std::string>(value), toml::format_flags::none);
  return std::move(out).str();
}

Decoded<std::string> ListenAddress::read(const toml::node& node) const {
  auto text = Text{}.read(node);
  if (!text) return text;
  if (const auto endpoint = parse_endpoint(*text); !endpoint) return std::unexpected(endpoint.error().message);
  return text;
}

Decoded<std::string> Choice::read(const toml::node& node) const {
  auto text = Text{}.read(node);
  if (!text || among(words, *text)) return text;
  return std::unexpected(fmt::format("must be one of {}, not {}", joined(words), Text{}.print(*text)));
}

std::string Choice::range() const {
  return "one of " + joined(words);
}

Decoded<std::vector<std::string>> TextList::read(const toml::node& node) const {
  const toml::array* array = node.as_array();
  if (array == nullptr) return wrong_type("a list of texts", node);
  std::vector<std::string> values;
  for (const toml::node& element : *array) {
    const auto value = element.value_exact<std::string>();
    if (!value) return std::unexpected(fmt::format("must be a list of texts, but holds {}", type_name(element)));
    values.push_back(*value);
  }
  return values;
}

std::string TextList::print(const std::vector<std::string>& values) const {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ", ";
    out += Text{}.print(value);
  }
  return out + "]";
}

Decoded<std::vector<std::string>> ChoiceList::read(const toml::node& node) const {
  auto values = TextList{}.read(node);
  if (!values) return values;
  for (const std::string& value : *values) {
    if (among(words, value)) continue;
    return std::unexpected(fmt::format("must hold only {}, not {}", joined(words), Text{}.print(value)));
  }
  return values;
}

std::string ChoiceList::range() const {
  return "any of " + joined(words);
}

Decoded<std::uint64_t> Integer::read(const toml::node& node) const {
  const auto value = node.value_exact<std::int64_t>();
  if (!value) return wrong_type("a whole number", node);
  if (std::cmp_less(*value, min) || std::cmp_greater(*value, max)) {
    return std::unexpected(fmt::format("must be {}, not {}", range(), *value));
  }
  return static_cast<std::uint64_t>(*value);
}

std::string Integer::range() const {
  return fmt::format("{} to {}", min, max);
}

Decoded<std::uint64_t> Bytes::read(const toml::node& node) const {
  std::optional<std::uint64_t> bytes;
  std::string given;
  if (const auto text = node.value_exact<std::string>()) {
    given = Text{}.print(*text);
    bytes = parse_size(*text);
  } else if (const auto number = node.value_exact<std::int64_t>()) {
    given = std::to_string(*number);
    if (*number >= 0) bytes = static_cast<std::uint64_t>(*number);
  } else {
    return wrong_type("a size such as 1048576 or \"512MiB\"", node);
  }
  if (!bytes) {
    return std::unexpected(
        fmt::format("must be a size such as 1048576 or \"512MiB\" (B, KiB, MiB, GiB), not {}", given));
  }
  if (*bytes < min || *bytes > max) return std::unexpected(fmt::format("must be {}, not {}", range(), given));
  return *bytes;
}

std::string Bytes::print(std::uint64_t value) const {
  const std::string text = size_text(value);
  return text.ends_with('B') ? Text{}.print(text) : text;
}

std::string Bytes::range() const {
  return fmt::format("{} to {}", size_text(min), size_text(max));
}

Decoded<std::chrono::seconds> Seconds::read(const toml::node& node) const {
  const auto value = Integer{min, max}.read(node);
  if (!value) return std::unexpected(value.error());
  return std::chrono::seconds(*value);
}

Decoded<double> Number::read(const toml::node& node) const {
  std::optional<double> value = node.value_exact<double>();
  if (const auto whole = node.value_exact<std::int64_t>()) value = static_cast<double>(*whole);
  if (!value) return wrong_type("a number", node);
  if (std::isnan(*value) || *value < min || *value > max) {
    return std::unexpected(fmt::format("must be {}, not {}", range(), *value));
  }
  return *value;
}

std::string Number::print(double value) const {
  return fmt::format("{}", value);
}

std::string Number::range() const {
  return fmt::format("{} to {}", min, max);
}

Decoded<bool> Flag::read(const toml::node& node) const {
  if (const auto value = node.value_exact<bool>()) return *value;
  return wrong_type("true or false", node);
}

}  // namespace asg::config
