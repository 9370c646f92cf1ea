#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "asg/mcp/dispatcher.hpp"
#include "asg/mcp/json_rpc.hpp"
#include "messages.hpp"
#include "progress.hpp"
#include "running_calls.hpp"

namespace asg::mcp {

inline constexpr std::size_t kMaxNameShown = 128;  // of a caller's name in our words

/// The result as JSON text, or why there is none.
using Answer = std::variant<std::string, Refusal>;

struct Method;

/// One request on its way; lives in the frame of run_request.
struct Request {
  Message& message;
  Incoming& incoming;
  Era era;
  bool cancelled_by_notice = false;
  std::string call_id;
  std::chrono::steady_clock::time_point started;
};

class Dispatcher::Impl {
 public:
  Impl(std::vector<Tool*> tools, ServerInfo info, Logger log, std::chrono::milliseconds progress_interval);

  Task<Reply> run_one(Message& message, Incoming& incoming);
  Task<Reply> run_batch(Payload& payload, Incoming& incoming);

  // The methods; see the table in handlers.cpp.
  Task<Answer> initialize(Request& request);
  Task<Answer> ping(Request& request);
  Task<Answer> discover(Request& request);
  Task<Answer> list_tools(Request& request);
  Task<Answer> call_tool(Request& request);

 private:
  Task<Reply> run_request(Message& message, Incoming& incoming, Era era);
  void on_notice(const Message& message, const Incoming& incoming);
  [[nodiscard]] const Method* find_method(std::string_view name, Era era) const;
  [[nodiscard]] Tool* find_tool(std::string_view name) const;
  [[nodiscard]] CallContext make_context(Request& request);
  void log_call(const Request& request, std::string_view tool, const std::string& outcome) const;

  std::vector<Tool*> tools_;
  ServerInfo info_;
  Logger log_;
  std::chrono::milliseconds progress_interval_;
  RunningCalls running_;
  std::uint64_t calls_ = 0;
  std::string list_text_[2];      // by era: the list never changes, so neither does its text
  std::string discover_text_;
};

struct Method {
  enum class In { legacy, modern, both };
  std::string_view name;
  In eras;
  Task<Answer> (Dispatcher::Impl::*handler)(Request&);
};

}  // namespace asg::mcp
