"""Some hundred calls of all kinds leave nothing behind: descriptors, processes, cgroups, mounts, memory, files."""

import os
import unittest
from concurrent.futures import ThreadPoolExecutor

import hostwatch
from cases import ServerTest
from harness import TIME_FACTOR, call_body, post_bytes, wait_until

ROUNDS = int(os.environ.get("ASG_LEAK_ROUNDS", "12"))

KINDS = [
    {"language": "python", "code": "print('ok')"},
    {"language": "javascript", "code": "console.log('ok')"},
    {"language": "python", "code": "import sys; sys.exit(3)"},
    {"language": "python", "code": "import os; os.abort()"},
    {"language": "python", "code": "print('x' * 2_000_000)"},
    {"language": "python", "code": "import time; time.sleep(9)", "timeout_seconds": 0.3},
    {"language": "python", "code": "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(9)'])"},
    {"language": "python", "code": "import os\nfor n in range(200): open(f'f{n}', 'w').write('x')\nos.mkfifo('p'); os.symlink('/', 'l')"},
    {"language": "python", "code": "b = []\nwhile True: b.append(bytearray(b'1') * (64 << 20))"},
    {"language": "python", "code": "print(1)", "stdin": "z" * 200000},
    {"language": "python", "code": "import os\nfor _ in range(20): os.fork()", "timeout_seconds": 2},
    {"language": "ruby", "code": "1"},
    {"language": "javascript", "code": "setInterval(() => {}, 9)", "timeout_seconds": 0.5},
]


class Leaks(ServerTest):
    SECTIONS = {"limits": {"max_concurrent": 4, "queue": 64}}

    def round(self):
        with ThreadPoolExecutor(6) as pool:
            for reply in pool.map(self.server.call_with, KINDS):
                self.assertNotEqual(reply.code, "EXECUTION_FAILED", reply)
        for _ in range(3):  # callers that leave
            with self.server.connect() as link:
                link.sendall(post_bytes(self.server, call_body(language="python", code="import time; time.sleep(9)")))
        for _ in range(3):  # and some that never say anything
            self.server.connect().close()

    def state(self):
        pids = hostwatch.own_processes(self.server.pid)
        return {"processes": len(pids), "descriptors": hostwatch.descriptors(pids), "cgroups": len(hostwatch.cgroups(self.server.pid)),
                "mounts": len(hostwatch.mounts({self.server.pid})), "all mounts": len(hostwatch.mounts(pids)), "files": len(hostwatch.leftovers())}

    def test_nothing_grows(self):
        for _ in range(3):
            self.round()
        self.assertTrue(hostwatch.come_to_rest(self.server.pid), "the server does not come to rest")
        rest = self.state()
        memory = hostwatch.memory_mib(hostwatch.own_processes(self.server.pid))
        for _ in range(ROUNDS):
            self.round()

        def grown():
            return {kind: (rest[kind], count) for kind, count in self.state().items() if count > rest[kind]}

        self.assertTrue(wait_until(lambda: not grown(), 10, step=0.2), grown())
        self.assertEqual(hostwatch.Watch(self.server.pid).zombies(seconds=3), [])
        self.assertTrue(hostwatch.come_to_rest(self.server.pid), "the server does not come to rest")
        now = hostwatch.memory_mib(hostwatch.own_processes(self.server.pid))
        self.assertLess(now, memory + 20 * TIME_FACTOR, "memory grew")
        self.assert_alive()


if __name__ == "__main__":
    unittest.main()
