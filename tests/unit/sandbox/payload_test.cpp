#include "sandbox/payload.hpp"

#include <gtest/gtest.h>

#include <string>

#include "asg/sandbox/payload_writer.hpp"

namespace asg::sandbox {
namespace {

RunSpec sample() {
  RunSpec spec;
  spec.language = Language::python;
  spec.code = "print(1)\n";
  spec.env = {{"A", "1"}, {"EMPTY", ""}, {"WITH", "a=b"}};
  spec.files = {{"data/in.bin", std::string("\0\xff\n", 3)}, {"empty", ""}};
  return spec;
}

TEST(Payload, ComesBackAsItWasWritten) {
  const std::string bytes = encode_payload(sample());
  const auto payload = decode_payload(bytes);
  ASSERT_TRUE(payload) << payload.error().to_string();
  ASSERT_EQ(payload->env.size(), 3U);
  EXPECT_STREQ(payload->env[1], "EMPTY=");
  EXPECT_STREQ(payload->env[2], "WITH=a=b");
  ASSERT_EQ(payload->files.size(), 3U);
  EXPECT_STREQ(payload->files[0].path, "main.py");
  EXPECT_EQ(std::string(payload->files[0].content, payload->files[0].size), "print(1)\n");
  EXPECT_STREQ(payload->files[1].path, "data/in.bin");
  EXPECT_EQ(std::string(payload->files[1].content, payload->files[1].size), std::string("\0\xff\n", 3));
  EXPECT_EQ(payload->files[2].size, 0U);
}

TEST(Payload, TheProgramIsNamedByItsLanguage) {
  RunSpec spec = sample();
  spec.language = Language::javascript;
  EXPECT_STREQ(decode_payload(encode_payload(spec))->files.at(0).path, "main.cjs");
}

TEST(Payload, EveryTruncationIsRefused) {
  const std::string bytes = encode_payload(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_payload(std::span(bytes.data(), size))) << size;
  }
}

TEST(Payload, WhatFollowsTheEndIsRefused) { EXPECT_FALSE(decode_payload(encode_payload(sample()) + "x")); }

TEST(Payload, EveryChangedByteIsRefusedOrStaysInside) {
  const std::string good = encode_payload(sample());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      const auto payload = decode_payload(bad);
      if (!payload) continue;
      for (const PlanFile& file : payload->files) {
        EXPECT_LE(file.content + file.size, bad.data() + bad.size());
        EXPECT_LT(std::string_view(file.path).size(), bad.size());
      }
    }
  }
}

}  // namespace
}  // namespace asg::sandbox
