"""The same programs through the bare interpreter of the image, a cold sandbox and a warm one: output, status and signal must
be the same to the byte. Needs root, to enter the image without the server."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import differential_programs
import harness

IMAGE = pathlib.Path(os.environ.get("ASG_IMAGE", harness.SERVER.parent / "runtime")).resolve()
RUNNER = pathlib.Path(os.environ.get("ASG_RUNNER", harness.SERVER.parent / "runner")).resolve()
VARIABLES = subprocess.run([harness.SERVER, "print-policy"], capture_output=True, text=True, check=True).stdout
VARIABLES = [line for line in VARIABLES.split("# environment\n")[1].split("\n\n")[0].splitlines() if line]

COMMANDS = {
    "python": ("main.py", ["/usr/bin/python3.11", "/workspace/main.py"]),
    # The preload decides between CommonJS and ES modules and is nothing that a plain node would have: it is what is compared.
    "javascript": ("main.cjs", ["/usr/bin/node", "--max-old-space-size=384", "--require=/opt/asg/prepare.cjs", "/workspace/main.cjs"]),
}


def bare(language, source):
    """(stdout, stderr, exit code) of the interpreter itself."""
    name, command = COMMANDS[language]
    status_read, status_write = os.pipe()
    with tempfile.NamedTemporaryFile("wb") as file:
        file.write(source.encode())
        file.flush()
        # A file would be seekable, and a default pipe too small for Node.
        run = subprocess.run(
            ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", sys.executable, "-I",
             pathlib.Path(__file__).with_name("bare_init.py"), str(status_write), IMAGE, RUNNER, file.name, name, *VARIABLES, "--",
             *command],
            stdin=subprocess.DEVNULL, capture_output=True, pass_fds=[status_write], timeout=harness.stretched(60))
    os.close(status_write)
    status = int(os.read(status_read, 100))
    os.close(status_read)
    code = os.waitstatus_to_exitcode(status)
    return run.stdout, run.stderr, code if code >= 0 else 128 - code


# What differs from run to run, or between two runs of the bare interpreter, or is known and harmless.
NOISE = [
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r"object refcount : \d+", "object refcount : N"),
    (r"\(node:\d+\)", "(node:PID)"),
    (r"(ECONNREFUSED \S+:)\d+", r"\1PORT"),
    (r"port: \d+", "port: PORT"),
    # A warm program is started from the event loop instead of the start-up script; both are Node's own last line.
    (r"node:internal/main/run_main_module:\d+:\d+", "START"),
    (r"process\.processImmediate \(node:internal/timers:\d+:\d+\)", "START"),
    # A warm program's exit handlers are called through ours; it shows when one of them throws.
    (r"\n    at process\.value \(/opt/asg/prepare\.cjs:\d+:\d+\)", ""),
]


def decoded(raw):
    return raw.decode("utf-8", errors="replace")


def quiet(value):
    for pattern, replacement in NOISE if isinstance(value, str) else ():
        value = re.sub(pattern, replacement, value)
    return value


class Differential(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            harness.skip_file("entering the image takes root")
        cls.warm, cls.cold = harness.Server(), harness.Server(sandbox={"isolation": "fresh"})
        cls.warm.__enter__()
        cls.addClassCleanup(cls.warm.__exit__, None, None, None)
        cls.cold.__enter__()
        cls.addClassCleanup(cls.cold.__exit__, None, None, None)

    def test_same(self):
        programs = differential_programs.programs()
        self.assertGreater(len(programs), 250)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (language, source), faults in zip(programs, pool.map(self.compare, programs)):
                with self.subTest(language=language, source=source[:200]):
                    self.assertFalse(faults, "\n" + "\n".join(faults))

    def compare(self, program):
        language, source = program
        out, err, status = bare(language, source)
        expected = {"stdout": decoded(out), "stderr": decoded(err), "exit_code": status}
        faults = []
        for name, server in (("cold", self.cold), ("warm", self.warm)):
            reply = server.call(language=language, code=source)
            if not reply.is_run:
                faults.append(f"{name}: {reply}")
                continue
            for key, value in expected.items():
                if quiet(reply.result[key]) != quiet(value):
                    faults.append(f"{name} {key}: bare {value[-700:] if isinstance(value, str) else value!r}\n"
                                  f"  got {reply.result[key][-700:] if isinstance(value, str) else reply.result[key]!r}")
        return faults


if __name__ == "__main__":
    unittest.main(verbosity=1)
