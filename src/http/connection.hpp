#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "answer.hpp"
#include "asg/base/task.hpp"
#include "exchange.hpp"
#include "request_reader.hpp"
#include "shared.hpp"
#include "wire.hpp"

namespace asg::http {

/// Serves one connection: reads a request, has it answered, again. The only reader and writer of its wire. In
/// shared->connections for as long as it lives. Thread: the front's single thread.
class Connection final : public ConnectionHandle {
 public:
  Connection(std::unique_ptr<Wire> wire, std::shared_ptr<Shared> shared);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override;

  /// Until the connection ends.
  Task<void> run();

  void close_if_idle() override;
  void abort() override;

 private:
  enum class Next { request, end };
  /// How much of one is here; until its head is whole, the connection stands in shared->without_request.
  enum class Request { none, begun, whole_head };

  Task<Next> serve_one();
  Task<Next> refuse(Answer answer);
  std::optional<Answer> check_head(const Head& head);
  void enter(Request request);
  void count(unsigned status);
  Task<Next> answer_head(Head head);
  Task<Next> answer_call(McpCall call, Head head);
  Task<Next> wait_for_reply(McpCall call);
  Task<Next> send_reply();
  Task<bool> begin_stream();
  Task<bool> pass_on_frames();
  Task<Next> end_stream();
  Task<Next> send(Answer answer);
  Task<bool> send_continue();
  Task<bool> write(std::string_view head, std::string_view body);
  Task<void> linger();
  [[nodiscard]] AfterAnswer after_answer() const;

  std::unique_ptr<Wire> wire_;
  std::shared_ptr<Shared> shared_;
  RequestReader reader_;
  std::shared_ptr<Exchange> exchange_;  // while a call runs
  std::string local_address_;
  std::string client_address_;
  Framing framing_;                     // of the present request
  std::size_t served_ = 0;
  std::optional<Admission> admission_;   // of the present request; in shared_
  Request request_ = Request::whole_head;
  std::list<ConnectionHandle*>::iterator place_;  // in shared->without_request, unless whole_head
  enum class Body { whole, none } body_ = Body::whole;  // none: HEAD
  enum class State { open, aborted } state_ = State::open;
};

}  // namespace asg::http
