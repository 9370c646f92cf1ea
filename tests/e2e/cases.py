"""Tables of programs with what must come back, and the tests made of them."""

import dataclasses
import re
import textwrap
import typing
import unittest

import contract
import harness


@dataclasses.dataclass
class Case:
    """One program. What is not said must be as in a quiet success: exit 0, nothing on stderr, no signal, no limit."""

    name: str
    language: str  # "py" or "js"
    code: str
    exit: typing.Any = 0            # a status, a tuple of statuses, or None for any
    out: typing.Any = None          # exact text; None: any
    out_has: typing.Sequence = ()
    out_not: typing.Sequence = ()
    out_re: typing.Any = None
    err: typing.Any = ""            # exact text; None: any. Not looked at when err_has is given
    err_has: typing.Sequence = ()
    err_not: typing.Sequence = ()
    signal: typing.Any = None
    timed_out: bool = False
    oom: typing.Any = False         # True: oom_killed, or memory is named in hint or stderr. None: either
    truncated: typing.Sequence = () # streams that must be cut
    hint: typing.Any = None         # words that the hint holds
    within: float = 20              # seconds for the whole call
    duration_ms: typing.Any = None  # (least, most)
    check: typing.Any = None        # check(test, run): more
    args: dict = dataclasses.field(default_factory=dict)

    def arguments(self):
        language = {"py": "python", "js": "javascript"}[self.language]
        return {"language": language, "code": textwrap.dedent(self.code)} | self.args


@dataclasses.dataclass
class Refused:
    """Arguments that must be refused before anything runs."""

    name: str
    arguments: dict
    mentions: typing.Sequence = ()  # words of the text


PY = {"language": "python", "code": "print('ran')"}


def refused(name, *mentions, **changes):
    """A good call with some arguments changed; a change to ... leaves the argument out."""
    arguments = {key: value for key, value in (PY | changes).items() if value is not ...}
    return Refused(name, arguments, mentions)


def judge(test, case, reply):
    contract.check(test, reply)
    test.assertTrue(reply.is_run, reply)
    run = reply.result
    exits = case.exit if isinstance(case.exit, tuple) else (case.exit,)
    if case.exit is not None:
        test.assertIn(run["exit_code"], exits, reply)
    for stream, equal, has, lacks in (("stdout", case.out, case.out_has, case.out_not),
                                      ("stderr", None if case.err_has else case.err, case.err_has, case.err_not)):
        if equal is not None:
            test.assertEqual(run[stream], equal, reply)
        for word in has:
            test.assertIn(word, run[stream], reply)
        for word in lacks:
            test.assertNotIn(word, run[stream], reply)
        test.assertEqual(run[f"{stream}_truncated"], stream in case.truncated, reply)
    if case.out_re:
        test.assertTrue(re.search(case.out_re, run["stdout"], re.M), f"{case.out_re}: {reply}")
    if case.hint:
        test.assertIn(case.hint, run.get("hint", ""), reply)
    judge_cause(test, case, reply)
    if case.check:
        case.check(test, run)


def judge_cause(test, case, reply):
    run = reply.result
    test.assertEqual(run["timed_out"], case.timed_out, reply)
    if not case.timed_out and case.oom is False:
        test.assertEqual(run["signal"], case.signal, reply)
    if case.oom:
        named = re.search(r"MemoryError|out of memory|memory limit", run["stderr"] + run.get("hint", ""), re.I)
        test.assertTrue(run["oom_killed"] or named, reply)
    elif case.oom is not None:
        test.assertFalse(run["oom_killed"] or "memory" in run.get("hint", ""), reply)
    test.assertLessEqual(reply.seconds, harness.stretched(case.within), reply)
    if case.duration_ms:
        test.assertGreaterEqual(run["duration_ms"], case.duration_ms[0], reply)
        test.assertLessEqual(run["duration_ms"], harness.stretched(case.duration_ms[1]), reply)


class ServerTest(unittest.TestCase):
    """Tests that share one server of their class."""

    SECTIONS: dict = {}
    ENV: dict = {}

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(env=cls.ENV, **cls.SECTIONS)
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def assert_alive(self):
        reply = self.server.call(language="python", code="print('alive')")
        self.assertEqual(reply.result.get("stdout"), "alive\n", reply)

    def run_case(self, case):
        reply = self.server.call_with(case.arguments(), seconds=case.within + 30)
        judge(self, case, reply)

    def refuse(self, case):
        reply = self.server.call_with(case.arguments)
        contract.check(self, reply)
        self.assertEqual(reply.code, "INVALID_ARGUMENTS", reply)
        for word in case.mentions:
            self.assertIn(word.lower(), reply.text.lower(), reply)
        self.assertLess(reply.seconds, harness.stretched(3))


def tests_of(*tables):
    """A class decorator: one test method for each Case or Refused of the tables."""

    def decorate(cls):
        for case in (case for table in tables for case in table):
            name = f"test_{case.name}"
            if hasattr(cls, name):
                raise ValueError(f"two cases are called {case.name}")
            method = cls.run_case if isinstance(case, Case) else cls.refuse
            setattr(cls, name, lambda self, method=method, case=case: method(self, case))
        return cls

    return decorate
