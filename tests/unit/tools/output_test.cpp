#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "asg/mcp/base64.hpp"
#include "tools/execute_output.hpp"
#include "tools/hints.hpp"
#include "tools/mime.hpp"
#include "tools/utf8.hpp"

namespace asg::tools {
namespace {

using sandbox::Cause;
using sandbox::Outcome;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::string_view kR = "\xEF\xBF\xBD";

TEST(Utf8, KeepsWhatIsValid) {
  for (const std::string_view text : {"", "plain ascii, longer than eight", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8E\x88", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEF\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(to_utf8(std::string(text)), text);
  }
  EXPECT_EQ(to_utf8(std::string("a\0b", 3)), std::string("a\0b", 3));
}

// The examples of Unicode 15, tables 3-8 to 3-11, and single bytes.
TEST(Utf8, ReplacesEachMaximalPart) {
  struct Row {
    std::string_view bytes;
    int replaced;
    std::string_view rest;
  };
  for (const Row& row : {Row{"\xFF", 1, ""}, {"\x80", 1, ""}, {"\xC0\xAF", 2, ""}, {"\xE0\x80\xBF", 3, ""}, {"\xF0\x81\x82\x41", 3, "A"},
                         {"\xED\xA0\x80", 3, ""}, {"\xED\xBF\xBF\xED\xAF\x41", 5, "A"}, {"\xF4\x91\x92\x93\xFF\x41", 5, "A"},
                         {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 4, "A"}, {"\xE2\x82", 1, ""}, {"\xF0\x9F\x8E", 1, ""}, {"\xC3", 1, ""}, {"\xF5\x80", 2, ""}}) {
    std::string expected;
    for (int i = 0; i < row.replaced; ++i) expected += kR;
    EXPECT_EQ(to_utf8(std::string(row.bytes)), expected + std::string(row.rest));
    EXPECT_FALSE(is_utf8(row.bytes));
    EXPECT_EQ(to_utf8("0123456789\xC3\xA9" + std::string(row.bytes) + "\xC3\xA9"), "0123456789\xC3\xA9" + expected + std::string(row.rest) + "\xC3\xA9");
  }
}

TEST(Mime, ByContentThenName) {
  EXPECT_EQ(mime_type("x.txt", "\x89PNG\r\n\x1A\n..."), "image/png");
  EXPECT_EQ(mime_type("x", "\xFF\xD8\xFF\xE0"), "image/jpeg");
  EXPECT_EQ(mime_type("x", "RIFF....WEBPVP8 "), "image/webp");
  EXPECT_EQ(mime_type("a.xlsx", "PK\x03\x04"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  EXPECT_EQ(mime_type("a.zip", "PK\x03\x04"), "application/zip");
  EXPECT_EQ(mime_type("A.CSV", "1,2"), "text/csv");
  EXPECT_EQ(mime_type("x.png", "no picture"), "text/plain");
  EXPECT_EQ(mime_type("x", std::string("\0", 1)), "application/octet-stream");
  EXPECT_FALSE(is_picture("image/svg+xml"));
}

Outcome sample() {
  Outcome outcome;
  outcome.out = {.text = "out\n", .bytes = 4};
  outcome.err = {.text = "err\n", .bytes = 4};
  outcome.exit_code = 2;
  outcome.duration = std::chrono::microseconds(1999);
  outcome.usage = {.cpu = std::chrono::milliseconds(3), .memory_peak_bytes = 5, .processes_peak = 1};
  return outcome;
}

/// The result as it is sent.
Json whole(const mcp::ToolResult& result) { return Json::parse(mcp::encode_tool_result(result)); }

TEST(Output, HasTheShapeOfTheContract) {
  const auto result = write_execute(sample(), "", FilesWanted::no);
  const Json body = whole(result);
  EXPECT_EQ(body["structuredContent"].dump(),
            R"({"stdout":"out\n","stderr":"err\n","exit_code":2,"duration_ms":1,"timed_out":false,"oom_killed":false,"signal":null,)"
            R"("stdout_truncated":false,"stderr_truncated":false,"stdout_bytes":4,"stderr_bytes":4,)"
            R"("usage":{"cpu_ms":3,"memory_peak_bytes":5,"processes_peak":1}})");
  EXPECT_EQ(body["isError"], false);
  EXPECT_EQ(Json::parse(body["content"][0]["text"].get<std::string>()), body["structuredContent"]);
  for (const auto& [key, value] : body["structuredContent"].items()) EXPECT_EQ(body[key], value) << key;
  EXPECT_EQ(result.outcome, "exited");
}

TEST(Output, SaysWhoEndedTheRun) {
  Outcome outcome = sample();
  outcome.cause = Cause::timed_out;
  outcome.signal = "SIGKILL";
  auto body = whole(write_execute(outcome, "h", FilesWanted::no));
  EXPECT_EQ(body["timed_out"], true);
  EXPECT_EQ(body["signal"], "SIGKILL");
  EXPECT_EQ(body["structuredContent"]["hint"], "h");
  outcome.cause = Cause::out_of_memory;
  body = whole(write_execute(outcome, "", FilesWanted::no));
  EXPECT_EQ(body["oom_killed"], true);
  EXPECT_EQ(body["timed_out"], false);
}

TEST(Output, DecodesOnce) {
  Outcome outcome = sample();
  outcome.out = {.text = "a\xFF", .bytes = 2};
  EXPECT_EQ(whole(write_execute(outcome, "", FilesWanted::no))["stdout"], "a" + std::string(kR));
}

TEST(Output, ReturnsFilesAndShowsPictures) {
  Outcome outcome = sample();
  const std::string png = "\x89PNG\r\n\x1A\nxx";
  outcome.files = {{.path = "a.txt", .size = 2, .content = "hi", .error = ""}, {.path = "p.png", .size = 10, .content = png, .error = ""},
                   {.path = "b", .size = 1, .content = "\xFF", .error = ""}, {.path = "big", .size = 99, .content = "", .error = "too large"}};
  const auto body = whole(write_execute(outcome, "", FilesWanted::yes));
  EXPECT_EQ(body["files"][0].dump(), R"({"path":"a.txt","size":2,"mime_type":"text/plain","encoding":"utf-8","content":"hi"})");
  EXPECT_EQ(body["files"][1]["encoding"], "base64");
  EXPECT_EQ(mcp::base64_decode(body["files"][1]["content"].get<std::string>()), png);
  EXPECT_EQ(body["files"][2]["mime_type"], "application/octet-stream");
  EXPECT_EQ(body["files"][3].dump(), R"({"path":"big","size":99,"error":"too large"})");
  ASSERT_EQ(body["content"].size(), 4U);
  EXPECT_EQ(body["content"][1].dump(), R"({"type":"resource","resource":{"uri":"file:///workspace/a.txt","mimeType":"text/plain","text":"hi"}})");
  EXPECT_EQ(body["content"][2]["type"], "image");
  EXPECT_EQ(body["content"][2]["mimeType"], "image/png");
  EXPECT_EQ(body["content"][3]["resource"]["blob"], "/w==");
  EXPECT_TRUE(whole(write_execute(sample(), "", FilesWanted::yes))["files"].is_array());
}

TEST(Output, EscapesTheUriOfAResource) {
  Outcome outcome = sample();
  outcome.files = {{.path = "d/\xC3\xA9 ?#%.csv", .size = 0, .content = "", .error = ""}};
  const auto body = whole(write_execute(outcome, "", FilesWanted::yes));
  EXPECT_EQ(body["content"][1]["resource"]["uri"], "file:///workspace/d/%C3%A9%20%3F%23%25.csv");
}

struct HintRow {
  const char* stderr_text;
  const char* words;
};

TEST(Hints, FromStandardError) {
  const HintContext python{.language = sandbox::Language::python, .timeout_seconds = 1, .has_stdin = false, .code_installs = false};
  for (const HintRow& row : {HintRow{"socket.gaierror: [Errno -3] Temporary failure in name resolution", "blocked by the sandbox network policy"},
                             {"Error: getaddrinfo ENOTFOUND example.com", "network policy"}, {"getaddrinfo EAI_AGAIN x", "network policy"},
                             {"OSError: [Errno 101] Network is unreachable", "network policy"}, {"RuntimeError: can't start new thread", "64 processes"},
                             {"OSError: [Errno 28] No space left on device", "256 MiB"}, {"OSError: [Errno 30] Read-only file system: '/usr/x'", "/tmp"},
                             {"EOFError: EOF when reading a line", "stdin"}}) {
    Outcome outcome;
    outcome.err.text = row.stderr_text;
    EXPECT_THAT(make_hint(python, outcome, {}), HasSubstr(row.words)) << row.stderr_text;
  }
  Outcome plain;
  plain.err.text = "Traceback: ValueError";
  EXPECT_EQ(make_hint(python, plain, {}), "");
}

TEST(Hints, FromTheOutcome) {
  HintContext node{.language = sandbox::Language::javascript, .timeout_seconds = 1.5, .has_stdin = false, .code_installs = false};
  Outcome outcome;
  outcome.cause = Cause::timed_out;
  EXPECT_THAT(make_hint(node, outcome, {}), HasSubstr("time limit of 1.5 s"));
  outcome.cause = Cause::out_of_memory;
  EXPECT_THAT(make_hint(node, outcome, {}), HasSubstr("memory limit of 512 MiB reached"));
  outcome.cause = Cause::exited;
  outcome.exit_code = 13;
  EXPECT_THAT(make_hint(node, outcome, {}), HasSubstr("top-level await"));
  node.language = sandbox::Language::python;
  EXPECT_EQ(make_hint(node, outcome, {}), "");
  node.language = sandbox::Language::javascript;
  outcome.exit_code = 134;
  outcome.err.text = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
  EXPECT_THAT(make_hint(node, outcome, {}), HasSubstr("memory limit of 512 MiB reached"));
}

TEST(Hints, ForProgramsThatInstall) {
  sandbox::RunSpec spec;
  spec.code = "import subprocess; subprocess.run(['pip', 'install', 'six'])";
  Outcome outcome;
  outcome.err.text = "Temporary failure in name resolution";
  EXPECT_THAT(make_hint(hint_context(spec), outcome, {}), HasSubstr("packages"));
}

}  // namespace
}  // namespace asg::tools
