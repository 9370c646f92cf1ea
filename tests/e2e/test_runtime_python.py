"""What the image promises for Python works under the limits: libraries, threads, processes, unusual system calls."""

import unittest

from cases import Case, ServerTest, tests_of

LIBRARIES = [
    Case("numpy_linear_algebra", "py", """
        import numpy as np
        a = np.arange(1, 10001, dtype=float).reshape(100, 100) + np.eye(100) * 1e4
        x = np.linalg.solve(a, np.ones(100))
        print(np.allclose(a @ x, 1), np.linalg.svd(a, compute_uv=False).shape, np.fft.fft(x).dtype)
        """, out="True (100,) complex128\n", within=15),
    Case("numpy_large_product", "py", """
        import numpy as np
        m = np.ones((700, 700)); print(int((m @ m)[0, 0]), int((m @ m).sum()) == 700 ** 3)
        """, out="700 True\n", within=15),
    Case("numpy_eigenvalues_in_threads", "py", """
        import numpy as np
        from concurrent.futures import ThreadPoolExecutor
        work = lambda seed: round(float(np.linalg.eigvalsh(np.diag(np.arange(seed, seed + 50.0))).max()), 6)
        with ThreadPoolExecutor(4) as pool: print(list(pool.map(work, range(6))))
        """, out="[49.0, 50.0, 51.0, 52.0, 53.0, 54.0]\n"),
    Case("numpy_files", "py", """
        import numpy as np
        np.savez_compressed("a.npz", x=np.arange(5)); np.save("b.npy", np.zeros((3, 3)))
        print(np.load("a.npz")["x"].tolist(), np.load("b.npy", mmap_mode="r").shape)
        """, out="[0, 1, 2, 3, 4] (3, 3)\n"),
    Case("numpy_random_is_not_repeated", "py", """
        import numpy as np, random
        print(np.random.default_rng(7).integers(0, 100, 3).tolist(), 0 <= random.random() < 1)
        """, out="[94, 62, 68] True\n"),
    Case("pandas_group_merge_pivot", "py", """
        import pandas as pd
        a = pd.DataFrame({"k": ["x", "y", "x", "z"], "v": [1, 2, 3, 4]})
        b = pd.DataFrame({"k": ["x", "y"], "w": [10, 20]})
        print(a.groupby("k").v.agg(["sum", "mean"]).loc["x"].tolist(), len(a.merge(b)), len(a.merge(b, how="left")))
        print(a.assign(g=[0, 0, 1, 1]).pivot_table(index="k", columns="g", values="v", fill_value=0).loc["x"].tolist())
        """, out="[4.0, 2.0] 3 4\n[1, 3]\n"),
    Case("pandas_text_formats", "py", """
        import io, pandas as pd
        f = pd.read_csv(io.StringIO("day,n\\n2024-01-31,3\\n2024-03-01,5\\n"), parse_dates=["day"])
        f.to_csv("t.csv", index=False); f.to_pickle("t.pkl"); f.to_json("t.json", orient="records", date_format="iso")
        print(pd.read_csv("t.csv").n.sum(), pd.read_pickle("t.pkl").equals(f), len(pd.read_json("t.json")))
        print(f.set_index("day").resample("MS").sum().n.tolist())
        """, out="8 True 2\n[3, 0, 5]\n"),
    Case("pandas_time_zones", "py", """
        import pandas as pd
        print(pd.Timestamp("2024-07-01 12:00", tz="America/New_York").tz_convert("Asia/Tokyo"))
        """, out="2024-07-02 01:00:00+09:00\n"),
    Case("pandas_prints_a_frame", "py", """
        import pandas as pd
        print(pd.DataFrame({"a": [1, 2], "b": ["é", "猫"]}).to_string(index=False).split())
        """, out="['a', 'b', '1', 'é', '2', '猫']\n"),
    Case("pillow_formats", "py", """
        import io
        from PIL import Image, ImageDraw, ImageFilter
        image = Image.new("RGB", (40, 30), (10, 120, 200))
        ImageDraw.Draw(image).rectangle((5, 5, 20, 20), fill=(255, 0, 0))
        for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"):
            data = io.BytesIO(); image.filter(ImageFilter.SHARPEN).resize((20, 15)).save(data, kind)
            print(kind, Image.open(data).convert("L").size)
        """, out="".join(f"{kind} (20, 15)\n" for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"))),
    Case("pillow_text_and_numpy", "py", """
        import numpy as np
        from PIL import Image, ImageDraw
        image = Image.new("L", (60, 20)); ImageDraw.Draw(image).text((2, 2), "abc", fill=255)
        print(np.asarray(image).max() > 0, Image.fromarray(np.zeros((4, 6), dtype=np.uint8)).size)
        """, out="True (6, 4)\n"),
    Case("requests_to_its_own_server", "py", """
        import http.server, json, threading, requests
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(201); self.end_headers(); self.wfile.write(body[::-1])
            def log_message(self, *args): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reply = requests.post(f"http://127.0.0.1:{server.server_port}/x", data="abc", timeout=5)
        print(reply.status_code, reply.text)
        """, out="201 cba\n"),
    Case("requests_without_network_says_so", "py", """
        import requests
        try: requests.get("http://192.0.2.1/", timeout=4)
        except requests.exceptions.RequestException as error: print(type(error).__name__)
        """, out="ConnectionError\n", within=8),
    Case("versions", "py", """
        import sys, numpy, pandas, requests, PIL
        print(sys.version_info[:2], sys.implementation.name, all(m.__version__ for m in (numpy, pandas, requests, PIL)))
        """, out="(3, 11) cpython True\n"),
]

STANDARD_LIBRARY = [
    Case("every_module_imports", "py", """
        import importlib, sys
        skip = {"antigravity", "this", "idlelib", "lib2to3", "tkinter", "turtle", "turtledemo", "msilib", "winreg", "winsound",
                "msvcrt", "nt", "ntpath", "_winapi", "_msi", "_overlapped", "_scproxy", "nis", "distutils", "ensurepip",
                "imp", "asynchat", "asyncore", "smtpd", "venv", "test"}
        bad = []
        for name in sorted(sys.stdlib_module_names - skip):
            if name.startswith("_"): continue
            try: importlib.import_module(name)
            except Exception as error: bad.append((name, repr(error)))
        print(bad)
        """, out="[]\n", err=None),
    Case("sqlite_in_a_file", "py", """
        import sqlite3
        db = sqlite3.connect("x.db"); db.execute("pragma journal_mode=wal")
        db.execute("create table t(a, b)"); db.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(100)])
        db.commit(); db.close()
        print(sqlite3.connect("x.db").execute("select sum(a), max(length(b)) from t").fetchone())
        """, out="(4950, 2)\n"),
    Case("ssl_hashes_compression", "py", """
        import bz2, hashlib, lzma, secrets, ssl, uuid, zlib
        data = b"abc" * 1000
        print(all(m.decompress(m.compress(data)) == data for m in (bz2, lzma, zlib)), hashlib.scrypt(b"p", salt=b"s", n=1024,
              r=8, p=1).hex()[:8], ssl.create_default_context().verify_mode.name, uuid.uuid4().version, len(secrets.token_hex(4)))
        """, out_has=["True ", " CERT_REQUIRED 4 8\n"]),
    Case("asyncio", "py", """
        import asyncio, sys
        async def main():
            child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6 * 7)", stdout=-1)
            out, _ = await child.communicate()
            naps = await asyncio.gather(*(asyncio.sleep(0.01, n) for n in range(50)))
            server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            print(out, child.returncode, sum(naps), await reader.read(), await asyncio.to_thread(lambda: "thread"))
        asyncio.run(main())
        """, out="b'42\\n' 0 1225 b'' thread\n"),
    Case("ctypes_and_mmap", "py", """
        import ctypes, mmap
        libc = ctypes.CDLL(None); print(libc.abs(-5), libc.strlen(b"four"))
        with mmap.mmap(-1, 8192) as area: area[:3] = b"abc"; print(area[:4])
        """, out="5 4\nb'abc\\x00'\n"),
    Case("signals_and_timers", "py", """
        import signal, time
        hits = []
        signal.signal(signal.SIGALRM, lambda *a: hits.append("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.signal(signal.SIGUSR1, lambda *a: hits.append("usr1")); signal.raise_signal(signal.SIGUSR1)
        signal.pause() if len(hits) < 2 else None
        print(sorted(hits))
        """, out="['alarm', 'usr1']\n"),
]

PROCESSES = [
    Case("threads", "py", """
        import threading
        hits = []
        threads = [threading.Thread(target=hits.append, args=(n,)) for n in range(40)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(sorted(hits) == list(range(40)))
        """, out="True\n"),
    Case("forty_threads_at_once", "py", """
        import threading
        barrier = threading.Barrier(41)
        for _ in range(40): threading.Thread(target=barrier.wait).start()
        barrier.wait(); print("all met")
        """, out="all met\n"),
    Case("pool_of_processes", "py", """
        import multiprocessing as mp
        from concurrent.futures import ProcessPoolExecutor
        def square(n): return n * n
        if __name__ == "__main__":
            with mp.Pool(3) as pool: print(pool.map(square, range(6)))
            with ProcessPoolExecutor(2) as pool: print(list(pool.map(square, [7, 8])))
        """, out="[0, 1, 4, 9, 16, 25]\n[49, 64]\n"),
    *(Case(f"start_method_{method}", "py", f"""
        import multiprocessing as mp
        class Thing:
            def __init__(self, n): self.n = n
        def work(inbox, outbox, lock):
            with lock: outbox.put(Thing(inbox.get().n + 1))
        if __name__ == "__main__":
            ctx = mp.get_context("{method}"); a, b, lock = ctx.Queue(), ctx.Queue(), ctx.Lock()
            p = ctx.Process(target=work, args=(a, b, lock)); p.start()
            a.put(Thing(41)); print(b.get(timeout=20).n); p.join(); print(p.exitcode)
        """, out="42\n0\n", within=25) for method in ("fork", "spawn", "forkserver")),
    Case("shared_memory_and_manager", "py", """
        from multiprocessing import Array, Manager, Process, shared_memory
        def fill(name, table, numbers):
            block = shared_memory.SharedMemory(name); block.buf[:5] = b"hello"; block.close()
            table["k"] = "v"; numbers[1] = 9
        if __name__ == "__main__":
            block = shared_memory.SharedMemory(create=True, size=100); numbers = Array("i", 3)
            with Manager() as manager:
                table = manager.dict(); p = Process(target=fill, args=(block.name, table, numbers)); p.start(); p.join()
                print(bytes(block.buf[:5]), dict(table), numbers[:])
            block.close(); block.unlink()
        """, out="b'hello' {'k': 'v'} [0, 9, 0]\n"),
    Case("subprocess_pipes", "py", """
        import subprocess, sys
        run = subprocess.run([sys.executable, "-c", "import sys; print(sys.stdin.read().upper()); sys.exit(3)"], input="abc",
                             capture_output=True, text=True)
        print(repr(run.stdout), repr(run.stderr), run.returncode)
        """, out="'ABC\\n' '' 3\n"),
    Case("thread_pools_follow_the_limit", "py", """
        import os
        names = [n for n in os.environ if n.endswith("_NUM_THREADS")]
        print(bool(names), {os.environ[n] for n in names})
        """, out="True {'1'}\n"),
]

SYSTEM_CALLS = [
    Case("unusual_calls_never_kill", "py", """
        import ctypes, mmap, os, resource, select, signal, socket, tempfile
        def attempt(name, call):
            try: call(); print(name, "ok")
            except OSError as error: print(name, "errno")
        attempt("memfd", lambda: os.close(os.memfd_create("m")))
        attempt("eventfd", lambda: os.close(os.eventfd(1)))
        attempt("epoll", lambda: select.epoll().close())
        attempt("pidfd", lambda: os.close(os.pidfd_open(os.getpid())))
        attempt("affinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))
        attempt("nice", lambda: os.nice(1))
        attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 5))
        attempt("scheduler", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
        attempt("rlimit", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        attempt("random", lambda: os.getrandom(8))
        attempt("fallocate", lambda: os.posix_fallocate(os.open("f", os.O_CREAT | os.O_RDWR), 0, 4096))
        attempt("advise", lambda: mmap.mmap(-1, 4096).madvise(mmap.MADV_DONTNEED))
        attempt("xattr", lambda: os.setxattr("f", "user.a", b"1"))
        attempt("sendfile", lambda: os.sendfile(os.open("g", os.O_CREAT | os.O_WRONLY), os.open("f", os.O_RDONLY), 0, 10))
        attempt("copy_file_range", lambda: os.copy_file_range(os.open("f", os.O_RDONLY), os.open("h", os.O_CREAT | os.O_RDWR), 9))
        near, far = socket.socketpair()
        attempt("socketpair", lambda: near.send(b"x"))
        attempt("passing", lambda: socket.send_fds(near, [b"x"], [1]))
        libc = ctypes.CDLL(None, use_errno=True)
        for name, number in (("inotify", 294), ("timerfd", 283), ("signalfd", 289), ("membarrier", 324), ("rseq", 334),
                             ("clone3", 435), ("futex_waitv", 449), ("landlock", 444), ("none", 9999), ("x32", 0x40000027)):
            libc.syscall(number, 0, 0, 0, 0)
        print("still alive")
        """, out_has=["memfd ok", "epoll ok", "pidfd ok", "random ok", "socketpair ok", "copy_file_range ok", "still alive\n"]),
    Case("clone3_answers_enosys", "py", """
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(435, 0, 0), errno.errorcode[ctypes.get_errno()])
        """, out="-1 ENOSYS\n"),
]


@tests_of(LIBRARIES, STANDARD_LIBRARY, PROCESSES, SYSTEM_CALLS)
class PythonRuntime(ServerTest):
    pass


if __name__ == "__main__":
    unittest.main()
