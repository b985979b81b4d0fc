"""Numbers in the sentences of findings are within 10 % of the truth."""
import math
import re
import statistics
import unittest

from test_findings import FindingsCase, Load, seconds, span


class Numbers(FindingsCase):
    def check(self, load, kind, pattern, *true, scope=None):
        """The numbers that the pattern catches in the sentence are the true ones."""
        said = [f["sentence"] for f in self.findings(load) if f["kind"] == kind and scope in (None, f["scope"])]
        self.assertTrue(said, kind)
        self.assertRegex(said[0], pattern)
        for told, wanted in zip(re.search(pattern, said[0]).groups(), true):
            self.assertAlmostEqual(float(told) / wanted, 1, delta=.1, msg=said[0])

    def ratio_of_medians(self, host):
        own, others = [], []
        with open(self.tmp / "run.csv", encoding="utf-8") as f:
            for line in list(f)[1:]:
                cells = line.split("\t")
                (own if cells[6] == host else others).append(seconds(cells[11]) - seconds(cells[9]))
        return statistics.median(own) / statistics.median(others)

    def test_a_backlog_at_a_slow_host(self):
        """An open loop asks it for more than it can do: its mean logarithm is far below its median."""
        load = Load(120, hosts=5, threads=400, rate=900)
        load.slots = 6
        load.factor = lambda s, h, *_: 3 if h == 2 else 1
        host = "http://10.0.0.2:9000"
        slow, = (f for f in self.findings(load) if f["kind"] == "slow-host")
        self.assertEqual(slow["scope"], {"host": host})
        told = re.search(r"takes (\S+) times as long", slow["sentence"]).group(1)
        true = self.ratio_of_medians(host)
        self.assertGreater(true, 10)
        self.assertAlmostEqual(float(told) / true, 1, delta=.1)

    def test_half_of_the_hosts(self):
        load = Load(121, hosts=6)
        load.factor = lambda s, h, *_: 2.4 if h < 3 else 1
        for h in range(3):
            self.check(load, "slow-host", r"takes (\S+) times as long", 2.4, scope={"host": f"http://10.0.0.{h}:9000"})

    def test_a_sine(self):
        """Its crest is higher than the mean of a sixth of a cycle."""
        for cycles in (3, 9):
            load = Load(122, length_s=40)
            load.factor = lambda s, *_, n=cycles: 1 / (1 - .26 + .26 * math.cos(2 * math.pi * s * n / 40))
            self.check(load, "swings", r"by (\d+) %, every (\S+)s", 52, 40 / cycles)

    def test_a_square_wave(self):
        load = Load(123, length_s=40)
        load.factor = lambda s, *_: 2 if s % 6 < 3 else 1
        self.check(load, "swings", r"by (\d+) %, every (\S+)s", 50, 6)

    def test_a_fall_a_stall_and_pauses(self):
        load = Load(124)
        load.factor = lambda s, *_: 1.8 if s > 9 else 1
        self.check(load, "drop", r"fell by (\d+) %", 100 * (1 - 1 / 1.8))
        load = Load(125)
        load.hangs = span(8, 10.4)
        self.check(load, "stall", r"Stalled for (\S+)s", 2.4)
        load = Load(126, length_s=29)
        load.hangs = lambda s, *rest: span(s // 4 * 4 + 2, s // 4 * 4 + 2.8)(s, *rest)
        self.check(load, "pauses", r"Paused (\d+) times for about (\d+)ms, every (\S+)s", 7, 800, 4)


if __name__ == "__main__":
    unittest.main()
