"""Files that a run returns: data in, files and pictures out, and nothing that is not the run's own regular file."""

import base64
import hashlib
import json
import pathlib
import textwrap
import time
import unittest

import contract
import harness
from cases import Case, ServerTest, refused, tests_of

PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


def content_of(file):
    return base64.b64decode(file["content"], validate=True) if file["encoding"] == "base64" else file["content"].encode()


def gives(files=None, errors=None, only=True):
    """A check: these files come back with these bytes, and these paths with these words as error."""
    files, errors = files or {}, errors or {}

    def check(test, run):
        whole = {file["path"]: file for file in run["files"] if "error" not in file}
        faulty = {file["path"]: file["error"] for file in run["files"] if "error" in file}
        if only:
            test.assertEqual((sorted(whole), sorted(faulty)), (sorted(files), sorted(errors)))
        for path, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            test.assertEqual((content_of(whole[path]), whole[path]["size"]), (content, len(content)), path)
        for path, words in errors.items():
            test.assertIn(words, faulty[path], path)

    return check


def wants(name, language, code, patterns, check=None, files=None, **more):
    args = {"output_files": patterns} | ({"files": files} if files else {}) | more.pop("args", {})
    return Case(name, language, code, check=check, args=args, **more)


def sent(path, content):
    """An input file of any bytes."""
    return {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}


ALL_BYTES = bytes(range(256)) * 300

ROUND_TRIPS = [
    *(wants(f"any_bytes_{language}", language, code, ["out.bin"], gives({"out.bin": ALL_BYTES[::-1]}), files=[sent("in.bin", ALL_BYTES)])
      for language, code in (("py", "open('out.bin', 'wb').write(open('in.bin', 'rb').read()[::-1])"),
                             ("js", "const fs = require('fs'); fs.writeFileSync('out.bin', fs.readFileSync('in.bin').reverse())"))),
    wants("text_stays_text", "py", "open('é.csv', 'w', encoding='utf-8').write('name,漢\\r\\n')", ["é.csv"],
          lambda test, run: test.assertEqual(run["files"], [{"path": "é.csv", "size": 10, "mime_type": "text/csv", "encoding": "utf-8",
                                                             "content": "name,漢\r\n"}])),
    wants("an_input_comes_back", "py", "pass", ["data/in.csv"], gives({"data/in.csv": "a,b\n1,2\n"}),
          files=[{"path": "data/in.csv", "content": "a,b\n1,2\n"}]),
    wants("an_empty_file", "py", "open('e', 'w')", ["e"], gives({"e": ""})),
    wants("data_in_table_out", "py", """
        import pandas as pd
        t = pd.read_csv("sales.csv"); t["total"] = t.price * t.count_; t.to_json("totals.json", orient="records"); print(len(t))
        """, ["totals.json"], gives({"totals.json": '[{"price":2,"count_":3,"total":6},{"price":5,"count_":1,"total":5}]'}),
          files=[{"path": "sales.csv", "content": "price,count_\n2,3\n5,1\n"}], out="2\n"),
    wants("a_module_of_ones_own", "py", "import helper; print(helper.x); open('o', 'w').write('1')", ["o"], gives({"o": "1"}),
          files=[{"path": "helper.py", "content": "x = 41"}], out="41\n"),
    wants("a_module_of_ones_own_in_node", "js", "console.log(require('./lib/h').x, require('./d.json').y)", ["lib/*"], gives({"lib/h.js": "exports.x = 1"}),
          files=[{"path": "lib/h.js", "content": "exports.x = 1"}, {"path": "d.json", "content": '{"y":2}'}], out="1 2\n"),
    wants("nothing_matches", "py", "pass", ["*.png", "a/**/*"], gives()),
    wants("what_is_named_and_missing", "py", "pass", ["missing.txt", "no/such/x"],
          gives(errors={"missing.txt": "No such file", "no/such/x": "No such file"})),
    wants("an_empty_list", "py", "open('x', 'w')", [], gives()),
]

TREE = """
import os
for p in ("a.txt", "b.txt", "c.csv", ".dot", "sub/d.txt", "sub/deep/e.txt", "sub/.git/f.txt"):
    os.makedirs(os.path.dirname(p) or ".", exist_ok=True); open(p, "w").write(p)
"""


def tree(*paths):
    return gives({path: path for path in paths})


GLOBS = [
    wants("star", "py", TREE, ["*.txt"], tree("a.txt", "b.txt")),
    wants("everything_but_the_program", "py", TREE, ["*"], tree("a.txt", "b.txt", "c.csv")),
    wants("two_stars", "py", TREE, ["**/*.txt"], tree("a.txt", "b.txt", "sub/d.txt", "sub/deep/e.txt")),
    wants("two_stars_in_between", "py", TREE, ["sub/**/e.txt"], tree("sub/deep/e.txt")),
    wants("one_star_one_directory", "py", TREE, ["*/*.txt"], tree("sub/d.txt")),
    wants("classes_and_question_marks", "py", TREE, ["[ab].txt", "?.csv"], tree("a.txt", "b.txt", "c.csv")),
    wants("names_with_a_dot", "py", TREE, [".*", "sub/.git/*"], tree(".dot", "sub/.git/f.txt")),
    wants("the_program_by_name", "py", "print(1)", ["main.py"], gives({"main.py": "print(1)"}), out="1\n"),
    wants("twice_the_same", "py", TREE, ["a.txt", "./a.txt", "a*"], tree("a.txt")),
    wants("brackets_in_a_name", "py", "open('r[1].txt', 'w').write('r')", ["r[1].txt"], gives({"r[1].txt": "r"})),
]


def listed(count, returned):
    def check(test, run):
        test.assertEqual(sum("error" not in file for file in run["files"]), returned)
        test.assertEqual(len(run["files"]), count)

    return check


def too_large(test, run):
    test.assertEqual([("error" in file, file["size"]) for file in run["files"]], [(False, 3 << 20), (False, 3 << 20), (True, 3 << 20), (False, 9)])
    test.assertIn("size", run["files"][2]["error"])


BOUNDS = [
    wants("thirty_two_files", "py", "for i in range(32): open(f'f{i:02}', 'w').write('x')", ["f*"], listed(32, 32)),
    wants("more_files", "py", "for i in range(40): open(f'f{i:02}', 'w').write('x')", ["f*"], listed(40, 32)),
    wants("sixteen_thousand_files", "py", "for i in range(16000): open(f'f{i:05}', 'w').close()", ["**/*"], listed(65, 32), within=30),
    wants("sixteen_thousand_links_and_a_file", "py", "import os\nfor i in range(16000): os.symlink('/etc/passwd', f'a{i}')\nopen('z', 'w').write('z')",
          ["*"], gives({"z": "z"}, only=False), within=30),
    wants("eight_mebibytes_exactly", "py", "open('a', 'wb').write(b'\\xff' * (8 << 20))", ["a"], listed(1, 1)),
    wants("a_byte_more", "py", "open('a', 'wb').write(b'x' * ((8 << 20) + 1))", ["a"], gives(errors={"a": "too large: size 8388609"})),
    wants("what_still_fits", "py", "for n in 'abc': open(n, 'wb').write(n.encode() * (3 << 20))\nopen('d', 'w').write('nine byte')", ["*"], too_large),
    wants("a_sparse_tebibyte", "py", "open('s', 'wb').truncate(1 << 40); open('t', 'w').write('t')", ["*"], gives({"t": "t"}, {"s": "size 1099511627776"})),
    wants("a_sparse_file_that_fits", "py", "f = open('s', 'wb'); f.truncate(1 << 20)", ["s"], gives({"s": bytes(1 << 20)})),
    wants("a_deep_tree", "py", "import os\nfor _ in range(900): os.mkdir('d'); os.chdir('d')\nopen('bottom', 'w')", ["**/bottom", "d/d/**"], gives()),
]

LINKS = """
import os
os.mkdir("real"); open("real/x", "w").write("mine")
targets = {"passwd": "/etc/passwd", "shadow": "/etc/shadow", "environ": "/proc/1/environ", "self": "/proc/self/environ",
           "fd": "/proc/self/fd/0", "root": "/proc/self/root/etc/hostname", "disk": "/", "up": "..", "far": "../../../../etc/hostname",
           "inside": "real/x", "dir": "real", "loop": "loop", "dangling": "nowhere", "abs": "/workspace/real/x"}
for name, target in targets.items(): os.symlink(target, name)
"""
LINK_NAMES = ("abs", "dangling", "dir", "disk", "environ", "far", "fd", "inside", "loop", "passwd", "root", "self", "shadow", "up")


def no_secrets(test, run):
    for file in run["files"]:
        test.assertTrue("error" in file or file["path"] in ("real/x",), file)
    for word in ("root:", "PATH=", "asg-sandbox-"):
        test.assertNotIn(word, json.dumps(run["files"]))


def own_or_nothing(test, run):
    for file in run["files"]:
        test.assertTrue("error" in file or content_of(file) in (b"plain", b"x"), file)


def whole_or_too_large(test, run):
    (file,) = run["files"]
    if "error" in file:
        test.assertIn("too large", file["error"])
    else:
        test.assertEqual((len(content_of(file)), set(content_of(file))), (file["size"], set(b"x")))


HOSTILE = [
    wants("links_by_name", "py", LINKS, list(LINK_NAMES), gives(errors={name: "is a symbolic link" for name in LINK_NAMES})),
    wants("links_by_glob", "py", LINKS, ["**/*"], lambda test, run: (no_secrets(test, run), test.assertEqual(len(run["files"]), 15))),
    wants("through_links", "py", LINKS, ["dir/x", "disk/etc/passwd", "up/etc/passwd", "dir/*", "disk/etc/*", "up/**"],
          gives(errors={path: "leads through a link" for path in ("dir/x", "disk/etc/passwd", "up/etc/passwd")})),
    wants("fifos_and_sockets", "py", """
        import os, socket
        os.mkfifo("pipe.txt"); s = socket.socket(socket.AF_UNIX); s.bind("sock.txt"); os.mkdir("folder.txt"); open("plain.txt", "w").write("p")
        """, ["pipe.txt", "sock.txt", "folder.txt", "*"],
          gives({"plain.txt": "p"}, {"pipe.txt": "not a regular file", "sock.txt": "not a regular file", "folder.txt": "is a directory"}), within=5),
    wants("modes_that_forbid_reading", "py", """
        import os
        os.makedirs("d/e"); open("d/e/f", "w").write("deep"); open("f", "w").write("f")
        for p in ("d/e/f", "d/e", "d", "f", "."): os.chmod(p, 0)
        """, ["**/*", "d/e/f"], gives({"d/e/f": "deep", "f": "f"})),
    wants("odd_names", "py", r"""
        for n in (b"two\nlines", b"-rf", b"q\"uote'", b" ", b"\t", b"$(id)", b"x" * 255, "名前".encode(), b"\\", b"\xff\xfe"): open(n, "wb").write(b"1")
        """, ["*"], gives({name: "1" for name in ("two\nlines", "-rf", "q\"uote'", " ", "\t", "$(id)", "x" * 255, "名前", "\\", "\ufffd\ufffd")})),
    wants("odd_names_by_name", "py", r"""
        import os
        for n in ("two\nlines", "-rf", "q\"uote'", " ", "dir with space/名前"): os.makedirs(os.path.dirname(n) or ".", exist_ok=True); open(n, "w").write(n)
        """, ["two\nlines", "-rf", "q\"uote'", " ", "dir with space/名前"],
          gives({name: name for name in ("two\nlines", "-rf", "q\"uote'", " ", "dir with space/名前")})),
    wants("hard_links_to_what_is_not_ones_own", "py", """
        import os
        for target in ("/etc/passwd", "/proc/self/environ", "/usr/bin/env"):
            try: os.link(target, "hard-" + os.path.basename(target)); print("LINKED", target)
            except OSError: pass
        """, ["*"], gives(), out=""),
    wants("the_folder_cannot_be_replaced", "py", """
        import os, shutil
        open("/tmp/outside", "w").write("outside")
        for act in (lambda: os.rename("/workspace", "/tmp/moved"), lambda: os.rmdir("/workspace"), lambda: os.symlink("/tmp", "/workspace")):
            try: act(); print("REPLACED")
            except OSError: pass
        shutil.rmtree("/workspace", ignore_errors=True); print(os.listdir("/workspace"))
        open("/workspace/new", "w").write("new")
        """, ["*", "outside"], gives({"new": "new"}, {"outside": "No such file"}), out="[]\n"),
    wants("another_working_directory", "py", "import os; os.makedirs('/tmp/w'); os.chdir('/tmp/w'); open('x', 'w').write('tmp')", ["x"],
          gives(errors={"x": "No such file"})),
    wants("a_file_that_was_unlinked", "py", "import os; f = open('u', 'w'); f.write('u'); os.unlink('u')", ["u", "*"], gives(errors={"u": "No such file"})),
    wants("background_processes_that_race_links", "py", """
        import os, time
        open("plain", "w").write("plain"); os.symlink("/etc/passwd", "link"); os.mkdir("d"); open("d/x", "w").write("x"); os.symlink("/etc", "e")
        for a, b in (("plain", "link"), ("d", "e")):
            if os.fork() == 0:
                os.setsid()
                if os.fork(): os._exit(0)
                for n in range(10 ** 9):
                    t = f"t{a}"; os.rename(a, t); os.rename(b, a); os.rename(t, b)
        time.sleep(0.2); os._exit(0)
        """, ["plain", "link", "d/x", "e/x", "d/passwd", "e/passwd", "*"], own_or_nothing),
    wants("a_background_process_that_writes_on", "py", """
        import os, time
        if os.fork() == 0:
            with open("log", "ab", buffering=0) as f:
                while True: f.write(b"x" * 100)
        time.sleep(0.1); os._exit(0)
        """, ["log"], whole_or_too_large),
]


KEPT = "open('kept', 'w').write('kept')\n"
ENDS = [
    wants("after_a_time_limit", "py", KEPT + "import time; time.sleep(60)", ["kept"], gives({"kept": "kept"}), exit=124, timed_out=True,
          args={"timeout_seconds": 0.5}, err=None),
    wants("after_a_time_limit_in_node", "js", "require('fs').writeFileSync('kept', 'kept'); setInterval(() => {}, 9)", ["k*"], gives({"kept": "kept"}),
          exit=124, timed_out=True, args={"timeout_seconds": 1}, err=None),
    wants("after_the_memory_limit", "py", KEPT + "b = []\nwhile True: b.append(bytearray(b'1') * (32 << 20))", ["kept"], gives({"kept": "kept"}),
          exit=(1, 137), oom=True, err=None),
    wants("after_a_signal", "py", KEPT + "import os; os.abort()", ["kept"], gives({"kept": "kept"}), exit=134, signal="SIGABRT", err=None),
    wants("after_an_exception", "py", KEPT + "1 / 0", ["kept"], gives({"kept": "kept"}), exit=1, err=None),
    wants("after_a_syntax_error", "py", "(", ["kept"], gives(errors={"kept": "No such file"}), exit=1, err=None),
    wants("after_a_full_disk", "py", KEPT + "f = open('/tmp/big', 'wb', buffering=0)\nwhile f.write(b'x' * (1 << 20)): pass", ["kept"], gives({"kept": "kept"}),
          exit=1, err=None),
    wants("after_exec_of_something_else", "py", "import os; os.execv('/bin/sh', ['sh', '-c', 'echo shell > kept'])", ["kept"], gives({"kept": "shell\n"})),
    wants("not_flushed_is_not_there", "py", "f = open('kept', 'w'); f.write('x'); import os; os._exit(0)", ["kept"], gives({"kept": ""})),
]


def image_blocks(*kinds):
    """A check: one image block for each picture, in order, with the base64 of its file."""

    def check(test, run):
        blocks = [block for block in run["content"] if block["type"] == "image"]
        pictures = [file for file in run["files"] if file.get("mime_type") in PICTURES]
        test.assertEqual([block["mimeType"] for block in blocks], list(kinds))
        test.assertEqual([block["data"] for block in blocks], [file["content"] for file in pictures])
        for word in run["stdout"].splitlines():  # what the program itself says of its files
            path, digest = word.rsplit(" ", 1)
            file = next(file for file in run["files"] if file["path"] == path)
            test.assertEqual(hashlib.sha256(content_of(file)).hexdigest(), digest)

    return check


PILLOW = """
import hashlib
from PIL import Image, ImageDraw
image = Image.new("RGB", (120, 80), "white"); ImageDraw.Draw(image).line((0, 79, 119, 0), fill="red", width=3)
for name in ("a.png", "b.jpg", "c.gif", "d.webp"):
    image.save(name); print(name, hashlib.sha256(open(name, "rb").read()).hexdigest())
"""

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PICTURE_CASES = [
    wants("pillow_bit_for_bit", "py", PILLOW, ["*"], image_blocks("image/png", "image/jpeg", "image/gif", "image/webp")),
    wants("through_pillow_and_back", "py", """
        from PIL import Image
        i = Image.open("in.png"); print(i.size, i.mode); i.resize((2, 2)).save("out.png"); print(Image.open("out.png").size)
        """, ["in.png"], gives({"in.png": PIXEL}), files=[sent("in.png", PIXEL)], out="(1, 1) RGBA\n(2, 2)\n"),
    wants("from_node", "js", f"require('fs').writeFileSync('p.png', Buffer.from('{base64.b64encode(PIXEL).decode()}', 'base64'))", ["p.png"],
          lambda test, run: (image_blocks("image/png")(test, run), gives({"p.png": PIXEL})(test, run))),
    wants("by_first_bytes_not_by_name", "py", "open('a.png', 'w').write('no picture'); open('b.txt', 'wb').write(open('in', 'rb').read())", ["a.png", "b.txt"],
          image_blocks("image/png"), files=[sent("in", PIXEL)]),
    wants("svg_as_text", "py", "open('s.svg', 'w').write('<svg/>')", ["s.svg"],
          lambda test, run: test.assertEqual([(f["mime_type"], f["encoding"], f["content"]) for f in run["files"]], [("image/svg+xml", "utf-8", "<svg/>")])),
    Case("a_plotting_library_finds_its_place", "py", """
        import os
        os.makedirs(os.environ["MPLCONFIGDIR"]); open(os.environ["MPLCONFIGDIR"] + "/x", "w"); print(os.environ["MPLBACKEND"], os.environ.get("DISPLAY"))
        """, out="Agg None\n"),
]

BAD = [
    refused("an_absolute_path", "arguments.output_files[0]", "relative", output_files=["/etc/passwd"]),
    refused("a_path_upwards", "arguments.output_files[1]", "..", output_files=["ok", "a/../../x"]),
    refused("a_glob_upwards", "arguments.output_files[0]", "..", output_files=["../*"]),
    refused("an_empty_path", "arguments.output_files[0]", "empty", output_files=[""]),
    refused("a_nul", "arguments.output_files[0]", "NUL", output_files=["a\0b"]),
    refused("a_folder", "arguments.output_files[0]", "folder", output_files=["out/"]),
    refused("too_many_patterns", "arguments.output_files", "32", output_files=["x"] * 33),
    refused("not_a_list", "arguments.output_files", "array", output_files="x"),
    refused("not_a_string", "arguments.output_files[0]", "string", output_files=[1]),
    refused("a_very_long_path", "arguments.output_files[0]", "size", output_files=["a/" * 600 + "b"]),
    refused("an_input_upwards", "arguments.files[0].path", "..", files=[{"path": "../x", "content": ""}]),
    refused("an_input_in_place_of_the_code", "arguments.files[0].path", "taken", files=[{"path": "main.py", "content": ""}]),
    refused("an_input_that_is_a_folder_of_another", "arguments.files[1].path", "taken", files=[{"path": "a/b", "content": ""}, {"path": "a", "content": ""}]),
    refused("bad_base64", "arguments.files[0].content", "base64", files=[{"path": "x", "content": "?", "encoding": "base64"}]),
    refused("an_unknown_encoding", "arguments.files[0].encoding", files=[{"path": "x", "content": "", "encoding": "latin-1"}]),
    refused("too_many_inputs", "arguments.files", "64", files=[{"path": f"f{i}", "content": ""} for i in range(65)]),
    refused("inputs_too_large", "arguments.files", "size", files=[{"path": f"f{i}", "content": "x" * (3 << 20)} for i in range(3)]),
]


@tests_of(ROUND_TRIPS, GLOBS, BOUNDS, HOSTILE, ENDS, PICTURE_CASES, BAD)
class OutputFiles(ServerTest):
    SECTIONS = {"limits": {"max_concurrent": 3}}

    def test_without_the_argument_nothing_is_collected(self):
        run = self.server.call(language="python", code="open('x', 'w').write('x')").result
        self.assertNotIn("files", run)

    def test_inputs_can_be_changed_and_are_ones_own(self):
        reply = self.server.call(language="python", code=textwrap.dedent("""
            import os
            i = os.stat("d/in"); print(i.st_uid == os.getuid(), oct(i.st_mode & 0o777), os.stat("d").st_uid == os.getuid())
            open("d/in", "a").write(" more"); os.rename("d/in", "d/out")
            """), files=[{"path": "d/in", "content": "given"}], output_files=["d/*"])
        self.assertEqual(reply.result["stdout"], "True 0o644 True\n", reply)
        gives({"d/out": "given more"})(self, reply.result)

    def test_sixty_four_inputs_of_eight_mebibytes(self):
        files = [{"path": f"f{i:02}", "content": "x" * (128 << 10)} for i in range(64)]
        reply = self.server.call(language="python", code="import os; print(sum(os.path.getsize(f'f{i:02}') for i in range(64)))", files=files,
                                 output_files=["f0*"])
        self.assertEqual(reply.result["stdout"], f"{8 << 20}\n", reply)
        self.assertEqual([len(file["content"]) for file in reply.result["files"]], [128 << 10] * 10)

    def test_collecting_does_not_hold_up_others(self):
        """Many who ask for much at once: each gets its own."""
        from concurrent.futures import ThreadPoolExecutor

        def one(number):
            return self.server.call(language="python", code=f"for i in range(200): open(f'f{{i}}', 'w').write('{number}')\nopen('own', 'wb').write(b'{number}' * 500000)",
                                    output_files=["own", "f1?", "**/*"])

        with ThreadPoolExecutor(12) as pool:
            for number, reply in enumerate(pool.map(one, range(10, 34))):
                contract.check(self, reply)
                self.assertEqual({content_of(file)[:2] for file in reply.result["files"] if "error" not in file}, {str(number + 10).encode()}, reply.text[:300])
        self.assert_alive()

    def test_the_chart_of_the_readme(self):
        folder = pathlib.Path(__file__).parent / "chart"
        arguments = json.loads((folder / "call.json").read_text())["params"]["arguments"]
        run = self.server.call(**arguments).result
        self.assertEqual((run["exit_code"], run["stderr"]), (0, ""), run)
        chart = content_of(run["files"][0])
        self.assertEqual([block["data"] for block in run["content"] if block["type"] == "image"], [run["files"][0]["content"]])
        self.assertEqual(chart[:24], (folder / "chart.png").read_bytes()[:24], "another kind or size of picture than README shows")

    def test_the_answer_does_not_wait_for_a_pipe(self):
        code = "import os\nos.mkfifo('p')\nif os.fork() == 0:\n    open('p', 'w')\n"
        started = time.monotonic()
        reply = self.server.call(language="python", code=code, output_files=["p"])
        self.assertLess(time.monotonic() - started, harness.stretched(4))
        gives(errors={"p": "not a regular file"})(self, reply.result)


if __name__ == "__main__":
    unittest.main()
