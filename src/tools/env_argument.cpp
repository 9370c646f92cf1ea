#include "env_argument.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "execute_input.hpp"

namespace asg::tools {

namespace {

using std::string_view;

bool is_name(string_view name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// The loader's and the interpreters' switches would change what runs; proxies are the network policy's.
bool is_reserved(string_view name) {
  constexpr std::array<string_view, 3> kPrefixes{"LD_", "PYTHON", "NODE_"};
  constexpr std::array<string_view, 5> kProxies{"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"};
  if (name == "PATH") return true;
  if (std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](string_view prefix) { return name.starts_with(prefix); })) return true;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kProxies.begin(), kProxies.end(), lower) != kProxies.end();
}

Result<void> check_variable(const std::string& path, const std::string& name, const nlohmann::json& value) {
  if (!is_name(name)) return refuse(path, "a name starts with a letter or _ and has letters, digits and _ only");
  if (is_reserved(name)) return refuse(path, "is set by the sandbox itself");
  if (!value.is_string()) return refuse(path, "must be a string");
  if (value.get_ref<const std::string&>().find('\0') != std::string::npos) return refuse(path, "must not hold a NUL character");
  return {};
}

}  // namespace

Result<void> read_env(Fields& fields, sandbox::RunSpec& spec) {
  auto variables = fields.optional_object("env");
  if (!variables) return std::unexpected(std::move(variables.error()));
  if (*variables == nullptr) return {};
  if ((*variables)->size() > kMaxEnvVariables) {
    return refuse(fields.path("env"), "must have at most " + std::to_string(kMaxEnvVariables) + " variables");
  }
  const Fields inside(**variables, fields.path("env"));
  std::size_t bytes = 0;
  for (auto& [name, value] : (*variables)->items()) {
    if (auto checked = check_variable(inside.path(name), name, value); !checked) return checked;
    auto& text = value.get_ref<std::string&>();
    bytes += name.size() + text.size() + 2;
    spec.env.emplace_back(name, std::move(text));
  }
  if (bytes >= kMaxEnvBytes) {
    return refuse(fields.path("env"), "its size together is beyond the limit of " + std::to_string(kMaxEnvBytes) + " bytes");
  }
  return {};
}

}  // namespace asg::tools
