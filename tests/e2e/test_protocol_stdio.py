"""The server as a client starts it: over standard input and output, with nothing on the output but the protocol."""

import json
import os
import subprocess
import tempfile
import unittest

import harness
import npm

npm.need("@modelcontextprotocol/sdk", "@modelcontextprotocol/client")


def command():
    """The program and its arguments, with a configuration where the directories of the sandbox are not beside it."""
    keys = {key: os.environ[variable] for key, variable in (("image", "ASG_IMAGE"), ("runner", "ASG_RUNNER")) if variable in os.environ}
    if not keys:
        return [str(harness.SERVER), "stdio"]
    with tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False) as config:
        config.write("[sandbox]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
    return [str(harness.SERVER), "stdio", "--config", config.name]


def talk(*lines, seconds=60):
    """What comes back when these lines are all of the input."""
    if not harness.SERVER.exists():
        harness.skip_file(f"{harness.SERVER} is not built")
    return subprocess.run(command(), input="".join(line + "\n" for line in lines), capture_output=True, text=True,
                          timeout=harness.stretched(seconds), check=False)


def message(method, request_id=None, **params):
    body = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if request_id is None else {"id": request_id})
    return json.dumps(body)


def call(request_id, code, **params):
    return message("tools/call", request_id, name="sandbox_execute", arguments={"language": "python", "code": code}, **params)


class Lines(unittest.TestCase):
    def test_calls_that_run_at_the_end_of_input_are_answered(self):
        done = talk(message("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"}),
                    message("notifications/initialized"), message("tools/list", "list"), call(7, "print('seven')"))
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(answers[0]["protocolVersion"], "2025-06-18")
        self.assertEqual(answers["list"]["tools"][0]["name"], "sandbox_execute")
        self.assertEqual(answers[7]["stdout"], "seven\n")
        self.assertEqual(len(answers), 3)

    def test_what_is_no_message_is_answered_and_skipped(self):
        done = talk("{", "", "[]", '{"jsonrpc":"2.0","id":null,"method":"ping"}', message("ping", 1))
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer.get("error", {}).get("code") for answer in answers], [-32700, -32600, -32600, None])
        self.assertEqual(answers[-1], {"jsonrpc": "2.0", "id": 1, "result": {}})

    def test_a_cancelled_call_has_no_answer(self):
        done = talk(call(1, "import time; time.sleep(30)"), message("notifications/cancelled", requestId=1), message("ping", 2), seconds=15)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], [2], done.stderr)


class Clients(unittest.TestCase):
    def check(self, generation):
        said = npm.run_script("stdio_client.mjs", generation, *command())
        self.assertIn("sandbox_execute", [tool["name"] for tool in said["tools"]])
        self.assertEqual(said["python"]["stdout"], "42\n")
        self.assertTrue(said["refused"]["isError"])
        self.assertEqual([result["stdout"] for result in said["many"]], ["1\n", "2\n", "3\n"])
        self.assertEqual(said["aborted"], "aborted")
        self.assertEqual(said["after"]["stdout"], "after\n")
        self.assertEqual(said["slow"]["stdout"], "1\n")
        self.assertTrue(said["progress"])
        self.assertFalse([fault for fault in said["faults"] if "abort" not in fault.lower()])
        self.assertLess(said["closedAfter"], harness.stretched(1900))  # after two seconds it would be ended by a signal

    def test_first_generation(self):
        self.check("first")

    def test_second_generation(self):
        self.check("second")


if __name__ == "__main__":
    unittest.main()
