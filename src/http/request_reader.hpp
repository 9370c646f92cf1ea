#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "answer.hpp"
#include "asg/base/task.hpp"
#include "asg/config/config.hpp"
#include "byte_budget.hpp"
#include "head.hpp"
#include "wire.hpp"

namespace asg::http {

/// Reads one request after the other off a wire, head and body apart, within the limits and deadlines of the settings.
/// Bytes behind a request stay for the next one.
class RequestReader {
 public:
  /// All outlive the reader.
  RequestReader(Wire& wire, const config::Server& settings, ByteBudget& bodies) : wire_(wire), settings_(settings), lease_(bodies) {}

  /// Ready: something of a request is here. Ended: the other side closed, or the time was over.
  enum class Status { ready, ended, refused };

  Task<Status> wait_for_bytes(std::chrono::milliseconds patience);
  /// After refused, refusal() says what to answer.
  Task<Status> read_head();
  Task<Status> read_body();

  [[nodiscard]] Head head() const;
  [[nodiscard]] Answer& refusal() { return refusal_; }
  /// Whether nothing of the request is left to read.
  [[nodiscard]] bool complete() const { return parser_->is_done(); }
  [[nodiscard]] bool wants_keep_alive() const { return parser_->keep_alive(); }
  /// It counts in the budget until release_body().
  [[nodiscard]] std::string take_body() { return std::move(parser_->get().body()); }
  void release_body() { lease_.release(); }
  [[nodiscard]] bool has_bytes() const { return buffer_.size() > 0; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  Task<Status> fill(std::size_t bytes);
  Status refuse(const boost::system::error_code& error);
  Status refuse_for_space();

  static constexpr std::size_t kMaxBuffer = 128UL << 10;

  Wire& wire_;
  const config::Server& settings_;
  ByteBudget::Lease lease_;
  boost::beast::flat_buffer buffer_{kMaxBuffer};
  std::optional<Parser> parser_;
  Answer refusal_;
};

}  // namespace asg::http
