#include "execute_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "env_argument.hpp"
#include "features.hpp"
#include "fields.hpp"
#include "file_arguments.hpp"

namespace asg::tools {

namespace {

using nlohmann::json;
using sandbox::RunSpec;
using std::string_view;

constexpr std::array<string_view, 10> kKnown{"language", "code",  "timeout_seconds", "packages",   "stdin",
                                             "files",    "output_files", "env", "timeout_ms", "max_output_bytes"};

Result<void> read_language(Fields& fields, RunSpec& spec) {
  auto name = fields.string("language");
  if (!name) return std::unexpected(std::move(name.error()));
  if (*name == "python") {
    spec.language = sandbox::Language::python;
  } else if (*name == "javascript") {
    spec.language = sandbox::Language::javascript;
  } else {
    return refuse(fields.path("language"), "must be \"python\" or \"javascript\"");
  }
  return {};
}

Result<void> read_code(Fields& fields, RunSpec& spec) {
  auto code = fields.string("code");
  if (!code) return std::unexpected(std::move(code.error()));
  if (code->size() > kMaxCodeBytes) {
    return refuse(fields.path("code"), fmt::format("its size of {} bytes is beyond the limit of {}", code->size(), kMaxCodeBytes));
  }
  // CPython 3.11.2 would silently run the part before it.
  if (code->find('\0') != std::string::npos) return refuse(fields.path("code"), "must not hold a NUL character");
  spec.code = std::move(*code);
  return {};
}

/// Seconds within (0, max], from the field of this name; factor turns its unit into seconds.
Result<std::optional<double>> read_seconds(const Fields& fields, string_view name, double factor, double max_seconds) {
  auto value = fields.optional_number(name);
  if (!value || !*value) return value;
  if (**value <= 0) return refuse(fields.path(name), "must be greater than 0");
  if (**value * factor > max_seconds) {
    return refuse(fields.path(name), fmt::format("must be at most {}", max_seconds / factor));
  }
  return **value * factor;
}

Result<void> read_timeout(const Fields& fields, const config::Limits& limits, RunSpec& spec) {
  constexpr double kMillisecond = 0.001;
  auto seconds = read_seconds(fields, "timeout_seconds", 1.0, limits.max_timeout_seconds);
  if (!seconds) return std::unexpected(std::move(seconds.error()));
  if (auto whole = fields.optional_integer("timeout_ms"); !whole) return std::unexpected(std::move(whole.error()));
  auto milliseconds = read_seconds(fields, "timeout_ms", kMillisecond, limits.max_timeout_seconds);
  if (!milliseconds) return std::unexpected(std::move(milliseconds.error()));
  if (*seconds && *milliseconds && std::abs(**seconds - **milliseconds) >= kMillisecond) {
    return refuse(fields.path("timeout_ms"), "differs from timeout_seconds; give one of them");
  }
  const double chosen = *seconds ? **seconds : milliseconds->value_or(limits.default_timeout_seconds);
  const std::chrono::duration<double> exact(std::max(chosen, kMillisecond));
  spec.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(exact);
  return {};
}

Result<void> read_output_cap(const Fields& fields, const config::Limits& limits, RunSpec& spec) {
  spec.output_cap = limits.output_bytes;
  auto cap = fields.optional_integer("max_output_bytes");
  if (!cap) return std::unexpected(std::move(cap.error()));
  if (!*cap) return {};
  if (**cap < 1) return refuse(fields.path("max_output_bytes"), "must be at least 1");
  if (static_cast<std::uint64_t>(**cap) > limits.output_bytes) {
    return refuse(fields.path("max_output_bytes"), fmt::format("must be at most {}", limits.output_bytes));
  }
  spec.output_cap = static_cast<std::size_t>(**cap);
  return {};
}

/// Empty lists are nothing asked for and pass; so that a caller's mistake is named before what we do not have.
Result<void> read_packages(Fields& fields) {
  auto packages = fields.optional_array("packages", kMaxPackages);
  if (!packages) return std::unexpected(std::move(packages.error()));
  if (*packages == nullptr) return {};
  for (std::size_t i = 0; i < (*packages)->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", fields.path("packages"), i);
    if (!(**packages)[i].is_string()) return refuse(path, "must be a string");
    if ((**packages)[i].get_ref<const std::string&>().empty()) return refuse(path, "must not be empty");
  }
  if (!kPackagesAvailable && !(*packages)->empty()) {
    return refuse(fields.path("packages"), "installing packages is not available in this version");
  }
  return {};
}

Result<void> read_stdin(Fields& fields, RunSpec& spec) {
  auto text = fields.optional_string("stdin");
  if (!text) return std::unexpected(std::move(text.error()));
  spec.stdin_text = std::move(*text);
  return {};
}

}  // namespace

Result<RunSpec> read_execute(json& arguments, const config::Limits& limits) {
  Fields fields(arguments, "arguments");
  RunSpec spec;
  Result<void> checked = fields.only(kKnown);
  if (checked) checked = read_language(fields, spec);
  if (checked) checked = read_code(fields, spec);
  if (checked) checked = read_timeout(fields, limits, spec);
  if (checked) checked = read_output_cap(fields, limits, spec);
  if (checked) checked = read_packages(fields);
  if (checked) checked = read_stdin(fields, spec);
  if (checked) checked = read_env(fields, spec);
  if (checked) checked = read_files(fields, spec);
  if (checked) checked = read_output_files(fields, spec);
  if (!checked) return std::unexpected(std::move(checked.error()));
  return spec;
}

}  // namespace asg::tools
