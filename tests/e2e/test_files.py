"""The file system of a run: writable where it must be, bounded, gone afterwards, and harmless to the server."""

import os
import unittest

import hostwatch
from cases import Case, ServerTest, tests_of

ORDINARY = [
    Case("where_one_may_write", "py", """
        import os, pathlib, tempfile
        print(os.getcwd(), os.environ["HOME"], tempfile.gettempdir())
        for place in (".", os.path.expanduser("~"), tempfile.gettempdir(), "/dev/shm"):
            p = pathlib.Path(place, "ü.txt"); p.write_text("漢"); print(p.read_text(), p.stat().st_uid == os.getuid()); p.unlink()
        """, out="/workspace /workspace /tmp\n" + "漢 True\n" * 4),
    Case("temporary_files", "py", """
        import os, tempfile
        with tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile("w+", dir=d) as f:
            f.write("é"); f.flush(); print(open(f.name).read(), os.listdir(d) == [os.path.basename(f.name)])
        print(tempfile.TemporaryFile().write(b"abc"), tempfile.SpooledTemporaryFile(10).write(b"x" * 99))
        """, out="é True\n3 99\n"),
    Case("trees_links_and_modes", "py", """
        import os, shutil
        os.makedirs("a/b/c"); open("a/b/f", "w").write("1"); os.link("a/b/f", "a/g"); os.symlink("b/f", "a/h"); os.chmod("a/b/f", 0o640)
        print(os.stat("a/g").st_nlink, open("a/h").read(), oct(os.stat("a/b/f").st_mode), shutil.copytree("a", "z", symlinks=True))
        os.rename("z", "y"); shutil.rmtree("a"); print(sorted(os.listdir("y")), os.path.islink("y/h"))
        """, out="2 1 0o100640 z\n['b', 'g', 'h'] True\n"),
    Case("locks_truncation_and_sync", "py", """
        import fcntl, os
        f = open("l", "w+b"); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX); f.truncate(10 ** 7); os.fsync(f.fileno())
        os.sync(); print(os.stat("l").st_size, os.stat("l").st_blocks)
        """, out="10000000 0\n"),
    Case("open_while_unlinked", "py", "f = open('u', 'w+'); import os; os.unlink('u'); f.write('kept'); f.seek(0); print(f.read())", out="kept\n"),
    Case("in_node", "js", """
        const fs = require('fs'), os = require('os'), path = require('path');
        fs.mkdirSync('a/b', { recursive: true }); fs.writeFileSync('a/b/é', 'x'); fs.cpSync('a', 'c', { recursive: true });
        console.log(fs.readdirSync('c/b'), process.cwd(), os.homedir(), os.tmpdir()); fs.rmSync('a', { recursive: true });
        fs.accessSync(os.homedir(), fs.constants.W_OK); console.log(fs.existsSync('a'));
        """, out="[ 'é' ] /workspace /workspace /tmp\nfalse\n"),
]

PLACES = ["/workspace", "/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/run/user", "/var/lock", "/home", "/root", "/mnt", "/opt",
          "/srv", "/var/cache", "/var/log", "/var/mail", "/usr/local", "/dev", "/proc", "/etc"]
PLANT = f"""
import os
for place in {PLACES}:
    for name in ("left-behind", ".left-behind"):
        try: open(os.path.join(place, name), "w").write("1")
        except OSError: pass
print("planted")
"""
LOOK_PY = f"""
import os
print([p for p in {PLACES} if os.path.isdir(p) and any("left-behind" in n for n in os.listdir(p))])
"""
LOOK_JS = f"""
const fs = require('fs');
console.log({PLACES}.filter(p => {{ try {{ return fs.readdirSync(p).some(n => n.includes('left-behind')); }} catch {{ return false; }} }}));
"""

SPECIAL = [
    Case("links_out_of_the_folder", "py", """
        import os
        for i, target in enumerate(("/etc/passwd", "/etc/shadow", "/proc/1/environ", "/proc/self/root", "/", "../..", "/proc/self/fd/0", "no")):
            os.symlink(target, f"l{i}")
        os.symlink("self", "self"); print(len(os.listdir()) >= 9)
        """, out="True\n"),
    Case("pipes_and_sockets", "py", """
        import os, socket
        os.mkfifo("pipe"); s = socket.socket(socket.AF_UNIX); s.bind("sock"); s.listen(); d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind("d")
        print("made")
        """, out="made\n", within=5),
    Case("odd_names", "py", r"""
        import os
        names = (b"two\nlines", b"-rf", b"--", b"\xff\xfe", b"q\"uote'", b" ", b"\t", b"*", b"$(id)", b"`id`", b"x" * 255, "名前".encode(), b"..a", b"\\")
        for n in names: open(n, "wb").close(); os.makedirs(b"dir-" + n[:200])
        print(len(os.listdir(b".")) >= 2 * len(names))
        """, out="True\n"),
    Case("unreadable_and_unwritable", "py", """
        import os
        for mode in (0, 0o111, 0o222, 0o444, 0o7777): os.makedirs(f"d{mode}/e"); open(f"d{mode}/f", "w").close(); os.chmod(f"d{mode}", mode)
        os.chmod(".", 0); print("made")
        """, out="made\n"),
    Case("a_deep_tree", "py", "import os\nfor _ in range(900): os.mkdir('d'); os.chdir('d')\nprint('deep')", out="deep\n"),
    Case("the_code_file_removed", "py", "import os; os.unlink(__file__); print(os.path.exists(__file__))", out="False\n"),
    Case("the_code_file_changed", "py", "open(__file__, 'w').write('changed'); print(open(__file__).read())", out="changed\n"),
    Case("the_folder_removed_from_inside", "py", "import os, shutil\nshutil.rmtree('/workspace', ignore_errors=True)\nprint('gone')", out="gone\n"),
]

BOUNDED = [
    Case("a_full_disk", "py", """
        import errno, os
        n = 0
        try:
            with open("big", "wb", buffering=0) as f:
                while n < 2048: n += f.write(b"\\0" * (1 << 20)) >> 20
        except OSError as e: print(errno.errorcode[e.errno], 200 <= n <= 256)
        os.unlink("big"); open("small", "w").write("fits again"); print(open("small").read())
        """, out="ENOSPC True\nfits again\n"),
    *(Case(f"a_full_{name}", "py", f"""
        n = 0
        try:
            with open("{place}/x", "wb", buffering=0) as f:
                while n < 4096: n += f.write(b"x" * (1 << 20)) >> 20
        except OSError as e: print(e.errno)
        print("bounded" if n < 600 else "no limit")
        """, out="28\nbounded\n") for name, place in (("tmp", "/tmp"), ("shared_memory", "/dev/shm"))),
    Case("all_places_together", "py", """
        n = 0
        for place in ("/workspace", "/tmp", "/dev/shm"):
            try:
                with open(place + "/x", "wb", buffering=0) as f:
                    while n < 4096: n += f.write(b"x" * (1 << 20)) >> 20
            except OSError as e: print(e.errno)
        print("bounded" if n < 600 else "no limit", n > 100)
        """, out="28\n28\n28\nbounded True\n"),
    Case("a_full_disk_in_node", "js", """
        const fs = require('fs'); const block = Buffer.alloc(4 << 20, 1);
        try { for (;;) fs.appendFileSync('big', block); } catch (e) { console.log(e.code); }
        """, out="ENOSPC\n"),
    Case("too_many_files", "py", """
        n = 0
        try:
            while n < 1_000_000: open(f"f{n}", "w").close(); n += 1
        except OSError as e: print(e.errno)
        print("bounded" if n < 20000 else "no limit", n > 5000)
        """, out="28\nbounded True\n", within=30),
    Case("too_many_open_files", "py", """
        import errno
        keep = []
        try:
            while len(keep) < 5000: keep.append(open("/dev/null"))
        except OSError as e: print(errno.errorcode[e.errno], 900 < len(keep) < 1024)
        """, out="EMFILE True\n"),
    Case("a_sparse_file", "py", "f = open('s', 'wb'); f.truncate(1 << 34); f.seek(1 << 33); f.write(b'x'); print('ok')", exit=None, out=None,
         err=None),
]

READ_ONLY = [
    Case("everything_else", "py", """
        import os, sys, sysconfig
        places = ["/", "/etc", "/usr", "/usr/bin", "/bin", "/lib", "/var", "/opt", "/home", "/root", "/dev", os.path.dirname(sys.executable),
                  sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"], "/proc", "/run"]
        for place in places:
            for act in (lambda p: open(p + "/probe", "w"), lambda p: os.mkdir(p + "/probe-d"), lambda p: os.symlink("x", p + "/probe-l")):
                try: act(place); print("WRITABLE", place)
                except OSError: pass
        for path in ("/etc/passwd", "/etc/hosts", sys.executable, os.__file__):
            for act in (lambda p: open(p, "a"), os.unlink, lambda p: os.chmod(p, 0o777), lambda p: os.rename(p, "/tmp/x")):
                try: act(path); print("CHANGED", path)
                except OSError: pass
        print("end")
        """, out="end\n"),
    Case("libraries_of_node", "js", """
        const fs = require('fs'), path = require('path'), dir = path.dirname(require.resolve('lodash'));
        try { fs.writeFileSync(dir + '/x', ''); console.log('WRITABLE'); } catch (e) { console.log(e.code); }
        """, out_re="^(EROFS|EACCES|EPERM)$"),
]


@tests_of(ORDINARY, SPECIAL, BOUNDED, READ_ONLY)
class Files(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.watch = hostwatch.Watch(cls.server.pid)

    def run_case(self, case):
        before = hostwatch.leftovers()
        super().run_case(case)
        if case in SPECIAL or case in BOUNDED:
            self.assertEqual(self.watch.more_processes(seconds=3), [])
            self.assertEqual(self.watch.more_cgroups(seconds=3), [])
            self.assertLessEqual(hostwatch.leftovers(), before)
            self.assert_alive()

    def test_nothing_is_there_for_the_next_call(self):
        for look, nothing, language in ((LOOK_PY, "[]\n", "python"), (LOOK_JS, "[]\n", "javascript")):
            self.assertEqual(self.server.call(language="python", code=PLANT).result["stdout"], "planted\n")
            for _ in range(3):
                reply = self.server.call(language=language, code=look)
                self.assertEqual(reply.result["stdout"], nothing, reply)

    def test_nothing_of_a_run_appears_on_the_host(self):
        mark = f"asg-e2e-{os.getpid()}"
        code = f"for p in ('/tmp', '/workspace', '/dev/shm'): open(p + '/{mark}', 'w').write('x')\nprint('w')\nimport time; time.sleep(0.3)"
        self.assertEqual(self.server.call(language="python", code=code).result["stdout"], "w\n")
        for place in ("/tmp", "/workspace", "/dev/shm", "/var/tmp"):
            self.assertFalse(os.path.exists(f"{place}/{mark}"), place)


if __name__ == "__main__":
    unittest.main()
