"""Stalls of some hosts, or of one operation, are told of these, and stalls of all of the whole system."""
import json
import pathlib
import unittest

from test_findings import FindingsCase, Load, seconds, span

MIXED = (("GET", .6), ("PUT", .4))


def host(i):
    return f"http://10.0.0.{i}:9000"


class Stalls(FindingsCase):
    def check_hosts(self, load, which, start, end):
        first, _ = self.check_first(load, "stall", {"host": host(which[0]), "hosts": [host(i) for i in which]}, start, end)
        return first["sentence"]

    def test_two_of_eight_hosts(self):
        """All threads come to wait for them, so that nothing is completed at all."""
        load = Load(60, hosts=8, threads=24)
        load.hangs = span(8, 11, lambda h, c, op, t: h in (2, 5))
        self.assertRegex(self.check_hosts(load, (2, 5), 8, 11), f"^{host(2)} and {host(5)} stalled for [23]")

    def test_two_of_six_hosts_while_the_others_go_on(self):
        load = Load(61, hosts=6, threads=300, length_s=12)
        load.factor = lambda *where: 10
        load.hangs = span(5, 6.5, lambda h, c, op, t: h in (0, 3))
        self.check_hosts(load, (0, 3), 5, 6.5)

    def test_a_rack(self):
        """Three names and a number."""
        load = Load(62, hosts=12, threads=40)
        load.hangs = span(8, 11, lambda h, c, op, t: h < 5)
        # Names are in the order of letters.
        self.assertRegex(self.check_hosts(load, (0, 1, 2, 3, 4), 8, 11),
                         f"^{host(0)}, {host(1)}, {host(2)} and 2 more stalled for")

    def test_one_operation(self):
        load = Load(63, mix=MIXED, threads=24)
        load.hangs = span(8, 11, lambda h, c, op, t: op == "PUT")
        first, _ = self.check_first(load, "stall", None, 8, 11)
        self.assertEqual(first["op"], "PUT")
        self.assertRegex(first["sentence"], "^PUT requests stalled for [23]")

    def test_one_operation_pauses(self):
        load = Load(64, mix=MIXED, threads=24)
        load.hangs = lambda s, h, c, op, t, length: s // 4 * 4 + 1 if op == "PUT" and s % 4 < 1 else None
        first, _ = self.check_first(load, "pauses")
        self.assertEqual(first["op"], "PUT")
        self.assertRegex(first["sentence"], "^PUT requests paused 5 times")

    def test_a_pause_that_is_missing(self):
        """It leaves a gap of two periods."""
        load = Load(64, mix=MIXED, threads=24, length_s=24)
        load.hangs = lambda s, h, c, op, t, length: s // 4 * 4 + 1 if op == "PUT" and s % 4 < 1 and s // 4 != 2 else None
        first, _ = self.check_first(load, "pauses")
        self.assertAlmostEqual(first["period_ns"] / 4e9, 1, delta=.02)

    def test_a_long_stall_after_two_short_ones(self):
        """Their starts are at even distances, but the last is no pause that comes again."""
        load = Load(74, threads=24)
        load.hangs = lambda s, h, c, op, t, length: next(
            (end for start, end in ((8, 8.2), (8.5, 8.7), (9, 12)) if start <= s < end), None)
        stall, = [f for f in self.findings(load) if f["severity"] == "problem"]
        self.assertEqual(stall["kind"], "stall", stall["sentence"])
        self.assertRegex(stall["sentence"], "^Stalled for [23]")

    def thinking_in_step(self):
        load = Load(83, threads=48, length_s=30)
        load.think_s, load.spread, load.noise_sd = .3, .1, .01
        return load

    def test_threads_that_pause_in_step(self):
        """All begin together, and in the gaps between their requests the servers have nothing to do."""
        self.assertEqual([f["sentence"] for f in self.findings(self.thinking_in_step()) if f["kind"] in ("stall", "pauses")], [])

    def test_batches(self):
        """Nothing is due between two of them."""
        load = Load(150, length_s=30, rate=100, threads=200)
        load.rate_at = lambda s: 1e5 if int(s * 1e5 + 1) % 200000 < 200 else 1 / (2.00001 - s % 2)
        self.assertEqual([f["sentence"] for f in self.findings(load) if f["severity"] == "problem"], [])

    def test_a_stall_of_a_pool_of_threads(self):
        """Few of them work before it, and after it."""
        load = Load(151, length_s=30, rate=100, threads=400)
        load.last_first, load.hangs = True, span(20, 22)
        self.check_first(load, "stall", start=20, end=22)

    def test_a_stall_of_threads_that_pause(self):
        """It is shorter than the time between two requests of a thread."""
        load = self.thinking_in_step()
        load.thread_begins = lambda thread: thread / 150  # not in step
        load.hangs = span(20, 20.28)
        stall, = [f for f in self.findings(load) if f["kind"] == "stall"]
        self.assertAlmostEqual(seconds(stall["start"]), 20, delta=.05)

    def test_a_client_pauses(self):
        """Too short for its requests to count as hung."""
        load = Load(75, threads=24, clients=4)
        load.hangs = lambda s, h, c, op, t, length: next(
            (i + .35 for i in (2, 5, 8, 11, 14, 17) if c == 2 and s < i + .35 and s + length > i), None)
        first, _ = self.check_first(load, "pauses", {"client": "client-2"})
        self.assertAlmostEqual(first["period_ns"] / 3e9, 1, delta=.02)
        self.assertRegex(first["sentence"], "^Client client-2 paused 6 times for about 3[45]0?[0-9]ms, every (3|2.99|3.01)")

    def test_each_stall_of_a_host(self):
        load = Load(76, threads=200, hosts=8)
        load.factor = lambda *where: 5
        load.hangs = lambda s, h, c, op, t, length: next(
            (end for start, end in ((3, 4.2), (7, 8.1), (15, 16.3)) if h == 3 and s < end and s + length > start), None)
        stalls = [f for f in self.findings(load) if f["kind"] == "stall"]
        self.assertEqual([f["scope"] for f in stalls], 3 * [{"host": host(3)}])

    def test_long_requests_at_once(self):
        """Seven threads read huge objects, which take two thirds of their time: for 5.9 s all of them happen to."""
        path = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "edge-sizes.csv.zst"
        findings = json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
        self.assertEqual([f["sentence"] for f in findings if f["kind"] in ("stall", "pauses")], [])

    def test_all_of_it(self):
        """Few threads may wait for one host by chance, and hosts that are slow have more requests under way."""
        for seed in range(65, 73):
            load = Load(seed, mix=MIXED, hosts=2, threads=4 if seed < 69 else 20)
            load.factor = lambda s, h, c, op, t, seed=seed: 5 if seed >= 69 and h == 1 else 1
            load.hangs = span(8, 11)
            stall, = [f for f in self.findings(load) if f["kind"] == "stall"]
            self.assertEqual((stall["scope"], stall["op"]), (None, None), stall["sentence"])

    def test_all_of_it_while_queues_are_long(self):
        """Most requests wait at one host when all stop. That may look as if it alone stopped in one run of 20."""
        of_hosts = 0
        for seed in range(77, 101):
            load = Load(seed, hosts=4, threads=20)
            load.factor = lambda s, h, c, op, t: 8 if h == int(s) % 4 else 1
            load.hangs = span(8.9, 12)
            stall, = [f for f in self.findings(load) if f["kind"] == "stall"]
            of_hosts += stall["scope"] is not None
        self.assertLessEqual(of_hosts, 2)


if __name__ == "__main__":
    unittest.main()
