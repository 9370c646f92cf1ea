#pragma once
// Small wrappers over system calls: each names what failed, none logs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/linux/unique_fd.hpp"

namespace asg::sys {

/// openat(2) with O_CLOEXEC added. dir_fd may be AT_FDCWD.
[[nodiscard]] Result<UniqueFd> open_at(int dir_fd, const std::string& path, int flags, unsigned mode = 0);

/// Whole text of a small file (procfs, cgroupfs, /etc), read anew from its start.
[[nodiscard]] Result<std::string> read_file(int dir_fd, const std::string& path);
/// From the start of an open descriptor (pread), at most 64 KiB.
[[nodiscard]] Result<std::string> read_again(int fd);
/// All of an open file, from its start.
[[nodiscard]] Result<std::string> read_whole(int fd);
/// Writes text in one write(2), as procfs and cgroupfs want it.
[[nodiscard]] Result<void> write_file(int dir_fd, const std::string& path, std::string_view text);

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};
[[nodiscard]] Result<Pipe> make_pipe();

/// SOCK_SEQPACKET pair: messages keep their borders, and a peer's death is end of file.
[[nodiscard]] Result<std::pair<UniqueFd, UniqueFd>> make_message_pair();

/// A memfd that holds bytes and can no longer be changed (all seals set).
[[nodiscard]] Result<UniqueFd> make_sealed_memfd(const char* name, std::string_view bytes);
/// An empty memfd, to be filled and sealed by copy_file.
[[nodiscard]] Result<UniqueFd> make_memfd(const char* name);
/// Writes all of a file to the start of an empty memfd, whose own position stays at its start, and seals that.
[[nodiscard]] Result<void> copy_file(int from, int to_memfd);

inline constexpr std::size_t kMaxMessageFds = 16;

/// Sends one message with descriptors (SCM_RIGHTS, unix(7)); they stay the caller's. EAGAIN is an error here: no message of
/// ours is larger than a socket's buffer.
[[nodiscard]] Result<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds = {});

struct Received {
  std::size_t size = 0;  // 0: the peer is gone
  std::vector<UniqueFd> fds;
};
/// Receives one message into buffer. nullopt: nothing there (non-blocking use). A truncated message is an error.
[[nodiscard]] Result<std::optional<Received>> receive_message(int socket, std::span<std::byte> buffer, int flags = 0);

template <class T>
[[nodiscard]] std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
template <class T>
[[nodiscard]] std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

[[nodiscard]] Result<void> set_nonblocking(int fd);

/// After a fork without exec: moves the given descriptors to 3, 4, ... and closes every other one above 2, so that nothing of the
/// parent's stays open. Standard input and output become /dev/null where asked for.
enum class StandardStreams { keep, only_stderr };
[[nodiscard]] Result<void> keep_only(std::span<UniqueFd* const> kept, StandardStreams streams);

}  // namespace asg::sys
