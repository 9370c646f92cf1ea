"""Runs one program by the interpreter of the image, outside any sandbox of ours, in a place that looks like one. PID 1 of fresh
namespaces (unshare(1)); writes the wait status to a descriptor. Arguments: status-fd image runner source name variable... -- command..."""

import os
import resource
import shutil
import subprocess
import sys

status_fd, image, runner, source, name = int(sys.argv[1]), *sys.argv[2:6]
cut = sys.argv.index("--")
variables, command = sys.argv[6:cut], sys.argv[cut + 1:]


def mount(*words):
    subprocess.run(["mount", *words], check=True, stdin=subprocess.DEVNULL)


def at(path):
    return os.path.join(image, path)


mount("--make-rprivate", "/")
mount("-t", "tmpfs", "-o", "mode=755", "work", at("workspace"))
mount("-t", "tmpfs", "tmp", at("tmp"))
mount("-t", "tmpfs", "-o", "mode=755", "dev", at("dev"))
for node in ("null", "zero", "full", "random", "urandom"):
    open(at(f"dev/{node}"), "w").close()
    mount("--bind", f"/dev/{node}", at(f"dev/{node}"))
for target, link in (("fd", "fd"), ("fd/0", "stdin"), ("fd/1", "stdout"), ("fd/2", "stderr")):
    os.symlink(f"/proc/self/{target}", at(f"dev/{link}"))
os.mkdir(at("dev/shm"))
os.chmod(at("dev/shm"), 0o1777)
mount("-t", "proc", "proc", at("proc"))
mount("--bind", runner, at("opt/asg"))
shutil.copyfile(source, at(f"workspace/{name}"))
os.chmod(at(f"workspace/{name}"), 0o644)
for path in ("workspace", f"workspace/{name}"):
    os.chown(at(path), 1000, 1000)
with open("/proc/sys/kernel/hostname", "w") as hostname:
    hostname.write("sandbox")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True, stdin=subprocess.DEVNULL)

pid = os.fork()
if pid == 0:
    os.close(status_fd)
    os.chroot(image)
    os.chdir("/workspace")
    os.setsid()
    for what, value in ((resource.RLIMIT_NOFILE, 1024), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_MEMLOCK, 8 << 20)):
        resource.setrlimit(what, (value, value))
    for fd in (0, 1, 2):
        os.fchown(fd, 1000, 1000) if fd else None
    os.setgroups([])
    os.setresgid(1000, 1000, 1000)
    os.setresuid(1000, 1000, 1000)
    os.umask(0o022)
    os.closerange(3, 256)
    # This interpreter ignores two signals; a program starts with the defaults.
    import signal
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execve(command[0], command, dict(variable.split("=", 1) for variable in variables))
while True:
    ended, status = os.wait()
    if ended == pid:
        os.write(status_fd, str(status).encode())
        os._exit(0)
