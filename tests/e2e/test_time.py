"""The wall-clock limit: exact, from outside, for whatever the program does, and nothing lives on."""

import time
import unittest

import cases
import hostwatch
from cases import Case, ServerTest, refused, tests_of

LIMIT = {"timeout_seconds": 1}
ENDED = {"exit": 124, "timed_out": True, "args": LIMIT, "within": 4, "duration_ms": (950, 2500)}

CUT_OFF = [
    Case("sleep", "py", "import time; time.sleep(90)", out="", **ENDED),
    Case("busy_loop", "py", "n = 0\nwhile True: n += 1", out="", **ENDED),
    Case("busy_in_c", "py", "import re; re.match('(a+)+$', 'a' * 40 + 'b')", **ENDED),
    Case("busy_in_one_big_number", "py", "pow(7, 10 ** 9)", **ENDED),
    Case("waits_for_a_lock", "py", "import threading; l = threading.Lock(); l.acquire(); l.acquire()", **ENDED),
    Case("waits_for_its_child", "py", "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])", **ENDED),
    Case("waits_for_a_pipe", "py", "import os; r, w = os.pipe(); os.read(r, 1)", **ENDED),
    Case("waits_for_a_fifo", "py", "import os; os.mkfifo('f'); open('f').read()", **ENDED),
    Case("endless_threads", "py", "import threading\ndef f():\n    while True: pass\nfor _ in range(8): threading.Thread(target=f).start()", **ENDED),
    Case("asyncio_forever", "py", "import asyncio; asyncio.run(asyncio.Event().wait())", **ENDED),
    Case("never_ending_handler_at_exit", "py", "import atexit, time; atexit.register(time.sleep, 60); print('end')", out="end\n", **ENDED),
    Case("ignores_signals", "py", """
        import signal, time
        for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            try: signal.signal(s, signal.SIG_IGN)
            except OSError: pass
        block = bytearray(80 << 20)
        print("ready"); time.sleep(60)
        """, out="ready\n", **ENDED),
    Case("stops_itself", "py", "import os, signal; print('stop'); os.kill(os.getpid(), signal.SIGSTOP)", out="stop\n", **ENDED),
    Case("stops_its_group", "py", "import os, signal; print('stop'); os.killpg(0, signal.SIGSTOP)", out="stop\n", **ENDED),
    Case("stops_its_parent", "py", """
        import os, signal, time
        try: os.kill(os.getppid() or 1, signal.SIGSTOP)
        except OSError: pass
        print("went on"); time.sleep(60)
        """, out="went on\n", **ENDED),
    Case("new_session_then_sleep", "py", "import os, time\nif os.fork(): time.sleep(60)\nos.setsid(); time.sleep(60)", **ENDED),
    Case("node_interval", "js", "console.log('tick'); setInterval(() => {}, 100)", out="tick\n", **ENDED),
    Case("node_busy_loop", "js", "for (;;) {}", **ENDED),
    Case("node_busy_promises", "js", "const f = () => Promise.resolve().then(f); f();", **ENDED),
    Case("node_open_server", "js", "require('http').createServer().listen(0, '127.0.0.1', () => console.log('up'))", out="up\n", **ENDED),
    Case("node_worker_busy", "js", "new (require('worker_threads').Worker)('for(;;);', { eval: true })", **ENDED),
    Case("node_sync_wait", "js", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", **ENDED),
    Case("node_ignores_sigterm", "js", "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 9)", **ENDED),
    Case("fraction_of_a_second", "py", "import time; print('up'); time.sleep(60)", exit=124, timed_out=True, out="up\n",
         args={"timeout_seconds": 0.6}, within=3, duration_ms=(580, 2000)),
    Case("a_tiny_limit", "py", "import time; time.sleep(60)", exit=124, timed_out=True, args={"timeout_seconds": 0.001}, within=3),
    Case("milliseconds", "py", "import time; time.sleep(60)", exit=124, timed_out=True, args={"timeout_ms": 700}, within=3,
         duration_ms=(680, 2200)),
    Case("both_names_agree", "py", "import time; time.sleep(60)", exit=124, timed_out=True, within=3,
         args={"timeout_ms": 500, "timeout_seconds": 0.5}),
]

IN_TIME = [
    Case("duration_is_wall_clock", "py", "import time; time.sleep(0.8)", duration_ms=(790, 2500), args={"timeout_seconds": 20}),
    Case("duration_in_node", "js", "setTimeout(() => {}, 500)", duration_ms=(490, 2500)),
    Case("largest_limit", "py", "print(1)", out="1\n", args={"timeout_seconds": 300}),
    Case("whole_number_with_fraction", "py", "print(1)", out="1\n", args={"timeout_seconds": 5.0}),
    Case("without_a_limit_the_default", "py", "print(1)", out="1\n"),
    Case("just_in_time", "py", "import time; time.sleep(0.5); print('made it')", out="made it\n", args={"timeout_seconds": 5}),
]

BACKGROUND = [
    Case("child_holds_the_pipes", "py", """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(50)"]); print("parent ends")
        """, out="parent ends\n", within=4),
    Case("child_of_node_detached", "js", """
        require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'inherit' }).unref();
        console.log('parent ends');
        """, out="parent ends\n", within=4),
    Case("daemon_with_closed_files", "py", """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 64); os.chdir("/"); time.sleep(50)
            os._exit(0)
        os.wait(); print("launched")
        """, out="launched\n", within=4),
    Case("daemon_that_ignores_signals", "py", """
        import os, signal, time
        if os.fork() == 0:
            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
            os.setsid()
            while True: time.sleep(1)
        print("launched")
        """, out="launched\n", within=4),
    Case("stopped_child", "py", """
        import os, signal, time
        child = os.fork()
        if child == 0: time.sleep(50); os._exit(0)
        os.kill(child, signal.SIGSTOP); print("left stopped")
        """, out="left stopped\n", within=4),
    Case("child_that_forks_on", "py", """
        import os, time
        if os.fork() == 0:
            for _ in range(200):
                if os.fork(): os._exit(0)
                time.sleep(0.02)
            time.sleep(50)
        print("running away")
        """, out="running away\n", within=4),
    Case("daemon_thread", "py", """
        import threading, time
        threading.Thread(target=time.sleep, args=(50,), daemon=True).start(); print("main ends")
        """, out="main ends\n", within=4),
]

WRONG = [
    refused("zero", "timeout", timeout_seconds=0), refused("negative", "timeout", timeout_seconds=-5),
    refused("minus_zero", "timeout", timeout_seconds=-0.0), refused("beyond_the_maximum", "timeout", "300", timeout_seconds=300.5),
    refused("huge", "timeout", timeout_seconds=1e300), refused("text", "timeout", timeout_seconds="30"),
    refused("text_with_unit", "timeout", timeout_seconds="30s"), refused("true", "timeout", timeout_seconds=True),
    refused("a_list", "timeout", timeout_seconds=[30]), refused("an_object", "timeout", timeout_seconds={"s": 3}),
    refused("milliseconds_zero", "timeout_ms", timeout_ms=0), refused("milliseconds_negative", "timeout_ms", timeout_ms=-1),
    refused("milliseconds_with_fraction", "timeout_ms", timeout_ms=1.5), refused("milliseconds_text", "timeout_ms", timeout_ms="1000"),
    refused("milliseconds_beyond", "timeout_ms", timeout_ms=300001),
    refused("both_names_differ", "timeout", timeout_ms=1000, timeout_seconds=2),
]


@tests_of(CUT_OFF, IN_TIME, WRONG)
class TimeLimit(ServerTest):
    def test_null_is_refused_or_the_default(self):
        reply = self.server.call(**(cases.PY | {"timeout_seconds": None}))
        self.assertTrue(reply.code == "INVALID_ARGUMENTS" or reply.result.get("stdout") == "ran\n", reply)

    def test_a_number_beyond_json_is_refused(self):
        body = (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_execute","arguments":'
                b'{"language":"python","code":"print(1)","timeout_seconds":1e999}}}')
        reply = self.server.post(body)
        self.assertTrue(reply.error or reply.code == "INVALID_ARGUMENTS", reply)


@tests_of(BACKGROUND)
class NothingLivesOn(ServerTest):
    """Processes of a run are gone when it has been answered."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.watch = hostwatch.Watch(cls.server.pid)

    def run_case(self, case):
        super().run_case(case)
        self.assertEqual(self.watch.more_processes(seconds=2), [])
        self.assert_alive()

    def test_after_a_time_limit(self):
        self.run_case(Case("", "py", "import os, time\nfor _ in range(5): os.fork()\ntime.sleep(60)", **ENDED))

    def test_the_next_call_is_not_held_up(self):
        self.server.call(language="python", code="import time; time.sleep(60)", timeout_seconds=0.3)
        started = time.monotonic()
        self.assert_alive()
        self.assertLess(time.monotonic() - started, cases.harness.stretched(3))


if __name__ == "__main__":
    unittest.main()
