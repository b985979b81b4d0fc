"""Requests that tie in start, thread, end and host are ordered by the names of their files."""
import random
import unittest

from capgen import frames, row, text
from expect import ReportTest
from oracle import SECOND, Analysis


class Ties(ReportTest):
    def test_objects_per_op_is_that_of_the_first_file(self):
        """In whatever order they stand, in one unit or in several."""
        for names in ("d", "b", "a", "c"), ("ab", "a", "b", ""), ("\u00e9", "z", "zz", "y"):
            rows = [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file=name, n_objects=k + 1)
                    for i in range(20) for k, name in enumerate(names)]
            least = min(names, key=str.encode)
            for seed in range(4):
                random.Random(seed).shuffle(rows)
                data = text(rows)
                for packed in data, frames(data, *range(500, len(data), 500)):
                    with self.subTest(names=names, seed=seed):
                        report = self.analyze(packed)
                        self.assertEqual(report.operations["LIST"]["objects_per_op"],
                                         names.index(least) + 1)
                        self.assert_fits_oracle(report, Analysis(rows))

    def test_after_a_cut(self):
        """The same order holds among the rows that are left, which others came before."""
        rows = [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file="a", n_objects=99) for i in range(5)]
        rows += [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file=name, n_objects=k + 1)
                 for i in range(5, 20) for k, name in enumerate("dbeac")]
        for seed in range(3):
            random.Random(seed).shuffle(rows)
            path = self.tmp / "ties.csv"
            path.write_bytes(text(rows))
            last = ["--from", "7s"]
            for how in last, ["--skip", "7s"], [*last, "--host", "*"], [*last, "--steady"]:
                with self.subTest(seed=seed, how=how):
                    r = self.s3analyze("analyze", "--json", "--range", "full", *how, path)
                    self.assertEqual(r.json()["operations"][0]["objects_per_op"], 4)


if __name__ == "__main__":
    unittest.main()
