#include "active_run.hpp"

#include <string.h>  // sigabbrev_np
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "asg/linux/io.hpp"
#include "asg/sandbox/output_files.hpp"
#include "asg/sandbox/payload_writer.hpp"
#include "asg/sandbox/stage_name.hpp"

namespace asg::executor {
namespace {

using sandbox::Cause;
using sandbox::Outcome;

constexpr int kTimedOut = 124;      // as timeout(1) has it
constexpr int kOutOfMemory = 137;   // 128 + SIGKILL
constexpr int kSignalBase = 128;
constexpr int kNonsense = 127;      // a program that says rubbish of itself
// All writers are dead when the pipes are drained: one pipe's worth is all that can be there.
constexpr std::size_t kDrainLimit = 4 << 20;
// A flood on one stream must not keep the others waiting.
constexpr std::size_t kReadAtOnce = 256 << 10;

/// Which ready sandbox serves it best. A wrong guess costs time and nothing else.
sandbox::Start start_of(const sandbox::RunSpec& spec) {
  // Modules of its own may bear the names of those that a warm interpreter has imported already.
  for (const auto& file : spec.files) {
    if (file.path.ends_with(".py")) return sandbox::Start::cold;
  }
  for (const char* name : {"numpy", "pandas", "requests", "PIL"}) {
    if (spec.code.find(name) != std::string::npos) return sandbox::Start::heavy;
  }
  return sandbox::Start::light;
}

std::string signal_name(int number) {
  if (const char* name = ::sigabbrev_np(number)) return std::string("SIG") + name;
  // The first real-time signals are the C library's own.
  return number < SIGRTMIN ? "SIG" + std::to_string(number) : "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
}

}  // namespace

ActiveRun::ActiveRun(boost::asio::io_context& io, LauncherClient& launcher, sandbox::RunId id, const sandbox::RunSpec& spec)
    : io_(io),
      launcher_(launcher),
      id_(id),
      timeout_(spec.timeout),
      out_(io, spec.output_cap),
      err_(io, spec.output_cap),
      control_(io),
      words_(io),
      deadline_(io) {}

Result<void> ActiveRun::start(const sandbox::RunSpec& spec, Done done) {
  auto payload = sys::make_sealed_memfd("payload", sandbox::encode_payload(spec));
  auto input = spec.stdin_text ? sys::make_sealed_memfd("stdin", *spec.stdin_text) : sys::UniqueFd();
  if (!payload) return std::unexpected(payload.error());
  if (!input) return std::unexpected(input.error());
  done_ = std::move(done);
  if (!spec.output_files.empty()) patterns_ = sandbox::encode_patterns(spec);
  started_ = Clock::now();
  launcher_.launch({.run = id_, .language = spec.language, .start = start_of(spec), .payload_fd = payload->get(), .stdin_fd = input->get()},
                   [self = shared_from_this()](Result<Launched> result) { self->launched(std::move(result)); });
  return {};
}

void ActiveRun::launched(Result<Launched> result) {
  if (!result) {
    end_ = End::killed;
    return complete(std::unexpected(result.error().in("starting the sandbox")));
  }
  launched_ = true;
  workspace_ = std::move(result->workspace);
  for (auto* fd : {&result->stdout_fd, &result->stderr_fd, &result->control}) {
    auto set = sys::set_nonblocking(fd->get());
    if (!set) setup_error_ = set.error();
  }
  out_.pipe.assign(result->stdout_fd.release());
  err_.pipe.assign(result->stderr_fd.release());
  control_.assign(result->control.release());
  if (result->words) words_.assign(result->words.release());
  if (end_) return end(*end_);  // cancelled meanwhile
  arm_deadline();
  read(out_);
  read(err_);
  listen();
  if (words_.is_open()) listen_to_program();
}

void ActiveRun::arm_deadline() {
  deadline_.expires_at(started_ + timeout_);
  deadline_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->end(End::timed_out);
  });
}

void ActiveRun::read(Stream& stream) {
  // Waits and then reads itself: bytes taken by an operation whose handler comes too late would be lost at the end.
  stream.pipe.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this(), &stream](const boost::system::error_code& error) {
                           // End of file says nothing: a child may hold the pipe, or have closed it early.
                           if (!error && self->done_ && take(stream, kReadAtOnce)) self->read(stream);
                         });
}

bool ActiveRun::take(Stream& stream, std::size_t most) {
  for (std::size_t taken = 0; taken < most;) {
    const ssize_t n = ::read(stream.pipe.native_handle(), stream.chunk.data(), stream.chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    stream.capture.append(std::span(stream.chunk.data(), static_cast<std::size_t>(n)));
    taken += static_cast<std::size_t>(n);
  }
  return true;
}

void ActiveRun::listen() {
  control_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (!error) self->take_control();
                      });
}

void ActiveRun::take_control() {
  sandbox::Control control;
  auto received = sys::receive_message(control_.native_handle(), sys::writable_bytes_of(control), MSG_DONTWAIT);
  if (received && !*received) return listen();
  if (!received || (*received)->size != sizeof control) return end(End::killed);
  switch (control.type) {
    case sandbox::ControlType::started:
      if (!(*received)->fds.empty()) workspace_ = std::move((*received)->fds[0]);
      return listen();
    case sandbox::ControlType::up:
    case sandbox::ControlType::ready:
    case sandbox::ControlType::go:
    case sandbox::ControlType::running: return listen();
    case sandbox::ControlType::exited:
      wait_status_ = static_cast<int>(control.value);
      return end(End::exited);
    case sandbox::ControlType::failed: return fail_setup(control);
  }
  end(End::killed);
}

void ActiveRun::fail_setup(const sandbox::Control& control) {
  setup_error_ = Error{.code = ErrorCode::sandbox,
                       .message = std::string(sandbox::stage_name(control.stage)) + " (step " + std::to_string(control.index) + ")",
                       .sys_errno = static_cast<int>(control.value)};
  end(End::killed);
}

void ActiveRun::listen_to_program() {
  words_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [self = shared_from_this()](const boost::system::error_code& error) {
                      if (!error && self->done_) self->take_words();
                    });
}

/// Until "running" the words are ours. From there on they are a claim: it may end the run and say with which status, nothing else.
void ActiveRun::take_words() {
  sandbox::Control control;
  const ssize_t n = ::read(words_.native_handle(), &control, sizeof control);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return listen_to_program();
  if (n <= 0) return;  // closed: who is its parent will tell how it ended
  const bool whole = n == sizeof control;
  if (whole && !program_speaks_ && control.type != sandbox::ControlType::exited) {
    if (control.type == sandbox::ControlType::failed) return fail_setup(control);
    program_speaks_ = control.type == sandbox::ControlType::running;
    return listen_to_program();
  }
  const int status = static_cast<int>(control.value);
  const bool possible = WIFEXITED(status) || (WIFSIGNALED(status) && WTERMSIG(status) <= SIGRTMAX);
  wait_status_ = whole && control.type == sandbox::ControlType::exited && possible ? status : kNonsense << 8;
  end(End::exited);
}

void ActiveRun::cancel() {
  if (launched_) return end(End::cancelled);
  if (!end_) end_ = End::cancelled;  // once launched, it ends at once
}

void ActiveRun::end(End why) {
  if (end_ && ended_ != Clock::time_point()) return;
  end_ = end_.value_or(why);
  ended_ = Clock::now();
  deadline_.cancel();
  boost::system::error_code ignored;
  control_.cancel(ignored);
  const auto on_used = [self = shared_from_this()](Result<sandbox::Usage32> usage) { self->used(std::move(usage)); };
  if (collects()) return end_and_collect(on_used);
  launcher_.finish(id_, on_used);
}

void ActiveRun::end_and_collect(const LauncherClient::OnFinished& on_used) {
  auto patterns = sys::make_sealed_memfd("patterns", patterns_);
  auto answer = sys::make_memfd("files");
  if (!patterns || !answer) {
    setup_error_ = patterns ? answer.error() : patterns.error();
    patterns_.clear();
    return launcher_.finish(id_, on_used);
  }
  collected_files_ = std::move(*answer);
  launcher_.finish_and_collect(
      id_, {.workspace = workspace_.get(), .patterns = patterns->get(), .answer = collected_files_.get()}, on_used,
      [self = shared_from_this()](const Result<void>& whole) { self->collected(whole); });
}

void ActiveRun::collected(const Result<void>& whole) {
  if (!outcome_) return;  // failed before
  if (*outcome_) {
    auto bytes = sys::read_whole(collected_files_.get());
    auto files = bytes ? sandbox::decode_files(*bytes) : std::unexpected(bytes.error());
    if (whole && files) (*outcome_)->files = std::move(*files);
    else (*outcome_)->files.push_back({.path = "*", .size = 0, .content = {}, .error = (whole ? files.error() : whole.error()).message});
  }
  complete(std::move(*outcome_));
}

void ActiveRun::used(Result<sandbox::Usage32> usage) {
  if (!usage) return complete(std::unexpected(usage.error()));
  for (Stream* stream : {&out_, &err_}) {
    if (stream->pipe.is_open()) (void)take(*stream, kDrainLimit);
  }
  if (!collects()) return complete(outcome(*usage));
  outcome_ = outcome(*usage);  // and the files come
}

Result<Outcome> ActiveRun::outcome(const sandbox::Usage32& usage) {
  if (setup_error_) return std::unexpected(setup_error_->in("setting the sandbox up"));
  Outcome result;
  result.out = out_.capture.finish();
  result.err = err_.capture.finish();
  result.duration = ended_ - started_;
  result.usage = {.cpu = std::chrono::milliseconds(usage.cpu_us / 1000),
                  .memory_peak_bytes = usage.memory_peak_bytes,
                  .processes_peak = usage.processes_peak > 0 ? usage.processes_peak - 1 : 0};  // less init
  // The kernel's own count decides on memory, unless something else had ended the run before.
  if (usage.oom_kills > 0 && (*end_ == End::exited || *end_ == End::killed)) {
    result.cause = Cause::out_of_memory;
    result.exit_code = kOutOfMemory;
    result.signal = "SIGKILL";
    return result;
  }
  switch (*end_) {
    case End::timed_out:
      result.cause = Cause::timed_out;
      result.exit_code = kTimedOut;
      return result;
    case End::cancelled:
      result.cause = Cause::cancelled;
      result.exit_code = kOutOfMemory;
      result.signal = "SIGKILL";
      return result;
    case End::killed: return fail(ErrorCode::sandbox, "the sandbox's init was killed from outside");
    case End::exited: break;
  }
  const int status = *wait_status_;
  if (WIFSIGNALED(status)) {
    result.cause = Cause::signaled;
    result.exit_code = kSignalBase + WTERMSIG(status);
    result.signal = signal_name(WTERMSIG(status));
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

void ActiveRun::complete(Result<Outcome> result) {
  boost::system::error_code ignored;
  deadline_.cancel();
  control_.close(ignored);
  words_.close(ignored);
  out_.pipe.close(ignored);
  err_.pipe.close(ignored);
  if (auto done = std::exchange(done_, nullptr)) done(std::move(result));
}

}  // namespace asg::executor
