"""How a server starts, stops, dies, and what it says."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import harness
import hostwatch
from harness import Server, stretched, wait_until

class Ends(unittest.TestCase):
    def test_sigterm_lets_runs_end_and_refuses_new_ones(self):
        with Server() as server, ThreadPoolExecutor(1) as pool:
            run = pool.submit(server.call_with, hostwatch.sleeper(2))
            self.assertTrue(wait_until(lambda: hostwatch.sleepers(server.pid), 10))
            server.process.send_signal(signal.SIGTERM)
            self.assertTrue(wait_until(lambda: self.refuses(server), 2))
            self.assertEqual(run.result().result["stdout"], "a\nb\n")
            self.assertEqual(server.process.wait(stretched(10)), 0)
            server.stop = lambda: None

    @staticmethod
    def refuses(server):
        try:
            reply = server.call(language="python", code="print('late')")
            return reply.status in (429, 503) or reply.code == "CAPACITY_EXHAUSTED"
        except OSError:
            return True

    def test_runs_that_do_not_end_are_ended(self):
        with Server(server={"drain_seconds": 1}) as server, ThreadPoolExecutor(1) as pool:
            run = pool.submit(server.call_with, hostwatch.sleeper())
            self.assertTrue(wait_until(lambda: hostwatch.sleepers(server.pid), 10))
            started = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(stretched(10)), 0)
            self.assertLess(time.monotonic() - started, stretched(6))
            with contextlib.suppress(OSError, Exception):
                run.result()
            server.stop = lambda: None

    def test_sigkill_leaves_nothing_and_the_next_start_works(self):
        server = Server()
        server.start()
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(server.call_with, hostwatch.sleeper())
            self.assertTrue(wait_until(lambda: hostwatch.sleepers(server.pid), 10))
            family = list(hostwatch.below(server.pid))
            killed = server.pid
            server.process.kill()
            server.process.wait()
            self.assertTrue(wait_until(lambda: not any(hostwatch.status(pid).get("State", "Z")[0] != "Z" for pid in family), 5),
                            [hostwatch.status(pid) for pid in family])
            self.assertRaises(Exception, run.result)
        server.start()
        self.assertEqual(server.call(language="python", code="print('back')").result["stdout"], "back\n")
        self.assertEqual(hostwatch.cgroups(killed), set())
        server.stop()
        self.assertTrue(wait_until(lambda: not hostwatch.cgroups(server.pid), 5), hostwatch.cgroups(server.pid))

    def test_a_dead_child_process_is_replaced(self):
        with Server() as server:
            for _ in range(2):
                children = [pid for pid, row in hostwatch.below(server.pid).items() if int(row["PPid"]) == server.pid]
                for pid in children:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                self.assertTrue(wait_until(lambda: self.works(server), 15), "\n".join(server.log[-20:]))

    @staticmethod
    def works(server):
        try:
            return server.call(language="python", code="print('again')", seconds=5).result.get("stdout") == "again\n"
        except OSError:
            return False

    def test_wrong_usage(self):
        run = lambda *args: subprocess.run([harness.SERVER, *args], capture_output=True, text=True, timeout=stretched(20), check=False)
        self.assertEqual(run("no-such-command").returncode, 2)
        self.assertEqual(run("serve", "--no-such-option").returncode, 2)
        missing = run("serve", "--config", "/nonexistent.toml")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/nonexistent.toml", missing.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write("[server]\nlisten = 5\nmax_conections = 1\n[limits]\ncpus = -1\n")
            config.flush()
            faults = run("serve", "--config", config.name)
        self.assertEqual(faults.returncode, 1)
        for word in (":2:", "server.listen", ":3:", "server.max_connections", ":5:", "limits.cpus"):
            self.assertIn(word, faults.stderr)

    def test_printed_settings_load_again(self):
        printed = subprocess.run([harness.SERVER, "print-config"], capture_output=True, text=True, check=True).stdout
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write(printed)
            config.flush()
            again = subprocess.run([harness.SERVER, "print-config", "--config", config.name], capture_output=True, text=True, check=False)
        self.assertEqual((again.returncode, again.stdout), (0, printed), again.stderr)

    def test_a_taken_port_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            run = subprocess.run([harness.SERVER, "serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}"], capture_output=True, text=True,
                                 timeout=stretched(30), check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("in use", run.stderr)


class Logs(unittest.TestCase):
    def test_one_line_a_call_and_nothing_of_the_user(self):
        with Server(log={"format": "json", "level": "info"}) as server:
            server.call(language="python", code="import sys\nprint('word-8731')\nprint('word-8732', file=sys.stderr)\nraise ValueError('word-8733')")
            server.call(language="ruby-word-8734", code="x")
            server.call(language="python", code="print(1)", stdin="word-8735", env={"A": "word-8736"})
            self.assertTrue(wait_until(lambda: len(self.calls(server)) >= 3, 5), server.log)
            lines = [json.loads(line) for line in server.log]
            calls = self.calls(server)
        self.assertEqual(len(calls), 3, calls)
        for line in lines:
            self.assertLessEqual({"time", "level", "event"}, line.keys())
        for call in calls:
            self.assertLessEqual({"tool", "outcome", "ms"}, call.keys())
        self.assertNotIn("word-87", "\n".join(server.log))

    @staticmethod
    def calls(server):
        return [line for line in map(json.loads, list(server.log)) if line["event"] == "call"]

if __name__ == "__main__":
    unittest.main()
