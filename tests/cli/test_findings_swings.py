"""Throughput that swings back and forth is not called steady, and what a calm run does by chance is no swing."""
import json
import math
import unittest

import capgen
from test_findings import FindingsCase, Load

CALM = "No finding: "  # steady or too short to tell: throughput of this load wanders a little


class Swings(FindingsCase):
    def swings(self, load):
        return [f for f in self.findings(load) if f["kind"] == "swings"]

    def first_lines(self, load):
        path = self.tmp / "run.csv"
        path.write_text(load.rows())
        return " ".join(self.s3analyze("analyze", path).out.split())

    def test_requests_of_centuries(self):
        """The shortest period is longer than the run, and than what 63 bits hold."""
        path, long_ns, step_ns, rows = self.tmp / "run.csv", 7450 * 10**15, 10**17, []
        for thread in range(84):
            at_ns = thread * 10**16 + long_ns if thread < 80 else thread * 10**15
            if thread < 80:
                rows.append((at_ns - long_ns, at_ns, thread))
            rows += [(ns, ns + 1000, thread) for ns in range(at_ns, 9100 * 10**15, step_ns)][:1 if thread < 80 else None]
        path.write_bytes(capgen.text([capgen.row(start - capgen.START, end - capgen.START, thread=thread)
                                      for start, end, thread in rows]))
        kinds = [f["kind"] for f in self.s3analyze("analyze", "--json", path).json()["findings"]]
        self.assertNotIn("swings", kinds)

    def check_beat(self, load, period_s, ratio):
        first, _ = self.check_first(load, "swings", ratio=ratio)
        self.assertAlmostEqual(first["period_ns"] / 1e9 / period_s, 1, delta=.05)
        self.assertRegex(first["sentence"], r"swings back and forth by \d+ %, every \d")
        return first

    def swing_of_sums(self):
        """The finding in the sums of the last run."""
        sums = self.tmp / "run.sums.zst"
        self.s3analyze("aggregate", "--force", "--output", sums, self.tmp / "run.csv")
        findings = json.loads(self.s3analyze("analyze", "--json", sums).out)["findings"]
        return next(f for f in findings if f["kind"] == "swings")

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

    def test_a_period_of_few_points(self):
        """Neither in a long run, nor in sums by second, is it taken for a multiple of itself."""
        for seed, (period_s, length_s) in enumerate(((2, 120), (3, 60), (5, 60)), 45):
            load = Load(seed, length_s=length_s, threads=24)
            load.factor = lambda s, h, c, op, t, p=period_s: 1.8 if s % p < p / 2 else 1
            self.check_beat(load, period_s, 1 / 1.8)
            self.assertAlmostEqual(self.swing_of_sums()["period_ns"] / 1e9 / period_s, 1, delta=.05)

    def test_a_period_shorter_than_two_points(self):
        """The points of a long run are seconds long; bins of milliseconds tell the period from its aliases."""
        for seed, period_s in enumerate((3.1, 1.5), 60):
            load = Load(seed, length_s=600, threads=3)
            load.factor = lambda s, h, c, op, t, p=period_s: 1.8 if s % p < p / 2 else 1
            self.check_beat(load, period_s, 1 / 1.8)

    def test_short_dips(self):
        load = Load(42, length_s=40)
        load.factor = lambda s, h, c, op, t: 2.5 if s % 5 < 1 else 1
        self.check_beat(load, 5, 1 / 2.5)

    def test_the_size_of_short_dips(self):
        """It does not depend on where a cycle begins."""
        for k in range(3):
            load = Load(63 + k, length_s=120, threads=16)
            load.factor = lambda s, h, c, op, t, at=k * 7 / 4: 1.8 if (s + at) % 7 < 1.4 else 1
            first = self.check_beat(load, 7, 1 / 1.8)
            self.assertAlmostEqual(first["ratio"] * 1.8, 1, delta=.05)

    def test_sizes_in_sums(self):
        """Of a sine of two or three bins; of a cycle of whole seconds, whose bins fall on few parts of it."""
        load = Load(200, length_s=120, threads=24)
        load.factor = lambda s, h, c, op, t: math.exp(.25 * math.sin(2 * math.pi * s / 2.3))
        self.check_beat(load, 2.3, math.exp(-.5))
        self.assertAlmostEqual(self.swing_of_sums()["ratio"] / math.exp(-.5), 1, delta=.07)
        load = Load(200, length_s=300, threads=24)
        load.factor = lambda s, h, c, op, t: 1.8 if s % 13 < 6.5 else 1
        self.check_beat(load, 13, 1 / 1.8)
        self.assertAlmostEqual(self.swing_of_sums()["ratio"] * 1.8, 1, delta=.07)

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
        self.assertIn(CALM, self.first_lines(Load(46, length_s=30)))

    def test_levels_are_no_swings(self):
        """Nor is a drift, or a stall."""
        for factor in (lambda s: 1.7 if s >= 13 else 1, lambda s: 1 + s / 30, lambda s: 2 if 9 < s < 14 else 1):
            load = Load(51, length_s=30)
            load.factor = lambda s, h, c, op, t, f=factor: f(s)
            self.assertEqual(self.swings(load), [])


if __name__ == "__main__":
    unittest.main()
