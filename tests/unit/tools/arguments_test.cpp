#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tools/execute_input.hpp"
#include "tools/fields.hpp"
#include "tools/file_arguments.hpp"

namespace asg::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Pair;

Result<sandbox::RunSpec> read(json arguments) { return read_execute(arguments, config::Limits{}); }

json with(const char* name, json value) {
  json arguments{{"language", "python"}, {"code", "print(1)"}};
  arguments[name] = std::move(value);
  return arguments;
}

struct Bad {
  json arguments;
  const char* words;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.words; }

class BadArguments : public ::testing::TestWithParam<Bad> {};

TEST_P(BadArguments, AreRefusedByName) {
  const auto spec = read(GetParam().arguments);
  ASSERT_FALSE(spec.has_value());
  EXPECT_EQ(spec.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(spec.error().message, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadArguments,
    ::testing::Values(
        Bad{{{"code", "x"}}, "arguments.language: is required"}, Bad{{{"language", "python"}}, "arguments.code: is required"},
        Bad{with("language", "ruby"), "arguments.language: must be \"python\" or \"javascript\""},
        Bad{with("language", "Python"), "arguments.language: "}, Bad{with("language", json::array({"python"})), "arguments.language: must be a string"},
        Bad{with("language", nullptr), "arguments.language: is required"}, Bad{with("code", 123), "arguments.code: must be a string"},
        Bad{with("code", std::string("a\0b", 3)), "NUL"}, Bad{with("code", std::string(kMaxCodeBytes + 1, 'x')), "size"},
        Bad{with("timeout_seconds", 0), "arguments.timeout_seconds: must be greater than 0"},
        Bad{with("timeout_seconds", -1), "arguments.timeout_seconds: must be greater than 0"},
        Bad{with("timeout_seconds", 300.5), "arguments.timeout_seconds: must be at most 300"},
        Bad{with("timeout_seconds", 1e300), "arguments.timeout_seconds: must be at most 300"},
        Bad{with("timeout_seconds", "30s"), "arguments.timeout_seconds: must be a number"},
        Bad{with("timeout_seconds", true), "arguments.timeout_seconds: must be a number"},
        Bad{with("timeout_seconds", json::array()), "arguments.timeout_seconds: must be a number"},
        Bad{with("timeout_ms", 0), "arguments.timeout_ms: must be greater than 0"},
        Bad{with("timeout_ms", 1.5), "arguments.timeout_ms: must be a whole number"},
        Bad{with("timeout_ms", 300001), "arguments.timeout_ms: must be at most 300000"},
        Bad{{{"language", "python"}, {"code", ""}, {"timeout_ms", 1000}, {"timeout_seconds", 2}}, "arguments.timeout_ms: differs"},
        Bad{with("max_output_bytes", 0), "arguments.max_output_bytes: must be at least 1"},
        Bad{with("max_output_bytes", 1e18), "arguments.max_output_bytes: must be at most 1048576"},
        Bad{with("max_output_bytes", false), "arguments.max_output_bytes: must be a number"},
        Bad{with("stdin", 5), "arguments.stdin: must be a string"}, Bad{with("timeout", 5), "the nearest known one is \"timeout_"},
        Bad{with("Code", "x"), "arguments.Code: unknown; the nearest known one is \"code\""},
        Bad{with("env", json::array()), "arguments.env: must be an object"}, Bad{with("env", {{"A", 1}}), "arguments.env.A: must be a string"},
        Bad{with("env", {{"1A", "x"}}), "arguments.env.1A: a name"}, Bad{with("env", {{"", "x"}}), "arguments.env.: a name"},
        Bad{with("env", {{"A=B", "x"}}), "arguments.env.A=B: a name"}, Bad{with("env", {{"\xC3\x84", "x"}}), "a name"},
        Bad{with("env", {{"A", std::string("\0", 1)}}), "NUL"}, Bad{with("env", {{"PATH", "x"}}), "arguments.env.PATH: is set by the sandbox itself"},
        Bad{with("env", {{"LD_PRELOAD", "x"}}), "set by the sandbox"}, Bad{with("env", {{"PYTHONPATH", "x"}}), "set by the sandbox"},
        Bad{with("env", {{"NODE_OPTIONS", "x"}}), "set by the sandbox"}, Bad{with("env", {{"HTTPS_PROXY", "x"}}), "set by the sandbox"},
        Bad{with("env", {{"no_proxy", "x"}}), "set by the sandbox"}, Bad{with("env", {{"A", std::string(kMaxEnvBytes, 'x')}}), "size"},
        Bad{with("packages", "six"), "arguments.packages: must be an array"}, Bad{with("packages", json::array({7})), "arguments.packages[0]: must be a string"},
        Bad{with("packages", json::array({""})), "arguments.packages[0]: must not be empty"},
        Bad{with("packages", std::vector<std::string>(33, "six")), "arguments.packages: must have at most 32 items"},
        Bad{with("packages", json::array({"six"})), "arguments.packages: installing packages is not available"},
        Bad{with("files", json::array({json::object()})), "arguments.files[0].path: is required"},
        Bad{with("output_files", json::array({"/a"})), "arguments.output_files[0]: must be relative"}));

TEST(Arguments, Defaults) {
  const auto spec = read(with("language", "javascript"));
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->language, sandbox::Language::javascript);
  EXPECT_EQ(spec->code, "print(1)");
  EXPECT_EQ(spec->timeout, std::chrono::seconds(30));
  EXPECT_EQ(spec->output_cap, 1048576U);
  EXPECT_FALSE(spec->stdin_text.has_value());
  EXPECT_TRUE(spec->env.empty());
}

TEST(Arguments, TakesThemAll) {
  json arguments = with("timeout_seconds", 1.5);
  arguments["timeout_ms"] = 1500;
  arguments["stdin"] = "";
  arguments["max_output_bytes"] = 100.0;
  arguments["env"] = {{"A", ""}, {"_b1", "x y"}};
  const auto spec = read(arguments);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(spec->stdin_text, "");
  EXPECT_EQ(spec->output_cap, 100U);
  EXPECT_THAT(spec->env, ::testing::ElementsAre(Pair("A", ""), Pair("_b1", "x y")));
}

TEST(Arguments, NullsAndEmptyListsAreAbsent) {
  json arguments = with("timeout_seconds", nullptr);
  for (const char* name : {"stdin", "env", "timeout_ms", "max_output_bytes"}) arguments[name] = nullptr;
  for (const char* name : {"packages", "files", "output_files"}) arguments[name] = json::array();
  EXPECT_TRUE(read(arguments).has_value());
}

TEST(Arguments, KeepsTheCodeAsGiven) {
  EXPECT_EQ(read(with("code", "\xEF\xBB\xBFif 1:\r\n  pass"))->code, "\xEF\xBB\xBFif 1:\r\n  pass");
  EXPECT_EQ(read(with("code", ""))->code, "");
  EXPECT_TRUE(read(with("code", std::string(kMaxCodeBytes, 'x'))).has_value());
}

TEST(Arguments, AnyPositiveTimeIsATime) { EXPECT_GT(read(with("timeout_seconds", 1e-12))->timeout.count(), 0); }

Result<sandbox::RunSpec> read_lists(json arguments) {
  Fields fields(arguments, "arguments");
  sandbox::RunSpec spec;
  if (auto read = decode_files(fields, spec); !read) return std::unexpected(read.error());
  if (auto read = decode_output_files(fields, spec); !read) return std::unexpected(read.error());
  return spec;
}

json file(json path, json content, json encoding = nullptr) {
  return {{"path", std::move(path)}, {"content", std::move(content)}, {"encoding", std::move(encoding)}};
}

TEST(Files, AreDecoded) {
  const auto spec = read_lists({{"files", {file("a.txt", "hi"), file("./d//b.bin", "AP8=", "base64")}}, {"output_files", {"*.png", "out/x"}}});
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->files[0].content, "hi");
  EXPECT_EQ(spec->files[1].path, "d/b.bin");
  EXPECT_EQ(spec->files[1].content, std::string("\0\xFF", 2));
  EXPECT_THAT(spec->output_files, ::testing::ElementsAre("*.png", "out/x"));
}

class BadFiles : public ::testing::TestWithParam<Bad> {};

TEST_P(BadFiles, AreRefusedByName) {
  const auto spec = read_lists(GetParam().arguments);
  ASSERT_FALSE(spec.has_value());
  EXPECT_THAT(spec.error().message, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFiles,
    ::testing::Values(
        Bad{{{"files", {5}}}, "arguments.files[0]: must be an object"}, Bad{{{"files", {{{"content", ""}}}}}, "arguments.files[0].path: is required"},
        Bad{{{"files", {{{"path", "a"}}}}}, "arguments.files[0].content: is required"},
        Bad{{{"files", {{{"path", "a"}, {"content", ""}, {"mode", 1}}}}}, "arguments.files[0].mode: unknown"},
        Bad{{{"files", {file("/etc/passwd", "")}}}, "arguments.files[0].path: must be relative"},
        Bad{{{"files", {file("a/../../b", "")}}}, "must not hold \"..\""}, Bad{{{"files", {file("", "")}}}, "must not be empty"},
        Bad{{{"files", {file(".", "")}}}, "must name a file"}, Bad{{{"files", {file("a/", "")}}}, "must name a file"},
        Bad{{{"files", {file(std::string("a\0b", 3), "")}}}, "NUL"}, Bad{{{"files", {file(std::string(256, 'a'), "")}}}, "255"},
        Bad{{{"files", {file(std::string(1025, 'a'), "")}}}, "1024"}, Bad{{{"files", {file("a", "x", "hex")}}}, "arguments.files[0].encoding: must be"},
        Bad{{{"files", {file("a", "AP8", "base64")}}}, "arguments.files[0].content: base64"},
        Bad{{{"files", {file("a", "AP=8", "base64")}}}, "arguments.files[0].content: base64"},
        Bad{{{"files", {file("a", "x"), file("./a", "y")}}}, "arguments.files[1].path: is taken"},
        Bad{{{"files", {file("a", "x"), file("a/b", "y")}}}, "arguments.files[1].path: is taken"},
        Bad{{{"files", {file("a/b", "x"), file("a", "y")}}}, "arguments.files[1].path: is taken"},
        Bad{{{"files", {file("main.py", "x")}}}, "is taken by the code"},
        Bad{{{"files", {file("a", std::string(kMaxFileBytes, 'x')), file("b", "y")}}}, "size"},
        Bad{{{"files", std::vector<json>(65, json::object())}}, "must have at most 64 items"},
        Bad{{{"output_files", {5}}}, "arguments.output_files[0]: must be a string"}, Bad{{{"output_files", {"../x"}}}, "arguments.output_files[0]: must not hold"},
        Bad{{{"output_files", std::vector<std::string>(33, "a")}}, "must have at most 32 items"}));

TEST(Fields, FindsTheNearestName) {
  constexpr std::array<std::string_view, 3> known{"code", "timeout_seconds", "stdin"};
  EXPECT_EQ(nearest("timeoutSeconds", known), "timeout_seconds");
  EXPECT_EQ(nearest("std_in", known), "stdin");
  EXPECT_EQ(nearest(std::string(100000, 'c'), known), "code");
}

}  // namespace
}  // namespace asg::tools
