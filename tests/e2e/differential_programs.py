"""Small programs whose output, status and signal must be the same from the bare interpreter, a cold and a warm sandbox.

They print nothing that differs from run to run (times, addresses, pids)."""

import textwrap

_PYTHON = r"""
print("hello")
---
import math; print(math.sqrt(144))
---
print(__name__, __file__, __doc__, __package__, __spec__, __annotations__, __builtins__)
---
x: int = 3
print(__annotations__, sorted(k for k in globals()))
---
import sys; print(sys.argv, sys.orig_argv, sys.path[0], sys.executable, sys.flags.dont_write_bytecode, sys.getrecursionlimit())
---
import sys; print(sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdin.errors)
---
import sys; print(sys.stdout.isatty(), sys.stdout.line_buffering, sys.stdout.write_through, sys.stdout.seekable(), sys.stderr.seekable(), sys.stdin.readable())
---
import sys; print(type(sys.stdout.buffer).__name__, sys.stdout.name, sys.stdout.mode, sys.stdin.name)
---
print(input())
---
import sys; print(repr(sys.stdin.read()), repr(sys.stdin.readline()))
---
1/0
---
def f(): g()
def g():
    raise ValueError("deep")
f()
---
try:
    1/0
except ZeroDivisionError as e:
    raise RuntimeError("second") from e
---
try:
    {}["a"]
except KeyError:
    raise RuntimeError("during")
---
raise SystemExit
---
raise SystemExit(3)
---
import sys; sys.exit()
---
import sys; sys.exit(300)
---
import sys; sys.exit(-1)
---
import sys; sys.exit("a message")
---
import sys; sys.exit([1, 2])
---
import sys; sys.exit(True)
---
import sys; sys.exit(None)
---
import os; print("x"); os._exit(9)
---
import os; os.abort()
---
import os, signal; os.kill(os.getpid(), signal.SIGTERM)
---
import os, signal; os.kill(os.getpid(), signal.SIGINT)
---
raise KeyboardInterrupt
---
import os, signal
signal.signal(signal.SIGUSR1, lambda *a: print("caught", a[0])); os.kill(os.getpid(), signal.SIGUSR1)
---
import signal; print([s for s in (signal.SIGPIPE, signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if signal.getsignal(s) not in (signal.SIG_DFL,)])
---
import ctypes; ctypes.string_at(0)
---
x = 1
y = (2,
print(x)
---
def f():
return 1
---
print("a" "b
---
	if True:
    pass
---
f(**{"a": 1}, *[2], x=)
---
# coding: latin-1
print("é".encode("latin-1"))
---
from __future__ import annotations
def f(x: undefined_name): pass
print(f.__annotations__)
---
import __main__; print(__main__.__file__, hasattr(__main__, "reseed"), hasattr(__main__, "finish"))
---
import inspect
def f():
    return 1  # seen
print(inspect.getsource(f), [s.function for s in inspect.stack()])
---
import traceback
def f(): traceback.print_stack()
f()
---
import sys
def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
print(depth())
---
import sys
f = sys._getframe(); print(f.f_back, f.f_code.co_name, f.f_code.co_filename)
---
def down(n): return down(n + 1)
down(0)
---
import atexit
@atexit.register
def last(): print("last")
print("first")
---
import atexit
atexit.register(print, "one"); atexit.register(print, "two")
raise ValueError("x")
---
import atexit
atexit.register(lambda: 1/0)
print("a")
---
import threading, time
def late():
    time.sleep(0.05); print("late")
threading.Thread(target=late).start(); print("main ends")
---
import threading, time
def never():
    time.sleep(60); print("never")
threading.Thread(target=never, daemon=True).start(); print("main ends")
---
import threading
def bad(): raise ValueError("in thread")
t = threading.Thread(target=bad, name="T"); t.start(); t.join(); print("ok")
---
import threading; m = threading.main_thread(); print(m.name, m is threading.current_thread(), m.native_id == threading.get_native_id(), threading.active_count())
---
class A:
    def __del__(self): print("del", self.name)
a = A(); a.name = "a"; print("end")
---
class A:
    def __del__(self): print("cycle")
a = A(); a.me = a; del a; print("end")
---
f = open("unclosed.txt", "w"); f.write("data")
import atexit, os
atexit.register(lambda: print(os.path.exists("unclosed.txt")))
---
import sys; sys.stdout.write("no newline")
---
import sys; print("out"); print("err", file=sys.stderr); print("out2")
---
import sys; sys.stdout.close()
---
import os; os.close(1); print("x")
---
import sys; sys.stderr.close(); raise ValueError("unseen")
---
print("\ud83d")
---
import sys; sys.stdout.buffer.write(b"\xff\xfe\n"); print("é猫🎈")
---
import sys; sys.excepthook = lambda t, v, tb: print("hook", t.__name__, v); 1/0
---
import sys; sys.displayhook(5); print(sys.ps1 if hasattr(sys, "ps1") else "no ps1")
---
import os
pid = os.fork()
if pid: os.wait()
print("child" if pid == 0 else "parent")
---
import os
if os.fork() == 0: raise SystemExit(4)
print(os.waitstatus_to_exitcode(os.wait()[1]))
---
import os
if os.fork() == 0: os._exit(5)
print(os.waitstatus_to_exitcode(os.wait()[1]))
---
import os, sys; os.execv(sys.executable, [sys.executable, "-c", "print('replaced'); raise SystemExit(6)"])
---
import subprocess, sys; print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, len(sys.modules) > 10)"], capture_output=True, text=True).stdout)
---
import subprocess; print(subprocess.run("echo $HOME $USER $TZ $LANG; cat", shell=True, capture_output=True, text=True).stdout)
---
import subprocess, sys; subprocess.run([sys.executable, "-c", "import time; print('sub'); 1/0"]); print("after")
---
from multiprocessing import Pool
def cube(n): return n ** 3
if __name__ == "__main__":
    with Pool(2) as pool: print(pool.map(cube, range(4)))
---
import multiprocessing as mp
def work(q): q.put(__name__)
if __name__ == "__main__":
    ctx = mp.get_context("spawn"); q = ctx.Queue(); p = ctx.Process(target=work, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)
---
from concurrent.futures import ProcessPoolExecutor
def sq(n): return n * n
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as e: print(list(e.map(sq, range(4))))
---
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as e: print(sorted(e.map(lambda n: n * n, range(5))))
---
import asyncio
async def main():
    await asyncio.sleep(0.01); print("async"); return 3
print(asyncio.run(main()))
---
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("echo", "sub", stdout=asyncio.subprocess.PIPE)
    print((await p.communicate())[0])
asyncio.run(main())
---
import pickle
class P:
    def __init__(self): self.x = 1
print(pickle.loads(pickle.dumps(P())).x, P.__module__)
---
from dataclasses import dataclass
@dataclass
class D:
    a: int
    b: str = "x"
print(D(1))
---
import enum
class C(enum.Enum): A = 1
print(C.A, repr(C.A))
---
import typing
class T(typing.NamedTuple):
    a: int
print(T(1), typing.get_type_hints(T))
---
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
    def test_b(self): self.fail("no")
unittest.main(argv=["x"], exit=True, verbosity=0) if False else print(unittest.TestLoader().loadTestsFromTestCase(T).countTestCases())
---
import doctest
def f():
    '''
    >>> 1 + 1
    2
    '''
print(doctest.testmod())
---
import logging; logging.warning("w"); logging.info("i"); print(logging.getLogger().handlers != [])
---
import logging; logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s %(message)s"); logging.getLogger("a").debug("d")
---
import warnings; warnings.warn("careful")
---
import warnings; warnings.warn("old", DeprecationWarning); print("x")
---
def f():
    import warnings; warnings.warn("two up", stacklevel=2)
f()
---
import os; print(sorted(k for k in os.environ), os.environ["HOME"])
---
import os; print(os.getcwd(), os.listdir("."), os.path.abspath("x"))
---
import os; print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups(), os.umask(0))
---
import os, stat; print([oct(stat.S_IMODE(os.stat(p).st_mode)) for p in (".", "/tmp", "/dev/shm", "main.py")])
---
print(open("/proc/self/cmdline", "rb").read())
---
print(sorted(open("/proc/self/environ", "rb").read().split(b"\0"))[:6])
---
import resource; print([resource.getrlimit(r) for r in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK)])
---
open("/dev/stdout", "w").write("reopened\n")
---
open("/dev/stderr", "w").write("reopened\n"); open("/proc/self/fd/1", "w").write("again\n")
---
print(open("/dev/stdin").read() == "")
---
import tempfile, os
with tempfile.NamedTemporaryFile(dir=".") as f: print(os.path.dirname(f.name))
print(tempfile.gettempdir())
---
import random; random.seed(1); print(random.random(), random.randint(1, 9))
---
import hashlib; print(hashlib.sha256(b"x").hexdigest()[:12], hashlib.md5(b"x").hexdigest()[:12])
---
import decimal; print(decimal.Decimal(1) / 3, decimal.getcontext().prec)
---
import locale; print(locale.getlocale(), locale.getpreferredencoding(False))
---
import time, datetime; print(time.tzname, datetime.datetime.fromtimestamp(0))
---
import zoneinfo, datetime; print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo")).isoformat())
---
import socket
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1), socket.gethostname())
---
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); c = socket.create_connection(s.getsockname()); print(s.accept()[0].fileno() > 0)
---
import socket
socket.create_connection(("192.0.2.1", 80), 2)
---
import urllib.request
urllib.request.urlopen("http://example.invalid/", timeout=2)
---
import sqlite3; c = sqlite3.connect("x.db"); c.execute("create table t(a)"); c.execute("insert into t values (1)"); c.commit(); print(c.execute("select * from t").fetchall())
---
import json, re, csv, io, itertools, collections, functools; print(json.dumps({"a": [1, None]}), re.findall("a+", "aab"), collections.Counter("aab"))
---
import gc; print(gc.isenabled(), gc.get_threshold())
---
import sys; print(sys.getswitchinterval(), sys.getfilesystemencoding(), sys.hash_info.width, sys.maxsize, sys.version_info[:3])
---
import sys; print("_asg_zygote" in sys.modules, "/opt/asg" in sys.path)
---
import os; print(sorted(int(f) for f in os.listdir("/proc/self/fd"))[:3])
---
exec("print(1)"); print(eval("2"), compile("3", "f", "eval").co_filename)
---
import code; code.InteractiveInterpreter().runsource("print(4)")
---
import runpy; open("m.py", "w").write("print(__name__)"); runpy.run_path("m.py", run_name="ran")
---
open("local_module.py", "w").write("VALUE = 7")
import local_module; print(local_module.VALUE, local_module.__file__)
---
import no_such_module
---
from math import no_such_name
---
import importlib; print(importlib.import_module("json").__name__)
---
assert 1 == 2, "different"
---
print(undefined)
---
"abc".no_attribute
---
async def f(): pass
f()
print("never awaited")
---
def g():
    try: yield 1
    finally: print("closed")
x = g(); next(x); print("end")
---
raise ExceptionGroup("many", [ValueError(1), TypeError("t")])
---
e = ValueError("noted"); e.add_note("a note"); raise e
---
class E(Exception):
    def __str__(self): raise RuntimeError("in str")
raise E()
---
import faulthandler; print(faulthandler.is_enabled())
---
import sys, time; print(time.get_clock_info("monotonic").monotonic, sys.thread_info.name)
---
print(1, flush=True); import sys; sys.stdout.flush(); sys.stdout = None; print("nowhere")
---
with open("big.txt", "w") as f: f.write("x" * 3_000_000)
import os; print(os.path.getsize("big.txt"))
---
print("x" * 300000)
---
for i in range(2000): print(i)
---
import numpy as np; print(np.arange(6).reshape(2, 3).sum(axis=0), np.__version__)
---
import numpy as np; np.random.seed(3); print(np.random.rand(2), np.random.default_rng(4).integers(9))
---
import numpy as np; np.array([1, 2]) + np.array([1, 2, 3])
---
import numpy as np; print(np.log(np.array([0.0])))
---
import pandas as pd; print(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).groupby("b").sum())
---
import pandas as pd; pd.DataFrame({"a": [1]})["missing"]
---
import requests; requests.get("http://example.invalid/", timeout=2)
---
from PIL import Image; im = Image.new("RGB", (4, 4), (1, 2, 3)); im.save("p.png"); print(Image.open("p.png").size, im.getpixel((0, 0)))
"""

_JAVASCRIPT = r"""
console.log("hello")
---
console.log(1, "a", {b: [1, {c: {d: {}}}]}, null, undefined, [1,,2], new Map([[1,2]]), Symbol("s"), 10n, -0)
---
console.error("err"); console.warn("warn"); console.info("info"); console.debug("debug")
---
console.table([{a: 1}, {a: 2}]); console.group("g"); console.log("in"); console.groupEnd(); console.assert(false, "as")
---
console.log(__filename, __dirname, require.main === module, module.id, module.paths.slice(-1), process.argv.length, typeof exports)
---
console.log(this === module.exports, typeof globalThis.require, Object.keys(globalThis).sort().join())
---
process.exit(3)
---
process.exitCode = 5
---
process.exit()
---
process.exitCode = 7; process.exit()
---
process.exit(256 + 9)
---
throw new Error("plain")
---
throw "a string"
---
throw null
---
throw {code: 1}
---
Promise.reject(new Error("lost"))
---
Promise.reject("text")
---
(async () => { console.log("a"); throw new TypeError("t") })()
---
process.on("unhandledRejection", (e) => console.log("handled", e.message)); Promise.reject(new Error("x"))
---
process.on("uncaughtException", (e) => { console.log("caught", e.message); }); throw new Error("y")
---
process.on("uncaughtException", (e) => { console.log("caught", e.message); process.exit(4) }); setTimeout(() => { throw new Error("z") }, 5)
---
process.on("exit", (c) => console.log("exit", c)); console.log("main")
---
process.on("exit", (c) => { process.exitCode = 8 })
---
process.on("exit", (c) => { console.log("code", c) }); process.exit(2)
---
process.on("exit", () => { throw new Error("in exit") })
---
process.on("beforeExit", (c) => console.log("before", c))
---
let n = 0; process.on("beforeExit", () => { if (n++ < 2) setTimeout(() => console.log("again", n), 1) })
---
setTimeout(() => console.log("timer"), 400); setImmediate(() => console.log("immediate")); process.nextTick(() => console.log("tick")); Promise.resolve().then(() => console.log("micro")); console.log("sync")
---
const t = setInterval(() => { console.log("i"); clearInterval(t) }, 5)
---
setTimeout(() => console.log("never"), 60000).unref()
---
const a = 1;
const b = {;
---
let x = 1; let x = 2;
---
foo.bar()
---
null.x
---
function f() { g() } function g() { throw new RangeError("deep") } f()
---
function r() { r() } r()
---
import fs from "node:fs"; console.log(typeof fs.readFileSync, import.meta.url)
---
import { strict as assert } from "assert"; assert.equal(1, 2)
---
export default 3; console.log("module", typeof require, typeof module, this)
---
const v = await Promise.resolve(4); console.log(v)
---
await new Promise(() => {})
---
for await (const x of (async function* () { yield 1; yield 2 })()) console.log(x)
---
import os from "node:os"; const path = require("path"); console.log(path.join("a", "b"), typeof os.EOL)
---
import "no-such-package"
---
require("no-such-package")
---
require("./missing.js")
---
import { nothing } from "node:fs"
---
import("node:os").then((m) => console.log(typeof m.default.EOL))
---
const _ = require("lodash"); console.log(_.chunk([1, 2, 3], 2), _.VERSION)
---
import dayjs from "dayjs"; console.log(dayjs("2024-02-28").add(2, "day").format("YYYY-MM-DD"))
---
const axios = require("axios"); axios.get("http://192.0.2.1/").catch((e) => console.log(e.code))
---
fetch("http://192.0.2.1/").catch((e) => console.log(e.message, e.cause && e.cause.code))
---
process.stdin.on("data", (d) => console.log("data", d)).on("end", () => console.log("end"))
---
console.log(require("fs").readFileSync(0).length, require("fs").readFileSync("/dev/stdin").length)
---
require("fs").writeFileSync("/dev/stdout", "reopened\n"); require("fs").writeSync(2, "err\n")
---
const fs = require("fs"); fs.writeFileSync("x.txt", "é"); console.log(fs.readFileSync("x.txt", "utf8"), fs.statSync("x.txt").size, fs.readdirSync(".").length)
---
require("fs/promises").readFile("missing").catch((e) => console.log(e.code))
---
const { execSync } = require("child_process"); console.log(execSync("echo sub $HOME").toString())
---
const cp = require("child_process"); const r = cp.spawnSync(process.execPath, ["-e", "console.log(process.argv.length, process.execArgv); process.exit(3)"]); console.log(r.stdout.toString(), r.status)
---
const cp = require("child_process"); if (process.send) { process.send("hi"); process.disconnect() } else { const c = cp.fork(__filename); c.on("message", (m) => console.log(m)); c.on("exit", (s) => console.log("exit", s)) }
---
const { Worker, isMainThread, parentPort } = require("worker_threads"); if (isMainThread) { new Worker(__filename).on("message", console.log).on("exit", (c) => console.log("exit", c)) } else { parentPort.postMessage("from worker") }
---
process.kill(process.pid, "SIGTERM"); setTimeout(() => {}, 5000)
---
process.kill(process.pid, "SIGKILL"); setTimeout(() => {}, 5000)
---
process.abort()
---
process.on("SIGUSR2", () => { console.log("usr2"); process.exit(0) }); process.kill(process.pid, "SIGUSR2"); setTimeout(() => {}, 5000)
---
console.log(process.version, process.cwd(), process.env.HOME, process.env.USER, process.env.TZ, Object.keys(process.env).length)
---
console.log(process.stdout.isTTY, process.stdin.isTTY, process.stdout.columns, process.stdout.writable, process.stdout.constructor.name)
---
console.log(process.getuid(), process.umask(), process.title, process.platform, process.argv0)
---
process.stdout.write("x".repeat(300000)); process.exit(0)
---
for (let i = 0; i < 3000; i++) console.log("line", i)
---
process.stdout.write("no newline")
---
process.stdout.write("a", () => console.log("written"))
---
process.stdout.end("bye\n"); console.log("after end")
---
const m = new WebAssembly.Memory({initial: 1}); console.log(m.buffer.byteLength)
---
const { subtle } = require("crypto").webcrypto; subtle.digest("SHA-256", Buffer.from("x")).then((d) => console.log(Buffer.from(d).toString("hex").slice(0, 8)))
---
require("zlib").gzip("x", (e, b) => console.log(require("zlib").gunzipSync(b).toString()))
---
require("http").createServer((q, r) => r.end("ok")).listen(0, "127.0.0.1", function () { require("http").get({port: this.address().port}, (r) => { r.on("data", (d) => console.log(String(d))); r.on("end", () => this.close()) }) })
---
console.log(new Error("e").stack.split("\n").length, new Date(0).toString(), Intl.DateTimeFormat().resolvedOptions().timeZone)
---
var arguments_ok = typeof arguments; console.log(arguments_ok, arguments.length)
---
x = 5; console.log(x, delete globalThis.x)
---
with ({a: 1}) { console.log(a) }
---
"use strict"; try { undeclared = 1 } catch (e) { console.log(e.name) }
---
console.log(010, "\101")
---
return; console.log("unreachable")
---
const async_ = async () => { await null; console.log("async") }; async_()
---
new (require("events"))().emit("error", new Error("unheard"))
---
queueMicrotask(() => { throw new Error("micro") })
---
setTimeout(() => { throw new Error("later") }, 5)
---
console.log(require("util").inspect(process.memoryUsage().rss > 0), require("os").hostname(), require("os").userInfo().username)
---
process.emitWarning("careful"); setTimeout(() => console.log("x"), 5)
---
new Buffer(1)
---
console.log([..."é猫🎈"].length, Buffer.from("猫").toString("base64"), structuredClone({a: 1}))
---
debugger; console.log("past")
---
console.log(process.hrtime.bigint() > 0n, performance.now() > 0, typeof structuredClone)
---
class A { static #p = 1; static { console.log(A.#p) } }
---
console.log(Object.getOwnPropertyNames(process).includes("exit"), typeof process.emit, process.listenerCount("exit"))
"""


def _split(text):
    return [textwrap.dedent(program).strip("\n") + "\n" for program in text.split("\n---\n")]


def programs():
    """(language, source) of each."""
    made = [("python", source) for source in _split(_PYTHON)] + [("javascript", source) for source in _split(_JAVASCRIPT)]
    for status in (0, 1, 2, 42, 126, 127, 128, 200, 254, 255, 256, 1000):
        made += [("python", f"import sys\nsys.exit({status})\n"), ("python", f"import os\nos._exit({status} & 255)\n"),
                 ("javascript", f"process.exit({status})\n"), ("javascript", f"process.exitCode = {status}\n")]
    for name in ("HUP", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "SEGV", "ALRM", "TERM", "XCPU"):
        made.append(("python", f"import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIG{name})\nprint('after')\n"))
    for size in (0, 1, 4095, 4096, 65535, 65536, 65537, 200000, 999999):
        made += [("python", f"import sys\nsys.stdout.write('x' * {size})\nsys.stderr.write('y' * {size})\n"),
                 ("javascript", f"process.stdout.write('x'.repeat({size}))\nprocess.stderr.write('y'.repeat({size}))\nprocess.exit(1)\n")]
    return made
