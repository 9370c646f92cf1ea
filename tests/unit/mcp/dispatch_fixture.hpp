#pragma once

#include <exception>
#include <optional>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "asg/mcp/dispatcher.hpp"
#include "fake_tool.hpp"

namespace asg::mcp::testing {

/// A dispatcher over one fake tool "echo"; handle() runs the context until the reply is there.
class DispatchFixture : public ::testing::Test {
 protected:
  Reply handle(Incoming incoming) {
    std::optional<Reply> reply;
    std::exception_ptr failure;
    boost::asio::co_spawn(context, dispatcher.handle(std::move(incoming)),
                          [&](std::exception_ptr error, Reply got) {
                            failure = error;
                            reply = std::move(got);
                          });
    context.restart();
    context.run();
    if (failure) std::rethrow_exception(failure);
    return std::move(reply.value());
  }

  /// As over HTTP; an empty version header is none.
  Reply post(const std::string& body, const std::string& version = "", const std::string& method = "",
             const std::string& name = "") {
    Incoming incoming;
    incoming.body = body;
    incoming.headers.emplace();
    if (!version.empty()) incoming.headers->protocol_version = {1, version};
    if (!method.empty()) incoming.headers->method = {1, method};
    if (!name.empty()) incoming.headers->name = {1, name};
    return handle(std::move(incoming));
  }

  static nlohmann::json parse(const Reply& reply) { return nlohmann::json::parse(reply.body); }

  boost::asio::io_context context{1};  // one thread: a tool may poll it
  FakeTool tool{"echo"};
  Dispatcher dispatcher{{&tool}, ServerInfo{.name = "asg-sandbox", .title = "ASG Sandbox", .version = "9", .instructions = "hi"}, Logger()};
};

/// The envelope of revision 2026-07-28 as JSON text.
inline std::string envelope(const std::string& version = "2026-07-28", const std::string& more = "") {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
         R"(","io.modelcontextprotocol/clientCapabilities":{})" + more + "}";
}

inline std::string request(const std::string& method, const std::string& params = "", const std::string& id = "1") {
  std::string text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + "\"";
  if (!params.empty()) text += R"(,"params":{)" + params + "}";
  return text + "}";
}

}  // namespace asg::mcp::testing
