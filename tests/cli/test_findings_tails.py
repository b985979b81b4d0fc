"""A host of which only some requests are slow is found by these; tails that all hosts have are no fault of one."""
import unittest

from test_findings import FindingsCase, Load, MEDIAN_S


class Tails(FindingsCase):
    def load(self, seed, share, hosts=4, **how):
        load = Load(seed, hosts=hosts, **how)
        load.factor = lambda s, h, c, op, t: 10 if h == 1 and load.random.random() < share else 1
        return load

    def slow_parties(self, load):
        return [f for f in self.findings(load) if f["kind"] in ("slow-host", "slow-client")]

    def test_a_tenth_of_the_requests_of_a_host(self):
        first, _ = self.check_first(self.load(80, .1), "slow-host", {"host": "http://10.0.0.1:9000"})
        self.assertAlmostEqual(first["evidence"]["slow_share"], .1, delta=.04)
        self.assertAlmostEqual(first["evidence"]["slow_mean_ns"] / 2e8, 1, delta=.25)
        self.assertLess(first["evidence"]["others_slow_share"], .03)
        self.assertRegex(first["sentence"], r"^http://10\.0\.0\.1:9000 answers \d.* % of its requests late, in [12]\d\dms on "
                                            r"average \(.* % at the other 3 hosts\); its other requests take no longer$")

    def test_a_tail_that_raises_the_mean(self):
        """Tails so long that the mean of the logarithms is that of a slower host, in a part of the run or of one operation, and so
        that all threads wait for them now and then."""
        for name, seed, share, how in (("part", 86, .07, {"threads": 4, "hosts": 6}),
                                       ("operation", 87, .05, {"threads": 8, "mix": (("GET", .4), ("STAT", .6))})):
            with self.subTest(name):
                load = Load(seed, **how)
                load.factor = lambda s, h, c, op, t, r=load.random, n=share: 20 if h == 1 and r.random() < n else .25
                slow, = self.slow_parties(load)
                self.assertEqual((slow["severity"], slow["scope"], slow["op"]),
                                 ("problem", {"host": "http://10.0.0.1:9000"}, None))
                self.assertAlmostEqual(slow["evidence"]["slow_share"] / share, 1, delta=.2)
                mean_s = 20 * sum(MEDIAN_S[op] * n for op, n in load.mix)
                self.assertAlmostEqual(slow["evidence"]["slow_mean_ns"] / 1e9 / mean_s, 1, delta=.15)

    def test_what_costs_little_is_a_notice(self):
        slow, = self.slow_parties(self.load(81, .05, hosts=16, threads=30))
        self.assertEqual((slow["severity"], slow["scope"]), ("notice", {"host": "http://10.0.0.1:9000"}))

    def test_a_host_of_two_and_a_client(self):
        self.check_first(self.load(82, .08, hosts=2), "slow-host", {"host": "http://10.0.0.1:9000"})
        load = Load(83, clients=3)
        load.factor = lambda s, h, c, op, t: 10 if c == 2 and load.random.random() < .08 else 1
        self.check_first(load, "slow-client", {"client": "client-2"})

    def test_a_slow_host_is_said_once(self):
        load = Load(84)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 else 1
        self.assertEqual(len(self.slow_parties(load)), 1)

    def test_a_queue(self):
        """A warm-up of hosts that are always busy: one has a longer queue for a while, and works no slower."""
        load = Load(142, hosts=5, threads=80)
        load.slots = 8
        load.factor = lambda s, h, c, op, t: 2.4 if s < 5 else 1
        self.assertEqual(self.slow_parties(load), [])

    def test_chance(self):
        """Tails of all hosts, heavy ones too, and slow requests of a host that come together."""
        for name, factor in (("all", lambda r, s, h: 10 if r.random() < .07 else 1),
                             ("pareto", lambda r, s, h: .5 * r.random() ** (-1 / 1.5)),
                             ("once", lambda r, s, h: 10 if h == 1 and 8 < s < 8.3 else 1)):
            with self.subTest(name):
                load = Load(85)
                load.factor = lambda s, h, c, op, t, r=load.random, f=factor: f(r, s, h)
                self.assertEqual(self.slow_parties(load), [])


if __name__ == "__main__":
    unittest.main()
