#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <map>
#include <span>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/protocol.hpp"

namespace asg::executor {

struct Launched {
  sys::UniqueFd stdout_fd;
  sys::UniqueFd stderr_fd;
  sys::UniqueFd control;
  sys::UniqueFd words;      // of a warm sandbox
  sys::UniqueFd workspace;  // O_PATH; a cold sandbox sends it on its control socket instead
};

/// The front's end of the launcher. Thread: the front's.
class LauncherClient {
 public:
  using OnLaunched = std::function<void(Result<Launched>)>;
  using OnFinished = std::function<void(Result<sandbox::Usage32>)>;
  using OnCollected = std::function<void(Result<void>)>;
  using OnGone = std::function<void(sandbox::RunId)>;

  /// on_gone hears of each run whose processes and control group are gone, also when the launcher died with it.
  LauncherClient(boost::asio::io_context& io, OnGone on_gone);

  /// A new launcher, the first one or after the death of another.
  void attach(sys::UniqueFd socket);
  [[nodiscard]] bool attached() const { return socket_.is_open(); }

  struct Launch {
    sandbox::RunId run = 0;
    sandbox::Language language{};
    sandbox::Start start{};
    int payload_fd = -1;
    int stdin_fd = -1;  // -1: none
  };
  /// Starts a run. Descriptors stay the caller's. on_launched is called later, on this thread, exactly once.
  void launch(const Launch& what, OnLaunched on_launched);
  /// Kills what is left of a launched run and asks what it used; exactly once for each launched run.
  void finish(sandbox::RunId run, OnFinished on_finished);

  /// Descriptors of a collection; they stay the caller's.
  struct Collection {
    int workspace = -1;
    int patterns = -1;
    int answer = -1;  // an empty memfd
  };
  /// The same, and has files collected when everything is dead. on_collected comes after on_finished, exactly once.
  void finish_and_collect(sandbox::RunId run, const Collection& collection, OnFinished on_finished, OnCollected on_collected);

 private:
  void wait();
  void read_all();
  void take(const sandbox::Message& message, std::vector<sys::UniqueFd> fds);
  void lost();
  [[nodiscard]] bool send_finish(sandbox::RunId run, std::span<const int> fds);

  struct Pending {
    OnLaunched on_launched;
    OnFinished on_finished;
    OnCollected on_collected;
  };
  boost::asio::io_context& io_;
  boost::asio::posix::stream_descriptor socket_;
  OnGone on_gone_;
  std::map<sandbox::RunId, Pending> pending_;
};

}  // namespace asg::executor
