"""The server around the runs: bad requests, bad framing, many callers at once."""

import contextlib
import json
import re
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import hostwatch
from cases import ServerTest
from harness import post_bytes, stretched


def exchange(server, data, seconds=5):
    """Sends bytes and reads until the server closes: (status, headers and body as text)."""
    with server.connect() as link:
        link.settimeout(stretched(seconds))
        with contextlib.suppress(ConnectionError):
            link.sendall(data)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := link.recv(65536):
                received += chunk
    text = received.decode("utf-8")
    found = re.match(r"HTTP/1\.1 (\d{3}) ", text)
    return (int(found[1]) if found else None), text


def post_and_close(server, body, *headers):
    status, text = exchange(server, post_bytes(server, body, "Connection: close", *headers))
    content = text.partition("\r\n\r\n")[2]
    return status, (json.loads(content) if content.startswith("{") else content)


class Requests(ServerTest):
    def test_bodies_that_are_not_json(self):
        for body in (b"{not json", b'{"jsonrpc":"2.0","method":', b"", b"\0", b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', b"'x'", b"\xff\xfe{}",
                     b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff\xfe"}}', b"{" * 10, b'{"a":01}', b"nul"):
            status, answer = post_and_close(self.server, body)
            self.assertEqual((status, answer["error"]["code"]), (400, -32700), body)
            self.assertIsNone(answer.get("id"))
        self.assert_alive()

    def test_json_that_is_no_request(self):
        for body in (b"[]", b"null", b"1", b'"x"', b"{}", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
                     b'{"jsonrpc":"2.0","id":1,"method":5}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
                     b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', b'{"id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}'):
            status, answer = post_and_close(self.server, body)
            self.assertIn(status, (200, 400), body)
            self.assertIn(answer["error"]["code"], (-32600, -32602), body)
        self.assert_alive()

    def test_deep_json(self):
        status, answer = post_and_close(self.server, b"[" * 100000)
        self.assertEqual((status, answer["error"]["code"]), (400, -32700))
        self.assert_alive()

    def test_unknown_methods_and_tools(self):
        self.assertEqual(self.server.request("no/such").error["code"], -32601)
        reply = self.server.request("tools/call", {"name": "no_such", "arguments": {}})
        self.assertEqual(reply.error["code"], -32602)
        self.assertIn("no_such", reply.error["message"])
        self.assertEqual(self.server.request("tools/call", {"arguments": {}}).error["code"], -32602)

    def test_ids_come_back_as_they_are(self):
        for request_id in (0, -1, 2 ** 53, "", "x\u00e9", "7"):
            message = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "ping"}).encode()
            self.assertEqual(self.server.post(message).message, {"jsonrpc": "2.0", "id": request_id, "result": {}})

    def test_lengths_that_cannot_be(self):
        head = f"POST /mcp HTTP/1.1\r\nHost: {self.server.address[0]}:{self.server.address[1]}\r\nContent-Type: application/json\r\n"
        before = hostwatch.memory_mib(hostwatch.daemons(self.server.pid))
        for length in ("2147483648", "99999999999999999999999", "-5", "5\r\nContent-Length: 6", "5\r\nTransfer-Encoding: chunked", "0x5", "5,5"):
            status, text = exchange(self.server, f"{head}Content-Length: {length}\r\n\r\n{{".encode())
            self.assertIn(status, (400, 413), f"{length}: {text}")
        self.assertLess(hostwatch.memory_mib(hostwatch.daemons(self.server.pid)), before + 16)
        self.assert_alive()

    def test_chunked_body(self):
        head = f"POST /mcp HTTP/1.1\r\nHost: {self.server.address[0]}:{self.server.address[1]}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        parts = ('{"json', 'rpc":"2.0","id":3,', '"method":"ping"', "}")
        chunks = "".join(f"{len(part):x};n=v\r\n{part}\r\n" for part in parts) + "0\r\n\r\n"
        status, text = exchange(self.server, (head + "Transfer-Encoding: chunked\r\n\r\n" + chunks).encode())
        self.assertEqual(status, 200, text)
        self.assertIn('"id":3', text)
        status, text = exchange(self.server, (head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n").encode())
        self.assertEqual(status, 400, text)

    def test_several_requests_on_one_connection(self):
        with self.server.connect() as link:
            link.sendall(b"".join(post_bytes(self.server, json.dumps({"jsonrpc": "2.0", "id": n, "method": "ping"}).encode()) for n in (1, 2, 3)))
            link.settimeout(stretched(5))
            text = ""
            while text.count('"result"') < 3:
                text += link.recv(65536).decode()
        self.assertEqual(re.findall(r'"id":(\d)', text), ["1", "2", "3"])

    def test_other_methods_and_paths(self):
        for method in ("GET", "DELETE", "PUT"):
            status, text = exchange(self.server, f"{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            self.assertEqual(status, 405)
            self.assertIn("allow: post", text.lower())
        self.assertEqual(self.server.get("/no/such").status, 404)
        self.assertEqual(self.server.get("/healthz").message["status"], "ok")
        self.assertEqual(self.server.get("/health").message["status"], "ok")

    def test_foreign_hosts_and_origins_are_refused(self):
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
            reply = self.server.post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', **headers)
            self.assertEqual(reply.status, 403, headers)
        reply = self.server.post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', Host=f"localhost:{self.server.address[1]}")
        self.assertEqual(reply.status, 200)

    def test_slow_senders_do_not_hold_up_others(self):
        links = [self.server.connect() for _ in range(200)]
        try:
            for link in links:
                link.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: ")
            for _ in range(3):
                started = time.monotonic()
                self.assert_alive()
                self.assertLess(time.monotonic() - started, stretched(4))
        finally:
            for link in links:
                link.close()


class ManyCallers(ServerTest):
    SECTIONS = {"limits": {"max_concurrent": 20, "queue": 200}}

    def test_twenty_at_once_keep_apart(self):
        code = "import os, time\nopen('same', 'w').write('{0}')\ntime.sleep(0.4)\nprint('{0}', open('same').read(), len(os.listdir('/tmp')))"
        with ThreadPoolExecutor(20) as pool:
            replies = list(pool.map(lambda n: self.server.call(language="python", code=code.format(n)), range(40)))
        self.assertEqual([reply.result["stdout"] for reply in replies], [f"{n} {n} 0\n" for n in range(40)])

    def test_both_languages_at_once(self):
        def one(n):
            if n % 2:
                return self.server.call(language="javascript", code=f"setTimeout(() => console.log({n}), 100)")
            return self.server.call(language="python", code=f"import time; time.sleep(0.1); print({n})")

        with ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(one, range(32)))
        self.assertEqual([reply.result["stdout"] for reply in replies], [f"{n}\n" for n in range(32)])

if __name__ == "__main__":
    unittest.main()
