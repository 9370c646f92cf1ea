// Requests that two servers could read differently, and others that must be refused by their head.

#include <ostream>

#include "loopback.hpp"

namespace asg::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Row {
  const char* what;
  std::string request;
  const char* status;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class Hostile : public Loopback, public ::testing::WithParamInterface<Row> {};

TEST_P(Hostile, IsRefused) {
  Client client(port);
  client.send(GetParam().request);
  const std::string answer = client.read_response();
  EXPECT_THAT(answer, StartsWith(std::string("HTTP/1.1 ") + GetParam().status)) << answer;
  EXPECT_THAT(ask(post(kPing)), HasSubstr(R"("result":{})"));
}

std::string head(const std::string& lines, const std::string& rest = "") {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + lines + "\r\n" + rest;
}

std::string get(const std::string& target, const std::string& method = "GET", const std::string& lines = "") {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Framing, Hostile,
    ::testing::Values(
        Row{"CL and TE", head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "400"},
        Row{"TE and CL", head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), "400"},
        Row{"two lengths", head("Content-Length: 5\r\nContent-Length: 6\r\n", "12345"), "400"},
        Row{"two equal lengths", head("Content-Length: 5\r\nContent-Length: 5\r\n", "12345"), "400"},
        Row{"list of lengths", head("Content-Length: 5, 5\r\n", "12345"), "400"},
        Row{"negative length", head("Content-Length: -5\r\n", "12345"), "400"},
        Row{"signed length", head("Content-Length: +5\r\n", "12345"), "400"},
        Row{"hexadecimal length", head("Content-Length: 0x5\r\n", "12345"), "400"},
        Row{"endless length", head("Content-Length: 99999999999999999999999\r\n", "{"), "400"},
        Row{"two encodings", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "400"},
        Row{"gzip, chunked", head("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "400"},
        Row{"chunked, identity", head("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), "400"},
        Row{"identity", head("Transfer-Encoding: identity\r\n"), "400"},
        Row{"xchunked", head("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), "400"},
        Row{"space before the colon", head("Content-Length : 5\r\n", "12345"), "400"},
        Row{"bare line feeds", "POST /mcp HTTP/1.1\nHost: localhost\n\n", "400"},
        Row{"bad chunk size", head("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), "400"},
        Row{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"},
        Row{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", "400"},
        Row{"TE in HTTP/1.0", "POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        Row{"huge head", head("X-A: " + std::string(70000, 'a') + "\r\n"), "431"}));

INSTANTIATE_TEST_SUITE_P(
    Heads, Hostile,
    ::testing::Values(
        Row{"no Host", "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n", "400"},
        Row{"two Hosts", head("Host: localhost\r\nContent-Length: 0\r\n"), "400"},
        Row{"foreign Host", "GET /healthz HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", "403"},
        Row{"foreign Host with our name in it", "GET /healthz HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", "403"},
        Row{"bad Host", "GET /healthz HTTP/1.1\r\nHost: localhost:80:90\r\n\r\n", "400"},
        Row{"absolute target of another host", get("http://evil.example/healthz"), "403"},
        Row{"absolute target", get("http://127.0.0.1:1/healthz"), "200"},
        Row{"foreign Origin", head("Origin: http://evil.example\r\nContent-Length: 0\r\n"), "403"},
        Row{"null Origin", head("Origin: null\r\nContent-Length: 0\r\n"), "403"},
        Row{"Origin with our name in it", head("Origin: http://localhost.evil.example\r\nContent-Length: 0\r\n"), "403"},
        Row{"local Origin", head("Origin: http://127.0.0.1:6274\r\nContent-Length: 0\r\n"), "400"},
        Row{"form", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}", "415"},
        Row{"no Content-Type", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", "415"},
        Row{"unknown expectation", head("Expect: 200-ok\r\nContent-Length: 0\r\n"), "417"},
        Row{"Accept of something else", head("Accept: image/png\r\nContent-Length: 0\r\n"), "406"},
        Row{"empty body", head("Content-Length: 0\r\n"), "400"},
        Row{"GET", get("/mcp"), "405"}, Row{"DELETE", get("/mcp/", "DELETE"), "405"}, Row{"PUT", get("/mcp", "PUT"), "405"},
        Row{"odd method", get("/mcp", "BREW"), "405"},
        Row{"OAuth metadata", get("/.well-known/oauth-protected-resource"), "404"},
        Row{"OAuth metadata of mcp", get("/.well-known/oauth-protected-resource/mcp"), "404"},
        Row{"OAuth server", get("/.well-known/oauth-authorization-server"), "404"},
        Row{"OpenID", get("/.well-known/openid-configuration"), "404"},
        Row{"elsewhere", get("/"), "404"}, Row{"POST health", get("/healthz", "POST", "Content-Length: 0\r\n"), "405"},
        Row{"health", get("/healthz"), "200"}, Row{"health, short", get("/health"), "200"}, Row{"ready", get("/readyz"), "200"},
        Row{"no metrics", get("/metrics"), "404"}, Row{"preflight", get("/mcp", "OPTIONS", "Origin: http://localhost:1\r\n"), "204"},
        Row{"Upgrade is ignored", get("/healthz", "GET", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"), "200"}));

TEST_F(Loopback, SaysWhatIsAllowed) { EXPECT_THAT(ask(get("/mcp")), HasSubstr("Allow: POST\r\n")); }

TEST_F(Loopback, NamesTheOriginOnEveryAnswer) {
  const std::string origin = "Origin: http://localhost:6274\r\n";
  for (const std::string& request : {post(kPing, origin), get("/mcp", "OPTIONS", origin), get("/mcp", "GET", origin),
                                     post("{", origin), get("/nowhere", "GET", origin)}) {
    const std::string answer = ask(request);
    EXPECT_THAT(answer, HasSubstr("Access-Control-Allow-Origin: http://localhost:6274\r\n"));
    EXPECT_THAT(answer, HasSubstr("Vary: Origin\r\n"));
  }
  EXPECT_THAT(ask(get("/mcp", "OPTIONS", origin)), HasSubstr("mcp-protocol-version, mcp-method, mcp-name"));
}

TEST_F(Loopback, HeadHasNoBody) {
  Client client(port);
  client.send(get("/healthz", "HEAD") + get("/healthz", "GET", "Connection: close\r\n"));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Length: 29"));
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200 OK"));
}

}  // namespace
}  // namespace asg::http::testing
