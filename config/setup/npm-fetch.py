#!/usr/bin/env python3
"""npm-fetch.py LOCKFILE TARGET: unpacks what a package-lock.json names into TARGET/node_modules.

A fresh Debian has no npm, and Debian's drags in some hundred packages. All that a lock
file needs is fetching, checking and unpacking, so this does that and runs no package script.
"""

import base64
import hashlib
import io
import json
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import time
import urllib.request

TRIES = 4


def registry():
    """The registry this machine is set up for; without npm, the default that Debian's npm carries."""
    configured = os.environ.get("NPM_CONFIG_REGISTRY") or os.environ.get("npm_config_registry")
    if configured:
        return configured
    try:
        return subprocess.run(["npm", "config", "get", "registry"], check=True, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, cwd="/").stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        pass
    for npmrc in (pathlib.Path.home() / ".npmrc", pathlib.Path("/etc/npmrc")):
        if npmrc.is_file():
            for line in npmrc.read_text().splitlines():
                name, _, value = line.partition("=")
                if name.strip() == "registry":
                    return value.strip()
    here = pathlib.Path(__file__).resolve().parent
    return subprocess.run([here / "npm-default-registry.sh"], check=True, text=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout.strip()


def download(url, integrity):
    wanted = {}
    for entry in integrity.split():
        algorithm, _, digest = entry.partition("-")
        wanted[algorithm] = digest
    algorithm = next((a for a in ("sha512", "sha384", "sha256") if a in wanted), None)
    if algorithm is None:
        raise SystemExit(f"npm-fetch: no integrity hash worth checking for {url}")
    for attempt in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                data = answer.read()
            break
        except OSError as error:
            if attempt == TRIES:
                raise SystemExit(f"npm-fetch: cannot fetch {url}: {error}") from error
            time.sleep(attempt)
    actual = base64.b64encode(hashlib.new(algorithm, data).digest()).decode()
    if actual != wanted[algorithm]:
        raise SystemExit(f"npm-fetch: {url} is not what the lock file names ({algorithm} differs)")
    return data


def unpack(data, target):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            # The first part is a folder name that each packer chooses ("package" mostly).
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if not member.isfile() or not parts or ".." in parts:
                continue
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(member).read())
            path.chmod(0o755 if member.mode & 0o111 else 0o644)


def link_commands(modules, target, entry):
    """What `npm ci` puts into node_modules/.bin."""
    for command, script in entry.get("bin", {}).items():
        (modules / ".bin").mkdir(exist_ok=True)
        link = modules / ".bin" / command
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(target / script, link.parent))
            (target / script).chmod(0o755)


def fits(entry):
    cpu = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return ("linux" in entry.get("os", ["linux"]) and cpu in entry.get("cpu", [cpu])
            and "glibc" in entry.get("libc", ["glibc"]))


def main():
    lock, root = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
    base = registry().rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise SystemExit("npm-fetch: no npm registry is configured; set NPM_CONFIG_REGISTRY")
    for place, entry in lock["packages"].items():
        if not place.startswith("node_modules/") or not fits(entry):
            continue
        name = entry.get("name") or place.rpartition("node_modules/")[2]
        url = f"{base}/{name}/-/{name.rpartition('/')[2]}-{entry['version']}.tgz"
        target = root / place
        unpack(download(url, entry["integrity"]), target)
        modules = root / (place.rpartition("node_modules/")[0] + "node_modules")
        link_commands(modules, target, entry)


if __name__ == "__main__":
    main()
