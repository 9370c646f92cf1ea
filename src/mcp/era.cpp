#include "era.hpp"

#include <algorithm>
#include <utility>

#include "asg/mcp/base64.hpp"

namespace asg::mcp {

namespace {

using nlohmann::json;

bool is_supported(std::string_view version) {
  return std::find(kSupportedVersions.begin(), kSupportedVersions.end(), version) != kSupportedVersions.end();
}

bool is_legacy(std::string_view version) { return version != kModernVersion && is_supported(version); }

/// params._meta when there is one, of whatever type.
const json* find_meta(const Message& message) {
  if (!message.params.is_object()) return nullptr;
  const auto meta = message.params.find("_meta");
  return meta == message.params.end() ? nullptr : &*meta;
}

const json* find_claim(const Message& message) {
  const json* meta = find_meta(message);
  if (meta == nullptr || !meta->is_object()) return nullptr;
  const auto claim = meta->find(kMetaVersion);
  return claim == meta->end() ? nullptr : &*claim;
}

Refusal refuse(Fault fault, std::string message) {
  return {.fault = fault, .message = std::move(message), .data = {}, .id = {}};
}

Refusal mismatch(const std::string& why) {
  return refuse(Fault::header_mismatch, "Bad Request: headers and body disagree: " + why);
}

Refusal unsupported(std::string_view requested) {
  Refusal refusal = refuse(Fault::unsupported_version, "Unsupported protocol version: " + std::string(requested));
  std::string list;
  for (const std::string_view version : kSupportedVersions) list.append(list.empty() ? "" : ",").append(quote(version));
  refusal.data = R"({"supported":[)" + list + R"(],"requested":)" + quote(requested) + "}";
  return refusal;
}

Refusal missing(std::string_view what) {
  return refuse(Fault::missing_envelope, "Invalid params: params._meta: " + std::string(what));
}

bool is_log_level(const json& value) {
  constexpr std::array kLevels{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};
  return value.is_string() && std::find(kLevels.begin(), kLevels.end(), value.get_ref<const std::string&>()) != kLevels.end();
}

std::optional<Refusal> check_envelope(const Message& message) {
  const json* meta = find_meta(message);
  if (meta == nullptr || !meta->is_object()) return missing("missing; each request carries protocolVersion and clientCapabilities");
  const json* claim = find_claim(message);
  if (claim == nullptr || !claim->is_string()) return missing(std::string(kMetaVersion) + " must be a string");
  const auto capabilities = meta->find(kMetaCapabilities);
  if (capabilities == meta->end() || !capabilities->is_object()) {
    return missing(std::string(kMetaCapabilities) + " must be an object");
  }
  const auto level = meta->find(kMetaLogLevel);
  if (level != meta->end() && !is_log_level(*level)) return missing(std::string(kMetaLogLevel) + " is no log level");
  return std::nullopt;
}

/// The parameter that Mcp-Name repeats, for the methods that have one.
const char* named_param(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  return nullptr;
}

std::optional<Refusal> check_name_header(const Message& message, const HeaderValue& header) {
  const char* param = named_param(message.method);
  if (param == nullptr) return std::nullopt;
  const auto name = message.params.find(param);
  // A missing name is a matter of params (-32602), not of headers.
  if (name == message.params.end() || !name->is_string()) return std::nullopt;
  if (header.count == 0) return mismatch("the Mcp-Name header is missing");
  if (header.count > 1) return mismatch("the Mcp-Name header was sent twice");
  const auto decoded = decode_header_text(header.value);
  if (!decoded) return mismatch("the Mcp-Name header holds bad base64");
  if (*decoded != name->get_ref<const std::string&>()) {
    return mismatch("the Mcp-Name header is not params." + std::string(param));
  }
  return std::nullopt;
}

std::optional<Refusal> check_version_header(const McpHeaders& headers, std::string_view claim) {
  if (headers.protocol_version.count == 0) return mismatch("the MCP-Protocol-Version header is missing");
  if (headers.protocol_version.value != claim) return mismatch("the MCP-Protocol-Version header is not the version in params._meta");
  return std::nullopt;
}

std::optional<Refusal> check_method_header(const Message& message, const HeaderValue& header) {
  if (header.count == 0) return mismatch("the Mcp-Method header is missing");
  if (header.count > 1) return mismatch("the Mcp-Method header was sent twice");
  if (header.value != message.method) return mismatch("the Mcp-Method header is not the method of the body");
  return std::nullopt;
}

}  // namespace

std::variant<Era, Refusal> decide_era(const Message& message, const McpHeaders* headers) {
  const HeaderValue none;
  const HeaderValue& version = headers == nullptr ? none : headers->protocol_version;
  if (version.count > 1) return mismatch("the MCP-Protocol-Version header was sent twice");
  const bool modern_header = version.count == 1 && version.value == kModernVersion;
  if (message.kind == Kind::request && find_claim(message) != nullptr) return Era::modern;
  if (version.count == 1 && !is_supported(version.value)) return unsupported(version.value);
  if (!modern_header) return Era::legacy;
  if (message.kind == Kind::response) {
    return refuse(Fault::invalid_request, "Invalid Request: responses are not accepted in revision 2026-07-28");
  }
  if (message.kind == Kind::request && message.method == "initialize") {
    return mismatch("initialize belongs to an older revision than the MCP-Protocol-Version header");
  }
  return Era::modern;
}

std::optional<Refusal> check_batch(const Payload& payload, const McpHeaders* headers) {
  const bool claimed = std::any_of(payload.messages.begin(), payload.messages.end(),
                                   [](const Message& message) { return find_claim(message) != nullptr; });
  const bool modern_header = headers != nullptr && headers->protocol_version.value == kModernVersion;
  if (claimed || modern_header) {
    return refuse(Fault::invalid_request, "Invalid Request: revision 2026-07-28 has no batches");
  }
  if (headers == nullptr) return std::nullopt;
  const HeaderValue& version = headers->protocol_version;
  if (version.count > 1) return mismatch("the MCP-Protocol-Version header was sent twice");
  if (version.count == 1 && !is_legacy(version.value)) return unsupported(version.value);
  return std::nullopt;
}

std::optional<Refusal> check_modern(const Message& message, const McpHeaders* headers) {
  if (auto refusal = check_envelope(message)) return refusal;
  const std::string& claim = find_claim(message)->get_ref<const std::string&>();
  if (headers != nullptr) {
    if (auto refusal = check_version_header(*headers, claim)) return refusal;
  }
  if (claim != kModernVersion) return unsupported(claim);
  if (headers == nullptr) return std::nullopt;
  if (auto refusal = check_method_header(message, headers->method)) return refusal;
  return check_name_header(message, headers->name);
}

std::string_view negotiate(std::string_view requested) {
  const auto* found = std::find(kSupportedVersions.begin() + 1, kSupportedVersions.end(), requested);
  return found == kSupportedVersions.end() ? kLatestLegacyVersion : *found;
}

std::optional<std::string> decode_header_text(std::string_view value) {
  constexpr std::string_view kPrefix = "=?base64?";
  constexpr std::string_view kSuffix = "?=";
  if (value.size() < kPrefix.size() + kSuffix.size() || !value.starts_with(kPrefix) || !value.ends_with(kSuffix)) {
    return std::string(value);
  }
  value.remove_prefix(kPrefix.size());
  value.remove_suffix(kSuffix.size());
  auto decoded = base64_decode(value);
  if (!decoded) return std::nullopt;
  return std::move(*decoded);
}

}  // namespace asg::mcp
