// HTTPS, over real handshakes.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "certificate.hpp"
#include "loopback.hpp"

namespace asg::http::testing {
namespace {

namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TlsClient {
 public:
  TlsClient(unsigned short port, int min_version, int max_version) : stream_(context_, tls_) {
    SSL_set_min_proto_version(stream_.native_handle(), min_version);
    SSL_set_max_proto_version(stream_.native_handle(), max_version);
    stream_.next_layer().connect({asio::ip::address_v4::loopback(), port});
  }
  explicit TlsClient(unsigned short port) : TlsClient(port, TLS1_2_VERSION, 0) {}

  bool shake_hands() {
    boost::system::error_code error;
    stream_.handshake(asio::ssl::stream_base::client, error);
    return !error;
  }
  void send(const std::string& text) { asio::write(stream_, asio::buffer(text)); }
  std::string read_until(const std::string& text) {
    boost::system::error_code error;
    const std::size_t size = asio::read_until(stream_, asio::dynamic_buffer(pending_), text, error);
    std::string result = pending_.substr(0, error ? pending_.size() : size);
    pending_.erase(0, result.size());
    return result;
  }
  /// "" when the other side has said in TLS that it ends.
  std::string read_end() {
    boost::system::error_code error;
    char c = 0;
    stream_.read_some(asio::buffer(&c, 1), error);
    return error == asio::error::eof ? "" : "not ended: " + error.message();
  }
  long serial() {
    X509* certificate = SSL_get1_peer_certificate(stream_.native_handle());
    const long value = ASN1_INTEGER_get(X509_get_serialNumber(certificate));
    X509_free(certificate);
    return value;
  }
  std::string version() { return SSL_get_version(stream_.native_handle()); }
  void reset() {
    stream_.next_layer().set_option(asio::socket_base::linger(true, 0));
    stream_.next_layer().close();
  }

 private:
  asio::io_context context_;
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> stream_;
  std::string pending_;
};

class Tls : public Loopback {
 protected:
  void configure(config::Server& server) override {
    credentials = make_certificate(1);
    server.header_timeout = std::chrono::seconds(1);
  }
};

TEST_F(Tls, AnswersInBothVersions) {
  for (const auto& [version, name] : {std::pair(TLS1_2_VERSION, "TLSv1.2"), std::pair(TLS1_3_VERSION, "TLSv1.3")}) {
    TlsClient client(port, version, version);
    ASSERT_TRUE(client.shake_hands());
    EXPECT_EQ(client.version(), name);
    client.send(post(kPing));
    EXPECT_THAT(client.read_until("\"result\":{}}"), StartsWith("HTTP/1.1 200 OK"));
    client.send(post(kPing, kClose));
    EXPECT_THAT(client.read_until("\"result\":{}}"), HasSubstr("Connection: close"));
    EXPECT_EQ(client.read_end(), "");
  }
}

TEST_F(Tls, OldVersionsAndPlainTextAreRefused) {
  TlsClient old(port, TLS1_VERSION, TLS1_1_VERSION);
  EXPECT_FALSE(old.shake_hands());
  Client plain(port);
  plain.send(post(kPing));
  EXPECT_THAT(plain.read_all(), ::testing::Not(HasSubstr("HTTP/1.1 200")));
}

TEST_F(Tls, AHandshakeThatDoesNotComeIsCutOff) {
  Client silent(port);
  EXPECT_EQ(silent.read_all(), "");
}

TEST_F(Tls, SendsLargeAnswersWhole) {
  TlsClient client(port);
  ASSERT_TRUE(client.shake_hands());
  client.send(post(call("quick", R"(,"arguments":{"fill":3000000})")));
  EXPECT_GT(client.read_until("x\"}}").size(), 3000000U);
}

TEST_F(Tls, ARefusedBodyIsAnsweredThoughItIsStillBeingSent) {
  TlsClient client(port);
  ASSERT_TRUE(client.shake_hands());
  client.send("POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + std::string(50'000, 'x'));
  EXPECT_THAT(client.read_until("}"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(Tls, ADisconnectCancelsTheCall) {
  TlsClient client(port);
  ASSERT_TRUE(client.shake_hands());
  client.send(post(call("hang")));
  wait(hang.started.get_future());
  client.reset();
  wait(hang.cancelled.get_future());
}

TEST_F(Tls, AnotherCertificateComesWithoutALostConnection) {
  TlsClient old(port);
  ASSERT_TRUE(old.shake_hands());
  EXPECT_EQ(old.serial(), 1);
  const Credentials next = make_certificate(2);
  EXPECT_TRUE(on_server([&] { return http->reload(next).has_value(); }));
  old.send(post(kPing));
  EXPECT_THAT(old.read_until("\"result\":{}}"), StartsWith("HTTP/1.1 200 OK"));
  TlsClient fresh(port);
  ASSERT_TRUE(fresh.shake_hands());
  EXPECT_EQ(fresh.serial(), 2);
}

TEST_F(Tls, WhatCannotBeUsedChangesNothing) {
  Credentials foreign = make_certificate(3);
  foreign.private_key = make_certificate(4).private_key;
  Credentials nonsense = make_certificate(5);
  nonsense.certificate = "nonsense";
  Credentials no_key = make_certificate(6);
  no_key.private_key = Secret(std::string());
  for (const Credentials& bad : {foreign, nonsense, no_key}) {
    const auto loaded = on_server([&] { return http->reload(bad); });
    ASSERT_FALSE(loaded.has_value());
    EXPECT_THAT(loaded.error().message, StartsWith("tls."));
  }
  TlsClient client(port);
  ASSERT_TRUE(client.shake_hands());
  EXPECT_EQ(client.serial(), 1);
}

}  // namespace
}  // namespace asg::http::testing
