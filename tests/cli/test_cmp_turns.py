"""Runs that were taken in turns: their order, and not their figures, chooses the test of cmp."""
import math
import statistics

from test_cmp import CmpTest, MS, run_rows

STEP = 10_000 * MS  # from the start of a run to the next
DRIFT = 0.015  # of the speed, from run to run


class Turns(CmpTest):
    def take(self, order, drift=DRIFT, slower=0.93):
        """Runs of both sides in this order, at a speed that falls; b is slower."""
        sides = {"A": [], "B": []}
        for i, side in enumerate(order):
            speed = math.exp(-drift * i) * (slower if side == "B" else 1)
            sides[side].append(self.write(f"{side}{i}", run_rows(f"{i}", speed, seconds=2, offset=i * STEP)))
        return "--before", *sides["A"], "--after", *sides["B"]

    def test_pairs(self):
        """ABBA: the mean of the log ratios of the pairs, and its t interval (7 degrees of freedom: 2.36462)."""
        order = "ABBABAABABBABAAB"
        argv = self.take(order)
        m = self.metric(self.cmp(*argv), "objects")
        self.assertEqual((m["test"], m["n_pairs"]), ("pairs", 8))
        values = {side: iter(m[key]["values"]) for side, key in (("A", "before"), ("B", "after"))}
        in_time = [(side, math.log(next(values[side]))) for side in order]
        ratios = [b - a if first == "A" else a - b for (first, a), (_, b) in zip(in_time[::2], in_time[1::2])]
        self.assertAlmostEqual(math.log(m["ratio"]), statistics.mean(ratios), 12)
        # Exploratory, so that nothing adjusts the interval.
        self.assertTrue(m["exploratory"])
        self.assertAlmostEqual(math.log(m["ratio_hi"] / m["ratio"]), 2.36462 * statistics.stdev(ratios) / math.sqrt(8), 6)
        self.assertAlmostEqual(m["change"], m["ratio"], 12)
        self.assertAlmostEqual(m["after"]["value"] / m["before"]["value"], m["ratio"], 12)
        # What a paired t of 8 pairs finds in 80 % of cases.
        self.assertAlmostEqual(math.log1p(m["mde_frac"]) / statistics.stdev(ratios), 1.156, delta=.02)

    def test_a_drift_hides_nothing(self):
        """What pairs show is lost where the same runs are compared as two groups."""
        argv = self.take("ABBABAABABBABAAB")
        paired = self.metric(self.cmp(*argv), "throughput")
        self.assertEqual(paired["verdict"], "slower")
        moved = self.take("ABABABABABABABAB")
        report = self.cmp(*moved)
        grouped = self.metric(report, "throughput")
        self.assertEqual((grouped["test"], grouped["verdict"]), ("groups", "inconclusive"))
        self.assertEqual([w["code"] for w in report["warnings"]], ["drift"])
        self.assertIn("take runs in turns (ABBA)", report["warnings"][0]["message"])

    def test_cells(self):
        """The answer of several cells says how their runs were taken, too."""
        sides = {"A": [], "B": []}
        for i, side in enumerate("ABBABAAB"):
            for size in 4096, 65536:
                rows = run_rows(f"{i}", seconds=2, sizes=(size,), offset=i * STEP)
                sides[side].append(self.write(f"{side}{i}-{size}", rows))
        said = self.cmp("--before", *sides["A"], "--after", *sides["B"])["answer"]
        self.assertIn("None of 2 cells shows a change.", said)
        self.assertIn("4 pairs a cell, taken in turns.", said)

    def test_orders(self):
        """Pairs are four or more, nearly all runs are in one, and each order is in a quarter of them."""
        for order, test, n_pairs in (("ABBABAAB", "pairs", 4), ("ABBABA", "groups", None), ("AAAABBBB", "groups", None),
                                     ("ABABABABABBAABAB", "groups", None), ("ABABABBAABBAABAB", "pairs", 8),
                                     ("ABBABAABABBABAA", "pairs", 7), ("AABBBAABABBA", "groups", None)):
            with self.subTest(order):
                report = self.cmp(*self.take(order, drift=0))
                m = self.metric(report, "throughput")
                self.assertEqual((m["test"], m["n_pairs"]), (test, n_pairs))
                self.assertEqual(f"{n_pairs} pairs, taken in turns." in report["answer"], n_pairs is not None)
                self.assertNotIn("drift", [w["code"] for w in report["warnings"]])

    def test_runs_at_the_same_time(self):
        """They did not take turns."""
        argv = list(self.take("ABBABAAB", drift=0))
        argv[argv.index("--after") + 1] = self.write("same", run_rows("same", .93, seconds=2))
        self.assertEqual(self.metric(self.cmp(*argv), "throughput")["test"], "groups")

    def test_formats(self):
        """All formats say how many pairs there are, and how they were compared."""
        argv = self.take("ABBABAAB", drift=0)
        for options in (), ("--markdown",), ("-v",):
            self.assertIn("4 pairs, taken in turns.", " ".join(self.s3analyze("cmp", *options, *argv).out.split()))
        page = self.tmp / "page.html"
        self.s3analyze("cmp", "-q", "--html", page, *argv)
        self.assertIn("4 pairs, taken in turns.", page.read_text())
        self.assertIn("Method: t of the changes within 4 pairs", " ".join(self.s3analyze("cmp", "-v", *argv).out.split()))
