#include "asg/config/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asg::config {
namespace {

TEST(Endpoint, ReadsAndPrints) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:65535", "[::]:80"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint.has_value()) << text;
    EXPECT_EQ(endpoint->to_string(), text);
  }
  EXPECT_EQ(parse_endpoint("[fe80::1]:22")->address, "fe80::1");
  EXPECT_EQ(parse_endpoint("[fe80::1]:22")->port, 22);
}

TEST(Endpoint, RefusesWhatIsNoLiteralAddressAndPort) {
  for (const char* text : {"", ":", "127.0.0.1", "127.0.0.1:", ":8080", "localhost:8080", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:80 ", " 127.0.0.1:80", "127.0.0.1:0x50", "::1:80", "[::1]80",
                           "[127.0.0.1]:80", "[::1:80", "256.0.0.1:80"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_FALSE(endpoint.has_value()) << text;
    EXPECT_EQ(endpoint.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(endpoint.error().message, ::testing::HasSubstr("ADDR:PORT"));
  }
}

}  // namespace
}  // namespace asg::config
