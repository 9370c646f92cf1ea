#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/launcher.hpp"
#include "sandboxes.hpp"

namespace asg::sandbox {

/// Serves the front's requests and watches the sandboxes. One thread, one poll loop; ends when a socket is closed.
class LauncherLoop {
 public:
  LauncherLoop(const LauncherSettings& settings, sys::UniqueFd front, sys::UniqueFd supervisor);
  void run();

 private:
  enum class What { front, supervisor, light_zygote, heavy_zygote, control, words, main_process, init, out_of_memory, collector };
  struct Watched {
    What what;
    std::uint64_t id = 0;
  };

  void watch(int fd, What what, std::uint64_t id = 0);
  void watch_all();
  /// False: the launcher has to end.
  [[nodiscard]] bool heard(const Watched& watched);
  [[nodiscard]] bool serve_front();

  sys::UniqueFd front_;
  sys::UniqueFd supervisor_;
  Sandboxes sandboxes_;
  std::vector<pollfd> polled_;
  std::vector<Watched> watched_;
};

}  // namespace asg::sandbox
