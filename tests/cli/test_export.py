"""`s3analyze export`: other tools read what it writes, and find the figures of `analyze` and `cmp` in it."""
import base64
import collections
import csv
import io
import itertools
import re
import subprocess
import unittest
import urllib.parse
import zlib

import capgen
from capgen import Shape, simulate
from engines import ROOT
from harness import TIMEOUT_S, CliTest, capture
from oracle import SECOND, parse_time
from servers import go_program

FORMATS = ("benchfmt", "influx", "openmetrics", "hdr")
# Quantiles of the report, in thousandths.
QUANTILES = {"p50_ns": 500, "p90_ns": 900, "p99_ns": 990}
# Verdicts of cmp and benchstat are of equal values for the same figure.
UNITS = {"B/s": "throughput", "obj/s": "objects", "p50-sec": "p50", "p90-sec": "p90", "p99-sec": "p99",
         "ttfb-p50-sec": "ttfb_p50"}
HOSTILE = 'G "E,T=\\'
HOSTILE_NAME = urllib.parse.quote(HOSTILE)
ALIKE = {op: urllib.parse.quote(op) for op in ("A B", "A,B", "A_B", "A%20B", "É", 70 * "X" + "1", 70 * "X" + "2")}


def imported(name):
    """A Python module that `.ci/deps --ci` puts into build/python; skips the test without it."""
    try:
        return __import__(name, fromlist=["x"])
    except ImportError as e:
        raise unittest.SkipTest(f"{e}: '.ci/deps --ci' installs it")


def unescaped(text):
    return re.sub(r"\\([, =])", r"\1", text)


class Case(CliTest):
    def export(self, form, *args, **kwargs):
        return self.s3analyze("export", "--format", form, *args, **kwargs)

    def operations(self, *args):
        return {o["op"]: o for o in self.s3analyze("analyze", "--json", *args).json()["operations"]}

    def requests(self, path, *args):
        """The requests of the report by operation, whatever their sizes."""
        return {op: r["requests"] if r["requests"]["single_size"] else r["requests"]["all_sizes"]
                for op, r in self.operations(path, *args).items() if r["requests"]}

    def hostile(self):
        rows = [r._replace(op=HOSTILE, host="h,1 =\\", error=r.error and "x") for r in
                simulate(4, Shape(n=3000, error_frac=0.1))]
        return self.put("hostile.csv", capgen.text(rows))

    def alike(self):
        rows = simulate(4, Shape(n=700))
        return self.put("alike.csv", capgen.text([r._replace(op=list(ALIKE)[i % len(ALIKE)]) for i, r in enumerate(rows)]))


def mann_whitney(a, b):
    """The exact two-sided p of samples without ties, from all ways to choose the first."""
    both = sorted(a + b)
    u = [sum(x > y for x in chosen for y in both if y not in chosen) for chosen in itertools.combinations(both, len(a))]
    at = sum(x > y for x in a for y in b)
    return min(1, 2 * min(sum(x <= at for x in u), sum(x >= at for x in u)) / len(u))


class Benchfmt(Case):
    def lines(self, *paths):
        for line in self.export("benchfmt", *paths).out.splitlines():
            name, *words = line.split()
            if name.startswith("Benchmark"):
                yield name[len("Benchmark"):], int(words[0]), dict(zip(words[2::2], map(float, words[1::2])))

    def test_figures(self):
        path = capture("mixed-3hosts")
        operations, requests = self.operations(path), self.requests(path)
        lines = list(self.lines(path))
        self.assertEqual([name for name, _, _ in lines], list(operations))
        for op, n, units in lines:
            report, times = operations[op], requests[op]
            self.assertEqual(n, report["n_requests"])
            self.assertAlmostEqual(units["ns/op"], times["mean_ns"], 3)
            self.assertEqual(units["p99-ns"], times["p99_ns"])
            self.assertEqual(units["obj/s"], report["throughput"]["objects_per_s"])
            self.assertEqual(units.get("B/s", 0), report["throughput"]["bytes_per_s"])

    def test_rates_that_leave_failures_out_are_none(self):
        path = capture("edge-errors")
        operations = self.operations(path).values()
        self.assertTrue(any(o["throughput"] for o in operations) and not any(o["judged"] for o in operations))
        for _, _, units in self.lines(path):
            self.assertFalse({"B/s", "obj/s"} & set(units))
        self.assertNotIn('per_second{', self.export("openmetrics", path).out)

    def test_a_line_for_each_run(self):
        self.assertEqual([name for name, _, _ in self.lines(capture("get-g4"), capture("put-g4"))], ["PUT", "GET", "PUT"])

    def test_any_name(self):
        path = self.hostile()
        self.assertEqual([name for name, _, _ in self.lines(path)], [HOSTILE_NAME])
        self.assertEqual({name for name, _, _ in self.lines(self.alike())}, set(ALIKE.values()))
        rows = [r._replace(op="get") for r in simulate(4, Shape(n=300))]
        self.assertEqual([name for name, _, _ in self.lines(self.put("small.csv", capgen.text(rows)))], ["_get"])

    def test_benchstat_says_what_cmp_says(self):
        benchstat = go_program("golang.org/x/perf/cmd/benchstat")
        files, runs = [], {}
        for side, slower in ("old", 1.0), ("new", 1.08):
            runs[side] = []
            for i in range(5):
                shape = Shape(n=4000, threads=4, ops=("GET",), sizes=(65536,), median=int(2e6 * slower), sigma=0.3)
                rows = simulate(20 * len(runs) + i, shape)
                runs[side].append(self.put(f"{side}-{i}.csv", capgen.text(rows)))
            files.append(self.put(f"{side}.txt", self.export("benchfmt", *runs[side]).raw))
        table = subprocess.run([benchstat, "-format", "csv", *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=TIMEOUT_S, check=True).stdout.decode()
        theirs = {}
        for row in csv.reader(io.StringIO(table)):
            if len(row) > 6 and not row[0] and row[2] == "CI":
                unit = row[1]
            elif len(row) > 6 and row[0] == "GET" and "p=" in row[6]:
                theirs[unit] = float(re.search(r"p=([\d.]+)", row[6]).group(1)), float(row[1]), float(row[3])
        report = self.s3analyze("cmp", "--json", "--before", *runs["old"], "--after", *runs["new"], status=None).json()
        ours = {m["metric"]: m for m in report["operations"][0]["metrics"] if m.get("host") is None}
        self.assertLessEqual({"p50-sec", "p99-sec", "obj/s", "B/s"}, set(theirs))
        for unit, metric in UNITS.items():
            if unit not in theirs or metric not in ours:
                continue
            with self.subTest(unit):
                p, before, after = theirs[unit]
                scale = 1e9 if unit.endswith("sec") else 1
                self.assertAlmostEqual(mann_whitney(*(ours[metric][s]["values"] for s in ("before", "after"))), p, 3)
                for side, value in ("before", before), ("after", after):
                    self.assertAlmostEqual(ours[metric][side]["value"] / value / scale, 1, 3)


class Influx(Case):
    def points(self, path, *args):
        for line in self.export("influx", path, *args).out.splitlines():
            head, fields, at = re.fullmatch(r"((?:\\.|[^ ])*) ((?:\\.|[^ ])*) (\d+)", line).groups()
            measurement, *tags = re.split(r"(?<!\\),", head)
            fields = dict(f.split("=") for f in fields.split(","))
            for name, value in fields.items():
                fields[name] = int(value[:-1]) if value.endswith("i") else float(value)
            yield measurement, {k: unescaped(v) for k, v in (re.split(r"(?<!\\)=", t) for t in tags)}, fields, int(at)

    def rows(self, path):
        text = self.s3analyze("cat", path).out
        return list(csv.DictReader([line for line in text.split("\n") if not line.startswith("#")], delimiter="\t"))

    def test_sums_are_those_of_the_rows(self):
        path = capture("mixed-3hosts")
        sums = collections.defaultdict(lambda: collections.Counter())
        for row in self.rows(path):
            took = parse_time(row["end"]) - parse_time(row["start"])
            for host in row["endpoint"], None:
                x = sums[row["op"], host]
                x.update(requests=1, objects=int(row["n_objects"]), bytes_total=int(row["bytes"]), took=took)
                x["slowest"] = max(x["slowest"], took)
        found = {}
        for measurement, tags, fields, _ in self.points(path):
            if measurement == "warp_run_summary":
                found[tags["op"], tags.get("endpoint")] = fields
        self.assertEqual(set(found), set(sums))
        for key, fields in found.items():
            x = sums[key]
            self.assertEqual([fields[k] for k in ("requests", "objects", "bytes_total", "errors")],
                             [x["requests"], x["objects"], x["bytes_total"], 0])
            self.assertAlmostEqual(fields["request_total_secs"], x["took"] / 1e9, 9)
            self.assertAlmostEqual(fields["request_avg_secs"], x["took"] / x["requests"] / 1e9, 12)
            self.assertEqual(fields["request_max_secs"], x["slowest"] / 1e9)

    def test_counts_go_up_to_the_summary(self):
        last = {}
        for measurement, tags, fields, at in self.points(capture("get-errors")):
            key = tags["op"], tags.get("endpoint")
            if key in last:
                self.assertGreaterEqual(fields["requests"], last[key][1]["requests"])
                self.assertGreaterEqual(at, last[key][2])
            last[key] = measurement, fields, at
        self.assertGreater(last["GET", None][1]["errors"], 0)
        self.assertEqual({m for m, _, _ in last.values()}, {"warp_run_summary"})

    def test_ttfb(self):
        *_, (_, _, fields, _) = self.points(capture("get-g4"))
        for name in "total", "avg", "min", "max":
            self.assertIn(f"request_ttfb_{name}_secs", fields)

    def test_any_name(self):
        tags = next(self.points(self.hostile()))[1]
        self.assertEqual(tags["op"], HOSTILE + "_")
        self.assertEqual(tags["endpoint"], "h,1 =\\_")

    def test_a_host_without_a_name_has_a_series_of_its_own(self):
        for hosts in ("", "h0"), ("", ""):
            rows = [r._replace(host=hosts[i % 2]) for i, r in enumerate(simulate(4, Shape(n=300)))]
            lines = self.export("influx", self.put("unnamed.csv", capgen.text(rows))).out.splitlines()
            keys = [(line.split(" ")[0], line.split(" ")[-1]) for line in lines]
            self.assertEqual(len(keys), len(set(keys)))
            self.assertIn("warp_run_summary,endpoint=(unnamed),op=GET,warp_id=unnamed.csv", dict(keys))

    def test_a_run_that_is_too_long(self):
        rows = [r._replace(start=r.start + i * 10**7 * SECOND, end=r.end + i * 10**7 * SECOND, first=None, last=None)
                for i, r in enumerate(simulate(1, Shape(n=2, threads=1))[:2])]
        r = self.export("influx", self.put("long.csv", capgen.text(rows)), status=1)
        self.assertIn("more than 1000000 seconds", r.err)


class OpenMetrics(Case):
    def families(self, path):
        parser = imported("prometheus_client.openmetrics.parser")
        return {f.name: f for f in parser.text_string_to_metric_families(self.export("openmetrics", path).out)}

    def test_samples_are_of_the_end_of_the_run(self):
        path = capture("mixed-3hosts")
        end_ns = max(parse_time(o["end"]) for o in self.operations(path).values())
        stamps = re.findall(r"(?m)^s3_.* (\S+)$", self.export("openmetrics", path).out)
        self.assertEqual({float(s) for s in stamps}, {end_ns // 10**6 / 1e3})

    def test_slowest(self):
        path = capture("get-g4")
        times = self.requests(path)["GET"]
        slowest = dict(re.findall(r'(?m)^(\w+)\{op="GET",quantile="1.0"\} (\S+) ', self.export("openmetrics", path).out))
        self.assertEqual({k: round(float(v) * 1e9) for k, v in slowest.items()},
                         {"s3_request_duration_seconds": times["slowest_ns"],
                          "s3_request_ttfb_seconds": times["ttfb"]["worst_ns"]})

    def test_ends_with_eof(self):
        self.assertTrue(self.export("openmetrics", capture("get-g4")).out.endswith("\n# EOF\n"))

    def test_a_parser_reads_the_figures(self):
        path = capture("mixed-3hosts")
        families, operations, requests = self.families(path), self.operations(path), self.requests(path)
        self.assertEqual(families["s3_requests"].type, "counter")
        self.assertEqual(families["s3_payload_bytes"].unit, "bytes")
        for family, key in ("s3_requests", "n_requests"), ("s3_request_errors", "n_errors"), ("s3_payload_bytes", "n_bytes"):
            self.assertEqual({s.labels["op"]: s.value for s in families[family].samples},
                             {op: o[key] for op, o in operations.items()})
        for sample in families["s3_request_duration_seconds"].samples:
            times = requests[sample.labels["op"]]
            if sample.labels.get("quantile") == "0.99":
                self.assertAlmostEqual(sample.value, times["p99_ns"] / 1e9, 12)
            elif sample.name.endswith("_count"):
                self.assertEqual(sample.value, times["n"])
            elif sample.name.endswith("_sum"):
                self.assertAlmostEqual(sample.value, times["mean_ns"] * times["n"] / 1e9, 6)

    def test_any_name(self):
        sample = self.families(self.hostile())["s3_requests"].samples[0]
        self.assertEqual(sample.labels, {"op": HOSTILE})


class Hdr(Case):
    def histograms(self, path, *args):
        """The figures by operation, with all intervals of the log added up; and the number of intervals."""
        log, histogram = imported("hdrh.log"), imported("hdrh.histogram").HdrHistogram
        file = self.put("run.hlog", self.export("hdr", path, *args).raw)
        reader = log.HistogramLogReader(str(file), histogram(1, 2**62, 3))
        self.addCleanup(reader.close)
        sums, n = {}, collections.Counter()
        while (interval := reader.get_next_interval_histogram()) is not None:
            sums.setdefault(interval.get_tag(), histogram(1, 2**62, 3)).add(interval)
            n[interval.get_tag()] += 1
        return sums, n

    @staticmethod
    def counts(text):
        """The requests of an interval by the lowest value of their bucket, to three digits."""
        packed = base64.b64decode(text)
        raw = zlib.decompress(packed[8:])[40:]
        numbers, at = [], 0
        while at < len(raw):
            n = 0
            for shift in range(0, 63, 7):
                n |= (raw[at] & (127 if shift < 56 else 255)) << shift
                at += 1
                if shift == 56 or raw[at - 1] < 128:
                    break
            numbers.append(n >> 1 ^ -(n & 1))
        found, bucket = {}, 0
        for n in numbers:
            if n > 0:
                found[bucket if bucket < 2048 else bucket % 1024 + 1024 << bucket // 1024 - 1] = n
            bucket += max(-n, 1)
        return found

    def test_each_interval(self):
        """Checks without the library that reads such files, against the requests."""
        rows = simulate(3, Shape(n=600, hosts=1))
        base = min(r.start for r in rows)
        n = (max(r.end for r in rows) - base) // SECOND
        took = [[] for _ in range(n)]
        for r in rows:
            took[min((r.end - base) // SECOND, n - 1)].append(r.end - r.start)
        path = self.put("run.csv", capgen.text(rows))
        lines = re.findall("(?m)^Tag=GET,(.*)$", self.export("hdr", "--dur", "1s", "--range", "full", path).out)
        self.assertEqual(len(lines), n)
        for k, line in enumerate(lines):
            start, _, most, text = line.split(",")
            lowest = (t - t % (1 << max(t.bit_length() - 11, 0)) for t in took[k])
            self.assertEqual((float(start), self.counts(text)), (k, collections.Counter(lowest)))
            self.assertEqual(most, f"{max(took[k]) / 1e6:.6f}")

    def test_quantiles(self):
        for name in "mixed-3hosts", "get-randsize", "get-errors", "put-g4":
            path = capture(name)
            found, _ = self.histograms(path)
            requests = self.requests(path)
            self.assertEqual(set(found), set(requests))
            for op, times in requests.items():
                histogram = found[op]
                self.assertEqual(histogram.get_total_count(), times["n"])
                for key, p in QUANTILES.items():
                    # The element that the report takes (docs/other-tools.md).
                    rank = min((2 * times["n"] * p + 1000) // 2000, times["n"] - 1) + 1
                    value = histogram.get_value_at_percentile(100 * rank / times["n"])
                    self.assertLessEqual(abs(value - times[key]), times[key] / 1000, (name, op, key))

    def test_intervals_are_the_segments(self):
        path = capture("get-g4")
        _, n = self.histograms(path, "--dur", "2s", "--range", "full")
        segments = self.operations("--dur", "2s", "--range", "full", path)["GET"]["segments"]["n"]
        self.assertIn(n["GET"] - segments, (0, 1))

    def test_long_requests(self):
        rows = [r._replace(end=r.start + (i + 1) * 2000 * SECOND, first=None, last=None)
                for i, r in enumerate(simulate(1, Shape(n=400, threads=4)))]
        path = self.put("long.csv", capgen.text(rows))
        found, _ = self.histograms(path, "--range", "full")
        slowest = self.requests(path, "--range", "full")["GET"]["slowest_ns"]
        self.assertLessEqual(abs(found["GET"].get_max_value() / slowest - 1), 1e-3)

    def test_head(self):
        lines = self.export("hdr", capture("get-g4")).out.splitlines()
        self.assertEqual(lines[1], "#[Histogram log format version 1.3]")
        self.assertRegex(lines[2], r"^#\[StartTime: \d+\.\d{3} \(seconds since epoch\), ")
        self.assertRegex(lines[4], r"^Tag=PUT,\d+\.\d{3},\d+\.\d{3},\d+\.\d{6},HIST[A-Za-z0-9+/]+=*$")

    def test_any_name(self):
        self.assertIn(f"\nTag={HOSTILE_NAME},", self.export("hdr", self.hostile()).out)
        tags = re.findall("(?m)^Tag=([^,]*),", self.export("hdr", self.alike()).out)
        self.assertEqual(set(tags), set(ALIKE.values()))

    def test_lines_are_in_order_of_time(self):
        """HistogramLogProcessor stops at the first line that begins after its -end."""
        for options in (), ("--dur", "1s", "--range", "full"):
            lines = re.findall("(?m)^Tag=([^,]*),([0-9.]*),", self.export("hdr", *options, capture("mixed-3hosts")).out)
            self.assertGreater(len({op for op, _ in lines}), 2)
            starts = [float(start) for _, start in lines]
            self.assertEqual(starts, sorted(starts))


class Command(Case):
    def test_whole_or_not_at_all(self):
        bad = self.put("bad.csv", capture("get-g4").read_bytes()[:5000])
        for form in FORMATS:
            out = self.tmp / "out"
            self.export(form, "-o", out, bad, status=1)
            self.assertEqual(sorted(p.name for p in self.tmp.iterdir()), ["bad.csv"])
            self.export(form, "-o", out, capture("get-g4"))
            before = out.read_bytes()
            self.assertIn("--force", self.export(form, "-o", out, capture("get-g4"), status=1).err)
            self.export(form, "-o", bad, bad, status=2)
            self.export(form, "-f", "-o", out, capture("get-g4"))
            self.assertEqual(out.read_bytes(), before)
            out.unlink()

    def test_nothing_is_printed_of_figures_that_cannot_be_read(self):
        for form in FORMATS:
            self.assertEqual(self.export(form, self.put("empty.csv", b""), status=1).out, "")

    def test_any_number_of_threads(self):
        for form in FORMATS:
            one, four = (self.export(form, "--threads", n, capture("mixed-3hosts")).raw for n in (1, 4))
            self.assertEqual(one, four, form)

    def test_wrong_usage(self):
        path = capture("get-g4")
        self.assertEqual(self.s3analyze("export", path).out, self.export("benchfmt", path).out)
        for form in FORMATS[1:]:
            self.assertIn("takes one capture", self.export(form, path, capture("put-g4"), status=2).err)
        sums = self.tmp / "run.sums"
        self.s3analyze("aggregate", "-o", sums, path)
        for form in FORMATS:
            self.export(form, sums, status=1)

    def test_imports(self):
        path = self.tmp / "ab.csv"
        self.s3analyze("import", "ab", ROOT / "testdata" / "import" / "ab.tsv", "-o", path)
        for form in FORMATS:
            self.export(form, path)
        self.assertIn("starts are known to 1s only", self.export("hdr", "--dur", "10ms", path, status=1).err)

    def test_documented_fields(self):
        """Each field and column is in the document."""
        text = (ROOT / "docs" / "other-tools.md").read_text()
        said = self.export("benchfmt", capture("get-g4")).out + self.export("openmetrics", capture("get-g4")).out
        names = set(re.findall(r"^(?:Unit|# TYPE) (\S+)", said, re.M))
        last = self.export("influx", capture("get-g4")).out.splitlines()[-1]
        names |= {f.split("=")[0] for f in last.split(" ")[1].split(",")}
        self.assertGreater(len(names), 25)
        for name in names:
            self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    unittest.main()
