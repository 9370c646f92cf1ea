#include "http/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asg::http {
namespace {

using ::testing::HasSubstr;

// printf %s secret | sha256sum
const std::string kSecret = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
const std::string kOther = "81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9";

TEST(Keys, AreFoundByTheirHash) {
  const auto keys = Keys::parse("# callers\n\nalice " + kSecret + "\r\n bob\t" + kOther + "\n");
  ASSERT_TRUE(keys.has_value()) << keys.error().to_string();
  EXPECT_EQ(keys->size(), 2U);
  EXPECT_EQ(keys->find("secret"), "alice");
  EXPECT_EQ(keys->find("Secret"), std::nullopt);
  EXPECT_EQ(keys->find(""), std::nullopt);
  EXPECT_EQ(keys->find(kSecret), std::nullopt);  // the hash is no key
}

TEST(Keys, AnIdMayHaveSeveral) {
  const auto keys = Keys::parse("alice " + kOther + "\nalice " + kSecret);
  ASSERT_TRUE(keys.has_value());
  EXPECT_EQ(keys->find("secret"), "alice");
}

TEST(Keys, BadLinesAreNamedWithoutTheirContent) {
  for (const std::string& line : {std::string("alice"), "alice " + kSecret + "0", "alice z" + kSecret.substr(1), "al/ice " + kSecret,
                                  std::string(65, 'a') + " " + kSecret, std::string("alice secret")}) {
    const auto keys = Keys::parse("ok " + kOther + "\n" + line);
    ASSERT_FALSE(keys.has_value()) << line;
    EXPECT_THAT(keys.error().message, HasSubstr("line 2"));
    EXPECT_THAT(keys.error().message, ::testing::Not(HasSubstr("secret\"")));
  }
}

TEST(Keys, NoneAtAllIsAMistake) { EXPECT_FALSE(Keys::parse("# nobody\n").has_value()); }

}  // namespace
}  // namespace asg::http
