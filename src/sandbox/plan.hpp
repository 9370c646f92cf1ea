#pragma once
// All that a child needs, as plain pointers into memory that the launcher owns. Built before clone3; the child allocates nothing.

#include <linux/filter.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>

namespace asg::sandbox {

struct PlanFile {
  const char* path;      // relative to the working directory, NUL-terminated
  const char* content;
  std::size_t size;
};

struct PlanLimit {
  int resource;
  rlimit limit;
};

/// When a main process loses the descriptors that are not its own.
enum class Descriptors : std::uint32_t { closed_at_exec, closed_now };

/// The main process: the user's program.
struct MainPlan {
  std::uint32_t main_id = 0;     // id in the launcher's user namespace; 1000 inside
  const char* id_map = nullptr;  // "1000 MAIN_ID 1"
  const PlanLimit* limits = nullptr;
  std::size_t limit_count = 0;
  sock_fprog filter{};
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
  // Where it reports a step that failed. A cold one: the control socket. A warm one keeps it for its own words, and user code comes
  // to hold it: a pipe, since a socket can carry descriptors whose closing blocks, and can be filled by anybody who has an end.
  int report_fd = -1;
  int payload_fd = -1;  // -1: its files are laid out before it starts
  int go_fd = -1;       // with a payload: a pipe that says when it is there
  Descriptors descriptors = Descriptors::closed_at_exec;
};

/// PID 1 of a fresh set of namespaces, and the main process that it forks.
struct ChildPlan {
  const int* procs_fds = nullptr;  // v1: "0" is written to each
  std::size_t procs_count = 0;

  const char* tmpfs_size = nullptr;    // bytes, as text
  const char* tmpfs_inodes = nullptr;  // as text
  const PlanFile* files = nullptr;
  std::size_t file_count = 0;

  int control_fd = -1;                 // a socket that no program ever holds
  std::uint32_t init_id = 0;           // of PID 1, another one than the program's where there is a range
  const char* init_program = nullptr;

  MainPlan main;
  const char* program = nullptr;  // none: a zygote forks the main process into these namespaces
  const char* const* argv = nullptr;
  const char* const* envp = nullptr;
};

/// What PID 1 does: isolates itself, forks the main process where it is its own, becomes init. Never returns.
/// System calls only (fork(2) of a process that may hold locks).
[[noreturn]] void run_child(const ChildPlan& plan) noexcept;

}  // namespace asg::sandbox
