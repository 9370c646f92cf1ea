// Namespaces, ids, rights and descriptors, from inside and from outside.

#include <map>
#include <sstream>

#include "sandbox_fixture.hpp"

namespace asg::test {
namespace {

using testing::HasSubstr;

class Isolation : public SandboxTest {};
INSTANTIATE_TEST_SUITE_P(, Isolation, testing::Bool(), name_of);

std::map<std::string, std::string> namespaces(const std::string& lines) {
  std::map<std::string, std::string> all;
  std::istringstream text(lines);
  for (std::string name, id; text >> name >> id;) all[name] = id;
  return all;
}

TEST_P(Isolation, EveryNamespaceIsItsOwn) {
  const std::string code =
      "import os\nfor n in ('user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'): print(n, os.readlink('/proc/self/ns/' + n))\n";
  const Process self(::getpid());
  const Process launcher(sandboxes_->launcher_pid());
  // At the same time: the kernel may use a number again.
  const auto held = begin_probe("import sys\n" + code + "sys.stdout.flush()");
  const Process other = probe();
  const auto inside = namespaces(prints(code));
  ASSERT_EQ(inside.size(), 7U);
  for (const auto& [name, id] : inside) {
    EXPECT_NE(id, self.link("ns/" + name)) << name;
    EXPECT_NE(id, launcher.link("ns/" + name)) << name;
    EXPECT_NE(id, other.link("ns/" + name)) << name;
  }
  end(held);
}

TEST_P(Isolation, SeenFromOutsideItHasNoRightAtAll) {
  const auto call = begin_probe();
  const Process program = probe();
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) EXPECT_EQ(program[set], "0000000000000000") << set;
  EXPECT_EQ(program["NoNewPrivs"], "1");
  EXPECT_EQ(program["Seccomp"], "2");
  EXPECT_EQ(program["Groups"], "");
  const auto numbers = program.numbers();
  ASSERT_EQ(numbers.size(), 3U) << "host, launcher, sandbox";
  EXPECT_EQ(numbers[2], 2);
  const Process init(program.parent() == sandboxes_->launcher_pid() ? 0 : program.parent());
  EXPECT_EQ(init.pid == 0, warm()) << "a program of a zygote's is the launcher's child, a cold one is init's";
  end(call);
}

TEST_P(Isolation, EachHasAnIdOfItsOwnOutsideAndOneThousandInside) {
  EXPECT_EQ(prints("import os; print(os.getresuid(), os.getresgid(), os.getgroups(), open('/proc/self/uid_map').read().split()[0::2])"),
            "(1000, 1000, 1000) (1000, 1000, 1000) [] ['1000', '1']\n");
  const auto first = begin_probe();
  const auto second = begin_probe();
  ASSERT_TRUE(sandboxes_->until([&] { return sandboxes_->named("probe").size() == 2; }));
  const auto programs = sandboxes_->named("probe");
  EXPECT_NE(programs[0]["Uid"], programs[1]["Uid"]);
  for (const auto& program : programs) {
    const auto id = std::stoul(program["Uid"]);
    EXPECT_GE(id, Sandboxes::kUidBase + sandbox::kFirstRunId);
    EXPECT_LT(id, Sandboxes::kUidBase + 65536U);
    EXPECT_EQ(program["Uid"], program["Gid"]);
  }
  end(first);
  end(second);
}

TEST_P(Isolation, InitHasAnotherIdAndNoRightEither) {
  const auto call = begin_probe();
  const Process program = probe();
  bool found = false;
  for (const auto& process : below(sandboxes_->launcher_pid())) {
    if (process["Name"] != "init" || process.link("ns/pid") != program.link("ns/pid")) continue;
    found = true;
    EXPECT_EQ(std::stoul(process["Uid"]), Sandboxes::kUidBase + sandbox::kInitId);
    EXPECT_EQ(process["CapEff"], "0000000000000000");
    EXPECT_EQ(process["CapBnd"], "0000000000000000");
    EXPECT_EQ(process["Seccomp"], "2");
    EXPECT_EQ(process["NoNewPrivs"], "1");
  }
  EXPECT_TRUE(found);
  end(call);
}

TEST_P(Isolation, Pid1CannotBeLookedIntoOrTouched) {
  EXPECT_EQ(prints(R"(
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
for name in ("environ", "maps", "mem", "auxv", "stack", "syscall"):
    try: open(f"/proc/1/{name}", "rb").read(1); print("read", name)
    except OSError: pass
for name in ("exe", "cwd", "root", "fd/3", "ns/mnt"):
    try: print(name, os.readlink(f"/proc/1/{name}"))
    except OSError: pass
try: print(os.listdir("/proc/1/fd"))
except OSError: pass
for name in ("mem", "oom_score_adj", "clear_refs"):
    try: open(f"/proc/1/{name}", "wb", buffering=0).write(b"0"); print("wrote", name)
    except OSError: pass
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
    try: os.kill(1, number); print("sent", number)
    except PermissionError: pass
print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())
)"),
            "-1 1\n");
}

TEST_P(Isolation, OnlyItsOwnProcessesAreThere) {
  EXPECT_EQ(prints("import os; print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()) == [1, os.getpid()], os.getpid(), os.getppid() in (0, 1))"),
            "True 2 True\n");
}

TEST_P(Isolation, DescriptorsAreItsStreams) {
  const auto call = begin_probe("import os, sys");
  const Process program = probe();
  std::vector<std::string> open;
  for (const auto& entry : std::filesystem::directory_iterator(program.path() / "fd")) {
    const std::string number = entry.path().filename();
    const std::string target = program.link("fd/" + number);
    if (std::stoi(number) <= 2) continue;
    // A warm program keeps the pipe that says its end: it can shorten its own run by it, and nothing else. Never a socket.
    if (warm() && number == "3" && target.starts_with("pipe:")) continue;
    open.push_back(number + " " + target);
  }
  EXPECT_THAT(open, testing::IsEmpty());
  EXPECT_THAT(program.link("fd/1"), HasSubstr("pipe:"));
  EXPECT_THAT(program.link("fd/2"), HasSubstr("pipe:"));
  EXPECT_EQ(program.link("root"), "/");
  end(call);
}

TEST_P(Isolation, TheFilterAnswersWithErrors) {
  EXPECT_EQ(prints(R"(
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    ctypes.set_errno(0); libc.syscall(*args); return ctypes.get_errno()
print(call(272, 0x10000000), call(165, b"none", b"/tmp", b"tmpfs", 0, 0), call(101, 0, 0, 0, 0), call(321, 0, 0, 0), call(435, 0, 0), call(250, 0, 0))
for family, kind, protocol in ((17, 2, 0), (40, 1, 0), (38, 5, 0), (16, 3, 12), (2, 3, 1)):
    try: socket.socket(family, kind, protocol); print("made", family)
    except OSError as e: print(e.errno, end=" ")
)"),
            "1 1 1 1 38 1\n1 1 1 1 1 ");
}

TEST_P(Isolation, TheNetworkIsAnEmptyLoopback) {
  EXPECT_EQ(prints(R"(
import socket
print([n for _, n in socket.if_nameindex()])
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); c = socket.create_connection(s.getsockname()); print("own loopback")
for place in (("192.0.2.1", 80), ("10.0.0.1", 53), ("169.254.169.254", 80)):
    try: socket.create_connection(place, 2); print("connected", place)
    except OSError as e: print(e.errno)
)"),
            "['lo']\nown loopback\n101\n101\n101\n");
}

TEST_P(Isolation, TheHostsNameIsHidden) {
  EXPECT_EQ(prints("import socket; print(socket.gethostname())"), "sandbox\n");
}

TEST_P(Isolation, NodeIsNoDifferent) {
  EXPECT_EQ(prints(R"(
const fs = require('fs'), os = require('os');
const status = fs.readFileSync('/proc/self/status', 'utf8');
console.log(process.getuid(), process.pid, os.hostname(), /CapEff:\t0+\n/.test(status), /CapBnd:\t0+\n/.test(status), /NoNewPrivs:\t1/.test(status), /Seccomp:\t2/.test(status));
console.log(fs.readdirSync('/proc').filter(n => /^\d+$/.test(n)).join());
)",
                   Language::javascript),
            "1000 2 sandbox true true true true\n1,2\n");
}

}  // namespace
}  // namespace asg::test
