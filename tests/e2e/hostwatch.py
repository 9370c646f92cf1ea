"""What a server and its runs hold on this machine: processes, cgroups, mounts, descriptors, memory, files."""

import glob
import os
import pathlib

import harness


def status(pid):
    """/proc/PID/status as a dict; empty when the process is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def below(server):
    """{pid: status} of the processes below the server (itself left out), zombies included. A process of a run that lost its
    parent hangs below the first process of its namespace, so it is found here too."""
    table = {int(name): row for name in os.listdir("/proc") if name.isdigit() if (row := status(name))}
    found, grown = {server}, True
    while grown:
        more = {pid for pid, row in table.items() if pid not in found and int(row["PPid"]) in found}
        found |= more
        grown = bool(more)
    return {pid: table[pid] for pid in found - {server} if pid in table}


def activity(server):
    """Changes whenever a process below the server comes, goes or uses the processor."""
    ticks = []
    for pid in sorted(below(server)):
        try:
            ticks.append((pid, *pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        except OSError:
            continue
    return tuple(ticks)


def come_to_rest(server):
    """Waits; whether it did. Ready sandboxes are made in the background, and before them interpreters import for a while: at rest
    when no process has come or gone and none has used the processor for a time."""
    seen = []
    return harness.wait_until(lambda: seen.append(activity(server)) or (len(seen) > 12 and len(set(seen[-12:])) == 1), 120, step=0.15)


def describe(rows):
    return sorted(f"{pid} {row['Name']} {row['State']}" for pid, row in rows.items())


def own_processes(server):
    """The server's own: itself and those that are there when nothing runs."""
    return {server, *below(server)}


def cgroups(server):
    """Control groups of this server: another one may run beside it."""
    return {folder for folder, _, _ in os.walk("/sys/fs/cgroup") if f"asg-sandbox-{server}-" in folder}


def daemons(server):
    """The server and its front: what is in the same process namespace. Ready sandboxes, which come and go, are in deeper ones."""
    depth = len(status(server).get("NSpid", "").split())
    return {server} | {pid for pid, row in below(server).items() if len(row.get("NSpid", "").split()) == depth}


def mounts(pids):
    found = set()
    for pid in pids:
        try:
            found |= {f"{pid} {line}" for line in pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines()}
        except OSError:
            continue
    return found


def descriptors(pids):
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            continue
    return count


def memory_mib(pids):
    return sum(int(status(pid).get("VmRSS", "0 kB").split()[0]) for pid in pids) / 1024


def leftovers():
    """Files and sockets of ours where a server may put some."""
    return {path for place in ("/tmp", "/var/tmp", "/dev/shm", "/run") for path in glob.glob(f"{place}/*asg*")}


SLEEPER = {"language": "python", "timeout_seconds": 60,
           "code": "open('/proc/self/comm', 'w').write('e2e-sleeper')\nimport time; print('a'); time.sleep({seconds}); print('b')"}


def sleeper(seconds=50):
    """Arguments of a run that can be told from the server's own processes."""
    return SLEEPER | {"code": SLEEPER["code"].format(seconds=seconds)}


def sleepers(server):
    return [pid for pid, row in below(server).items() if row["Name"] == "e2e-sleeper"]


class Watch:
    """What a server holds when it is at rest, to compare with later. Made when nothing runs."""

    def __init__(self, server):
        self._server = server
        come_to_rest(server)
        self._processes, self._cgroups = below(server), cgroups(server)

    def _grown(self, look, before, seconds):
        """What there is more of than before, once it had the time to go away. By number: ready sandboxes are replaced."""
        harness.wait_until(lambda: len(look()) <= len(before), seconds, step=0.05)
        now = look()
        return now, len(now) - len(before)

    def more_processes(self, seconds):
        now, more = self._grown(lambda: below(self._server), self._processes, seconds)
        return describe(now) if more > 0 else []

    def more_cgroups(self, seconds):
        now, more = self._grown(lambda: cgroups(self._server), self._cgroups, seconds)
        return sorted(now - self._cgroups) if more > 0 else []

    def zombies(self, seconds):
        def look():
            return [row for row in describe(below(self._server)) if " Z " in row]

        harness.wait_until(lambda: not look(), seconds, step=0.05)
        return look()
