# The fork server's Python half: imports what its children shall find imported, then hands over to the extension, which forks
# on request and never comes back here. It stands where a program's main.py stands, so that the command line is a program's.
import sys

sys.path.insert(0, "/opt/asg")
import _asg_zygote

del sys.path[0], sys.modules["_asg_zygote"]

# Modules whose import costs a program most and changes nothing for those that never ask for them.
import abc, argparse, array, ast, asyncio, atexit, base64, binascii, bisect, calendar, cmath, codecs, collections, collections.abc
import concurrent.futures, contextlib, copy, csv, ctypes, dataclasses, datetime, decimal, difflib, email.message, enum, errno
import fractions, functools, gc, glob, gzip, hashlib, heapq, hmac, html, http.client, importlib.machinery, importlib.util, inspect, io
import itertools, json, keyword, linecache, locale, logging, math, mimetypes, multiprocessing, numbers, operator, os, pathlib, pickle
import platform, pprint, queue, random, re, secrets, select, selectors, shutil, signal, socket, sqlite3, ssl, stat, statistics, string
import struct, subprocess, tempfile, textwrap, threading, time, timeit, tokenize, traceback, types, typing, unicodedata, urllib.parse
import urllib.request, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo

if _asg_zygote.preload() == "heavy":
    import numpy, numpy.random, pandas, PIL.Image, requests


def reseed():
    """Nothing that a child draws at random may equal what its siblings draw. OpenSSL sees to itself, since the pid changes."""
    random.seed(int.from_bytes(os.urandom(32), "little"))
    tempfile._name_sequence = None
    if "numpy" in sys.modules:
        numpy.random.seed(int.from_bytes(os.urandom(4), "little"))
    threading.main_thread()._set_native_id()
    sys.path_importer_cache.pop("/workspace", None)


def new_main():
    """What `python main.py` finds as __main__."""
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    main.__file__ = "/workspace/main.py"
    main.__cached__ = None
    main.__annotations__ = {}
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", "/workspace/main.py")
    sys.modules["__main__"] = sys.modules["__mp_main__"] = main  # the second name is multiprocessing's
    return main


def finish(main):
    """What the interpreter does when a program has come to its end, except for freeing memory that dies with it."""
    threading._shutdown()
    atexit._run_exitfuncs()
    flush()
    names = vars(main)
    for private in (True, False):
        for name in list(names):
            if name != "__builtins__" and name.startswith("_") == private and names[name] is not None:
                names[name] = None
    gc.collect()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            pass


WARM_UP = compile(
    "import math\n"
    "def f(n):\n    return [i * i for i in range(n)]\n"
    "x = str(math.sqrt(f(9)[-1])) + '%d' % len({'a': 1})\n"
    "try:\n    {}['missing']\nexcept KeyError as e:\n    repr(e)\n"
    "print(end='')\n",
    "warm-up", "exec")


def warm_up():
    """Touches the memory that a small program needs, so that its page faults are paid before it is there."""
    for _ in range(2):
        exec(WARM_UP, {"__name__": "warm-up"})
        compile("import math\nprint(math.sqrt(144))\n", "warm-up", "exec", dont_inherit=True)
    flush()


with open("/proc/self/status") as status:
    assert "Threads:\t1\n" in status.read(), "a thread would be lost by the fork"
del status
gc.collect()
gc.freeze()
_asg_zygote.serve({"reseed": reseed, "new_main": new_main, "finish": finish, "flush": flush, "warm_up": warm_up})
