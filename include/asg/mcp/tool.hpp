#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "asg/base/cancel.hpp"
#include "asg/base/task.hpp"
#include "asg/mcp/errors.hpp"

namespace asg::mcp {

/// What kind of caller: only payment failures are worded differently for plain HTTP (no MCP headers, no event streams).
enum class CallerKind { mcp_client, plain_http };

/// Everything about one tools/call except its arguments. Thread: the front's single thread.
struct CallContext {
  std::string principal;       // id of the authenticated key; empty: anonymous
  std::string client_address;  // without port; empty on stdio
  std::string call_id;         // unique in this process, for logs; not the JSON-RPC id
  Era era = Era::legacy;
  CallerKind caller = CallerKind::mcp_client;
  nlohmann::json meta;         // params._meta, an object or null; keys we do not know stay in it
  CancelTokenPtr cancel;       // never null
  std::function<void(std::string_view phase)> progress;  // may be empty; says what goes on now ("running")
};

/// The result object of tools/call as the legacy era has it; the dispatcher adds what the modern era needs.
struct ToolResult {
  nlohmann::ordered_json body;  // content, isError, _meta; content may be empty only beside structured
  /// JSON text of an object, or empty. It becomes structuredContent, the text of a block before content, and its keys stand at
  /// the top level: as text, since it may hold megabytes that would be encoded three times over.
  std::string structured;
  std::string outcome;          // one word for the log: "exited", "timed_out", "INVALID_ARGUMENTS"
};

/// The result object as JSON text.
[[nodiscard]] std::string encode_tool_result(const ToolResult& result);

/// One tool. Owned by the application, outlives the dispatcher.
class Tool {
 public:
  virtual ~Tool() = default;
  /// Stays the same for the life of the tool. Name: 1 to 64 of [A-Za-z0-9_.-].
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The entry of tools/list.
  [[nodiscard]] virtual const nlohmann::ordered_json& definition() const = 0;
  /// Runs once for each call; several may run at once. arguments is an object. What goes wrong is a ToolResult
  /// (tool_failure); an exception becomes -32603.
  virtual Task<ToolResult> call(CallContext context, nlohmann::json arguments) = 0;
};

}  // namespace asg::mcp
