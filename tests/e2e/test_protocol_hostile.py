"""Callers that mean ill or do not care: thousands of connections, slow ones, ones that do not read, more bytes than there is room
for. Others are served as if they were not there."""

import contextlib
import os
import resource
import select
import statistics
import threading
import time
import unittest

import harness
import hostwatch
from cases import ServerTest
from harness import call_body, post_bytes, stretched, wait_until

SLOW = 2000
IDLE = 6000
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def allow_descriptors(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        raise unittest.SkipTest(f"this machine allows {hard} descriptors, {count} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def front(server):
    """The process that speaks HTTP: the child that is in our own process namespace."""
    children = [pid for pid, row in hostwatch.below(server.pid).items() if int(row["PPid"]) == server.pid]
    return [pid for pid in children if os.readlink(f"/proc/{pid}/ns/pid") == os.readlink("/proc/self/ns/pid")]


def latency(server, calls):
    """Median time of a call, in seconds."""
    times = []
    for _ in range(calls):
        started = time.monotonic()
        reply = server.call(language="python", code="print('served')")
        times.append(time.monotonic() - started)
        if reply.result.get("stdout") != "served\n":
            raise AssertionError(reply)
    return statistics.median(times)


class SlowHeads(ServerTest):
    def test_two_thousand_slow_connections(self):
        allow_descriptors(SLOW + 500)
        calm = latency(self.server, 30)
        before = hostwatch.descriptors(front(self.server))
        links = [self.server.connect() for _ in range(SLOW)]
        over = threading.Event()

        def drip():
            while not over.wait(1):
                for link in links:
                    with contextlib.suppress(OSError):
                        link.send(b"a")

        for link in links:
            link.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        dripper = threading.Thread(target=drip)
        dripper.start()
        try:
            busy = latency(self.server, 50)
            print(f"median call: {calm * 1000:.1f} ms alone, {busy * 1000:.1f} ms beside {SLOW} slow connections")
            self.assertLess(busy, stretched(2 * calm + 0.02))
            # The deadline of a head cuts them off, however busily they drip.
            poll = select.poll()
            for link in links:
                poll.register(link, select.POLLRDHUP)
            self.assertTrue(wait_until(lambda: len(poll.poll(0)) == SLOW, 20, step=0.5))
        finally:
            over.set()
            dripper.join()
            for link in links:
                link.close()
        self.assertTrue(wait_until(lambda: hostwatch.descriptors(front(self.server)) <= before, 10))


class ManyIdle(ServerTest):
    """More connections than the server admits: the oldest idle ones make room, and memory stays small."""

    SECTIONS = {"server": {"max_connections": 4000}}

    def test_idle_connections_do_not_hurt(self):
        allow_descriptors(IDLE + 500)
        calm = latency(self.server, 30)
        memory = hostwatch.memory_mib(front(self.server))
        links = []
        try:
            for _ in range(IDLE):
                link = self.server.connect()
                links.append(link)
                link.sendall(post_bytes(self.server, PING))
            busy = latency(self.server, 30)
            grown = hostwatch.memory_mib(front(self.server)) - memory
            print(f"median call: {calm * 1000:.1f} ms alone, {busy * 1000:.1f} ms beside {IDLE} opened connections; {grown:.0f} MiB more")
            self.assertLess(busy, stretched(2 * calm + 0.02))
            self.assertLess(grown, 200)
        finally:
            for link in links:
                link.close()


class Readers(ServerTest):
    SECTIONS = {"limits": {"max_concurrent": 2, "queue": 4}, "server": {"max_body_bytes": "4MiB", "max_buffered_bytes": "8MiB"}}

    def test_who_does_not_read_holds_no_slot(self):
        body = call_body(language="python", code="print('x' * 1_000_000)")
        links = [self.server.connect() for _ in range(6)]
        try:
            for link in links:
                link.sendall(post_bytes(self.server, body))
            self.assertTrue(wait_until(lambda: self.gauge("asg_running") == 0, 20))
            self.assert_alive()
        finally:
            for link in links:
                link.close()

    def test_bodies_together_are_bounded(self):
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {4 << 20}\r\n\r\n".encode()
        before = hostwatch.memory_mib(front(self.server))
        links = [self.server.connect() for _ in range(20)]
        try:
            refused = 0
            for link in links:
                with contextlib.suppress(ConnectionError):  # a refused one may be closed while it is sent
                    link.sendall(head + b" " * (3 << 20))
            for link in links:
                link.settimeout(0.2)
                with contextlib.suppress(TimeoutError, ConnectionError):
                    refused += link.recv(64).startswith(b"HTTP/1.1 503 ")
            self.assertGreaterEqual(refused, 10)
            grown = hostwatch.memory_mib(front(self.server)) - before
            print(f"{grown:.0f} MiB more after 60 MiB of bodies")
            self.assertLess(grown, 40)
            self.assert_alive()
        finally:
            for link in links:
                link.close()
        self.assertTrue(wait_until(lambda: self.server.post(b" " * (3 << 20) + PING).status == 200, 5))

    def gauge(self, name):
        link = harness.http.client.HTTPConnection(*self.server.address, timeout=10)
        link.request("GET", "/metrics")
        text = link.getresponse().read().decode()
        link.close()
        return int(text.partition(f"\n{name} ")[2].split()[0])


if __name__ == "__main__":
    unittest.main()
