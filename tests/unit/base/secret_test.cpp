#include "asg/base/secret.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "asg/base/log.hpp"

namespace asg {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};

using SecretText = Secret<std::string>;

// What the type is for: each of these ways to print it must not compile.
static_assert(Streamable<std::string> && fmt::is_formattable<std::string>::value);
static_assert(!Streamable<SecretText>);
static_assert(!fmt::is_formattable<SecretText>::value);
static_assert(!std::is_convertible_v<SecretText, std::string>);
static_assert(!std::is_convertible_v<SecretText, std::string_view>);
static_assert(std::is_constructible_v<LogField, const char*, std::string>);
static_assert(!std::is_constructible_v<LogField, const char*, SecretText>);
static_assert(!std::is_constructible_v<LogField, const char*, Secret<int>>);

TEST(Secret, RevealIsTheOnlyWayIn) {
  const SecretText secret(std::string("hunter2"));
  EXPECT_EQ(secret.reveal(), "hunter2");
  EXPECT_EQ(SecretText().reveal(), "");
}

}  // namespace
}  // namespace asg
