#pragma once
// The protocol's own result objects. complete() is the only place where a result differs by era.

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "asg/mcp/dispatcher.hpp"

namespace asg::mcp {

/// How long a result may be kept (2026-07-28, server/utilities/caching); public: it never varies by caller.
struct CacheHint {
  int ttl_ms = 0;
};

[[nodiscard]] nlohmann::ordered_json initialize_result(const ServerInfo& info, std::string_view version);
[[nodiscard]] nlohmann::ordered_json discover_result(const ServerInfo& info);
/// In the order of names.
[[nodiscard]] nlohmann::ordered_json list_result(std::vector<Tool*> tools);

/// The modern era's resultType, serverInfo and cache hints; the legacy era's results carry none of these.
[[nodiscard]] nlohmann::ordered_json complete(nlohmann::ordered_json result, Era era, const ServerInfo& info,
                                              std::optional<CacheHint> cache);

}  // namespace asg::mcp
