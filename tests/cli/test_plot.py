"""Charts: the data files, that every chart is drawn, and the content of the pictures."""
import csv
import math
import os
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

import capgen
from capgen import SECOND
from expect import same_number
from harness import ROOT, TESTDATA, CliTest, capture, judged, run, tool

MIB = 1 << 20
RUN_CHARTS = ["throughput", "hosts", "latency", "latency-heat", "spectrum", "host-latency", "errors", "cdf", "latency-size", "sizes",
              "in-flight", "clients", "autoterm"]
SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script> \"q\" 'a' @x _y {z} \\n `touch {0}` $(touch {0}) %s %n & ^"


def blocks(path):
    """Blocks of a data file by name, each a list of rows as dicts."""
    out = {}
    for part in pathlib.Path(path).read_text().split("\n\n\n"):
        lines = [line for line in part.split("\n") if line]
        assert lines[0].startswith("# "), lines[0]
        out[lines[0][2:]] = list(csv.DictReader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE))
    return out


def number(text):
    return math.nan if text == "NaN" else float(text)


def svg_texts(path):
    """Also checks that the picture is well-formed."""
    root = ElementTree.parse(path).getroot()
    return ["".join(t.itertext()).strip() for t in root.iter(f"{SVG}text")]


class Plot(CliTest):
    def setUp(self):
        """Puts a gnuplot first that keeps what the real one says: a warning, which s3analyze does not pass on."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fake, self.heard = pathlib.Path(folder.name, "gnuplot"), pathlib.Path(folder.name, "heard")
        fake.write_text(f"""#!/bin/sh
said=$({tool("gnuplot")} "$@" 2>&1) && [ -z "$said" ] && exit
status=$?
echo "$*: $said" >>{self.heard}
echo "$said" >&2
exit $status
""")
        fake.chmod(0o755)
        self.env = {"PATH": f"{folder.name}:{os.environ['PATH']}"}

    def assert_no_warning(self):
        self.assertEqual(self.heard.read_text() if self.heard.exists() else "", "")

    def plot(self, *args, env=None, **kwargs):
        r = self.s3analyze("plot", "-q", *args, env=self.env | (env or {}), **kwargs)
        if r.status == 0:
            self.assertEqual([line for line in r.err.splitlines() if ": there is no data for --chart " not in line], [])
            self.assert_no_warning()
        return r

    def written(self, text):
        path = self.tmp / "made.csv"
        path.write_bytes(text)
        return path

    # --- What is drawn ---

    def test_sums_show_what_the_capture_moved(self):
        """Charts that need no single requests, with the bytes of each host; others are refused by name."""
        def moved(folder, op):
            d = blocks(folder / f"hosts-{op}.tsv")
            seconds = float(d["chart"][0]["bin_s"]) * int(d["chart"][0]["n_bins"])
            return {row["name"]: round(float(row["mean"]) * seconds) for row in d["names"]}

        for name, op in ("get-errors", "GET"), ("put-g4", "PUT"):
            sums, of_sums, of_rows = self.tmp / f"{name}.sums.zst", self.tmp / f"{name}-s", self.tmp / f"{name}-r"
            self.s3analyze("aggregate", "-q", "-o", sums, capture(name))
            self.plot("--chart", ",".join(RUN_CHARTS), "-o", of_sums, sums)
            self.plot("--chart", "hosts", "-o", of_rows, capture(name))
            self.assertEqual(moved(of_sums, op), moved(of_rows, op))
            self.assertLessEqual({p.name.rpartition("-")[0] for p in of_sums.glob("*.tsv")},
                                 {"throughput", "hosts", "errors", "host-latency", "in-flight"})
            report = self.s3analyze("analyze", "--json", "-q", sums).json()
            for operation in report["operations"]:
                mean = blocks(of_sums / f"throughput-{operation['op']}.tsv")["means"]
                if operation["throughput"]:
                    self.assertEqual(float(mean[-1]["mean"]), operation["throughput"]["objects_per_s"])
            r = self.s3analyze("plot", "-q", "--chart", "cdf", "-o", self.tmp / "x", sums, status=1)
            self.assertIn("there is no data for --chart cdf", r.err)

    def test_every_chart_of_every_capture(self):
        for name in sorted(p.name.removesuffix(".csv.zst") for p in TESTDATA.glob("*.csv.zst")):
            for dark in ([], ["--dark"]) if name == "mixed-3hosts" else ([],):
                out = self.tmp / f"{name}{len(dark)}"
                with self.subTest(capture=name, dark=dark):
                    self.plot(capture(name), "--out", out, "--chart", ",".join(RUN_CHARTS),
                              "--autoterm.dur", "1s", "--autoterm.pct", "25", *dark)
                    drawn = {p.name.split("-")[0] for p in out.glob("*.svg")}
                    self.assertLessEqual({"throughput", "hosts", "clients", "in", "autoterm"}, drawn)
                    for svg in out.glob("*.svg"):
                        self.assertLess(svg.stat().st_size, MIB, svg.name)
                        self.assertGreater(len(svg_texts(svg)), 3, svg.name)
                        self.assertTrue(svg.with_suffix(".tsv").exists())

    def test_gnuplot_says_nothing_of_pages(self):
        """Each kind of page, whose charts are drawn for a phone, too."""
        for argv in (["analyze", capture("mixed-3hosts")], ["analyze", capture("edge-errors")], ["analyze", capture("s3load-open-loop")],
                     ["analyze", TESTDATA / "formats" / "aggregated-merged.json.zst"], ["trend", TESTDATA / "nightly"],
                     ["plan", TESTDATA / "formats" / "plan"], ["cmp", capture("get-g4"), capture("get-errors")],
                     ["cmp", "--before", *sorted((TESTDATA / "builds").glob("old-*")),
                      "--after", *sorted((TESTDATA / "builds").glob("new-*"))]):
            with self.subTest(argv=argv[:2]):
                page = self.tmp / "page.html"
                self.s3analyze(argv[0], "-qf" if argv[0] != "plan" else "-f", "--html", page, *argv[1:], env=self.env, status=None)
                self.assertIn("<figure", page.read_text())
                self.assertNotIn("chart is missing", page.read_text())
                self.assert_no_warning()

    def test_comparison_charts(self):
        out = self.tmp / "ab"
        self.plot("--before", capture("get-g4"), "--after", capture("get-randsize"), "--out", out,
                  "--before-name", "old", "--after-name", "new")
        self.assertLessEqual({"compare-change.svg", "compare-spectrum-GET.svg",
                              "compare-throughput-GET.svg"}, {p.name for p in out.iterdir()})
        for svg in out.glob("*.svg"):
            self.assertTrue(svg_texts(svg))
        self.assertIn("old", svg_texts(out / "compare-spectrum-GET.svg"))
        report = self.s3analyze("cmp", "-q", "--json", capture("get-g4"), capture("get-randsize"),
                                status=None).json()
        get = next(o for o in report["operations"] if o["op"] == "GET")
        rows = {r["name"].removesuffix(" *"): r for r in blocks(out / "compare-change.tsv")["rows"]}
        for name, metric in (("GET Objects/s", "objects"), ("GET p50", "p50")):
            m = next(m for m in get["metrics"] if m["metric"] == metric and m["host"] is None)
            self.assertTrue(same_number(m["ratio"], 1 + number(rows[name]["change_pct"]) / 100))
            self.assertTrue(same_number(m["ratio_lo"], 1 + number(rows[name]["lo_pct"]) / 100))
            self.assertTrue(same_number(m["ratio_hi"], 1 + number(rows[name]["hi_pct"]) / 100))

    def test_one_picture_of_a_comparison(self):
        """Of the operation with the most requests."""
        self.plot("--before", capture("mixed-3hosts"), "--after", capture("s3load-open-loop"),
                  "--chart", "compare-cdf", "--out", self.tmp / "x.svg")
        ops = self.s3analyze("analyze", "--json", capture("mixed-3hosts")).json()["operations"]
        largest = max(ops, key=lambda o: o["n_requests"])["op"]
        self.assertGreater(len(ops), 2)
        self.assertIn(f"<title>{largest} ", (self.tmp / "x.svg").read_text())

    def test_one_picture_of_a_mixed_run(self):
        """Of all operations together; a chart of one operation shows the largest one."""
        operations = self.s3analyze("analyze", "--json", capture("mixed-3hosts")).json()["operations"]
        self.assertGreater(len(operations), 1)
        largest = max(operations, key=lambda o: o["n_requests"])["op"]
        for chart, subject in (("throughput", "All operations"), ("cdf", largest), ("latency", largest),
                               ("spectrum", largest)):
            with self.subTest(chart=chart):
                self.plot(capture("mixed-3hosts"), "--chart", chart, "--out", self.tmp / "x.svg")
                self.assertIn(f"<title>{subject} ", (self.tmp / "x.svg").read_text())
        r = self.plot(capture("mixed-3hosts"), "--chart", "errors", "--out", self.tmp / "y.svg", status=1)
        self.assertIn("nothing to draw: there is no data for --chart errors", r.err)

    def test_charts_without_data(self):
        """Each that was asked for is drawn, or it is said that there is nothing to draw."""
        def said(*argv):
            return self.plot(*argv, "--out", self.tmp / "charts").err
        self.assertEqual(said(capture("mixed-3hosts"), "--chart", "cdf,errors"),
                         f"s3analyze: {capture('mixed-3hosts')}: there is no data for --chart errors\n")
        self.assertEqual(said("--before", capture("mixed-3hosts"), "--after", capture("s3load-open-loop"), "--chart",
                              "compare-cdf,compare-runs"), "s3analyze: the comparison: there is no data for --chart compare-runs\n")
        self.assertEqual(said(TESTDATA / "formats" / "aggregated-merged.json.zst", "--chart", "throughput,clients"), "")

    def test_one_picture_of_operations_one_after_another(self):
        """Of the benchmark, without the upload before it and the deletion after it."""
        def after(rows, seconds):
            return [r._replace(start=r.start + seconds * 10**9, end=r.end + seconds * 10**9) for r in rows]

        rows = (capgen.steady(30, op="PUT") + after(capgen.steady(300), 10) +
                after(capgen.steady(30, op="DELETE", size=0, every=10**7), 60))
        self.plot(self.put("run.csv", capgen.text(rows)), "--out", self.tmp / "x.svg")
        self.assertIn("<title>GET ", (self.tmp / "x.svg").read_text())

    def test_formats_and_size(self):
        for name, start in (("a.png", b"\x89PNG"), ("a.PDF", b"%PDF"), ("a.svg", b"<?xml")):
            self.plot(capture("get-g4"), "--out", self.tmp / name, "--size", "640x300")
            self.assertTrue((self.tmp / name).read_bytes().startswith(start))
        root = ElementTree.parse(self.tmp / "a.svg").getroot()
        self.assertEqual((root.get("width"), root.get("height")), ("640", "300"))
        self.assertTrue((self.tmp / "a.tsv").exists())

    def test_seconds_count_from_the_first_request_kept(self):
        """They can be given to --from and --to."""
        for args in (["--op", "GET"], ["--op", "GET", "--from", "2s"]):
            self.plot(capture("get-g4"), "--out", self.tmp, "--chart", "throughput", *args)
            start = number(blocks(self.tmp / "throughput-GET.tsv")["chart"][0]["t_min"])
            self.assertTrue(start == 0 if len(args) == 2 else 2 <= start < 2.1, start)

    def test_captures_that_begin_in_1970(self):
        """If the clock was never set, the first segments begin before 1970."""
        drawn = []
        for year, days in (1970, 0), (2025, 56 * 365):
            at = days * 86400 * SECOND - capgen.START
            rows = [capgen.row(at + i * SECOND // 20, at + i * SECOND // 20 + SECOND // 11, thread=i % 2) for i in range(400)]
            path, out = self.written(capgen.text(rows)), self.tmp / str(year)
            self.plot(path, "--out", out)
            self.s3analyze("analyze", "-q", "--html", out / "page", "--all", "--out", out / "series", path)
            drawn.append(({p.name: p.read_text().replace("2025-12-18T", "1970-01-01T").replace("\t1766016000\t", "\t0\t")
                           for p in out.glob("*.tsv")}, (out / "page").read_text().count("<svg"),
                          (out / "series").read_text().count("\n")))
        self.assertEqual(*drawn)
        self.assertIn("throughput-GET.tsv", drawn[0][0])

    def test_hardly_any_data(self):
        """One request, few requests, or only failures: charts show what there is."""
        def rows(n, **how):
            return [capgen.row(i * SECOND // 10, (i + 1) * SECOND // 10, **how) for i in range(n)]

        for name, made in (("one", rows(1)), ("two", rows(2)), ("few", rows(12)),
                           ("failed", rows(60, error="no")), ("empty", rows(30, size=0)),
                           ("instant", [capgen.row(0, 0) for _ in range(3)])):
            with self.subTest(capture=name):
                self.plot(self.written(capgen.text(made)), "--out", self.tmp / name)
                shows = "errors-*.svg" if name == "failed" else "throughput-*.svg"
                self.assertTrue(list((self.tmp / name).glob(shows)))

    def test_findings_are_listed_below_pictures_only(self):
        tool("gnuplot")
        page, picture = self.tmp / "page.html", self.tmp / "throughput.svg"
        self.s3analyze("analyze", "-q", "--html", page, capture("get-errors"))
        self.plot(capture("get-errors"), "--op", "GET", "--chart", "throughput", "--out", picture)
        listed = re.compile(r"<g transform=.translate\(12[0.]*,[0-9.]+\).[^>]*>\s*<text>\s*(?:<tspan[^>]*>)?([^<]*)")
        self.assertEqual([x for x in listed.findall(page.read_text()) if x[0].isdigit()], [])
        self.assertRegex(listed.findall(picture.read_text())[0], r"^1: 2,168 requests failed")

    def test_large_rates_have_large_units(self):
        rows = [capgen.row(i * SECOND // 50, (i + 1) * SECOND // 50, size=1 << 36) for i in range(500)]
        self.plot(self.written(capgen.text(rows)), "--out", self.tmp)
        self.assertIn("GiB/s", svg_texts(self.tmp / "throughput-GET.svg"))
        self.assertNotIn("MiB/s", svg_texts(self.tmp / "throughput-GET.svg"))

    def test_marks_labels_and_theme(self):
        light, dark = self.tmp / "l.svg", self.tmp / "d.svg"
        self.plot(capture("get-errors"), "--op", "GET", "--label", "night", "--out", light)
        self.plot(capture("get-errors"), "--op", "GET", "--dark", "--out", dark)
        texts = svg_texts(light)
        for wanted in ("fastest", "median", "slowest", "95 % CI", "mean", "errors", "MiB/s"):
            self.assertIn(wanted, texts)
        self.assertTrue(any(t.startswith("night") for t in texts))
        self.assertTrue(any("seconds into the run" in t for t in texts))
        self.assertTrue(any(re.fullmatch(r"\d\d:\d\d:\d\d", t) for t in texts))
        self.assertIn('fill="#ffffff"', light.read_text())
        self.assertNotIn('fill="#ffffff"', dark.read_text())

    def test_redrawn_by_hand(self):
        """A data file, and a time series too, can be drawn with the script alone."""
        self.plot(capture("mixed-3hosts"), "--out", self.tmp, "--chart", "throughput")
        series = self.tmp / "series.tsv"
        self.s3analyze("analyze", capture("mixed-3hosts"), "--out", series)
        for data in (self.tmp / "throughput-GET.tsv", series):
            for chart in ("throughput", "latency", "in-flight"):
                if chart != "throughput" and data != series:
                    continue
                r = run("/usr/bin/env", "gnuplot", "-d", "-c", ROOT / "plots" / f"{chart}.gp", data,
                        self.tmp / "again.svg")
                self.assertEqual((r.status, r.err), (0, ""), chart)
                self.assertTrue(svg_texts(self.tmp / "again.svg"))

    def test_colours_stand_for_one_role(self):
        style = (ROOT / "plots" / "style.gp").read_text()
        found = re.findall(r'\b([a-z]+_\w+) = "(#[0-9a-f]{6})"', style)
        light = dict(found[len(found) // 2:])
        self.assertEqual(len(set(light.values())), len(light))
        self.assertEqual(set(light), set(dict(found[:len(found) // 2])))

    # --- The data ---

    def test_throughput_data(self):
        for name in ("get-errors", "mixed-3hosts", "edge-errors", "list"):
            out = self.tmp / name
            report = self.s3analyze("analyze", "--json", "-q", capture(name)).json()
            series = self.s3analyze("analyze", "-q", capture(name), "--output", os.devnull, "--out",
                                    "-").out
            series = [r for r in csv.DictReader(series.splitlines(), delimiter="\t")]
            self.plot(capture(name), "--out", out, "--chart", "throughput")
            for op in report["operations"]:
                path = out / f"throughput-{op['op']}.tsv"
                if not op["throughput"] or not op["segments"]:
                    continue
                with self.subTest(capture=name, op=op["op"]):
                    data = blocks(path)
                    own = {r["start_time"]: r for r in series if r["op"] == op["op"] and
                           (not r["host"] or op["n_hosts"] == 1)}
                    drawn = {r["start_time"]: r for r in data["series"] if r["in_range"] == "1"}
                    self.assertEqual(set(own), set(drawn))
                    for start, row in own.items():
                        for column in ("mb_per_sec", "objs_per_sec", "errors", "p50_ms", "p99_ms",
                                       "in_flight"):
                            want = number(row[column] or "NaN")
                            got = number(drawn[start][column])
                            same = math.isnan(got) if math.isnan(want) else same_number(want, got)
                            self.assertTrue(same, (column, want, got))
                    for mark, which in zip(data["marks"], ("fastest", "median", "slowest")):
                        pick = op["segments"][which]
                        self.assertTrue(same_number(number(mark["mb_per_sec"]),
                                                 pick["bytes_per_s"] / MIB))
                        self.assertTrue(same_number(number(mark["objs_per_sec"]),
                                                 pick["objects_per_s"]))
                    means = {r["panel"]: r for r in data["means"]}
                    self.assertTrue(same_number(number(means["1"]["mean"]),
                                             judged(op)["objects_per_s"]))
                    rate = op["statistics"] and op["statistics"]["objects_per_s"]
                    mean = rate and rate["mean"]
                    if mean and mean["lo"] is not None:
                        self.assertTrue(same_number(number(means["1"]["lo"]), mean["lo"]))
                        self.assertTrue(same_number(number(means["1"]["hi"]), mean["hi"]))
                    self.assertEqual(sum(int(r["errors"]) for r in data["errors"]),
                                     op["n_errors"])

    def test_distribution_data(self):
        report = self.s3analyze("analyze", "--json", "-q", capture("get-g4")).json()
        self.plot(capture("get-g4"), "--out", self.tmp, "--chart",
                  "cdf,latency-heat,latency-size,sizes")
        for op in report["operations"]:
            q, n = op["requests"], op["n_requests"] - op["n_errors"]
            data = blocks(self.tmp / f"cdf-{op['op']}.tsv")
            marks = {(r["is_ttfb"], r["pct"]): number(r["ms"]) for r in data["marks"]}
            for pct, key in (("50", "p50_ns"), ("90", "p90_ns"), ("99", "p99_ns"),
                             ("100", "slowest_ns")):
                self.assertTrue(same_number(marks["0", pct], q[key] / 1e6), (op["op"], pct))
            if q["ttfb"]:
                self.assertTrue(same_number(marks["1", "90"], q["ttfb"]["p90_ns"] / 1e6))
            for name in ("durations", "ttfb"):
                points = [(number(r["ms"]), number(r["pct"])) for r in data[name]]
                self.assertEqual(points, sorted(points))
                self.assertLessEqual(len(points), 700)
                self.assertTrue(not points or points[-1][1] == 100)
            self.assertEqual(int(data["chart"][0]["n"]), q["n"])
            heat = blocks(self.tmp / f"latency-heat-{op['op']}.tsv")["heat"]
            self.assertEqual(sum(int(r["requests"]) for r in heat), n)

    def test_size_data(self):
        report = self.s3analyze("analyze", "--json", "-q", capture("get-randsize")).json()
        self.plot(capture("get-randsize"), "--chart", "latency-size,sizes", "--out", self.tmp)
        for op in report["operations"]:
            rows = blocks(self.tmp / f"latency-size-{op['op']}.tsv")["classes"]
            self.assertEqual([int(r["n"]) for r in rows], [s["n"] for s in op["requests"]["sizes"]])
            for r in rows:
                values = [number(r[k]) for k in ("min_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms")]
                self.assertEqual(values, sorted(values))
            for k in "p50", "p90", "p99":
                self.assertEqual([number(r[f"{k}_ms"]) for r in rows],
                                 [s["duration"][f"{k}_ns"] / 1e6 for s in op["requests"]["sizes"]])
            sizes = blocks(self.tmp / f"sizes-{op['op']}.tsv")["sizes"]
            self.assertEqual(sum(int(r["requests"]) for r in sizes),
                             op["n_requests"] - op["n_errors"])

    def test_host_data(self):
        """The hosts' rates add up to the whole."""
        self.plot(capture("mixed-3hosts"), "--out", self.tmp, "--chart", "hosts,throughput")
        rates = {}
        for r in blocks(self.tmp / "hosts-GET.tsv")["rates"]:
            rates.setdefault(round(number(r["t_s"]), 6), []).append(number(r["rate"]))
        n = 0
        for r in blocks(self.tmp / "throughput-GET.tsv")["series"]:
            t = round(number(r["t_s"]) + number(r["duration_s"]) / 2, 6)
            if t in rates:
                n += 1
                self.assertEqual(len(rates[t]), 3)
                self.assertAlmostEqual(sum(rates[t]), number(r["mb_per_sec"]), 3)
        self.assertGreater(n, 5)

    def test_autoterm_window(self):
        args = ["--autoterm.dur", "1s", "--autoterm.pct", "30"]
        for name in ("get-g4", "get-errors"):
            stops = self.s3analyze("autoterm", "-q", "--json", capture(name), *args).json()
            self.plot(capture(name), "--out", self.tmp / name, "--chart", "autoterm", *args)
            for op in stops["operations"]:
                window = blocks(self.tmp / name / f"autoterm-{op['op']}.tsv")["window"]
                self.assertEqual(bool(window), op["stopped"])
                if window:
                    w, rate = window[0], op["stop"]["bytes_per_s"] / MIB
                    self.assertTrue(same_number(number(w["speed"]), rate))
                    self.assertTrue(same_number(number(w["hi"]), rate * 1.3))
                    texts = svg_texts(self.tmp / name / f"autoterm-{op['op']}.svg")
                    self.assertIn("window", texts)

    def test_thinning_keeps_extremes(self):
        """If there are many segments, a few are drawn, the fastest and the slowest among them."""
        rows = capgen.simulate(5, capgen.Shape(n=20000, threads=3, sizes=(1000, 2000, 900000)))
        path = self.written(capgen.text(rows))
        self.plot(path, "--out", self.tmp, "--chart", "throughput,latency,in-flight",
                  "--dur", "10ms")
        self.s3analyze("analyze", "-q", path, "--dur", "10ms", "--out", self.tmp / "all.tsv")
        with open(self.tmp / "all.tsv") as f:
            own = [r for r in csv.DictReader(f, delimiter="\t") if not r["host"]]
        data = blocks(self.tmp / "throughput-GET.tsv")["series"]
        self.assertGreater(len(own), 5000)
        self.assertLess(len(data), 2100)
        for pick in (min, max):
            self.assertEqual(pick(number(r["mb_per_sec"]) for r in own),
                             pick(number(r["mb_per_sec"]) for r in data))
        latency = blocks(self.tmp / "latency-GET.tsv")["series"]
        self.assertEqual(max(number(r["max_ms"] or "NaN") for r in own if r["max_ms"]),
                         max(number(r["max_ms"]) for r in latency))
        in_flight = blocks(self.tmp / "in-flight-GET.tsv")["series"]
        self.assertLess(len(in_flight), 2100)
        self.assertEqual(max(number(r["in_flight"]) for r in own),
                         max(number(r["in_flight"]) for r in in_flight))
        self.assertLess((self.tmp / "throughput-GET.svg").stat().st_size, MIB)

    def test_many_hosts(self):
        rows = capgen.simulate(6, capgen.Shape(n=6000, threads=40, hosts=1200))
        self.plot(self.written(capgen.text(rows)), "--out", self.tmp, "--chart", "hosts")
        data = blocks(self.tmp / "hosts-GET.tsv")
        chart = data["chart"][0]
        self.assertEqual(chart["n_hosts"], "400")
        self.assertGreater(int(chart["n_hosts_in_all"]), 1000)
        means = [number(r["mean"]) for r in data["names"]]
        self.assertEqual(means, sorted(means))  # the slowest first
        texts = svg_texts(self.tmp / "hosts-GET.svg")
        self.assertEqual([t for t in texts if re.fullmatch(r"h\d+", t)], [r["name"] for r in data["names"][:20]])
        self.assertIn(f"380 of the other {int(chart['n_hosts_in_all']) - 20}", texts)
        self.assertLess((self.tmp / "hosts-GET.svg").stat().st_size, MIB)

    def test_a_host_that_a_finding_names_comes_first(self):
        rows = [capgen.row(i * 10**6, i * 10**6 + (100 if i % 30 == 17 else 10) * 10**6, thread=i % 60,
                           host=f"http://h{i % 30}:9000") for i in range(6000)]
        path = self.written(capgen.text(rows))
        self.plot(path, "--out", self.tmp, "--chart", "hosts")
        found = self.s3analyze("analyze", "--json", path).json()["findings"]
        self.assertIn("http://h17:9000", [x["scope"].get("host") for x in found if x["scope"]])
        self.assertEqual(blocks(self.tmp / "hosts-GET.tsv")["names"][0]["name"], "h17")

    # --- Hostile captures ---

    def test_text_of_a_capture_is_inert(self):
        canary = self.tmp / "canary"
        evil = EVIL.replace("{0}", str(canary))
        rows = []
        for i in range(400):
            rows.append(capgen.row(i * SECOND // 20, (i + 2) * SECOND // 20, thread=i % 2, op="GET",
                                   host=(evil, "%s" + evil, "#h")[i % 3], client=f"{evil.replace(chr(34), '')}{i % 2}",
                                   file=evil.replace("\t", " "), size=1000 + i % 3,
                                   error=evil if i % 10 == 0 else ""))
            rows.append(capgen.row(i * SECOND // 20 + 1, (i + 1) * SECOND // 20 + 1, thread=2,
                                   op="a`b$(c)<b>", host="|h", client="-", size=10))
        path = self.written(capgen.text(rows))
        out = self.tmp / "out"
        self.plot(path, "--out", out, "--chart", ",".join(RUN_CHARTS), "--label", evil)
        for svg in out.glob("*.svg"):
            root = ElementTree.parse(svg).getroot()
            self.assertFalse(list(root.iter(f"{SVG}script")))
            self.assertNotIn("<script", svg.read_text())
        self.assertTrue(all(re.fullmatch(r"[\w.-]+", p.name) for p in out.iterdir()))
        shown = "".join(svg_texts(out / "hosts-all.svg"))
        for part in ("<script>alert(1)</script>", "@x _y {z} \\n `touch"):
            self.assertIn(part, shown)
        self.plot("--before", path, "--after", path, "--before-name", evil, "--after-name", evil,
                  "--out", self.tmp / "ab", status=None)
        self.assertFalse(canary.exists())

    def test_folder_that_looks_like_a_command(self):
        os.chdir(self.tmp)
        self.addCleanup(os.chdir, ROOT)
        self.plot(capture("get-g4"), "--out", "|touch canary", "--chart", "cdf")
        self.assertFalse((self.tmp / "canary").exists())
        self.assertTrue((self.tmp / "|touch canary" / "cdf-GET.svg").exists())

    # --- What goes wrong ---

    def test_usage(self):
        for args, said in (([], "--out is missing"),
                           (["--out", "x", "--chart", "pie"], "throughput"),
                           (["--out", "x", "--size", "big"], "WIDTHxHEIGHT"),
                           (["--out", "x", "--size", "300x300"], "from 360x300"),
                           (["--out", "x.svg", "--chart", "cdf,sizes"], "one picture"),
                           (["--out", "x.gif"], ".svg, .png or .pdf"),
                           (["--out", "x.xlsx"], "--out x.xlsx: name a picture that ends in .svg, .png or .pdf, or a folder"),
                           (["--out", "x.txt"], "--out x.txt: name a picture"),
                           (["--out", "x.svgz"], "--out x.svgz: name a picture"),
                           (["--out", "-"], "--out -: name a picture that ends in .svg"),
                           (["--out", "x", "--before", "a"], "")):
            r = self.s3analyze("plot", capture("get-g4"), *args, status=2)
            self.assertIn(said, r.err)
        self.assertEqual([*self.tmp.iterdir()], [])

    def test_gnuplot_that_fails(self):
        """Pictures appear whole or not at all; the earlier one stays."""
        fake, out = self.tmp / "gnuplot", self.tmp / "o"
        fake.write_text('#!/bin/sh\n[ "$1" = --version ] || { echo half >"$5"; exit 1; }\n')
        fake.chmod(0o755)
        out.mkdir()
        (out / "cdf-GET.svg").write_text("earlier")
        r = self.s3analyze("plot", "-q", capture("get-g4"), "--out", out, "--force", status=1,
                           env={"PATH": f"{self.tmp}:{os.environ['PATH']}"})
        self.assertIn("gnuplot failed", r.err)
        self.assertEqual([p.name for p in out.iterdir()], ["cdf-GET.svg"])
        self.assertEqual((out / "cdf-GET.svg").read_text(), "earlier")

    def test_captures_are_spared(self):
        path = self.tmp / "run.tsv"
        path.write_bytes(capgen.text(capgen.simulate(1, capgen.Shape(n=200))))
        before = path.read_bytes()
        for args in ([path], ["--before", path, "--after", capture("get-g4")]):
            r = self.s3analyze("plot", "-q", *args, "--out", self.tmp / "run.svg", status=1)
            self.assertIn("would be overwritten", r.err)
            self.assertEqual(path.read_bytes(), before)

    def test_locale(self):
        """Pictures do not depend on the locale, not even on UTF-8."""
        drawn = set()
        for locale in "C.UTF-8", "C", "":
            self.plot(capture("get-g4"), "--chart", "cdf", "--out", self.tmp / "o.svg",
                      env={"LC_ALL": locale, "LANG": locale, "LC_NUMERIC": "de_DE.UTF-8"})
            drawn.add((self.tmp / "o.svg").read_bytes())
        self.assertEqual(len(drawn), 1)

    def test_without_gnuplot(self):
        r = self.s3analyze("plot", capture("get-g4"), "--out", self.tmp / "o", status=1,
                           env={"PATH": str(self.tmp)})
        self.assertIn("gnuplot-nox", r.err)
        self.assertEqual([*self.tmp.iterdir()], [])
        r = self.s3analyze("plot", capture("get-g4"), "--out", self.tmp / "no" / "o", status=1)
        self.assertIn(f"cannot make the folder {self.tmp / 'no' / 'o'}: No such file or directory", r.err)


class Sizes(CliTest):
    """The size of a picture and of its text."""

    def texts(self, *args):
        """Heights of text as it is shown, in pixels of 1/96 inch."""
        out = self.tmp / 'latency.svg'
        self.s3analyze('plot', '-q', '--force', '--chart', 'latency', *args, capture('get-g4'), '--out', out)
        svg = out.read_text()
        width, inch, drawn = re.search(r'width="([\d.]+)(in)?" height="[\d.]+(?:in)?"\s+viewBox="0 0 (\d+) ', svg).groups()
        return {round(float(s) * float(width) * (96 if inch else 1) / int(drawn), 1) for s in re.findall(r'font-size="([0-9.]+)"', svg)}

    def sized(self, size):
        self.texts('--size', size)
        return (self.tmp / 'latency.svg').read_text()

    def test_print(self):
        """Column and page have a width in inches; a PNG says how many pixels an inch has."""
        for name, inches in ('column', 3.5), ('page', 6.5):
            files = {form: self.tmp / f'{name}.{form}' for form in ('svg', 'png', 'pdf')}
            for path in files.values():
                self.s3analyze('plot', '-f', '--size', name, '--no-title', '--chart', 'cdf', '--out', path, capture('get-g4'))
            self.assertIn(f'<svg width="{inches}in" ', files['svg'].read_text())
            png = files['png'].read_bytes()
            self.assertEqual(int.from_bytes(png[16:20], 'big'), 300 * inches)
            self.assertEqual(png[33:54].hex(), '000000097048597300002e2300002e230178a53f76')
            self.assertRegex(self.pdf_text(files['pdf'].read_bytes()), rb'MediaBox \[ ?0 0 %d[ .]' % (72 * inches))

    @staticmethod
    def pdf_text(data):
        """What a PDF says outside its streams and, as newer ones do, in them."""
        streams = re.findall(rb'FlateDecode[^>]*>>\s*stream\r?\n(.*?)endstream', data, re.S)
        return data + b''.join(zlib.decompressobj().decompress(x) for x in streams)

    def test_text_grows_with_the_picture(self):
        tool('gnuplot')
        self.assertEqual(min(self.texts()), 13)
        self.assertEqual(min(self.texts('--size', '1720x800')), 26)
        self.assertEqual(min(self.texts('--size', '1720x400')), 13)
        for size in 'column', 'page':  # 7 points of 1/72 inch
            self.assertGreaterEqual(min(self.texts('--size', size)) * 72 / 96, 7)
        self.assertIn('viewBox="0 0 460 380"', self.sized('column'))
        self.assertIn('width="1600" height="900"', self.sized('slide'))

    def test_font_size(self):
        tool('gnuplot')
        self.assertEqual(min(self.texts('--font-size', '22', '--size', '860x600')), 22)
        r = self.s3analyze('plot', '--font-size', '24', capture('get-g4'), '--out', self.tmp / 'x.svg', status=2)
        self.assertIn('--font-size 24 needs a picture of 665x554 at least (--size)', r.err)

    def test_help_lists_charts(self):
        said = self.s3analyze('plot', '--help', 'charts').out
        scripts = {p.stem for p in (ROOT / 'plots').glob('*.gp')} - {'style', 'latency-axis', 'trend', 'plan'}  # the last two are of pages
        self.assertEqual(set(re.findall(r'^  ([a-z][a-z-]*) {2,}\w', said, re.M)), scripts)

    def test_hosts_in_the_order_of_numbers(self):
        tool('gnuplot')
        path = self.tmp / 'run.csv'
        path.write_bytes(capgen.text([r for i in (10, 2, 1) for r in capgen.steady(40, host=f'http://h{i}:9000')]))
        self.s3analyze('plot', '-q', '--chart', 'hosts', path, '--out', self.tmp / 'hosts.svg')
        names = (self.tmp / 'hosts.tsv').read_text().partition('# names\n')[2].partition('\n\n')[0]
        self.assertEqual(re.findall(r'\bh?(\d+)(?::9000)?$', names, re.M), ['1', '2', '10'])


if __name__ == "__main__":
    unittest.main()
