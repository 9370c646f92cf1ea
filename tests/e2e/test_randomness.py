"""What a program draws at random, no other program draws: warm ones are forked from one process."""

import unittest

import harness

DRAWS = {
    "python": [
        "import random; print(random.random())",
        "import random; print(random.SystemRandom().random())",
        "import os; print(os.urandom(8).hex())",
        "import uuid; print(uuid.uuid4())",
        "import secrets; print(secrets.token_hex(8))",
        "import ssl; print(ssl.RAND_bytes(8).hex())",
        "import tempfile; print(tempfile.mktemp())",
        "import numpy; print(numpy.random.rand())",
        "import numpy; print(numpy.random.default_rng().random())",
    ],
    "javascript": ["console.log(Math.random())", "console.log(require('crypto').randomUUID())",
                   "console.log(require('crypto').randomBytes(8).toString('hex'))"],
}


class Randomness(unittest.TestCase):
    def test_no_two_programs_draw_the_same(self):
        with harness.Server() as server:
            for language, programs in DRAWS.items():
                for code in programs:
                    with self.subTest(code=code):
                        drawn = [server.call(language=language, code=code).result["stdout"] for _ in range(6)]
                        self.assertEqual(len(set(drawn)), len(drawn), drawn)
                        self.assertNotIn("", drawn)


if __name__ == "__main__":
    unittest.main(verbosity=1)
