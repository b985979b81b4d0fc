"""Throughput that swings back and forth is not called steady, and what a calm run does by chance is no swing."""
import math
import unittest

from test_findings import FindingsCase, Load

STEADY = "No finding: steady, even, no errors."


class Swings(FindingsCase):
    def swings(self, load):
        return [f for f in self.findings(load) if f["kind"] == "swings"]

    def first_lines(self, load):
        path = self.tmp / "run.csv"
        path.write_text(load.rows())
        return " ".join(self.s3analyze("analyze", path).out.split())

    def check_beat(self, load, period_s, ratio):
        first, _ = self.check_first(load, "swings", ratio=ratio)
        self.assertAlmostEqual(first["period_ns"] / 1e9 / period_s, 1, delta=.05)
        self.assertRegex(first["sentence"], r"swings back and forth by \d+ %, every \d")
        return first

    def test_a_wave(self):
        load = Load(40, length_s=40)
        load.factor = lambda s, h, c, op, t: math.exp(.2 * math.sin(2 * math.pi * s / 8))
        first = self.check_beat(load, 8, math.exp(-.4))
        self.assertAlmostEqual(first["evidence"]["low_per_s"] / first["evidence"]["high_per_s"], first["ratio"])
        self.assertNotIn("steady, even", self.first_lines(load))

    def test_two_levels_in_turns(self):
        load = Load(41)
        load.factor = lambda s, h, c, op, t: 1.5 if s % 3.1 < 1.55 else 1
        self.check_beat(load, 3.1, 1 / 1.5)

    def test_short_dips(self):
        load = Load(42, length_s=40)
        load.factor = lambda s, h, c, op, t: 2.5 if s % 5 < 1 else 1
        self.check_beat(load, 5, 1 / 2.5)

    def test_a_slow_wave(self):
        """Too few cycles to compare them with each other; one of levels is none."""
        for seed, cycles in enumerate((1, 1.5, 2.5), 50):
            load = Load(seed, length_s=40)
            load.factor = lambda s, h, c, op, t, n=cycles: 1 / (.735 + .265 * math.sin(2 * math.pi * n * s / 40))
            self.check_beat(load, 40 / cycles, .47)
        load = Load(53, length_s=40)
        load.factor = lambda s, h, c, op, t: 1.8 if 12 <= s < 24 else 1
        self.assertEqual(self.swings(load), [])

    def test_one_thread(self):
        load = Load(43, length_s=60, threads=1)
        load.factor = lambda s, h, c, op, t: 1.5 if s % 6 < 3 else 1
        self.check_beat(load, 6, 1 / 1.5)

    def test_no_period(self):
        """Listed where it is so large that it says something; one that the interval of the throughput tells is not."""
        for factor, n in ((2, 1), (1.4, 0)):
            load = Load(44, length_s=40)
            changes, at = [], 0
            while at < load.length_s:
                changes.append(at := at + load.random.uniform(.8, 3))
            load.factor = lambda s, h, c, op, t, f=factor, v=changes: f if sum(at < s for at in v) % 2 else 1
            swings = self.swings(load)
            self.assertEqual(len(swings), n, factor)
            for swing in swings:
                self.assertEqual(swing["severity"], "notice")
                self.assertNotIn("period_ns", swing)
                self.assertAlmostEqual(swing["ratio"] * factor, 1, delta=.15)
                self.assertRegex(self.first_lines(load),
                                 "No problem; 1 notice: 1. Notice: Throughput swings back and forth")

    def test_chance(self):
        """Of few requests, of requests whose durations have a heavy tail, and of those that come in step."""
        for name, factor in (("few", lambda r: 8), ("pareto", lambda r: .5 * r.random() ** (-1 / 1.8)),
                             ("two kinds", lambda r: 10 if r.random() < .25 else 1)):
            with self.subTest(name):
                load = Load(45, length_s=30)
                load.factor = lambda *where, r=load.random, f=factor: f(r)
                self.assertEqual(self.swings(load), [])

    def test_calm(self):
        for seed in range(46, 50):
            load = Load(seed, threads=(1, 4, 12, 60)[seed - 46], length_s=30 if seed < 49 else 10)
            self.assertEqual(self.swings(load), [])
        self.assertIn(STEADY, self.first_lines(Load(46, length_s=30)))

    def test_levels_are_no_swings(self):
        """Nor is a drift, or a stall."""
        for factor in (lambda s: 1.7 if s >= 13 else 1, lambda s: 1 + s / 30, lambda s: 2 if 9 < s < 14 else 1):
            load = Load(51, length_s=30)
            load.factor = lambda s, h, c, op, t, f=factor: f(s)
            self.assertEqual(self.swings(load), [])


if __name__ == "__main__":
    unittest.main()
