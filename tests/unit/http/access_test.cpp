// Keys and limits as a caller meets them.

#include "loopback.hpp"

namespace asg::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kKeys =
    "alice 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n"   // secret
    "bob 81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9\n";  // bob
constexpr const char* kAlice = "Authorization: Bearer secret\r\n";
constexpr const char* kBob = "Authorization: bearer  bob\r\n";

class WithKeys : public Loopback {
  void configure(config::Server& /*server*/) override { credentials.keys = kKeys; }
};

std::string cancel_notice(const std::string& id, const std::string& headers) {
  return post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}", headers);
}

TEST_F(WithKeys, WithoutOneNothingIsAnswered) {
  const std::string answer = ask(post(kPing));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 Unauthorized"));
  EXPECT_THAT(answer, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 401"));
}

TEST_F(WithKeys, WrongOnesAreRefused) {
  for (const std::string& value : {std::string("Bearer wrong"), std::string("Bearer"), std::string("Bearer "), std::string("Basic c2VjcmV0"),
                                   std::string("secret"), "Bearer " + std::string(8000, 'x'), std::string("Bearer secret, Bearer secret")}) {
    const std::string answer = ask(post(kPing, "Authorization: " + value + "\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401 ")) << value;
    EXPECT_THAT(answer, HasSubstr("\r\nWWW-Authenticate: Bearer")) << value;
  }
  EXPECT_THAT(ask(post(kPing, std::string(kAlice) + kAlice)), StartsWith("HTTP/1.1 401 "));
}

TEST_F(WithKeys, TheRightOneOpens) {
  EXPECT_THAT(ask(post(kPing, kAlice)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask(post(kPing, kBob)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WithKeys, WhatNeedsNoKeyStaysOpen) {
  EXPECT_THAT(ask("GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask("OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n"), StartsWith("HTTP/1.1 204 "));
  EXPECT_THAT(ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask("GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(WithKeys, OriginComesBeforeTheKey) {
  EXPECT_THAT(ask(post(kPing, "Origin: http://evil.example\r\n")), StartsWith("HTTP/1.1 403 "));
}

TEST_F(WithKeys, ANoticeCancelsCallsOfItsOwnKeyOnly) {
  Client caller(port);
  caller.send(post(call("hang"), kAlice));
  wait(hang.started.get_future());
  EXPECT_THAT(ask(cancel_notice("1", kBob)), StartsWith("HTTP/1.1 202 "));
  EXPECT_EQ(on_server([this] { return http->open_calls(); }), 1U);
  EXPECT_THAT(ask(cancel_notice("1", kAlice)), StartsWith("HTTP/1.1 202 "));
  wait(hang.cancelled.get_future());
  EXPECT_THAT(caller.read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(Loopback, WithoutKeysANoticeCancelsNothing) {
  Client caller(port);
  caller.send(post(call("hang")));
  wait(hang.started.get_future());
  EXPECT_THAT(ask(cancel_notice("1", "")), StartsWith("HTTP/1.1 202 "));
  EXPECT_EQ(on_server([this] { return http->open_calls(); }), 1U);
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(caller.read_response(), HasSubstr(R"("isError":false)"));
}

TEST_F(WithKeys, KeysCanBeChangedWhileConnectionsLiveOn) {
  Client client(port);
  client.send(post(kPing, kAlice));
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200 "));
  Credentials bad{.keys = "nonsense", .certificate = {}, .private_key = {}};
  EXPECT_FALSE(on_server([&] { return http->reload(bad).has_value(); }));
  client.send(post(kPing, kAlice));
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200 "));
  Credentials bob{.keys = std::string(kKeys).substr(std::string(kKeys).find("bob")), .certificate = {}, .private_key = {}};
  EXPECT_TRUE(on_server([&] { return http->reload(bob).has_value(); }));
  client.send(post(kPing, kAlice));
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 401 "));
}

class WithLimits : public Loopback {
  void configure(config::Server& /*server*/) override {
    credentials.keys = kKeys;
    rate.key_per_minute = 60;
    rate.key_burst = 2;
    rate.key_concurrent = 1;
  }
};

TEST_F(WithLimits, EachKeyHasItsOwn) {
  EXPECT_THAT(ask(post(kPing, kAlice)), HasSubstr("\r\nX-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 1\r\n"));
  EXPECT_THAT(ask(post(kPing, kAlice)), HasSubstr("\r\nX-RateLimit-Remaining: 0\r\n"));
  const std::string answer = ask(post(kPing, kAlice));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(answer, HasSubstr("\r\nRetry-After: 1\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nX-RateLimit-Reset: "));
  EXPECT_THAT(answer, HasSubstr("CAPACITY_EXHAUSTED"));
  EXPECT_THAT(ask(post(kPing, kBob)), StartsWith("HTTP/1.1 200 "));
}

TEST_F(WithLimits, RunningCallsAreCounted) {
  Client caller(port);
  caller.send(post(call("hang"), kAlice));
  wait(hang.started.get_future());
  EXPECT_THAT(ask(post(kPing, kAlice)), StartsWith("HTTP/1.1 429 "));
  on_server([this] { hang.let_go(); });
  EXPECT_THAT(caller.read_response(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(on_server([this] { return metrics.text(); }), HasSubstr(R"(asg_http_rejected_total{reason="concurrency"} 1)"));
}

class WithAddressLimit : public Loopback {
  void configure(config::Server& /*server*/) override {
    credentials.keys = kKeys;
    rate.address_per_minute = 6;
    rate.address_burst = 2;
  }
};

TEST_F(WithAddressLimit, GuessingKeysIsSlow) {
  const std::string guess = post(kPing, "Authorization: Bearer guess\r\n");
  EXPECT_THAT(ask(guess), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(guess), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask(guess), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(on_server([this] { return metrics.text(); }), HasSubstr("asg_http_rejected_total{reason=\"unauthorized\"} 2\n"));
}

}  // namespace
}  // namespace asg::http::testing
