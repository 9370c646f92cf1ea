#!/usr/bin/env python3
"""The rules of src/README.md that a compiler does not check: include edges, sizes, what may stand behind a clone, and the
coroutine forms that g++ 12 miscompiles. Usage: architecture_test.py [ROOT]."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

# Who may include whom. A new module needs a line here.
EDGES = {
    "base": set(),
    "linux": {"base"},
    "config": {"base"},
    "sandbox": {"linux", "base"},
    "executor": {"sandbox", "linux", "config", "base"},
    "payment": {"config", "base"},
    "mcp": {"base"},
    "tools": {"mcp", "payment", "executor", "sandbox", "config", "base"},
    "http": {"mcp", "config", "base"},
    "app": {"base", "linux", "config", "sandbox", "executor", "payment", "mcp", "tools", "http"},
    "main": {"app", "base"},
}
# Of the sandbox, tools see values only.
TOOLS_SANDBOX_HEADERS = {"run_spec.hpp", "outcome.hpp", "limits.hpp"}
# Programs of their own, without a header of ours.
PROGRAMS = {"init", "runner"}

MAX_LINES = 400
SIZED = {".cpp", ".hpp", ".c", ".h", ".py", ".sh", ".js", ".cjs", ".mjs", ".cmake", ".txt"}

# Between clone and execve only system calls: another thread of the parent may have held any lock.
BANNED_AFTER_CLONE = [
    r"\w*alloc", r"free(?=\s*\()", r"new", r"delete", r"throw", r"try", r"std::(string|vector|function|map|set|deque|list)\b",
    r"std::(cout|cerr|make_unique|make_shared|unique_ptr|shared_ptr)", r"\w*printf", r"spdlog", r"fmt::", r"syslog",
    r"getenv", r"setenv", r"exit(?=\s*\()", r"strerror", r"fopen", r"opendir",
]


def code_only(text):
    """The text with comments and the inside of literals blanked; line breaks stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(match):
        found = match.group(0)
        if found[0] == "'" and re.match(r"[0-9A-Fa-f]", text[match.start() - 1:match.start()] or " "):
            return found  # a digit separator: 1'000'000
        keep = '""' if found[0] in 'R"' else "'0'" if found[0] == "'" else ""
        return keep + "\n" * found.count("\n")

    return pattern.sub(blank, text)


def line_of(code, offset):
    return code.count("\n", 0, offset) + 1


def includes(text):
    return re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M)


def edge_faults(module, text):
    """What is wrong with the includes of a file of this module."""
    faults = []
    for header in includes(text):
        if header.startswith("asg/"):
            _, other, *rest = header.split("/")
            if other != module and other not in EDGES[module]:
                faults.append(f"{module} may not include {header}")
            if module == "tools" and other == "sandbox" and "/".join(rest) not in TOOLS_SANDBOX_HEADERS:
                faults.append(f"tools may include values of the sandbox only, not {header}")
        elif ".." in header.split("/"):
            faults.append(f"no path upwards: {header}")
        elif header.startswith("boost/beast") and module != "http":
            faults.append(f"Beast belongs to src/http: {header}")
    return faults


def matching_end(code, start):
    """Where the expression that begins at start ends: before ; or , of its own level or the bracket around it."""
    depth = 0
    for offset in range(start, len(code)):
        if code[offset] in "([{":
            depth += 1
        elif code[offset] in ")]}":
            depth -= 1
            if depth < 0:
                return offset
        elif code[offset] in ";," and depth == 0:
            return offset
    return len(code)


def co_await_faults(text):
    """(line, fault) of each form that g++ 12 gets wrong: in a co_await expression only names, std::move(name), literals."""
    code = code_only(text)
    faults = []
    for found in re.finditer(r"\bco_await\b", code):
        line = line_of(code, found.start())
        expression = code[found.end():matching_end(code, found.end())]
        start = max(code.rfind(stop, 0, found.start()) for stop in ";{}")
        statement = code[start + 1:found.start()] + expression
        if "{" in expression:
            faults.append((line, "braces or a lambda in a co_await expression"))
        if "?" in statement:
            faults.append((line, "?: around co_await"))
        call = expression.find("(")
        inner = expression[call + 1:] if call >= 0 and expression[:call].strip() else ""
        for name in re.findall(r"([\w:.>-]*\w)(?:<[^<>()]*>)?\s*\(", inner):
            if name not in ("std::move", "std::forward"):
                faults.append((line, f"a temporary in a co_await expression: {name}(...)"))
    return faults


def banned_faults(text):
    code = code_only(text)
    code = re.sub(r"^\s*#[^\n]*", "", code, flags=re.M)
    return [(line_of(code, found.start()), found.group(1))
            for token in BANNED_AFTER_CLONE for found in re.finditer(r"(?<![\w.>])(" + token + r")(?:\b|(?<=\W))", code)]


def tracked(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "node_modules" not in path.parts:
                yield path


def sources(*folders):
    return (path for path in tracked(*folders) if path.suffix in (".cpp", ".hpp", ".c", ".h"))


def module_of(path):
    parts = path.relative_to(ROOT).parts
    if parts[0] == "include":
        return parts[2]
    return parts[1] if len(parts) > 2 else "main"


class Architecture(unittest.TestCase):
    def assert_none(self, faults):
        self.assertFalse(faults, "\n" + "\n".join(faults))

    def test_include_edges(self):
        faults = []
        for path in sources("include", "src"):
            module = module_of(path)
            if module in PROGRAMS:
                faults += [f"{path}: a program of its own may not include {header}"
                           for header in includes(path.read_text()) if header.startswith("asg/")]
            elif module not in EDGES:
                faults.append(f"{path}: module {module} is not in the table of edges")
            else:
                faults += [f"{path}: {fault}" for fault in edge_faults(module, path.read_text())]
        self.assert_none(faults)

    def test_edges_have_no_cycle(self):
        done = set()
        while len(done) < len(EDGES):
            ready = {module for module, below in EDGES.items() if module not in done and below <= done}
            self.assertTrue(ready, f"a cycle among {set(EDGES) - done}")
            done |= ready

    def test_no_beast_in_public_headers(self):
        self.assert_none([f"{path}: {header}" for path in sources("include")
                          for header in includes(path.read_text()) if header.startswith("boost/beast")])

    def test_file_sizes(self):
        self.assert_none([f"{path}: {count} lines, {MAX_LINES} at most"
                          for path in tracked("include", "src", "tests", "config", "docker") if path.suffix in SIZED
                          for count in [path.read_bytes().count(b"\n")] if count > MAX_LINES])

    def test_headers_are_included_once(self):
        self.assert_none([f"{path}: no #pragma once" for path in sources("include", "src", "tests")
                          if path.suffix == ".hpp" and "#pragma once" not in path.read_text()])

    def test_only_system_calls_after_clone(self):
        files = [path for path in tracked("src/sandbox") if path.name == "child.cpp"] + list(sources("src/init"))
        self.assert_none([f"{path}:{line}: {token}" for path in files
                          for line, token in banned_faults(path.read_text())])

    def test_co_await_forms(self):
        self.assert_none([f"{path}:{line}: {fault}" for path in sources("include", "src", "tests")
                          for line, fault in co_await_faults(path.read_text())])

    def test_nothing_is_left_for_later(self):
        word = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
        self.assert_none([f"{path}:{number}: {line.strip()}" for path in tracked("include", "src", "tests", "config")
                          if path.suffix in SIZED
                          for number, line in enumerate(path.read_text().splitlines(), 1) if word.search(line)])

    def test_unit_tests_do_not_sleep(self):
        self.assert_none([f"{path}: sleeps" for path in sources("tests/unit")
                          if re.search(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b", code_only(path.read_text()))])


class Checker(unittest.TestCase):
    """The checks themselves."""

    def test_edges(self):
        self.assertTrue(edge_faults("base", '#include "asg/linux/fd.hpp"'))
        self.assertTrue(edge_faults("mcp", '#include "asg/tools/registry.hpp"'))
        self.assertTrue(edge_faults("tools", '#include "asg/sandbox/launcher.hpp"'))
        self.assertTrue(edge_faults("executor", "#include <boost/beast/core.hpp>"))
        self.assertTrue(edge_faults("executor", '#include "../http/x.hpp"'))
        self.assertFalse(edge_faults("tools", '#include "asg/sandbox/outcome.hpp"'))
        self.assertFalse(edge_faults("http", '#include <boost/beast/core.hpp>\n#include "asg/mcp/x.hpp"'))

    def test_co_await(self):
        for bad in ("co_await take({.a = s});", "co_await take(Req{s, t});", "co_await take(Req(s, t));",
                    "co_await run([p] { return 1; });", "auto x = c ? y : co_await f(s);", "co_await f(std::string(s));",
                    "co_await f(make<int>(s));", "return g(co_await f(h(x)));", "co_await a.b(\n  c.d());"):
            self.assertTrue(co_await_faults("void f() {" + bad + "}"), bad)
        for good in ("co_await f(s);", "co_await f(std::move(s), 3, \"{?}\");", "auto [e, n] = co_await s.op(use_tuple);",
                     "auto x = co_await this_coro::executor;", "if (auto r = co_await f(); r) {}", "a && co_await f();",
                     "// co_await f({});\nco_await f(a, b);", "g(co_await f(x), h(y));", "co_await (f() || g());"):
            self.assertFalse(co_await_faults("void f() {" + good + "}"), good)

    def test_banned(self):
        for bad in ("malloc(3);", "auto p = new int;", "std::string s;", "throw 1;", "snprintf(b, 1, f);", "exit(1);",
                    "free(p);", "fmt::format(f)"):
            self.assertTrue(banned_faults(bad), bad)
        for good in ("_exit(1);", "// new malloc\nwrite(1, \"new\", 3);", "renew(x);", "freeze(x);", "stage.new_root = 1;",
                     "#include <new>\n"):
            self.assertFalse(banned_faults(good), good)

    def test_code_only(self):
        self.assertEqual(code_only("a // b\nc"), "a \nc")
        self.assertEqual(code_only('f("x\\"y", \'"\', R"(z")")'), 'f("", \'0\', "")')
        self.assertEqual(code_only("1'000'000 /* x\ny */ z"), "1'000'000 \n z")


if __name__ == "__main__":
    unittest.main()
