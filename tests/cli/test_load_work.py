"""s3load ends after so much work (--requests, --bytes), and warms up unrecorded (--warmup)."""
import json

from harness import TIMEOUT_S
from loadcase import Capture, LoadTest

SIZE = ("--obj.size", "4KiB", "--concurrent", "4", "-q")


class Work(LoadTest):
    def setUp(self):
        super().setUp()
        self.start()

    def capture_of(self, command, *options, **kwargs):
        pool = () if command == "put" else ("--objects", "120" if command == "mixed" else "20")
        self.s3load(command, *SIZE, *pool, "--benchdata", "run", *options, **kwargs)
        path = self.tmp / "run.csv.zst"
        c = Capture(path)
        path.unlink()
        return c

    def test_requests(self):
        """Exactly so many of the benchmark, in closed and open loops; the preparation does not count."""
        for command, op, options in (("get", "GET", ()), ("get", "GET", ("--rate", "2000")), ("stat", "STAT", ()),
                                     ("delete", "DELETE", ("--batch", "1"))):
            with self.subTest(command=command, options=options):
                c = self.capture_of(command, "--requests", "17", *options)
                self.assertEqual(c.ops()[op], 17)
                self.assertEqual(c.end["requests"], 17)
                self.assertEqual(c.end["end"], "done")
                self.assertEqual(c.end.get("not_begun", 0), 0)
        c = self.capture_of("mixed", "--requests", "101")
        self.assertEqual(sum(c.ops().values()), 101)

    def test_more_requests_than_the_time_allows(self):
        # not decisive: no machine sends so many
        c = self.capture_of("get", "--requests", "1000000000", "--duration", "200ms")
        self.assertEqual(c.end["end"], "duration")

    def test_assertions_about_no_request(self):
        """A time that is over before the first request meets no assertion, whatever the preparation was like."""
        for command, *options in (("put",), ("get", "--objects", "20"), ("mixed", "--objects", "20", "--json")):
            with self.subTest(command):
                # not decisive: no machine begins so soon
                r = self.s3load(command, *SIZE, *options, "--duration", "1ns", "--slo", "p99<1h", status=3)
                self.assertIn("ended before its first request: --slo is undecided", r.err)

    def test_bytes(self):
        """No request begins once so much was moved: at most one more for each worker."""
        n = len(self.capture_of("get", "--bytes", "1MiB").of("GET"))
        self.assertGreaterEqual(n, 256)
        self.assertLess(n, 256 + 4)
        n = len(self.capture_of("put", "--bytes", "64KiB").of("PUT"))
        self.assertGreaterEqual(n, 16)
        self.assertLess(n, 16 + 4)

    def test_warm_up(self):
        """The server sees the requests of the warm-up, and the capture has none of them."""
        clock, move = self.movable_clock()
        p = self.begin("put", *SIZE, "--requests", "30", "--warmup", "1h", "--request-timeout", "9h", "--benchdata", "run", env=clock)
        self.wait_until(lambda: any(r["op"] == "PUT" for r in self.server.log()), p)
        self.assertEqual(Capture(self.tmp / "run.csv.zst").rows, [])
        move(3600)
        err = p.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(p.returncode, 0, err)
        c = Capture(self.tmp / "run.csv.zst")
        self.assertEqual(c.ops(), {"PUT": 30})
        self.assertIn("warmup", json.dumps(c.start))

    def test_warm_up_of_an_open_loop(self):
        """Due times count from the end of the warm-up."""
        c = self.capture_of("get", "--requests", "40", "--warmup", "250ms", "--rate", "400")
        get = c.of("GET")
        self.assertEqual(len(get), 40)
        first = min(r.intended for r in get)
        self.assertEqual(sorted(r.intended - first for r in get), [i * 2_500_000 for i in range(40)])
        self.assertLess(max(r.start - r.intended for r in get), 60_000_000_000)

    def test_wrong(self):
        self.s3load("get", "--requests", "0", status=2)
        self.s3load("get", "--bytes", "0", status=2)
        for command in "list", "stat", "delete", "retention":
            r = self.s3load(command, *SIZE, "--bytes", "1KiB", status=2)
            self.assertIn(f"{command} moves no bytes of objects", r.err)
