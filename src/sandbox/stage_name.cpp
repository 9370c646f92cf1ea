#include "asg/sandbox/stage_name.hpp"

#include "stage_id.hpp"

namespace asg::sandbox {

const char* stage_name(std::uint32_t stage) {
  switch (static_cast<StageId>(stage)) {
    case StageId::enter_cgroup: return "entering the control group";
    case StageId::unshare_cgroup: return "new cgroup namespace";
    case StageId::mount_files: return "mounting the private tmpfs";
    case StageId::make_folders: return "making its folders";
    case StageId::bind_folders: return "binding its folders";
    case StageId::mount_proc: return "mounting /proc";
    case StageId::loopback: return "bringing loopback up";
    case StageId::write_files: return "writing the input files";
    case StageId::change_directory: return "entering the working directory";
    case StageId::report_started: return "reporting the start";
    case StageId::fork_main: return "forking the main process";
    case StageId::init_ids: return "dropping init's rights";
    case StageId::init_exec: return "starting init";
    case StageId::join_namespaces: return "joining the namespaces";
    case StageId::main_descriptors: return "setting up standard streams";
    case StageId::main_limits: return "setting resource limits";
    case StageId::main_ids: return "changing ids";
    case StageId::main_user_namespace: return "new user namespace";
    case StageId::main_id_maps: return "writing id maps";
    case StageId::main_capabilities: return "dropping capabilities";
    case StageId::main_no_new_privs: return "setting no_new_privs";
    case StageId::main_wait_init: return "waiting for init";
    case StageId::main_filter: return "loading the filter";
    case StageId::main_exec: return "starting the interpreter";
  }
  return "an unknown step";
}

}  // namespace asg::sandbox
