#include "asg/executor/capture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace asg::executor {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

sandbox::Captured capture(std::size_t cap, std::string_view text, std::size_t chunk) {
  Capture stream(cap);
  for (std::size_t at = 0; at < text.size(); at += chunk) stream.append(std::span(text.substr(at, chunk)));
  return stream.finish();
}

std::string digits(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.push_back(static_cast<char>('0' + i % 10));
  return text;
}

TEST(Capture, NothingWritten) {
  Capture stream(100);
  EXPECT_EQ(stream.total(), 0U);
  const auto captured = stream.finish();
  EXPECT_EQ(captured.text, "");
  EXPECT_EQ(captured.bytes, 0U);
  EXPECT_FALSE(captured.truncated);
}

TEST(Capture, UpToTheCapNothingIsLost) {
  for (const std::size_t size : {1U, 49U, 50U, 51U, 99U, 100U}) {
    for (const std::size_t chunk : {1U, 7U, 50U, 100U}) {
      const auto captured = capture(100, digits(size), chunk);
      EXPECT_EQ(captured.text, digits(size)) << size << " in chunks of " << chunk;
      EXPECT_FALSE(captured.truncated);
      EXPECT_EQ(captured.bytes, size);
    }
  }
}

TEST(Capture, BeyondTheCapHeadMarkerAndTail) {
  const auto captured = capture(100, digits(1000), 1000);
  EXPECT_TRUE(captured.truncated);
  EXPECT_EQ(captured.bytes, 1000U);
  // 50 of the head; 100 - 50 - 31 for the marker line and the line break before it = 19 of the tail.
  EXPECT_EQ(captured.text, digits(50) + "\n[... 931 bytes left out ...]\n" + "1234567890123456789");
}

TEST(Capture, OneByteBeyondTheCapIsTruncated) {
  const auto captured = capture(100, digits(101), 10);
  EXPECT_TRUE(captured.truncated);
  EXPECT_LE(captured.text.size(), 100U);
  EXPECT_THAT(captured.text, HasSubstr("bytes left out"));
}

TEST(Capture, NoEmptyLineBeforeTheMarker) {
  const std::string line(49, 'x');
  const auto captured = capture(100, line + "\n" + digits(500), 64);
  EXPECT_THAT(captured.text, StartsWith(line + "\n[... "));
}

TEST(Capture, BinaryBytesPassUnchanged) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  EXPECT_EQ(capture(256, all, 5).text, all);
}

TEST(Capture, CutsDoNotSplitCharacters) {
  for (const std::string_view character : {"\u00e9", "\u732b", "\U0001F388"}) {
    std::string text;
    while (text.size() < 3000) text += character;
    for (std::size_t cap = 100; cap < 116; ++cap) {
      const std::string kept = capture(cap, text, 13).text;
      const std::size_t marker = kept.find('\n');
      const std::size_t tail = kept.find('\n', marker + 1) + 1;
      EXPECT_EQ(marker % character.size(), 0U) << cap;
      EXPECT_EQ((kept.size() - tail) % character.size(), 0U) << cap;
      EXPECT_EQ(kept.substr(0, character.size()), character);
      EXPECT_EQ(kept.substr(tail, character.size()), character);
    }
  }
}

TEST(Capture, ACapTooSmallForTheMarkerStillSaysSo) {
  for (std::size_t cap = 1; cap < 40; ++cap) {
    const auto captured = capture(cap, digits(10'000), 100);
    EXPECT_TRUE(captured.truncated);
    EXPECT_THAT(captured.text, HasSubstr("bytes left out ...]\n")) << cap;
    EXPECT_THAT(captured.text, EndsWith("9")) << cap;
  }
}

TEST(Capture, ASmallStreamDoesNotTakeTheCap) {
  Capture stream(std::size_t{1} << 40);  // would fail if it were allocated ahead
  stream.append(std::span(std::string_view("hello\n")));
  EXPECT_EQ(stream.finish().text, "hello\n");
}

TEST(Capture, CanBeUsedAgainAfterFinish) {
  Capture stream(10);
  stream.append(std::span(std::string_view("0123456789abcdef")));
  EXPECT_TRUE(stream.finish().truncated);
  stream.append(std::span(std::string_view("again")));
  EXPECT_EQ(stream.finish().text, "again");
}

// The whole stream in memory, cut at the end: what Capture must equal without keeping it.
std::string naive(std::string_view stream, std::size_t cap) {
  if (stream.size() <= cap) return std::string(stream);
  const auto is_rest = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; };
  std::string head(stream.substr(0, cap / 2));
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, head.size()); ++back) {
    const auto lead = static_cast<unsigned char>(head[head.size() - back]);
    if (is_rest(head[head.size() - back])) continue;
    const std::size_t wanted = lead > 0xF4 || lead < 0xC2 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (wanted > back) head.resize(head.size() - back);
    break;
  }
  std::string tail(stream.substr(stream.size() - (cap - cap / 2)));
  const std::string line_end = head.empty() || head.back() == '\n' ? "" : "\n";
  const auto marker = [](std::size_t n) { return "[... " + std::to_string(n) + " bytes left out ...]\n"; };
  const std::size_t room = line_end.size() + marker(stream.size()).size();
  if (room < tail.size()) tail.erase(0, room);
  for (int i = 0; i < 3 && !tail.empty() && is_rest(tail.front()); ++i) tail.erase(0, 1);
  return head + line_end + marker(stream.size() - head.size() - tail.size()) + tail;
}

std::string random_stream(std::mt19937& random, std::size_t size) {
  static constexpr std::string_view kPieces[] = {"a",          "\n",   "\u00e9", "\u732b",
                                                 "\U0001F388", "\x80", "\xff",   "\xf0\x9f"};
  std::string text;
  while (text.size() < size) text += kPieces[random() % std::size(kPieces)];
  return text.substr(0, size);
}

TEST(Capture, EqualsTheNaiveModelOnRandomStreams) {
  std::mt19937 random(20240229);  // fixed, so that a failure can be repeated
  for (int round = 0; round < 3000; ++round) {
    const std::size_t cap = 1 + random() % 300;
    const std::string text = random_stream(random, random() % 1200);
    Capture stream(cap);
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t chunk = std::min<std::size_t>(rest.size(), random() % 400);
      stream.append(std::span(rest.substr(0, chunk)));
      rest.remove_prefix(chunk);
    }
    EXPECT_EQ(stream.total(), text.size());
    const auto captured = stream.finish();
    ASSERT_EQ(captured.text, naive(text, cap)) << "round " << round << " cap " << cap;
    ASSERT_EQ(captured.truncated, text.size() > cap);
    ASSERT_EQ(captured.bytes, text.size());
    ASSERT_TRUE(cap <= 100 || captured.text.size() <= cap);
  }
}

}  // namespace
}  // namespace asg::executor
