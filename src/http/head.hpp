#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "asg/mcp/dispatcher.hpp"

namespace asg::http {

/// A header field that may come several times; value joins them with ", ".
struct Field {
  std::size_t count = 0;
  std::string value;
  [[nodiscard]] bool present() const { return count > 0; }
};

enum class HttpVersion { one_zero, one_one };

/// The head of a request in plain types: what guard and routes decide by.
struct Head {
  HttpVersion version = HttpVersion::one_one;
  std::string method;         // as sent
  std::string path;           // target without query; "/" and below
  std::string target_host;    // of an absolute-form target, which then stands for Host (RFC 9112 section 3.2.2)
  Field host;
  Field origin;
  Field content_type;
  Field content_length;
  Field transfer_encoding;
  Field accept;
  Field expect;
  Field authorization;
  Field session_id;           // Mcp-Session-Id: only a sign of an MCP client
  mcp::McpHeaders mcp;
  std::string local_address;  // of this connection, without port
  std::string client_address;
};

}  // namespace asg::http
