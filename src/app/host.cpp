#include "host.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "asg/linux/io.hpp"
#include "asg/sandbox/seccomp.hpp"

namespace asg::app {
namespace {

constexpr std::uint32_t kQueuePerSlot = 16;
constexpr const char* kInstalled = "/usr/lib/asg-sandbox";

/// The configured directory, or the one beside the program, or the installed one.
Result<std::string> find_directory(const std::string& configured, const std::string& name, const std::string& must_hold) {
  std::error_code ignored;
  std::vector<std::filesystem::path> places;
  if (!configured.empty()) {
    places = {configured};
  } else {
    places = {std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name,
              std::filesystem::path(kInstalled) / name};
  }
  for (const auto& place : places) {
    const auto real = std::filesystem::canonical(place, ignored);
    if (!ignored && std::filesystem::exists(real / must_hold, ignored)) return real.string();
  }
  return fail(ErrorCode::not_found, "sandbox." + name + ": no " + must_hold + " in " + places.front().string() +
                                        (name == "image" || name == "runtime" ? " (config/run.sh makes the runtime image)" : ""));
}

/// CAP_SETUID and CAP_SETGID: what mapping a range of ids takes (user_namespaces(7)).
bool may_map_a_range() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  constexpr std::uint32_t kNeeded = (1U << CAP_SETUID) | (1U << CAP_SETGID);
  return (data[0].effective & kNeeded) == kNeeded;
}

/// In a user namespace of somebody else's (a rootless container) the range may not exist.
bool range_exists(const config::Sandbox& sandbox) {
  auto map = sys::read_file(AT_FDCWD, "/proc/self/uid_map");
  if (!map) return false;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  const char* text = map->c_str();
  int used = 0;
  while (std::sscanf(text, "%lu %lu %lu%n", &inside, &outside, &count, &used) == 3) {
    if (inside <= sandbox.uid_base && sandbox.uid_base + std::uint64_t{sandbox.uid_count} <= inside + count) return true;
    text += used;
  }
  return false;
}

sandbox::PoolSizes pool_of(const config::Config& config) {
  if (config.sandbox.isolation == "fresh") return {};
  const std::uint32_t slots = concurrency_of(config);
  const auto or_default = [](std::uint32_t wanted, std::uint32_t otherwise) { return wanted != 0 ? wanted : otherwise; };
  return {.python_light = or_default(config.pool.python, slots),
          .python_heavy = or_default(config.pool.python_data, slots),
          .node = or_default(config.pool.javascript, std::max(1U, slots / 2))};
}

Result<std::shared_ptr<sys::CgroupTree>> make_cgroups(std::uint32_t launcher_uid) {
  auto mounts = sys::read_file(AT_FDCWD, "/proc/self/mountinfo");
  auto own = sys::read_file(AT_FDCWD, "/proc/self/cgroup");
  if (!mounts) return std::unexpected(mounts.error());
  if (!own) return std::unexpected(own.error());
  auto host = sys::find_cgroups(*mounts, *own);
  if (!host) return std::unexpected(host.error());
  (void)sys::sweep_cgroups(*host);
  return std::shared_ptr(sys::make_cgroup_tree(*host, {.owner = sys::owner_name(), .enter_uid = launcher_uid}));
}

std::vector<std::string> missing_limits(const config::Config& config, const sys::CgroupTree& tree) {
  std::vector<std::string> missing;
  const auto enforced = tree.enforced();
  for (const auto controller : {sys::Controller::memory, sys::Controller::processes, sys::Controller::cpu}) {
    const std::string name = sys::to_string(controller);
    if (enforced.contains(controller)) continue;
    for (const auto& required : config.sandbox.require) {
      if (required == name) missing.push_back(name + ": " + tree.explain());
    }
  }
  return missing;
}

}  // namespace

sandbox::LimitSet limits_of(const config::Config& config) {
  const auto& l = config.limits;
  return {.memory_bytes = l.memory_bytes,
          .cpus = l.cpus,
          .processes = l.processes,
          .files_bytes = l.files_bytes,
          .inodes = l.inodes,
          .open_files = l.open_files};
}

std::uint32_t concurrency_of(const config::Config& config) {
  if (config.limits.max_concurrent != 0) return config.limits.max_concurrent;
  return 2 * std::max(1U, std::thread::hardware_concurrency());
}

std::uint32_t queue_of(const config::Config& config) {
  return config.limits.queue != 0 ? config.limits.queue : kQueuePerSlot * concurrency_of(config);
}

Result<Host> prepare_host(const config::Config& config) {
  Host host;
  auto image = find_directory(config.sandbox.image, "runtime", "usr/bin/python3.11");
  if (!image) return std::unexpected(image.error());
  // Read here: the front may not be able to reach the directory.
  host.image_json = sys::read_file(AT_FDCWD, *image + "/etc/asg-image.json").value_or("");
  auto runner = find_directory(config.sandbox.runner, "runner", "init");
  if (!runner) return std::unexpected(runner.error());
  auto filter = sandbox::compile_filter();
  if (!filter) return std::unexpected(filter.error());
  host.id_range = may_map_a_range() && range_exists(config.sandbox);
  host.launcher = {.image = *image,
                   .runner = *runner,
                   .limits = limits_of(config),
                   .filter = std::move(*filter),
                   .pool = pool_of(config),
                   .uid_base = host.id_range ? config.sandbox.uid_base : ::geteuid(),
                   .uid_count = host.id_range ? config.sandbox.uid_count : 1};
  auto cgroups = make_cgroups(host.launcher.uid_base);
  if (!cgroups) return std::unexpected(cgroups.error());
  host.cgroups = std::move(*cgroups);
  host.missing = missing_limits(config, *host.cgroups);
  return host;
}

}  // namespace asg::app
