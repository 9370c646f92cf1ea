"""A run of 70 seconds: progress keeps clients waiting that would give up after a minute."""

import unittest

import npm
from cases import ServerTest

npm.need("@modelcontextprotocol/sdk", "@modelcontextprotocol/client")

SECONDS = 70


class LongCalls(ServerTest):
    def test_progress_keeps_the_clients_waiting(self):
        url = f"http://{self.server.address[0]}:{self.server.address[1]}/mcp"
        said = npm.run_script("long_client.mjs", url, SECONDS, seconds=SECONDS + 60)
        for name in ("one", "two"):
            result, progress = said[name]["result"], said[name]["progress"]
            self.assertEqual((result["stdout"], result["exit_code"]), ("slept\n", 0), name)
            self.assertGreaterEqual(len(progress), SECONDS // 10, name)
            steps = [step["progress"] for step in progress]
            self.assertEqual(steps, sorted(set(steps)), name)
            self.assertEqual(progress[-1]["message"], "running", name)
            pauses = [later["at"] - earlier["at"] for earlier, later in zip(progress, progress[1:])]
            self.assertLess(max(pauses), 11_500, name)


if __name__ == "__main__":
    unittest.main()
