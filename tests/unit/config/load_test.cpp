#include "asg/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/temp_dir.hpp"

namespace asg::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The problems of a text, as printed; empty when it loads.
std::vector<std::string> problems(const std::string& text) {
  std::vector<std::string> lines;
  const auto loaded = parse(text, "f");
  if (!loaded) {
    for (const Problem& problem : loaded.error()) lines.push_back(problem.to_string());
  }
  return lines;
}

TEST(Load, NoFileGivesTheDefaults) {
  const auto config = load(std::nullopt);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(print_config(*config), print_config(Config{}));
}

TEST(Load, EmptyTextGivesTheDefaults) {
  EXPECT_THAT(problems(""), IsEmpty());
  EXPECT_THAT(problems("[server]\n[limits]\n"), IsEmpty());
}

TEST(Load, ValuesOfEveryKind) {
  const auto config = parse(R"(
limits.cpus = 0.5
limits.memory_bytes = "1GiB"
limits.files_bytes = 1048576
[server]
listen = "0.0.0.0:9000"
allowed_hosts = ["sandbox.example", "10.0.0.1"]
drain_seconds = 5
max_connections = 10
[sandbox]
require = []
[log]
level = "debug"
)",
                            "f");
  ASSERT_TRUE(config.has_value()) << config.error().front().to_string();
  EXPECT_EQ(config->server.listen, "0.0.0.0:9000");
  EXPECT_THAT(config->server.allowed_hosts, ElementsAre("sandbox.example", "10.0.0.1"));
  EXPECT_EQ(config->server.drain, std::chrono::seconds(5));
  EXPECT_EQ(config->server.max_connections, 10U);
  EXPECT_EQ(config->limits.cpus, 0.5);
  EXPECT_EQ(config->limits.memory_bytes, 1ULL << 30);
  EXPECT_EQ(config->limits.files_bytes, 1ULL << 20);
  EXPECT_THAT(config->sandbox.require, IsEmpty());
  EXPECT_EQ(config->log.level, "debug");
  EXPECT_EQ(config->log.format, "text");
}

TEST(Load, AllProblemsAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(problems("[server]\n"
                       "listen = 8080\n"
                       "max_conections = 5\n"
                       "  drain_seconds = -1\n"
                       "[limits]\n"
                       "cpus = \"two\"\n"
                       "[log]\n"
                       "level = \"loud\"\n"),
              ElementsAre("f:2:10: server.listen: must be text, not a whole number",
                          "f:3:1: server.max_conections: unknown key; the nearest known one is server.max_connections",
                          "f:4:19: server.drain_seconds: must be 0 to 3600, not -1",
                          "f:6:8: limits.cpus: must be a number, not text",
                          StartsWith("f:8:9: log.level: must be one of trace, debug, info, warn, error, not ")));
}

TEST(Load, UnknownKeysNameTheNearestOne) {
  EXPECT_THAT(problems("[limits]\ntimeout_seconds = 3\n"), ElementsAre(HasSubstr("nearest known one is limits.")));
  EXPECT_THAT(problems("[server]\nmemory_bytes = 3\n"),
              ElementsAre(HasSubstr("nearest known one is limits.memory_bytes")));
  EXPECT_THAT(problems("[sevrer]\nlisten = 1\n"),
              ElementsAre("f:1:2: sevrer: unknown section; the nearest known one is [server]"));
  EXPECT_THAT(problems("listen = 1\n"), ElementsAre(HasSubstr("f:1:1: listen: unknown key outside a section")));
  EXPECT_THAT(problems("server = 1\n"), ElementsAre("f:1:1: server: must be a section: [server]"));
}

TEST(Load, FaultsOfTheLanguageHaveTheirPlace) {
  EXPECT_THAT(problems("[server]\nlisten = \n"), ElementsAre(StartsWith("f:2:")));
  EXPECT_THAT(problems("[server]\nlisten = \"a:1\"\nlisten = \"b:1\"\n"), ElementsAre(StartsWith("f:3:")));
  EXPECT_THAT(problems("\xff"), ElementsAre(StartsWith("f:1:")));
}

TEST(Load, RulesBetweenSettings) {
  EXPECT_THAT(problems("[limits]\nmax_timeout_seconds = 10\n"),
              ElementsAre("f:2:1: limits.default_timeout_seconds: must not be above limits.max_timeout_seconds"));
  EXPECT_THAT(problems("[limits]\nfiles_bytes = \"512MiB\"\n"),
              ElementsAre(StartsWith("f:2:1: limits.files_bytes: must be below limits.memory_bytes")));
  EXPECT_THAT(problems("[limits]\nfiles_bytes = \"511MiB\"\n"), IsEmpty());
  EXPECT_THAT(problems("[sandbox]\nuid_base = 4294967290\nuid_count = 5\n"), IsEmpty());
  EXPECT_THAT(problems("[sandbox]\nuid_base = 4294967290\nuid_count = 6\n"),
              ElementsAre(HasSubstr("sandbox.uid_base")));
}

TEST(Load, ARuleIsNotBlamedForAWrongValue) {
  EXPECT_THAT(problems("[limits]\nmax_timeout_seconds = \"10\"\ndefault_timeout_seconds = 1000\n"),
              ElementsAre(HasSubstr("limits.max_timeout_seconds: must be a number")));
}

TEST(Load, FilesThatCannotBeRead) {
  const test::TempDir dir;
  const auto missing = load(dir.path() / "none.toml");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().front().to_string(), HasSubstr("none.toml: cannot be read: No such file"));
  const auto directory = load(dir.path());
  ASSERT_FALSE(directory.has_value());
  EXPECT_THAT(directory.error().front().to_string(), HasSubstr("Is a directory"));
}

TEST(Load, FilesAreNamedInTheirProblems) {
  const test::TempDir dir;
  EXPECT_TRUE(load(dir.write("empty.toml", "")).has_value());
  EXPECT_TRUE(load(dir.write("bom.toml", "\xEF\xBB\xBF[server]\r\nlisten = \"127.0.0.1:1\"\r\n")).has_value());
  const auto bad = load(dir.write("bad.toml", "[server]\nlisten = 1\n"));
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().front().to_string(),
            (dir.path() / "bad.toml").string() + ":2:10: server.listen: must be text, not a whole number");
}

}  // namespace
}  // namespace asg::config
