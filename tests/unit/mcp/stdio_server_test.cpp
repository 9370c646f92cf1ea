#include "asg/mcp/stdio_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "asg/mcp/errors.hpp"
#include "dispatch_fixture.hpp"

namespace asg::mcp::testing {
namespace {

class Stdio : public DispatchFixture {
 protected:
  void SetUp() override {
    ASSERT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  }
  void TearDown() override {
    for (const int fd : {in[0], out[0], out[1]}) ::close(fd);
  }

  /// Writes all, closes the input, and gives the lines that came out.
  std::vector<std::string> talk(const std::string& input) {
    EXPECT_EQ(::write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    ::close(in[1]);
    settings.input = in[0];
    settings.output = out[1];
    bool done = false;
    boost::asio::co_spawn(context, serve_stdio(dispatcher, settings), [&](std::exception_ptr error, Result<void> result) {
      done = !error && result.has_value();
    });
    context.run();
    EXPECT_TRUE(done);
    ::fcntl(out[0], F_SETFL, O_NONBLOCK);
    std::string text(65536, '\0');
    const ssize_t size = ::read(out[0], text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  std::array<int, 2> in{};
  std::array<int, 2> out{};
  StdioSettings settings;
};

TEST_F(Stdio, AnswersEachLine) {
  const auto lines = talk(request("ping", "", "1") + "\n\n" + request("ping", "", "2") + "\r\n{bad\n" +
                          R"({"jsonrpc":"2.0","method":"notifications/initialized"})" + "\n" + request("ping", "", "3"));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(lines[1], R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(nlohmann::json::parse(lines[2])["error"]["code"], -32700);
  EXPECT_EQ(lines[3], R"({"jsonrpc":"2.0","id":3,"result":{}})");
}

TEST_F(Stdio, SkipsALineBeyondTheLimit) {
  settings.max_message_bytes = 100;
  const auto lines = talk(std::string(5000, 'x') + "\n" + request("ping") + "\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["error"]["code"], -32700);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["id"], 1);
}

TEST_F(Stdio, SendsProgressBeforeTheAnswer) {
  const auto lines = talk(request("tools/call", R"("name":"echo","_meta":{"progressToken":"t"})") + "\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["params"]["progressToken"], "t");
  EXPECT_TRUE(nlohmann::json::parse(lines[1]).contains("result"));
}

TEST_F(Stdio, AnswersNothingToACancelledCall) {
  tool.pause = FakeTool::Pause::yes;  // the next line is handled meanwhile
  tool.on_call = [&](const CallContext& call) {
    EXPECT_TRUE(call.cancel->cancelled());
    return tool_failure(AsgCode::cancelled, "x");
  };
  const auto lines = talk(request("tools/call", R"("name":"echo")", "\"c\"") + "\n" +
                          R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}})" + "\n");
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace asg::mcp::testing
