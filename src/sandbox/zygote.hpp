#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"
#include "spawn.hpp"
#include "zygote_protocol.hpp"

namespace asg::sandbox {

/// One fork server: a Debian CPython with our extension, single-threaded, without secrets. Owned by the launcher, whose child it is,
/// and so are the processes it forks. Replaced after a number of forks or some minutes, since its children share its memory
/// layout and hash seed.
class Zygote {
 public:
  /// Starts the interpreter; it can be asked at once and answers when it has its imports.
  [[nodiscard]] static Result<std::unique_ptr<Zygote>> start(Preload preload, const Spawner& spawner, const std::vector<sock_filter>& filter);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;
  ~Zygote();

  /// Asks for a child; tag comes back with the answer. Answers come in the order of the requests.
  [[nodiscard]] Result<void> ask(const ForkRequest& request, const std::vector<int>& fds, std::uint64_t tag);

  struct Answer {
    std::uint64_t tag = 0;
    Result<sys::UniqueFd> child;  // pidfd
  };
  /// The next answer; nullopt: none yet. An Error: the zygote is gone.
  [[nodiscard]] Result<std::optional<Answer>> answer();

  /// It has its imports and forks at once.
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Requests without an answer; they are lost when it dies.
  [[nodiscard]] const std::deque<std::uint64_t>& asked() const { return asked_; }
  [[nodiscard]] bool worn_out() const;

 private:
  Zygote() = default;
  sys::UniqueFd pidfd_;
  sys::UniqueFd socket_;
  std::deque<std::uint64_t> asked_;
  bool ready_ = false;
  std::uint32_t forks_ = 0;
  std::int64_t started_s_ = 0;
};

}  // namespace asg::sandbox
