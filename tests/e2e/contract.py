"""What every answer of sandbox_execute must be, whatever was asked."""

import json
import signal

RUN_KEYS = {
    "stdout": str, "stderr": str, "exit_code": int, "duration_ms": int, "timed_out": bool, "oom_killed": bool,
    "signal": (str, type(None)), "stdout_truncated": bool, "stderr_truncated": bool, "stdout_bytes": int,
    "stderr_bytes": int, "usage": dict,
}
OPTIONAL_KEYS = {"install", "files", "hint"}
ENVELOPE = {"content", "structuredContent", "isError", "_meta"}
CODES = {"INVALID_ARGUMENTS", "PACKAGE_INSTALL_FAILED", "CAPACITY_EXHAUSTED", "CANCELLED"}


def check(test, reply):
    """Fails the test where the answer breaks the contract."""
    test.assertEqual(reply.status, 200, reply)
    test.assertEqual(reply.message.get("jsonrpc"), "2.0", reply)
    test.assertNotIn("error", reply.message, reply)
    test.assertEqual(reply.result["content"][0]["type"], "text", reply)
    json.dumps(reply.message, ensure_ascii=False).encode("utf-8")  # no lone surrogates
    if reply.is_run:
        check_run(test, reply)
    else:
        check_refusal(test, reply)


def check_run(test, reply):
    run = reply.result
    for key, kind in RUN_KEYS.items():
        test.assertIsInstance(run.get(key), kind, f"{key}: {reply}")
        test.assertTrue(kind is not int or type(run[key]) is int, key)  # no booleans for numbers
    test.assertLessEqual(run.keys() - ENVELOPE, RUN_KEYS.keys() | OPTIONAL_KEYS, reply)
    structured = {key: value for key, value in run["structuredContent"].items() if key != "_meta"}
    test.assertEqual({key: value for key, value in run.items() if key not in ENVELOPE}, structured)
    test.assertEqual(json.loads(run["content"][0]["text"]), run["structuredContent"])
    for key in ("cpu_ms", "memory_peak_bytes", "processes_peak"):
        test.assertIs(type(run["usage"][key]), int, reply)
        test.assertGreaterEqual(run["usage"][key], 0, reply)
    for stream in ("stdout", "stderr"):
        check_stream(test, reply, stream)
    check_status(test, reply)


def check_stream(test, reply, stream):
    run, text = reply.result, reply.result[stream]
    if run[f"{stream}_truncated"]:
        test.assertIn("bytes left out ...]", text)
    elif "\ufffd" not in text:
        test.assertEqual(len(text.encode()), run[f"{stream}_bytes"], f"{stream}: {reply}")


def check_status(test, reply):
    run = reply.result
    test.assertIn(run["exit_code"], range(256), reply)
    test.assertLessEqual(run["duration_ms"], reply.seconds * 1000 + 100, reply)
    test.assertFalse(run["timed_out"] and run["oom_killed"], reply)
    if run["timed_out"]:
        test.assertEqual(run["exit_code"], 124, reply)
    elif run["oom_killed"]:
        test.assertEqual(run["exit_code"], 137, reply)
    elif run["signal"] is not None:
        test.assertEqual(run["exit_code"], 128 + signal.Signals[run["signal"]], reply)


def check_refusal(test, reply):
    test.assertIs(reply.result.get("isError"), True, reply)
    test.assertIn(reply.code, CODES, reply)
    test.assertFalse(reply.result.keys() & (RUN_KEYS.keys() | {"structuredContent"}), reply)
    if reply.code == "INVALID_ARGUMENTS":
        test.assertIn("arguments", reply.text)
    if reply.code == "CAPACITY_EXHAUSTED":
        test.assertGreater(reply.result["_meta"]["retry_after_seconds"], 0)
