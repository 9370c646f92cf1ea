"""Memory, processes, exit statuses and signals: each end is called what it is."""

import unittest
from concurrent.futures import ThreadPoolExecutor

import hostwatch
from cases import Case, ServerTest, judge, tests_of

OOM = {"exit": None, "oom": True, "err": None, "within": 25, "args": {"timeout_seconds": 20}}

MEMORY = [
    Case("grows_without_end", "py", "hog = []\nprint('start')\nwhile True: hog.append(b'x' * (24 << 20))", out="start\n", **OOM),
    Case("one_big_block", "py", "b = bytearray(4 << 30)\nfor i in range(0, len(b), 4096): b[i] = 1\nprint('never')", out="", **OOM),
    Case("many_small_objects", "py", "x = []\nwhile True: x.append([len(x)] * 50)", out="", **OOM),
    Case("numpy_arrays", "py", "import numpy as np\nx = [np.ones(4_000_000) for _ in range(99)]; print('never')", out="", **OOM),
    Case("a_long_text", "py", "s = 'ab'\nwhile True: s += s", out="", **OOM),
    Case("anonymous_mapping", "py", "import mmap\nm = mmap.mmap(-1, 2 << 30)\nfor i in range(0, len(m), 4096): m[i] = 1", out="", **OOM),
    Case("in_its_children", "py", """
        import os
        print("start")
        for _ in range(8):
            if os.fork() == 0:
                keep = bytearray(b"1") * (150 << 20)
                os.read(os.pipe()[0], 1)
        os.wait(); os.wait(); os.wait()
        """, out="start\n", **OOM),
    Case("node_heap", "js", "const k = []; console.log('start'); for (;;) k.push(new Array(5e5).fill(Math.random()));", out="start\n", **OOM),
    Case("node_objects", "js", "const k = []; for (let i = 0; ; i++) k.push({ i, s: 'x' + i });", out="", **OOM),
    Case("node_buffers", "js", "const k = []; for (;;) k.push(Buffer.alloc(16 << 20, 1));", out="", **OOM),
    Case("within_the_limit", "py", "b = bytearray(b'1') * (300 << 20); print(len(b) >> 20)", out="300\n"),
    Case("freed_again_and_again", "py", "for _ in range(30): b = bytearray(b'1') * (100 << 20); del b\nprint('ok')", out="ok\n"),
    Case("only_reserved_is_no_use", "py", "import mmap; m = mmap.mmap(-1, 1 << 34, flags=mmap.MAP_PRIVATE | 0x4000); print(len(m) >> 30)",
         out="16\n"),
    Case("refused_by_the_language_itself", "py", "try: 'x' * (1 << 62)\nexcept MemoryError: print('caught')", out="caught\n"),
    Case("peak_is_told", "py", "b = bytearray(b'1') * (200 << 20); print(1)", out="1\n",
         check=lambda test, run: test.assertGreater(run["usage"]["memory_peak_bytes"], 200 << 20)),
    Case("cpu_time_is_told", "py", "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass",
         check=lambda test, run: test.assertGreaterEqual(run["usage"]["cpu_ms"], 450)),
]

PROCESSES = [
    Case("fork_bomb", "py", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", exit=124, timed_out=True,
         err=None, args={"timeout_seconds": 2}, within=8),
    Case("fork_bomb_of_node", "js", """
        const { spawn } = require('child_process');
        const go = () => { try { spawn(process.execPath, [__filename], { stdio: 'ignore' }).on('error', () => {}); } catch {} };
        setInterval(go, 5); go();
        """, exit=None, timed_out=True, oom=None, err=None, args={"timeout_seconds": 2}, within=8),
    Case("thread_bomb", "py", """
        import threading, time
        made = 0
        try:
            while made < 500: threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); made += 1
        except RuntimeError: print("refused", 30 < made < 64)
        """, out="refused True\n", within=8),
    Case("many_in_turn", "py", """
        import os
        for _ in range(300):
            if os.fork() == 0: os._exit(0)
            os.wait()
        print("done")
        """, out="done\n"),
    Case("orphans_are_reaped", "py", """
        import os, time
        for _ in range(100):
            if os.fork() == 0:
                if os.fork() == 0: os._exit(0)
                os._exit(0)
            os.wait()
        def state(pid):
            try:
                with open(f"/proc/{pid}/stat") as stat: return stat.read().rsplit(")", 1)[1].split()[0]
            except (FileNotFoundError, ProcessLookupError): return None  # reaped since it was listed
        for _ in range(50):
            zombies = [p for p in os.listdir("/proc") if p.isdigit() and state(p) == "Z"]
            if not zombies: break
            time.sleep(0.1)
        print("zombies", len(zombies))
        """, out="zombies 0\n"),
    Case("peak_of_processes", "py", "import os, time\nfor _ in range(5):\n    if os.fork() == 0: time.sleep(0.3); os._exit(0)\nfor _ in range(5): os.wait()",
         check=lambda test, run: test.assertIn(run["usage"]["processes_peak"], range(6, 20))),
]

SIGNALS = [
    *(Case(f"by_{name.lower()}", "py", f"import os, signal\nprint('x'); os.kill(os.getpid(), signal.{name})", exit=128 + number,
           signal=name, out="x\n", err=None)
      for name, number in (("SIGHUP", 1), ("SIGQUIT", 3), ("SIGILL", 4), ("SIGTRAP", 5), ("SIGABRT", 6), ("SIGBUS", 7), ("SIGFPE", 8),
                           ("SIGKILL", 9), ("SIGUSR1", 10), ("SIGSEGV", 11), ("SIGALRM", 14), ("SIGTERM", 15))),
    Case("real_segfault", "py", "import ctypes\nprint('x'); ctypes.string_at(8)", exit=139, signal="SIGSEGV", out="x\n", err=None),
    Case("abort", "py", "import os\nos.abort()", exit=134, signal="SIGABRT", err=None),
    Case("interrupt_raised", "py", "raise KeyboardInterrupt", exit=130, signal="SIGINT", err_has=["KeyboardInterrupt"]),
    Case("deep_recursion_in_c", "py", "import sys\nsys.setrecursionlimit(10 ** 8)\ndef f(n): return f(n + 1)\nf(0)", exit=(139, 1, 137),
         err=None, oom=None),
    Case("node_kills_itself", "js", "console.log('x'); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 9)", exit=143,
         signal="SIGTERM", out="x\n"),
    Case("node_abort", "js", "process.abort()", exit=134, signal="SIGABRT", err=None),
    Case("a_child_that_crashes_is_its_own_affair", "py", """
        import subprocess, sys
        print(subprocess.run([sys.executable, "-c", "import os; os.abort()"]).returncode)
        """, out="-6\n", err=None),
    Case("no_core_file", "py", """
        import os, resource
        print(resource.getrlimit(resource.RLIMIT_CORE)[0])
        if os.fork() == 0: os.abort()
        os.wait(); print([n for n in os.listdir() if "core" in n])
        """, out="0\n[]\n", err=None),
]

STATUSES = [
    *(Case(f"exit_{str(argument).replace('-', 'minus_')}", "py", f"import sys; sys.exit({argument})", exit=status)
      for argument, status in ((0, 0), (1, 1), (2, 2), (42, 42), (255, 255), (256, 0), (300, 44), (-1, 255), (None, 0), (True, 1))),
    Case("exit_137_is_no_memory_limit", "py", "import sys; sys.exit(137)", exit=137),
    Case("exit_124_is_no_time_limit", "py", "import sys; sys.exit(124)", exit=124),
    Case("exit_139_is_no_signal", "js", "process.exit(139)", exit=139),
    Case("exit_with_text", "py", "import sys; sys.exit('bad input: é')", exit=1, err="bad input: é\n"),
    Case("exit_with_an_object", "py", "raise SystemExit((1, 2))", exit=1, err="(1, 2)\n"),
    Case("system_exit_bare", "py", "raise SystemExit"),
    Case("exit_without_cleanup", "py", "import os; print('p'); os._exit(17)", exit=17, out="p\n"),
    Case("exit_in_a_thread_is_only_the_thread", "py", "import sys, threading\nt = threading.Thread(target=sys.exit, args=(9,)); t.start(); t.join()"),
    Case("exit_in_a_child_is_only_the_child", "py", "import os, sys\nif os.fork() == 0: os._exit(8)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))", out="8\n"),
    Case("uncaught_exception", "py", "raise ValueError('plain')", exit=1, err_has=["ValueError: plain"]),
    Case("endless_recursion", "py", "def f(): f()\nf()", exit=1, err_has=["RecursionError"]),
    Case("exec_gives_the_status", "py", "import os, sys\nos.execv(sys.executable, ['python', '-c', 'raise SystemExit(33)'])", exit=33),
    Case("node_exit", "js", "process.exit(7)", exit=7),
    Case("node_exit_code", "js", "process.exitCode = 8; console.log('set')", exit=8, out="set\n"),
    Case("node_exit_modulo", "js", "process.exit(257)", exit=1),
    Case("node_throw", "js", "throw new TypeError('plain')", exit=1, err_has=["TypeError: plain"]),
    Case("node_throw_text", "js", "throw 'words'", exit=1, err_has=["words"]),
    Case("node_rejection", "js", "Promise.reject(new Error('lost'))", exit=1, err_has=["lost"]),
    Case("node_recursion", "js", "const f = () => f(); f()", exit=1, err_has=["Maximum call stack size exceeded"]),
    Case("node_never_settles", "js", "await new Promise(() => {})", exit=13, err=None, hint="await"),
]


@tests_of(MEMORY, PROCESSES, SIGNALS, STATUSES)
class Limits(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.watch = hostwatch.Watch(cls.server.pid)

    def run_case(self, case):
        super().run_case(case)
        if case in PROCESSES or case.oom:
            self.assertEqual(self.watch.more_processes(seconds=3), [])
            self.assert_alive()

    def test_hungry_runs_do_not_harm_each_other(self):
        code = "b = bytearray(b'1') * (120 << 20)\nimport time; time.sleep(1.5); print(len(b) >> 20)"
        table = [Case("good", "py", code, out="120\n")] * 3 + [Case("bad", "py", "b = []\nwhile True: b.append(b'x' * (9 << 20))", **OOM)]
        with ThreadPoolExecutor(len(table)) as pool:
            for case, reply in zip(table, pool.map(lambda case: self.server.call_with(case.arguments(), 60), table)):
                judge(self, case, reply)

    def test_a_memory_limit_says_how_much(self):
        reply = self.server.call(language="python", code="x = []\nwhile True: x.append(bytearray(b'1') * (8 << 20))")
        self.assertTrue(reply.result["oom_killed"], reply)
        self.assertEqual(reply.result["exit_code"], 137)
        self.assertIn("memory limit of 512 MiB", reply.result["hint"])


if __name__ == "__main__":
    unittest.main()
