#include "asg/mcp/errors.hpp"

#include <array>
#include <utility>

#include "asg/mcp/tool.hpp"

namespace asg::mcp {

namespace {

struct Row {
  Fault fault;
  int code;
  int modern_http;
  int legacy_http;
};

// Legacy clients (TypeScript v1) cannot read code and data of a 4xx answer: what is not about the body itself is 200.
constexpr std::array kTable{
    Row{Fault::parse_error, -32700, 400, 400},
    Row{Fault::invalid_request, -32600, 400, 400},
    Row{Fault::missing_envelope, -32602, 400, 400},
    Row{Fault::header_mismatch, -32020, 400, 400},
    Row{Fault::unsupported_version, -32022, 400, 400},
    Row{Fault::unknown_method, -32601, 404, 200},
    Row{Fault::invalid_params, -32602, 200, 200},
    // 5xx on the first request makes modern clients give up connecting: in band.
    Row{Fault::internal, -32603, 200, 200},
};

constexpr std::chrono::seconds kRetryAfter{2};

ToolResult failure(AsgCode code, const std::string& text, nlohmann::ordered_json meta) {
  meta["asg_code"] = to_string(code);
  ToolResult result;
  auto block = nlohmann::ordered_json{{"type", "text"}, {"text", text}};
  result.body["content"] = nlohmann::ordered_json::array({std::move(block)});
  result.body["isError"] = true;
  result.body["_meta"] = std::move(meta);
  result.outcome = to_string(code);
  return result;
}

}  // namespace

WireStatus wire_status(Fault fault, Era era) {
  for (const Row& row : kTable) {
    if (row.fault == fault) return {row.code, era == Era::modern ? row.modern_http : row.legacy_http};
  }
  return {-32603, 200};
}

std::string_view to_string(AsgCode code) {
  switch (code) {
    case AsgCode::invalid_arguments: return "INVALID_ARGUMENTS";
    case AsgCode::capacity_exhausted: return "CAPACITY_EXHAUSTED";
    case AsgCode::execution_failed: return "EXECUTION_FAILED";
    case AsgCode::cancelled: return "CANCELLED";
  }
  std::unreachable();
}

ToolResult tool_failure(AsgCode code, const std::string& text) { return failure(code, text, nlohmann::ordered_json::object()); }

ToolResult tool_busy(const std::string& text, std::chrono::seconds retry_after) {
  auto meta = nlohmann::ordered_json::object();
  meta["retry_after_seconds"] = retry_after.count();
  return failure(AsgCode::capacity_exhausted, text, std::move(meta));
}

ToolResult tool_failure(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument: return tool_failure(AsgCode::invalid_arguments, error.message);
    case ErrorCode::busy:
      return tool_busy("All sandboxes are busy and the queue is full; try again in a few seconds.", kRetryAfter);
    case ErrorCode::cancelled: return tool_failure(AsgCode::cancelled, "The call was cancelled.");
    default:
      return tool_failure(AsgCode::execution_failed,
                          "The sandbox itself failed, not the code. Trying again may help.");
  }
}

}  // namespace asg::mcp
