"""Run inside a new image: everything that is promised to Python programs, used once."""
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
import bz2, ctypes, curses, dbm, decimal, distutils.version, glob, hashlib, importlib.util, io, json, lzma  # noqa: E401,F401
import os, pwd, readline, sqlite3, ssl, subprocess, sys, time, uuid, venv, zlib, zoneinfo  # noqa: E401,F401

import numpy
import pandas
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont
import requests


def run(*command, given=b""):
    return subprocess.run(command, input=given, capture_output=True, check=False)


def check_libraries():
    assert sys.version_info[:2] == (3, 11), sys.version
    assert numpy.allclose(numpy.linalg.inv(numpy.eye(3) * 2), numpy.eye(3) / 2)
    frame = pandas.read_csv(io.StringIO("a,b\n1,2\n3,4\n"))
    assert frame["b"].sum() == 6
    assert pandas.Timestamp("2024-07-01", tz="Europe/Berlin").utcoffset().seconds == 7200
    canvas = PIL.Image.new("RGB", (64, 32))
    PIL.ImageDraw.Draw(canvas).text((1, 1), "x", font=PIL.ImageFont.truetype("DejaVuSans.ttf", 12))
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "TIFF"):
        canvas.save(io.BytesIO(), kind)
    assert os.path.getsize(requests.certs.where()) > 100_000


def check_system():
    assert len(os.listdir("/etc/ssl/certs")) > 100
    assert zoneinfo.ZoneInfo("Asia/Tokyo") and time.tzname == ("UTC", "UTC"), time.tzname
    assert pwd.getpwuid(1000).pw_dir == "/workspace"
    assert run("sh", "-c", "sort | head -n1 | tr a x", given=b"b\na\n").stdout == b"x\n"
    assert ctypes.CDLL(None).getpid() > 0


def check_absent():
    for module in ("pip", "ensurepip", "matplotlib", "apt", "setuptools"):
        assert importlib.util.find_spec(module) is None, f"{module} must not be in the image"


def check_compiled():
    """What is not compiled here is compiled at every import: nobody can write beside it later."""
    for source in glob.glob("/usr/lib/python3*/**/*.py", recursive=True):
        with open(importlib.util.cache_from_source(source), "rb") as cached:
            assert cached.read(8)[4] == 1, f"{source}: compiled by time stamp, not by hash"


def check_shared_libraries():
    """A library trimmed away by mistake would be missed only when a caller first needs it."""
    loader = glob.glob("/usr/lib/*/ld-linux-*.so.*")[0]
    files = [f for pattern in ("/usr/bin/*", "/usr/sbin/*", "/usr/lib/*-linux-gnu/*.so*", "/usr/lib/python3*/**/*.so")
             for f in glob.glob(pattern, recursive=True) if os.path.isfile(f) and not os.path.islink(f)]
    for file in files:
        with open(file, "rb") as opened:
            if opened.read(4) == b"\x7fELF":
                listed = run(loader, "--list", file)
                wrong = [line for line in (listed.stdout + listed.stderr).splitlines() if b"not found" in line]
                assert not wrong, f"{file}: {wrong}"


if __name__ == "__main__":
    check_libraries()
    check_system()
    check_absent()
    check_compiled()
    check_shared_libraries()
