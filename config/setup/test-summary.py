#!/usr/bin/env python3
"""test-summary.py REPORTS ALLOWED_SKIPS SUITE...: sums ctest's JUnit files up and closes with one plain line.

Exit status 1 when a test failed, when a suite that was asked for ran nothing, or, with
ASG_MUST_RUN=1, when a test was skipped for a reason whose key is not in ALLOWED_SKIPS.
"""

import os
import pathlib
import sys
import xml.etree.ElementTree

# Suites that may still be empty: their tests come with a later part of the work.
MAY_BE_EMPTY = {"vm"}


def read_report(report):
    """Yields (name, outcome, output) for every test of one JUnit file."""
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        if case.find("failure") is not None or case.get("status") == "fail":
            yield case.get("name"), "failed", output
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            yield case.get("name"), "skipped", output
        else:
            yield case.get("name"), "passed", output


def skip_reason(output):
    """The line a skipped test printed as "key: reason"."""
    lines = [line.strip() for line in output.splitlines() if ": " in line and not line.startswith("[")]
    return next((line for line in reversed(lines) if not line.endswith(": Skipped")), "no reason given")


def main():
    reports, allowed_file, suites = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    allowed = {line.split()[0] for line in allowed_file.read_text().splitlines() if line and line[0] != "#"}
    must_run = os.environ.get("ASG_MUST_RUN") == "1"
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for suite in suites:
        ran = 0
        for report in sorted(reports.glob(f"{suite}-*.xml")):
            for name, outcome, output in read_report(report):
                ran += 1
                reason = skip_reason(output) if outcome == "skipped" else ""
                if outcome == "skipped" and must_run and not any(f"{key}: " in output for key in allowed):
                    outcome, reason = "failed", f"skipped, and its reason is not in {allowed_file.name}: {reason}"
                if outcome != "passed":
                    print(f"{outcome}: {suite}: {name}: {reason}".rstrip(": "))
                counts[outcome] += 1
        if ran == 0 and suite in MAY_BE_EMPTY:
            print(f"suite {suite}: has no tests yet")
        elif ran == 0:
            print(f"failed: suite {suite} ran no tests")
            counts["failed"] += 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
