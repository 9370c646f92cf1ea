#include "asg/linux/io.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <string>

namespace asg::sys {
namespace {

std::string whole(int fd) { return read_again(fd).value(); }

TEST(UniqueFd, ClosesOnceAndMoves) {
  UniqueFd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = a.get();
  UniqueFd b(std::move(a));
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is what is looked at
  EXPECT_EQ(b.get(), number);
  b.reset();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(Messages, CarryBytesAndDescriptors) {
  auto pair = make_message_pair().value();
  auto file = make_sealed_memfd("sent", "hello").value();
  const int fds[] = {file.get()};
  const std::uint64_t value = 42;
  ASSERT_TRUE(send_message(pair.first.get(), bytes_of(value), fds));
  std::uint64_t got = 0;
  auto received = receive_message(pair.second.get(), writable_bytes_of(got)).value();
  ASSERT_TRUE(received);
  EXPECT_EQ(got, 42U);
  ASSERT_EQ(received->fds.size(), 1U);
  EXPECT_EQ(whole(received->fds[0].get()), "hello");
  EXPECT_NE(::fcntl(received->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Messages, SayWhenThereIsNoneAndWhenThePeerIsGone) {
  auto pair = make_message_pair().value();
  std::uint64_t got = 0;
  EXPECT_FALSE(*receive_message(pair.second.get(), writable_bytes_of(got), MSG_DONTWAIT));
  pair.first.reset();
  auto received = receive_message(pair.second.get(), writable_bytes_of(got)).value();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->size, 0U);
}

TEST(Messages, OneThatIsTooLongIsAnError) {
  auto pair = make_message_pair().value();
  const std::uint64_t value[2] = {1, 2};
  ASSERT_TRUE(send_message(pair.first.get(), std::as_bytes(std::span(value))));
  std::uint64_t got = 0;
  EXPECT_FALSE(receive_message(pair.second.get(), writable_bytes_of(got)));
}

TEST(Memfd, IsSealedAgainstEveryChange) {
  auto file = make_sealed_memfd("sealed", "text").value();
  EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(file.get(), 0), -1);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 0);
}

TEST(Memfd, IsFilledByACopyAndSealed) {
  const std::string text(200'000, 'q');
  auto from = make_sealed_memfd("from", text).value();
  auto to = make_memfd("to").value();
  ASSERT_TRUE(copy_file(from.get(), to.get()));
  struct stat info {};
  ASSERT_EQ(::fstat(to.get(), &info), 0);
  EXPECT_EQ(static_cast<std::size_t>(info.st_size), text.size());
  EXPECT_EQ(::lseek(to.get(), 0, SEEK_CUR), 0);
  EXPECT_EQ(::pwrite(to.get(), "x", 1, 0), -1);
}

TEST(Files, ErrorsNameThePath) {
  auto missing = read_file(AT_FDCWD, "/nonexistent/file");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().to_string().find("/nonexistent/file"), std::string::npos);
  EXPECT_EQ(missing.error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace asg::sys
