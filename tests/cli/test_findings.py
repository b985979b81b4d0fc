"""Findings: runs with a known fault in them, of which the first finding must name kind, place, time and size; and
healthy runs, in which nothing is a problem.

A closed loop of threads picks hosts at random; durations are log-normal, times noise that is common to all and
slow, as that of real systems is. A fault is a factor on durations, a span in which requests hang, or errors.
"""
import heapq
import itertools
import json
import math
import random
import unittest

from harness import CliTest, TESTDATA
from oracle import SECOND, format_time, parse_time

START_S = 1777636800  # 2026-05-01T12:00:00Z
HEAD = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tend\tduration_ns"
MEDIAN_S = {"GET": .02, "PUT": .035, "STAT": .008, "DELETE": .01}


def stamp(ns):
    return format_time(START_S * SECOND + ns)


def seconds(text):
    return (parse_time(text) - START_S * SECOND) / SECOND


class Load:
    """What runs, and what befalls it: factor, hang and fail take time in s, host, client, op and thread."""

    def __init__(self, seed, mix=(("GET", 1),), length_s=20, threads=12, hosts=4, clients=1, rate=None):
        self.random = random.Random(seed)
        self.mix, self.length_s, self.threads, self.rate = mix, length_s, threads, rate
        self.rate_at = lambda s: self.rate
        self.last_first = False  # of an open loop: the thread that was free last takes what is due
        self.hosts, self.clients = hosts, clients
        self.noise_sd = .05
        self.slots = None  # requests that a host serves at a time; others wait. None: as many as there are
        self.think_s = 2e-5  # between a thread's requests
        self.spread = .35  # of the logarithms of durations
        self.host_of = lambda thread: self.random.randrange(self.hosts)
        self.time_out_s = None  # requests that hang fail after it
        self.factor = lambda *where: 1
        self.hangs = lambda *where: None  # the end of the span in which it hangs, or None
        self.fails = lambda *where: ""
        self.failed_s = .004  # how long a request that fails takes
        self.begins = lambda client: 0
        self.ends = lambda client: self.length_s
        self.thread_begins, self.thread_ends = lambda thread: 0, lambda thread: self.length_s
        self.requests_each = None  # of a thread; None: as many as it can
        self.size_of = None  # of an object, at a time; factor then has it, too. None: 64 KiB
        self.mix_at = lambda s: self.mix
        self.tick_ns = 1  # of the clients' clocks

    def noise(self):
        """Correlated over about two seconds."""
        values, x = [], 0
        for _ in range(self.length_s * 10 + 100):
            x = .95 * x + self.random.gauss(0, self.noise_sd * math.sqrt(1 - .95**2))
            values.append(math.exp(x))
        return values

    def rows(self):
        r, noise, rows = self.random, self.noise(), []
        free = [(max(self.begins(t * self.clients // self.threads), self.thread_begins(t)) + r.random() / 100, t)
                for t in range(self.threads)]
        heapq.heapify(free)
        due, made = 0, [0] * self.threads
        slots = self.taken_until = [[0] * (self.slots or 0) for _ in range(self.hosts)]
        while free:
            start, t = heapq.heappop(free)
            if self.rate:
                due += 1 / self.rate_at(due)
                if self.last_first:
                    rest = [(start, t)]
                    while free and free[0][0] <= due:
                        rest.append(heapq.heappop(free))
                    start, t = rest.pop()
                    for one in rest:
                        heapq.heappush(free, one)
                start = max(start, due)
            client = t * self.clients // self.threads
            if start >= min(self.ends(client), self.thread_ends(t)) or made[t] == self.requests_each:
                continue
            made[t] += 1
            host = self.host_of(t)
            op = r.choices(*zip(*self.mix_at(start)))[0]
            where = start, host, client, op, t
            size = self.size_of(start) if self.size_of else 65536
            factor = self.factor(*where, size) if self.size_of else self.factor(*where)
            length = MEDIAN_S[op] * math.exp(r.gauss(0, self.spread)) * noise[int(start * 10)] * factor
            error = self.fails(*where)
            if error:
                length = self.failed_s * math.exp(r.gauss(0, .2))
            if self.slots:
                wait = max(heapq.heappop(slots[host]) - start, 0)
                heapq.heappush(slots[host], start + wait + length)
                length += wait
            until = self.hangs(*where, length)
            if until is not None:
                length = until - start + length * r.random()
                if self.time_out_s and length > self.time_out_s:
                    error, length = "timed out", self.time_out_s + r.random() / 1000
            first, last = (int(s * 1e9) // self.tick_ns * self.tick_ns for s in (start, start + length))
            size = size if op != "STAT" and not error else 0
            rows.append((last, f"\t{t}\t{op}\tclient-{client}\t1\t{size}\thttp://10.0.0.{host}:9000\tk{r.randrange(500)}"
                               f"\t{error}\t{stamp(first)}\t\t{stamp(last)}\t{last - first}"
                               + (f"\t{stamp(int(due * 1e9))}" if self.rate else "")))
            heapq.heappush(free, (start + length + self.think_s, t))
        head = HEAD + ("\tintended" if self.rate else "")
        return "\n".join([head] + [f"{i}{row}" for i, (_, row) in enumerate(sorted(rows))]) + "\n"


def with_clock_set(rows, client, at_s, by_s):
    """The rows of a load, of which one client's clock is set while it runs."""
    lines = []
    for line in rows.splitlines():
        cells = line.split("\t")
        if cells[3] == client and seconds(cells[9]) >= at_s:
            cells[9], cells[11] = (stamp(round((seconds(cells[i]) + by_s) * 1e9)) for i in (9, 11))
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def span(begin, end, hit=lambda h, c, op, t: True):
    """Requests that are under way in the span, and meant, hang to its end."""
    return lambda s, h, c, op, t, length: end if s < end and s + length > begin and hit(h, c, op, t) else None


class FindingsCase(CliTest):
    def findings(self, load, *args):
        path = self.tmp / "run.csv"
        path.write_text(load.rows())
        return json.loads(self.s3analyze("analyze", "--json", *args, path).out)["findings"]

    def check_first(self, load, kind, scope=None, start=None, end=None, ratio=None, near_s=.6):
        all_ = self.findings(load)
        said = [f["sentence"] for f in all_]
        self.assertTrue(all_, kind)
        first = all_[0]
        self.assertEqual((first["kind"], first["scope"]), (kind, scope), said)
        for key, wanted in (("start", start), ("end", end)):
            if wanted is not None:
                self.assertAlmostEqual(seconds(first[key]), wanted, delta=near_s, msg=said)
        if ratio is not None:
            self.assertAlmostEqual(first["ratio"] / ratio, 1, delta=.25, msg=said)
        problems = [f["sentence"] for f in all_ if f["severity"] == "problem"]
        self.assertEqual(len(problems), 1, "one problem a cause")
        return first, all_

    def problems(self, load):
        return [f["sentence"] for f in self.findings(load) if f["severity"] == "problem"]


class Findings(FindingsCase):
    def test_healthy(self):
        for seed in range(4):
            load = Load(seed, mix=(("GET", .7), ("PUT", .3)), clients=1 + seed % 2)
            self.assertEqual([f["sentence"] for f in self.findings(load) if f["severity"] == "problem"], [])

    def test_late_starts(self):
        """Of an open loop: over 1 ms, from a hundredth of the requests on."""
        for n_late, late_ns, wanted in ((30, 2_000_000, True), (4, 2_000_000, True), (3, 2_000_000, False),
                                        (30, 1_000_000, False)):
            with self.subTest(n_late=n_late, late_ns=late_ns):
                rows = [HEAD + "\tintended"]
                for i in range(400):
                    due = i * 10_000_000
                    start = due + (late_ns if i % 13 == 5 and i // 13 < n_late else 1000)
                    rows.append(f"{i}\t0\tGET\tc\t1\t9\thttp://h:1\tk\t\t{stamp(start)}\t\t{stamp(start + 5_000_000)}"
                                f"\t5000000\t{stamp(due)}")
                path = self.tmp / "late.csv"
                path.write_text("\n".join(rows) + "\n")
                found = [f for f in json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
                         if f["kind"] == "late-starts"]
                self.assertEqual([(f["severity"], f["evidence"]) for f in found],
                                 [("notice", {"n_late": n_late, "n_requests": 400, "worst_ns": late_ns})] * wanted)

    def test_two_kinds_of_latency(self):
        """Requests of two speeds, without any fault."""
        load = Load(5)
        load.factor = lambda *where: 8 if load.random.random() < .3 else 1
        self.assertEqual([f for f in self.findings(load) if f["severity"] == "problem"], [])

    def test_heavy_tail(self):
        """The longest request of Pareto's law is no stuck thread."""
        for seed in (20, 22):
            load = Load(seed)
            load.factor = lambda *where, r=load.random: .5 * r.random() ** (-1 / 1.7)
            stuck = [f["sentence"] for f in self.findings(load) if f["kind"] == "stuck-thread"]
            self.assertEqual(stuck, [])

    def test_slow_noise(self):
        """Noise that lasts for seconds is no level."""
        for seed in range(30, 34):
            load = Load(seed, length_s=30)
            load.noise_sd = .1
            self.assertEqual(self.problems(load), [])

    def test_stall(self):
        load = Load(1)
        load.hangs = span(8, 10.5)
        self.check_first(load, "stall", None, 8, 10.5)

    def test_short_stalls(self):
        """Of stalls that are worth a notice each, one stands for all."""
        load = Load(24, length_s=40)
        spans = [span(5, 5.3), span(11, 11.5), span(26, 26.35)]
        load.hangs = lambda *where: next((end for s in spans if (end := s(*where)) is not None), None)
        stalls = [f for f in self.findings(load) if f["kind"] == "stall"]
        self.assertEqual([(f["severity"], f["evidence"]["n"]) for f in stalls], [("notice", 3)])
        self.assertAlmostEqual(seconds(stalls[0]["start"]), 11, delta=.1)
        self.assertAlmostEqual(stalls[0]["evidence"]["all_ns"] / 1e9, 1.15, delta=.2)
        self.assertRegex(stalls[0]["sentence"], r"usual rate\); 2 shorter ones, .* in all$")

    def test_stall_of_a_host(self):
        load = Load(2)
        load.hangs = span(9, 12.5, lambda h, c, op, t: h == 2)
        self.check_first(load, "stall", {"host": "http://10.0.0.2:9000"}, 9, 12.5)

    def test_stall_of_a_client(self):
        load = Load(3, clients=3)
        load.hangs = span(7, 11, lambda h, c, op, t: c == 1)
        first, _ = self.check_first(load, "stall", {"client": "client-1"}, 7, 11)
        self.assertRegex(first["sentence"], "^Client client-1 stalled")
        # The other two go on, however long the stall is against what is looked at around it.
        self.assertAlmostEqual(first["evidence"]["rate_frac"], 2 / 3, delta=.1)

    def test_stall_at_the_end(self):
        """All threads wait in their last requests: that is no run that comes in by itself."""
        load = Load(26)
        load.hangs = span(17, 23)
        self.check_first(load, "stall", None, 17, 23)

    def test_stall_with_time_outs(self):
        """One stall, not one for each time-out; the errors are its consequence."""
        load = Load(21)
        load.hangs, load.time_out_s = span(6, 12.5), 2
        _, all_ = self.check_first(load, "stall", None, 6, 12.5)
        self.assertEqual([f["because"] for f in all_ if f["kind"] == "errors"], [[0]])

    def test_host_that_times_out(self):
        load = Load(23)
        load.hangs, load.time_out_s = span(6, 10.5, lambda h, c, op, t: h == 1), 1
        self.check_first(load, "stall", {"host": "http://10.0.0.1:9000"}, 6, 10.5)

    def test_pauses(self):
        load = Load(4)
        pauses = [span(at, at + .45) for at in (1.5, 5.5, 9.5, 13.5, 17.5)]
        load.hangs = lambda *args: next((u for u in (p(*args) for p in pauses) if u is not None), None)
        first, _ = self.check_first(load, "pauses")
        self.assertAlmostEqual(first["period_ns"] / 4e9, 1, delta=.1)

    def test_pauses_of_a_host(self):
        """As of a collection of garbage: one finding, not one each."""
        load = Load(101, length_s=16, hosts=6)
        load.hangs = lambda s, h, c, op, t, length: s // 2 * 2 + .3 if h == 2 and s % 2 < .3 else None
        first, all_ = self.check_first(load, "pauses", {"host": "http://10.0.0.2:9000"})
        self.assertAlmostEqual(first["period_ns"] / 1e9, 2, delta=.1)
        self.assertNotIn("stall", [f["kind"] for f in all_])

    def test_slow_host(self):
        load = Load(5)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 else 1
        self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, ratio=3)

    def test_saturated_hosts(self):
        """Where requests wait for each other the queues of equal hosts wander, and each has its time of being slow."""
        for seed in range(40, 46):
            load = Load(seed, length_s=30, threads=24, hosts=3 + seed % 3)
            load.slots = 1
            self.assertEqual([f["sentence"] for f in self.findings(load) if f["kind"] == "slow-host"], [])
            load = Load(seed, length_s=30, threads=24, hosts=4)
            load.slots, load.factor = 2, lambda s, h, c, op, t: 2 if h == 1 else 1
            slow = [f["scope"]["host"] for f in self.findings(load) if f["kind"] == "slow-host"]
            self.assertEqual(slow, ["http://10.0.0.1:9000"])

    def test_longer_queues(self):
        """Equal hosts with queues that stay unequal: two of four hosts have two threads, the others one."""
        for spread in (0, .35):
            load = Load(50, threads=6)
            load.slots, load.spread, load.noise_sd = 1, spread, spread / 10
            load.host_of = lambda thread: thread % 4
            self.assertEqual([f for f in self.findings(load) if f["kind"] == "slow-host"], [], spread)

    def test_queues_that_hide_a_slow_host(self):
        """Who sends chooses the host that can begin first: all requests take about as long, and most of it is wait. Whether a
        host works more slowly, or has less to do, the file does not show. No healthy host is accused."""
        for factor in (1, 1.5):
            load = Load(51, length_s=15, threads=48, hosts=3)
            load.slots = 4
            load.host_of = lambda thread, load=load: min(range(3), key=lambda h: min(load.taken_until[h]))
            load.factor = lambda s, h, c, op, t, factor=factor: factor if h == 1 else 1
            self.assertLessEqual({f["scope"]["host"] for f in self.findings(load) if f["kind"] == "slow-host"},
                                 {"http://10.0.0.1:9000"} if factor > 1 else set())

    def test_queue_of_a_slow_host_that_grows(self):
        """In the end all threads wait at the slow host. Then throughput falls, which is no second problem."""
        load = Load(52, length_s=30, threads=192, hosts=6)
        load.slots, load.spread, load.noise_sd = 8, 0, 0
        load.factor = lambda s, h, c, op, t: 1.5 if h == 1 else 1
        _, all_ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"})
        self.assertEqual([(f["kind"], f["because"]) for f in all_[1:]], [("warm-up", [0])])

    def test_slow_host_from(self):
        load = Load(6)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 and s >= 9 else 1
        _, all_ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, start=9, ratio=3, near_s=1)
        for f in all_:
            if f["kind"] == "drop":
                self.assertEqual(f["because"], [0])

    def test_slow_host_of_two(self):
        load = Load(27, hosts=2)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 else 1
        first, _ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, ratio=3)
        self.assertRegex(first["sentence"], "times as long as the other host$")

    def test_slow_host_for_one_operation(self):
        """The ratio is that of this operation, not a mean over others that are as fast as ever."""
        load = Load(31, mix=(("GET", .6), ("PUT", .4)))
        load.factor = lambda s, h, c, op, t: 4 if h == 1 and op == "PUT" and s >= 9 else 1
        first, all_ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, start=9, ratio=4, near_s=1)
        self.assertEqual(first["op"], "PUT")
        self.assertRegex(first["sentence"], r"takes [34]\.\d times as long as the other 3 hosts for PUT requests")
        for f in all_[1:]:
            if f["kind"] in ("slow-op", "drop"):
                self.assertEqual(f["because"][0], 0, f)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 else 1
        first, _ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, ratio=3)
        self.assertIsNone(first["op"])

    def test_slow_host_for_few_requests(self):
        """What is slow in a tenth of the requests does not show among all."""
        load = Load(35, mix=(("GET", .9), ("PUT", .1)), length_s=30, threads=24)
        load.factor = lambda s, h, c, op, t: 3 if h == 2 and op == "PUT" else 1
        first, _ = self.check_first(load, "slow-host", {"host": "http://10.0.0.2:9000"}, ratio=3)
        self.assertEqual(first["op"], "PUT")
        self.assertIn(" for PUT requests", first["sentence"])

    def test_slow_host_for_large_objects(self):
        """Sizes are told apart by powers of four."""
        load = Load(36, length_s=30, threads=24)
        load.size_of = lambda s: 1 << 20 if load.random.random() < .1 else 4096
        load.factor = lambda s, h, c, op, t, size: 3 if h == 2 and size == 1 << 20 else 1
        first, _ = self.check_first(load, "slow-host", {"host": "http://10.0.0.2:9000"}, ratio=3)
        self.assertIn(" for requests of 1MiB", first["sentence"])
        self.assertEqual((first["evidence"]["min_bytes"], first["evidence"]["max_bytes"]), (1 << 20, 1 << 20))

    def test_slow_host_twice(self):
        load = Load(32, length_s=24)
        load.factor = lambda s, h, c, op, t: 4 if h == 1 and (3 <= s < 8 or 14 <= s < 20) else 1
        slow = sorted((f for f in self.findings(load) if f["kind"] == "slow-host"), key=lambda f: f["start"])
        self.assertEqual(len(slow), 2)
        for f, start, end in (slow[0], 3, 8), (slow[1], 14, 20):
            self.assertEqual(f["scope"], {"host": "http://10.0.0.1:9000"})
            self.assertAlmostEqual(seconds(f["start"]), start, delta=1)
            self.assertAlmostEqual(seconds(f["end"]), end, delta=1)
            self.assertAlmostEqual(f["ratio"] / 4, 1, delta=.25)

    def test_slow_host_again_and_again(self):
        """Each time is short, and all together are sure."""
        begins = (2, 8, 14, 21)
        load = Load(33, length_s=30)
        load.factor = lambda s, h, c, op, t: 4 if h == 1 and any(b <= s < b + 1.4 for b in begins) else 1
        slow = sorted((f for f in self.findings(load) if f["kind"] == "slow-host"), key=lambda f: f["start"])
        self.assertEqual({f["scope"]["host"] for f in slow}, {"http://10.0.0.1:9000"})
        self.assertEqual(len(slow), len(begins))
        for f, begin in zip(slow, begins):
            self.assertAlmostEqual(seconds(f["start"]), begin, delta=.5)
            self.assertAlmostEqual(f["ratio"] / 4, 1, delta=.25)

    def test_slow_host_around_a_stall(self):
        load = Load(34, length_s=30)
        load.factor = lambda s, h, c, op, t: 3 if h == 1 and 10 <= s < 15 else 1
        load.hangs = span(12, 13.5)
        found = self.findings(load)
        slow, = (f for f in found if f["kind"] == "slow-host")
        self.assertEqual(slow["scope"], {"host": "http://10.0.0.1:9000"})
        self.assertAlmostEqual(slow["ratio"] / 3, 1, delta=.2)
        self.assertEqual([f["kind"] for f in found if f["severity"] == "problem" and f != slow], ["stall"])

    def test_two_slow_hosts(self):
        load = Load(7, hosts=5)
        load.factor = lambda s, h, c, op, t: 2.5 if h in (1, 3) else 1
        slow = {f["scope"]["host"] for f in self.findings(load) if f["kind"] == "slow-host"}
        self.assertEqual(slow, {"http://10.0.0.1:9000", "http://10.0.0.3:9000"})

    def test_slow_client(self):
        load = Load(8, clients=3)
        load.factor = lambda s, h, c, op, t: 2.5 if c == 2 else 1
        self.check_first(load, "slow-client", {"client": "client-2"}, ratio=2.5)

    def test_slow_pair(self):
        """One client is slow at one host: neither of them is slow elsewhere."""
        load = Load(71, clients=3, threads=24)
        load.factor = lambda s, h, c, op, t: 5 if (h, c) == (1, 2) else 1
        pair = {"host": "http://10.0.0.1:9000", "client": "client-2"}
        first, all_ = self.check_first(load, "slow-host", pair, ratio=5)
        self.assertIn(" times as long for requests of client client-2 as for those of other clients", first["sentence"])
        self.assertEqual([f["scope"] for f in all_ if f["kind"] in ("slow-host", "slow-client")], [pair])
        load.factor = lambda s, h, c, op, t: (3 if h == 1 else 1) * (2 if c == 2 else 1)
        self.assertEqual([f["scope"] for f in self.findings(load) if f["kind"] in ("slow-host", "slow-client")],
                         [{"host": pair["host"]}, {"client": pair["client"]}])

    def test_client_that_asks_a_slow_host_more(self):
        load = Load(72, clients=2, hosts=3)
        load.host_of = lambda t: 1 if t >= 6 and load.random.random() < .4 else load.random.randrange(3)
        load.factor = lambda s, h, c, op, t: 4 if h == 1 else 1
        _, all_ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"}, ratio=4)
        self.assertNotIn("slow-client", [f["kind"] for f in all_])

    def test_slow_operation(self):
        load = Load(9, mix=(("GET", .6), ("PUT", .4)))
        load.factor = lambda s, h, c, op, t: 2.5 if op == "PUT" and s >= 10 else 1
        first, _ = self.check_first(load, "slow-op", start=10, ratio=2.5, near_s=1)
        self.assertEqual(first["op"], "PUT")

    def test_operation_that_is_slow_for_a_while(self):
        load = Load(31, mix=(("GET", .7), ("PUT", .15), ("STAT", .15)), length_s=30)
        load.factor = lambda s, h, c, op, t: 3 if op == "PUT" and (6 <= s < 10 or 20 <= s < 24) else 1
        said = [f for f in self.findings(load) if f["severity"] == "problem"]
        self.assertEqual([(f["kind"], f["op"]) for f in said], [("slow-op", "PUT")] * 2)
        for f, (start, end) in zip(sorted(said, key=lambda f: f["start"]), ((6, 10), (20, 24))):
            self.assertAlmostEqual(f["ratio"], 3, delta=.4)
            self.assertAlmostEqual(seconds(f["start"]), start, delta=.6)
            self.assertAlmostEqual(seconds(f["end"]), end, delta=.6)

    def test_size_that_is_slow_from(self):
        """Of an open loop: throughput is given, and most requests take as long as before."""
        load = Load(37, length_s=30, threads=60, rate=300)
        load.size_of = lambda s: 1 << 20 if load.random.random() < .2 else 4096
        load.factor = lambda s, h, c, op, t, size: 3 if s >= 14 and size == 1 << 20 else 1
        first, _ = self.check_first(load, "slow-op", start=14, ratio=3)
        self.assertRegex(first["sentence"], "^Requests of 1MiB to 4MiB take 3.[01] times as long from 12:00:1[34].. on [(]typical ")

    def test_drop(self):
        load = Load(10)
        load.factor = lambda s, h, c, op, t: 1.6 if s >= 11 else 1
        _, all_ = self.check_first(load, "drop", start=11, ratio=1 / 1.6, near_s=1)
        self.assertEqual(len(all_), 1, "durations follow")

    def test_a_drop_in_two_steps_is_one(self):
        """So is one that comes back by way of a level between."""
        for seed, steps in ((97, ((8, 6), (14, 2.2))), (98, ((8, 4), (17, 1.5)))):
            load = Load(seed, length_s=40)
            load.factor = lambda s, *where: next((f for at, f in reversed(steps) if at <= s < 20), 1)
            first, all_ = self.check_first(load, "drop", start=8)
            self.assertEqual(len(all_), 1, all_)
            self.assertGreater(seconds(first["end"]), steps[1][0] - 1)
            self.assertLess(seconds(first["end"]), 21)

    def test_a_drop_that_is_taken_back_in_steps(self):
        """As when a cache fills again: the way back is no finding of its own."""
        load = Load(101, length_s=40)
        load.factor = lambda s, *where: 1 if s < 12 else 2.4 if s < 16 else 1.3 if s < 21 else 1
        drop, = self.findings(load)
        self.assertEqual(drop["kind"], "drop")
        self.assertAlmostEqual(seconds(drop["start"]), 12, delta=.6)

    def test_threads_that_end_or_begin(self):
        """Throughput follows their number: that is a change of the load, and no drop."""
        load = Load(33)
        load.thread_ends = lambda t: 11 if t < 6 else 20
        first, = self.findings(load)
        self.assertEqual((first["kind"], first["severity"]), ("load-change", "notice"))
        self.assertAlmostEqual(seconds(first["start"]), 11, delta=1)
        self.assertIn(" 6 threads are at work, not 12: requests/s fell by 5", first["sentence"])
        load = Load(34, length_s=30)
        load.thread_begins = lambda t: t * .9
        levels = [f for f in self.findings(load) if f["kind"] in ("rise", "warm-up", "load-change")]
        self.assertEqual({f["kind"] for f in levels}, {"load-change"})
        for f in levels:
            self.assertLess(f["evidence"]["threads_before"], f["evidence"]["threads_after"])
        load = Load(10)
        load.factor = lambda s, h, c, op, t: 1.6 if s >= 11 else 1
        first, all_ = self.check_first(load, "drop", start=11, ratio=1 / 1.6, near_s=1)
        self.assertNotIn("load-change", {f["kind"] for f in all_})

    def test_drift(self):
        load = Load(11, length_s=30)
        load.factor = lambda s, h, c, op, t: 1 + s / 30
        self.check_first(load, "drift", ratio=.5)

    def test_warm_up(self):
        load = Load(12)
        load.factor = lambda s, h, c, op, t: 2.2 if s < 4 else 1
        self.check_first(load, "warm-up", start=0, end=4, near_s=1)

    def test_short_warm_up(self):
        """It can be left out, and changes the throughput by less than a tenth: said, but no problem."""
        load = Load(12)
        load.factor = lambda s, h, c, op, t: 2.2 if s < 2.5 else 1
        self.assertEqual([(f["kind"], f["severity"]) for f in self.findings(load)], [("warm-up", "notice")])

    def test_a_warm_up_that_rises_smoothly(self):
        """It is one finding, however long it lasts. A rise that comes much later is another one."""
        load = Load(703, length_s=120)
        load.factor = lambda s, *where: 4 - 3 * min(1, s / 48)
        self.assertEqual([f["kind"] for f in self.findings(load)], ["warm-up"])
        self.check_first(load, "warm-up", start=0, end=45, near_s=5)
        load.factor = lambda s, *where: 2 if s < 12 else 1.5 if s < 50 else 1
        self.assertEqual(sorted(f["kind"] for f in self.findings(load)), ["rise", "warm-up"])

    def test_burst_of_errors(self):
        load = Load(13)
        load.fails = lambda s, h, c, op, t: "slow down" if 8 <= s < 10 and load.random.random() < .4 else ""
        self.check_first(load, "errors", start=8, end=10)

    def test_errors_of_half_of_the_run(self):
        load = Load(24)
        load.fails = lambda s, h, c, op, t: "refused" if h == 2 and s >= 9 else ""
        first, _ = self.check_first(load, "errors", {"host": "http://10.0.0.2:9000"}, start=9)
        self.assertNotIn("end", first)

    def test_errors_of_a_host(self):
        load = Load(14)
        load.fails = lambda s, h, c, op, t: "reset" if h == 0 and load.random.random() < .1 else ""
        self.check_first(load, "errors", {"host": "http://10.0.0.0:9000"})

    def test_two_steady_errors(self):
        """The more frequent is the problem."""
        for first, second in ("rare", "often"), ("often", "rare"):  # whatever the order of the messages
            load = Load(77)
            share = {first: .02 if first == "rare" else .08, second: .02 if second == "rare" else .08}
            load.fails = lambda *where: next((e for e, p in share.items() if load.random.random() < p), "")
            found = {f["sentence"].rpartition(": ")[2]: f["severity"] for f in self.findings(load) if f["kind"] == "errors"}
            self.assertEqual(found, {"often": "problem", "rare": "notice"})

    def test_errors_before_a_long_stall(self):
        """Those that hang in it fail at its end: a burst all the same, though the stall is most of the run."""
        load = Load(28, length_s=40)
        load.hangs = span(3, 38)
        load.fails = lambda s, h, c, op, t: "gone" if 1 <= s < 3 else ""
        errors = [f for f in self.findings(load) if f["kind"] == "errors"]
        self.assertEqual(len(errors), 1)
        self.assertAlmostEqual(seconds(errors[0]["start"]), 1, delta=.6)

    def test_time_outs_throughout(self):
        """What comes in after the last start is no burst. Few requests, but much of the threads' time: a problem."""
        load = Load(29)
        load.hangs = lambda s, h, c, op, t, length: s + 9 if h == 1 and load.random.random() < .02 else None
        load.time_out_s = 5
        first, _ = self.check_first(load, "errors", {"host": "http://10.0.0.1:9000"})
        self.assertNotIn("start", first)
        self.assertGreater(first["evidence"]["time_share"], .5)
        self.assertRegex(first["sentence"], r"% of the threads' time\) throughout the run: timed out$")

    def test_many_kinds_of_errors(self):
        """Those that come once each are one finding, and none of them stands for the others."""
        load = Load(30)
        load.fails = lambda s, h, c, op, t: ("no key %d" % load.random.randrange(10**5)
                                             if load.random.random() < .03 else "")
        first, all_ = self.check_first(load, "errors")
        self.assertEqual(len(all_), 1)
        self.assertRegex(first["sentence"], "throughout the run: [0-9]+ kinds of errors, such as: no key [0-9]+$")
        report = json.loads(self.s3analyze("analyze", "--json", self.tmp / "run.csv").out)
        self.assertEqual(first["evidence"]["n_errors"], sum(op["n_errors"] for op in report["operations"]))

    def test_a_number_of_requests_each(self):
        """Threads that have made theirs end one after the other: the rest is no stall, and no drop."""
        for seed in range(3):
            load = Load(seed, threads=24, length_s=60)
            load.requests_each = 150
            self.assertEqual([f["kind"] for f in self.findings(load) if f["kind"] in ("stall", "drop")], [])

    def test_clients_that_are_started_one_by_one(self):
        load = Load(1, threads=40, clients=20)
        load.begins = lambda client: client / 8
        self.assertEqual(self.problems(load), [])

    def test_late_client(self):
        load = Load(15, clients=4)
        load.begins = lambda client: 6 if client == 3 else 0
        self.check_first(load, "absent-client", {"client": "client-3"}, 0, 6, near_s=1)

    def test_stuck_thread(self):
        load = Load(16)
        load.hangs = span(5, 15, lambda h, c, op, t: t == 4)
        self.check_first(load, "stuck-thread", {"thread": 4}, 5, 15, near_s=1)

    def test_thread_that_hangs_several_times_in_a_row(self):
        """Each request alone is too short for a finding. A host is named if all were sent to it."""
        for of_one_host in True, False:
            load = Load(16)
            hung = [span(at, at + .6, lambda h, c, op, t: t == 4) for at in (5, 5.6, 6.2)]
            load.hangs = lambda *where, hung=hung: next((end for s in hung if (end := s(*where)) is not None), None)
            turns = itertools.count()
            load.host_of = lambda thread, turns=turns, one=of_one_host: thread % 4 if one or thread != 4 else next(turns) % 4
            found = [f for f in self.findings(load) if f["kind"] == "stuck-thread"]
            self.assertEqual([(f["severity"], f["scope"], f["evidence"]["n_requests"]) for f in found], [("notice", {"thread": 4}, 3)])
            at = " at http://10.0.0.0:9000" if of_one_host else ""
            self.assertIn(f"in 3 requests in a row (GET){at} from", found[0]["sentence"])

    def test_backlog(self):
        load = Load(17, rate=330)
        load.factor = lambda s, h, c, op, t: 2.6 if s >= 8 else 1
        self.check_first(load, "backlog", start=8, near_s=1.2)

    def test_backlog_that_threads_take_up(self):
        """Requests wait at the hosts before there is no thread left to send them."""
        load = Load(17, rate=330, threads=160)
        load.slots, load.factor = 3, lambda s, h, c, op, t: 2.6 if s >= 8 else 1
        self.check_first(load, "backlog", start=8)

    def test_durations_of_an_open_loop(self):
        """The rate is that which was asked for, before and after."""
        load = Load(50, rate=200, threads=60)
        load.factor = lambda s, h, c, op, t: 2 if s >= 9 else 1
        first, all_ = self.check_first(load, "slow-op", start=9, ratio=2)
        self.assertEqual(len(all_), 1)
        self.assertRegex(first["sentence"], r"^GET takes 2.[01] times as long from \S+ on \(typical response time (19|20|21)[.]\dms -> "
                         r"(39|40|41)[.]\dms, with as many requests under way as on average\)$")
        self.assertNotIn("end", first)

    def test_a_bell_that_begins_with_the_run(self):
        """There is no time before it: its beginning tells how long requests take without it."""
        for kind in {"rate": 150, "threads": 24}, {"mix": (("GET", .5), ("PUT", .5)), "threads": 24}:
            load = Load(300, length_s=40, **kind)
            load.noise_sd = .02
            load.factor = lambda s, h, c, op, t: 1 + 2 * math.exp(-(s / 10 - 1) ** 2 * 2) if op == load.mix[-1][0] else 1
            first, _ = self.check_first(load, "slow-op", end=20)
            self.assertNotIn("start", first)
            self.assertRegex(first["sentence"], r"^[GP][EU]T takes 1\.\d times as long until .* \d\d\.\dms -> \d\d\.\dms[,)]")

    def test_spike_of_an_open_loop(self):
        """It ends when what has waited is done, and no host is to blame."""
        load = Load(51, rate=400, threads=200)
        load.slots, load.factor = 4, lambda s, h, c, op, t: 5 if 8 <= s < 11 else 1
        first, _ = self.check_first(load, "slow-op", start=8)
        self.assertGreater(seconds(first["end"]), 11)

    def test_durations_of_threads_that_think(self):
        """Throughput falls by less than durations grow: that is a consequence."""
        load = Load(52, threads=24)
        load.think_s, load.factor = .04, lambda s, h, c, op, t: 2 if s >= 9 else 1
        first, all_ = self.check_first(load, "slow-op", start=9, ratio=2)
        self.assertIn("on (typical duration ", first["sentence"])
        self.assertEqual([f["because"] for f in all_[1:]], [[0]])

    def test_clients_one_after_the_other(self):
        """That no request is in a figure is one problem, whatever the number of operations."""
        load = Load(25, mix=(("GET", .6), ("PUT", .4)), clients=2)
        load.begins = lambda client: 10 * client
        load.ends = lambda client: 10 * client + 10
        all_ = self.findings(load)
        self.assertEqual([(f["kind"], f["op"]) for f in all_ if f["severity"] == "problem"], [("left-out", None)])
        self.assertIn(("few-samples", None), [(f["kind"], f["op"]) for f in all_])

    def test_operation_that_always_fails(self):
        """That it has no figures is a consequence."""
        load = Load(31, mix=(("GET", .7), ("STAT", .3)), length_s=10)
        load.fails = lambda s, h, c, op, t: "not implemented" if op == "STAT" else ""
        all_ = self.findings(load)
        few, = [f for f in all_ if f["kind"] == "few-samples"]
        self.assertEqual([(all_[i]["kind"], all_[i]["op"]) for i in few["because"]], [("errors", "STAT")])

    def test_one_error(self):
        load = Load(32, length_s=6)
        hit = []
        load.fails = lambda s, h, c, op, t: "once" if s > 4 and not hit and not hit.append(s) else ""
        self.assertRegex(self.findings(load)[0]["sentence"], r"^1 request failed .* at 12:00:04\.\d: once")

    def test_exit_status(self):
        path = self.tmp / "run.csv"
        for factor, status in ((1, 0), (3, 1)):
            load = Load(18)
            load.factor = lambda s, h, c, op, t, f=factor: f if h == 1 else 1
            path.write_text(load.rows())
            self.s3analyze("analyze", "--exit-on", "problem", path, status=status)

    def test_first_lines(self):
        """A sentence, what was found, then the figures."""
        load = Load(19)
        load.hangs = span(8, 10.5)
        path = self.tmp / "run.csv"
        path.write_text(load.rows())
        text = " ".join(self.s3analyze("analyze", path).out.split())
        self.assertRegex(text, r"^GET of 64KiB, 12 threads, 4 hosts: \d.* median \d.*; no errors\. 1 problem\. 95 % CI "
                               r"unreliable: see the finding of a stall: 1\. Problem: Stalled for 2\.\ds from 12:00:0[78]")

    def test_nothing_found_in_next_to_nothing(self):
        """What was not looked for is not said to be well."""
        lines = Load(18, threads=2, hosts=1, length_s=60).rows().splitlines()
        for n, said in ((60, "No finding: no errors, but too few requests to show if throughput is "
                                                 "steady."), (4000, "No finding: steady, even, no errors.")):
            (self.tmp / "few.csv").write_text("\n".join(lines[:n + 1]) + "\n")
            out = self.s3analyze("analyze", "--dur", "1ms", self.tmp / "few.csv").out
            self.assertRegex(out, r"(?m)^" + said.replace(".", "[.]") + "$")

    def test_preparation_has_none(self):
        for path in sorted(TESTDATA.glob("*.csv.zst")):
            with self.subTest(capture=path.name):
                report = json.loads(self.s3analyze("analyze", "--json", path).out)
                preparation = {o["op"] for o in report["operations"][:-1]} if not report["mixed"] else set()
                self.assertEqual([f for f in report["findings"] if f["op"] in preparation and f["kind"] != "errors"], [])


if __name__ == "__main__":
    unittest.main()
