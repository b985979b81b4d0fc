"""Captures of different runs are not analysed as one run."""
import unittest

from capgen import SECOND, START, row, steady, text
from harness import CliTest


class Together(CliTest):
    def setUp(self):
        super().setUp()
        self.paths = [self.put(f"run{i}.csv", i * 3600 * SECOND) for i in range(3)]

    def put(self, name, offset, op="GET", n=40):
        rows = [row(r.start - START + offset, r.end - START + offset, r.thread, op) for r in steady(n, threads=2)]
        path = self.tmp / name
        path.write_bytes(text(sorted(rows)))
        return path

    def refused(self, *args):
        r = self.s3analyze(*args, status=1)
        self.assertIn(f"{self.paths[0]} runs from 2026-11-21T05:45:58.000Z to 2026-11-21T05:46:01.999Z, when no other "
                      "input does: they are not of one run (table lists runs and cmp compares them; "
                      "--together takes them for one)", r.err)
        return r

    def test_a_table_of_the_runs(self):
        """The one that `table` makes."""
        r = self.refused("analyze", *self.paths)
        self.assertEqual(r.out, self.s3analyze("table", "--no-cache", *self.paths).out)
        self.assertEqual(r.out.count("GET"), 3)

    def test_a_table_of_what_is_left(self):
        """A file of which no request is left is named."""
        r = self.refused("analyze", "--op", "GET", *self.paths, self.put("puts.csv", 9 * 3600 * SECOND, op="PUT"))
        self.assertEqual([line[:4] for line in r.out.splitlines() if line.startswith("run")], ["run0", "run1", "run2"])
        self.assertIn("1 file could not be read:", r.out)

    def test_every_output(self):
        for args in (["analyze", "--json"], ["analyze", "--out", "-", "-o", self.tmp / "report"],
                     ["analyze", "--html", "-", "-o", self.tmp / "report"], ["autoterm"],
                     ["plot", "--out", self.tmp / "charts"]):
            with self.subTest(args=args):
                self.assertEqual(self.refused(*args, *self.paths).out, "")
        for args in (["analyze", "--html", self.tmp / "page"], ["analyze", "--out", self.tmp / "series"]):
            self.refused(*args, *self.paths)
        self.assertEqual(sorted(p.name for p in self.tmp.iterdir()), [p.name for p in self.paths])

    def test_together(self):
        for args in (["analyze"], ["analyze", "--json"], ["autoterm"]):
            self.s3analyze(*args, "--together", *self.paths)
        report = self.s3analyze("analyze", "--json", "--together", "--range", "full", *self.paths).json()
        self.assertEqual(report["operations"][0]["n_requests"], 240)

    def test_what_overlaps_is_one_run(self):
        other = self.put("other.csv", SECOND)
        empty = self.tmp / "empty.csv"
        empty.write_bytes(text([]))
        self.s3analyze("analyze", self.paths[0], other, empty)
        self.s3analyze("analyze", self.paths[0], empty)
        self.s3analyze("analyze", self.paths[0], other, self.paths[2], status=1)


if __name__ == "__main__":
    unittest.main()
