"""The conformance suite of the protocol's authors against the real server. What it misses here is listed, with the reason, in
tests/conformance; a scenario that fails beside that list, or passes though it stands there, fails the test."""

import json
import pathlib
import re
import tempfile
import unittest

import harness
import npm
from cases import ServerTest

npm.need("@modelcontextprotocol/conformance")

SUITE = npm.MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
LISTS = harness.ROOT / "tests" / "conformance"


def names_in(file):
    return re.findall(r"^ +- (\S+)", file.read_text(), re.M)


class Conformance(ServerTest):
    def suite(self, *arguments):
        """(exit status, all that was said, the checks by id) of one run."""
        with tempfile.TemporaryDirectory() as folder:
            status, out, err = npm.run_node(
                [SUITE, "server", "--url", f"http://{self.server.address[0]}:{self.server.address[1]}/mcp", "-o", folder, *arguments], 120)
            checks = [check for file in pathlib.Path(folder).glob("*/checks.json") for check in json.loads(file.read_text())]
        return status, out + err, checks

    def score(self, revision):
        expected = LISTS / f"expected-{revision}.yml"
        status, said, _ = self.suite("--requirements", revision, "--expected-failures", expected)
        self.assertEqual(status, 0, said)
        # An entry that the suite skips would be tolerated by it.
        failed = re.findall(r"^ +~ (\S+)", said, re.M)
        self.assertEqual(sorted(failed), sorted(names_in(expected)), said)

    def test_revision_2025_11_25(self):
        self.score("2025-11-25")

    def test_revision_2026_07_28(self):
        self.score("2026-07-28")

    def test_header_validation(self):
        status, said, checks = self.suite("--scenario", "http-header-validation")
        self.assertEqual(status, 0, said)
        self.assertEqual([check["status"] for check in checks], ["SUCCESS"] * 14, said)

    def test_stateless(self):
        _, said, checks = self.suite("--scenario", "server-stateless")
        listed = {name.partition(":")[2] for name in names_in(LISTS / "expected-2026-07-28.yml") if name.startswith("server-stateless:")}
        bad = {check["id"] for check in checks if check["status"] not in ("SUCCESS", "SKIPPED", "INFO")}
        self.assertEqual(bad, listed, said)
        self.assertGreaterEqual(sum(check["status"] == "SUCCESS" for check in checks), 21, said)


if __name__ == "__main__":
    unittest.main()
