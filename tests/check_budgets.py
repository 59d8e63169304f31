#!/usr/bin/env python3
"""Holds each CTest label to its time budget.

usage: check_budgets.py BUDGETS.json JUNIT.xml...

Each JUnit file lies in the folder of its build (build/asan/junit.xml), beside what `ctest --show-only=json-v1` says of the
same tests (tests.json: JUnit files of CMake 3.25 tell no labels). The budget is in seconds: the sum of the times of
all tests of the label in one build. A label or a build without a budget is an error, so that none is forgotten; a build
that BUDGETS does not know (build/quick, build/dev) is held to the figures of "release".
"""
import collections
import json
import pathlib
import sys
import xml.etree.ElementTree

SLOWEST_SHOWN = 5


def read_labels(path):
    """The labels of each test, by its name."""
    labels = {}
    for test in json.loads(path.read_text())["tests"]:
        for entry in test.get("properties", []):
            if entry["name"] == "LABELS":
                labels[test["name"]] = entry["value"]
    return labels


def read_results(path):
    """Yields (test name, labels, seconds) of each test that ran."""
    labels = read_labels(path.parent / "tests.json")
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        if case.get("status") in ("notrun", "disabled"):
            continue
        yield case.get("name"), labels.get(case.get("name"), []), float(case.get("time", 0))


def check_build(budgets, path):
    """Prints one line per label and returns the sentences about what is wrong."""
    build = path.parent.name
    known_builds = {name for label in budgets.values() for name in label}
    column = build if build in known_builds else "release"
    sums = collections.Counter()
    tests = collections.defaultdict(list)
    problems = []
    for name, labels, seconds in read_results(path):
        if not labels:
            problems.append(f"{build}: test {name} has no label")
        for label in labels:
            sums[label] += seconds
            tests[label].append((seconds, name))
    for label, total in sorted(sums.items()):
        budget = budgets.get(label, {}).get(column)
        if budget is None:
            problems.append(f"{build}: label {label} has no budget")
            continue
        print(f"{build:8} {label:12} {len(tests[label]):4} tests {total:8.1f} s of {budget} s")
        if total > budget:
            slowest = ", ".join(f"{name} {seconds:.1f} s" for seconds, name in sorted(tests[label], reverse=True)[:SLOWEST_SHOWN])
            problems.append(f"{build}: label {label} took {total:.1f} s, its budget is {budget} s; slowest: {slowest}")
    return problems


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    budgets = json.loads(pathlib.Path(sys.argv[1]).read_text())
    problems = []
    for name in sys.argv[2:]:
        path = pathlib.Path(name)
        problems += check_build(budgets, path) if path.exists() else [f"{path}: no results, the tests did not run"]
    for problem in problems:
        print(f"budget: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
