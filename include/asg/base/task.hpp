#pragma once
// The one coroutine type. g++ 12.2 miscompiles several co_await forms (src/README.md, "Coroutines"): in a co_await
// expression only names, std::move(name) and literals.

#include <boost/asio/awaitable.hpp>

namespace asg {

template <class T>
using Task = boost::asio::awaitable<T>;

}  // namespace asg
