#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "head.hpp"

namespace asg::http {

/// Copies what we decide by out of Beast's fields.
[[nodiscard]] Head read_head(const boost::beast::http::request_header<>& header);

}  // namespace asg::http
