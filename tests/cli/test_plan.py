"""s3analyze plan on runs that are simulated as it asks for them: its answers, during the plan and at its end."""
import json
import re

import zstd
from capgen import SECOND, Shape, simulate, steady, text
from harness import TESTDATA, CliTest


class Plan(CliTest):
    def begin(self, kind, *options):
        self.folder = self.tmp / "plan"
        self.s3analyze("plan", "--begin", kind, "--dir", self.folder, "--command", "get", *options)
        return self.answer(status=3)

    def answer(self, status):
        """The answer in one line."""
        return " ".join(self.s3analyze("plan", self.folder, status=status).out.split())

    def run_next(self, rows_of):
        """Makes the next run that the plan wants, with the rows of its level; returns False if the plan is over."""
        wanted = self.s3analyze("plan", "--next", self.folder).out.split()
        if not wanted:
            return False
        name, _, level = wanted
        number = int(name.split("-")[1])
        (self.folder / f"{name}.csv.zst").write_bytes(zstd.frame(text(rows_of(float(level), number))))
        return True

    @staticmethod
    def limited(rate, number):
        """A server that takes 5 ms at up to 300 requests/s, and 50 ms beyond."""
        return simulate(number, Shape(n=4000, threads=8, hosts=1, sigma=0.2, median=SECOND // (200 if rate <= 300 else 20)))

    def test_capacity(self):
        said = [self.begin("capacity", "--slo", "p50<20ms")]
        self.assertIn("Not decided yet after 0 runs: met at no rate, missed at no rate; next: 100.0 requests/s.", said[0])
        while self.run_next(self.limited):
            said.append(self.answer(status=None))
        self.assertIn("after 3 runs: met at 200.0 requests/s, missed at 400.0 requests/s; next: 282.8 requests/s.", said[3])
        self.assertRegex(said[-2], "next: [0-9.]+ requests/s, to confirm that end[.]")
        self.assertRegex(said[-1], r"The assertions are met up to 29\d.\d requests/s and missed at 30\d.\d, [34].\d* % apart; both "
                                   r"ends are confirmed \(\d+ runs\)[.]")
        self.assertEqual(self.answer(status=0), said[-1])
        # The chart has a line at the limit and one at the answer, and a key of what there is.
        page = self.tmp / "page.html"
        self.s3analyze("plan", "--html", page, self.folder)
        drawn = page.read_text().split("<svg", 1)[1].split("</svg>")[0]
        self.assertIn(">p50&lt;20ms<", drawn.replace(" ", "").replace("\n", ""))
        self.assertRegex(drawn, r"29\d\.\d/s")
        self.assertIn("response time, ms", drawn)
        self.assertNotIn("undecided", drawn)

    def test_capacity_with_too_few_runs(self):
        self.begin("capacity", "--slo", "p50<20ms", "--max-runs", "3")
        while self.run_next(self.limited):
            pass
        self.assertIn("Not confirmed after 3 runs: met at 200.0 requests/s, missed at 400.0 requests/s. --max-runs ended the "
                      "search: repeat it in another --dir with a higher --max-runs, and --from 200.", self.answer(status=3))

    def test_capacity_of_no_rate(self):
        self.begin("capacity", "--slo", "p50<20ms", "--from", "400", "--max-runs", "1")
        self.run_next(self.limited)
        self.assertIn("Not confirmed after 1 run: met at no rate, missed at 400.0 requests/s. No rate met the assertions; below, "
                      '"Not met" says what', self.answer(status=3))

    def test_no_folder_of_a_plan(self):
        for path in self.tmp, self.tmp / "none", TESTDATA / "get-g4.csv.zst":
            self.assertIn(f"{path}/plan.json: no plan is there: give the folder that s3load repeat --dir made",
                          self.s3analyze("plan", path, status=1).err)

    def test_options_that_are_no_text(self):
        """plan.json cannot hold them, and must not leave them out."""
        for options in (["capacity", "--slo", "G\udcff: p99<1s"],
                        ["ab", "--before", "--host a\udcff", "--after", "--host b", "--gate", "p99:5%"]):
            said = self.s3analyze("plan", "--begin", *options, "--dir", self.tmp / "none", "--command", "get", status=1)
            self.assertIn("an option is not UTF-8", said.err)

    def undecided(self, n):
        """The answer of a plan with one run of n requests and a p99 near the limit."""
        self.begin("capacity", "--slo", "p99<80ms", "--max-runs", "1")
        self.run_next(lambda rate, number: simulate(number, Shape(n=n, threads=8, hosts=1, sigma=0.2)))
        return self.answer(status=3)

    def test_capacity_of_runs_without_intervals(self):
        self.assertIn("met at no rate, missed at no rate. Runs of this length do not decide the other rates: repeat it in another "
                      "--dir with a --duration that is much longer. ", self.undecided(50))

    def test_capacity_of_runs_that_are_too_short(self):
        self.assertRegex(self.undecided(4000), r"another --dir with a --duration about \d+ times as long[.] ")

    def test_capacity_of_a_server_that_is_slow_at_any_rate(self):
        """That is an answer; it takes no more rates than show it."""
        self.begin("capacity", "--slo", "p50<20ms")
        while self.run_next(lambda rate, number: simulate(number, Shape(n=1000, threads=8, hosts=1, sigma=.02, median=SECOND // 40))):
            pass
        self.assertRegex(self.answer(status=1), r"No rate is low enough to meet the assertions: p50<20ms: 2\d.\dms at 12[.]50 requests/s, "
                                                r"and p50<20ms: 2\d.\dms at 100.0 \(4 runs\)[.]")

    def test_capacity_with_an_assertion_of_a_higher_rate(self):
        """A rate between those that were missed may meet it, so no rate is ruled out."""
        self.begin("capacity", "--slo", "rate>1000", "--max-runs", "5")
        while self.run_next(lambda rate, number: steady(1000, every=int(SECOND / rate))):
            pass
        self.assertIn("met at no rate, missed at 6.25 requests/s. No rate met the assertions", self.answer(status=3))

    def test_lengths_of_runs(self):
        """Runs that can never decide are refused with the length that can; a search stays above the rate at which they could
        not."""
        def begin(*options, status=0):
            self.folder = self.tmp / f"plan {options}"
            return self.s3analyze("plan", "--begin", "capacity", "--dir", self.folder, "--command", "get", *options, status=status).err

        for slo, option, short, n, seconds in (("p99<1s", "--run-duration", "3s", 368, 4), ("p99.9<1s", "--run-duration", "30s", 3688, 37),
                                               ("errors<0.1%,p50<1s", "--run-requests", "4797", 4798, 48)):
            with self.subTest(slo):
                self.assertIn(f"that takes {n} requests, and at --from 100 --duration {seconds}s\n",
                              begin("--slo", slo, option, short, status=2))
                begin("--slo", slo, "--run-duration", f"{seconds}s", "--run-requests", str(n))
        self.assertIn("no number of requests shows that errors<=0%", begin("--slo", "errors<=0%", status=2))
        begin("--slo", "rate>1", "--from", "0.1", "--run-duration", "5s")  # any number of requests may show that
        begin("--slo", "p99<20ms", "--run-duration", "5s")
        while self.run_next(lambda rate, number: simulate(number, Shape(n=400, threads=8, hosts=1, median=SECOND // 10))):
            pass
        runs = self.s3analyze("plan", "--json", self.folder, status=None).json()["runs"]
        self.assertEqual([r["level"] for r in runs], [100, 73.8, 590.4])

    def test_a_plan_of_version_1_0(self):
        """It does not hold how long its runs are, and goes on."""
        options = ("--slo", "p50<20ms", "--run-duration", "5s", "--run-requests", "1000")
        self.begin("capacity", *options)
        path = self.folder / "plan.json"
        old = json.loads(path.read_text())
        for key in "run_ns", "requests":
            del old[key]
        path.write_text(json.dumps(old))
        self.run_next(self.limited)
        self.s3analyze("plan", "--begin", "capacity", "--dir", self.folder, "--command", "get", *options)
        self.assertIn("Not decided yet after 1 run", self.answer(status=3))

    @staticmethod
    def failing(n, share):
        """n requests of 100 ms; of ten, 10 * share fail."""
        return [r if i % 10 >= 10 * share else r._replace(error="503") for i, r in enumerate(steady(n))]

    def test_sweep_of_uneven_runs(self):
        """One request is in flight in a slow run and in a quick one, so also in the mean."""
        self.begin("sweep", "--concurrent", "1", "--runs", "2")
        while self.run_next(lambda level, number: steady(100, every=SECOND // (10 if number == 1 else 1000))):
            pass
        self.assertRegex(self.answer(status=0), r" 1 2 505\.\d 10\.0\d? to 1000\.\d .* 1\.00 In flight: ")

    def test_sweep_with_errors(self):
        self.begin("sweep", "--concurrent", "1,2", "--runs", "1", "--seed", "1")
        while self.run_next(lambda level, number: self.failing(100, .3 if level > 1 else 0)):
            pass
        said = self.answer(status=0)
        self.assertTrue(said.startswith("2 runs at 2 levels. Errors: up to 30.00 % of the requests of a run. "), said)
        self.assertEqual(said.count(" p99 Errors "), 2)
        self.assertEqual(said.count(" 30.00%"), 2)
        self.assertNotIn("not what was asked", said)
        runs = self.s3analyze("plan", "--json", self.folder).json()["runs"]
        self.assertEqual(sorted(r["failed_frac"] for r in runs), [0, 0.3])

    def test_capacity_with_errors(self):
        """Those of runs that met the assertions are said."""
        self.begin("capacity", "--slo", "p50<1s", "--max-runs", "1")
        self.run_next(lambda level, number: self.failing(1000, .2))
        self.assertIn(" Errors: up to 20.00 % of the requests of a run that met the assertions. ", self.answer(status=3))
        self.folder = self.tmp / "other"
        self.s3analyze("plan", "--begin", "capacity", "--slo", "errors<1%", "--dir", self.folder, "--command", "get")
        self.run_next(lambda level, number: self.failing(1000, .2))
        self.assertNotIn(" Errors: up", self.answer(status=3))

    def test_capacity_of_a_store_that_fails_fast(self):
        """A rate at which too many requests fail is not one that the store takes, so no higher one is tried."""
        for slo, share, why in (("mean<1s", .5, "more than 1 % of the requests failed"),
                                ("p99<1s", .5, "more requests failed than may exceed the percentile"),
                                ("p50<1s", .9, "more requests failed than may exceed the percentile")):
            with self.subTest(slo):
                self.folder = self.tmp / slo[:4]
                self.s3analyze("plan", "--begin", "capacity", "--slo", slo, "--dir", self.folder, "--command", "get")
                for _ in range(3):
                    self.run_next(lambda level, number: self.failing(1000, share if level > 300 else 0))
                said = self.answer(status=3)
                self.assertIn("met at 200.0 requests/s, missed at 400.0 requests/s; next: 282.8 requests/s.", said)
                self.assertIn(f"missed {slo}: {why}", said)
                self.assertIn("missed at 400.0 ", self.s3analyze("plan", "--markdown", self.folder, status=3).out)
                runs = self.s3analyze("plan", "--json", self.folder, status=3).json()["runs"]
                self.assertEqual([r["verdict"] for r in runs], ["met", "met", "missed"])
                # Of one run it is not known, nor would more requests tell.
                last, = self.folder.glob("run-003-*")
                answer, = self.s3analyze("analyze", "--json", "--slo", slo, last, status=3).json()["slo"]["assertions"]
                self.assertEqual((answer["verdict"], answer["n_more"]), ("undecided", None))

    def test_ab_with_errors(self):
        for gate, says in ("p50:50%", " Errors: 0 % -> 20.00 %, which no gate judges. "), ("p50:50%,errors:1%", " Errors: 0 % -> 20.00 %. "):
            with self.subTest(gate):
                self.folder = self.tmp / gate
                self.s3analyze("plan", "--begin", "ab", "--before", "-v", "--after", "-q", "--gate", gate, "--dir", self.folder,
                               "--command", "get")
                for number, side in enumerate(("before", "after", "after", "before"), start=1):
                    rows = self.failing(300, .2 if side == "after" else 0)
                    (self.folder / f"run-00{number}-{side}.csv.zst").write_bytes(zstd.frame(text(rows)))
                said = self.answer(status=None)
                self.assertIn(" after 4 runs, judged 0 times; ", said)
                self.assertIn(says, said)
                self.assertIn("Run Side Offered Reached/s p50 p99 Errors 1 before - ", said)

    def test_ab_of_a_store_that_dies(self):
        """Half of each run fails: it is worse by throughput; percentiles of the other half decide nothing."""
        def dies(after, number):
            return [r._replace(error="503" if after and i >= 400 else "")
                    for i, r in enumerate(simulate(number, Shape(n=800, threads=4, hosts=1, sigma=.2)))]

        self.begin("ab", "--before", "--rate 0", "--after", "--rate 1", "--gate", "throughput:5%,errors:1%", "--max-runs", "6")
        while self.run_next(dies):
            pass
        self.answer(status=1)
        self.ab_of("p99:10%", [dies(number % 4 >= 2, number) for number in range(1, 9)])
        self.answer(status=3)

    def test_ab_without_a_successful_request(self):
        """Such a run has no figure to compare, and neither would the next one have."""
        self.begin("ab", "--before", "-v", "--after", "-q", "--gate", "p50:50%")
        (self.folder / "run-001-after.csv.zst").write_bytes(zstd.frame(text(self.failing(50, 1))))
        r = self.s3analyze("plan", "--next", self.folder, status=3)
        self.assertEqual(r.err, "s3analyze: run-001-after.csv.zst does not count: no request succeeded\n")

    def ab_of(self, gate, runs):
        """What --next says after runs of an ab plan with this gate, and the gates."""
        self.folder = self.tmp / f"{gate} {len(runs)}"
        self.s3analyze("plan", "--begin", "ab", "--before", "-v", "--after", "-q", "--gate", gate, "--dir", self.folder, "--command",
                       "get")
        for number, rows in enumerate(runs, start=1):
            side = "before" if number % 4 < 2 else "after"
            (self.folder / f"run-00{number}-{side}.csv.zst").write_bytes(zstd.frame(text(rows)))
        r = self.s3analyze("plan", "--next", self.folder, status=None)
        gates = self.s3analyze("plan", "--json", self.folder, status=None).json()["gates"]
        return r.status, r.err, [(g["op"], g["metric"]) for g in gates]

    def test_ab_with_a_figure_that_is_missing(self):
        """A gate is about the operations that have its figure. If five runs in a row have none, s3load stops."""
        both = simulate(1, Shape(n=400, ops=("GET", "STAT")))
        stat = simulate(1, Shape(n=400, ops=("STAT",)))
        why = "s3analyze: run-00%d-%s.csv.zst does not count: it has no figure for --gate ttfb\n"
        self.assertEqual(self.ab_of("ttfb:50%", [both]), (0, "", [("GET", "ttfb_p50")]))
        self.assertEqual(self.ab_of("p50:9%,ttfb:50%", [stat] * 4), (0, why % (4, "before"), []))
        self.assertEqual(self.ab_of("p50:9%,ttfb:50%", [stat] * 5), (3, why % (5, "before"), []))
        self.assertEqual(self.ab_of("ttfb:50%", [stat, both] + [stat] * 4), (0, why % (6, "after"), [("GET", "ttfb_p50")]))

    def test_ab_of_operations_without_bytes(self):
        """Objects stand in for bytes, as in cmp."""
        stat = simulate(1, Shape(n=400, ops=("STAT",)))
        self.assertEqual(self.ab_of("throughput:9%", [stat]), (0, "", [("STAT", "objects")]))
        self.assertIn("no figure for --gate throughput\n", self.ab_of("throughput:9%,objects:9%", [stat])[1])

    def test_page(self):
        """Headings say what they are headings of; a note of a table is none. No text stands twice."""
        page = self.tmp / "page.html"
        self.s3analyze("plan", "--html", page, TESTDATA / "formats" / "plan")
        html = page.read_text()
        self.assertEqual(re.findall("<th (?!scope=)[^>]*>", html), [])
        self.assertIn('<td colspan="7" class="l">In flight: ', html)
        notes = re.findall("<small>(.*?)</small>", html)
        self.assertEqual(len(notes), len(set(notes)))
        self.assertIn("<th scope=\"col\" class=\"l\">Slowest to fastest run<", html)

    def test_page_on_paper(self):
        """What stays in sight on a screen is an ordinary cell on paper. A selector with :first-child outdoes one without."""
        page = self.tmp / "page.html"
        self.s3analyze("plan", "--html", page, TESTDATA / "formats" / "plan")
        screen, paper = re.search("<style>(.*?)</style>", page.read_text(), re.DOTALL)[1].split("@media print", 1)
        sticky = re.findall(r"([^{}]*th[^{}]*)[{][^{}]*position: sticky", screen)
        self.assertEqual({s.strip() for s in sticky}, {"thead th", "th:first-child"})
        static = re.search(r"([^{}]*)[{] position: static; background: none [}]", paper)[1]
        self.assertLessEqual({s.strip() for s in sticky}, {s.strip() for s in static.split(",")})
