"""One run, one story: rows, the sums of them and an aggregated recorder file of them give the same problems, the
same status, and the same sentences, up to what seconds cannot resolve, of which each says once what that is."""
import json
import re

import aggregates
import capgen
from harness import ROOT, SPECIMENS, CliTest, capture, captures, with_specimens
from oracle import SECOND
from test_findings import Load, seconds, span, with_clock_set

SAID = "stalls shorter than 2"  # seconds, once
# Kinds that need single requests: one that hangs, swings and pauses within seconds, due times of an open loop, requests
# outside of the range of all threads.
OF_REQUESTS = {"stuck-thread", "swings", "pauses", "late-starts", "left-out", "short-range"}
# Kinds that compare requests at equal load: of sums, only a host with no more requests in flight than others is accused, or
# one that explains a loss.
OF_LOAD = {"slow-host", "slow-client", "slow-object", "fast-host", "fast-client"}
# An aggregated capture also lacks durations of hosts and clients by second.
OF_DURATIONS = OF_REQUESTS | {"slow-op", "backlog"}


NOT_ALL_CLIENTS = "when not all clients ran"  # a reason to leave out requests that sums show, too


def cannot_be_seen(finding, kinds):
    if kinds == OF_REQUESTS and NOT_ALL_CLIENTS in finding["sentence"]:
        return False
    return finding["kind"] in kinds or (finding["kind"] == "stall" and finding["evidence"]["length_ns"] < 2e9)


def key(finding):
    scope = finding["scope"] or {}
    return finding["kind"], str(finding["op"]), tuple(sorted((k, str(v)) for k, v in scope.items()))


def by_key(findings):
    """The problems. If a key repeats, as for a host that is slow twice, they are numbered by time."""
    keyed = {}
    for f in sorted(findings, key=lambda f: f.get("start", "")):
        if f["severity"] == "problem":
            keyed[(*key(f), sum(k[:-1] == key(f) for k in keyed))] = f
    return keyed


def words(finding):
    """The sentence without its figures. Sums leave requests out of the throughput alone, and say so."""
    sentence = finding["sentence"].replace("left out of the throughput", "left out")
    return re.sub(r"\d[\d,.:]*(ns|us|ms|h|m|s)?(\d[\d.]*s)?", "#", sentence)


class OneStory(CliTest):
    def findings(self, path):
        found = json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
        problem = any(f["severity"] == "problem" for f in found)
        self.s3analyze("analyze", "--exit-on", "problem", path, status=int(problem))
        return found, problem

    def check_same(self, of_rows, of_seconds, kinds):
        rows, rows_problem = self.findings(of_rows)
        found, problem = self.findings(of_seconds)
        problems, of_rows = by_key(found), by_key(rows)
        seen = {k: f for k, f in of_rows.items()
                if not cannot_be_seen(f, kinds) and (k in problems or f["kind"] not in OF_LOAD)}
        self.assertEqual(sorted(problems), sorted(seen), [f["sentence"] for f in rows + found])
        if problem != rows_problem:
            self.assertEqual(seen, {})
        for k, f in problems.items():
            for at in "start", "end":
                if kinds == OF_REQUESTS:  # an aggregated file lacks the last seconds
                    self.assertEqual(at in f, at in seen[k], (at, f, seen[k]))
                if at in f and at in seen[k]:
                    near_s = 1.5 if f["kind"] in ("stall", "errors") else 4
                    self.assertAlmostEqual(seconds(f[at]), seconds(seen[k][at]), delta=near_s, msg=f)
            if "ratio" in f:
                self.assertAlmostEqual(f["ratio"] / seen[k]["ratio"], 1, delta=.1, msg=f)
        return rows, seen, problems

    def check_sums(self, path):
        sums = self.tmp / "run.sums.zst"
        sums.unlink(missing_ok=True)
        self.s3analyze("aggregate", "-q", "-o", sums, path)
        rows, seen, problems = self.check_same(path, sums, OF_REQUESTS)
        self.assertEqual({k: words(f) for k, f in problems.items()}, {k: words(f) for k, f in seen.items()})
        said = [f["sentence"] for f in self.findings(sums)[0]]
        self.assertEqual(sum(SAID in s for s in said), 1, said)
        return rows, problems

    def test_captures(self):
        for name in captures():
            with self.subTest(name):
                self.check_sums(capture(name))

    def test_clients_that_overlap_in_part(self):
        """If requests failed, rows and sums count the time in which all clients ran: so does a side of cmp."""
        rows = [capgen.row(c * 6 * SECOND + i * SECOND // 50, c * 6 * SECOND + (i + 1) * SECOND // 50 - 1000,
                           client=f"c{c}", thread=10 * c + t, size=1 << 20, error="x" * (i % 100 == 0 and t == 0))
                for c in range(2) for t in range(4) for i in range(12 * 50)]
        path, sums = self.tmp / "part.csv", self.tmp / "part.sums.zst"
        for failed in True, False:
            path.write_bytes(capgen.text(rows if failed else [r for r in rows if not r.error]))
            self.s3analyze("aggregate", "-qf", "-o", sums, path)
            of_rows, of_sums = (self.s3analyze("analyze", "--json", p).json() for p in (path, sums))
            found = [f for f in of_sums["findings"] if f["kind"] == "left-out"]
            self.assertEqual([NOT_ALL_CLIENTS in f["sentence"] for f in found], [True] * failed)
            if failed:
                of_rows, of_sums = (r["operations"][0]["throughput"]["bytes_per_s"] for r in (of_rows, of_sums))
                self.assertAlmostEqual(of_sums / of_rows, 1, delta=.02)
                whole = self.s3analyze("analyze", "--json", "--range", "full", sums).json()
                self.assertLess(whole["operations"][0]["throughput"]["bytes_per_s"], .8 * of_sums)
                self.check_sums(path)

    @with_specimens
    def test_clients_of_an_aggregated_file(self):
        """Both reduced forms count the seconds that all clients have."""
        for name in "dist", "mergeshift", "distmixed":
            operations = self.s3analyze("cmp", "--json", SPECIMENS / f"{name}.csv.zst",
                                        SPECIMENS / f"{name}.json.zst").json()["operations"]
            for op in operations:
                before, after = ((op[side]["bytes_per_s"]["average"], op[side]["objects_per_s"]["average"])
                                 for side in ("before", "after"))
                for x, y in zip(before, after):
                    self.assertEqual(x is None, y is None, (name, op["op"]))
                    self.assertAlmostEqual(x or 0, y or 0, delta=.02 * (x or 0), msg=(name, op["op"]))

    def test_planted(self):
        cases = {  # what of a load, and the kinds of its problems of rows and of sums
            "healthy": ({}, [], []),
            "stall of 3 s": ({"hangs": span(8.4, 11.4)}, ["stall"], ["stall"]),
            "stall of a host": ({"hangs": span(8.4, 11.4, lambda h, *rest: h == 1)}, ["stall"], ["stall"]),
            "stall of 1.2 s": ({"hangs": span(8.4, 9.6)}, ["stall"], []),
            "stall at the end": ({"hangs": span(23.3, 30)}, ["stall"], ["stall"]),
            "drop": ({"factor": lambda s, *rest: 1 if s < 12 else 2}, ["drop"], ["drop"]),
            "slow host": ({"factor": lambda s, h, *rest: 2 if h == 2 else 1}, ["slow-host"], []),
            "slow host with as many requests in flight as others": ({"host_of": lambda thread: thread % 4, "factor":
                                                                     lambda s, h, *rest: 2 if h == 2 else 1},
                                                                    ["slow-host"], ["slow-host"]),
            "burst of errors": ({"fails": lambda s, *rest: "HTTP 503" * (8 < s < 11)}, ["errors"], ["errors"]),
            "errors of a host": ({"fails": lambda s, h, *rest: "HTTP 503" * (h == 1 and s > 12)}, ["errors"],
                                 ["errors"]),
            "two kinds of errors": ({"fails": lambda s, h, *rest: "HTTP 503" if 4 < s < 7 else
                                     "HTTP 404" * (h == 1 and s > 12)}, ["errors"] * 2, ["errors"] * 2),
            "steady errors": ({"fails": lambda s, h, c, op, t: "HTTP 500" * (int(s * 1e5) % 20 == 0)}, ["errors"],
                              ["errors"]),
            "stall of a client": ({"clients": 3, "hangs": span(8.4, 11.4, lambda h, c, *rest: c == 1)}, ["stall"],
                                  ["stall"]),
            "stall of a host that times out": ({"threads": 24, "time_out_s": 2,
                                                "hangs": span(8.4, 14.4, lambda h, *rest: h == 1)},
                                               ["stall"], ["stall"]),
            "a host slow twice": ({"factor": lambda s, h, *rest: 3 if h == 2 and (5 < s < 10 or 18 < s < 23) else 1},
                                  ["slow-host"] * 2, ["slow-host"] * 2),
            "a rate that doubles": ({"rate": 300, "threads": 200, "slots": 6, "rate_at": lambda s: 300 if s < 15 else 600}, [],
                                    []),
            "a rate that is too high": ({"rate": 300, "threads": 60, "slots": 2,
                                         "factor": lambda s, *rest: 1 if s < 15 else 2}, ["backlog"], ["backlog"]),
            "an operation slow at a host": ({"mix": (("GET", .85), ("PUT", .15)), "factor":
                                             lambda s, h, c, op, t: 3 if h == 2 and op == "PUT" else 1},
                                            ["slow-host"], []),
        }
        for seed, (name, (parts, of_rows, of_sums)) in enumerate(cases.items()):
            with self.subTest(name):
                load = Load(70 + seed, length_s=30)
                for part, value in parts.items():
                    setattr(load, part, value)
                path = self.tmp / "planted.csv"
                path.write_text(load.rows())
                rows, problems = self.check_sums(path)
                self.assertEqual(sorted(f["kind"] for f in rows if f["severity"] == "problem"), of_rows)
                self.assertEqual(sorted(k[0] for k in problems), of_sums)

    def test_a_stall_shorter_than_two_seconds(self):
        """Sums tell a drop that costs as much, if they tell any; one that lies in two seconds or three."""
        told = 0
        for k, (begin, end) in enumerate(((8.4, 10.3), (8, 9.9), (8.8, 10.5), (9.1, 10.99))):
            load = Load(90 + k, length_s=45, threads=24)
            load.hangs = span(begin, end)
            path, sums = self.tmp / "stall.csv", self.tmp / "stall.sums.zst"
            path.write_text(load.rows())
            self.s3analyze("aggregate", "--force", "--output", sums, path)
            for f in self.findings(sums)[0]:
                if f["kind"] == "drop":
                    lost_s = (1 - f["ratio"]) * (seconds(f["end"]) - seconds(f["start"]))
                    self.assertAlmostEqual(lost_s, end - begin, delta=.6)
                    told += 1
        self.assertGreater(told, 0)

    def test_a_number_of_requests_each(self):
        """Threads that end one after the other, each with its requests done, are no drop and no stall."""
        for name, factor in {"a steady end": lambda s, h, c, op, t: 1 + t / 15,
                             "a few are left": lambda s, h, c, op, t: 2.5 if t < 4 else 1 + t / 60}.items():
            with self.subTest(name):
                load = Load(5, length_s=60, threads=24)
                load.requests_each, load.factor = 500, factor
                path = self.tmp / "planted.csv"
                path.write_text(load.rows())
                self.assertEqual(self.check_sums(path)[1], {})

    def test_slow_tail(self):
        """Means by second do not tell who answers a few requests late, and the report of sums says so."""
        load = Load(91, length_s=30)
        load.factor = lambda s, h, *rest: 12 if h == 2 and load.random.random() < .06 else 1
        path, sums = self.tmp / "planted.csv", self.tmp / "run.sums.zst"
        path.write_text(load.rows())
        rows, _ = self.findings(path)
        self.assertEqual([f["kind"] for f in rows if f["severity"] == "problem"], ["slow-host"])
        self.assertIn("late", rows[0]["sentence"])
        self.s3analyze("aggregate", "-q", "-o", sums, path)
        said = [f["sentence"] for f in self.findings(sums)[0]]
        for unseen in "swings shorter than 2s", "when or where a few requests are slow":
            self.assertEqual(sum(unseen in s for s in said), 1, said)

    def test_clocks_that_are_set(self):
        for by_s in 4.6, -4.6:
            path = self.tmp / "planted.csv"
            path.write_text(with_clock_set(Load(90, length_s=30, clients=3).rows(), "client-1", 12, by_s))
            _, problems = self.check_sums(path)
            self.assertEqual([k[0] for k in problems], ["clock-jump"])

    def test_uneven_hosts(self):
        """A notice, from rows and from sums: only the user knows whether hosts were meant to be used evenly."""
        rows = [r._replace(host=f"http://h{i % 4 > 0:d}:9000") for i, r in enumerate(capgen.steady(2000, threads=4))]
        path = self.tmp / "uneven.csv"
        path.write_bytes(capgen.text(rows))
        of_rows, problems = self.check_sums(path)
        self.assertEqual(problems, {})
        self.assertEqual([words(f) for f in of_rows], [words(f) for f in self.findings(self.tmp / "run.sums.zst")[0]
                                                       if f["kind"] != "from-sums"])
        self.assertEqual([f["kind"] for f in of_rows], ["uneven-hosts"])
        for every, share in (4, "50 %"), (1000, "less than 1 %"):
            path.write_bytes(capgen.text([r._replace(host=f"http://h{i % every > 0:d}:9000")
                                          for i, r in enumerate(capgen.steady(2000, threads=4))]))
            found, = [f for f in self.findings(path)[0] if f["kind"] == "uneven-hosts"]
            self.assertIn(f"h0:9000 completed {share} of the mean number of requests", found["sentence"])

    def check_aggregate(self, path, aggregate):
        rows, _, problems = self.check_same(path, aggregate, OF_DURATIONS)
        said = [w["message"] for w in json.loads(self.s3analyze("analyze", "--json", aggregate).out)["warnings"]]
        self.assertLessEqual(sum(SAID in s for s in said), 1, said)
        return rows, problems

    @with_specimens
    def test_recorded_pairs(self):
        for path in sorted(SPECIMENS.glob("*.csv.zst")):
            with self.subTest(path.name):
                self.check_aggregate(path, path.with_name(path.name.replace(".csv.", ".json.")))

    def test_planted_pairs(self):
        late = lambda r, by: r._replace(start=r.start + by, end=r.end + by)
        behind = lambda r: r.start > capgen.START + 20 * SECOND
        steady = capgen.steady(640, threads=4, every=SECOND // 16)
        cases = {
            "healthy": (steady, []),
            "stall": ([late(r, 6 * SECOND) if behind(r) else r for r in steady], ["stall"]),
            "errors": ([r._replace(error="gone" * (behind(r) and i % 3 == 0)) for i, r in enumerate(steady)],
                       ["errors"]),
        }
        for name, (rows, kinds) in cases.items():
            with self.subTest(name):
                path, aggregate = self.tmp / "rows.csv", self.tmp / "run.json.zst"
                path.write_bytes(capgen.text(rows))
                aggregate.write_bytes(aggregates.packed(aggregates.aggregate(rows)))
                _, problems = self.check_aggregate(path, aggregate)
                self.assertEqual(sorted(k[0] for k in problems), kinds)


# What a report cannot say at once: of the first, and of the second. The part of a report that is about requests before or
# after the benchmark is left out: findings are not about them.
EXCLUDE = [
    ("steady, even", "unreliable"), ("steady, even", "Problem:"), ("steady, even", "Notice:"), ("no errors", "requests failed"),
    ("steady, even, no errors", "unreliable"), ("steady, even, no errors", "Problem:"),
    ("to show if it is steady", "Problem:"), ("to show if it is steady", "Notice:"),
]
# What only findings say.
SAID_BY_FINDINGS = re.compile(r"No steady state|No warm-up|Warm-up: the first|Drift|Change at|below half of the median|Outlier|Hosts, by"
                              r"|Amber")
BESIDE = re.compile(r"^(?:#+ )?(?:Before the benchmark|Clean-up): (\S+)$", re.M)
GONE = {"drift", "change_points", "hosts", "series_of", "residual_life"}


def intervals(operation):
    """The intervals of an operation that may be unreliable: what JSON says of them, and the estimates."""
    of = operation.get("statistics") or {}
    rates = [(of[k], of[k]["mean"]) for k in ("bytes_per_s", "objects_per_s") if of.get(k)]
    times = [of[k][q] for k in ("duration", "ttfb") if of.get(k) for q in ("p50_ns", "p90_ns", "p99_ns", "p99_9_ns")]
    return rates + [(x, x) for x in times]


class Statistics(CliTest):
    """Intervals, the words about steadiness, and --steady follow from the findings."""

    def check_doubts(self, operation, findings):
        """An interval is unreliable by what was measured, or by a finding that is there. Returns how many a table marks."""
        kinds = {f["kind"].replace("-op", "-operation").replace("-", " ").removesuffix("s") for f in findings}
        marked = 0
        for x, estimate in intervals(operation):
            doubt = x["unreliable"]
            named = re.fullmatch(r"95 % CI unreliable: see the finding of (?:an? )?([a-z -]+?)s?", doubt or "")
            if named:
                self.assertIn(named[1].replace("-", " "), kinds)
            elif doubt:
                self.assertIn("noise lasts too long", doubt)
                self.assertLess(x["n_stretches"], 13)
            else:
                self.assertTrue(not x["n_stretches"] or x["n_stretches"] >= 13 or estimate["lo"] is estimate["hi"] is None)
            marked += doubt is not None and estimate["why"] is None
        return marked

    def check_words(self, words, name):
        for one, other in EXCLUDE:
            self.assertFalse(one in words and other in words, (name, one, other))
        self.assertIsNone(SAID_BY_FINDINGS.search(words), name)

    def check_named(self, path, report):
        """A doubt is of the throughput that the headline marks, or names its operation or percentile."""
        first = " ".join(self.s3analyze("analyze", "-q", path).out.split("\n\n")[0].split())
        doubt = re.search(r"[.] ((?:[A-Z]+ )?(?:TTFB )?p[0-9.]+: |[A-Z]+: )?95 % CI unreliable", first)
        if not report["mixed"]:
            self.assertEqual(", unreliable)" in first, bool(doubt and not doubt[1]), first)
        return bool(doubt and doubt[1])

    def check_steady(self, path, report):
        """--steady leaves out the warm-up that a finding tells, and says as long a time."""
        after = self.s3analyze("analyze", "--json", "--steady", path).json()
        cut = {o["statistics"]["warm_up"]["cut_ns"] for o in after["operations"] if o.get("statistics")} - {0}
        found = [f for f in report["findings"] if f["kind"] == "warm-up"]
        if not found:
            self.assertEqual((cut, after["left_out"]["by_warm_up"]), (set(), 0))
            self.assertEqual(after["operations"], report["operations"])
        elif cut:
            self.assertAlmostEqual(max(cut) / 1e9, max(seconds(f["end"]) - seconds(f["start"]) for f in found), places=5)
            length, = {re.search(r"first (\S+?),? ", f["sentence"])[1] for f in found}
            self.assertIn(f"Warm-up: {length} left out.", self.s3analyze("analyze", "-v", "--steady", path).out)
        else:  # requests failed in it
            self.assertTrue(any(o["n_errors"] for o in report["operations"]))
        return bool(found)

    def test_captures(self):
        doubted = warm = named = 0
        for name in captures():
            with self.subTest(name):
                path, page = capture(name), self.tmp / "page.html"
                report = self.s3analyze("analyze", "-q", "--json", path).json()
                self.s3analyze("analyze", "-qf", "--html", page, path, env={"PATH": str(self.tmp)})
                for form in "-v", "--markdown", "page":
                    text = page.read_text() if form == "page" else self.s3analyze("analyze", "-q", form, path).out
                    beside = BESIDE.findall(text)
                    first = text.split("<section")[1].split("</section>")[0] if form == "page" else BESIDE.split(text)[0]
                    self.check_words(" ".join(first.split()), (name, form))
                    if form == "-v":
                        marks = len(re.findall(r"^.* unreliable$", first, re.M))
                        judged = [o for o in report["operations"] if o["op"] not in beside]
                n = sum(self.check_doubts(o, report["findings"]) for o in judged)
                self.assertEqual(marks, n)
                self.assertFalse(any(GONE & set(o.get("statistics") or ()) for o in report["operations"]))
                doubted += n > 0
                warm += self.check_steady(path, report)
                named += self.check_named(path, report)
        self.assertGreater(min(doubted, warm, named), 0)

    @with_specimens
    def test_what_a_file_cannot_show(self):
        """An aggregated file without findings shows no stalls and no hosts, so it does not say that there were none."""
        for path in sorted(SPECIMENS.glob("*.json.zst")):
            out = self.s3analyze("analyze", path).out
            self.assertNotIn("steady, even", out)
            self.assertNotIn("No finding.", out)
        self.assertIn("Nothing found in what the file holds.", self.s3analyze("analyze", SPECIMENS / "get.json.zst").out)


class Kinds(CliTest):
    def test_each_kind_is_one_row(self):
        """The kinds that the code uses are in the table, and each name is in the document."""
        room = ROOT / "analyze"
        kinds = (room / "findings" / "finding_kinds.c").read_text()
        rows = re.findall(r'\{\.name = "([a-z-]+)"', kinds)
        named = {name for path in room.rglob("*.c") for name in
                 re.findall(r'finding_of\(\s*"([a-z-]+)"', path.read_text())}
        named.update(re.findall(r'put\(&?l, "([a-z-]+)"', (room / "data" / "recorded.c").read_text()))
        causes = set(" ".join(re.findall(r'\{\s*"([a-z -]+)",', kinds)).split())
        self.assertEqual(len(rows), len(set(rows)))
        self.assertGreater(len(named), 30)
        self.assertLessEqual(named | causes, set(rows))
        document = (ROOT / "docs" / "how-the-numbers-are-made.md").read_text()
        self.assertEqual([name for name in rows if f"`{name}`" not in document], [])
