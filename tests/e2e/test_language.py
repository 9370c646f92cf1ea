"""Code runs as people and models write it: real main programs, true lines, both module systems, refused nonsense."""

import json
import unittest

from cases import Case, PY, Refused, ServerTest, refused, tests_of

PYTHON = [
    Case("a_real_main_program", "py", """
        import inspect, os, sys
        def f(): return 1  # a remark
        print(__name__, __file__, os.path.isfile(__file__), sys.argv, "a remark" in inspect.getsource(f), sys.modules["__main__"].f is f)
        print(sys.path[0], __doc__, __spec__, sys.flags.interactive, [n for n in dir() if not n.startswith("__")])
        """, out_has=["__main__ /workspace/main.py True ['/workspace/main.py'] True True\n", "/workspace None None 0 ['f', 'inspect', 'os', 'sys']\n"]),
    Case("pickles_of_its_own_classes", "py", """
        import copy, dataclasses, pickle
        @dataclasses.dataclass
        class P: x: int
        print(pickle.loads(pickle.dumps(P(3))), copy.deepcopy(P(4)), P.__module__)
        """, out="P(x=3) P(x=4) __main__\n"),
    Case("imports_its_own_files", "py", """
        open("helper.py", "w").write("def hi(): return __name__, __file__\\n")
        import helper; print(helper.hi())
        """, out="('helper', '/workspace/helper.py')\n"),
    Case("input_at_end_of_file", "py", "try: input('name? ')\nexcept EOFError: print('eof')", out="name? eof\n", within=4),
    Case("uncaught_end_of_file", "py", "input()", exit=1, err_has=["EOFError: EOF when reading a line"], within=4),
    Case("stdin_is_empty", "py", "import sys; print(repr(sys.stdin.read()), sys.stdin.readline() == '', list(sys.stdin))", out="'' True []\n", within=4),
    Case("stdin_given", "py", "import sys; print(input(), input(), repr(sys.stdin.read()))", out="3 é猫 'rest'\n", args={"stdin": "3\né猫\nrest"}),
    Case("stdin_large", "py", "import sys; d = sys.stdin.buffer.read(); print(len(d), d[-1:])", out="1000001 b'!'\n", args={"stdin": "x" * 1000000 + "!"}),
    Case("stdin_not_read", "py", "print('ignored')", out="ignored\n", args={"stdin": "y" * 500000}),
    Case("stdin_empty_text", "py", "import sys; print(repr(sys.stdin.read()))", out="''\n", args={"stdin": ""}),
    Case("traceback_lines", "py", "def outer():\n    inner()\n\n\ndef inner():\n    {}['key']  # the sixth\n\nouter()\n", exit=1,
         err='Traceback (most recent call last):\n  File "/workspace/main.py", line 8, in <module>\n    outer()\n'
             '  File "/workspace/main.py", line 2, in outer\n    inner()\n  File "/workspace/main.py", line 6, in inner\n'
             "    {}['key']  # the sixth\n    ~~^^^^^^^\nKeyError: 'key'\n"),
    Case("chained_exceptions", "py", "try: 1 / 0\nexcept ZeroDivisionError as e: raise ValueError('second') from e", exit=1,
         err_has=["ZeroDivisionError", "direct cause", "ValueError: second", "line 2, in <module>"]),
    Case("syntax_error", "py", "x = 1\nif x\n    print(x)\n", exit=1, out="", err_has=["line 2", "SyntaxError: expected ':'", "if x"],
         err_not=["Traceback"]),
    Case("indentation_error", "py", "def f():\nreturn 1\n", exit=1, err_has=["line 2", "IndentationError"]),
    Case("unclosed_bracket", "py", "a = [1,\nprint(a)\n", exit=1, err_has=["line 1", "'[' was never closed"]),
    Case("nothing_runs_before_a_syntax_error", "py", "print('early')\n)\n", exit=1, out="", err_has=["unmatched ')'"]),
    Case("encodings", "py", """
        import locale, sys
        print(sys.getdefaultencoding(), sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding, locale.getpreferredencoding(False),
              sys.getfilesystemencoding())
        open("t", "w").write("ö"); print(open("t", "rb").read())
        """, out="utf-8 utf-8 utf-8 utf-8 UTF-8 utf-8\nb'\\xc3\\xb6'\n"),
    Case("time_zones", "py", """
        import datetime, time, zoneinfo
        print(time.tzname[0], datetime.datetime(2024, 1, 1).astimezone().utcoffset(), len(zoneinfo.available_timezones()) > 400)
        for z in ("Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Pacific/Auckland"):
            print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo(z)).utcoffset())
        """, out="UTC 0:00:00 True\n2:00:00\n5:30:00\n-1 day, 21:30:00\n12:00:00\n"),
    Case("no_terminal", "py", """
        import os, shutil, sys
        print([f.isatty() for f in (sys.stdin, sys.stdout, sys.stderr)], shutil.get_terminal_size().columns)
        try: os.ttyname(0)
        except OSError: print("no tty")
        """, out="[False, False, False] 80\nno tty\n"),
    Case("the_user_is_known", "py", "import getpass, os, pathlib, pwd; print(getpass.getuser(), pathlib.Path.home(), pwd.getpwuid(os.getuid()).pw_name, os.path.expanduser('~sandbox'))",
         out="sandbox /workspace sandbox /workspace\n"),
    Case("byte_order_mark_and_windows_lines", "py", "\ufefffor i in range(2):\r\n    print(i)\r\n", out="0\n1\n"),
    Case("old_mac_lines", "py", "print(1)\rprint(2)\r", out="1\n2\n"),
    Case("names_in_other_scripts", "py", "größe, 変数 = 'ầ🎈', 2\nprint(größe, len(größe), 変数, f'{größe!a}')", out="ầ🎈 2 2 '\\u1ea7\\U0001f388'\n"),
    Case("declared_encoding", "py", "# -*- coding: utf-8 -*-\nprint('ß')", out="ß\n"),
    Case("a_shebang_line", "py", "#!/usr/bin/env python3\nprint('run')", out="run\n"),
    Case("only_a_remark", "py", "# nothing here", out=""), Case("empty", "py", "", out=""), Case("blank", "py", " \n\t\n", out="", exit=(0, 1), err=None),
    Case("large_code", "py", "y = 2  # filler filler filler filler\n" * 90000 + "print('end', y)\n", out="end 2\n", within=30),
    Case("a_large_literal", "py", "s = '" + "k" * 2_000_000 + "'\nprint(len(s))", out="2000000\n", within=20),
    Case("matching_and_walrus", "py", "match [1, 2]:\n    case [a, *r] if (n := len(r)): print(a, r, n)", out="1 [2] 1\n"),
    Case("exception_groups", "py", "try: raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e: print(e.exceptions)", out="(ValueError(1),)\n"),
    Case("unittest_main", "py", "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(1)\nunittest.main()", err_has=["Ran 1 test", "OK"]),
    Case("argparse_without_arguments", "py", "import argparse; p = argparse.ArgumentParser(); p.add_argument('--n', default=3); print(p.parse_args())", out="Namespace(n=3)\n"),
    Case("given_environment", "py", "import os; print(os.environ['GREETING'], os.environ['X_1'] == '')", out="héllo True\n",
         args={"env": {"GREETING": "héllo", "X_1": ""}}),
]

JAVASCRIPT = [
    Case("commonjs_scope", "js", "console.log(__filename, __dirname, require.main === module, typeof exports, process.argv.length, this === module.exports);",
         out="/workspace/main.cjs /workspace true object 2 true\n"),
    Case("module_scope", "js", "import path from 'path'; console.log(path.basename(import.meta.url), typeof this, process.argv.length);",
         out="main.mjs undefined 2\n"),
    Case("import_and_top_level_await", "js", """
        import { readFile, writeFile } from 'node:fs/promises';
        await writeFile('n.txt', 'esm'); const os = await import('node:os');
        console.log(await readFile('n.txt', 'utf8'), typeof os.default.tmpdir());
        """, out="esm string\n"),
    Case("await_in_a_loop", "js", "for (const n of [1, 2]) { console.log(await new Promise(r => setTimeout(r, 5, n))); }", out="1\n2\n"),
    *(Case(f"await_in_{name}", "js", f"const f = async n => n;\n{code}", out=out) for name, code, out in (
        ("a_call", "console.log(await f(1));", "1\n"), ("a_template", "console.log(`${await f(2)}`);", "2\n"),
        ("a_list", "const a = [await f(1), await f(2)];\nconsole.log(a.length);", "2\n"), ("an_object", "const o = { k: await f(3) };\nconsole.log(o.k);", "3\n"),
        ("a_condition", "if (await f(true)) console.log('yes');", "yes\n"), ("a_choice", "const c = true ? await f(4) : 0;\nconsole.log(c);", "4\n"),
        ("a_member", "console.log((await f('abc')).length);", "3\n"), ("a_sum", "let s = 1 + await f(5);\ns += await f(1);\nconsole.log(s);", "7\n"),
        ("a_destructuring", "const { a, b: [c] } = await f({ a: 1, b: [2] });\nconsole.log(a, c);", "1 2\n"), ("a_block", "try { await f(1); } finally { console.log('end'); }", "end\n"),
        ("an_argument_later", "console.log('x', await f(6), 'y');", "x 6 y\n"), ("a_statement_last", "f(1);\nawait f(2)", ""),
        ("a_new", "console.log(new Set(await f([1, 1])).size);", "1\n"), ("a_spread", "console.log(Math.max(...await f([3, 9])));", "9\n"))),
    Case("for_await", "js", "async function* g() { yield 1; yield 2; }\nfor await (const n of g()) console.log(n);", out="1\n2\n"),
    Case("require_and_top_level_await", "js", "const { EOL } = require('os');\nconst v = await Promise.resolve(EOL.length);\nconsole.log('mixed', v);", out="mixed 1\n"),
    Case("import_and_require", "js", "import os from 'node:os';\nconst path = require('path'), _ = require('lodash');\nconsole.log(path.basename('/a/b'), typeof os.EOL, _.last([1, 2]));",
         out="b string 2\n"),
    Case("import_and_file_names", "js", "import fs from 'fs';\nconsole.log(typeof __dirname === 'undefined' || __dirname, fs.existsSync('.'));", out_has=["true\n"]),
    Case("export_in_the_main_file", "js", "export const a = 1;\nexport default function f() {}\nconsole.log('exported', a);", out="exported 1\n"),
    Case("module_exports_in_the_main_file", "js", "module.exports = { a: 1 }; exports.b = 2; console.log('ok');", out="ok\n"),
    Case("dynamic_import_in_commonjs", "js", "import('node:path').then(p => console.log(p.default.join('a', 'b'))); const x = require('fs');", out="a/b\n"),
    Case("await_only_in_text", "js", "console.log('await import x from y'); // await foo\nvar await_ = 1;", out="await import x from y\n"),
    Case("await_as_a_name", "js", "var await = 3; console.log(await);", out="3\n"),
    Case("sloppy_mode", "js", "undeclared = 1; function f() { return this === globalThis; }\nconsole.log(undeclared, f(), 010);", out="1 true 8\n"),
    Case("strict_mode", "js", "'use strict';\ntry { undeclared = 1; } catch (e) { console.log(e.name); }", out="ReferenceError\n"),
    Case("return_at_top_level", "js", "console.log('a');\nif (1) return;\nconsole.log('b');", out="a\n"),
    Case("own_files", "js", "require('fs').writeFileSync('h.js', 'exports.x = 5');\nrequire('fs').writeFileSync('d.json', '{\"k\": 6}');\nconsole.log(require('./h').x, require('./d.json').k);",
         out="5 6\n"),
    Case("syntax_error", "js", "const a = 1;\nconst b = [;\n", exit=1, out="", err_has=["main.", ":2", "SyntaxError"]),
    Case("syntax_error_in_a_module", "js", "import fs from 'fs';\nconst a = ;\n", exit=1, out="", err_has=["SyntaxError", ":2"]),
    Case("stack_lines", "js", "function inner() {\n  throw new Error('boom');\n}\n\ninner();\n", exit=1,
         err_has=["/workspace/main.cjs:2", "Error: boom", "at inner (/workspace/main.cjs:2:9)", "/workspace/main.cjs:5:1"], err_not=["runner"]),
    Case("missing_module", "js", "require('no-such-thing')", exit=1, err_has=["Cannot find module 'no-such-thing'"]),
    Case("missing_module_imported", "js", "import x from 'no-such-thing';", exit=1, err_has=["no-such-thing"]),
    Case("unhandled_rejection", "js", "(async () => { console.log('started'); throw new Error('lost cause'); })();", exit=1, out="started\n", err_has=["lost cause", "main.cjs:1"]),
    Case("rejection_with_no_error", "js", "Promise.reject(42)", exit=1, err_has=["42"]),
    Case("handled_rejection", "js", "Promise.reject(1).catch(() => console.log('handled'))", out="handled\n"),
    Case("top_level_await_throws", "js", "console.log('a');\nawait Promise.reject(new TypeError('late'));", exit=1, out="a\n", err_has=["TypeError: late"]),
    Case("late_work_is_waited_for", "js", "setTimeout(() => console.log('timer'), 300); setImmediate(() => console.log('soon'));\nPromise.resolve().then(() => console.log('micro')); process.nextTick(() => console.log('tick')); console.log('now');",
         out="now\ntick\nmicro\nsoon\ntimer\n", duration_ms=(290, 3000)),
    Case("event_before_exit", "js", "process.on('exit', c => console.log('exit', c)); process.once('beforeExit', () => console.log('before'));", out="before\nexit 0\n"),
    Case("stdin_ends_at_once", "js", "let n = 0; process.stdin.on('data', d => n += d.length).on('end', () => console.log('end', n));", out="end 0\n", within=4),
    Case("stdin_read_synchronously", "js", "console.log(require('fs').readFileSync(0, 'utf8').length)", out="0\n", within=4),
    Case("stdin_given", "js", "let s = ''; process.stdin.setEncoding('utf8').on('data', d => s += d).on('end', () => console.log(s.trim().split('\\n').length, s.at(-1)));",
         out="2 猫\n", args={"stdin": "a\n猫"}),
    Case("stdin_by_lines", "js", "import rl from 'readline/promises';\nconst r = rl.createInterface({ input: process.stdin });\nfor await (const l of r) console.log('<' + l + '>');",
         out="<a>\n<>\n<b>\n", args={"stdin": "a\n\nb"}),
    Case("byte_order_mark_and_windows_lines", "js", "\ufeffconst a = 1;\r\nconsole.log(a);\r\n", out="1\n"),
    Case("a_shebang_line", "js", "#!/usr/bin/env node\nconsole.log('run')", out="run\n"),
    Case("names_in_other_scripts", "js", "const größe = 'ầ🎈名'; console.log(größe, [...größe].length, größe.length);", out="ầ🎈名 3 4\n"),
    Case("no_terminal", "js", "console.log(process.stdin.isTTY, process.stdout.isTTY, process.stdout.columns)", out="undefined undefined undefined\n"),
    Case("empty", "js", "", out=""), Case("blank", "js", "  \n\t\n", out=""), Case("only_a_remark", "js", "/* nothing */", out=""),
    Case("large_code", "js", "x = 1; // filler filler filler filler\n" * 80000 + "console.log('end', x)", out="end 1\n", within=30),
    Case("objects_are_shown_plain", "js", "console.log({ a: [1, { b: 2 }], m: new Map([[1, 2]]) }); console.table([{ k: 1 }]);", out_has=["{ a: [ 1, { b: 2 } ], m: Map(1) { 1 => 2 } }\n", "│"]),
    Case("given_environment", "js", "console.log(process.env.GREETING)", out="héllo\n", args={"env": {"GREETING": "héllo"}}),
]

WRONG = [
    refused("language_missing", "language", language=...), refused("code_missing", "code", code=...), refused("both_missing", language=..., code=...),
    refused("language_unknown", "language", "python", "javascript", language="ruby"), refused("language_of_a_version", "language", language="python3"),
    refused("language_empty", "language", language=""), refused("language_a_list", "language", language=["python"]), refused("language_null", "language", language=None),
    refused("code_a_number", "code", code=123), refused("code_null", "code", code=None), refused("code_a_list", "code", code=["print(1)"]),
    refused("nul_in_code", "code", "nul", code="print(1)\n\0print(2)"), refused("nul_in_javascript", "code", "nul", language="javascript", code="1\0"),
    refused("code_too_large", "code", "size", code="#" * (4 * 1024 * 1024 + 1)), refused("unknown_argument", "timeout_second", "timeout_seconds", timeout_second=5),
    refused("unknown_argument_far", "frobnicate", frobnicate=1), refused("stdin_a_number", "stdin", stdin=1), refused("env_a_list", "env", env=["A=1"]),
    refused("env_value_a_number", "env", env={"A": 1}), refused("env_bad_name", "env", env={"A B": "1"}), refused("env_name_with_equals", "env", env={"A=B": "1"}),
    refused("env_empty_name", "env", env={"": "1"}), refused("env_nul", "env", env={"A": "x\0y"}),
    *(refused(f"env_{name}", "env", name, env={name: "x"}) for name in ("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "NODE_PATH", "http_proxy", "HTTPS_PROXY", "no_proxy")),
    refused("output_cap_zero", "max_output_bytes", max_output_bytes=0), refused("output_cap_text", "max_output_bytes", max_output_bytes="1"),
    refused("output_cap_raised", "max_output_bytes", max_output_bytes=1 << 40),
    Refused("no_arguments", {}, ["language"]), Refused("arguments_of_another_case", {"Language": "python", "Code": "print(1)"}, ["code"]),
]


@tests_of([Case(**(vars(c) | {"name": f"python_{c.name}"})) for c in PYTHON],
          [Case(**(vars(c) | {"name": f"javascript_{c.name}"})) for c in JAVASCRIPT], WRONG)
class Language(ServerTest):
    def post_call(self, arguments_json):
        return self.server.post(('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_execute","arguments":'
                                 + arguments_json + "}}").encode())

    def test_lone_surrogates_in_the_request(self):
        for text in ('print(len(\\"\\ud800x\\"))', "print('\\\\ud800')", '#\\udfff'):
            reply = self.post_call('{"language":"python","code":"' + text + '"}')
            json.dumps(reply.message, ensure_ascii=False).encode("utf-8")
            self.assertTrue(reply.error or reply.result, reply)
        self.assert_alive()

    def test_surrogate_pairs_are_one_character(self):
        reply = self.post_call('{"language":"python","code":"print(len(\\"\\ud83c\\udf88\\"))"}')
        self.assertEqual(reply.result["stdout"], "1\n")

    def test_every_path_is_named(self):
        reply = self.server.call(**(PY | {"env": {"OK": "1", "BAD": 5}}))
        self.assertIn("arguments.env.BAD", reply.text)
        self.assertIn("arguments.timeout_seconds", self.server.call(**(PY | {"timeout_seconds": -1})).text)

    def test_arguments_must_be_an_object(self):
        for arguments in ("[]", '"python"', "3"):
            reply = self.post_call(arguments)
            self.assertTrue(reply.error.get("code") == -32602 or reply.code == "INVALID_ARGUMENTS", reply)

    def test_a_member_given_twice_is_no_crash(self):
        self.assertIn(self.post_call('{"language":"python","code":"print(1)","code":"print(2)"}').status, (200, 400))
        self.assert_alive()


if __name__ == "__main__":
    unittest.main()
