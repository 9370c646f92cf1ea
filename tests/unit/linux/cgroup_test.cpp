#include "asg/linux/cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "asg/linux/io.hpp"
#include "support/temp_dir.hpp"

namespace asg::sys {
namespace {

constexpr const char* kUnified =
    "30 23 0:27 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
constexpr const char* kHybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(FindCgroups, OnAUnifiedHost) {
  const auto host = find_cgroups(kUnified, "0::/system.slice/asg-sandbox.service\n");
  ASSERT_TRUE(host);
  EXPECT_EQ(host->v2, "/sys/fs/cgroup/system.slice/asg-sandbox.service");
  EXPECT_TRUE(host->v1.empty());
}

TEST(FindCgroups, OnAHybridHostBelowTheOwnGroups) {
  const auto host = find_cgroups(kHybrid, "4:memory:/jobs/7\n1:cpu,cpuacct:/\n9:name=systemd:/\n0::/\n");
  ASSERT_TRUE(host);
  EXPECT_EQ(host->v2, "/sys/fs/cgroup/unified");
  EXPECT_EQ(host->v1.at("memory"), "/sys/fs/cgroup/memory/jobs/7");
  EXPECT_EQ(host->v1.at("cpu"), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(host->v1.at("cpuacct"), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_FALSE(host->v1.contains("pids"));
}

TEST(FindCgroups, InAContainerWhoseMountStartsAtItsGroup) {
  const char* mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n";
  EXPECT_EQ(find_cgroups(mounts, "4:memory:/docker/abc/inner\n")->v1.at("memory"), "/sys/fs/cgroup/memory/inner");
  EXPECT_EQ(find_cgroups(mounts, "4:memory:/docker/abc\n")->v1.at("memory"), "/sys/fs/cgroup/memory");
}

TEST(FindCgroups, WithoutAnyMount) {
  const auto host = find_cgroups("22 27 0:21 / /proc rw - proc proc rw\n", "0::/\n");
  ASSERT_TRUE(host);
  EXPECT_TRUE(host->v2.empty());
  EXPECT_EQ(make_cgroup_tree(*host, {.owner = "asg-sandbox-1-1"})->version(), 0);
}

/// A directory that looks like a group: the kernel would have put these files there.
class GroupFiles {
 public:
  explicit GroupFiles(const std::filesystem::path& directory) : directory_(directory) { std::filesystem::create_directories(directory); }
  GroupFiles& with(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
    return *this;
  }
  [[nodiscard]] CgroupFd open(CgroupFdKind kind) const {
    return {kind, UniqueFd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))};
  }

 private:
  std::filesystem::path directory_;
};

TEST(ReadUsage, OfV2) {
  const test::TempDir temp;
  CgroupFds fds;
  fds.push_back(GroupFiles(temp.path() / "run")
                    .with("cpu.stat", "usage_usec 12345\nuser_usec 12000\nsystem_usec 345\nnr_throttled 3\n")
                    .with("memory.peak", "7340032\n")
                    .with("pids.peak", "9\n")
                    .with("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n")
                    .open(CgroupFdKind::dir));
  const CgroupUsage usage = read_usage(fds);
  EXPECT_EQ(usage.cpu_us, 12345U);
  EXPECT_EQ(usage.memory_peak_bytes, 7340032U);
  EXPECT_EQ(usage.processes_peak, 9U);
  EXPECT_EQ(usage.oom_kills, 2U);
}

TEST(ReadUsage, OfV2OnAnOlderKernelLeavesZero) {
  const test::TempDir temp;
  CgroupFds fds;
  fds.push_back(GroupFiles(temp.path() / "run").with("cpu.stat", "usage_usec 5\n").open(CgroupFdKind::dir));
  const CgroupUsage usage = read_usage(fds);
  EXPECT_EQ(usage.cpu_us, 5U);
  EXPECT_EQ(usage.memory_peak_bytes, 0U);
  EXPECT_EQ(usage.processes_peak, 0U);
}

TEST(ReadUsage, OfV1) {
  const test::TempDir temp;
  CgroupFds fds;
  fds.push_back(GroupFiles(temp.path() / "memory")
                    .with("memory.max_usage_in_bytes", "4096\n")
                    .with("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
                    .open(CgroupFdKind::memory_dir));
  fds.push_back(GroupFiles(temp.path() / "cpu").with("cpuacct.usage", "2500000\n").open(CgroupFdKind::cpu_dir));
  const CgroupUsage usage = read_usage(fds);
  EXPECT_EQ(usage.memory_peak_bytes, 4096U);
  EXPECT_EQ(usage.oom_kills, 1U);
  EXPECT_EQ(usage.cpu_us, 2500U);
}

TEST(SweepCgroups, RemovesWhatDeadServersLeftAndNothingElse) {
  const test::TempDir temp;
  const auto gone = temp.path() / "asg-sandbox-999999999-1";
  std::filesystem::create_directories(gone / "box" / "run-1");
  std::filesystem::create_directories(temp.path() / owner_name() / "run-2");
  std::filesystem::create_directories(temp.path() / "somebody-else");
  CgroupHost host;
  host.v1["memory"] = temp.path().string();
  EXPECT_EQ(sweep_cgroups(host), 1U);
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(temp.path() / owner_name() / "run-2"));
  EXPECT_TRUE(std::filesystem::exists(temp.path() / "somebody-else"));
}

TEST(MakeCgroupV2, NamesTheControllerThatIsMissing) {
  const test::TempDir temp;
  GroupFiles(temp.path()).with("cgroup.controllers", "hugetlb\n");
  const auto tree = make_cgroup_v2({.v2 = temp.path().string(), .v1 = {}}, {.owner = "asg-sandbox-1-1"});
  ASSERT_FALSE(tree);
  EXPECT_NE(tree.error().message.find("memory"), std::string::npos);
}

}  // namespace
}  // namespace asg::sys
