#include "asg/linux/io.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace asg::sys {

Result<UniqueFd> open_at(int dir_fd, const std::string& path, int flags, unsigned mode) {
  UniqueFd fd(::openat(dir_fd, path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd) return fail_errno("open " + path);
  return fd;
}

Result<std::string> read_file(int dir_fd, const std::string& path) {
  auto fd = open_at(dir_fd, path, O_RDONLY);
  if (!fd) return std::unexpected(fd.error());
  std::string text;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t n = ::read(fd->get(), chunk.data(), chunk.size());
    if (n == 0) return text;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read " + path);
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

Result<std::string> read_again(int fd) {
  std::string text(65536, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  if (n < 0) return fail_errno("pread");
  text.resize(static_cast<std::size_t>(n));
  return text;
}

Result<std::string> read_whole(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0) return fail_errno("lseek");
  std::string text(static_cast<std::size_t>(size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_errno("pread");
    done += static_cast<std::size_t>(n);
  }
  return text;
}

Result<void> write_file(int dir_fd, const std::string& path, std::string_view text) {
  auto fd = open_at(dir_fd, path, O_WRONLY);
  if (!fd) return std::unexpected(fd.error());
  if (::write(fd->get(), text.data(), text.size()) < 0) return fail_errno("write " + path);
  return {};
}

Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) return fail_errno("pipe2");
  return Pipe{.read_end = UniqueFd(fds[0]), .write_end = UniqueFd(fds[1])};
}

Result<std::pair<UniqueFd, UniqueFd>> make_message_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) return fail_errno("socketpair");
  return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

namespace {

Result<void> seal(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return fail_errno("sealing memfd");
  }
  return {};
}

}  // namespace

Result<UniqueFd> make_memfd(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return fail_errno("memfd_create");
  return fd;
}

Result<void> copy_file(int from, int to_memfd) {
  std::array<char, 65536> chunk;
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(from, chunk.data(), chunk.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("read from memfd");
    if (n == 0) return seal(to_memfd);
    for (ssize_t done = 0; done < n;) {
      const ssize_t m = ::pwrite(to_memfd, chunk.data() + done, static_cast<std::size_t>(n - done), at + done);
      if (m < 0 && errno == EINTR) continue;
      if (m < 0) return fail_errno("write to memfd");
      done += m;
    }
    at += n;
  }
}

Result<UniqueFd> make_sealed_memfd(const char* name, std::string_view bytes) {
  auto fd = make_memfd(name);
  if (!fd) return fd;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd->get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("write to memfd");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (::lseek(fd->get(), 0, SEEK_SET) != 0) return fail_errno("lseek of memfd");
  auto sealed = seal(fd->get());
  if (!sealed) return std::unexpected(sealed.error());
  return fd;
}

Result<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  iovec iov{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxMessageFds)> control{};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno != EINTR) return fail_errno("sendmsg");
  }
}

Result<std::optional<Received>> receive_message(int socket, std::span<std::byte> buffer, int flags) {
  iovec iov{.iov_base = buffer.data(), .iov_len = buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxMessageFds)> control{};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = -1;
  do {
    n = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::optional<Received>();
  if (n < 0) return fail_errno("recvmsg");
  Received received{.size = static_cast<std::size_t>(n), .fds = {}};
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return fail(ErrorCode::internal, "message cut short");
  return std::optional<Received>(std::move(received));
}

Result<void> set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail_errno("fcntl O_NONBLOCK");
  return {};
}

Result<void> keep_only(std::span<UniqueFd* const> kept, StandardStreams streams) {
  constexpr int kFirst = 3;
  const int end = kFirst + static_cast<int>(kept.size());
  for (UniqueFd* fd : kept) {  // out of the way of the places they go to
    const int high = ::fcntl(fd->get(), F_DUPFD_CLOEXEC, end);
    if (high < 0) return fail_errno("F_DUPFD_CLOEXEC");
    fd->reset(high);
  }
  int place = kFirst;
  for (UniqueFd* fd : kept) {
    if (::dup3(fd->get(), place, O_CLOEXEC) < 0) return fail_errno("dup3");
    fd->reset(place++);
  }
  if (::close_range(static_cast<unsigned>(end), ~0U, 0) != 0) return fail_errno("close_range");
  if (streams == StandardStreams::keep) return {};
  auto null = open_at(AT_FDCWD, "/dev/null", O_RDWR);
  if (!null) return std::unexpected(null.error());
  if (::dup2(null->get(), 0) < 0 || ::dup2(null->get(), 1) < 0) return fail_errno("dup2");
  return {};
}

}  // namespace asg::sys
