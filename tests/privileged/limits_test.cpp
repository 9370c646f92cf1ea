// Each limit, reached.

#include "sandbox_fixture.hpp"

namespace asg::test {
namespace {

using sys::Controller;

class Limits : public SandboxTest {
 protected:
  [[nodiscard]] bool enforced(Controller controller) const { return sandboxes_->cgroups().enforced().contains(controller); }
};
INSTANTIATE_TEST_SUITE_P(, Limits, testing::Bool(), name_of);

#define ASG_NEEDS(controller)                                                                       \
  if (!enforced(Controller::controller)) ASG_SKIP("cgroup-" #controller, sandboxes_->cgroups().explain())

TEST_P(Limits, Memory) {
  ASG_NEEDS(memory);
  auto outcome = sandboxes_->run("print('begun')\nb = []\nwhile True: b.append(bytearray(b'1') * (8 << 20))");
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->cause, Cause::out_of_memory);
  EXPECT_EQ(outcome->exit_code, 137);
  EXPECT_EQ(outcome->out.text, "begun\n");
  EXPECT_GT(outcome->usage.memory_peak_bytes, Sandboxes::small_limits().memory_bytes / 2);
  EXPECT_LE(outcome->usage.memory_peak_bytes, Sandboxes::small_limits().memory_bytes);
}

TEST_P(Limits, MemoryOfAChildEndsTheRunAsAWhole) {
  ASG_NEEDS(memory);
  auto outcome = sandboxes_->run("import os, time\nif os.fork() == 0:\n    b = []\n    while True: b.append(bytearray(b'1') * (8 << 20))\ntime.sleep(20)\nprint('survived')");
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->cause, Cause::out_of_memory);
  EXPECT_EQ(outcome->out.text, "");
}

TEST_P(Limits, ProcessesToTheLast) {
  ASG_NEEDS(processes);
  EXPECT_EQ(prints(R"(
import os, signal
n = 1
try:
    while n < 1000:
        if os.fork() == 0: signal.pause()
        n += 1
except BlockingIOError: pass
print(n)
)"),
            "24\n");
}

TEST_P(Limits, ThreadsCountAsProcesses) {
  ASG_NEEDS(processes);
  EXPECT_EQ(prints(R"(
import os, threading
stop = threading.Event(); n = 1
try:
    while n < 1000: threading.Thread(target=stop.wait, daemon=True).start(); n += 1
except RuntimeError: pass
print(n, flush=True); os._exit(0)
)"),
            "24\n");
}

TEST_P(Limits, ProcessorTime) {
  ASG_NEEDS(cpu);
  sandboxes_.reset();
  auto settings = Sandboxes::settings(warm() ? kWarm : kCold);
  settings.limits.cpus = 0.25;
  start(settings);
  auto spec = Sandboxes::spec("while True: pass");
  spec.timeout = std::chrono::seconds(3);
  auto outcome = sandboxes_->run(std::move(spec));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->cause, Cause::timed_out);
  EXPECT_LT(outcome->usage.cpu, std::chrono::milliseconds(1300)) << "a quarter of three seconds, and what the start took";
}

TEST_P(Limits, SpaceIsOneForAllPlaces) {
  EXPECT_EQ(prints(R"(
import errno
total = 0
for place in ("/workspace", "/tmp", "/dev/shm"):
    try:
        with open(place + "/fill", "wb", buffering=0) as f:
            for _ in range(64): total += f.write(b"x" * (1 << 20))
    except OSError as e: print(errno.errorcode[e.errno])
print(15 << 20 < total <= 16 << 20)
)"),
            "ENOSPC\nENOSPC\nENOSPC\nTrue\n");
}

TEST_P(Limits, FilesInNumber) {
  EXPECT_EQ(prints(R"(
import errno
n = 0
try:
    while n < 5000: open(f"/tmp/{n}", "w").close(); n += 1
except OSError as e: print(errno.errorcode[e.errno])
print(450 < n < 500)
)"),
            "ENOSPC\nTrue\n");
}

TEST_P(Limits, OpenFiles) {
  EXPECT_EQ(prints(R"(
import errno, os, resource
last = 0
try:
    while last < 5000: last = os.dup(0)
except OSError as e: print(errno.errorcode[e.errno], last)
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))
try: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)); print("raised")
except (ValueError, OSError): pass
)"),
            "EMFILE 99\n(100, 100) (0, 0)\n");
}

TEST_P(Limits, TheGroupIsEnteredBeforeTheProgramStarts) {
  ASG_NEEDS(memory);
  const auto call = begin_probe();
  const Process program = probe();
  const std::string groups = file_text(program.path() / "cgroup");
  EXPECT_THAT(groups, testing::HasSubstr(sys::owner_name() + "/run-"));
  // All that it allocates from its first instruction on is counted.
  const Process self(::getpid());
  EXPECT_NE(groups, file_text(self.path() / "cgroup"));
  EXPECT_EQ(prints("print(all(line.strip().endswith(':/') or line.startswith('0::/') or 'run-' not in line for line in open('/proc/self/cgroup')))"), "True\n");
  end(call);
}

TEST_P(Limits, UsageIsMeasured) {
  ASG_NEEDS(memory);
  auto outcome = sandboxes_->run("import os, time\nx = bytearray(b'1') * (40 << 20)\nif os.fork() == 0: time.sleep(9)\nt = time.process_time()\nwhile time.process_time() < t + 0.2: pass");
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_GE(outcome->usage.cpu, std::chrono::milliseconds(200));
  EXPECT_GT(outcome->usage.memory_peak_bytes, 40ULL << 20);
  EXPECT_EQ(outcome->usage.processes_peak, 2U);
}

}  // namespace
}  // namespace asg::test
