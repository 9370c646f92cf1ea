"""The clients that people use, each in every era it speaks: it lists, calls, sees what the program printed, and gets errors
that it can read."""

import json
import subprocess
import unittest

import harness
import npm
from cases import ServerTest

npm.need("@modelcontextprotocol/client", "@modelcontextprotocol/inspector")

INSPECTOR = npm.MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
TOOL_FAILED = 5  # exit status of the Inspector for isError


def url_of(server):
    return f"http://{server.address[0]}:{server.address[1]}/mcp"


class SecondGeneration(ServerTest):
    def check(self, mode, era, version):
        said = npm.run_script("v2_client.mjs", url_of(self.server), mode)
        self.assertEqual((said["era"], said["version"]), (era, version))
        self.assertEqual(said["server"]["name"], "asg-sandbox")
        self.assertIn("sandbox_execute", [tool["name"] for tool in said["tools"]])
        self.assertEqual(said["python"]["structuredContent"]["stdout"], "42\n")
        self.assertEqual(said["python"]["stdout"], "42\n")
        self.assertEqual((said["failed"]["exit_code"], said["failed"]["stderr"]), (3, "bad\n"))
        self.assertTrue(said["refused"]["isError"])
        self.assertIn("language", said["refused"]["content"][0]["text"])
        self.assertEqual(said["unknown"]["code"], -32602)
        self.assertIn("no_such", said["unknown"]["message"])
        self.assertTrue(said["progress"])
        self.assertEqual(said["progress"], sorted(set(said["progress"])))
        self.assertEqual(said["slow"]["stdout"], "1\n")
        self.assertNotIn("answer", said["aborted"])
        self.assertEqual(said["after"]["stdout"], "after\n")
        self.assertFalse([fault for fault in said["faults"] if "abort" not in fault.lower()])

    def test_legacy(self):
        self.check("legacy", "legacy", "2025-11-25")

    def test_auto(self):
        self.check("auto", "modern", "2026-07-28")

    def test_pinned(self):
        self.check("2026-07-28", "modern", "2026-07-28")


class Inspector(ServerTest):
    def inspect(self, era, *arguments):
        return npm.run_node([INSPECTOR, "--cli", url_of(self.server), "--transport", "http", "--protocol-era", era,
                             "--format", "json", *arguments], 60)

    def call(self, era, **arguments):
        return self.inspect(era, "--method", "tools/call", "--tool-name", "sandbox_execute", "--tool-args-json",
                            json.dumps(arguments))

    def check(self, era):
        status, out, err = self.inspect(era, "--method", "tools/list", "--strict")
        self.assertEqual(status, 0, err)
        self.assertIn('"sandbox_execute"', out)
        status, out, err = self.call(era, language="python", code="print(6 * 7)")
        self.assertEqual(status, 0, err + out)
        self.assertIn(r'"stdout":"42\n"', out.replace(" ", ""))
        status, out, err = self.call(era, language="python", output_files=["p.png"],
                                     code="from PIL import Image; Image.new('RGB', (2, 2)).save('p.png')")
        self.assertEqual(status, 0, err + out)
        self.assertEqual([block["mimeType"] for block in json.loads(out)["result"]["content"] if block["type"] == "image"], ["image/png"])
        status, out, err = self.call(era, language="ruby", code="1")
        self.assertEqual(status, TOOL_FAILED, err + out)
        self.assertIn("INVALID_ARGUMENTS", out)

    def test_legacy(self):
        self.check("legacy")

    def test_auto(self):
        self.check("auto")

    def test_modern(self):
        self.check("modern")


class Curl(ServerTest):
    def curl(self, *arguments, stdin=None):
        done = subprocess.run(["curl", "-s", "-w", "\n%{http_code} %{content_type} %{time_total}", *arguments, url_of(self.server)],
                              input=stdin, capture_output=True, text=True, timeout=60, check=True)
        body, _, status = done.stdout.rpartition("\n")
        code, kind, seconds = status.split(" ")
        return int(code), kind, float(seconds), json.loads(body) if body else None

    def call(self, code, *more):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "sandbox_execute", "arguments": {"language": "python", "code": code}}})
        return self.curl("--json", "@-", *more, stdin=body)

    def test_the_line_of_the_product_page(self):
        for more in ((), ("-H", "Accept: */*"), ("-H", "Accept: text/event-stream, application/json"), ("--http2",)):
            status, kind, _, answer = self.call("print(6 * 7)", *more)
            self.assertEqual((status, kind), (200, "application/json"), more)
            self.assertEqual(answer["result"]["stdout"], "42\n")

    def test_bodies_for_which_it_waits_for_permission(self):
        code = "print(len('" + "x" * 1_500_000 + "'))"
        for more in ((), ("-H", "Transfer-Encoding: chunked")):
            status, _, seconds, answer = self.call(code, *more)
            self.assertEqual((status, answer["result"]["stdout"]), (200, "1500000\n"))
            self.assertLess(seconds, harness.stretched(0.9))  # it goes on after a second without "100 Continue"

    def test_a_form_is_refused_in_words(self):
        status, _, _, answer = self.curl("-d", "{}")
        self.assertEqual(status, 415)
        self.assertIn("application/json", answer["error"])

    def test_requests_of_the_newest_revision(self):
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {"_meta": meta}})
        status, _, _, answer = self.curl("--json", "@-", "-H", "MCP-Protocol-Version: 2026-07-28", "-H", "Mcp-Method: server/discover", stdin=body)
        self.assertEqual((status, answer["result"]["resultType"]), (200, "complete"))
        self.assertEqual(answer["result"]["supportedVersions"][0], "2026-07-28")


if __name__ == "__main__":
    unittest.main()
