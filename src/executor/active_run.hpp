#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "asg/base/cancel.hpp"
#include "asg/executor/capture.hpp"
#include "asg/executor/launcher_client.hpp"
#include "asg/sandbox/outcome.hpp"
#include "asg/sandbox/run_spec.hpp"

namespace asg::executor {

/// One run, from the launch message to its outcome: reads both streams all the time, listens to its control socket, its
/// deadline and its caller, and lets the first of them decide. Keeps itself alive until done is called, exactly once.
/// Thread: the front's.
class ActiveRun : public std::enable_shared_from_this<ActiveRun> {
 public:
  using Done = std::function<void(Result<sandbox::Outcome>)>;
  using Clock = std::chrono::steady_clock;

  ActiveRun(boost::asio::io_context& io, LauncherClient& launcher, sandbox::RunId id, const sandbox::RunSpec& spec);

  /// An error means that nothing was started, and done is not called.
  [[nodiscard]] Result<void> start(const sandbox::RunSpec& spec, Done done);
  /// Ends it: the caller cancelled or went away. Later calls do nothing.
  void cancel();

 private:
  struct Stream {
    Stream(boost::asio::io_context& io, std::size_t cap) : pipe(io), capture(cap) {}
    boost::asio::posix::stream_descriptor pipe;
    Capture capture;
    std::array<char, 65536> chunk;
  };
  /// Why it ends, by what happened first.
  enum class End { exited, killed, timed_out, cancelled };

  void launched(Result<Launched> result);
  void read(Stream& stream);
  void listen();
  void take_control();
  void fail_setup(const sandbox::Control& control);
  void listen_to_program();
  void take_words();
  void arm_deadline();
  void end(End why);
  void used(Result<sandbox::Usage32> usage);
  [[nodiscard]] bool collects() const { return !patterns_.empty() && workspace_; }
  void end_and_collect(const LauncherClient::OnFinished& on_used);
  void collected(const Result<void>& whole);
  /// Reads what stands in the pipe; false at its end.
  static bool take(Stream& stream, std::size_t most);
  void complete(Result<sandbox::Outcome> result);
  [[nodiscard]] Result<sandbox::Outcome> outcome(const sandbox::Usage32& usage);

  boost::asio::io_context& io_;
  LauncherClient& launcher_;
  sandbox::RunId id_;
  std::chrono::nanoseconds timeout_;
  Stream out_;
  Stream err_;
  boost::asio::posix::stream_descriptor control_;
  boost::asio::posix::stream_descriptor words_;  // a warm program's own
  boost::asio::steady_timer deadline_;
  Clock::time_point started_;
  Clock::time_point ended_;
  std::optional<int> wait_status_;
  std::optional<Error> setup_error_;
  std::optional<End> end_;
  bool launched_ = false;
  bool program_speaks_ = false;   // its words are the program's now
  std::string patterns_;          // of output files, encoded; empty: none wanted
  sys::UniqueFd workspace_;       // where they are looked for
  sys::UniqueFd collected_files_; // the collector's answer
  std::optional<Result<sandbox::Outcome>> outcome_;  // waits for them
  Done done_;
};

}  // namespace asg::executor
