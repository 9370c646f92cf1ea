"""Who may call: keys, their change while the server runs, limits, what is counted, and what it takes to listen to the world."""

import hashlib
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import harness
import hostwatch
from harness import call_body, wait_until

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def key_line(name, key):
    """As `printf %s KEY | sha256sum` makes it."""
    return f"{name} {hashlib.sha256(key.encode()).hexdigest()}\n"


def metric(server, name, key, **labels):
    """The value of one line of /metrics; 0 when it is not there."""
    link = harness.http.client.HTTPConnection(*server.address, timeout=10)
    link.request("GET", "/metrics", headers={"Authorization": f"Bearer {key}"})
    text = link.getresponse().read().decode()
    link.close()
    for line in text.splitlines():
        found = re.fullmatch(re.escape(name) + r"(?:\{(.*)\})? (\S+)", line)
        if found and all(f'{label}="{value}"' in (found[1] or "") for label, value in labels.items()):
            return float(found[2])
    return 0


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = pathlib.Path(cls.folder.name, "keys")
        cls.file.write_text("# id, SHA-256\n" + key_line("alice", "open sesame") + key_line("bob", "bob-key"))
        cls.file.chmod(0o600)  # the front could not read it
        cls.server = harness.Server(access={"keys_file": str(cls.file)})
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def status(self, key, body=PING):
        return self.server.post(body, **({"Authorization": f"Bearer {key}"} if key is not None else {})).status

    def test_only_with_a_key(self):
        reply = self.server.post(call_body(language="python", code="print(1)"))
        self.assertEqual((reply.status, reply.headers["www-authenticate"]), (401, "Bearer"))
        self.assertEqual([self.status(key) for key in ("wrong", "", "x" * 8192, "open sesame", "bob-key")], [401, 401, 401, 200, 200])
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.get("/metrics").status, 401)

    def test_calls_are_logged_with_the_id_and_never_the_key(self):
        reply = self.server.post(call_body(language="python", code="print(1)"), Authorization="Bearer open sesame")
        self.assertEqual(reply.result["stdout"], "1\n")
        self.assertTrue(wait_until(lambda: any("key=alice" in line for line in list(self.server.log)), 5))
        self.assertFalse([line for line in self.server.log if "open sesame" in line])

    def test_a_notice_kills_the_run_of_its_own_key_at_once(self):
        sleeper = call_body(request_id="c1", language="python", code="import time; time.sleep(25)")
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c1"}}).encode()
        answers = []
        caller = threading.Thread(target=lambda: answers.append(self.server.post(sleeper, Authorization="Bearer open sesame")))
        caller.start()
        self.assertTrue(wait_until(lambda: metric(self.server, "asg_running", "bob-key") == 1, 10))
        self.assertEqual(self.status("bob-key", notice), 202)
        time.sleep(0.5)
        self.assertEqual(answers, [])
        noticed = time.monotonic()
        self.assertEqual(self.status("open sesame", notice), 202)
        caller.join(harness.stretched(5))
        self.assertLess(time.monotonic() - noticed, harness.stretched(1))
        self.assertEqual(answers[0].code, "CANCELLED")
        self.assertTrue(wait_until(lambda: metric(self.server, "asg_running", "bob-key") == 0, 5))
        self.assertGreaterEqual(metric(self.server, "asg_killed_total", "bob-key", reason="cancelled"), 1)

    def test_keys_change_while_the_server_runs(self):
        before = self.file.read_text()
        try:
            self.file.write_text(before + key_line("carol", "third"))
            self.server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: self.status("third") == 200, 10))
            self.file.write_text("this is no key\n")
            self.server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: any("cannot reload" in line for line in list(self.server.log)), 10))
            self.assertEqual((self.status("third"), self.status("wrong")), (200, 401))
        finally:
            self.file.write_text(before)
            self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: self.status("third") == 401, 10))
        self.assertEqual(self.status("bob-key"), 200)

    def test_neither_launcher_nor_sandboxes_hold_the_file(self):
        for pid in hostwatch.own_processes(self.server.pid):
            for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
                try:
                    self.assertNotEqual(str(fd.readlink()), str(self.file))
                except FileNotFoundError:
                    continue


class Limits(unittest.TestCase):
    def test_a_caller_that_is_too_fast_is_told_when_to_come_back(self):
        with harness.Server(rate={"address_per_minute": 60, "address_burst": 3}) as server:
            replies = [server.post(PING) for _ in range(5)]
            self.assertEqual([reply.status for reply in replies], [200, 200, 200, 429, 429])
            self.assertEqual(replies[0].headers["x-ratelimit-limit"], "60")
            self.assertEqual([reply.headers["x-ratelimit-remaining"] for reply in replies], ["2", "1", "0", "0", "0"])
            wait = int(replies[-1].headers["retry-after"])
            self.assertLessEqual(wait, 2)
            self.assertTrue(wait_until(lambda: server.post(PING).status == 200, wait + 2))

    def test_running_calls_of_one_caller_are_bounded(self):
        with harness.Server(rate={"address_concurrent": 1}) as server:
            with server.connect() as link:
                link.sendall(harness.post_bytes(server, call_body(language="python", code="import time; time.sleep(20)")))
                self.assertTrue(wait_until(lambda: server.post(PING).status == 429, 10))
            self.assertTrue(wait_until(lambda: server.post(PING).status == 200, 5))


class Exposure(unittest.TestCase):
    def serve(self, address, config):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(config)
            file.flush()
            return subprocess.run([harness.SERVER, "serve", "--listen", address, "--config", file.name], capture_output=True, text=True,
                                  timeout=harness.stretched(30), check=False)

    def test_the_world_needs_keys(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            done = self.serve(address, "")
            self.assertEqual(done.returncode, 1)
            self.assertIn("access.keys_file", done.stderr)

    def test_files_that_cannot_be_used_are_named(self):
        with tempfile.NamedTemporaryFile() as empty:
            for config in ('[access]\nkeys_file = "/nonexistent"\n', f'[access]\nkeys_file = "{empty.name}"\n', '[access]\nkeys_file = "/dev/zero"\n',
                           f'[tls]\ncertificate_file = "{empty.name}"\nkey_file = "{empty.name}"\n', '[tls]\ncertificate_file = "/x"\n'):
                started = time.monotonic()
                done = self.serve("127.0.0.1:0", config)
                self.assertEqual(done.returncode, 1, config)
                self.assertRegex(done.stderr, "keys|tls")
                self.assertLess(time.monotonic() - started, harness.stretched(5))


if __name__ == "__main__":
    unittest.main()
