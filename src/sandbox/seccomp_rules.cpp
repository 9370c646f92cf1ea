#include "seccomp_rules.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <iterator>

namespace asg::sandbox {
namespace {

constexpr std::uint64_t kInt = 0xffffffff;         // an int argument
constexpr std::uint64_t kTypeBits = 0xf;           // socket(2): the type without SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr std::uint64_t kPrSetVma = 0x53564d41;    // PR_SET_VMA, linux/prctl.h since 5.17
constexpr std::uint64_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                         CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME;

constexpr Rule allow(const char* call, const char* why) { return {call, Action::allow, 0, {}, why}; }
constexpr Rule refuse(const char* call, const char* why) { return {call, Action::refuse, 0, {}, why}; }
constexpr Rule unknown(const char* call, const char* why) { return {call, Action::unknown, 0, {}, why}; }
constexpr Rule only(const char* call, Condition a, const char* why) { return {call, Action::allow, 1, {a}, why}; }
constexpr Rule only(const char* call, Condition a, Condition b, const char* why) {
  return {call, Action::allow, 2, {a, b}, why};
}
constexpr Rule unsupported(const char* call, const char* why) { return {call, Action::unsupported, 0, {}, why}; }
constexpr Rule request(std::uint64_t number, const char* why) { return only("ioctl", {1, kInt, number}, why); }
constexpr Rule option(std::uint64_t number, const char* why) { return only("prctl", {0, kInt, number}, why); }
constexpr Rule family(std::uint64_t domain, std::uint64_t type, std::uint64_t protocol, const char* why) {
  return {"socket", Action::allow, 3, {{0, kInt, domain}, {1, kTypeBits, type}, {2, kInt, protocol}}, why};
}
constexpr Rule file_command(std::uint64_t number, const char* why) { return only("fcntl", {1, kInt, number}, why); }

constexpr Rule kRules[] = {
    // Files: the mount table and modes decide what can be reached; these only carry it out.
    allow("read", "reading"), allow("write", "writing"), allow("readv", "reading"), allow("writev", "writing"),
    allow("pread64", "reading at an offset"), allow("pwrite64", "writing at an offset"),
    allow("preadv", "reading at an offset"), allow("pwritev", "writing at an offset"),
    allow("preadv2", "reading at an offset"), allow("pwritev2", "writing at an offset"),
    allow("open", "old programs"), allow("openat", "open of libc"), allow("openat2", "open with resolve limits"),
    allow("creat", "old programs"), allow("close", "closing"), allow("close_range", "subprocess closes what it does not pass on"),
    allow("lseek", "seeking"), allow("stat", "metadata"), allow("fstat", "metadata"), allow("lstat", "metadata"),
    allow("newfstatat", "metadata"), allow("statx", "metadata, libuv"), allow("statfs", "shutil.disk_usage"),
    allow("fstatfs", "shutil.disk_usage"), allow("access", "os.access"), allow("faccessat", "os.access"),
    allow("faccessat2", "os.access"), allow("readlink", "links"), allow("readlinkat", "links"),
    allow("getdents", "listing"), allow("getdents64", "listing"), allow("getcwd", "working directory"),
    allow("chdir", "working directory"), allow("fchdir", "working directory"), allow("rename", "renaming"),
    allow("renameat", "renaming"), allow("renameat2", "renaming"), allow("mkdir", "directories"),
    allow("mkdirat", "directories"), allow("rmdir", "directories"), allow("link", "hard links in own files"),
    allow("linkat", "hard links in own files"), allow("unlink", "removing"), allow("unlinkat", "removing"),
    allow("symlink", "links"), allow("symlinkat", "links"), allow("chmod", "modes of own files"),
    allow("fchmod", "modes of own files"), allow("fchmodat", "modes of own files"), allow("chown", "own id only, without capabilities"),
    allow("fchown", "own id only"), allow("lchown", "own id only"), allow("fchownat", "own id only"),
    allow("umask", "modes of new files"), allow("truncate", "size"), allow("ftruncate", "size"),
    allow("fallocate", "size, bounded by the tmpfs"), allow("fsync", "no disk behind a tmpfs"),
    allow("fdatasync", "no disk behind a tmpfs"), allow("sync_file_range", "no disk behind a tmpfs"),
    allow("flock", "locks"),
    only("fcntl", {1, kInt & ~0xfULL, 0}, "descriptor flags, locks"), only("fcntl", {1, kInt & ~0xfULL, 32}, "locks of open files"),
    file_command(F_DUPFD_CLOEXEC, "descriptors"), file_command(F_SETPIPE_SZ, "pipes, charged"), file_command(F_GETPIPE_SZ, "pipes"),
    file_command(F_ADD_SEALS, "memfds"), file_command(F_GET_SEALS, "memfds"),
    refuse("fcntl", "no watching of directories (F_NOTIFY): all sandboxes see one image"), allow("fadvise64", "hints"),
    allow("readahead", "hints"), allow("dup", "descriptors"), allow("dup2", "descriptors"), allow("dup3", "descriptors"),
    allow("pipe", "pipes"), allow("pipe2", "pipes"), allow("sendfile", "shutil.copyfile"),
    allow("copy_file_range", "copying, libuv"), allow("splice", "pipes"), allow("tee", "pipes"),
    allow("vmsplice", "pipes"), allow("utime", "times of own files"), allow("utimes", "times of own files"),
    allow("utimensat", "times of own files"), allow("futimesat", "times of own files"),
    allow("getxattr", "shutil.copystat"), allow("lgetxattr", "shutil.copystat"), allow("fgetxattr", "shutil.copystat"),
    allow("listxattr", "shutil.copystat"), allow("llistxattr", "shutil.copystat"), allow("flistxattr", "shutil.copystat"),
    unsupported("setxattr", "shutil.copystat goes on without"),
    unsupported("lsetxattr", "shutil.copystat goes on without"),
    unsupported("fsetxattr", "shutil.copystat goes on without"),
    only("mknod", {1, S_IFMT, S_IFIFO}, "fifos"), only("mknodat", {2, S_IFMT, S_IFIFO}, "fifos"),
    only("mknod", {1, S_IFMT, S_IFREG}, "plain files"), only("mknodat", {2, S_IFMT, S_IFREG}, "plain files"),
    refuse("mknod", "no device nodes"), refuse("mknodat", "no device nodes"),
    unknown("inotify_init", "would tell what others read of the image"), unknown("inotify_init1", "as inotify_init"),
    unknown("inotify_add_watch", "as inotify_init"), unknown("inotify_rm_watch", "as inotify_init"), allow("memfd_create", "anonymous files, charged to the run"),
    request(TCGETS, "isatty"), request(TIOCGWINSZ, "terminal size"), request(FIONREAD, "bytes waiting"),
    request(FIONBIO, "non-blocking, libuv"), request(FIOCLEX, "close on exec, libuv and CPython"),
    request(FIONCLEX, "close on exec"), request(FIOASYNC, "signal-driven input"),
    request(SIOCGIFCONF, "own interfaces"), request(SIOCGIFNAME, "own interfaces"), request(SIOCGIFINDEX, "own interfaces"),
    request(SIOCGIFFLAGS, "own interfaces"), request(SIOCGIFADDR, "own interfaces"), request(SIOCGIFNETMASK, "own interfaces"),
    request(SIOCGIFHWADDR, "own interfaces, uuid"), request(SIOCGIFMTU, "own interfaces"),
    request(TCSETS, "no terminal: ENOTTY"), request(TCSETSW, "no terminal: ENOTTY"), request(TCSETSF, "no terminal: ENOTTY"),
    request(TIOCGPGRP, "no terminal: ENOTTY"), request(FICLONE, "cp asks for it"),
    refuse("ioctl", "no terminal tricks (TIOCSTI, TIOCLINUX), no device requests"),

    // Memory: bounded by the cgroup.
    allow("mmap", "memory"), allow("munmap", "memory"), allow("mprotect", "just-in-time compilers, thread stacks"),
    allow("mremap", "realloc"), allow("brk", "malloc"), allow("madvise", "malloc, V8"), allow("msync", "mapped files"),
    allow("mincore", "V8 asks which pages are there"), allow("mlock", "bounded by RLIMIT_MEMLOCK"), allow("mlock2", "bounded by RLIMIT_MEMLOCK"),
    allow("munlock", "counterpart"), allow("mlockall", "bounded by RLIMIT_MEMLOCK"), allow("munlockall", "counterpart"),
    allow("membarrier", "V8 patches its code"), allow("get_mempolicy", "BLAS asks for it"),
    refuse("set_mempolicy", "placement is the host's"), refuse("mbind", "placement is the host's"),
    refuse("migrate_pages", "placement is the host's"), refuse("move_pages", "placement is the host's"),
    unknown("memfd_secret", "memory the host cannot see"), unknown("pkey_alloc", "not needed"),
    unknown("userfaultfd", "a favourite of kernel exploits"),

    // Processes: their number is bounded by the cgroup, their sight by the PID namespace.
    only("clone", {0, kNewNamespaces, 0}, "fork and threads, no namespaces"),
    refuse("clone", "no namespaces"),
    unknown("clone3", "its flags lie in memory where no filter sees them; libc falls back to clone on ENOSYS"),
    allow("fork", "processes"), allow("vfork", "processes"), allow("execve", "programs"), allow("execveat", "programs"),
    allow("exit", "ending"), allow("exit_group", "ending"), allow("wait4", "children"), allow("waitid", "children"),
    allow("kill", "own namespace only"), allow("tkill", "own namespace only"), allow("tgkill", "own namespace only"),
    allow("pidfd_open", "own namespace only"), allow("pidfd_send_signal", "own namespace only"),
    allow("rt_sigaction", "signals"), allow("rt_sigprocmask", "signals"), allow("rt_sigreturn", "signals"),
    allow("rt_sigsuspend", "signals"), allow("rt_sigpending", "signals"), allow("rt_sigtimedwait", "signals"),
    allow("rt_sigqueueinfo", "signals"), allow("rt_tgsigqueueinfo", "signals"), allow("sigaltstack", "signals"),
    allow("signalfd", "signals"), allow("signalfd4", "signals"), allow("pause", "waiting"),
    allow("getpid", "identity"), allow("getppid", "identity"), allow("gettid", "identity"), allow("getuid", "identity"),
    allow("geteuid", "identity"), allow("getgid", "identity"), allow("getegid", "identity"), allow("getresuid", "identity"),
    allow("getresgid", "identity"), allow("getgroups", "identity"), allow("getpgid", "identity"), allow("getpgrp", "identity"),
    allow("getsid", "identity"), allow("setsid", "sessions"), allow("setpgid", "job control"),
    allow("setuid", "to its own id only: nothing else is mapped"), allow("setgid", "to its own id only"),
    allow("setreuid", "to its own id only"), allow("setregid", "to its own id only"), allow("setresuid", "to its own id only"),
    allow("setresgid", "to its own id only"), allow("setfsuid", "to its own id only"), allow("setfsgid", "to its own id only"),
    refuse("setgroups", "no other groups"), allow("capget", "asking"), refuse("capset", "there are none"),
    allow("getpriority", "asking"), allow("setpriority", "nice; only downwards without capabilities"),
    allow("sched_yield", "scheduling"), allow("sched_getaffinity", "scheduling"), allow("sched_setaffinity", "scheduling of its own"),
    allow("sched_getparam", "scheduling"), allow("sched_setparam", "no real-time without capabilities"),
    allow("sched_getscheduler", "scheduling"), allow("sched_setscheduler", "no real-time without capabilities"),
    allow("sched_get_priority_max", "scheduling"), allow("sched_get_priority_min", "scheduling"),
    allow("sched_rr_get_interval", "scheduling"), allow("sched_getattr", "scheduling"),
    allow("ioprio_get", "asking"), allow("getcpu", "scheduling"), allow("getrlimit", "limits"), allow("setrlimit", "only downwards"),
    allow("prlimit64", "only downwards"), allow("getrusage", "own use"), allow("times", "own use"), allow("sysinfo", "load and memory"),
    allow("uname", "kernel version"), allow("arch_prctl", "thread-local storage"), allow("set_tid_address", "threads"),
    allow("set_robust_list", "threads"), allow("get_robust_list", "threads"), allow("rseq", "libc"), allow("futex", "locks"),
    allow("futex_waitv", "locks"), allow("restart_syscall", "signals"),
    only("personality", {0, kInt, 0xffffffff}, "asking only"), refuse("personality", "no change of it (address layout)"),
    option(PR_SET_NAME, "thread names"), option(PR_GET_NAME, "thread names"), option(PR_SET_PDEATHSIG, "children die with parents"),
    option(PR_GET_PDEATHSIG, "asking"), option(PR_SET_DUMPABLE, "own process"), option(PR_GET_DUMPABLE, "asking"),
    option(PR_SET_NO_NEW_PRIVS, "already set"), option(PR_GET_NO_NEW_PRIVS, "asking"), option(PR_GET_SECCOMP, "asking"),
    option(PR_CAPBSET_READ, "asking"), option(PR_SET_CHILD_SUBREAPER, "reaping"), option(PR_GET_CHILD_SUBREAPER, "asking"),
    option(PR_SET_TIMERSLACK, "timers"), option(PR_GET_TIMERSLACK, "timers"), option(PR_SET_THP_DISABLE, "own memory"),
    option(PR_GET_THP_DISABLE, "asking"), option(kPrSetVma, "names of mappings, libc and V8"), option(PR_GET_KEEPCAPS, "asking"),
    refuse("prctl", "nothing else of it"),

    // Time and waiting.
    allow("nanosleep", "sleeping"), allow("clock_nanosleep", "sleeping"), allow("clock_gettime", "time"),
    allow("clock_getres", "time"), allow("gettimeofday", "time"), allow("time", "time"), allow("getitimer", "timers"),
    allow("setitimer", "timers"), allow("alarm", "timers"), allow("timer_create", "timers"), allow("timer_settime", "timers"),
    allow("timer_gettime", "timers"), allow("timer_getoverrun", "timers"), allow("timer_delete", "timers"),
    allow("timerfd_create", "timers"), allow("timerfd_settime", "timers"), allow("timerfd_gettime", "timers"),
    allow("poll", "waiting"), allow("ppoll", "waiting"), allow("select", "waiting"), allow("pselect6", "waiting"),
    allow("epoll_create", "event loops"), allow("epoll_create1", "event loops"), allow("epoll_ctl", "event loops"),
    allow("epoll_wait", "event loops"), allow("epoll_pwait", "event loops"), allow("epoll_pwait2", "event loops"),
    allow("eventfd", "event loops"), allow("eventfd2", "event loops"), allow("getrandom", "random numbers"),

    // Sockets: the network namespace has nothing but its own loopback.
    family(AF_UNIX, SOCK_STREAM, 0, "multiprocessing"), family(AF_UNIX, SOCK_DGRAM, 0, "local datagrams"),
    family(AF_UNIX, SOCK_SEQPACKET, 0, "local packets"),
    family(AF_INET, SOCK_STREAM, 0, "own loopback"), family(AF_INET, SOCK_STREAM, IPPROTO_TCP, "own loopback"),
    family(AF_INET, SOCK_DGRAM, 0, "own loopback"), family(AF_INET, SOCK_DGRAM, IPPROTO_UDP, "own loopback"),
    family(AF_INET6, SOCK_STREAM, 0, "own loopback"), family(AF_INET6, SOCK_STREAM, IPPROTO_TCP, "own loopback"),
    family(AF_INET6, SOCK_DGRAM, 0, "own loopback"), family(AF_INET6, SOCK_DGRAM, IPPROTO_UDP, "own loopback"),
    only("socket", {0, kInt, AF_NETLINK}, {2, kInt, NETLINK_ROUTE}, "getifaddrs, if_nameindex"),
    refuse("socket", "no raw, packet, vsock, alg, bluetooth"),
    only("socketpair", {0, kInt, AF_UNIX}, "asyncio, subprocess"), refuse("socketpair", "as socket"),
    allow("bind", "own loopback"), allow("listen", "own loopback"), allow("accept", "own loopback"), allow("accept4", "own loopback"),
    allow("connect", "own loopback"), allow("getsockname", "sockets"), allow("getpeername", "sockets"), allow("setsockopt", "sockets"),
    allow("getsockopt", "sockets"), allow("sendto", "sockets"), allow("recvfrom", "sockets"), allow("sendmsg", "sockets"),
    allow("recvmsg", "sockets"), allow("sendmmsg", "resolvers"), allow("recvmmsg", "sockets"), allow("shutdown", "sockets"),

    // System V IPC: an IPC namespace of its own, memory charged to the run.
    allow("shmget", "own IPC namespace"), allow("shmat", "own IPC namespace"), allow("shmdt", "own IPC namespace"),
    allow("shmctl", "own IPC namespace"), allow("semget", "own IPC namespace"), allow("semop", "own IPC namespace"),
    allow("semtimedop", "own IPC namespace"), allow("semctl", "own IPC namespace"), allow("msgget", "own IPC namespace"),
    allow("msgsnd", "own IPC namespace"), allow("msgrcv", "own IPC namespace"), allow("msgctl", "own IPC namespace"),

    // Probed for at start-up by runtimes, which go on without.
    unknown("io_uring_setup", "a large surface; libuv falls back"), unknown("io_uring_enter", "as io_uring_setup"),
    unknown("io_uring_register", "as io_uring_setup"),

    // Powers nobody inside may have: a plain refusal instead of "no such call".
    refuse("ptrace", "other processes' memory"), refuse("process_vm_readv", "other processes' memory"),
    refuse("process_vm_writev", "other processes' memory"), refuse("process_madvise", "other processes' memory"),
    refuse("pidfd_getfd", "other processes' descriptors"), refuse("kcmp", "kernel addresses by comparison"),
    refuse("unshare", "no namespaces"), refuse("setns", "no namespaces"), refuse("mount", "no mounts"), refuse("umount2", "no mounts"),
    refuse("mount_setattr", "no mounts"), refuse("move_mount", "no mounts"), refuse("open_tree", "no mounts"),
    refuse("fsopen", "no mounts"), refuse("fsconfig", "no mounts"), refuse("fsmount", "no mounts"), refuse("fspick", "no mounts"),
    refuse("pivot_root", "no other root"), refuse("chroot", "no other root"), refuse("swapon", "the host's"),
    refuse("swapoff", "the host's"), refuse("reboot", "the host's"), refuse("sethostname", "the host's"),
    refuse("setdomainname", "the host's"), refuse("settimeofday", "the host's"), refuse("clock_settime", "the host's"),
    refuse("clock_adjtime", "the host's"), refuse("adjtimex", "the host's"), refuse("acct", "the host's"), refuse("quotactl", "the host's"),
    refuse("syslog", "the kernel's log"), refuse("init_module", "kernel code"), refuse("finit_module", "kernel code"),
    refuse("delete_module", "kernel code"), refuse("kexec_load", "kernel code"), refuse("kexec_file_load", "kernel code"),
    refuse("bpf", "kernel code"), refuse("perf_event_open", "side channels"), refuse("keyctl", "keyrings have no namespace"),
    refuse("add_key", "keyrings have no namespace"), refuse("request_key", "keyrings have no namespace"),
    refuse("open_by_handle_at", "files outside the mount table"), refuse("name_to_handle_at", "its counterpart"),
    refuse("fanotify_init", "watching mounts"), refuse("fanotify_mark", "watching mounts"), refuse("iopl", "hardware"),
    refuse("ioperm", "hardware"), refuse("modify_ldt", "old 16-bit code"), refuse("vhangup", "terminals"),
    refuse("lookup_dcookie", "kernel profiling"), refuse("ioprio_set", "the host's disks"), refuse("sync", "the host's disks"),
    refuse("syncfs", "the host's disks"), refuse("seccomp", "the filter is final"), refuse("landlock_create_ruleset", "not needed"),
    refuse("sched_setattr", "deadline scheduling"), refuse("mq_open", "not needed"), refuse("mq_unlink", "not needed"),
};

}  // namespace

std::span<const Rule> seccomp_rules() { return kRules; }

}  // namespace asg::sandbox
