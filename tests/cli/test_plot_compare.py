"""Charts of a comparison: the change at each percentile, and a dot for each run."""
import re
import statistics

from harness import ROOT, CliTest, tool
from test_cmp import CmpTest as Cmp
from test_plot import blocks, number


class Compare(CliTest):
    write, runs, metric = Cmp.write, Cmp.runs, staticmethod(Cmp.metric)

    def setUp(self):
        super().setUp()
        tool("gnuplot")

    def drawn(self, before, after, *args):
        words = ["--before", *before, "--after", *after]
        self.s3analyze("plot", "-q", *words, "--out", self.tmp / "charts", *args)
        return self.s3analyze("cmp", "--json", *words).json()

    def check_shift(self, report, near):
        rows = blocks(self.tmp / "charts" / "compare-shift-GET.tsv")["shift"]
        for pct, name in (50, "p50"), (90, "p90"):
            at, = [r for r in rows if round(number(r["pct"])) == pct]
            m = self.metric(report, name)
            self.assertAlmostEqual(number(at["change_pct"]), 100 * (m["ratio"] - 1), delta=near)
        for r in rows:
            self.assertLessEqual(number(r["lo_pct"]), number(r["change_pct"]))
            self.assertLessEqual(number(r["change_pct"]), number(r["hi_pct"]))

    def test_names_of_cells_on_a_phone(self):
        """The metric at the end of a name is never cut off."""
        ab = ROOT / "testdata/study/ab"
        self.s3analyze("plot", "-q", "--before", ab / "before", "--after", ab / "after", "--chart", "compare-change",
                       "--size", "380x900", "--out", self.tmp / "x.svg")
        texts = re.findall(r"<text>(?:<tspan[^>]*>)?([^<]*)", (self.tmp / "x.svg").read_text())
        self.assertIn("GET 256KiB Throughput", [x.strip() for x in texts])
        self.assertEqual([x for x in texts if re.match(r"\s*(GET|PUT) .*…\s*$", x)], [])

    def test_groups(self):
        a, b = self.runs("a", 4, seconds=3), self.runs("b", 4, speed=.7, seconds=3)
        report = self.drawn(a, b)
        self.check_shift(report, 2)
        data = blocks(self.tmp / "charts" / "compare-runs.tsv")
        names = [r["name"] for r in data["names"]]
        m = self.metric(report, "throughput")
        at = str(names.index("GET Throughput"))
        for side, key in ("0", "before"), ("1", "after"):
            dots = [r for r in data["dots"] if (r["index"], r["side"]) == (at, side)]
            values = [number(r["pct"]) for r in dots if r["is_median"] == "0"]
            wanted = [100 * (v / m["before"]["value"] - 1) for v in m[key]["values"]]
            self.assertEqual([round(v, 6) for v in values], [round(v, 6) for v in wanted])
            middle, = [number(r["pct"]) for r in dots if r["is_median"] == "1"]
            self.assertAlmostEqual(middle, statistics.median(wanted), 6)

    def test_single_runs(self):
        report = self.drawn(*(self.runs(name, 1, speed=s) for name, s in (("a", 1), ("b", 1.3))))
        self.check_shift(report, 2)
        self.assertFalse((self.tmp / "charts" / "compare-runs.tsv").exists())

    def test_other_sizes(self):
        """If sizes differ, objects are drawn in place of bytes, and no change of throughput."""
        self.drawn(self.runs("a", 1, sizes=(4096,)), self.runs("b", 1, sizes=(65536,)))
        data = blocks(self.tmp / "charts" / "compare-change.tsv")
        names = [r["name"] for r in data["rows"]]
        self.assertIn("GET Objects/s", names)
        self.assertEqual([n for n in names if "Throughput" in n], [])
        data = blocks(self.tmp / "charts" / "compare-throughput-GET.tsv")
        self.assertEqual(data["chart"][0]["has_bytes"], "0")
        rates = [[number(r["rate"]) for r in data[f"{side}_median"]] for side in ("before", "after")]
        self.assertLess(max(map(max, rates)) / max(1, min(map(statistics.median, rates))), 3)
