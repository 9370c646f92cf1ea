"""What a program sees and can reach from inside: nothing of the host, of the server, or of other runs."""

import socket
import unittest
from concurrent.futures import ThreadPoolExecutor

from cases import Case, ServerTest, tests_of

CANARY = "canary-2f7c9d"
LIBC = "import ctypes, errno, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
TRY = """def attempt(name, ok, *call):
    ctypes.set_errno(0)
    r = libc.syscall(*call)
    print(name, "ALLOWED" if r >= 0 else errno.errorcode[ctypes.get_errno()])
"""

IDENTITY = [
    Case("user_and_names", "py", """
        import getpass, grp, os, platform, pwd, socket
        print(os.getuid(), os.geteuid(), os.getgid(), getpass.getuser(), pwd.getpwuid(1000).pw_dir, socket.gethostname(), platform.node())
        print(set(os.getgroups()) <= {1000, 65534})
        """, out="1000 1000 1000 sandbox /workspace sandbox sandbox\nTrue\n"),
    Case("names_in_node", "js", "const os = require('os'); console.log(os.hostname(), os.userInfo().username, process.getuid());",
         out="sandbox sandbox 1000\n"),
    Case("environment", "py", f"""
        import os, re
        print(sorted(k for k in os.environ if re.search("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AWS|DATABASE|WALLET|PRIVATE|SUDO|SSH|ASG", k, re.I)))
        print(len(os.environ) <= 40, any("{CANARY}" in v for v in os.environ.values()))
        print({{k: os.environ.get(k) for k in ("LANG", "TZ", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")}})
        """, out="[]\nTrue False\n{'LANG': 'C.UTF-8', 'TZ': 'UTC', 'PYTHONUNBUFFERED': '1', 'PYTHONDONTWRITEBYTECODE': '1'}\n"),
    Case("environment_in_node", "js", f"console.log(JSON.stringify(process.env).includes('{CANARY}'), process.env.HOME, process.env.LANG)",
         out="false /workspace C.UTF-8\n"),
    Case("environment_of_other_processes", "py", f"""
        import os
        found = False
        for p in filter(str.isdigit, os.listdir("/proc")):
            for name in ("environ", "cmdline"):
                try: found |= b"{CANARY}" in open(f"/proc/{{p}}/{{name}}", "rb").read()
                except OSError: pass
        print(found, len(list(filter(str.isdigit, os.listdir("/proc")))) <= 4)
        """, out="False True\n"),
    Case("host_files_are_absent", "py", """
        import os
        for p in ("/etc/machine-id", "/etc/shadow", "/root/.bash_history", "/root/.ssh", "/home", "/sys/class", "/sys/fs/cgroup", "/boot", "/var/log/dpkg.log",
                  "/etc/ssh", "/var/lib/dbus/machine-id", "/.dockerenv", "/etc/resolv.conf"):
            try: os.listdir(p) if os.path.isdir(p) else open(p).read()
            except OSError: continue
            if os.path.isdir(p) and not os.listdir(p): continue
            if os.path.isfile(p) and not os.path.getsize(p): continue
            print("SEEN", p)
        print("end")
        """, out="end\n"),
    Case("no_system_sockets", "py", """
        import os
        names = ["docker.sock", "containerd/containerd.sock", "podman/podman.sock", "systemd/private", "dbus/system_bus_socket", "libvirt/libvirt-sock",
                 "crio/crio.sock", "snapd.socket", "user", "systemd/notify", "systemd/journal/socket"]
        print([p for n in names for d in ("/run", "/var/run") if os.path.exists(p := f"{d}/{n}")])
        """, out="[]\n"),
    Case("no_set_user_id_programs", "py", """
        import os, stat
        found = []
        for root, _, files in os.walk("/usr"):
            for f in files:
                try: mode = os.lstat(os.path.join(root, f)).st_mode
                except OSError: continue
                if stat.S_ISREG(mode) and mode & 0o6000: found.append(f)
        print(open("/proc/self/status").read().count("NoNewPrivs:\\t1"))
        """, out="1\n"),
]

KERNEL = [
    Case("privileges_are_gone", "py", """
        want = ("NoNewPrivs", "Seccomp", "CapInh", "CapEff", "CapPrm", "CapAmb")
        for line in open("/proc/self/status"):
            k, _, v = line.partition(":")
            if k in want: print(k, v.strip())
        """, out="CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n"),
    Case("kernel_settings", "py", """
        for p in ("kernel/core_pattern", "kernel/modprobe", "vm/overcommit_memory", "kernel/hostname", "fs/binfmt_misc/register", "net/ipv4/ip_forward",
                  "kernel/pid_max", "user/max_user_namespaces", "kernel/ns_last_pid", "fs/file-max"):
            try: open("/proc/sys/" + p, "ab", buffering=0).write(b"1"); print("CHANGED", p)
            except OSError: pass
        for p in ("/proc/sysrq-trigger", "/proc/1/oom_score_adj", "/proc/1/mem", "/proc/kcore", "/proc/kmsg", "/proc/self/uid_map", "/proc/self/setgroups",
                  "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/dev/kmsg", "/dev/mem"):
            try: open(p, "ab", buffering=0).write(b"1"); print("CHANGED", p)
            except OSError: pass
        print("end")
        """, out="end\n"),
    Case("namespaces_and_mounts", "py", LIBC + """
        def call(name, *a):
            ctypes.set_errno(0); r = getattr(libc, name)(*a); print(name, "DONE" if r == 0 else errno.errorcode[ctypes.get_errno()])
        for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x4000000, 0x8000000, 0x2000000, 0x80): call("unshare", flag)
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None); call("mount", b"/", b"/tmp", None, 4096, None); call("umount2", b"/proc", 2)
        call("umount2", b"/tmp", 2); call("chroot", b"/tmp"); call("setuid", 0); call("setgid", 0); call("setgroups", 0, None)
        call("sethostname", b"x", 1); call("setdomainname", b"x", 1); call("setns", os.open("/proc/self/ns/net", 0), 0)
        call("swapon", b"/tmp/x", 0); call("reboot", 0x1234567); call("acct", b"/tmp/x"); call("personality", 0x0200000)
        print("end")
        """.replace("\n        ", "\n"), out_not=["DONE"], out_has=["end\n"]),
    Case("clone_with_namespaces", "py", LIBC + TRY + """
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000): attempt("clone", 0, 56, flag | 17, 0, 0, 0, 0)
print("end")
""", out_not=["ALLOWED"], out_has=["end\n"]),
    Case("side_channels_and_surface", "py", LIBC + TRY + """
for name, *call in (("keyctl", 250, 0, -3, 0, 0, 0), ("add_key", 248, b"user", b"k", b"v", 1, -3), ("request_key", 249, b"user", b"k", 0, 0),
                    ("bpf", 321, 0, 0, 0), ("perf", 298, 0, 0, -1, -1, 0), ("userfaultfd", 323, 0), ("io_uring", 425, 4, 0), ("module", 175, 0, 0, 0),
                    ("kexec", 246, 0, 0, 0, 0), ("handle", 304, -1, 0, 0), ("mknod", 133, b"/tmp/d", 0o060600, 0x800), ("quotactl", 179, 0, 0, 0, 0),
                    ("syslog", 103, 3, 0, 0), ("iopl", 172, 3), ("ioperm", 173, 0, 1, 1), ("fsopen", 430, b"tmpfs", 0), ("open_tree", 428, -100, b"/", 1),
                    ("move_mount", 429, -1, b"", -1, b"", 0), ("pidfd_getfd", 438, 0, 0, 0), ("vm_read", 310, 1, 0, 0, 0, 0, 0), ("kcmp", 312, 1, 1, 0, 0, 0),
                    ("nfs", 180, 0, 0, 0), ("clock", 227, 0, b"\\0" * 16), ("setdate", 164, b"\\0" * 16, 0)): attempt(name, 0, *call)
print("end")
""", out_not=["ALLOWED"], out_has=["end\n"]),
    Case("tracing", "py", LIBC + """
import sys, time
child = os.fork()
if child == 0: time.sleep(5); os._exit(0)
for pid in (1, os.getppid(), child):
    for request in (16, 0x4206): print("DONE" if libc.ptrace(request, pid, None, None) == 0 else "refused")
print("DONE" if libc.ptrace(0, 0, None, None) == 0 else "refused")
try: open(f"/proc/{os.getppid()}/mem", "rb").read(1); print("DONE")
except OSError: print("refused")
""", out_not=["DONE"], out_has=["refused\n"]),
    Case("sockets_of_other_kinds", "py", """
        import socket
        for family, kind, protocol in ((17, 3, 0), (40, 1, 0), (38, 5, 0), (31, 3, 0), (16, 3, 9), (16, 3, 15), (2, 3, 1), (10, 3, 58), (29, 3, 1), (44, 3, 0)):
            try: socket.socket(family, kind, protocol).close(); print("ALLOWED", family, kind, protocol)
            except OSError: pass
        print("end")
        """, out="end\n"),
    Case("devices", "py", """
        import os, stat
        nodes = [n for n in os.listdir("/dev") if not stat.S_ISDIR(os.stat("/dev/" + n).st_mode) and not os.path.islink("/dev/" + n)]
        print(sorted(nodes))
        print(open("/dev/zero", "rb").read(2), len(open("/dev/urandom", "rb").read(8)), open("/dev/null").read() == "")
        try: open("/dev/full", "w").write("x") and None; open("/dev/full", "wb", buffering=0).write(b"x")
        except OSError as e: print(e.errno)
        try: os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)); print("MADE")
        except OSError: print("refused")
        """, out="['full', 'null', 'random', 'urandom', 'zero']\nb'\\x00\\x00' 8 True\n28\nrefused\n", err=None),
    Case("no_terminal", "py", """
        import fcntl, os, termios
        for act in (lambda: os.open("/dev/tty", os.O_RDWR), lambda: os.open("/dev/ptmx", os.O_RDWR), lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"), os.openpty):
            try: act(); print("HAS")
            except OSError: print("none")
        """, out="none\n" * 4),
    Case("limits_cannot_be_raised", "py", """
        import resource
        for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE):
            try: resource.setrlimit(what, (1 << 20, 1 << 20)); print("RAISED")
            except (OSError, ValueError): print("refused")
        """, out="refused\nrefused\n"),
    Case("killing_everybody_ends_only_itself", "py", """
        import os, signal
        for target in (1, -1):
            try: os.kill(target, signal.SIGKILL)
            except OSError: pass
        print("end")
        """, exit=None, err=None, signal=None, check=None),
]

NETWORK = [
    Case("only_loopback", "py", """
        import os, socket
        print([n for _, n in socket.if_nameindex()], len(open("/proc/net/route").read().splitlines()) - 1)
        """, out="['lo'] 0\n"),
    Case("nothing_outside_answers", "py", """
        import socket
        for family, address in ((2, ("192.0.2.1", 80)), (2, ("1.1.1.1", 53)), (2, ("169.254.169.254", 80)), (2, ("10.0.0.1", 22)), (10, ("2001:db8::1", 80))):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                s = socket.socket(family, kind); s.settimeout(2)
                try: s.connect(address); s.send(b"x"); print("REACHED", address)
                except OSError: pass
        print("end")
        """, out="end\n", within=5),
    Case("names_are_not_resolved", "py", """
        import socket
        try: socket.getaddrinfo("example.com", 80); print("RESOLVED")
        except socket.gaierror: print("no name"); print(socket.getaddrinfo("localhost", 80, type=1)[-1][4][:2])
        """, out_has=["no name\n", "('127.0.0.1', 80)"], within=5),
    Case("fetch_fails_soon", "js", "fetch('http://example.com').catch(e => console.log(e.name))", out="TypeError\n", err=None, within=5),
    Case("own_loopback_works", "py", """
        import socket, threading
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0")):
            s = socket.socket(family); s.bind((host, 80 if False else 0)); s.listen()
            c = socket.create_connection(("127.0.0.1", s.getsockname()[1])); a, _ = s.accept(); a.send(b"hi"); print(c.recv(9))
        """, out="b'hi'\nb'hi'\n"),
]


@tests_of(IDENTITY, KERNEL, NETWORK)
class Isolation(ServerTest):
    ENV = {"ASG_TEST_CANARY": CANARY, "AWS_SECRET_ACCESS_KEY": CANARY, "DATABASE_URL": CANARY, "http_proxy": f"http://{CANARY}:1"}

    def run_case(self, case):
        if case.name == "killing_everybody_ends_only_itself":
            reply = self.server.call_with(case.arguments())
            self.assertTrue(reply.is_run, reply)
        else:
            super().run_case(case)
        self.assert_alive()

    def test_the_host_name_does_not_leak(self):
        code = "import os, platform, socket\nprint(socket.gethostname(), platform.uname().node, os.uname().nodename, open('/proc/sys/kernel/hostname').read())"
        self.assertNotIn(socket.gethostname(), self.server.call(language="python", code=code).result["stdout"].split())

    def test_loopback_of_the_host_is_another(self):
        code = f"import socket\ntry: socket.create_connection(('127.0.0.1', {self.server.address[1]}), 2); print('REACHED')\nexcept OSError: print('refused')"
        self.assertEqual(self.server.call(language="python", code=code).result["stdout"], "refused\n")

    def test_abstract_sockets_of_the_host_are_others(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("\0asg-e2e-abstract")
            listener.listen()
            code = "import socket\ns = socket.socket(socket.AF_UNIX)\ntry: s.connect('\\0asg-e2e-abstract'); print('REACHED')\nexcept OSError: print('refused')"
            self.assertEqual(self.server.call(language="python", code=code).result["stdout"], "refused\n")

    def test_a_port_of_a_run_is_not_seen_outside(self):
        code = "import socket, time\ns = socket.socket(); s.bind(('0.0.0.0', 18573)); s.listen(); print('up'); time.sleep(1)"
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(self.server.call, language="python", code=code)
            while not run.done():
                with socket.socket() as probe:
                    self.assertNotEqual(probe.connect_ex(("127.0.0.1", 18573)), 0)
            self.assertEqual(run.result().result["stdout"], "up\n")

    def test_runs_do_not_see_each_other(self):
        hide = ("import subprocess, sys\nopen('/tmp/hidden-k3', 'w').write('k3')\nopen('/dev/shm/hidden-k3', 'w').write('k3')\n"
                "subprocess.run([sys.executable, '-c', 'import time; time.sleep(2)', 'word-k3'])")
        seek = """import os, time
seen = set()
end = time.time() + 1.5
while time.time() < end:
    for p in filter(str.isdigit, os.listdir("/proc")):
        try: text = open(f"/proc/{p}/cmdline", "rb").read()
        except OSError: continue
        if b"word-k" in text and int(p) != os.getpid(): seen.add(text)
    seen |= {p for p in ("/tmp/hidden-k3", "/dev/shm/hidden-k3") if os.path.exists(p)}
print(seen or "alone")
"""
        with ThreadPoolExecutor(2) as pool:
            hidden, sought = [pool.submit(self.server.call, language="python", code=code) for code in (hide, seek)]
            self.assertEqual(sought.result().result["stdout"], "alone\n")
            self.assertEqual(hidden.result().result["exit_code"], 0)

    def test_another_program_stays_within_the_limits(self):
        code = "import os, sys\nprint('first', flush=True)\nos.execve(sys.executable, ['x', '-c', 'import time; print(\"second\", flush=True); time.sleep(60)'], {})"
        run = self.server.call(language="python", code=code, timeout_seconds=1).result
        self.assertEqual((run["stdout"], run["timed_out"], run["exit_code"]), ("first\nsecond\n", True, 124))


if __name__ == "__main__":
    unittest.main()
