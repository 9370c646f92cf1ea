#include "connection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "disconnect_watch.hpp"
#include "http_metrics.hpp"

namespace asg::http {

namespace asio = boost::asio;

namespace {

using Status = RequestReader::Status;
using Clock = asio::steady_timer::clock_type;

constexpr std::size_t kWriteSlice = 256UL << 10;  // each has a deadline of its own: only silence is cut off
constexpr unsigned kStreamStatus = 200;
constexpr std::chrono::seconds kLinger{1};
constexpr std::size_t kLingerBytes = 1UL << 20;

/// The wait for the other side to go away, for as long as a call runs.
class WatchScope {
 public:
  WatchScope(asio::ip::tcp::socket& socket, std::function<void()> gone)
      : watch_(std::make_shared<DisconnectWatch>(socket, std::move(gone))) {
    watch_->start();
  }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
  ~WatchScope() { watch_->stop(); }

 private:
  std::shared_ptr<DisconnectWatch> watch_;
};

std::string address_of(const asio::ip::tcp::endpoint& endpoint) {
  auto address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

mcp::Caller caller_of(const Head& head, const Admission& admission) {
  mcp::Caller caller;
  caller.kind = caller_kind(head);
  caller.client_address = head.client_address;
  caller.principal = admission.principal;
  // Without a key there is no telling whose id 0 is meant by notifications/cancelled.
  if (!admission.principal.empty()) caller.cancel_scope = "key:" + admission.principal;
  return caller;
}

}  // namespace

Connection::Connection(std::unique_ptr<Wire> wire, std::shared_ptr<Shared> shared)
    : wire_(std::move(wire)), shared_(std::move(shared)), reader_(*wire_, shared_->settings, shared_->bodies) {
  boost::system::error_code ignored;
  local_address_ = address_of(wire_->socket().local_endpoint(ignored));
  client_address_ = address_of(wire_->socket().remote_endpoint(ignored));
  shared_->connections.insert(this);
  enter(Request::none);
}

Connection::~Connection() {
  enter(Request::whole_head);
  shared_->connections.erase(this);
}

/// Keeps the list of those that may be closed to make room.
void Connection::enter(Request request) {
  if (request_ != Request::whole_head && request == Request::whole_head) shared_->without_request.erase(place_);
  if (request_ == Request::whole_head && request != Request::whole_head) {
    place_ = shared_->without_request.insert(shared_->without_request.end(), this);
  }
  request_ = request;
}

void Connection::close_if_idle() {
  if (request_ == Request::none) abort();
}

void Connection::abort() {
  enter(Request::whole_head);
  state_ = State::aborted;
  if (exchange_) exchange_->abandon();
  wire_->close();
}

Task<void> Connection::run() {
  wire_->expires_after(shared_->settings.header_timeout);
  const bool opened = co_await wire_->open();
  Next next = opened ? Next::request : Next::end;
  while (next == Next::request) next = co_await serve_one();
  enter(Request::whole_head);
  if (opened && state_ == State::open) co_await linger();
  wire_->close();
}

Task<Connection::Next> Connection::serve_one() {
  const bool kept_alive = served_ > 0;
  admission_.reset();
  if (state_ == State::aborted || (kept_alive && shared_->draining == Draining::yes && !reader_.has_bytes())) co_return Next::end;
  // A new connection has the time of a head for its first byte; one that was kept alive may idle.
  const std::chrono::milliseconds patience = kept_alive ? shared_->settings.idle_timeout : shared_->settings.header_timeout;
  enter(Request::none);
  Status status = co_await reader_.wait_for_bytes(patience);
  if (status != Status::ready || state_ == State::aborted) co_return Next::end;
  enter(Request::begun);
  ++served_;
  framing_ = {};
  body_ = Body::whole;
  status = co_await reader_.read_head();
  if (status == Status::ended || state_ == State::aborted) co_return Next::end;
  enter(Request::whole_head);
  if (status == Status::refused) {
    Answer refusal = std::move(reader_.refusal());
    Next refused = co_await refuse(std::move(refusal));
    co_return refused;
  }
  Head head = reader_.head();
  head.local_address = local_address_;
  head.client_address = client_address_;
  Next next = co_await answer_head(std::move(head));
  co_return next;
}

/// What follows on this connection cannot be told from what was not read.
Task<Connection::Next> Connection::refuse(Answer answer) {
  framing_.after = AfterAnswer::close;
  Next next = co_await send(std::move(answer));
  co_return next;
}

/// Whether the caller may ask at all; then admission_ holds who it is.
std::optional<Answer> Connection::check_head(const Head& head) {
  if (auto refused = shared_->guard.check(head)) return refused;
  framing_.allow_origin = shared_->guard.allow_origin(head);
  const Needs needed = needs(head);
  if (needed == Needs::key) {
    auto known = shared_->access.authenticate(head);
    if (auto* refused = std::get_if<Answer>(&known)) return std::move(*refused);
  }
  if (needed == Needs::admission) {
    auto admitted = shared_->access.admit(head, Clock::now());
    if (auto* refused = std::get_if<Answer>(&admitted)) return std::move(*refused);
    admission_ = std::move(std::get<Admission>(admitted));
    framing_.headers = admission_->headers;
  }
  return std::nullopt;
}

Task<Connection::Next> Connection::answer_head(Head head) {
  framing_.after = after_answer();
  if (head.method == "HEAD") body_ = Body::none;
  auto refused = check_head(head);
  if (!refused) {
    auto routed = route(head, shared_->pages, shared_->draining);
    if (auto* call = std::get_if<McpCall>(&routed)) {
      const McpCall wanted = *call;
      Next called = co_await answer_call(wanted, std::move(head));
      co_return called;
    }
    refused = std::move(std::get<Answer>(routed));
  }
  if (!reader_.complete()) framing_.after = AfterAnswer::close;
  Answer answer = std::move(*refused);
  Next next = co_await send(std::move(answer));
  co_return next;
}

Task<Connection::Next> Connection::answer_call(McpCall call, Head head) {
  if (head.expect.present() && head.version == HttpVersion::one_one && !reader_.complete()) {
    const bool sent = co_await send_continue();
    if (!sent) co_return Next::end;
  }
  const Status status = co_await reader_.read_body();
  if (status == Status::ended) co_return Next::end;
  if (status == Status::refused) {
    Answer refusal = std::move(reader_.refusal());
    Next refused = co_await refuse(std::move(refusal));
    co_return refused;
  }
  framing_.after = after_answer();
  mcp::Incoming incoming;
  incoming.body = reader_.take_body();
  shared_->metrics.add(kReceived, {}, incoming.body.size());
  incoming.caller = caller_of(head, *admission_);
  incoming.headers = std::move(head.mcp);
  const auto executor = wire_->socket().get_executor();
  exchange_ = std::make_shared<Exchange>(executor, shared_);
  exchange_->start(std::move(incoming), call.streams);
  Next next = co_await wait_for_reply(call);
  exchange_.reset();
  reader_.release_body();
  co_return next;
}

Task<Connection::Next> Connection::wait_for_reply(McpCall call) {
  Exchange& exchange = *exchange_;
  const bool may_stream = call.streams == McpCall::Streams::yes;
  bool streaming = false;
  Clock::time_point next_words = may_stream ? Clock::now() + shared_->timing.stream_after : Clock::time_point::max();
  {
    const WatchScope watch(wire_->socket(), [&exchange] { exchange.abandon(); });
    while (!exchange.done()) {
      if (exchange.abandoned() || exchange.frames().empty()) {
        const auto until = exchange.abandoned() ? Clock::time_point::max() : next_words;
        co_await exchange.wait_until(until);
      }
      if (exchange.done() || exchange.abandoned()) continue;
      const bool late = Clock::now() >= next_words;
      if (exchange.frames().empty() && !late) continue;
      bool written = streaming;
      if (!streaming) written = co_await begin_stream();
      streaming = true;
      if (written) written = co_await pass_on_frames();
      if (!written) exchange.abandon();
      next_words = Clock::now() + shared_->timing.keep_alive;
    }
  }
  if (exchange.abandoned()) co_return Next::end;
  if (!streaming && !exchange.frames().empty()) streaming = co_await begin_stream();
  Next next = Next::end;
  if (streaming) {
    next = co_await end_stream();
  } else {
    next = co_await send_reply();
  }
  co_return next;
}

Task<Connection::Next> Connection::send_reply() {
  mcp::Reply& reply = exchange_->reply();
  Answer answer;
  answer.status = static_cast<unsigned>(reply.http_status);
  answer.body = std::move(reply.body);
  Next next = co_await send(std::move(answer));
  co_return next;
}

void Connection::count(unsigned status) { shared_->metrics.add(kResponses, {{"status", std::to_string(status)}}); }

Task<bool> Connection::begin_stream() {
  count(kStreamStatus);
  const std::string head = encode_stream_head(framing_);
  const std::string first = encode_comment("ok");  // so that the head leaves at once, through proxies too
  const bool written = co_await write(head, first);
  co_return written;
}

/// What has come, or a comment when nothing has.
Task<bool> Connection::pass_on_frames() {
  std::string bytes;
  for (const std::string& frame : exchange_->frames()) bytes += encode_event(frame);
  if (bytes.empty()) bytes = encode_comment("keepalive");
  exchange_->frames().clear();
  const bool written = co_await write(bytes, "");
  co_return written;
}

Task<Connection::Next> Connection::end_stream() {
  std::string bytes;
  for (const std::string& frame : exchange_->frames()) bytes += encode_event(frame);
  exchange_->frames().clear();
  bytes += encode_event(exchange_->reply().body);
  const bool written = co_await write(bytes, kLastChunk);
  co_return written && framing_.after == AfterAnswer::keep ? Next::request : Next::end;
}

Task<Connection::Next> Connection::send(Answer answer) {
  count(answer.status);
  if (!answer.reason.empty()) shared_->metrics.add(kRejected, {{"reason", answer.reason}});
  const std::string head = encode_head(answer, framing_);
  const std::string_view body = body_ == Body::whole ? std::string_view(answer.body) : std::string_view();
  const bool written = co_await write(head, body);
  co_return written && framing_.after == AfterAnswer::keep ? Next::request : Next::end;
}

Task<bool> Connection::send_continue() {
  const bool written = co_await write("HTTP/1.1 100 Continue\r\n\r\n", "");
  co_return written;
}

Task<bool> Connection::write(std::string_view head, std::string_view body) {
  bool written = true;
  do {
    const std::string_view slice = body.substr(0, std::min(body.size(), kWriteSlice));
    body.remove_prefix(slice.size());
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head), asio::buffer(slice)};
    wire_->expires_after(shared_->timing.write_deadline);
    written = co_await wire_->write(parts);
    if (written) shared_->metrics.add(kSent, {}, head.size() + slice.size());
    head = {};
  } while (written && !body.empty());
  if (!written && state_ == State::open) shared_->metrics.add(kConnectionsDropped, {{"reason", "unwritable"}});
  co_return written;
}

/// Lets the last answer arrive: closing with unread bytes would reset the connection and may take the answer with it.
Task<void> Connection::linger() {
  wire_->expires_after(kLinger);
  co_await wire_->shutdown_send();
  std::array<char, 4096> waste{};
  const auto space = asio::buffer(waste);
  for (std::size_t read = 0; read < kLingerBytes;) {
    const std::size_t size = co_await wire_->read_some(space);
    if (size == 0) break;
    read += size;
  }
}

AfterAnswer Connection::after_answer() const {
  return reader_.wants_keep_alive() && shared_->draining == Draining::no ? AfterAnswer::keep : AfterAnswer::close;
}

}  // namespace asg::http
