#!/usr/bin/env python3
"""describe.py debian TREE           prints what dpkg installed into TREE, as JSON
describe.py image TREE KEY <THAT    prints the image's description, read from the image itself"""

import json
import os
import pathlib
import re
import sys

PYTHON_PROMISED = {"numpy": "numpy", "pandas": "pandas", "requests": "requests", "pillow": "Pillow"}
NODE_PROMISED = ("axios", "lodash", "dayjs")


def debian_packages(tree):
    packages = {}
    for block in (tree / "var/lib/dpkg/status").read_text().split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version): (.*)$", block, re.MULTILINE))
        if fields:
            packages[fields["Package"]] = fields["Version"]
    return packages


def python_version(tree, distribution):
    for info in (tree / "usr/lib/python3/dist-packages").glob(f"{distribution}-*.*-info"):
        metadata = info / "METADATA" if info.is_dir() else info
        if not metadata.is_file():
            metadata = info / "PKG-INFO"
        return re.search(r"^Version: (.*)$", metadata.read_text(), re.MULTILINE)[1]
    raise SystemExit(f"the image holds no Python library {distribution}")


def upstream(version):
    """1:2.3+dfsg-4 -> 2.3"""
    return re.match(r"(?:\d+:)?([0-9.]+)", version)[1]


def image(tree, key, packages):
    removed = {line[1:].split()[0] for line in
               (pathlib.Path(__file__).parent / "packages.list").read_text().splitlines() if line.startswith("-")}
    return {
        "key": key,
        "python": upstream(packages["python3.11"]),
        "node": upstream(packages["nodejs"]),
        "python_packages": {name: python_version(tree, dist) for name, dist in PYTHON_PROMISED.items()},
        "node_packages": {name: json.loads((tree / "node_modules" / name / "package.json").read_text())["version"]
                          for name in NODE_PROMISED},
        "debian_packages": {name: version for name, version in sorted(packages.items()) if name not in removed},
    }


def main():
    tree = pathlib.Path(sys.argv[2])
    what = debian_packages(tree) if sys.argv[1] == "debian" else image(tree, sys.argv[3], json.load(sys.stdin))
    json.dump(what, sys.stdout, indent=1)
    print(end=os.linesep)


if __name__ == "__main__":
    main()
