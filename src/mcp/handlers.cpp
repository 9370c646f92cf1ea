// The protocol's methods over the tools that were handed in.

#include <array>
#include <chrono>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "dispatcher_impl.hpp"
#include "era.hpp"

namespace asg::mcp {

namespace {

using Json = nlohmann::ordered_json;

constexpr CacheHint kListCache{.ttl_ms = 300'000};
constexpr CacheHint kDiscoverCache{.ttl_ms = 3'600'000};

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::size_t index(Era era) { return era == Era::legacy ? 0 : 1; }

Refusal invalid_params(std::string message) {
  return {.fault = Fault::invalid_params, .message = std::move(message), .data = {}, .id = {}};
}

/// Stops the progress of a call however the call ends.
class ProgressScope {
 public:
  explicit ProgressScope(std::shared_ptr<ProgressReporter> reporter) : reporter_(std::move(reporter)) {}
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;
  ~ProgressScope() {
    if (reporter_) reporter_->stop();
  }

 private:
  std::shared_ptr<ProgressReporter> reporter_;
};

/// Null unless the request asked for progress and the transport can send it.
std::shared_ptr<ProgressReporter> make_reporter(const boost::asio::any_io_executor& executor, const Request& request,
                                                const nlohmann::json& meta) {
  if (!request.incoming.notify || !meta.is_object()) return nullptr;
  const auto token = meta.find("progressToken");
  if (token == meta.end()) return nullptr;
  auto text = token_text(*token);
  if (!text) return nullptr;
  return std::make_shared<ProgressReporter>(executor, std::move(*text), request.incoming.notify);
}

}  // namespace

Dispatcher::Impl::Impl(std::vector<Tool*> tools, ServerInfo info, Logger log, std::chrono::milliseconds progress_interval)
    : tools_(std::move(tools)), info_(std::move(info)), log_(std::move(log)), progress_interval_(progress_interval) {
  for (const Era era : {Era::legacy, Era::modern}) {
    list_text_[index(era)] = dump(complete(list_result(tools_), era, info_, kListCache));
  }
  discover_text_ = dump(complete(discover_result(info_), Era::modern, info_, kDiscoverCache));
}

const Method* Dispatcher::Impl::find_method(std::string_view name, Era era) const {
  using In = Method::In;
  static constexpr std::array kMethods{
      Method{"initialize", In::legacy, &Impl::initialize},    Method{"ping", In::legacy, &Impl::ping},
      Method{"server/discover", In::modern, &Impl::discover}, Method{"tools/list", In::both, &Impl::list_tools},
      Method{"tools/call", In::both, &Impl::call_tool},
  };
  const In other = era == Era::legacy ? In::modern : In::legacy;
  for (const Method& method : kMethods) {
    if (method.name == name && method.eras != other) return &method;
  }
  return nullptr;
}

Tool* Dispatcher::Impl::find_tool(std::string_view name) const {
  for (Tool* tool : tools_) {
    if (tool->name() == name) return tool;
  }
  return nullptr;
}

Task<Answer> Dispatcher::Impl::initialize(Request& request) {
  const auto asked = request.message.params.find("protocolVersion");
  std::string version;  // an unknown or missing one is answered with ours, never refused
  if (asked != request.message.params.end() && asked->is_string()) version = asked->get<std::string>();
  co_return dump(initialize_result(info_, negotiate(version)));
}

Task<Answer> Dispatcher::Impl::ping(Request& /*request*/) { co_return "{}"; }

Task<Answer> Dispatcher::Impl::discover(Request& /*request*/) { co_return discover_text_; }

Task<Answer> Dispatcher::Impl::list_tools(Request& request) {
  const auto cursor = request.message.params.find("cursor");
  const bool given = cursor != request.message.params.end() && !cursor->is_null();
  if (given) co_return invalid_params("Invalid cursor");  // the list has one page: we never gave one out
  co_return list_text_[index(request.era)];
}

CallContext Dispatcher::Impl::make_context(Request& request) {
  request.call_id = "c" + std::to_string(++calls_);
  request.started = std::chrono::steady_clock::now();
  CallContext context;
  context.principal = request.incoming.caller.principal;
  context.client_address = request.incoming.caller.client_address;
  context.call_id = request.call_id;
  context.era = request.era;
  context.caller = request.incoming.caller.kind;
  context.cancel = request.incoming.cancel;
  const auto meta = request.message.params.find("_meta");
  if (meta != request.message.params.end() && meta->is_object()) context.meta = std::move(*meta);
  return context;
}

void Dispatcher::Impl::log_call(const Request& request, std::string_view tool, const std::string& outcome) const {
  const auto took = std::chrono::steady_clock::now() - request.started;
  const Caller& caller = request.incoming.caller;
  log_event(log_, LogLevel::info, "call",
            {{"id", request.call_id}, {"tool", tool}, {"outcome", outcome},
             {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()},
             {"key", caller.principal}, {"client", caller.client_address},
             {"era", request.era == Era::modern ? "modern" : "legacy"}});
}

Task<Answer> Dispatcher::Impl::call_tool(Request& request) {
  nlohmann::json& params = request.message.params;
  const auto name = params.find("name");
  if (name == params.end() || !name->is_string()) co_return invalid_params("params.name must be a string");
  Tool* tool = find_tool(name->get_ref<const std::string&>());
  if (tool == nullptr) {
    co_return invalid_params("Unknown tool: " + name->get_ref<const std::string&>().substr(0, kMaxNameShown));
  }
  nlohmann::json arguments = nlohmann::json::object();
  if (const auto given = params.find("arguments"); given != params.end() && !given->is_null()) {
    if (!given->is_object()) co_return invalid_params("params.arguments must be an object");
    arguments = std::move(*given);
  }
  CallContext context = make_context(request);
  const RunningCalls::Entry entry(running_, request.incoming.caller.cancel_scope, request.message.id->text, context.cancel);
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto reporter = make_reporter(executor, request, context.meta);
  const ProgressScope scope(reporter);
  if (reporter) {
    context.progress = [reporter](std::string_view phase) { reporter->say(phase); };
    reporter->start(progress_interval_);
  }
  ToolResult result = co_await tool->call(std::move(context), std::move(arguments));
  request.cancelled_by_notice = entry.cancelled_by_notice();
  log_call(request, tool->name(), result.outcome);
  result.body = complete(std::move(result.body), request.era, info_, std::nullopt);
  co_return encode_tool_result(result);
}

}  // namespace asg::mcp
