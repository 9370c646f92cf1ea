// The file systems of a sandbox.

#include "sandbox_fixture.hpp"

namespace asg::test {
namespace {

class Mounts : public SandboxTest {};
INSTANTIATE_TEST_SUITE_P(, Mounts, testing::Bool(), name_of);

TEST_P(Mounts, WhatCanBeWritten) {
  EXPECT_EQ(prints(R"(
writable = []
for line in open("/proc/self/mountinfo"):
    place, options = line.split()[4:6]
    if "rw" in options.split(","): writable.append(place)
    for wanted in ("nosuid", "nodev"):
        if wanted not in options.split(",") and not place.startswith("/dev"): print(place, "lacks", wanted)
print(sorted(set(writable) - {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}))
)"),
            "['/dev/shm', '/proc', '/tmp', '/workspace']\n");
}

TEST_P(Mounts, TheRootIsReadOnly) {
  EXPECT_EQ(prints(R"(
import errno, os
for place in ("/", "/usr", "/etc", "/dev", "/opt/asg", "/proc/sys/kernel", "/var", "/run"):
    if not os.path.isdir(place): continue
    try: open(place + "/probe", "w"); print("WROTE", place)
    except OSError as e:
        if e.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT): print(place, e)
for setting in ("kernel/hostname", "kernel/core_pattern", "vm/overcommit_memory", "net/ipv4/ip_forward", "kernel/shmmax"):
    try: open("/proc/sys/" + setting, "w").write("1"); print("WROTE", setting)
    except OSError as e: print(e.errno, end=" ")
)"),
            "30 30 30 30 30 ");
}

TEST_P(Mounts, DevicesAreFew) {
  EXPECT_EQ(prints("import os; print(sorted(os.listdir('/dev')), os.path.exists('/sys/class'), os.path.exists('/dev/tty'))"),
            "['fd', 'full', 'null', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'urandom', 'zero'] False False\n");
}

TEST_P(Mounts, NothingOfTheHostIsInTheMountTable) {
  EXPECT_EQ(prints("t = open('/proc/self/mountinfo').read(); print([w for w in ('/root', '/work', '/home', 'ext4 /dev/sd', '/var/lib', 'cgroup') if (w + ' ') in t])"),
            "[]\n");
}

TEST_P(Mounts, StreamsCanBeOpenedAnew) {
  EXPECT_EQ(prints("open('/dev/stdout', 'w').write('again\\n'); print(open('/dev/stdin').read() == '', open('/proc/self/fd/2', 'w').write(''))"),
            "again\nTrue 0\n");
}

TEST_P(Mounts, FilesComeBackWhoeverMayReadThem) {
  auto spec = Sandboxes::spec("import os\nos.makedirs('d'); open('d/f', 'wb').write(bytes(range(256))); os.chmod('d/f', 0); os.chmod('d', 0); os.chmod('.', 0)\n"
                              "os.symlink('/etc/passwd', '/tmp/l')");
  spec.output_files = {"**/*"};
  auto outcome = sandboxes_->run(std::move(spec));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_EQ(outcome->files.size(), 1U) << outcome->err.text;
  EXPECT_EQ(outcome->files[0].path, "d/f");
  EXPECT_EQ(outcome->files[0].content.size(), 256U) << outcome->files[0].error;
}

}  // namespace
}  // namespace asg::test
