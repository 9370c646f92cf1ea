#include "asg/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace asg {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

/// A log into memory instead of standard error.
class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override {
    std::fclose(file_);
    std::free(data_);
  }

  Logger open(LogFormat format, LogLevel level = LogLevel::info) {
    return init_log({.level = level, .format = format, .file = file_});
  }
  std::string written() {
    std::fflush(file_);
    return {data_, size_};
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_ = open_memstream(&data_, &size_);
};

TEST_F(LogTest, TextLine) {
  const Logger log = open(LogFormat::text).named("http");
  log_event(log, LogLevel::info, "call",
            {{"id", 7}, {"tool", "sandbox_execute"}, {"outcome", std::string("exited")}, {"ms", 1.5}, {"ok", true}});
  EXPECT_THAT(written(), MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z info http "
                                      "call id=7 tool=sandbox_execute outcome=exited ms=1.5 ok=true\n"));
}

TEST_F(LogTest, JsonLine) {
  const Logger log = open(LogFormat::json).named("http");
  log_event(log, LogLevel::warn, "call", {{"id", -7}, {"tool", "x"}, {"ms", 1.5}, {"ok", false}});
  const auto line = nlohmann::json::parse(written());
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["logger"], "http");
  EXPECT_EQ(line["event"], "call");
  EXPECT_EQ(line["id"], -7);
  EXPECT_EQ(line["ms"], 1.5);
  EXPECT_EQ(line["ok"], false);
  EXPECT_THAT(line["time"].get<std::string>(), EndsWith("Z"));
}

TEST_F(LogTest, NumbersKeepTheirWholeRange) {
  const Logger log = open(LogFormat::json);
  log_event(log, LogLevel::info, "n",
            {{"big", std::numeric_limits<std::uint64_t>::max()},
             {"small", std::numeric_limits<std::int64_t>::min()},
             {"nan", std::numeric_limits<double>::quiet_NaN()}});
  const auto line = nlohmann::json::parse(written());
  EXPECT_EQ(line["big"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(line["small"], std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(line["nan"].is_null());
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
  const Logger log = open(LogFormat::text, LogLevel::warn);
  EXPECT_FALSE(log.enabled(LogLevel::info));
  EXPECT_TRUE(log.enabled(LogLevel::error));
  log_event(log, LogLevel::info, "quiet");
  EXPECT_EQ(written(), "");
}

TEST_F(LogTest, ALogMadeWithoutInitDropsEverything) {
  const Logger log;
  EXPECT_FALSE(log.enabled(LogLevel::error));
  log_event(log.named("x"), LogLevel::error, "nothing");
}

TEST_F(LogTest, NoValueCanEndALineOrStartAField) {
  const std::string hostile = "a b=c\"d\\e\n2025-01-01 info http call id=1\r\x1b[31m\x7f";
  log_event(open(LogFormat::text), LogLevel::info, "call", {{"tool", hostile}, {"empty", ""}});
  const std::string line = written();
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr(R"(call tool="a b=c\"d\\e\n2025-01-01 info http call id=1\r\u001b[31m\u007f" empty="")"));
}

TEST_F(LogTest, EveryByteComesBackFromJson) {
  std::string ascii;
  for (int c = 0; c < 128; ++c) ascii.push_back(static_cast<char>(c));
  log_event(open(LogFormat::json), LogLevel::info, "call", {{"all", ascii}, {"percent", "{} %s %v"}});
  const auto line = nlohmann::json::parse(written());
  EXPECT_EQ(line["all"], ascii);
  EXPECT_EQ(line["percent"], "{} %s %v");
}

TEST_F(LogTest, TextBeyondAsciiIsEscapedAndBadBytesAreReplaced) {
  const Logger log = open(LogFormat::text);
  log_event(log, LogLevel::info, "call", {{"right_to_left", "\u202e"}, {"emoji", "\U0001F388"}, {"bad", "\xff\xfe"}});
  EXPECT_THAT(written(), HasSubstr(R"(right_to_left="\u202e" emoji="\ud83c\udf88" bad="\ufffd\ufffd")"));
}

TEST_F(LogTest, LongValuesAreCut) {
  log_event(open(LogFormat::json), LogLevel::info, "call", {{"agent", std::string(100'000, 'x')}});
  const auto line = nlohmann::json::parse(written());
  EXPECT_EQ(line["agent"].get<std::string>(), std::string(1024, 'x') + "...");
}

TEST_F(LogTest, ACutInsideACharacterStaysJson) {
  log_event(open(LogFormat::json), LogLevel::info, "call", {{"agent", std::string(1023, 'x') + "\u00e9\u00e9"}});
  EXPECT_THAT(nlohmann::json::parse(written())["agent"].get<std::string>(), EndsWith("x\ufffd..."));
}

TEST_F(LogTest, TheEventIsWrittenAsItStands) {
  log_event(open(LogFormat::text), LogLevel::info, "drained");
  EXPECT_THAT(written(), EndsWith("info asg drained\n"));
  EXPECT_THAT(written(), Not(HasSubstr("{}")));
}

TEST(LogNames, LevelsAndFormats) {
  EXPECT_EQ(parse_log_level("trace").value(), LogLevel::trace);
  EXPECT_EQ(parse_log_level("error").value(), LogLevel::error);
  EXPECT_EQ(parse_log_level("INFO").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_log_format("json").value(), LogFormat::json);
  EXPECT_FALSE(parse_log_format("xml").has_value());
}

}  // namespace
}  // namespace asg
