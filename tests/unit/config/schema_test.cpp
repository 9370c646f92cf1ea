#include "config/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "asg/config/load.hpp"

namespace asg::config {
namespace {

const std::string kShipped = ASG_SOURCE_DIR "/config/asg-sandbox.toml";

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Schema, EveryKeyIsNamedOnceAndSaysWhatItIs) {
  std::set<std::string_view> names;
  std::set<std::string_view> finished;  // sections must stand together, or print-config would write them twice
  std::string_view section;
  for (const Key& key : keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_EQ(std::ranges::count(key.name, '.'), 1) << key.name;
    EXPECT_TRUE(key.doc.ends_with('.')) << key.name;
    if (key.section() != section) {
      EXPECT_TRUE(finished.insert(key.section()).second) << key.name;
      section = key.section();
    }
  }
}

TEST(Schema, EveryRuleNamesKnownKeysAndHoldsByDefault) {
  for (const Rule& rule : rules()) {
    for (const std::string_view name : {rule.first, rule.second}) {
      EXPECT_EQ(std::ranges::count(keys(), name, &Key::name), 1) << name;
    }
    EXPECT_TRUE(rule.holds(Config{})) << rule.first;
  }
}

TEST(Schema, DefaultsAreWithinTheirOwnRanges) {
  const auto loaded = parse(print_config(Config{}), "defaults");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().front().to_string();
  EXPECT_EQ(print_config(*loaded), print_config(Config{}));
}

TEST(Schema, PrintedSettingsLoadAgain) {
  Config config;
  config.server.listen = "[::1]:0";
  config.server.allowed_hosts = {"a.example", "quote\"d"};
  config.server.drain = std::chrono::seconds(0);
  config.limits.cpus = 0.1;
  config.limits.memory_bytes = (1ULL << 30) + 1;
  config.sandbox.image = "/with space/and \\ and\nline";
  config.sandbox.require.clear();
  config.log.format = "json";
  const auto loaded = parse(print_config(config), "printed");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().front().to_string();
  EXPECT_EQ(print_config(*loaded), print_config(config));
  EXPECT_EQ(loaded->sandbox.image, config.sandbox.image);
  EXPECT_EQ(loaded->limits.memory_bytes, config.limits.memory_bytes);
  EXPECT_EQ(loaded->server.allowed_hosts, config.server.allowed_hosts);
}

// ASG_WRITE_SHIPPED=1 writes the file anew after a change of the table.
TEST(ShippedFile, IsTheTable) {
  if (const char* write = std::getenv("ASG_WRITE_SHIPPED"); write != nullptr && std::string_view(write) == "1") {
    std::ofstream(kShipped, std::ios::binary) << shipped_config();
  }
  EXPECT_EQ(read_file(kShipped), shipped_config());
}

TEST(ShippedFile, LoadsToTheDefaults) {
  const auto loaded = load(kShipped);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().front().to_string();
  EXPECT_EQ(print_config(*loaded), print_config(Config{}));
}

TEST(ShippedFile, LoadsToTheDefaultsWithEveryKeySet) {
  std::string text = read_file(kShipped);
  for (std::size_t at = text.find("\n#"); at != std::string::npos; at = text.find("\n#", at + 1)) {
    if (text[at + 2] != ' ') text.erase(at + 1, 1);  // "#key = value", not "# words"
  }
  EXPECT_THAT(text, ::testing::HasSubstr("\nlisten = "));
  const auto loaded = parse(text, "uncommented");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().front().to_string();
  EXPECT_EQ(print_config(*loaded), print_config(Config{}));
}

}  // namespace
}  // namespace asg::config
