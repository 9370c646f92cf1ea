#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "tls.hpp"

namespace asg::http {

namespace asio = boost::asio;

namespace {

constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";  // of TLS 1.2; those of 1.3 are all good
constexpr unsigned char kHttp11[] = "\x08http/1.1";

std::unexpected<Error> bad(const char* what, const boost::system::error_code& error) {
  ERR_clear_error();
  return fail(ErrorCode::invalid_argument, std::string(what) + ": " + error.message());
}

/// Clients that offer HTTP/2 as well are told which one it is; those that offer it alone go on and fail by themselves.
int select_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
                    void* /*argument*/) {
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kHttp11, sizeof kHttp11 - 1, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<TlsContext> make_tls_context(const Credentials& credentials) {
  if (credentials.certificate.empty()) return TlsContext();
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(native, kCiphers);
  SSL_CTX_set_alpn_select_cb(native, select_protocol, nullptr);
  boost::system::error_code error;
  // Without it OpenSSL would ask the terminal.
  context->set_password_callback([](std::size_t, asio::ssl::context::password_purpose) { return std::string(); }, error);
  context->use_certificate_chain(asio::buffer(credentials.certificate), error);
  if (error) return bad("tls.certificate_file", error);
  context->use_private_key(asio::buffer(credentials.private_key.reveal()), asio::ssl::context::pem, error);
  if (error) return bad("tls.key_file", error);
  if (SSL_CTX_check_private_key(native) != 1) {
    ERR_clear_error();
    return fail(ErrorCode::invalid_argument, "tls.key_file is not the key of tls.certificate_file");
  }
  return context;
}

}  // namespace asg::http
