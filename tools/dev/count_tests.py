#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up test cases: those of GoogleTest reports, and one for every other ctest entry.

    count_tests.py CTEST_JUNIT REPORTS_DIR CTEST_EXIT_CODE EXTRA_PASSED EXTRA_FAILED

Prints 'N passed, N failed' (and ', N skipped' when there are some); exits 1 if anything failed or
nothing ran.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree


def ctest_entries(path):
    """Maps the name of each ctest entry to passed, failed or skipped."""
    words = {"run": "passed", "notrun": "skipped", "disabled": "skipped"}
    return {case.get("name"): words.get(case.get("status"), "failed")
            for case in ElementTree.parse(path).getroot().iter("testcase")}


def gtest_counts(path):
    """Counts by outcome in a GoogleTest report; None if there is no complete report."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in root.iter("testcase"):
        if case.find("failure") is not None:
            counts["failed"] += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            counts["skipped"] += 1
        else:
            counts["passed"] += 1
    return counts


def count(junit, reports):
    """Total counts by outcome."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    for name, outcome in ctest_entries(junit).items():
        counts = gtest_counts(os.path.join(reports, name + ".xml"))
        if counts is None:
            counts = {outcome: 1}
        elif outcome == "failed" and not counts["failed"]:
            counts["failed"] = 1  # it died or timed out after its last good case
        for key, value in counts.items():
            total[key] += value
    return total


def main():
    junit, reports = sys.argv[1:3]
    ctest_code, extra_passed, extra_failed = map(int, sys.argv[3:6])
    total = count(junit, reports)
    if ctest_code and not total["failed"]:
        total["failed"] = 1  # such as a program that is missing, which ctest reports as not run
    total["passed"] += extra_passed
    total["failed"] += extra_failed
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
