#pragma once

#include <variant>

#include "answer.hpp"
#include "asg/http/server.hpp"
#include "head.hpp"

namespace asg::http {

/// The body goes to the dispatcher.
struct McpCall {
  enum class Streams { no, yes } streams = Streams::no;  // whether the client takes server-sent events
};

enum class Draining { no, yes };

/// What must be asked of access before the answer of route(). GET and OPTIONS of /mcp are answered to anybody: clients take 401
/// there for an invitation to OAuth.
enum class Needs { nothing, key, admission };
[[nodiscard]] Needs needs(const Head& head);

/// What a request is for, decided by its head alone: an MCP message to read, or an answer that needs no body.
[[nodiscard]] std::variant<McpCall, Answer> route(const Head& head, const Pages& pages, Draining draining);

/// How the answer of an Accept header may look.
struct Accepted {
  bool any = true;      // something that we can send
  bool events = false;  // text/event-stream by name
};
[[nodiscard]] Accepted read_accept(const Field& accept);

/// Curl and the like, by the absence of everything that MCP clients send.
[[nodiscard]] mcp::CallerKind caller_kind(const Head& head);

}  // namespace asg::http
