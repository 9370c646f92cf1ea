#pragma once
// How a setting of each kind is read from TOML, printed as TOML, and how its range is said. A codec has read (the
// value, or words that follow the key: "must be ..."), print and range.

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace asg::config {

template <class T>
using Decoded = std::expected<T, std::string>;

/// Any text.
struct Text {
  [[nodiscard]] Decoded<std::string> read(const toml::node& node) const;
  [[nodiscard]] std::string print(const std::string& value) const;
  [[nodiscard]] std::string range() const { return {}; }
};

/// ADDR:PORT or [v6]:PORT.
struct ListenAddress {
  [[nodiscard]] Decoded<std::string> read(const toml::node& node) const;
  [[nodiscard]] std::string print(const std::string& value) const { return Text{}.print(value); }
  [[nodiscard]] std::string range() const { return {}; }
};

/// One of some words.
struct Choice {
  std::vector<std::string_view> words;
  [[nodiscard]] Decoded<std::string> read(const toml::node& node) const;
  [[nodiscard]] std::string print(const std::string& value) const { return Text{}.print(value); }
  [[nodiscard]] std::string range() const;
};

/// A list of texts.
struct TextList {
  [[nodiscard]] Decoded<std::vector<std::string>> read(const toml::node& node) const;
  [[nodiscard]] std::string print(const std::vector<std::string>& values) const;
  [[nodiscard]] std::string range() const { return {}; }
};

/// A list of some of the words.
struct ChoiceList {
  std::vector<std::string_view> words;
  [[nodiscard]] Decoded<std::vector<std::string>> read(const toml::node& node) const;
  [[nodiscard]] std::string print(const std::vector<std::string>& values) const { return TextList{}.print(values); }
  [[nodiscard]] std::string range() const;
};

/// A whole number in [min, max].
struct Integer {
  std::uint64_t min;
  std::uint64_t max;
  [[nodiscard]] Decoded<std::uint64_t> read(const toml::node& node) const;
  [[nodiscard]] std::string print(std::uint64_t value) const { return std::to_string(value); }
  [[nodiscard]] std::string range() const;
};

/// A size in [min, max]: a number of bytes, or text such as "512MiB".
struct Bytes {
  std::uint64_t min;
  std::uint64_t max;
  [[nodiscard]] Decoded<std::uint64_t> read(const toml::node& node) const;
  [[nodiscard]] std::string print(std::uint64_t value) const;
  [[nodiscard]] std::string range() const;
};

/// Whole seconds in [min, max]; the key's name ends in _seconds.
struct Seconds {
  std::uint64_t min;
  std::uint64_t max;
  [[nodiscard]] Decoded<std::chrono::seconds> read(const toml::node& node) const;
  [[nodiscard]] std::string print(std::chrono::seconds value) const { return std::to_string(value.count()); }
  [[nodiscard]] std::string range() const { return Integer{min, max}.range(); }
};

/// A number with or without a fraction in [min, max].
struct Number {
  double min;
  double max;
  [[nodiscard]] Decoded<double> read(const toml::node& node) const;
  [[nodiscard]] std::string print(double value) const;
  [[nodiscard]] std::string range() const;
};

/// true or false.
struct Flag {
  [[nodiscard]] Decoded<bool> read(const toml::node& node) const;
  [[nodiscard]] std::string print(bool value) const { return value ? "true" : "false"; }
  [[nodiscard]] std::string range() const { return {}; }
};

}  // namespace asg::config
