"""A change of the load is told as such, and what it explains is no fault of the system."""
import json
import math
import random
import unittest

import capgen
from test_findings import FindingsCase, Load, seconds

MIX = (("GET", .9), ("PUT", .1))
OTHER_MIX = (("GET", .2), ("PUT", .8))


class Loads(FindingsCase):
    def of_sums(self):
        """The findings of the last run's sums."""
        sums = self.tmp / "run.sums.zst"
        self.s3analyze("aggregate", "--force", "--output", sums, self.tmp / "run.csv")
        return [f for f in json.loads(self.s3analyze("analyze", "--json", sums).out)["findings"] if f["kind"] != "from-sums"]

    def check_only_the_load(self, load, at_s, words):
        first, = self.findings(load)
        for f in (first, *self.of_sums()):
            self.assertEqual((f["kind"], f["severity"]), ("load-change", "notice"), f["sentence"])
            self.assertAlmostEqual(seconds(f["start"]), at_s, delta=1.1)
            self.assertRegex(f["sentence"], words)
        return first

    def sizes(self, seed, before, after, at_s=11):
        load = Load(seed, length_s=24)
        load.size_of = lambda s: load.random.choice(after if s >= at_s else before)
        load.factor = lambda s, h, c, op, t, size: math.sqrt(size / 65536)
        return load

    def test_larger_objects(self):
        """None is as large as one before: nothing can be compared, so nothing is said of the system."""
        first = self.check_only_the_load(self.sizes(110, [65536], [1 << 20]), 11,
                                         r"objects are 16 times as large \(64\.\dKiB -> 1.00MiB\): requests/s fell by 7\d %, MiB/s rose to [34]\.")
        self.assertEqual([round(first["evidence"][k]) for k in ("bytes_before", "bytes_after")], [65536, 1 << 20])

    def test_some_larger_objects(self):
        self.check_only_the_load(self.sizes(111, [65536], [65536, 1 << 22]), 11, "objects are 3[0-6] times as large")

    def test_a_fault_that_comes_with_other_sizes(self):
        """It is as large as what equal requests show."""
        load = self.sizes(112, [1 << 20, 1 << 22], [1 << 20, 1 << 20, 1 << 20, 1 << 22])
        size_factor = load.factor
        load.factor = lambda s, *where: size_factor(s, *where) * (2 if s >= 11 else 1)
        first, all_ = self.check_first(load, "drop", start=11, ratio=.5, near_s=1)
        self.assertIn("Throughput at equal load fell", first["sentence"])
        self.assertIn("load-change", [f["kind"] for f in all_])

    def test_another_mix(self):
        load = Load(113, length_s=24)
        load.mix_at = lambda s: OTHER_MIX if s >= 11 else MIX
        self.check_only_the_load(load, 11, r"(79|80|81) % of the requests are PUT, not (9|10|11) %: requests/s fell by [23]\d %")

    def test_requests_that_queue_behind_larger_ones(self):
        """Equal requests take longer, and the system does as much work as before."""
        for slots in 4, 2:
            load = Load(120, length_s=40, threads=16)
            load.slots = slots
            load.size_of = lambda s, r=load.random: int(2 ** r.uniform(14, 18) * (4 if s >= 20 else 1))
            load.factor = lambda s, h, c, op, t, size: .2 + size / 4e5
            self.check_only_the_load(load, 20, r"objects are (3\.\d|4|4\.\d) times as large")
        load = Load(121, length_s=40, threads=16)
        load.slots, load.noise_sd = 3, .01
        load.factor = lambda s, h, c, op, t: 1.5 if op == "PUT" else 1
        load.mix_at = lambda s: (("GET", .4), ("PUT", .6)) if s >= 20 else MIX
        self.check_only_the_load(load, 20, r"(59|60|61|62) % of the requests are PUT, not (9|10|11) %")

    def test_threads_that_come_back(self):
        load = Load(122, length_s=40, threads=16)
        load.hangs = lambda s, h, c, op, t, length: setattr(load, "think_s", 25 - s if t > 7 and 15 < s < 25 else 2e-5)
        first, second = (f["sentence"] for f in self.findings(load) if f["kind"] == "load-change")
        self.assertRegex(first, r"8(\.\d+)? threads are at work, not 16: requests/s fell by [45]\d %")
        self.assertRegex(second, r"16 threads are at work, not 8(\.\d+)?: requests/s rose ")

    def test_threads_that_end_as_requests_get_slower(self):
        """Threads that end, and fewer requests in flight, are one change, which is told once."""
        load = Load(134, length_s=30, threads=32)
        load.thread_ends = lambda thread: 30 if thread % 2 else 14
        load.factor = lambda s, *where: 1.7 if s >= 14 else 1
        first, = [f for f in self.findings(load) if f["kind"] == "load-change"]
        self.assertEqual(first["sentence"].count("threads are at work"), 1, first["sentence"])

    def test_a_drop_after_another_mix(self):
        load = Load(114, length_s=30)
        load.mix_at = lambda s: OTHER_MIX if s >= 9 else MIX
        load.factor = lambda s, *where: 2 if s >= 21 else 1
        self.check_first(load, "drop", start=21, ratio=.5, near_s=1)

    def test_more_requests_due(self):
        asked = iter(range(10**6))

        class Rising(Load):
            rate = property(lambda self: 200 if next(asked) < 6000 else 300, lambda self, value: None)
        first, = [f for f in self.findings(Rising(115, length_s=24, threads=40))
                  if f["severity"] == "problem" or f["kind"] == "load-change"]
        self.assertIn("1.5 times as many requests are due", first["sentence"])

    def check_no_problem(self, load):
        self.assertEqual([f["sentence"] for f in self.findings(load) if f["severity"] == "problem"], [])

    def test_a_rate_that_swings_through_saturation(self):
        """The queue is that of the load, also of the time after its peak, and whichever thread takes what is due."""
        for seed, last_first, threads in (130, False, 400), (131, True, 400), (132, False, 60):
            load = Load(seed, length_s=40, rate=300, threads=threads)
            load.slots, load.last_first = 2, last_first
            load.rate_at = lambda s: 260 + 150 * math.sin(s / 40 * 2 * math.pi - 1)
            self.check_no_problem(load)

    def test_queues_by_chance(self):
        """They build and go, while as much is due as ever: heavy requests, and a system that is nearly full."""
        for seed, spread, busy in (161, 1.6, .8), (164, .35, .97), (166, .35, .97):
            load, due = Load(seed, length_s=40, threads=40, hosts=2), random.Random(seed)
            load.slots, load.spread, load.noise_sd = 4, spread, .02
            load.rate = 8 * busy / .02 / math.exp(spread**2 / 2)
            load.rate_at = lambda s, x=load, r=due: x.rate / r.expovariate(1)
            self.check_no_problem(load)

    def test_one_host_is_left(self):
        load = Load(133, length_s=24)
        load.host_of = lambda thread: load.random.randrange(2 if load.left() else 1)
        asked = iter(range(10**6))
        load.left = lambda: next(asked) < 6000
        first, = [f for f in self.findings(load) if f["kind"] == "load-change"]
        self.assertRegex(first["sentence"], r"1 host is in use, not 2:")

    def test_clients_that_wait_longer(self):
        """Equal requests take as long as before, so the drop is theirs."""
        load = Load(116, length_s=24)
        load.hangs = lambda s, *rest: setattr(load, "think_s", .06 if s >= 11 else 2e-5)
        self.check_only_the_load(load, 11, r"threads are at work, not 1[12]")

    def test_clients_that_wait_now_longer_now_shorter(self):
        """Many swings are found by their period, few by their shape."""
        for period_s in 4, 16:
            load = Load(117, length_s=40)
            load.hangs = lambda s, *rest, p=period_s: setattr(load, "think_s", .03 + .028 * math.sin(2 * math.pi * s / p))
            first, = [f for f in self.findings(load) if f["severity"] == "problem" or f["kind"] in ("load-change", "swings")]
            self.assertEqual((first["kind"], first["severity"]), ("load-change", "notice"), first["sentence"])
            self.assertAlmostEqual(first["evidence"]["period_ns"] / 1e9 / period_s, 1, delta=.1)
            self.assertIn("The number of threads at work, and throughput with it, swings", first["sentence"])

    def test_the_end_of_a_run(self):
        """In the last few milliseconds one of four hosts ends a request."""
        path, each = self.tmp / "run.csv", capgen.SECOND // 100
        for n in 2389, 2390, 2415:
            rows = [capgen.row(i * each, (i + 4) * each - 1000, thread=i % 4, client=f"c{i % 4}",
                               host=f"http://h{i // 5 % 4}:9000") for i in range(n)]
            path.write_bytes(capgen.text(rows))
            self.assertEqual(self.s3analyze("analyze", "--json", path).json()["findings"], [])


if __name__ == "__main__":
    unittest.main()
