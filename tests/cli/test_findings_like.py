"""Slow hosts, clients and objects are found like with like: on runs whose truth is known, of hosts that share their cores
among all requests, and of hosts with queues."""
import subprocess
import sys
import unittest

from harness import BUILD, ROOT
from test_findings import FindingsCase, Load

KINDS = {
    "equal hosts that share their cores": ("healthy-cores-3-random", "healthy-cores-8-roundrobin",
                                           "healthy-cores-open-0.95-hash"),
    "what is not alike is not compared": ("healthy-cores-sizes-by-client", "healthy-cores-sizes-by-host",
                                          "healthy-cores-keys-by-client", "healthy-cores-unequal-work"),
    "changes of the load": ("load-sizes-33-times", "load-mix-for-puts", "load-more-threads"),
    "a hot object": ("hot-object",),
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
