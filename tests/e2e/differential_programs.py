"""Small programs whose output, status and signal must be the same from the bare interpreter, a cold and a warm sandbox.

The files beside it hold one program after the other, between lines of "---". They print nothing that differs from run to run
(times, addresses, pids)."""

import pathlib

_FOLDER = pathlib.Path(__file__).with_name("differential")


def _split(name):
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return [program.strip("\n") + "\n" for program in text.split("\n---\n")]


def programs():
    """(language, source) of each."""
    made = [("python", source) for source in _split("python.txt") + _split("python_more.txt")] + [("javascript", source) for source in _split("javascript.txt")]
    for status in (0, 1, 2, 42, 126, 127, 128, 200, 254, 255, 256, 1000):
        made += [("python", f"import sys\nsys.exit({status})\n"), ("python", f"import os\nos._exit({status} & 255)\n"),
                 ("javascript", f"process.exit({status})\n"), ("javascript", f"process.exitCode = {status}\n")]
    for name in ("HUP", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "SEGV", "ALRM", "TERM", "XCPU"):
        made.append(("python", f"import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIG{name})\nprint('after')\n"))
    for size in (0, 1, 4095, 4096, 65535, 65536, 65537, 200000, 999999):
        made += [("python", f"import sys\nsys.stdout.write('x' * {size})\nsys.stderr.write('y' * {size})\n"),
                 ("javascript", f"process.stdout.write('x'.repeat({size}))\nprocess.stderr.write('y'.repeat({size}))\nprocess.exit(1)\n")]
    return made
