#pragma once

#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "asg/base/error.hpp"
#include "asg/http/credentials.hpp"
#include "wire.hpp"

namespace asg::http {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// TLS 1.2 and 1.3 with this certificate; null when there is none. Error: what is wrong with the files.
[[nodiscard]] Result<TlsContext> make_tls_context(const Credentials& credentials);

/// Keeps the context for as long as it lives: a connection ends under the certificate that it began with.
[[nodiscard]] std::unique_ptr<Wire> make_tls_wire(boost::asio::ip::tcp::socket socket, TlsContext context);

}  // namespace asg::http
