"""Each kind of request that was ever seen from a client, with the answer that it must get: tests/golden. A case is a request
(http: POST unless said; headers; body, or text as it is) and what must come back:
status, type (of the content), response (headers), empty (no body);
exactly: the whole message; answer: a part of it; lacks, integers: paths that must not be there, or be whole numbers;
has_tool: in the list; mentions: a word of the body; token: of the progress that comes before the answer."""

import json
import unittest

import harness
from cases import ServerTest

FOLDER = harness.ROOT / "tests" / "golden"


def find(message, path):
    """The value at a.b.c; KeyError when there is none."""
    for name in path.split("."):
        message = message[name]
    return message


def is_part(part, whole):
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    return type(part) is type(whole) and part == whole


class Golden(ServerTest):
    def ask(self, case):
        body = case["text"] if "text" in case else json.dumps(case["body"]) if "body" in case else None
        link = harness.http.client.HTTPConnection(*self.server.address, timeout=harness.stretched(30))
        try:
            link.putrequest(case.get("http", "POST"), "/mcp", skip_host="host" in case["headers"], skip_accept_encoding=True)
            for name, value in case["headers"].items():
                link.putheader(name, value)
            if body is not None:
                link.putheader("content-length", str(len(body.encode())))
            link.endheaders(None if body is None else body.encode())
            response = link.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read().decode()
        finally:
            link.close()

    def messages(self, kind, text):
        """Those of an event stream, or the one of a JSON body."""
        if kind != "text/event-stream":
            return [json.loads(text)]
        for line in text.splitlines():
            self.assertRegex(line, "^(|:.*|event: message|data: .*)$")  # no id, no retry: nothing is resumed
        return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]

    def judge(self, case):
        status, headers, text = self.ask(case)
        self.assertEqual(status, case["status"], text)
        for name, value in case.get("response", {}).items():
            self.assertEqual(headers.get(name), value)
        self.assertNotIn("mcp-session-id", headers)
        self.assertIn(case.get("mentions", ""), text)
        if case.get("empty"):
            self.assertEqual(text, "")
        kind = headers.get("content-type", "").partition(";")[0]
        if "type" in case:
            self.assertEqual(kind, case["type"])
        if "answer" in case or "exactly" in case:
            *before, last = self.messages(kind, text)
            self.judge_message(case, last)
            self.judge_progress(case, before)

    def judge_message(self, case, message):
        if "exactly" in case:
            self.assertEqual(message, case["exactly"])
            return
        self.assertTrue(is_part(case["answer"], message), message)
        self.assertLessEqual(set(message), {"jsonrpc", "id", "result", "error"})
        self.assertNotEqual("result" in message, "error" in message)
        for path in case.get("lacks", ()):
            with self.assertRaises(KeyError, msg=path):
                find(message, path)
        for path in case.get("integers", ()):
            self.assertIs(type(find(message, path)), int, path)
        if "has_tool" in case:
            self.assertIn(case["has_tool"], [tool["name"] for tool in message["result"]["tools"]])

    def judge_progress(self, case, before):
        self.assertEqual(bool(before), "token" in case)
        for message in before:
            self.assertEqual(message["method"], "notifications/progress")
            self.assertTrue(is_part(case["token"], message["params"]["progressToken"]), message)
        steps = [message["params"]["progress"] for message in before]
        self.assertEqual(steps, sorted(set(steps)))


def add_tests():
    for file in sorted(FOLDER.glob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            name = f"test_{file.stem}: {case['name']}"
            if hasattr(Golden, name):
                raise ValueError(f"two cases are called {name}")
            setattr(Golden, name, lambda self, case=case: self.judge(case))


add_tests()

if __name__ == "__main__":
    unittest.main()
