#include "asg/sandbox/seccomp.hpp"

#include <linux/audit.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>

#include "sandbox/seccomp_rules.hpp"
#include "support/bpf_evaluator.hpp"

namespace asg::sandbox {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t error(int number) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number); }

class Seccomp : public testing::Test {
 protected:
  static void SetUpTestSuite() { filter_ = compile_filter().value(); }
  static std::uint32_t verdict(long call, std::initializer_list<std::uint64_t> arguments = {}, std::uint32_t arch = AUDIT_ARCH_X86_64) {
    seccomp_data data{};
    data.nr = static_cast<int>(call);
    data.arch = arch;
    std::copy(arguments.begin(), arguments.end(), data.args);
    return test::evaluate(filter_, data);
  }
  static inline std::vector<sock_filter> filter_;
};

struct Case {
  const char* what;
  long call;
  std::initializer_list<std::uint64_t> arguments;
  std::uint32_t expected;
};

TEST_F(Seccomp, AnswersEachCallAsTheTableSays) {
  const Case cases[] = {
      {"ordinary reading", SYS_read, {}, kAllow},
      {"a thread", SYS_clone, {CLONE_VM | CLONE_THREAD | CLONE_SIGHAND}, kAllow},
      {"a new user namespace", SYS_clone, {CLONE_NEWUSER}, error(EPERM)},
      {"a new mount namespace among other flags", SYS_clone, {CLONE_NEWNS | CLONE_VM}, error(EPERM)},
      {"a new time namespace", SYS_clone, {CLONE_NEWTIME}, error(EPERM)},
      {"clone3: libc falls back on ENOSYS only", SYS_clone3, {}, error(ENOSYS)},
      {"io_uring: libuv falls back on ENOSYS", SYS_io_uring_setup, {}, error(ENOSYS)},
      {"a call newer than the list", 462, {}, error(ENOSYS)},
      {"a call of the x32 kind", 0x40000000 + SYS_read, {}, error(ENOSYS)},
      {"unshare", SYS_unshare, {}, error(EPERM)},
      {"mount", SYS_mount, {}, error(EPERM)},
      {"ptrace", SYS_ptrace, {}, error(EPERM)},
      {"bpf", SYS_bpf, {}, error(EPERM)},
      {"keyctl", SYS_keyctl, {}, error(EPERM)},
      {"userfaultfd", SYS_userfaultfd, {}, error(ENOSYS)},
      {"TCP", SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, kAllow},
      {"a raw socket", SYS_socket, {AF_INET, SOCK_RAW, 1}, error(EPERM)},
      {"a packet socket", SYS_socket, {AF_PACKET, SOCK_DGRAM, 0}, error(EPERM)},
      {"vsock", SYS_socket, {40, SOCK_STREAM, 0}, error(EPERM)},
      {"kernel crypto", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, error(EPERM)},
      {"interfaces by netlink", SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0}, kAllow},
      {"other netlink families", SYS_socket, {AF_NETLINK, SOCK_RAW, 12}, error(EPERM)},
      {"isatty", SYS_ioctl, {0, TCGETS}, kAllow},
      {"typing into a terminal", SYS_ioctl, {0, TIOCSTI}, error(EPERM)},
      {"the same with high bits that the kernel does not read", SYS_ioctl, {0, 0xdead00000000 | TIOCSTI}, error(EPERM)},
      {"an allowed one with such bits", SYS_ioctl, {0, 0xdead00000000 | FIONREAD}, kAllow},
      {"a fifo", SYS_mknodat, {0, 0, S_IFIFO | 0600}, kAllow},
      {"a block device", SYS_mknodat, {0, 0, S_IFBLK | 0600}, error(EPERM)},
      {"asking for the personality", SYS_personality, {0xffffffff}, kAllow},
      {"switching address randomisation off", SYS_personality, {0x0040000}, error(EPERM)},
      {"a thread's name", SYS_prctl, {15}, kAllow},
      {"another memory map", SYS_prctl, {35}, error(EPERM)},
      {"attributes of a copied file", SYS_setxattr, {}, error(EOPNOTSUPP)},
  };
  for (const Case& item : cases) EXPECT_EQ(verdict(item.call, item.arguments), item.expected) << item.what;
}

TEST_F(Seccomp, ForeignArchitecturesGetAnErrorAndNoKill) {
  EXPECT_EQ(verdict(SYS_read, {}, AUDIT_ARCH_I386), error(ENOSYS));
  EXPECT_EQ(verdict(SYS_read, {}, AUDIT_ARCH_AARCH64), error(ENOSYS));
}

TEST_F(Seccomp, NeverKills) {
  for (std::uint64_t argument : {0ULL, 1ULL, ~0ULL}) {
    for (int call = 0; call < 600; ++call) {
      const std::uint32_t action = verdict(call, {argument, argument, argument}) & SECCOMP_RET_ACTION_FULL;
      EXPECT_TRUE(action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_ERRNO) << call;
    }
  }
}

TEST(SeccompRules, EachHasItsReasonAndNoneStandsTwice) {
  std::set<std::string> seen;
  for (const Rule& rule : seccomp_rules()) {
    EXPECT_GT(std::string(rule.why).size(), 3U) << rule.call;
    std::string key = std::string(rule.call) + "/" + std::to_string(static_cast<int>(rule.action));
    for (std::size_t i = 0; i < rule.condition_count; ++i) {
      key += "/" + std::to_string(rule.conditions[i].argument) + "=" + std::to_string(rule.conditions[i].value);
    }
    EXPECT_TRUE(seen.insert(key).second) << key;
  }
}

/// An unconditional permission would swallow the conditions of the same call.
TEST(SeccompRules, NoCallIsAllowedBothWithAndWithoutConditions) {
  std::map<std::string, std::set<bool>> kinds;
  for (const Rule& rule : seccomp_rules()) {
    if (rule.action == Action::allow) kinds[rule.call].insert(rule.condition_count > 0);
  }
  for (const auto& [call, kind] : kinds) EXPECT_EQ(kind.size(), 1U) << call;
}

TEST(SeccompRules, TheDescriptionNamesEveryRule) {
  const std::string text = describe_filter();
  for (const Rule& rule : seccomp_rules()) EXPECT_NE(text.find(std::string(" ") + rule.call), std::string::npos) << rule.call;
}

}  // namespace
}  // namespace asg::sandbox
