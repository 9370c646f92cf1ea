#pragma once
// Every step of a child that can fail, in order: what a report of a failed set-up names.

#include <cstdint>

namespace asg::sandbox {

enum class StageId : std::uint32_t {
  enter_cgroup = 1,
  unshare_cgroup,
  mount_files,
  make_folders,
  bind_folders,
  mount_proc,
  loopback,
  write_files,
  change_directory,
  report_started,
  fork_main,
  init_ids,
  init_exec,
  join_namespaces,
  main_descriptors,
  main_limits,
  main_ids,
  main_user_namespace,
  main_id_maps,
  main_capabilities,
  main_no_new_privs,
  main_wait_init,
  main_filter,
  main_exec,
};

}  // namespace asg::sandbox
