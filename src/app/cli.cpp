#include "asg/app/cli.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "asg/app/policy.hpp"
#include "asg/app/supervisor.hpp"
#include "asg/base/log.hpp"
#include "asg/config/endpoint.hpp"
#include "asg/config/load.hpp"

namespace asg::app {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr const char* kDefaultFile = "/etc/asg-sandbox/asg-sandbox.toml";

struct Options {
  std::optional<std::string> file;
  std::optional<std::string> listen;
};

/// The file that was named, else the installed one where there is one.
std::optional<std::filesystem::path> config_file(const Options& options) {
  if (options.file) return *options.file;
  std::error_code ignored;
  if (std::filesystem::exists(kDefaultFile, ignored)) return kDefaultFile;
  return std::nullopt;
}

std::optional<config::Config> load(const Options& options) {
  auto config = config::load(config_file(options));
  if (!config) {
    for (const auto& problem : config.error()) std::fprintf(stderr, "%s\n", problem.to_string().c_str());
    return std::nullopt;
  }
  if (options.listen) {
    auto endpoint = config::parse_endpoint(*options.listen);
    if (!endpoint) {
      std::fprintf(stderr, "--listen: %s\n", endpoint.error().to_string().c_str());
      return std::nullopt;
    }
    config->server.listen = *options.listen;
  }
  return *config;
}

int start(const config::Config& config, Mode mode) {
  auto level = parse_log_level(config.log.level);
  auto format = parse_log_format(config.log.format);
  LogSettings settings;
  // `check` speaks by its table: only what went wrong stands beside it.
  settings.level = mode == Mode::check ? LogLevel::error : level.value_or(LogLevel::info);
  settings.format = format.value_or(LogFormat::text);
  const Logger log = init_log(settings);
  return supervise(config, mode, log);
}

}  // namespace

int run_cli(int argc, char** argv) {
  CLI::App app("asg-sandbox: runs untrusted Python and JavaScript for MCP clients, each call in its own sandbox", "asg-sandbox");
  app.set_version_flag("--version", std::string("asg-sandbox ") + ASG_VERSION);
  app.require_subcommand(1);
  Options options;
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = app.add_subcommand(name, help);
    command->add_option("--config", options.file, "configuration file (TOML)");
    return command;
  };
  CLI::App* serve = add("serve", "serve MCP over HTTP");
  serve->add_option("--listen", options.listen, "ADDR:PORT, instead of server.listen");
  CLI::App* stdio = add("stdio", "serve MCP over standard input and output");
  CLI::App* check = add("check", "probe this host: one line for each promise");
  CLI::App* print_config = add("print-config", "every key with its value and default");
  add("print-policy", "mounts, limits and system call filter of a sandbox");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  const auto config = load(options);
  if (!config) return kFailure;
  if (serve->parsed()) return start(*config, Mode::serve);
  if (stdio->parsed()) return start(*config, Mode::stdio);
  if (check->parsed()) return start(*config, Mode::check);
  const std::string text = print_config->parsed() ? config::print_config(*config) : describe_policy(*config);
  return std::fputs(text.c_str(), stdout) < 0 ? kFailure : 0;
}

}  // namespace asg::app
