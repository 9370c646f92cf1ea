// What is left of a run, and what happens when processes die that should not.

#include <sys/prctl.h>

#include <algorithm>

#include "sandbox_fixture.hpp"

namespace asg::test {
namespace {

class Lifetime : public SandboxTest {
 protected:
  /// Nothing runs, and all that is there waits for a call.
  void come_to_rest() {
    EXPECT_TRUE(sandboxes_->until([&] { return sandboxes_->counts().running == 0; }));
    if (!warm()) return;
    EXPECT_TRUE(sandboxes_->until([&] { return !sandboxes_->zygotes().empty(); }));
  }
};
INSTANTIATE_TEST_SUITE_P(, Lifetime, testing::Bool(), name_of);

constexpr const char* kDaemons = R"(
import os, signal
open('/proc/self/comm', 'w').write('left-behind')
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except OSError: pass
        while True: signal.pause()
print('left')
)";

TEST_P(Lifetime, NothingIsLeftOfARun) {
  const std::string owner = sys::owner_name();
  EXPECT_EQ(prints(kDaemons), "left\n");
  EXPECT_TRUE(sandboxes_->until([&] { return sandboxes_->named("left-behind").empty(); }));
  come_to_rest();
  if (!warm()) {
    EXPECT_TRUE(sandboxes_->until([&] { return run_groups(owner).empty(); })) << run_groups(owner).size();
    EXPECT_TRUE(sandboxes_->until([&] { return below(sandboxes_->launcher_pid()).empty(); }));
  }
}

TEST_P(Lifetime, ARunIsOverWithItsMainProcess) {
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(prints("import os, time\nif os.fork() == 0: time.sleep(30)\nprint('over')"), "over\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
}

TEST_P(Lifetime, TheEndOfTheLauncherEndsAll) {
  const std::string owner = sys::owner_name();
  const auto call = begin_probe();
  (void)probe();
  auto all = below(sandboxes_->launcher_pid());
  ASSERT_FALSE(all.empty());
  sandboxes_->kill_launcher();
  EXPECT_TRUE(sandboxes_->until([&] { return call->result.has_value(); }));
  ASSERT_FALSE(*call->result);
  EXPECT_EQ(call->result->error().code, ErrorCode::sandbox);
  EXPECT_TRUE(sandboxes_->until([&] {
    return std::ranges::all_of(all, [](const Process& process) { return Process(process.pid).status.empty(); });
  }));
  EXPECT_THAT(run_groups(owner), testing::IsEmpty());
  auto started = sandboxes_->start_launcher();
  ASSERT_TRUE(started) << started.error().to_string();
  EXPECT_EQ(prints("print('again')"), "again\n");
}

TEST_P(Lifetime, ACallThatIsCancelledIsEnded) {
  const auto call = begin_probe();
  (void)probe();
  end(call);
  EXPECT_EQ((*call->result)->cause, Cause::cancelled);
  EXPECT_TRUE(sandboxes_->until([&] { return sandboxes_->named("probe").empty(); }));
}

TEST_P(Lifetime, ManyOneAfterTheOtherAndAtOnce) {
  std::vector<RealCallPtr> calls;
  for (int i = 0; i < 40; ++i) calls.push_back(sandboxes_->begin(Sandboxes::spec("print(" + std::to_string(i) + ")")));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(sandboxes_->until([&] { return calls[i]->result.has_value(); }));
    ASSERT_TRUE(*calls[i]->result) << calls[i]->result->error().to_string();
    EXPECT_EQ((*calls[i]->result)->out.text, std::to_string(i) + "\n") << (*calls[i]->result)->err.text;
  }
}

class Zygotes : public Lifetime {};
INSTANTIATE_TEST_SUITE_P(, Zygotes, testing::Values(true), name_of);

TEST_P(Zygotes, DeadOnesCostTimeAndNothingElse) {
  // More often than the launcher tries to replace one.
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(prints("print('ok')"), "ok\n");
    EXPECT_TRUE(sandboxes_->until([&] { return !sandboxes_->zygotes().empty() || round > 2; }, std::chrono::seconds(10)));
    for (const auto& zygote : sandboxes_->zygotes()) ::kill(zygote.pid, SIGKILL);
    EXPECT_EQ(prints("print('cold or forked')"), "cold or forked\n");
    EXPECT_EQ(prints("import numpy; print(numpy.arange(3).sum())"), "3\n");
  }
}

TEST_P(Zygotes, OneThatStopsAnsweringDiesWithTheLauncherToo) {
  EXPECT_EQ(prints("print('ok')"), "ok\n");
  ASSERT_TRUE(sandboxes_->until([&] { return !sandboxes_->zygotes().empty(); }));
  const auto zygotes = sandboxes_->zygotes();
  for (const auto& zygote : zygotes) ::kill(zygote.pid, SIGSTOP);
  sandboxes_->kill_launcher();
  EXPECT_TRUE(sandboxes_->until([&] {
    return std::ranges::all_of(zygotes, [](const Process& process) { return Process(process.pid).status.empty(); });
  }));
}

TEST_P(Zygotes, ReadySandboxesThatWereKilledAreNotHandedOut) {
  EXPECT_EQ(prints("print('ok')"), "ok\n");
  come_to_rest();
  auto ready = below(sandboxes_->launcher_pid());
  std::erase_if(ready, [](const Process& process) { return process.numbers().size() != 3; });
  for (const auto& process : ready) ::kill(process.pid, SIGKILL);
  // A signal only takes its effect when the process next runs.
  EXPECT_TRUE(sandboxes_->until([&] {
    return std::ranges::all_of(ready, [](const Process& process) { return Process(process.pid)["State"].find_first_not_of("ZX(zombie dead)") == std::string::npos; });
  }));
  for (int round = 0; round < 4; ++round) EXPECT_EQ(prints("print('served')"), "served\n");
  EXPECT_EQ(prints("console.log('served')", Language::javascript), "served\n");
}

/// An ordinary user maps his own id alone. In a process of its own, since ids cannot be had back.
class SingleId : public SandboxTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) ASG_SKIP("root", "the test becomes an ordinary user");
    if (!std::filesystem::exists(ASG_BINARY_DIR "/runtime/usr/bin/python3.11")) ASG_SKIP("runtime-image", "config/run.sh makes the runtime image");
  }

  static std::string as_user() {
    constexpr id_t kUser = 54321;
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::setresgid(kUser, kUser, kUser) != 0 || ::setresuid(kUser, kUser, kUser) != 0) return "ids";
    (void)::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // its own id maps are written through /proc
    if (::access(ASG_BINARY_DIR "/runner/init", X_OK) != 0 || ::access(ASG_BINARY_DIR "/runtime/usr", X_OK) != 0) return "unreadable";
    Sandboxes sandboxes;
    auto started = sandboxes.start(Sandboxes::settings(GetParam() ? kWarm : kCold));
    if (!started) return started.error().to_string();
    auto spec = Sandboxes::spec("import os\ns = open('/proc/self/status').read()\nopen('f', 'w').write('f'); os.chmod('f', 0)\n"
                                "print(os.getuid(), os.getpid(), 'CapEff:\\t0000000000000000' in s, 'Seccomp:\\t2' in s)");
    spec.output_files = {"*"};
    for (int round = 0; round < 3; ++round) {
      auto outcome = sandboxes.run(spec);
      if (!outcome) return outcome.error().to_string();
      if (outcome->out.text != "1000 2 True True\n") return outcome->out.text + outcome->err.text;
      if (outcome->files.size() != 1 || outcome->files[0].content != "f") return "output files";
    }
    auto node = sandboxes.run("console.log(process.getuid())", Language::javascript);
    if (!node) return node.error().to_string();
    return node->out.text == "1000\n" ? "ok" : node->out.text + node->err.text;
  }
};
INSTANTIATE_TEST_SUITE_P(, SingleId, testing::Bool(), name_of);

TEST_P(SingleId, AnOrdinaryUserHasTheSameSandboxes) {
  auto pipe = sys::make_pipe().value();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string said = as_user();
    (void)!::write(pipe.write_end.get(), said.data(), said.size());
    ::_exit(0);
  }
  pipe.write_end.reset();
  std::string said(4096, '\0');
  const ssize_t n = ::read(pipe.read_end.get(), said.data(), said.size());
  (void)::waitpid(child, nullptr, 0);
  said.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (said == "unreadable") ASG_SKIP("unreadable-build", "an ordinary user cannot reach the build directory");
  EXPECT_EQ(said, "ok");
}

}  // namespace
}  // namespace asg::test
