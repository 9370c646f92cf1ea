#include "request_reader.hpp"

#include <utility>

#include <boost/beast/http/error.hpp>

#include "read_head.hpp"

namespace asg::http {

namespace beast_http = boost::beast::http;

namespace {

constexpr std::uint32_t kMaxHeadBytes = 32U << 10;
constexpr std::size_t kHeadRead = 4096;
constexpr std::size_t kBodyRead = 64UL << 10;

}  // namespace

using Status = RequestReader::Status;

Task<Status> RequestReader::fill(std::size_t bytes) {
  const auto space = buffer_.prepare(bytes);
  const std::size_t size = co_await wire_.read_some(space);
  buffer_.commit(size);
  co_return size > 0 ? Status::ready : Status::ended;
}

Task<Status> RequestReader::wait_for_bytes(std::chrono::milliseconds patience) {
  parser_.reset();
  lease_.release();
  if (has_bytes()) co_return Status::ready;
  buffer_.clear();
  buffer_.shrink_to_fit();  // thousands of idle connections hold no buffer for a body
  wire_.expires_after(patience);
  const Status status = co_await fill(kHeadRead);
  co_return status;
}

Task<Status> RequestReader::read_head() {
  parser_.emplace();
  parser_->header_limit(kMaxHeadBytes);
  parser_->body_limit(settings_.max_body_bytes);
  wire_.expires_after(settings_.header_timeout);
  while (!parser_->is_header_done()) {
    boost::system::error_code error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error && error != beast_http::error::need_more) co_return refuse(error);
    if (parser_->is_header_done()) break;
    const Status status = co_await fill(kHeadRead);
    if (status != Status::ready) co_return status;
  }
  co_return Status::ready;
}

Task<Status> RequestReader::read_body() {
  parser_->eager(true);
  wire_.expires_after(settings_.body_timeout);
  while (!parser_->is_done()) {
    boost::system::error_code error;
    if (has_bytes()) {
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (!lease_.grow_to(parser_->get().body().size())) co_return refuse_for_space();
    }
    if (error && error != beast_http::error::need_more) co_return refuse(error);
    if (parser_->is_done()) break;
    const Status status = co_await fill(kBodyRead);
    if (status != Status::ready) co_return status;
  }
  co_return Status::ready;
}

Head RequestReader::head() const { return http::read_head(parser_->get()); }

Status RequestReader::refuse(const boost::system::error_code& error) {
  if (error == beast_http::error::header_limit) {
    refusal_ = http::refusal(431, "the request head is too large", "size");
  } else if (error == beast_http::error::body_limit) {
    refusal_ = http::refusal(413, "the body is beyond the size limit of " + std::to_string(settings_.max_body_bytes) + " bytes", "size");
  } else {
    refusal_ = http::refusal(400, "malformed HTTP request", "framing");
  }
  return Status::refused;
}

Status RequestReader::refuse_for_space() {
  std::string().swap(parser_->get().body());  // not kept while the refusal is sent
  lease_.release();
  refusal_ = http::refusal(503, "too many large requests at once; CAPACITY_EXHAUSTED", "memory");
  refusal_.headers.emplace_back("Retry-After", "2");
  return Status::refused;
}

}  // namespace asg::http
