"""Starts the real server and talks to it as a plain HTTP caller does. Standard library only.

Environment: ASG_SERVER (the program; default build/asg-sandbox), ASG_IMAGE and ASG_RUNNER (directories, when they are not
beside the program), ASG_ISOLATION (warm or fresh sandboxes), ASG_TIME_FACTOR (stretches upper time limits: sanitizer
builds), ASG_MUST_RUN=1 (no skips)."""

import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = pathlib.Path(os.environ.get("ASG_SERVER", ROOT / "build" / "asg-sandbox"))
TIME_FACTOR = float(os.environ.get("ASG_TIME_FACTOR", "1"))
TOOL = "sandbox_execute"
SKIPPED = 77  # exit status of a test file that cannot run here


def stretched(seconds):
    """An upper time limit for this build and machine."""
    return seconds * TIME_FACTOR


def skip_file(reason):
    """Leaves the test file: skipped, or failed where it must run."""
    print(f"skipped: {reason}", file=sys.stderr, flush=True)
    os._exit(1 if os.environ.get("ASG_MUST_RUN") == "1" else SKIPPED)


def wait_until(holds, seconds, step=0.02):
    """Polls until holds() is true; whether it became so in time."""
    deadline = time.monotonic() + stretched(seconds)
    while not (result := holds()):
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return bool(result)


class Reply:
    """The answer to one POST."""

    def __init__(self, status, headers, body, seconds):
        self.status, self.body, self.seconds = status, body, seconds
        self.headers = {key.lower(): value for key, value in headers}
        self.message = json.loads(body.decode("utf-8")) if body else {}  # fails on invalid UTF-8
        self.result = self.message.get("result", {}) if isinstance(self.message, dict) else {}
        self.error = self.message.get("error", {}) if isinstance(self.message, dict) else {}
        self.code = self.result.get("_meta", {}).get("asg_code")
        self.is_run = self.result.get("isError") is False and "exit_code" in self.result
        self.text = "\n".join(block.get("text", "") for block in self.result.get("content", []))

    def __str__(self):
        shown = {key: value for key, value in self.result.items() if key not in ("content", "structuredContent")}
        text = json.dumps(shown or self.message)
        text = text if len(text) < 3000 else f"{text[:1500]} ... {text[-1500:]}"
        return f"HTTP {self.status} after {self.seconds:.2f} s: {text} {'' if self.is_run else self.text}"


class Server:
    """One server process with its own configuration, on a free port.

        with Server(limits={"queue": 2}) as server:
            server.call(language="python", code="print(1)")
    """

    def __init__(self, env=None, **sections):
        self._env, self._sections = env or {}, {name: dict(keys) for name, keys in sections.items()}
        for key, variable in (("image", "ASG_IMAGE"), ("runner", "ASG_RUNNER"), ("isolation", "ASG_ISOLATION")):
            if value := os.environ.get(variable):
                self._sections.setdefault("sandbox", {}).setdefault(key, value)
        self._ids = itertools.count(1)
        self.log, self.process, self.address = [], None, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.stop()
        elif self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        if not SERVER.exists():
            skip_file(f"{SERVER} is not built")
        text = "".join(f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
                       for name, keys in self._sections.items())
        with tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False) as config:
            config.write(text)
        try:
            self.log = []
            self.process = subprocess.Popen(
                [SERVER, "serve", "--listen", "127.0.0.1:0", "--config", config.name], stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE, env=os.environ | self._env, text=True, errors="replace")
            listening = threading.Event()
            self._reader = threading.Thread(target=self._read_log, args=(listening,), daemon=True)
            self._reader.start()
            if not listening.wait(stretched(60)) or self.address is None or not wait_until(self.ready, 60):
                self.process.kill()
                raise RuntimeError("the server did not become ready:\n" + "\n".join(self.log[-40:]))
        finally:
            os.unlink(config.name)

    def _read_log(self, listening):
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))
            if found := re.search(r"listening\b.*\baddress\"?[=:]\"?([\d.]+):(\d+)", line):
                self.address = (found[1], int(found[2]))
                listening.set()
        listening.set()  # it ended before it listened

    def stop(self, seconds=40):
        """SIGTERM; the exit status must be 0."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(stretched(seconds))
        self._reader.join(5)
        if status != 0:
            raise AssertionError(f"the server ended with {status}:\n" + "\n".join(self.log[-40:]))

    def ready(self):
        try:
            return self.get("/readyz").status == 200
        except OSError:
            return False

    def get(self, path):
        return self._request("GET", path, None, {}, 10)

    def post(self, body, seconds=60, **headers):
        """A body as bytes; header names with _ for -."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return self._request("POST", "/mcp", body, {"Content-Type": "application/json"} | named, seconds)

    def request(self, method, params=None, seconds=60):
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method} | ({} if params is None else {"params": params})
        reply = self.post(json.dumps(message).encode(), seconds)
        if reply.message.get("id") != message["id"]:
            raise AssertionError(f"not our id: {reply}")
        return reply

    def call(self, seconds=60, **arguments):
        """Calls the tool with these arguments."""
        return self.call_with(arguments, seconds)

    def call_with(self, arguments, seconds=60):
        return self.request("tools/call", {"name": TOOL, "arguments": arguments}, seconds)

    def connect(self):
        return socket.create_connection(self.address, stretched(10))

    def _request(self, method, path, body, headers, seconds):
        started = time.monotonic()
        link = http.client.HTTPConnection(*self.address, timeout=stretched(seconds))
        try:
            link.request(method, path, body, headers)
            response = link.getresponse()
            content = response.read()
            if not response.getheader("Content-Type", "").startswith("application/json"):
                content = b""
            return Reply(response.status, response.getheaders(), content, time.monotonic() - started)
        finally:
            link.close()


def post_bytes(server, body, *more_headers):
    """A whole request as it goes over the wire, for connections that are treated badly."""
    head = [f"Host: {server.address[0]}:{server.address[1]}", "Content-Type: application/json",
            f"Content-Length: {len(body)}", *more_headers]
    return ("POST /mcp HTTP/1.1\r\n" + "\r\n".join(head) + "\r\n\r\n").encode() + body


def call_body(request_id=1, **arguments):
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call",
                       "params": {"name": TOOL, "arguments": arguments}}).encode()
