"""A warm program can reach the pipe on which its end is said: it may shorten its own run, and do nothing else with it."""

import unittest

import harness

WORDS = "import os, struct, socket, time\n"
HARMLESS = {
    "rubbish": "os.write(3, b'x' * 5)",
    "a flood": "os.set_blocking(3, False)\ntry:\n    while True: os.write(3, b'y' * 4096)\nexcept OSError: pass\ntime.sleep(20)",
    "a failed set-up": "os.write(3, struct.pack('<IIII', 1, 5, 5, 5))\ntime.sleep(20)",
    "no such signal": "os.write(3, struct.pack('<IIII', 2, 0x7e, 0, 0))\ntime.sleep(20)",
    "another status": "os.write(3, struct.pack('<IIII', 2, 9 << 8, 0, 0))\ntime.sleep(20)",
    "closed": "os.close(3)",
    "everything closed": "os.closerange(0, 64)",
    "as a socket": "try:\n    socket.socket(fileno=3).shutdown(2)\nexcept OSError as e:\n    print(e.errno)",
    "empty": "os.write(3, b'')",
}


class OwnEnd(unittest.TestCase):
    def test_only_its_own_run(self):
        with harness.Server() as server:
            for name, code in HARMLESS.items():
                with self.subTest(name):
                    reply = server.call(language="python", code=WORDS + code, timeout_seconds=5)
                    self.assertTrue(reply.is_run, reply)
                    self.assertLess(reply.seconds, harness.stretched(8))
                    self.assertFalse(reply.result["oom_killed"])
                    self.assertEqual(server.call(language="python", code="print('served')").result["stdout"], "served\n")
            self.assertFalse([line for line in server.log if "died" in line or "error" in line], server.log)

    def test_it_is_no_socket(self):
        with harness.Server() as server:
            for language, code in (("python", "import os, stat; print(any(stat.S_ISSOCK(os.fstat(int(n)).st_mode) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)))"),
                                   ("javascript", "const fs = require('fs'); try { console.log(fs.fstatSync(3).isSocket()) } catch { console.log(false) }")):
                said = server.call(language=language, code=code).result
                self.assertEqual(said["stdout"].lower(), "false\n", said)


if __name__ == "__main__":
    unittest.main(verbosity=1)
