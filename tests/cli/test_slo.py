"""Assertions: --slo of s3analyze analyze and of s3load."""
import json
import re
import shutil

import capgen
from harness import BUILD, CliTest, capture
from loadcase import LoadTest

ALL = "p99<50ms, p(99.9)<1ms, ttfb.p50<1s, errors<1%, throughput>1GiB/s, rate>=100"


class Slo(CliTest):
    def verdicts(self, *args, status):
        report = self.s3analyze("analyze", "--json", *args, status=status).json()["slo"]
        return report["verdict"], {a["assertion"]: a["verdict"] for a in report["assertions"]}

    def test_three_answers(self):
        path = capture("get-g4")
        self.assertEqual(self.verdicts("--slo", "GET: p99<50ms", path, status=0),
                         ("met", {"p99<50ms": "met"}))
        self.assertEqual(self.verdicts("--slo", "p99<1ms", "--slo", "p50<1s", path, status=1),
                         ("missed", {"p99<1ms": "missed", "p50<1s": "met"}))
        self.assertEqual(self.verdicts("--slo", "p99<5.7ms", path, status=3)[0], "undecided")

    def test_same_figures_as_the_report(self):
        """Percentiles, rates and intervals are those of the report, if it has them."""
        for name in "get-g4", "get-randsize":
            report = self.s3analyze("analyze", "--json", "--slo", "p99<50ms, ttfb.p90<1s, throughput>1B/s",
                                    capture(name), status=None).json()
            s = report["operations"][-1]["statistics"]
            of = {a["assertion"]: a for a in report["slo"]["assertions"]}
            for figure, text in (s["duration"]["p99_ns"], "p99<50ms"), (s["ttfb"]["p90_ns"], "ttfb.p90<1s"):
                self.assertEqual(of[text]["value"], figure["value"])
                self.assertEqual([of[text]["lo"], of[text]["hi"]], [figure["lo"], figure["hi"]])
            self.assertEqual(of["throughput>1B/s"]["value"], s["bytes_per_s"]["mean"]["value"])

    def test_the_mean(self):
        """It is that of the report; sums decide as their requests do."""
        path, sums = self.put("run.csv", capgen.text(capgen.steady(900))), self.tmp / "run.sums"
        self.s3analyze("aggregate", "--quiet", "-o", sums, path)
        for source in path, sums:
            report = self.s3analyze("analyze", "--json", "--slo", "mean<1h", "--slo", "mean>=1s", source, status=1).json()
            met, missed = report["slo"]["assertions"]
            self.assertEqual((met["verdict"], missed["verdict"]), ("met", "missed"))
            self.assertEqual(met["value"], report["operations"][0]["requests"]["mean_ns"])
            self.assertTrue(met["lo"] <= met["value"] <= met["hi"])
        self.assertIn("mean, errors", self.s3analyze("analyze", "--slo", "means<1s", path, status=2).err)

    def test_a_mean_of_a_store_that_fails(self):
        """Requests that fail fast make no mean good: with more than 1 % of them it can be missed, not met."""
        for every, limit, verdict in ((2, "mean<1h", "undecided"), (200, "mean<1h", "met"), (2, "mean<1ns", "missed")):
            rows = [r._replace(error="no" if i % every == 0 else "") for i, r in enumerate(capgen.steady(900))]
            path = self.put("run.csv", capgen.text(rows))
            answer, = self.s3analyze("analyze", "--json", "--slo", limit, path, status=None).json()["slo"]["assertions"]
            self.assertEqual(answer["verdict"], verdict, (every, limit))

    def test_the_mean_of_an_open_loop(self):
        """It is that of response times; sums do not keep it by second."""
        path, sums = capture("s3load-open-loop"), self.tmp / "run.sums"
        self.s3analyze("aggregate", "--quiet", "-o", sums, path)
        for source, status in (path, 0), (sums, 3):
            report = self.s3analyze("analyze", "--json", "--slo", "mean<1h", source, status=status).json()
            for answer, op in zip(report["slo"]["assertions"], report["operations"], strict=True):
                self.assertAlmostEqual(answer["value"] / op["requests"]["response_time"]["mean_ns"], 1)
                self.assertTrue(answer["of_response_time"])

    def test_rates_are_of_requests(self):
        path = self.put("run.csv", capgen.text(capgen.steady(300, n_objects=5)))
        answer, = self.s3analyze("analyze", "--json", "--slo", "rate>1", path).json()["slo"]["assertions"]
        self.assertAlmostEqual(answer["value"], 10, delta=.1)

    def test_errors_of_a_mixed_run(self):
        """Of all operations together."""
        rows = capgen.simulate(1, capgen.Shape(n=900, ops=("GET", "PUT", "STAT"), error_frac=.1))
        rows = [r._replace(error=r.error if r.op == "GET" else "") for r in rows]
        report = self.s3analyze("analyze", "--json", "--slo", "errors<50%",
                                self.put("run.csv", capgen.text(rows)), status=None).json()
        n_errors, n = (sum(o[key] for o in report["operations"]) for key in ("n_errors", "n_requests"))
        self.assertGreater(n_errors, 9)
        self.assertAlmostEqual(report["slo"]["assertions"][0]["value"], n_errors / n, 12)

    def test_what_is_not_there(self):
        """An assertion about it is undecided, and says why; of sums as of rows."""
        words = "rate>1, throughput>1B/s, ttfb.p50<1s"
        no_range = "the run has no active range"
        for rows, of_rows, of_sums in (
                (capgen.steady(1), [no_range] * 3, [no_range, no_range, "no request has such a time"]),
                (capgen.steady(60, op="STAT", size=0), ["", "no request moved bytes", "no request has such a time"],
                 ["fewer than 20 segments", "no request moved bytes", "no request has such a time"])):
            path, sums = self.put("run.csv", capgen.text(rows)), self.tmp / "run.sums"
            self.s3analyze("aggregate", "--quiet", "--force", "-o", sums, path)
            for source, expected in (path, of_rows), (sums, of_sums):
                report = self.s3analyze("analyze", "--json", "--range", "all", "--slo", words, source, status=3).json()["slo"]
                self.assertEqual([a["why"] or "" for a in report["assertions"]], expected)

    def test_operations_one_after_another(self):
        """An assertion without a name is about the benchmark, like the report; neither the upload before it nor the
        deletion after it is judged in its place. Of rows as of sums."""
        def after(rows, seconds):
            return [r._replace(start=r.start + seconds * 10**9, end=r.end + seconds * 10**9) for r in rows]

        rows = (capgen.steady(30, op="PUT") + after(capgen.steady(300), 10) +
                after(capgen.steady(30, op="DELETE", size=0, every=10**7), 60))
        path, sums = self.put("run.csv", capgen.text(rows)), self.tmp / "run.sums"
        self.s3analyze("aggregate", "--quiet", "-o", sums, path)
        for source in path, sums:
            report = self.s3analyze("analyze", "--json", "--slo", "rate>1, DELETE: errors<50%", source, status=None).json()
            self.assertEqual([a["op"] for a in report["slo"]["assertions"]], ["GET", "DELETE"])

    def test_without_a_benchmark(self):
        """A run that ended in its preparation meets no assertion and misses none."""
        end = json.dumps({"event": "end", "end": "signal", "error": None, "bench_ns": 0})
        start = json.dumps({"event": "start", "run_id": "r", "command": "get", "start": "2026-11-21T05:45:58Z"})
        text = capgen.text(capgen.steady(300, op="PUT")).decode() + f"# s3load/1 {start}\n# s3load/1 {end}\n"
        report = self.s3analyze("analyze", "--json", "--slo", "rate>1, PUT: p50<1h",
                                self.put("run.csv", text.encode()), status=3).json()["slo"]
        self.assertEqual({a["why"] for a in report["assertions"]}, {"the benchmark never began"})

    def test_rates_with_a_stall(self):
        """One stall does not tell how often stalls come. So --slo judges a wider interval than that of the report: 1.25 times the
        root of 20 standard errors to each side; of a percentile in proportion."""
        rows = capgen.steady(200) + [r._replace(start=r.start + 24 * 10**9, end=r.end + 24 * 10**9)
                                     for r in capgen.steady(200)]
        report = self.s3analyze("analyze", "--json", "--slo", "rate>1, p50<1h",
                                self.put("run.csv", capgen.text(rows))).json()
        answer, p50 = report["slo"]["assertions"]
        of = report["operations"][0]["statistics"]
        mean, median = of["objects_per_s"]["mean"], of["duration"]["p50_ns"]
        self.assertIn("see the finding of a stall", answer["why"])
        self.assertEqual([of["objects_per_s"]["unreliable"], median["unreliable"], p50["why"]], 3 * [answer["why"]])
        self.assertEqual((p50["lo"], p50["hi"]), (median["lo"], median["hi"]))
        self.assertEqual((p50["times_as_wide"], median["df"]), (answer["times_as_wide"], mean["df"]))
        self.assertEqual((answer["lo"], answer["hi"]), (mean["lo"], mean["hi"]))
        self.assertAlmostEqual(answer["times_as_wide"] * (answer["hi"] - answer["value"]) / mean["se"], 1.25 * 20**.5, 6)

    def test_imported_times(self):
        """Durations may be off by half the resolution of the recording, here 1 ms."""
        path = self.tmp / "run.csv"
        rows = "".join(f"x\t{1795239692 + i // 40}\t0\t{20 + i * 7 % 11}\t{20 + i * 7 % 11}\t9\n" for i in range(2000))
        log = self.put("ab.tsv", f"starttime\tseconds\tctime\tdtime\tttime\twait\n{rows}".encode())
        self.s3analyze("import", "ab", "-o", path, log)
        report = self.s3analyze("analyze", "--json", "--slo", "p50<1h", path).json()
        answer, figure = report["slo"]["assertions"][0], report["operations"][0]["statistics"]["duration"]["p50_ns"]
        self.assertEqual([answer["lo"], answer["hi"]], [figure["lo"], figure["hi"]])
        self.assertGreaterEqual(answer["hi"] - answer["lo"], 10**6)

    def test_all_formats(self):
        """Text, Markdown, page and JSON begin with the same answers."""
        path = capture("mixed-3hosts")
        page = self.tmp / "page.html"
        text = self.s3analyze("analyze", "-q", "--slo", ALL, "--html", page, path, status=1).out
        markdown = self.s3analyze("analyze", "-q", "--markdown", "--slo", ALL, path, status=1).out
        report = self.s3analyze("analyze", "-q", "--json", "--slo", ALL, path, status=1).json()
        first = re.match(r"Assertions: missed \(.*?\)", text)[0]
        self.assertIn(first, markdown.splitlines()[0])
        html = page.read_text()
        self.assertLess(html.index("<main>"), html.index(first))
        self.assertLess(html.index(first), html.index('class="headline'))
        self.assertIn('class="badge bad"', html)
        # Those that were missed come first.
        rows = re.findall(r'<tr class="(bad|warned|good)"><th[^>]*>(\w+)', html.split('class="headline')[0])
        self.assertEqual([verdict for _, verdict in rows][0], "missed")
        self.assertEqual({dict(bad="missed", warned="undecided", good="met")[css] for css, _ in rows},
                         {verdict for _, verdict in rows})
        self.assertEqual(list(report)[1], "slo")
        answers = report["slo"]["assertions"]
        self.assertEqual({a["op"] for a in answers}, {"GET", "PUT", "DELETE", "STAT", None})
        for form in text, markdown, html:
            for word in "met", "missed", "undecided":
                n = sum(a["verdict"] == word for a in answers)
                self.assertIn(f"{n} {word}", form)
        self.assertEqual(len(re.findall(r"<t[hd][^>]*>(?:met|missed|undecided)<", html)), len(answers))

    def test_response_times(self):
        """If the intended start was recorded, percentiles are of response times."""
        report = self.s3analyze("analyze", "--json", "--slo", "GET: p50<1h, ttfb.p50<1h",
                                capture("s3load-open-loop"), status=None).json()
        get = next(o for o in report["operations"] if o["op"] == "GET")
        answers = report["slo"]["assertions"]
        self.assertEqual([a["of_response_time"] for a in answers], [True, False])
        self.assertEqual(answers[0]["value"], get["requests"]["response_time"]["p50_ns"])
        text = self.s3analyze("analyze", "--slo", "GET: p50<1h", capture("s3load-open-loop"), status=None).out
        self.assertIn("response times", text)

    def test_sums(self):
        """Sums have rates and errors, and the intervals of three percentiles."""
        sums = self.tmp / "run.sums.zst"
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(capgen.steady(600, threads=2)))
        self.s3analyze("aggregate", "-q", "-o", sums, path)
        verdict, of = self.verdicts("--slo", "p99<50ms, errors<1%, throughput>1KiB/s, rate<1", sums, status=1)
        self.assertEqual(of, {"p99<50ms": "missed", "errors<1%": "met", "throughput>1KiB/s": "met",
                              "rate<1": "missed"})
        report = self.s3analyze("analyze", "--json", "--slo", "p99.9<50ms", sums, status=3).json()
        answer = report["slo"]["assertions"][0]
        self.assertIsNone(answer["hi"])
        self.assertIn("sums", answer["why"])

    def test_sums_decide_what_requests_decide(self):
        """Where the interval lies on one side of the limit; sums of several files have no intervals."""
        n = 0
        for name in "get-g4", "mixed-3hosts", "put-g4":
            sums = self.tmp / f"{name}.sums.zst"
            self.s3analyze("aggregate", "-q", "-o", sums, capture(name))
            for limit in "p50<1us", "p50<4ms", "p90<6ms", "p99<12ms", "p99<10s", "ttfb.p50<3ms":
                rows, kept = (self.s3analyze("analyze", "--json", "--slo", limit, p, status=None).json()["slo"]["assertions"]
                              for p in (capture(name), sums))
                for x, y in zip(rows, kept):
                    if x["of_response_time"] or x["lo"] is None or x["hi"] is None:
                        continue
                    wider = ["undecided"] if y["times_as_wide"] > x["times_as_wide"] else []
                    self.assertIn(y["verdict"], [x["verdict"], *wider])
                    self.assertAlmostEqual(y["lo"] / x["lo"], 1, delta=.02)
                    n += y["verdict"] != "undecided"
        self.assertGreater(n, 20)

    def test_absent(self):
        """A missing figure is undecided, with a reason."""
        report = self.s3analyze("analyze", "--json", "--slo", "DELETE: ttfb.p50<1s", capture("mixed-3hosts"),
                                status=3).json()["slo"]
        self.assertEqual([(a["value"], bool(a["why"])) for a in report["assertions"]], [(None, True)])

    def test_an_operation_that_no_run_has(self):
        """It is wrong usage, whatever the file is, and the operations are listed."""
        path, sums = capture("mixed-3hosts"), self.tmp / "run.sums"
        lists = 'no operation "POST" in the capture; it has: ((GET|PUT|STAT|DELETE)(, )?){4}\n'
        self.s3analyze("aggregate", "-o", sums, path)
        for where in path, sums:
            for option in ("--slo", "POST: p99<1s"), ("--op", "POST"):
                r = self.s3analyze("analyze", *option, where, status=2)
                self.assertRegex(r.err, lists)
            for command in (("table", "--no-cache"), ("trend", "--no-cache"), ("cmp", where)):
                self.assertRegex(self.s3analyze(*command, "--op", "POST", where, status=2).err, lists)
        self.assertRegex(self.s3analyze("cat", "--op", "POST", path, status=2).err, lists)

    def test_no_error_is_not_no_errors(self):
        """40 requests without a failure do not show that fewer than 0.1 % fail."""
        path = self.tmp / "few.csv"
        path.write_bytes(capgen.text(capgen.steady(40)))
        r = self.s3analyze("analyze", "--slo", "errors<0.1%", path, status=3)
        self.assertIn("more requests would decide", r.out)
        self.s3analyze("analyze", "--slo", "errors<20%", path)

    def test_file_and_wrong_usage(self):
        path = capture("get-g4")
        limits = self.tmp / "limits"
        limits.write_text("# ours\n\nGET: p99<50ms\nerrors<1%\n")
        self.assertEqual(len(self.verdicts("--slo", f"@{limits}", path, status=0)[1]), 2)
        limits.write_text("p99<50ms\nnonsense\n")
        self.assertIn(f"{limits}:2: ", self.s3analyze("analyze", "--slo", f"@{limits}", path, status=2).err)
        self.assertIn("expected", self.s3analyze("analyze", "--slo", "p99", path, status=2).err)


class LoadSlo(LoadTest):
    def setUp(self):
        super().setUp()
        self.start()

    def test_s3load_hands_it_on(self):
        """The status of s3analyze becomes that of the run; a mistake in --slo ends the run before a request is sent. (The
        answers of s3analyze are tested on captures: those of a real run depend on the machine.)"""
        options = ("--obj.size", "1KiB", "--concurrent", "2", "--requests", "20")
        self.s3load("put", *options, "--slo", "GET: p50<1s", status=2)
        shutil.copy(BUILD / "s3load", self.tmp / "s3load")
        asked = self.tmp / "s3analyze"
        for status in 0, 1, 3:
            asked.write_text(f"#!/bin/sh\necho asked: \"$@\"\nexit {status}\n")
            asked.chmod(0o755)
            argv = [self.tmp / "s3load", *self.argv("put", *options, "--slo", "p50<50s", "--slo", "errors<50%"), "--benchdata"]
            env = {"env": self.environment(), "cwd": self.tmp, "status": status}
            self.assertIn(f"\nasked: analyze --slo p50<50s --slo errors<50% -- {status}.csv.zst\n",
                          self.check_run(*argv, str(status), **env).out)
            self.check_run(*argv, f"json-{status}", "--json", "-q", **env).json()
        n = len(self.server.log())
        self.assertIn("--slo", self.s3load("put", *options, "--slo", "p50", status=2).err)
        self.assertIn("they are PUT, GET", self.s3load("put", *options, "--slo", "puts: p50<1s", status=2).err)
        self.assertIn("capture", self.s3load("put", *options, "--slo", "p50<1s", "--stress", status=2).err)
        self.assertEqual(len(self.server.log()), n)
