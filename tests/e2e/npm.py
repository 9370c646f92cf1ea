"""What tests/run.sh unpacks by package-lock.json: the clients, the conformance suite, and a Node to run them."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness

MODULES = pathlib.Path(os.environ.get("ASG_E2E_MODULES", harness.ROOT / "build" / "e2e" / "node_modules"))


def node():
    """The Node that came along, or that of the machine."""
    return next(iter(sorted(MODULES.glob("node-linux-*/bin/node"))), None) or shutil.which("node")


def need(*packages):
    """Leaves the test file when one of these is not there."""
    for package in packages:
        if not (MODULES / package).is_dir() or node() is None:
            harness.skip_file(f"no {package} in {MODULES}; tests/run.sh e2e fetches it")


def run_node(arguments, seconds, **options):
    """(exit status, standard output, standard error) of a Node program."""
    done = subprocess.run([node(), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=harness.stretched(seconds), check=False, **options)
    return done.returncode, done.stdout, done.stderr


def run_script(name, *arguments, seconds=90, env=None):
    """Runs one of our .mjs files, which prints JSON."""
    with tempfile.TemporaryDirectory() as folder:
        # Beside node_modules, as an import is resolved from where the file is.
        os.symlink(MODULES.resolve(), pathlib.Path(folder, "node_modules"))
        script = shutil.copy(pathlib.Path(__file__).with_name(name), folder)
        status, out, err = run_node([script, *arguments], seconds, env=os.environ | (env or {}))
    if status != 0:
        raise AssertionError(f"{name} ended with {status}:\n{out}\n{err}")
    return json.loads(out)
