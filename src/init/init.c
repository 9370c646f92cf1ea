/* PID 1 of a sandbox: reaps everything. When the main process (always PID 2) is its child, it tells how that ended and dies,
 * which ends all the rest of the PID namespace; a main process forked by a zygote is waited for by the launcher. Static and without libc: a few pages, started in a fraction of a millisecond.
 *
 * Descriptors: 3 the control socket, 4 a pipe whose closing lets the main process start. Both are set up by
 * src/sandbox/child.cpp, and the message is struct Control of asg/sandbox/protocol.hpp. */

#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/wait.h>
#include <stddef.h>

enum { kControlFd = 3, kReadyFd = 4, kMainPid = 2, kExited = 2, kUp = 3, kSigchldBit = 1 << 16 };

struct Control {
  unsigned type, value, stage, index;
};

static long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static long call4(long number, long a, long b, long c, long d) { return call6(number, a, b, c, d, 0, 0); }

static void leave(int status) {
  for (;;) call4(__NR_exit_group, status, 0, 0, 0);
}

static void say(unsigned type, unsigned value) {
  const struct Control report = {type, value, 0, 0};
  call6(__NR_sendto, kControlFd, (long)&report, sizeof report, 0x4000 /* MSG_NOSIGNAL */, 0, 0);
}

/* All that is left to do: wait, say it, end. Anything else would be somebody else's code: end then. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 6),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_wait4, 5, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rt_sigtimedwait, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendto, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

__attribute__((noreturn, force_align_arg_pointer, used)) void _start(void) {
  const unsigned long sigchld = kSigchldBit;
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  /* Nothing inside may look into this process or open its /proc files for writing. */
  if (call4(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0) != 0) leave(120);
  if (call4(__NR_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&sigchld, 0, sizeof sigchld) != 0) leave(122);
  if (call4(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0) != 0) leave(121);
  say(kUp, 0);
  call4(__NR_close, kReadyFd, 0, 0, 0);
  for (;;) {
    int status = 0;
    const long pid = call4(__NR_wait4, -1, (long)&status, WNOHANG | __WALL, 0);
    if (pid <= 0) { /* none has ended, or there is none: the signal is blocked, so that none is missed */
      call4(__NR_rt_sigtimedwait, (long)&sigchld, 0, 0, sizeof sigchld);
    } else if (pid == kMainPid) {
      say(kExited, (unsigned)status);
      leave(0);
    }
  }
}
