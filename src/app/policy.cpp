#include "asg/app/policy.hpp"

#include <fmt/format.h>

#include "asg/sandbox/environment.hpp"
#include "asg/sandbox/seccomp.hpp"
#include "host.hpp"

namespace asg::app {

std::string describe_policy(const config::Config& config) {
  const auto limits = limits_of(config);
  std::string text = fmt::format(
      "# mounts\n"
      "/            the runtime image, read-only, nosuid, nodev\n"
      "/opt/asg     our own files (init, prepare.cjs), read-only\n"
      "/dev         null zero full random urandom, fd stdin stdout stderr; read-only\n"
      "/proc        own processes only\n"
      "/workspace   /tmp /dev/shm: one private tmpfs, {} bytes and {} inodes, gone after the run\n"
      "\n# identity\n"
      "user         sandbox, uid 1000 in a user namespace of its own that maps nothing else; no capabilities, no_new_privs\n"
      "namespaces   user, PID, mount, network (own loopback only), IPC, UTS, cgroup: fresh for each run\n"
      "\n# limits\n"
      "memory       {} bytes, no swap; the run ends as a whole\n"
      "cpu          {} CPU seconds a second\n"
      "processes    {} processes and threads\n"
      "open files   {}\n"
      "time         {} s by default, {} s at most\n"
      "output       {} bytes kept of each stream\n"
      "core dumps   none\n"
      "\n# environment\n",
      limits.files_bytes, limits.inodes, limits.memory_bytes, limits.cpus, limits.processes, limits.open_files,
      config.limits.default_timeout_seconds, config.limits.max_timeout_seconds, config.limits.output_bytes);
  for (const auto& variable : sandbox::base_environment(limits)) text += variable + "\n";
  return text + "\n# system calls (x86-64; other architectures: ENOSYS)\n" + sandbox::describe_filter();
}

}  // namespace asg::app
