"""Slow hosts, clients and objects are found like with like: on runs whose truth is known, of hosts that share their cores
among all requests, and of hosts with queues."""
import subprocess
import sys
import unittest

from harness import BUILD, ROOT
from test_findings import FindingsCase, Load, seconds

KINDS = {
    "equal hosts that share their cores": ("healthy-cores-3-random", "healthy-cores-8-roundrobin",
                                           "healthy-cores-open-0.95-hash"),
    "what is not alike is not compared": ("healthy-cores-sizes-by-client", "healthy-cores-sizes-by-host",
                                          "healthy-cores-keys-by-client", "healthy-cores-unequal-work"),
    "hosts that are sent more than others": ("healthy-cores-uneven-shares-2", "healthy-cores-uneven-shares-4"),
    "changes of the load": ("load-sizes-33-times", "load-mix-for-puts", "load-mix-for-costly-puts", "load-more-threads"),
    "few requests of a host wait": ("few-long-waits-at-a-host",),
    "a hot object": ("hot-object",),
    "speed that changes little by little": ("falls-little-by-little-light", "warms-up-little-by-little-light"),
    "requests that hang take all threads": ("some-hang",),
    "a slow host, a slow client": ("half-speed-from-the-middle-3-random", "delete-slow-at-a-host", "client-with-a-slow-card",
                                   "host-and-client-slow", "one-of-four-hosts-fast"),
}


class Like(FindingsCase):
    def test_simulated(self):
        for what, kinds in KINDS.items():
            with self.subTest(what):
                r = subprocess.run([sys.executable, ROOT / "tests/bench/findings", "--seeds", "1-1", "--most-false", "0", "-v",
                                    BUILD / "s3analyze", *kinds], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   check=False)
                self.assertEqual(r.returncode, 0, r.stdout)

    def test_a_queue_of_long_requests(self):
        """One of four equal hosts gets more requests. Its short requests wait many times as long as they take."""
        load = Load(200, mix=(("GET", .5), ("PUT", .3), ("STAT", .2)), length_s=30, threads=32)
        load.slots = 3
        load.host_of = lambda t: 0 if load.random.random() < .25 else load.random.randrange(4)
        self.assertEqual([f["sentence"] for f in self.findings(load) if f["kind"] in ("slow-host", "fast-host")], [])

    def test_hosts_that_are_slow_in_turn(self):
        """The others are a reference as long as they are not slow themselves."""
        for hosts in 4, 2:
            load = Load(202, hosts=hosts, length_s=40, threads=6 * hosts)
            load.slots = 8
            load.factor = lambda s, h, *where, n=hosts: 3 if int(s * n / 40) == h else 1
            slow = sorted((f["scope"]["host"], f) for f in self.findings(load) if f["severity"] == "problem")
            self.assertEqual([host for host, _ in slow], [f"http://10.0.0.{h}:9000" for h in range(hosts)])
            for h, (_, f) in enumerate(slow):
                for key, at in ("start", h * 40 / hosts), ("end", (h + 1) * 40 / hosts):
                    self.assertAlmostEqual(seconds(f[key]) if key in f else 0 if key == "start" else 40, at, delta=1, msg=f)

    def test_most_hosts_are_slow_then_the_last_one(self):
        """None of them is the fast exception."""
        load = Load(400, length_s=40, threads=24)
        load.factor = lambda s, h, *where: 3 if (h < 3) == (s < 20) else 1
        slow = [f for f in self.findings(load) if f["severity"] == "problem"]
        self.assertEqual({(f["kind"], f["scope"]["host"], "start" in f, "end" in f) for f in slow},
                         {("slow-host", f"http://10.0.0.{h}:9000", h == 3, h < 3) for h in range(4)})
        for f in slow:
            self.assertAlmostEqual(seconds(f.get("start") or f["end"]), 20, delta=1)

    def test_a_client_and_a_host_that_meet_no_others(self):
        """One of them is slow; nobody knows which."""
        for factor in 1, 2.5:
            load = Load(203, clients=4, length_s=30, threads=16)
            load.host_of = lambda t, r=load.random: 2 if t // 4 == 2 else r.choice((0, 1, 3))
            load.factor = lambda s, h, *where, x=factor: x if h == 2 else 1
            found = [f for f in self.findings(load) if f["severity"] == "problem"]
            self.assertEqual([(f["kind"], f["scope"]) for f in found],
                             [("slow-host", {"host": "http://10.0.0.2:9000", "client": "client-2"})] * (factor > 1))
            for f in found:
                self.assertRegex(f["sentence"], "or client client-2, which meet no others, takes 2.[3-7] times as long")

    def test_each_client_is_near_another_host(self):
        """All clients are slow somewhere, so none is the exception."""
        load = Load(204, hosts=2, clients=2, length_s=30, threads=16)
        load.factor = lambda s, h, c, *where: 2 if h != c else 1
        self.assertEqual([f["sentence"] for f in self.findings(load) if f["kind"] in ("fast-host", "fast-client")], [])

    def test_clients_with_unequal_numbers_of_threads(self):
        load = Load(201, mix=(("GET", .6), ("STAT", .4)), length_s=30, threads=24, clients=6)
        load.slots = 2
        rows = load.rows().replace("\tclient-1\t", "\tclient-0\t").replace("\tclient-2\t", "\tclient-0\t") \
            .replace("\tclient-3\t", "\tclient-0\t").replace("\tclient-4\t", "\tclient-0\t")
        path = self.tmp / "unequal.csv"
        path.write_text(rows)
        found = self.s3analyze("analyze", "--json", path).json()["findings"]
        self.assertEqual([f["sentence"] for f in found if f["kind"] in ("slow-client", "fast-client")], [])


if __name__ == "__main__":
    unittest.main()
