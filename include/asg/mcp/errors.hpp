#pragma once
// The only map from what went wrong to JSON-RPC codes, HTTP statuses and failed tool results.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "asg/base/error.hpp"

namespace asg::mcp {

enum class Era { legacy, modern };  // up to 2025-11-25; 2026-07-28

/// Everything that a JSON-RPC error can say. One row of the table in errors.cpp each.
enum class Fault {
  parse_error,
  invalid_request,
  missing_envelope,     // _meta keys of the modern era
  header_mismatch,
  unsupported_version,
  unknown_method,
  invalid_params,       // unknown tool, bad cursor
  internal,
};

struct Refusal {
  Fault fault = Fault::internal;
  std::string message;
  std::string data;             // JSON text of error.data; empty: left out
  std::string id;               // JSON text of the id where it could be read, else empty
};

struct WireStatus {
  int code = 0;  // JSON-RPC
  int http = 0;
};

/// MCP 2026-07-28 basic/transports/streamable-http; for the legacy era what its clients can read.
[[nodiscard]] WireStatus wire_status(Fault fault, Era era);

/// Values of _meta.asg_code of a failed tool call; the texts are part of the public contract.
enum class AsgCode { invalid_arguments, capacity_exhausted, execution_failed, cancelled };
[[nodiscard]] std::string_view to_string(AsgCode code);

struct ToolResult;

/// A tool result with isError: one text block and _meta.asg_code, no structuredContent.
[[nodiscard]] ToolResult tool_failure(AsgCode code, const std::string& text);
/// CAPACITY_EXHAUSTED with _meta.retry_after_seconds.
[[nodiscard]] ToolResult tool_busy(const std::string& text, std::chrono::seconds retry_after);
/// The same from an Error. Words of the system (io, sandbox, internal) are not shown to the caller.
[[nodiscard]] ToolResult tool_failure(const Error& error);

}  // namespace asg::mcp
