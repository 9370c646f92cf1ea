#include "asg/mcp/dispatcher.hpp"

#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include "asg/mcp/json_rpc.hpp"
#include "dispatcher_impl.hpp"
#include "era.hpp"

namespace asg::mcp {

namespace {

Reply error_reply(const std::optional<Id>& id, const Refusal& refusal, Era era) {
  std::optional<Id> echoed = id;
  if (!echoed && !refusal.id.empty()) echoed = Id{refusal.id};
  return {.http_status = wire_status(refusal.fault, era).http, .body = encode_error(echoed, refusal)};
}

const McpHeaders* headers_of(const Incoming& incoming) { return incoming.headers ? &*incoming.headers : nullptr; }

}  // namespace

Dispatcher::Dispatcher(std::vector<Tool*> tools, ServerInfo info, Logger log, std::chrono::milliseconds progress_interval)
    : impl_(std::make_unique<Impl>(std::move(tools), std::move(info), std::move(log), progress_interval)) {}

Dispatcher::~Dispatcher() = default;

Task<Reply> Dispatcher::handle(Incoming incoming) {
  auto decoded = decode(incoming.body);
  std::string().swap(incoming.body);  // up to the body limit: not kept while the call runs
  if (!incoming.cancel) incoming.cancel = std::make_shared<CancelToken>();
  if (const auto* refusal = std::get_if<Refusal>(&decoded)) co_return error_reply(std::nullopt, *refusal, Era::legacy);
  Payload payload = std::move(std::get<Payload>(decoded));
  if (payload.batch) {
    Reply replies = co_await impl_->run_batch(payload, incoming);
    co_return replies;
  }
  Message& message = payload.messages.front();
  Reply reply = co_await impl_->run_one(message, incoming);
  co_return reply;
}

Task<Reply> Dispatcher::Impl::run_one(Message& message, Incoming& incoming) {
  const McpHeaders* headers = headers_of(incoming);
  const auto decided = decide_era(message, headers);
  if (const auto* refusal = std::get_if<Refusal>(&decided)) co_return error_reply(message.id, *refusal, Era::legacy);
  const Era era = std::get<Era>(decided);
  if (message.kind != Kind::request) {
    on_notice(message, incoming);
    Reply accepted;
    accepted.http_status = 202;
    co_return accepted;
  }
  if (era == Era::modern) {
    if (const auto refusal = check_modern(message, headers)) co_return error_reply(message.id, *refusal, era);
  }
  Reply reply = co_await run_request(message, incoming, era);
  co_return reply;
}

Task<Reply> Dispatcher::Impl::run_batch(Payload& payload, Incoming& incoming) {
  if (const auto refusal = check_batch(payload, headers_of(incoming))) co_return error_reply(std::nullopt, *refusal, Era::legacy);
  std::vector<std::string> answers;
  for (Message& message : payload.messages) {
    if (message.kind != Kind::request) {
      on_notice(message, incoming);
      continue;
    }
    Reply reply = co_await run_request(message, incoming, Era::legacy);
    answers.push_back(std::move(reply.body));
  }
  Reply reply;
  reply.http_status = answers.empty() ? 202 : 200;
  if (!answers.empty()) reply.body = encode_batch(answers);
  co_return reply;
}

Task<Reply> Dispatcher::Impl::run_request(Message& message, Incoming& incoming, Era era) {
  const Method* method = find_method(message.method, era);
  if (method == nullptr) {
    Refusal refusal;
    refusal.fault = Fault::unknown_method;
    refusal.message = "Method not found: " + message.method.substr(0, kMaxNameShown);
    co_return error_reply(message.id, refusal, era);
  }
  Request request{.message = message, .incoming = incoming, .era = era, .cancelled_by_notice = false, .call_id = {}, .started = {}};
  Answer answer;
  // The one place where an exception of a request ends: the caller gets its id back, never the words of the exception.
  try {
    answer = co_await (this->*method->handler)(request);
  } catch (const std::exception& error) {
    log_event(log_, LogLevel::error, "request_failed", {{"method", method->name}, {"error", error.what()}});
    Refusal refusal;
    refusal.message = "Internal error";
    answer = std::move(refusal);
  }
  if (const auto* refusal = std::get_if<Refusal>(&answer)) co_return error_reply(message.id, *refusal, era);
  Reply reply;
  reply.body = encode_result_text(*message.id, std::get<std::string>(answer));
  reply.cancelled_by_notice = request.cancelled_by_notice;
  co_return reply;
}

void Dispatcher::Impl::on_notice(const Message& message, const Incoming& incoming) {
  if (message.method != "notifications/cancelled") return;  // the others need nothing of us
  const auto id = message.params.find("requestId");
  if (id == message.params.end()) return;
  if (const auto text = token_text(*id)) running_.cancel(incoming.caller.cancel_scope, *text);
}

}  // namespace asg::mcp
