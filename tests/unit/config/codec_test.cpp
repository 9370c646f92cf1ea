#include "config/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <chrono>
#include <string>
#include <utility>

namespace asg::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What the codec says to the TOML value.
template <class Codec>
auto read(const Codec& codec, const std::string& value) {
  const toml::table table = toml::parse("v = " + value);
  return codec.read(*table.get("v"));
}

/// Whether a value comes back after print.
template <class Codec, class Value>
bool round_trip(const Codec& codec, const Value& value) {
  return read(codec, codec.print(value)).value() == value;
}

TEST(Codec, Text) {
  EXPECT_EQ(read(Text{}, R"("a\nb")").value(), "a\nb");
  EXPECT_EQ(read(Text{}, "1").error(), "must be text, not a whole number");
  for (const std::string value : {"", "plain", "it's \"q\" \\ back", "two\nlines", "\t\x7f", "h\u00e9llo \U0001F388"}) {
    EXPECT_TRUE(round_trip(Text{}, value)) << value;
    EXPECT_EQ(Text{}.print(value).find('\n'), std::string::npos) << value;
  }
}

TEST(Codec, ListenAddress) {
  EXPECT_EQ(read(ListenAddress{}, R"("[::1]:0")").value(), "[::1]:0");
  EXPECT_THAT(read(ListenAddress{}, R"("here:80")").error(), HasSubstr("must be ADDR:PORT"));
  EXPECT_THAT(read(ListenAddress{}, "8080").error(), HasSubstr("must be text"));
}

TEST(Codec, Choice) {
  const Choice codec{{"text", "json"}};
  EXPECT_EQ(read(codec, R"("json")").value(), "json");
  const std::string error = read(codec, R"("JSON")").error();
  EXPECT_THAT(error, HasSubstr("must be one of text, json"));
  EXPECT_THAT(error, HasSubstr("JSON"));
}

TEST(Codec, Lists) {
  EXPECT_THAT(read(TextList{}, R"(["a", "b"])").value(), ElementsAre("a", "b"));
  EXPECT_THAT(read(TextList{}, "[]").value(), IsEmpty());
  EXPECT_EQ(read(TextList{}, R"("a")").error(), "must be a list of texts, not text");
  EXPECT_EQ(read(TextList{}, R"(["a", 1])").error(), "must be a list of texts, but holds a whole number");
  EXPECT_TRUE(round_trip(TextList{}, std::vector<std::string>{"a,b", "\"]"}));
  EXPECT_TRUE(round_trip(TextList{}, std::vector<std::string>{}));
  const ChoiceList choice{{"memory", "cpu"}};
  EXPECT_THAT(read(choice, R"(["cpu"])").value(), ElementsAre("cpu"));
  EXPECT_THAT(read(choice, R"(["cpus"])").error(), HasSubstr("must hold only memory, cpu"));
}

TEST(Codec, Integer) {
  const Integer codec{2, 10};
  EXPECT_EQ(read(codec, "2").value(), 2U);
  EXPECT_EQ(read(codec, "10").value(), 10U);
  EXPECT_EQ(read(codec, "0x0A").value(), 10U);
  EXPECT_EQ(read(codec, "1").error(), "must be 2 to 10, not 1");
  EXPECT_EQ(read(codec, "11").error(), "must be 2 to 10, not 11");
  EXPECT_EQ(read(codec, "-3").error(), "must be 2 to 10, not -3");
  EXPECT_EQ(read(codec, "3.0").error(), "must be a whole number, not a number with a fraction");
  EXPECT_EQ(read(codec, R"("3")").error(), "must be a whole number, not text");
  EXPECT_EQ(read(codec, "true").error(), "must be a whole number, not true or false");
  EXPECT_EQ(read(codec, "2024-02-29").error(), "must be a whole number, not a date or time");
  EXPECT_EQ(read(codec, "{}").error(), "must be a whole number, not a table");
}

TEST(Codec, BytesAsNumberOrText) {
  const Bytes codec{1, std::uint64_t{1} << 40};
  EXPECT_EQ(read(codec, "1_000").value(), 1000U);
  EXPECT_EQ(read(codec, R"("7B")").value(), 7U);
  EXPECT_EQ(read(codec, R"("4KiB")").value(), 4096U);
  EXPECT_EQ(read(codec, R"("512MiB")").value(), 512ULL << 20);
  EXPECT_EQ(read(codec, R"("3GiB")").value(), 3ULL << 30);
}

TEST(Codec, BytesRefused) {
  const Bytes codec{1024, std::uint64_t{1} << 30};
  for (const char* text : {R"("")", R"("2048")", R"("MiB")", R"("1MB")", R"("1 MiB")", R"("1.5MiB")", R"("-1MiB")",
                           R"("1MiBs")", R"("99999999999999999999B")", R"("18446744073709551615GiB")", "-1"}) {
    EXPECT_THAT(read(codec, text).error(), HasSubstr("must be a size such as")) << text;
  }
  EXPECT_EQ(read(codec, "1000").error(), "must be 1KiB to 1GiB, not 1000");
  EXPECT_THAT(read(codec, R"("2GiB")").error(), HasSubstr("must be 1KiB to 1GiB"));
  EXPECT_THAT(read(codec, "1.5").error(), HasSubstr("not a number with a fraction"));
}

TEST(Codec, BytesPrintWithTheLargestWholeUnit) {
  const Bytes codec{0, ~std::uint64_t{0}};
  EXPECT_EQ(codec.print(0), "0");
  EXPECT_EQ(codec.print(1000), "1000");
  for (const std::uint64_t value : {0ULL, 1ULL, 1024ULL, 1536ULL, 512ULL << 20, 5ULL << 30, (1ULL << 30) + 1}) {
    EXPECT_TRUE(round_trip(codec, value)) << value;
  }
  EXPECT_THAT(codec.print(512ULL << 20), HasSubstr("512MiB"));
}

TEST(Codec, Seconds) {
  const Seconds codec{0, 60};
  EXPECT_EQ(read(codec, "0").value(), std::chrono::seconds(0));
  EXPECT_EQ(read(codec, "61").error(), "must be 0 to 60, not 61");
  EXPECT_THAT(read(codec, R"("20s")").error(), HasSubstr("must be a whole number"));
  EXPECT_TRUE(round_trip(codec, std::chrono::seconds(33)));
}

TEST(Codec, Number) {
  const Number codec{0.25, 8};
  EXPECT_EQ(read(codec, "0.5").value(), 0.5);
  EXPECT_EQ(read(codec, "2").value(), 2.0);
  EXPECT_EQ(read(codec, "0.2").error(), "must be 0.25 to 8, not 0.2");
  EXPECT_THAT(read(codec, "nan").error(), HasSubstr("must be 0.25 to 8"));
  EXPECT_THAT(read(codec, "inf").error(), HasSubstr("must be 0.25 to 8"));
  EXPECT_EQ(read(codec, "true").error(), "must be a number, not true or false");
  for (const double value : {0.25, 1.0, 1.0 / 3, 8.0}) EXPECT_TRUE(round_trip(codec, value)) << value;
}

TEST(Codec, Flag) {
  EXPECT_TRUE(read(Flag{}, "true").value());
  EXPECT_EQ(read(Flag{}, "1").error(), "must be true or false, not a whole number");
  EXPECT_TRUE(round_trip(Flag{}, false));
}

}  // namespace
}  // namespace asg::config
