#include "asg/linux/cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "asg/linux/io.hpp"

namespace asg::sys {
namespace {

constexpr std::string_view kOwnerPrefix = "asg-sandbox-";

std::uint64_t number_at(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The number behind "key " in a flat-keyed file; 0 when it is not there.
std::uint64_t keyed(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  std::string name;
  std::string value;
  while (lines >> name >> value) {
    if (name == key) return number_at(value);
  }
  return 0;
}

std::string read_or_empty(int dir, const char* name) {
  auto text = read_file(dir, name);
  return text ? std::move(*text) : std::string();
}

void read_v2(int dir, CgroupUsage& usage) {
  usage.cpu_us = keyed(read_or_empty(dir, "cpu.stat"), "usage_usec");
  usage.memory_peak_bytes = number_at(read_or_empty(dir, "memory.peak"));  // since 5.19
  usage.processes_peak = static_cast<std::uint32_t>(number_at(read_or_empty(dir, "pids.peak")));  // since 6.11
  usage.oom_kills = keyed(read_or_empty(dir, "memory.events"), "oom_kill");
}

/// mountinfo fields: 4 is the root inside the file system, 5 the mount point; after " - " the type and the super options.
struct Mount {
  std::string root;
  std::string point;
  std::string type;
  std::string options;
};

std::vector<Mount> parse_mounts(const std::string& mountinfo) {
  std::vector<Mount> mounts;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash));
    std::istringstream right(line.substr(dash + 3));
    std::string skipped;
    std::string source;
    Mount mount;
    left >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    right >> mount.type >> source >> mount.options;
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

/// The directory of group `path` in a mount whose root may itself be a group (containers).
std::string group_directory(const Mount& mount, const std::string& path) {
  std::string below = path;
  if (mount.root != "/") {
    if (!path.starts_with(mount.root)) return mount.point;  // a cgroup namespace shows its own root
    below = path.substr(mount.root.size());
  }
  if (below == "/" || below.empty()) return mount.point;
  return mount.point + (below.starts_with('/') ? below : "/" + below);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Field 22 of /proc/PID/stat: start time in clock ticks; with the pid it names a process for ever.
std::string start_time(const std::string& pid) {
  const std::string stat = read_or_empty(AT_FDCWD, ("/proc/" + pid + "/stat").c_str());
  const auto end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return {};
  const auto fields = split(stat.substr(end_of_name + 2), ' ');
  return fields.size() > 19 ? fields[19] : std::string();
}

bool owner_is_alive(std::string_view group) {
  const auto parts = split(std::string(group.substr(kOwnerPrefix.size())), '-');
  return parts.size() == 2 && start_time(parts[0]) == parts[1];
}

std::size_t sweep_directory(const std::string& directory) {
  std::size_t removed = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kOwnerPrefix) || owner_is_alive(name)) continue;
    if (remove_group_tree(entry.path())) ++removed;
  }
  return removed;
}

}  // namespace

const char* to_string(Controller controller) {
  switch (controller) {
    case Controller::memory: return "memory";
    case Controller::processes: return "processes";
    case Controller::cpu: return "cpu";
  }
  return "?";
}

CgroupUsage read_usage(std::span<const CgroupFd> fds) {
  CgroupUsage usage;
  for (const CgroupFd& item : fds) {
    const int dir = item.fd.get();
    switch (item.kind) {
      case CgroupFdKind::dir: read_v2(dir, usage); break;
      case CgroupFdKind::memory_dir:
        usage.memory_peak_bytes = number_at(read_or_empty(dir, "memory.max_usage_in_bytes"));
        usage.oom_kills = keyed(read_or_empty(dir, "memory.oom_control"), "oom_kill");
        break;
      case CgroupFdKind::processes_dir:
        usage.processes_peak = static_cast<std::uint32_t>(number_at(read_or_empty(dir, "pids.peak")));
        break;
      case CgroupFdKind::cpu_dir: usage.cpu_us = number_at(read_or_empty(dir, "cpuacct.usage")) / 1000; break;
      default: break;
    }
  }
  return usage;
}

Result<CgroupHost> find_cgroups(const std::string& mountinfo, const std::string& self_cgroup) {
  std::map<std::string, std::string> own;  // controller ("" for v2) -> path of our group
  std::istringstream lines(self_cgroup);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) own[""] = path;
    for (const auto& name : split(controllers, ',')) own[name] = path;
  }
  CgroupHost host;
  for (const Mount& mount : parse_mounts(mountinfo)) {
    if (mount.type == "cgroup2" && own.contains("")) host.v2 = group_directory(mount, own.at(""));
    if (mount.type != "cgroup") continue;
    for (const auto& option : split(mount.options, ',')) {
      if (own.contains(option) && option != "rw") host.v1.try_emplace(option, group_directory(mount, own.at(option)));
    }
  }
  return host;
}

std::unique_ptr<CgroupTree> make_cgroup_tree(const CgroupHost& host, const CgroupOptions& options) {
  auto v2 = make_cgroup_v2(host, options);
  if (v2) return std::move(*v2);
  CgroupOptions fallback = options;
  fallback.v2_fault = v2.error().to_string();
  return make_cgroup_v1(host, fallback);
}

std::string owner_name() {
  const std::string pid = std::to_string(::getpid());
  return std::string(kOwnerPrefix) + pid + "-" + start_time(pid);
}

std::size_t sweep_cgroups(const CgroupHost& host) {
  std::set<std::string> directories;
  if (!host.v2.empty()) directories.insert(host.v2);
  for (const auto& [controller, directory] : host.v1) directories.insert(directory);
  std::size_t removed = 0;
  for (const auto& directory : directories) removed += sweep_directory(directory);
  return removed;
}

bool remove_group_tree(const std::string& directory) {
  std::error_code ignored;
  bool empty = true;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.is_directory(ignored)) empty = remove_group_tree(entry.path()) && empty;
  }
  return empty && (::rmdir(directory.c_str()) == 0 || errno == ENOENT);
}

}  // namespace asg::sys
