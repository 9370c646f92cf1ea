#include "messages.hpp"

#include <algorithm>
#include <utility>

#include "asg/mcp/json_rpc.hpp"
#include "era.hpp"

namespace asg::mcp {

namespace {

using Json = nlohmann::ordered_json;

Json server_info(const ServerInfo& info) {
  Json value{{"name", info.name}};
  if (!info.title.empty()) value["title"] = info.title;
  value["version"] = info.version;
  return value;
}

Json capabilities() {
  Json value = Json::object();
  value["tools"] = Json::object();  // no listChanged: the list never changes while we run
  return value;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The blocks of content, with the text of structured as the first.
void append_content(std::string& out, const ToolResult& result, const Json& blocks) {
  out.append(R"([{"type":"text","text":)");
  append_quoted(out, result.structured);
  out.append("}");
  for (const Json& block : blocks) out.append(",").append(dump(block));
  out.append("]");
}

}  // namespace

std::string encode_tool_result(const ToolResult& result) {
  if (result.structured.empty()) return dump(result.body);
  const std::string_view members = std::string_view(result.structured).substr(1, result.structured.size() - 2);
  std::string out;
  out.reserve(3 * result.structured.size() + result.structured.size() / 4);
  for (const auto& [key, value] : result.body.items()) {
    out.append(out.empty() ? "{" : ",").append(quote(key)).append(":");
    if (key == "content") {
      append_content(out, result, value);
      out.append(R"(,"structuredContent":)").append(result.structured);
    } else {
      out.append(dump(value));
    }
  }
  return out.append(members.empty() ? "" : ",").append(members).append("}");
}

Json initialize_result(const ServerInfo& info, std::string_view version) {
  Json result;
  result["protocolVersion"] = version;
  result["capabilities"] = capabilities();
  result["serverInfo"] = server_info(info);
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Json discover_result(const ServerInfo& info) {
  Json result;
  result["supportedVersions"] = kSupportedVersions;
  result["capabilities"] = capabilities();
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Json list_result(std::vector<Tool*> tools) {
  std::sort(tools.begin(), tools.end(), [](const Tool* a, const Tool* b) { return a->name() < b->name(); });
  Json list = Json::array();
  for (const Tool* tool : tools) list.push_back(tool->definition());
  Json result;
  result["tools"] = std::move(list);
  return result;
}

Json complete(Json result, Era era, const ServerInfo& info, std::optional<CacheHint> cache) {
  if (era == Era::legacy) return result;
  Json modern;
  modern["resultType"] = "complete";
  for (auto& [key, value] : result.items()) modern[key] = std::move(value);
  if (cache) {
    modern["ttlMs"] = cache->ttl_ms;
    modern["cacheScope"] = "public";
  }
  modern["_meta"][kMetaServerInfo] = server_info(info);
  return modern;
}

}  // namespace asg::mcp
