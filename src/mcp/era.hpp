#pragma once
// Which revision a message belongs to, and the checks that the modern one puts before dispatch: the only place that
// reads protocol versions. Specification 2026-07-28, basic/versioning and basic/transports/streamable-http.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "asg/mcp/dispatcher.hpp"
#include "asg/mcp/json_rpc.hpp"

namespace asg::mcp {

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLatestLegacyVersion = "2025-11-25";
/// What server/discover and -32022 list; the modern one first.
inline constexpr std::array<std::string_view, 5> kSupportedVersions{kModernVersion, kLatestLegacyVersion, "2025-06-18",
                                                                    "2025-03-26", "2024-11-05"};
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";

/// headers is null on transports without them.
[[nodiscard]] std::variant<Era, Refusal> decide_era(const Message& message, const McpHeaders* headers);
/// For a whole batch, which only the legacy era has.
[[nodiscard]] std::optional<Refusal> check_batch(const Payload& payload, const McpHeaders* headers);
/// Steps (a) to (d) of the modern era: envelope, version, Mcp-Method, Mcp-Name. None: go on.
[[nodiscard]] std::optional<Refusal> check_modern(const Message& message, const McpHeaders* headers);
/// The version that initialize answers with.
[[nodiscard]] std::string_view negotiate(std::string_view requested);

/// The value behind a Mcp-Name header: "=?base64?...?=" is decoded, anything else stands for itself. None: bad base64.
[[nodiscard]] std::optional<std::string> decode_header_text(std::string_view value);

}  // namespace asg::mcp
