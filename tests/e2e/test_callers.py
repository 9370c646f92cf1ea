"""Callers that leave, and more callers than there are slots."""

import socket
import struct
import unittest
from concurrent.futures import ThreadPoolExecutor

import hostwatch
from cases import ServerTest
from harness import call_body, post_bytes, stretched, wait_until

class Leavers(ServerTest):
    """A caller that goes away ends its run and frees the slot."""

    SECTIONS = {"limits": {"max_concurrent": 1, "queue": 4}}

    def leave(self, how):
        link = self.server.connect()
        link.sendall(post_bytes(self.server, call_body(**hostwatch.sleeper())))
        self.assertTrue(wait_until(lambda: hostwatch.sleepers(self.server.pid), 10), "the run did not begin")
        how(link)
        self.assertTrue(wait_until(lambda: not hostwatch.sleepers(self.server.pid), 4), "the run goes on")
        self.assert_alive()  # the only slot is free again

    def test_close(self):
        self.leave(lambda link: link.close())

    def test_reset(self):
        def reset(link):
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.close()

        self.leave(reset)

    def test_shut_down_for_writing_is_no_leaving_or_is_one(self):
        with self.server.connect() as link:
            link.sendall(post_bytes(self.server, call_body(language="python", code="print(1)"), "Connection: close"))
            link.shutdown(socket.SHUT_WR)
            link.settimeout(stretched(10))
            link.recv(65536)
        self.assert_alive()

    def test_leaving_while_waiting_for_a_slot(self):
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(self.server.call, language="python", code="import time; time.sleep(1.5); print('first')")
            links = [self.server.connect() for _ in range(3)]
            for link in links:
                link.sendall(post_bytes(self.server, call_body(**hostwatch.sleeper())))
                link.close()
            self.assertEqual(first.result().result["stdout"], "first\n")
        self.assert_alive()


class Overload(ServerTest):
    SECTIONS = {"limits": {"max_concurrent": 2, "queue": 3}}

    def test_each_call_ends_in_a_result_or_in_busy(self):
        with ThreadPoolExecutor(25) as pool:
            replies = list(pool.map(lambda n: self.server.call(language="python", code=f"import time; time.sleep(1); print({n})"), range(25)))
        done = [n for n, reply in enumerate(replies) if reply.is_run]
        for n, reply in enumerate(replies):
            if reply.is_run:
                self.assertEqual(reply.result["stdout"], f"{n}\n")
            else:
                self.assertEqual(reply.code, "CAPACITY_EXHAUSTED", reply)
                self.assertGreater(reply.result["_meta"]["retry_after_seconds"], 0)
                self.assertLess(reply.seconds, stretched(1), "a refusal must not wait")
        self.assertGreaterEqual(len(done), 5)
        self.assertLess(len(done), 25)
        self.assert_alive()

    def test_never_more_than_the_slots_run(self):
        with ThreadPoolExecutor(3) as pool:
            code = "import time; a = time.time(); time.sleep(0.5); print(a, time.time())"
            replies = list(pool.map(lambda _: self.server.call(language="python", code=code), range(3)))
        for reply in replies:
            self.assertTrue(reply.is_run, reply)
        runs = [tuple(map(float, reply.result["stdout"].split())) for reply in replies]
        for start, _ in runs:
            self.assertLessEqual(sum(a <= start < b for a, b in runs), 2)

if __name__ == "__main__":
    unittest.main()
