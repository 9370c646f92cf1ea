#pragma once
// Structured logs: one line for each event, text or JSON, on standard error. The user's code and output never go into a
// field; a Secret cannot (secret.hpp).

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "asg/base/error.hpp"

namespace spdlog {
class logger;
}

namespace asg {

enum class LogLevel { trace, debug, info, warn, error };
enum class LogFormat { text, json };

[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view name);
[[nodiscard]] Result<LogFormat> parse_log_format(std::string_view name);

struct LogSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::FILE* file = stderr;  // not owned; must outlive every logger
};

/// One key=value of a line. Holds views: it lives as long as the log_event call that it is written in.
class LogField {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  LogField(std::string_view key, std::string_view text) : key_(key), value_(text) {}
  LogField(std::string_view key, const std::string& text) : key_(key), value_(std::string_view(text)) {}
  LogField(std::string_view key, const char* text) : key_(key), value_(std::string_view(text)) {}
  LogField(std::string_view key, std::same_as<bool> auto flag) : key_(key), value_(flag) {}
  LogField(std::string_view key, std::signed_integral auto number) : key_(key), value_(std::int64_t{number}) {}
  LogField(std::string_view key, std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>)
      : key_(key), value_(std::uint64_t{number}) {}
  LogField(std::string_view key, std::floating_point auto number) : key_(key), value_(double{number}) {}

  [[nodiscard]] std::string_view key() const { return key_; }
  [[nodiscard]] const Value& value() const { return value_; }

 private:
  std::string_view key_;
  Value value_;
};

/// The named log of one module, handed to whoever needs it. A cheap value; one made without init_log drops everything
/// (tests). Thread: any.
class Logger {
 public:
  Logger() = default;
  /// A log of the same settings under another name ("http", "executor").
  [[nodiscard]] Logger named(const std::string& name) const;
  [[nodiscard]] bool enabled(LogLevel level) const;

 private:
  friend Logger init_log(const LogSettings& settings);
  friend void log_event(const Logger& logger, LogLevel level, std::string_view event,
                        std::initializer_list<LogField> fields);
  Logger(std::shared_ptr<spdlog::logger> impl, LogFormat format) : impl_(std::move(impl)), format_(format) {}

  std::shared_ptr<spdlog::logger> impl_;
  LogFormat format_ = LogFormat::text;
};

/// The first log of the process, named "asg"; the others come from its named().
[[nodiscard]] Logger init_log(const LogSettings& settings);

/// Writes one line: log_event(log, LogLevel::info, "call", {{"id", id}, {"tool", tool}, {"ms", ms}}).
/// event and the keys are constants of ours; values may hold anything: they are quoted, escaped and cut, so that no
/// value can end the line, start a field or leave JSON. Never throws.
void log_event(const Logger& logger, LogLevel level, std::string_view event,
               std::initializer_list<LogField> fields = {});

}  // namespace asg
