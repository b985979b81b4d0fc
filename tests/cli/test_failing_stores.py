"""A store that fails is not good enough: no gate, limit or trend passes it, and none fails a sound one."""
import random
import re

import capgen
from capgen import SECOND
from harness import CliTest, judged, unwrapped

MS = SECOND // 1000
DAY = 86400 * SECOND


def run(seed, fault=None, day=0, threads=4, seconds=5, ops=("GET",), took=10):
    """Requests of `took` ms +- 40 %. fault: (from, to) in shares of the time, ms of a failed request, its operation."""
    r = random.Random(seed)
    rows = []
    for thread in range(threads):
        now, k = thread * 1000, thread
        while now < seconds * SECOND:
            op, ms = ops[(k := k + 1) % len(ops)], took
            fails = fault and fault[0][0] <= now / seconds / SECOND < fault[0][1] and fault[2] in (None, op)
            ns = int((fault[1] if fails else ms) * MS * r.uniform(.6, 1.4))
            rows.append(capgen.row(day * DAY + now, day * DAY + now + ns, thread=thread, op=op,
                                   size=0 if fails else 100_000, error="503 SlowDown" if fails else ""))
            now += ns
    return sorted(rows)


def reached(rows):
    """Bytes of successful requests a second, from the first start to the last end."""
    return sum(r.bytes for r in rows if not r.error) * SECOND / (max(r.end for r in rows) - min(r.start for r in rows))


# When it fails, how long a failed request takes, which operation fails.
FAULTS = [((.9, 1), 1, None), ((0, .15), 40, None), ((.4, .6), 1, None), ((.4, 1), 400, None), ((.5, 1), .5, "PUT"),
          ((0, .4), 10, "PUT"), ((.3, .7), 60, "PUT")]


class Stores(CliTest):
    def written(self, name, rows):
        return self.put(f"{name}.csv", capgen.text(rows))

    def runs(self, name, n=5, first_day=0, **how):
        return [self.written(f"{name}{i}", run(f"{name}{i}", day=first_day + i, **how)) for i in range(n)]

    def judged(self, command, *args):
        return self.s3analyze(command, *args, status=None).status


class FailingStores(Stores):
    def test_none_passes_and_no_sound_one_fails(self):
        for ops in ("GET",), ("GET", "PUT"):
            good, same = self.runs("good", ops=ops), self.runs("same", ops=ops, first_day=10)
            more = self.runs("more", n=4, ops=ops, first_day=5)
            rows = run("same0", ops=ops)
            self.assertEqual(self.judged("cmp", "--gate", "throughput:5%,errors:1%", "--before", *good, "--after", *same), 0)
            self.assertEqual(self.judged("analyze", "--slo", f"errors<1%, throughput>{.9 * reached(rows):.0f}B/s", same[0]), 0)
            self.assertEqual(self.judged("trend", "--no-cache", "--check-last", *good, *more, same[0]), 0)
            for fault in FAULTS:
                if fault[2] not in (None, *ops):
                    continue
                with self.subTest(ops=ops, fault=fault):
                    bad = self.runs("bad", ops=ops, fault=fault, first_day=10)
                    rows = run("bad0", ops=ops, fault=fault)
                    for gate in "throughput:5%,errors:1%", "errors:1%":
                        self.assertEqual(self.judged("cmp", "--gate", gate, "--before", *good, "--after", *bad), 1)
                    self.assertIn(self.judged("cmp", "--gate", "p99:10%", "--before", *good, "--after", *bad), (1, 3))
                    for limit in "errors<0.1%", f"throughput>{1.1 * reached(rows):.0f}B/s":
                        self.assertIn(self.judged("analyze", "--slo", limit, bad[0]), (1, 3))
                    self.assertIn(self.judged("trend", "--no-cache", "--check-last", *good, *more, bad[0]), (1, 3))

    def test_the_figure_does_not_jump(self):
        """However few or many fail at an end: what was delivered over the time of all requests, in every format."""
        for share in 0, .01, .05, .09, .11, .2, .6:
            for fault in ((1 - share, 1), 5, None), ((0, share), 5, None):
                rows = run(1, fault=fault)
                path = self.written("run", rows)
                answer, = self.s3analyze("analyze", "--json", "--slo", "throughput>1B/s", path,
                                         status=None).json()["slo"]["assertions"]
                self.assertAlmostEqual(answer["value"] / reached(rows), 1, delta=.01)
                line, = self.s3analyze("table", "--no-cache", "--json", path).json()["rows"]
                self.assertEqual(line["throughput"]["value"], answer["value"])
                op, = self.s3analyze("analyze", "--json", path).json()["operations"]
                self.assertEqual(judged(op)["bytes_per_s"], answer["value"])
                self.assertEqual(op["judged"] is None, share == 0)
                metric, = [m for m in self.s3analyze("cmp", "--json", path, self.written("other", run(2)), status=None)
                           .json()["operations"][0]["metrics"] if m["metric"] == "throughput"]
                self.assertEqual(metric["before"]["value"], answer["value"])
                said = unwrapped(self.s3analyze("analyze", path).out).split(";")[0]
                self.assertIn(f": {answer['value'] / 2**20:.1f}MiB/s", said)

    def test_failures_are_no_noise(self):
        """The interval is about what was delivered; a failing half does not make it reach from nothing to all."""
        path = self.written("run", run(1, fault=((.5, 1), 10, None)))
        answer, = self.s3analyze("analyze", "--json", "--slo", "throughput>30MiB/s", path,
                                 status=1).json()["slo"]["assertions"]
        self.assertLess(answer["hi"] / answer["value"], 1.05)
        self.assertGreater(answer["lo"] / answer["value"], .95)

    def test_all_failed(self):
        for n_good, limits in (0, {"errors<0.1%": 1, "throughput>1B/s": 1, "rate>1": 1, "p99<1s": 3}), (1, {"errors<0.1%": 1}):
            rows = [r._replace(error="" if i < n_good else "503", bytes=0)
                    for i, r in enumerate(capgen.steady(400, every=12 * MS))]
            path = self.written("run", rows)
            for limit, status in limits.items():
                with self.subTest(n_good=n_good, limit=limit):
                    answer, = self.s3analyze("analyze", "--json", "--slo", limit, path,
                                             status=status).json()["slo"]["assertions"]
                    if n_good == 0 and limit.startswith("errors"):
                        self.assertEqual((answer["value"], answer["hi"]), (1, 1))
                        self.assertAlmostEqual(answer["lo"], .9905, delta=1e-4)

    def test_few_successes(self):
        """How many there are is by chance, so such a store is not known to reach what it delivered."""
        for n in 1, 2, 10, 25:
            for first in 0, 400, 750:
                rows = run(1, fault=((0, 1), 20, None))
                rows[first:first + n] = [r._replace(error="", bytes=100_000) for r in rows[first:first + n]]
                path = self.written("few", rows)
                answers = self.s3analyze("analyze", "--json", "--slo", f"throughput>{.9 * reached(rows):.0f}B/s", "--slo",
                                         f"throughput<{1.1 * reached(rows):.0f}B/s", "--slo", "throughput>100MiB/s", path,
                                         status=1).json()["slo"]["assertions"]
                self.assertEqual([a["verdict"] for a in answers], ["undecided", "undecided", "missed"], (n, first))
                line, = self.s3analyze("table", "--no-cache", "--json", path).json()["rows"]
                self.assertLess(line["throughput"]["lo"], .8 * line["throughput"]["value"])

    def test_failing_fast_is_not_faster(self):
        """Half of the requests fail, the others become faster: percentiles are no better, and their gates do not pass."""
        slow = self.runs("slow", took=20)
        fast = self.runs("fast", fault=((0, .8), .5, None), took=8, first_day=10)
        for n in 1, 5:
            report = self.s3analyze("cmp", "--json", "--gate", "p50:5%,p99:5%", *["--run-cv=1%"][n > 1:],
                                    "--before", *slow[:n], "--after", *fast[:n], status=3).json()
            for m in report["operations"][0]["metrics"]:
                if "host" not in m and m["metric"] not in ("throughput", "objects", "errors"):
                    self.assertEqual((m["verdict"], m["why"]), ("not-enough-data", "more requests failed"), m["metric"])
        for limit, status in ("p99<100ms", 3), ("p99<5ms", 1):
            self.s3analyze("analyze", "--slo", limit, fast[0], status=status)

    def test_failures_hide_on_both_sides(self):
        """What failed before was no better: a sound store is not slower, passes gates, and the verdict mirrors."""
        failing = self.runs("failing", fault=((0, .8), .5, None), took=8)
        for took, status, verdict in (10, 3, "not-enough-data"), (8, 0, "not-enough-data"), (6, 0, "faster"):
            sound = self.runs("sound", took=took, first_day=10)
            for n in 1, 5:
                more = ["--json", "--gate", "p50:5%", *["--run-cv=1%"][n > 1:]]
                there, back = (self.s3analyze("cmp", *more, "--before", *x[:n], "--after", *y[:n], status=code)
                               .json()["operations"][0]["metrics"]
                               for x, y, code in ((failing, sound, status), (sound, failing, 3 if took > 6 else 1)))
                for metrics, word in (there, verdict), (back, verdict.replace("faster", "slower")):
                    self.assertEqual({m["verdict"] for m in metrics if m["metric"] == "p50"}, {word}, (took, n))

    def test_a_worse_percentile_of_a_failing_store_passes_no_gate(self):
        """It is slower by less than the gate allows, and what failed may take any time."""
        good = self.runs("good", took=8)
        bad = self.runs("bad", fault=((0, .8), .5, None), took=9, first_day=10)
        for n in 1, 5:
            self.s3analyze("cmp", "--gate", "p50:40%", *["--run-cv=1%"][n > 1:], "--before", *good[:n], "--after", *bad[:n],
                           status=3)

    def test_few_requests_show_no_percentile_of_a_failing_store(self):
        """None of the successful ones is slow; a fifth failed."""
        for n in range(30, 60):
            rows = capgen.steady(n * 5 // 4, every=12 * MS)
            path = self.written("few", [r._replace(error="503", bytes=0) if i % 5 == 4 else r for i, r in enumerate(rows)])
            self.s3analyze("analyze", "--slo", "p90<100ms", path, status=3)

    def test_errors_are_a_metric(self):
        good, bad = self.runs("good"), self.runs("bad", fault=((.95, 1), 5, None), first_day=10)
        both = [self.s3analyze("cmp", "--json", "--before", *good, "--after", *after).json()["operations"][0]["metrics"]
                for after in (self.runs("same", first_day=10), bad)]
        self.assertNotIn("errors", [m["metric"] for m in both[0]])
        errors, = [m for m in both[1] if m["metric"] == "errors"]
        self.assertEqual((errors["verdict"], errors["exploratory"]), ("more", True))
        throughput = [next(m for m in metrics if m["metric"] == "throughput") for metrics in both]
        self.assertTrue(not any(m["exploratory"] for m in throughput))
        out = unwrapped(self.s3analyze("cmp", "--gate", "errors:1%", "--before", *good, "--after", *good[:2], *bad[:3],
                                       status=None).out)
        self.assertIn("points", out)
        out = unwrapped(self.s3analyze("cmp", "--gate", "errors:1%", good[0], good[1]).out)
        self.assertIn("GET errors: no errors on either side, so that up to 0.192 % may fail: within", out)
        few = self.written("few", run("few", day=9, seconds=.1))
        out = unwrapped(self.s3analyze("cmp", "--gate", "errors:1%", good[0], few, status=3).out)
        self.assertRegex(out, r"GET errors: no errors on either side, so that up to 8\.\S+ % may fail: too few requests")
        report = self.s3analyze("cmp", "--gate", "errors:1%", "--json", good[0], few, status=3).json()
        self.assertAlmostEqual(report["operations"][0]["no_errors"]["most_frac"], .0876, delta=.005)
        self.assertIs(report["operations"][0]["no_errors"]["passes"], False)
        self.assertEqual(self.judged("cmp", "--gate", "errors:10%", good[0], few), 0)

    def test_trend(self):
        def nights(*faults):
            return [self.written(f"n{i}", run(i, fault=fault, day=i)) for i, fault in enumerate(faults)]

        def last(paths, status):
            return unwrapped(self.s3analyze("trend", "--no-cache", "--check-last", *paths, status=status).out)

        out = last(nights(*[None] * 12, *[((0, .3), 10, None)] * 4), 1)
        self.assertRegex(out, r"Since 3 December \(run 13\) (29|30)\S* % of the GETs fail, before it 0 % \(p = 0\.0\d\d\)\.")
        report = self.s3analyze("trend", "--no-cache", "--json", self.tmp).json()
        change = report["groups"][0]["changes"][0]
        self.assertEqual((change["metric"], change["run"], change["is_worse"]), ("errors", 13, True))
        self.assertAlmostEqual(change["difference"], .3, delta=.02)
        fixed = [self.written(f"n{i}", run(i, took=8 if i < 10 else 10, fault=((0, .4), 14, None) if i < 10 else None, day=i))
                 for i in range(16)]
        self.assertRegex(last(fixed, 0), r"Since 1 December \(run 11\) 0 % of the GETs fail, before it 2\d\S* %")
        self.assertIn("no GET succeeded.", last(nights(*[None] * 9, ((0, 1), 10, None)), 1))
        self.assertRegex(last(nights(*[None] * 9, ((.5, 1), 10, None)), 1), r"no GET succeeded in the last [45]\d\S* % of it")
        self.assertIn("errors of the last run", last(nights(*[None] * 9, ((.5, .6), 10, None)), 3))
        few = nights(*[None] * 9)
        few.append(self.written("few", run(9, day=9, seconds=.005, threads=4)))
        last(few, 3)


    def test_autoterm(self):
        """What fails is not stable; of what is, it is said how much failed, and the whole run is the one of the report."""
        for share, stopped in (0, True), (.1, True), (.8, True), (1, False):
            rows = run(1, seconds=8)
            rows = [r._replace(error="503", bytes=0) if i % 10 < 10 * share else r for i, r in enumerate(rows)]
            path = self.written("run", rows)
            args = ["--autoterm.dur", "1s", "--autoterm.pct", "40", path]
            op, = self.s3analyze("autoterm", "--json", *args).json()["operations"]
            self.assertEqual((op["stopped"], op["stop"] is not None), (stopped, stopped), share)
            self.assertAlmostEqual(op["n_errors"] / op["n_requests"], share, delta=.01)
            out = unwrapped(self.s3analyze("autoterm", *args).out)
            self.assertEqual(re.findall(r"Warning: .*([\d,]+) of ([\d,]+) requests failed", out) != [], share > 0)
            self.assertEqual("would have stopped" in out, stopped)
        path = self.written("dies", run(1, seconds=8, fault=((.6, 1), 5, None)))
        op, = self.s3analyze("autoterm", "--json", path).json()["operations"]
        of, = self.s3analyze("analyze", "--json", path).json()["operations"]
        self.assertEqual(op["whole_run"]["bytes_per_s"], judged(of)["bytes_per_s"])


class OddFailures(Stores):
    """Ways to fail that single ranges, medians and drops do not see."""

    def of_clients(self, name, ends_s, fault, day=0):
        """One client ends early, and requests of the others fail."""
        rows = [r for c in range(3) for r in
                (r._replace(client=f"c{c}", thread=r.thread + 4 * c) for r in run(f"{name}{c}", day=day, fault=fault if c else None))
                if c or r.start < capgen.START + day * DAY + ends_s * SECOND]
        return self.written(name, sorted(rows))

    def test_a_client_that_ends_early(self):
        """What fails when not all clients ran counts; the throughput of that time is not known."""
        good = [self.of_clients(f"good{i}", 1, None, day=i) for i in range(5)]
        bad = [self.of_clients(f"bad{i}", 1, ((.3, 1), 5, None), day=9 + i) for i in range(5)]
        self.s3analyze("cmp", "--gate", "errors:1%", "--before", *good, "--after", *bad, status=1)
        self.s3analyze("cmp", "--gate", "throughput:5%", "--before", *good, "--after", *bad, status=3)
        self.assertIn(self.judged("trend", "--no-cache", "--check-last", *good, *good, *bad[:1]), (1, 3))
        self.s3analyze("analyze", "--slo", "errors<0.1%", bad[0], status=1)
        r = self.s3analyze("analyze", "--slo", "throughput>1B/s", bad[0], status=3)
        self.assertIn("--range all counts them", unwrapped(r.out))
        self.assertNotIn("no errors", r.out)

    def test_requests_that_hang_at_the_end(self):
        """Their threads lose the time, however few they are, and one success behind them makes no jump."""
        rows = run(1)
        hung = [capgen.row(6 * SECOND, 30 * SECOND, thread=t, size=0, error="timeout") for t in range(4)]
        last = capgen.row(30 * SECOND, 30 * SECOND + 10 * MS, thread=0, size=100_000)
        got = []
        for more in hung, [*hung, last], hung[:1]:
            path = self.written("hung", sorted(rows + more))
            answer, = self.s3analyze("analyze", "--json", "--slo", "throughput>30MiB/s", path,
                                     status=None).json()["slo"]["assertions"]
            self.assertNotEqual(answer["verdict"], "met")
            got.append(answer["value"])
        self.assertAlmostEqual(got[0] / reached(rows) * 29 / 5, 1, delta=.05)
        self.assertAlmostEqual(got[1] / got[0], 1, delta=.1)
        self.assertAlmostEqual(got[2] / reached(rows) * 11 / 5, 1, delta=.05)  # a quarter of the threads
        good = self.runs("good")
        after = [self.written(f"cut{i}", sorted(run(f"cut{i}", day=9 + i) + [r._replace(
            start=r.start + (9 + i) * DAY, end=r.end + (9 + i) * DAY) for r in hung])) for i in range(5)]
        self.s3analyze("cmp", "--gate", "throughput:5%", "--before", *good, "--after", *after, status=1)

    def test_some_runs_that_fail(self):
        """Nearly dead, dead, and failing runs beside sound ones: no gate passes."""
        good, sound = self.runs("good"), self.runs("sound", n=3, first_day=10)
        for share, gates in (.995, ("throughput:5%", "p99:10%")), (1, ("throughput:5%", "p99:10%")), (.6, ("p50:5%", "p99:10%")):
            bad = self.runs("bad", n=2, fault=((0, share), 5, None), first_day=20)
            for gate in gates:
                self.assertIn(self.judged("cmp", "--gate", gate, "--before", *good, "--after", *sound, *bad), (1, 3), (share, gate))
        dead = self.runs("dead", n=4, fault=((0, 1), 5, None), first_day=30)
        self.assertIn(self.judged("cmp", "--gate", "throughput:5%", "--before", *good, *dead[:1], "--after", *sound, *dead), (1, 3))

    def test_one_burst_of_a_single_run(self):
        burst = self.written("burst", run("b", fault=((.3, .8), 12, None), took=8))
        self.s3analyze("cmp", "--gate", "p50:5%", "--run-cv", "1%", self.written("good", run("g")), burst, status=3)

    def test_failures_are_no_warm_up(self):
        path = self.written("start", run(1, fault=((0, .3), 40, None), seconds=20))
        for more in [], ["--steady"]:
            self.assertIn(self.judged("analyze", *more, "--slo", "errors<0.1%,throughput>30MiB/s", path), (1, 3))

    def test_exports(self):
        path = self.written("run", run(1, fault=((.7, 1), 10, None)))
        table, = self.s3analyze("table", "--no-cache", "--json", path).json()["rows"]
        told = re.search(r'\ns3_throughput_bytes_per_second{op="GET"} (\S+)',
                         self.s3analyze("export", "--format", "openmetrics", path).out)
        self.assertEqual(float(told.group(1)), table["throughput"]["value"])


class FailingSums(CliTest):
    def test_sums_say_the_same(self):
        """Within the whole seconds that they have."""
        rows = run(1, fault=((.5, 1.1), 10, None), seconds=30)
        path, sums = self.put("run.csv", capgen.text(rows)), self.tmp / "run.sums"
        self.s3analyze("aggregate", "-o", sums, path)
        for limit in "throughput>30MiB/s", "errors<0.1%":
            of_rows, of_sums = (self.s3analyze("analyze", "--json", "--slo", limit, x, status=1)
                                .json()["slo"]["assertions"][0] for x in (path, sums))
            self.assertAlmostEqual(of_sums["value"] / of_rows["value"], 1, delta=.1)
