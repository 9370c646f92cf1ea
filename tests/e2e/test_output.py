"""Output comes back whole, in order, decoded once, and bounded, whatever ends the run."""

import unittest

from cases import Case, ServerTest, tests_of

MIB = 1 << 20
MARKER = r"^\[\.\.\. \d+ bytes left out \.\.\.\]$"

BYTES = [
    Case("characters_byte_by_byte", "py", """
        import os, time
        for byte in "añ≈漢🦊\\n".encode(): os.write(1, bytes([byte])); time.sleep(0.02)
        """, out="añ≈漢🦊\n"),
    Case("characters_byte_by_byte_on_stderr", "py", """
        import os, time
        for byte in "ü🎉".encode(): os.write(2, bytes([byte])); time.sleep(0.02)
        """, out="", err="ü🎉"),
    Case("characters_across_chunks_in_node", "js", """
        const bytes = Buffer.from('Ω猫🎈'); let i = 0;
        const next = () => i < bytes.length ? process.stdout.write(bytes.subarray(i, ++i), () => setTimeout(next, 10)) : 0; next();
        """, out="Ω猫🎈"),
    Case("all_byte_values", "py", """
        import os
        os.write(1, bytes(range(256))); os.write(2, bytes(range(255, -1, -1))); print("\\nlast")
        """, out_has=["\n\x0b", "abc", "\nlast\n"], err_has=["cba"],
         check=lambda test, run: test.assertEqual((run["stdout_bytes"], run["stderr_bytes"]), (262, 256))),
    Case("a_cut_character_at_the_end", "py", "import os; os.write(1, 'ok é'.encode()[:-1])", out="ok \ufffd"),
    Case("overlong_and_surrogate_bytes", "py", r"import os; os.write(1, b'<\xc0\x80\xed\xa0\x80>')", out_re="^<\ufffd+>$"),
    Case("nul_bytes", "py", "import sys; sys.stdout.write('x\\0y\\0'); sys.stderr.write('\\0e')", out="x\0y\0", err="\0e"),
    Case("nul_bytes_in_node", "js", "process.stdout.write('x\\0y'); process.stderr.write('e\\0')", out="x\0y", err="e\0"),
    Case("control_characters", "py", "print('\\x1b[31mred\\x1b[0m\\a\\b\\t|\\r|\\x7f|\\x85|\\u2028|\\ufeff')",
         out="\x1b[31mred\x1b[0m\a\b\t|\r|\x7f|\x85|\u2028|\ufeff\n"),
    Case("windows_line_ends", "py", "import sys; sys.stdout.write('a\\r\\nb\\r\\n')", out="a\r\nb\r\n"),
    Case("json_in_output", "py", "import json; print(json.dumps({'a\"': '\\\\', 'b': None}))", out='{"a\\"": "\\\\", "b": null}\n'),
    Case("lone_surrogate_in_python", "py", "print('one'); print('\\ud800')", exit=1, out="one\n", err_has=["UnicodeEncodeError"]),
    Case("lone_surrogate_in_node", "js", "console.log('a' + '\\ud83d' + 'b')", out="a\ufffdb\n"),
    Case("no_newline_at_the_end", "py", "print('end', end='')", out="end"),
    Case("nothing_at_all", "py", "x = 1", out=""),
    Case("nothing_at_all_in_node", "js", "let x = 1;", out=""),
]

STREAMS = [
    Case("apart_and_in_order", "py", """
        import sys
        for i in range(5): print("o", i); print("e", i, file=sys.stderr)
        """, out="".join(f"o {i}\n" for i in range(5)), err="".join(f"e {i}\n" for i in range(5))),
    Case("apart_in_node", "js", "for (const i of [1, 2]) { console.log('o' + i); console.warn('w' + i); console.error('e' + i); }",
         out="o1\no2\n", err="w1\ne1\nw2\ne2\n"),
    Case("notes_on_stderr_are_no_failure", "py", """
        import logging, sys, warnings
        logging.getLogger("app").error("only a log line"); warnings.warn("beware"); print("done")
        """, out="done\n", err_has=["only a log line", "beware"]),
    Case("device_files", "py", """
        for path, text in (("/dev/stdout", "one"), ("/dev/fd/1", "two"), ("/proc/self/fd/1", "three"), ("/dev/stderr", "err")):
            with open(path, "w") as f: f.write(text + "\\n")
        print("four")
        """, out="one\ntwo\nthree\nfour\n", err="err\n"),
    Case("device_files_in_node", "js", """
        const fs = require('fs'); fs.writeFileSync('/dev/stdout', 'a\\n'); fs.writeSync(1, 'b\\n'); fs.writeSync(2, 'c\\n');
        """, out="a\nb\n", err="c\n"),
    Case("redirected_descriptors", "py", """
        import os, sys
        print("before", flush=True); keep = os.dup(1); os.dup2(2, 1); print("to stderr", flush=True); os.dup2(keep, 1); print("after")
        """, out="before\nafter\n", err="to stderr\n"),
    Case("children_write_to_the_same_stream", "py", """
        import subprocess, sys
        print("parent"); subprocess.run([sys.executable, "-c", "print('child')"]); print("parent again")
        """, out="parent\nchild\nparent again\n"),
    Case("at_exit", "py", "import atexit; atexit.register(print, 'bye'); print('hi')", out="hi\nbye\n"),
    Case("closed_stdout_is_no_failure", "py", "import os; print('x', flush=True); os.close(1); os._exit(0)", out="x\n"),
    Case("binary_layer", "py", "import sys; sys.stdout.buffer.write(b'\\xc3\\xa9\\n'); sys.stdout.flush(); print('t')", out="é\nt\n"),
    Case("threads_at_the_end", "py", """
        import threading, time
        def late(): time.sleep(0.2); print("late")
        threading.Thread(target=late).start(); print("main")
        """, out="main\nlate\n"),
]

LARGE = [
    Case("thirty_kilobytes_whole", "py", "for i in range(3500): print('line', i)", out="".join(f"line {i}\n" for i in range(3500))),
    Case("exactly_the_cap", "py", f"import sys; sys.stdout.write('c' * {MIB})", out="c" * MIB),
    Case("one_byte_beyond_the_cap", "py", f"import sys; sys.stdout.write('c' * {MIB + 1})", truncated=["stdout"], out_re=MARKER,
         check=lambda test, run: test.assertEqual(run["stdout_bytes"], MIB + 1)),
    Case("head_and_tail_kept_with_the_status", "py", """
        import sys
        for i in range(500000): print(i)
        sys.exit(6)
        """, exit=6, truncated=["stdout"], out_re=MARKER, out_has=["0\n1\n2\n", "499998\n499999\n"], within=15,
         check=lambda test, run: (test.assertEqual(run["stdout_bytes"], 3388890), test.assertEqual(run["stdout"].count("left out"), 1),
                                  test.assertGreater(len(run["stdout"]), MIB * 0.95))),
    Case("one_long_line", "py", "import sys; sys.stdout.write('q' * 3_000_000)", truncated=["stdout"], within=10,
         check=lambda test, run: test.assertEqual(run["stdout_bytes"], 3_000_000)),
    Case("wide_characters_at_the_cuts", "py", "print('x' + '🦊猫' * 400_000)", truncated=["stdout"], out_not=["\ufffd"]),
    Case("stderr_flood_leaves_stdout_whole", "py", """
        import sys
        print("first")
        for _ in range(30000): sys.stderr.write("e" * 499 + "\\n")
        print("last"); sys.exit(9)
        """, exit=9, out="first\nlast\n", err_has=["bytes left out"], truncated=["stderr"], within=15),
    Case("both_streams_flooded", "js", """
        for (let i = 0; i < 40000; i++) { process.stdout.write('o'.repeat(99) + '\\n'); process.stderr.write('e'.repeat(99) + '\\n'); }
        """, err_has=["eeee"], truncated=["stdout", "stderr"], within=15,
         check=lambda test, run: test.assertEqual((run["stdout_bytes"], run["stderr_bytes"]), (4_000_000, 4_000_000))),
    Case("endless_printing", "py", "while True: print('0123456789' * 9)", exit=124, timed_out=True, truncated=["stdout"],
         out_has=["0123456789"], args={"timeout_seconds": 2}, within=6),
    Case("endless_printing_in_node", "js", "for (;;) require('fs').writeSync(1, 'abcdefghij'.repeat(100));", exit=124, timed_out=True,
         truncated=["stdout"], args={"timeout_seconds": 2}, within=6),
    Case("endless_stderr", "py", "import os\nwhile True: os.write(2, b'e' * 65536)", exit=124, timed_out=True, err_has=["eee"],
         truncated=["stderr"], out="", args={"timeout_seconds": 1.5}, within=6),
    Case("lower_cap_by_argument", "py", "print('a' * 5000); print('z' * 5000)", truncated=["stdout"], out_re=MARKER,
         args={"max_output_bytes": 1000}, check=lambda test, run: (test.assertLessEqual(len(run["stdout"]), 1100),
                                                                    test.assertTrue(run["stdout"].startswith("aaaa")),
                                                                    test.assertTrue(run["stdout"].endswith("zz\n")))),
    Case("lower_cap_not_reached", "py", "print('a' * 99)", out="a" * 99 + "\n", args={"max_output_bytes": 1000}),
]

ENDS = [
    Case("node_exit_after_a_large_line", "js", "console.log('n'.repeat(400000)); process.exit(0);", out="n" * 400000 + "\n"),
    Case("node_exit_after_large_stderr", "js", "console.error('n'.repeat(300000)); process.exit(3);", exit=3, err="n" * 300000 + "\n"),
    Case("node_exit_after_many_writes", "js", """
        for (let i = 0; i < 20000; i++) process.stdout.write(`row ${i}\\n`);
        process.exit(2);
        """, exit=2, out="".join(f"row {i}\n" for i in range(20000))),
    Case("node_exit_in_a_callback", "js", "setTimeout(() => { console.log('x'.repeat(200000)); process.exit(); }, 30)", out="x" * 200000 + "\n"),
    Case("node_throw_after_a_large_line", "js", "console.log('t'.repeat(300000)); throw new Error('after');", exit=1,
         out="t" * 300000 + "\n", err_has=["Error: after"]),
    Case("python_exit_without_cleanup", "py", "import os; print('kept'); os._exit(5)", exit=5, out="kept\n"),
    Case("unflushed_at_the_time_limit", "py", "import time; print('one'); print('two', end=''); time.sleep(60)", exit=124,
         timed_out=True, out="one\ntwo", args={"timeout_seconds": 1}, within=4),
    Case("unflushed_at_the_time_limit_in_node", "js", "process.stdout.write('one'); console.log(); setInterval(() => {}, 50);", exit=124,
         timed_out=True, out="one\n", args={"timeout_seconds": 1}, within=4),
    Case("busy_after_output_in_node", "js", "console.log('w'.repeat(70000)); for (;;);", exit=124, timed_out=True,
         out="w" * 70000 + "\n", args={"timeout_seconds": 1}, within=4),
    Case("both_streams_at_the_time_limit", "py", """
        import sys, time
        sys.stdout.write("out"); sys.stderr.write("err"); time.sleep(60)
        """, exit=124, timed_out=True, out="out", err="err", args={"timeout_seconds": 1}, within=4),
    Case("output_before_a_crash", "py", "import os, signal; print('seen'); os.kill(os.getpid(), signal.SIGSEGV)", exit=139,
         signal="SIGSEGV", out="seen\n"),
    Case("output_before_out_of_memory", "py", """
        print("seen")
        hog = []
        while True: hog.append(bytearray(b"x") * (16 << 20))
        """, exit=None, oom=True, out="seen\n", err=None),
    Case("output_of_a_child_at_the_time_limit", "py", """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import time; print('child'); time.sleep(60)"])
        """, exit=124, timed_out=True, out="child\n", args={"timeout_seconds": 1.5}, within=5),
    Case("last_words_of_a_background_child_are_not_waited_for", "py", """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30); print('late')"]); print("now")
        """, out="now\n", within=4),
]


@tests_of(BYTES, STREAMS, LARGE, ENDS)
class Output(ServerTest):
    pass


if __name__ == "__main__":
    unittest.main()
