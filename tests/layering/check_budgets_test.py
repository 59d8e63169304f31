#!/usr/bin/env python3
"""Looks whether check_budgets.py finds a label over its budget, one without a budget, and accepts what is within."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_budgets

BUDGETS = {"unit": {"release": 10, "asan": 20}}
CASE = '<testcase name="{name}" time="{seconds}" status="run"/>'


class CheckBudgets(unittest.TestCase):
    def problems_of(self, build, *cases):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / build / "junit.xml"
            path.parent.mkdir()
            path.write_text("<testsuite>" + "".join(CASE.format(name=name, seconds=seconds) for name, seconds, _ in cases) + "</testsuite>")
            tests = [{"name": name, "properties": [{"name": "LABELS", "value": [label]}] if label else []} for name, _, label in cases]
            (path.parent / "tests.json").write_text(json.dumps({"tests": tests}))
            return check_budgets.check_build(BUDGETS, path)

    def test_within(self):
        self.assertEqual([], self.problems_of("release", ("a", 4, "unit"), ("b", 5, "unit")))

    def test_sum_over(self):
        problems = self.problems_of("release", ("a", 4, "unit"), ("b", 7, "unit"))
        self.assertEqual(1, len(problems))
        self.assertIn("b 7.0 s, a 4.0 s", problems[0])

    def test_each_build_has_its_own(self):
        self.assertEqual([], self.problems_of("asan", ("a", 11, "unit")))
        self.assertEqual(1, len(self.problems_of("quick", ("a", 11, "unit"))))

    def test_label_without_budget(self):
        self.assertEqual(1, len(self.problems_of("release", ("a", 1, "fault"))))

    def test_no_label(self):
        self.assertEqual(1, len(self.problems_of("release", ("a", 1, ""))))


if __name__ == "__main__":
    unittest.main()
