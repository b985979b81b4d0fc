"""Figures that were asked for are shown without -v, and no rate falls below 0."""

import unittest

from capgen import SECOND, row, steady, text
from harness import CliTest


class Limits(CliTest):
    def put(self, rows):
        path = self.tmp / "in.csv"
        path.write_bytes(text(rows))
        return path

    def operation(self, path):
        return self.s3analyze("analyze", "--json", path).json()["operations"][0]["statistics"]

    def test_co_interval_without_v(self):
        path = self.put(steady(300))
        for args in [], ["-v"]:
            out = self.s3analyze("analyze", "--co-interval", "10ms", *args, path).out
            self.assertEqual(" ".join(out.split()).count("GET, corrected for coordinated omission, interval 10ms: p50 "), 1)
        self.assertNotIn("orrected for", self.s3analyze("analyze", path).out)

    def test_a_series_of_very_many_lines(self):
        """An hour of 100 hosts in steps of 4 ms is refused before anything is written."""
        rows = [row(i * 3 * SECOND, (i + 1) * 3 * SECOND, host=f"http://h{i % 100}:1") for i in range(1200)]
        path, out, report = self.put(rows), self.tmp / "o.csv", self.tmp / "o.txt"
        r = self.s3analyze("analyze", "--dur", "4ms", "--out", out, "-o", report, path, status=1)
        self.assertRegex(r.err, r"the time series would have 90,\d{3},\d{3} lines, .* --force\n")
        self.assertFalse(out.exists() or report.exists())
        self.s3analyze("analyze", "--dur", "10s", "--out", out, path)
        self.assertGreater(len(out.read_bytes().splitlines()), 100 * 300)

    def test_an_interval_of_a_rate_begins_at_0(self):
        # Nearly all happens in one burst.
        rows = [row(i * SECOND // 100, i * SECOND // 100 + 1000) for i in range(40)]
        rows += [row(SECOND * (i + 1), SECOND * (i + 1) + 1000) for i in range(12)]
        found = 0
        for n_burst in 200, 2000:
            burst = [row(6 * SECOND + i * 1000, 6 * SECOND + i * 1000 + 900, thread=1) for i in range(n_burst)]
            edges = [row(0, 1000, thread=1), row(12 * SECOND, 12 * SECOND + 900, thread=1)]
            ci = self.operation(self.put(rows + burst + edges))["objects_per_s"]["mean"]
            self.assertGreaterEqual(ci["lo"], 0)
            self.assertGreaterEqual(ci["lo90"], 0)
            found += ci["lo"] == 0
        self.assertEqual(found, 2)

    def test_requests_of_centuries(self):
        """Together they take longer than nanoseconds can say in 63 bits."""
        begin, end = -17 * 10 ** 8 * SECOND, 73 * 10 ** 8 * SECOND
        path = self.put([row(begin + i * 1000, end + i, thread=i) for i in range(60)])
        report = self.s3analyze("analyze", "--json", "--range", "full", "--slo", "mean>1h", path).json()
        answer, = report["slo"]["assertions"]
        self.assertEqual(answer["value"], report["operations"][0]["requests"]["mean_ns"])
        self.assertTrue(0 < answer["lo"] <= answer["value"] <= answer["hi"])

    def test_nothing_was_tested(self):
        path = self.put(steady(3))
        other = self.tmp / "other.csv"
        other.write_bytes(text(steady(4)))
        for args in [], ["--markdown"]:
            out = self.s3analyze("cmp", *args, path, other).out
            self.assertIn("Nothing was tested", out)
            self.assertNotIn("0 comparisons", out)


if __name__ == "__main__":
    unittest.main()
