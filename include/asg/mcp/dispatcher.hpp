#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "asg/base/cancel.hpp"
#include "asg/base/log.hpp"
#include "asg/base/task.hpp"
#include "asg/mcp/errors.hpp"
#include "asg/mcp/tool.hpp"

namespace asg::mcp {

/// A header as the transport saw it. count > 1: sent several times, which is refused where it matters.
struct HeaderValue {
  std::size_t count = 0;
  std::string value;
};

/// The headers that mirror the body (revision 2026-07-28). Absent on stdio, where nothing is compared.
struct McpHeaders {
  HeaderValue protocol_version;
  HeaderValue method;
  HeaderValue name;
};

struct Caller {
  std::string principal;       // id of the authenticated key; empty: anonymous
  std::string client_address;
  /// Calls of one scope can be cancelled by notifications/cancelled of the same scope. Empty: never, because request
  /// ids are 0, 1, 2... in every client.
  std::string cancel_scope;
  CallerKind kind = CallerKind::mcp_client;
};

/// One body from a transport.
struct Incoming {
  std::string body;
  std::optional<McpHeaders> headers;  // none: a transport without headers
  Caller caller;
  CancelTokenPtr cancel;              // cancelled by the transport when the caller goes away; may be null
  /// Takes notifications about the running request (JSON text) before its answer; empty when the transport cannot send
  /// them. Called on the front's thread, never after handle() has returned.
  std::function<void(std::string frame)> notify;
};

/// What goes back. An empty body: nothing to send but the status (202 of notifications).
struct Reply {
  int http_status = 200;
  std::string body;
  /// The caller asked by notifications/cancelled to have no answer: stdio sends none, HTTP has to end its exchange.
  bool cancelled_by_notice = false;
};

struct ServerInfo {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;  // for the model; may be empty
};

/// Longest silence while a call with a progress token runs.
inline constexpr std::chrono::milliseconds kProgressInterval{10'000};

/// Both eras of MCP over any transport: decodes one body, decides the era, finds the method, answers. Keeps no state of
/// callers but the list of running calls. Owned by the application; outlives every transport. Thread: the front's
/// single thread.
class Dispatcher {
 public:
  /// tools are not owned. Their definitions are read once, here.
  Dispatcher(std::vector<Tool*> tools, ServerInfo info, Logger log, std::chrono::milliseconds progress_interval = kProgressInterval);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();

  /// Never throws: whatever goes wrong is in the reply.
  Task<Reply> handle(Incoming incoming);

  class Impl;  // the name only; see src/mcp/dispatcher_impl.hpp

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace asg::mcp
