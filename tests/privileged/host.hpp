#pragma once
// What can be seen from outside of the processes and control groups of a launcher.

#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace asg::test {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// One process of /proc (proc(5)).
struct Process {
  pid_t pid = 0;
  std::map<std::string, std::string> status;  // empty: gone

  explicit Process(pid_t number) : pid(number) {
    std::istringstream lines(file_text(path() / "status"));
    for (std::string line; std::getline(lines, line);) {
      const auto colon = line.find(':');
      const auto value = line.find_first_not_of(" \t", colon + 1);
      if (colon != std::string::npos) status[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
    }
  }
  [[nodiscard]] std::filesystem::path path() const { return "/proc/" + std::to_string(pid); }
  [[nodiscard]] std::string operator[](const std::string& key) const {
    const auto found = status.find(key);
    return found == status.end() ? "" : found->second;
  }
  [[nodiscard]] pid_t parent() const { return static_cast<pid_t>(std::atoi((*this)["PPid"].c_str())); }
  /// Its numbers in each PID namespace that it is in, outermost first.
  [[nodiscard]] std::vector<int> numbers() const {
    std::istringstream text((*this)["NSpid"]);
    std::vector<int> all;
    for (int number = 0; text >> number;) all.push_back(number);
    return all;
  }
  [[nodiscard]] std::string link(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::read_symlink(path() / name, ignored).string();
  }
};

/// All processes below one, without it.
inline std::vector<Process> below(pid_t root) {
  std::vector<Process> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) all.emplace_back(static_cast<pid_t>(std::stoi(name)));
  }
  std::vector<pid_t> family = {root};
  std::vector<Process> found;
  for (std::size_t i = 0; i < family.size(); ++i) {
    for (const auto& process : all) {
      if (process.status.empty() || process.parent() != family[i]) continue;
      family.push_back(process.pid);
      found.push_back(process);
    }
  }
  return found;
}

/// Directories of a server's control groups in every hierarchy; below its base groups only those of runs.
inline std::vector<std::string> run_groups(const std::string& owner) {
  std::vector<std::string> groups;
  std::error_code ignored;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (auto it = std::filesystem::recursive_directory_iterator("/sys/fs/cgroup", options, ignored); it != std::filesystem::recursive_directory_iterator();
       it.increment(ignored)) {
    const std::string path = it->path();
    if (ignored || !it->is_directory(ignored)) continue;
    if (path.find(owner + "/run-") != std::string::npos) groups.push_back(path);
  }
  return groups;
}

}  // namespace asg::test
