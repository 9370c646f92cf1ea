#include "asg/base/log.hpp"

#include <spdlog/details/console_globals.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace asg {
namespace {

// Longest text of one field, in bytes: a peer chooses some values, and may not choose the size of our lines.
constexpr std::size_t kMaxTextBytes = 1024;

// The line around our own text (%v), in UTC. The logger's name is a constant of ours, so it needs no escapes.
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %l %n %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","logger":"%n",%v})";

constexpr std::array kLevelNames = {
    std::pair{std::string_view("trace"), LogLevel::trace}, std::pair{std::string_view("debug"), LogLevel::debug},
    std::pair{std::string_view("info"), LogLevel::info}, std::pair{std::string_view("warn"), LogLevel::warn},
    std::pair{std::string_view("error"), LogLevel::error}};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// A JSON string in plain ASCII: control characters, quotes and everything beyond ASCII (bidirectional marks, line
// separators) escaped, bytes that are no UTF-8 replaced. Text lines use the same form.
std::string quoted(std::string_view text) {
  const nlohmann::json value(std::string(text.substr(0, kMaxTextBytes)));
  std::string out = value.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxTextBytes) out.insert(out.size() - 1, "...");
  return out;
}

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-.:/@+%[],").contains(c);
}

bool needs_quotes(std::string_view text) {
  return text.empty() || text.size() > kMaxTextBytes || !std::ranges::all_of(text, is_plain);
}

std::string number(double value) {
  return nlohmann::json(value).dump();
}  // "null" for what JSON cannot say

std::string render(const LogField::Value& value, LogFormat format) {
  return std::visit(
      [format](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string_view>) {
          return format == LogFormat::text && !needs_quotes(held) ? std::string(held) : quoted(held);
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, double>) {
          return number(held);
        } else {
          return std::to_string(held);
        }
      },
      value);
}

std::string render_line(LogFormat format, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line;
  if (format == LogFormat::text) {
    line = event;
    for (const LogField& field : fields) {
      line.append(" ").append(field.key()).append("=").append(render(field.value(), format));
    }
  } else {
    line = "\"event\":" + quoted(event);
    for (const LogField& field : fields) {
      line.append(",").append(quoted(field.key())).append(":").append(render(field.value(), format));
    }
  }
  return line;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view name) {
  for (const auto& [known, level] : kLevelNames) {
    if (known == name) return level;
  }
  return fail(ErrorCode::invalid_argument, "log level must be trace, debug, info, warn or error");
}

Result<LogFormat> parse_log_format(std::string_view name) {
  if (name == "text") return LogFormat::text;
  if (name == "json") return LogFormat::json;
  return fail(ErrorCode::invalid_argument, "log format must be text or json");
}

Logger init_log(const LogSettings& settings) {
  using Sink = spdlog::sinks::stdout_sink_base<spdlog::details::console_mutex>;
  auto sink = std::make_shared<Sink>(settings.file);
  sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      settings.format == LogFormat::text ? kTextPattern : kJsonPattern, spdlog::pattern_time_type::utc));
  auto impl = std::make_shared<spdlog::logger>("asg", std::move(sink));
  impl->set_level(to_spdlog(settings.level));
  impl->flush_on(spdlog::level::trace);
  return Logger(std::move(impl), settings.format);
}

Logger Logger::named(const std::string& name) const {
  if (!impl_) return {};
  return Logger(impl_->clone(name), format_);
}

bool Logger::enabled(LogLevel level) const {
  return impl_ && impl_->should_log(to_spdlog(level));
}

void log_event(const Logger& logger, LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!logger.enabled(level)) return;
  try {
    // As an argument, never as the format: the line may hold braces.
    logger.impl_->log(to_spdlog(level), "{}", render_line(logger.format_, event, fields));
  } catch (const std::exception&) {
    // A line that cannot be written (no memory, closed stream) must not end a call.
  }
}

}  // namespace asg
