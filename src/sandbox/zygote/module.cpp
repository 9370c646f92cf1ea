// The fork server's native half, an extension of Debian's python3.11: forks main processes into namespaces that are ready, takes
// them through the same last steps as a cold one, and runs the program without a frame of ours below it. Relies on CPython 3.11:
// the fork skips the interpreter's own hooks, which is right for one thread only, and the frame chain is cut by hand.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "written for CPython 3.11"
#endif

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "main_process.hpp"
#include "report.hpp"
#include "zygote_protocol.hpp"
#include "program.hpp"

namespace {

using namespace asg::sandbox;

constexpr int kSocket = 3;
constexpr int kSettings = 4;
constexpr int kLog = 5;
constexpr std::size_t kMaxFds = 16;

const ZygoteSettings* settings = nullptr;

struct Request {
  ForkRequest what;
  std::array<int, kMaxFds> fds{};
  std::size_t fd_count = 0;
};

/// Where libc keeps the thread id that a raw clone leaves stale. Found by looking, since no interface tells.
pid_t* cached_thread_id() {
  const auto me = static_cast<pid_t>(::syscall(SYS_gettid));
  auto* words = reinterpret_cast<pid_t*>(::pthread_self());
  for (std::size_t i = 0x200 / sizeof(pid_t); i < 0x400 / sizeof(pid_t); ++i) {
    if (words[i] == me) return words + i;
  }
  return nullptr;
}

bool receive(Request& request) {
  iovec part{.iov_base = &request.what, .iov_len = sizeof request.what};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFds)> space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  ssize_t n = -1;
  do {
    n = ::recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof request.what) return false;
  request.fd_count = 0;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_type != SCM_RIGHTS) continue;
    request.fd_count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(request.fds.data(), CMSG_DATA(h), request.fd_count * sizeof(int));
  }
  return request.fd_count >= kForkFds;
}

void reply(int error, int pidfd) {
  ForkReply answer{.error = error};
  iovec part{.iov_base = &answer, .iov_len = sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (pidfd >= 0) {
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &pidfd, sizeof pidfd);
  }
  (void)::sendmsg(kSocket, &message, MSG_NOSIGNAL);
}

/// Into the sandbox: its group, its namespaces, its working directory, then what every program goes through.
void enter(const Request& request) {
  const int words = request.fds[1];
  for (std::size_t i = kForkFds; request.what.group_version == 1 && i < request.fd_count; ++i) {
    check(words, ::write(request.fds[i], "0", 1), StageId::enter_cgroup, static_cast<std::uint32_t>(i));
  }
  constexpr int kJoined = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  check(words, ::setns(request.fds[0], kJoined), StageId::join_namespaces);
  check(words, ::chdir("/workspace"), StageId::change_directory);
  MainPlan plan;
  plan.main_id = request.what.main_id;
  plan.id_map = request.what.id_map;
  plan.limits = settings->limits;
  plan.limit_count = settings->limit_count;
  plan.filter = {.len = static_cast<unsigned short>(settings->filter_length), .filter = const_cast<sock_filter*>(settings->filter)};
  plan.report_fd = words;
  plan.stdin_fd = request.fds[2];
  plan.stdout_fd = request.fds[3];
  plan.stderr_fd = request.fds[4];
  plan.payload_fd = request.fds[5];
  plan.go_fd = request.fds[6];
  plan.descriptors = Descriptors::closed_now;
  become_program(plan);
  load_filter(plan);
}

long fork_child(const Request& request, pid_t* thread_id, int& pidfd) {
  if (::setns(request.fds[0], CLONE_NEWPID) != 0) return -1;
  clone_args args{};
  args.flags = CLONE_PIDFD | CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.child_tid = reinterpret_cast<std::uint64_t>(thread_id);
  if (request.what.group_version == 2 && request.fd_count > kForkFds) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<std::uint64_t>(request.fds[kForkFds]);
  }
  return ::syscall(SYS_clone3, &args, sizeof args);
}

PyObject* serve(PyObject*, PyObject* hooks) {
  pid_t* const thread_id = cached_thread_id();
  if (thread_id == nullptr || !PyDict_Check(hooks)) {
    PyErr_SetString(PyExc_RuntimeError, "unknown libc");
    return nullptr;
  }
  reply(0, -1);  // the greeting: ready to fork
  Request request;
  while (receive(request)) {
    int pidfd = -1;
    const long pid = fork_child(request, thread_id, pidfd);
    if (pid == 0) {
      enter(request);
      asg::zygote::run_program(hooks, request.what.warm_up == WarmUp::yes);
    }
    reply(pid < 0 ? errno : 0, pidfd);
    if (pidfd >= 0) ::close(pidfd);
    for (std::size_t i = 0; i < request.fd_count; ++i) ::close(request.fds[i]);
  }
  ::_exit(0);
}

PyObject* preload(PyObject*, PyObject*) {
  return PyUnicode_FromString(settings->preload == Preload::heavy ? "heavy" : "light");
}

PyMethodDef methods[] = {{"preload", preload, METH_NOARGS, "Which modules the children shall find imported."},
                         {"serve", serve, METH_O, "Forks on request; never returns."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_asg_zygote", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__asg_zygote() {
  void* start = ::mmap(nullptr, sizeof(ZygoteSettings), PROT_READ, MAP_PRIVATE, kSettings, 0);
  if (start == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
  settings = static_cast<const ZygoteSettings*>(start);
  ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  ::fcntl(kLog, F_SETFD, FD_CLOEXEC);
  ::close(kSettings);
  return PyModule_Create(&definition);
}
