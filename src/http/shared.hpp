#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <unordered_set>
#include <utility>

#include "access.hpp"
#include "asg/http/server.hpp"
#include "byte_budget.hpp"
#include "guard.hpp"
#include "routes.hpp"
#include "tls.hpp"

namespace asg::http {

/// What the server can ask of a connection from outside.
class ConnectionHandle {
 public:
  virtual ~ConnectionHandle() = default;
  /// Closes it if it waits for a request.
  virtual void close_if_idle() = 0;
  /// Cancels its call and closes it.
  virtual void abort() = 0;
};

/// What all connections of one server share; kept alive by each of them. Thread: the front's single thread.
struct Shared {
  config::Server settings;
  Timing timing;
  mcp::Dispatcher& dispatcher;
  Metrics& metrics;
  Pages pages;
  Guard guard;
  Access access;
  ByteBudget bodies;
  TlsContext tls;  // null: plain HTTP
  Logger log;
  Draining draining = Draining::no;
  std::size_t open_calls = 0;
  std::function<void()> on_idle;  // waits for open_calls to become 0
  std::unordered_set<ConnectionHandle*> connections;
  std::list<ConnectionHandle*> without_request;  // those that wait for one, or for the rest of its head; oldest first

  void call_ended() {
    if (--open_calls == 0 && on_idle) std::exchange(on_idle, nullptr)();
  }
};

}  // namespace asg::http
