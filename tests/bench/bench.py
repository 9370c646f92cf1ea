"""The whole of a call, over HTTP on loopback, beside the bare interpreter of the same image in the same run, rounds of both in
turn. Needs root (to enter the image) and a quiet machine. Prints a table; --json FILE writes every figure.

    tests/run.sh bench        or        python3.11 tests/bench/bench.py [--json FILE] [--rounds N]"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness

LOAD = pathlib.Path(os.environ.get("ASG_LOAD", harness.SERVER.parent / "tests/bench/asg_load"))
IMAGE = pathlib.Path(os.environ.get("ASG_IMAGE", harness.SERVER.parent / "runtime")).resolve()
PROGRAMS = {
    "python hello": ("python", "import math\nprint(math.sqrt(144))"),
    "import numpy": ("python", "import numpy\nprint(1)"),
    "import pandas": ("python", "import pandas\nprint(1)"),
    "node hello": ("javascript", "console.log(1)"),
}
PAUSE_MS = 40  # between two calls of one caller: time to make a sandbox ready, as real callers leave it
EMPTY_POOL = {"pool": {"python": 1, "python_data": 1, "javascript": 1}}


def load(*words):
    run = subprocess.run([LOAD, *map(str, words)], capture_output=True, text=True, check=True)
    *lines, elapsed = run.stdout.split("\n")[:-1]
    return [int(line) / 1000 for line in lines], int(elapsed.split()[1]) / 1e6


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def peers():
    """Other sandboxes, where they are installed: the same program in the same image."""
    hello = ["/usr/bin/python3.11", "-c", PROGRAMS["python hello"][1]]
    known = {"bwrap": ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", IMAGE, "/", "--tmpfs", "/tmp",
                       "--proc", "/proc", "--dev", "/dev", *hello],
             "firejail": ["firejail", "--quiet", "--noprofile", f"--chroot={IMAGE}", "--net=none", "--caps.drop=all", "--nonewprivs",
                          "--seccomp", *hello],
             "nsjail": ["nsjail", "-Mo", "-Q", "--chroot", IMAGE, "-T", "/tmp", "--disable_clone_newcgroup", "--", *hello]}
    return {name: command for name, command in known.items() if shutil.which(name)}


def time_command(command):
    started = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.monotonic() - started) * 1000 if run.returncode == 0 else None


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, latencies, bare=None, rate=None, bare_rate=None):
        row = {"name": name, "n": len(latencies), "p50_ms": percentile(latencies, 0.5), "p90_ms": percentile(latencies, 0.9),
               "p99_ms": percentile(latencies, 0.99), "ratio": percentile(latencies, 0.5) / bare if bare else None,
               "per_second": rate, "rate_ratio": rate / bare_rate if rate and bare_rate else None}
        self.rows.append(row)
        shown = [f"{name:34}", f"{row['n']:5}", *(f"{row[key]:9.2f}" for key in ("p50_ms", "p90_ms", "p99_ms")),
                 f"{row['ratio']:8.4f}" if bare else " " * 8, f"{rate:8.1f}" if rate else " " * 8,
                 f"{row['rate_ratio']:6.2f}" if row["rate_ratio"] else ""]
        print(" ".join(shown), flush=True)


def latencies(table, server, rounds):
    """One caller, warm; bare and sandbox in turn."""
    address = server.address
    medians = {}
    for name, (language, code) in PROGRAMS.items():
        bare, ours = [], []
        for _ in range(rounds):
            bare += load("bare", IMAGE, language, code, 1, 4, 0)[0]
            ours += load("call", *address, language, code, 1, 20, PAUSE_MS if language == "python" else 400)[0]
        medians[name] = statistics.median(bare)
        table.add(f"bare {name}", bare, medians[name])
        table.add(f"warm {name}, 1 caller", ours, medians[name])
    for name, command in peers().items():
        times = [spent for _ in range(rounds * 4) if (spent := time_command(command)) is not None]
        if times:
            table.add(f"{name} python hello", times, medians["python hello"])
    return medians


def saturated(table, server, medians):
    for name in ("python hello", "import numpy", "node hello"):
        language, code = PROGRAMS[name]
        for callers in (1, 2, 8, 32):
            count = 40 if language == "javascript" else 160
            bare, bare_seconds = load("bare", IMAGE, language, code, callers, max(count // 4, callers), 0)
            ours, seconds = load("call", *server.address, language, code, callers, max(count, 4 * callers), 0)
            table.add(f"{name}, {callers} callers, no pause", ours, medians[name], len(ours) / seconds, len(bare) / bare_seconds)


def memory_of(server):
    """Private memory of the idle sandboxes, by kind, in MB: the launcher's children that wait."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
            rollup = (entry / "smaps_rollup").read_text()
            name = status.split("Name:\t")[1].split("\n")[0]
            depth = len(status.split("NSpid:")[1].split("\n")[0].split())
        except (OSError, IndexError):
            continue
        if depth < 3 or not is_below(int(entry.name), server.pid):
            continue
        private = sum(int(line.split()[1]) for line in rollup.split("\n") if line.startswith(("Private_Clean", "Private_Dirty")))
        found.setdefault(name, []).append(private / 1024)
    return {name: (len(values), statistics.median(values)) for name, values in found.items()}


def is_below(pid, ancestor):
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def idle_cpu(server, seconds=5):
    """CPU seconds a second of the server with full pools, all its processes."""
    def ticks():
        total = 0
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and is_below(int(entry.name), server.pid):
                try:
                    fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    total += int(fields[11]) + int(fields[12])
                except OSError:
                    pass
        return total
    before = ticks()
    time.sleep(seconds)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if os.geteuid() != 0:
        harness.skip_file("entering the image takes root")
    print(f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':34} {'n':>5} {'p50 ms':>9} {'p90 ms':>9} {'p99 ms':>9} {'/ bare':>8} {'per s':>8} {'/ bare':>6}")
    table = Table()
    with harness.Server() as server:
        time.sleep(4)
        medians = latencies(table, server, options.rounds)
        saturated(table, server, medians)
        time.sleep(4)
        memory, cpu = memory_of(server), idle_cpu(server)
    with harness.Server(**EMPTY_POOL) as server:
        time.sleep(4)
        # Two callers on a pool of one: every other call is forked on request.
        language, code = PROGRAMS["python hello"]
        forked = load("call", *server.address, language, code, 2, 80, 0)[0]
        table.add("python hello, pool empty, 2 callers", forked, medians["python hello"])
    with harness.Server(sandbox={"isolation": "fresh"}) as server:
        for name, (language, code) in PROGRAMS.items():
            table.add(f"fresh {name}, 1 caller", load("call", *server.address, language, code, 1, 8, 0)[0], medians[name])
    for name, (count, private) in sorted(memory.items()):
        print(f"idle {name}: {count}, private memory {private:.1f} MB each")
    print(f"CPU of the idle server with full pools: {cpu * 100:.2f} % of a core")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rows": table.rows, "memory": memory, "idle_cpu": cpu}, indent=1))


if __name__ == "__main__":
    main()
