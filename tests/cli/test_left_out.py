"""Every format tells how many requests no figure counts, and what is shown as a sum is one."""
import html.parser
import unittest

from capgen import row, steady, text
from harness import CliTest, capture
from oracle import SECOND, format_time


class Cells(html.parser.HTMLParser):
    """Rows of all tables, as lists of cells; and the paragraphs."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.paragraphs, self.into = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self.into = self.rows[-1]
        elif tag == "p":
            self.paragraphs.append("")
            self.into = self.paragraphs

    def handle_endtag(self, tag):
        if tag in ("td", "th", "p"):
            self.into = None

    def handle_data(self, data):
        if self.into is not None:
            self.into[-1] += data


def number(text):
    return int(text.replace(",", ""))


class LeftOut(CliTest):
    def check(self, path, parts, *args):
        """parts: how many requests are left out, by kind, and the words for it."""
        report = self.s3analyze("analyze", "--json", *args, path).json()
        self.assertEqual(report["left_out"], {"by_times": 0, "by_warm_up": 0, "by_range": 0,
                                              **{kind: n for kind, n, _ in parts}})
        counted = sum(o["n_requests"] for o in report["operations"])
        self.assertEqual(report["n_rows"], counted + sum(report["left_out"].values()))
        text = self.s3analyze("analyze", *args, path).out
        said = [line for line in text.splitlines() if line.startswith("Left out")]
        self.assertEqual(said, [f"Left out: {n:,} request{'s' * (n != 1)} {why}" for _, n, why in parts])
        self.assertLessEqual(max(map(len, said), default=0), 80)
        page = self.tmp / "page.html"
        self.s3analyze("analyze", "--html", page, *args, path, env={"PATH": "/nowhere"})
        cells = Cells(page.read_text())
        self.assertEqual([p for p in cells.paragraphs if p.startswith("Left out")],
                         [line + "." for line in said])
        names = [o["op"] for o in report["operations"]]
        overview = next(i for i, row in enumerate(cells.rows) if "Course" in row)
        # A row of one cell is a heading.
        below = [row for row in cells.rows[overview + 1:] if len(row) > 1]
        rows, total = below[:len(names)], below[len(names)]
        n, failed = (cells.rows[overview].index(name) for name in ("Requests", "Errors"))
        self.assertEqual(sum(number(row[n]) for row in rows), counted)
        if total[0] == "Cluster Total":
            self.assertEqual([number(total[n]), number(total[failed])],
                             [counted, sum(o["n_errors"] for o in report["operations"])])
        return report

    def test_mixed(self):
        self.check(capture("mixed-3hosts"), [("by_range", 51, "at the beginning and end, when not all threads ran")])

    def test_mixed_with_errors(self):
        self.check(capture("edge-errors"), [("by_range", 2303, "at the beginning and end, when not all clients ran")])

    def test_all_counted(self):
        self.check(capture("get-g4"), [])
        self.check(capture("mixed-3hosts"), [], "--range", "full")

    def test_single(self):
        path = capture("mixed-3hosts")
        n = self.s3analyze("analyze", "--json", "--range", "single", path).json()["left_out"]["by_range"]
        self.assertGreater(n, 0)
        self.check(path, [("by_range", n, "at the first start or the last end")], "--range", "single")

    def test_cut_off(self):
        path = capture("get-g4")
        for args in (["--skip", "1s"], ["--from", "4s"], ["--to", "4s"]):
            with self.subTest(args=args):
                report = self.s3analyze("analyze", "--json", *args, path).json()
                n = report["n_rows"] - sum(o["n_requests"] for o in report["operations"])
                self.assertGreater(n, 0)
                self.check(path, [("by_times", n, "cut off by --from, --to or --skip")], *args)

    def test_steady(self):
        from capgen import SECOND, row, text
        rows, now = [], [0] * 4
        for thread in range(4):
            while now[thread] < 20 * SECOND:
                slow = 5 if now[thread] < 3 * SECOND else 1
                took = SECOND // 100 * slow + (len(rows) * 7919) % 1000000
                rows.append(row(now[thread], now[thread] + took, thread, file=f"k{len(rows)}"))
                now[thread] += took + 1000
        path = self.tmp / "warm.csv"
        path.write_bytes(text(sorted(rows)))
        report = self.s3analyze("analyze", "--json", "--steady", path).json()
        n = report["n_rows"] - sum(o["n_requests"] for o in report["operations"])
        self.assertGreater(n, 100)
        self.check(path, [("by_warm_up", n, "in the warm-up")], "--steady")

    def test_a_comparison(self):
        """One run of two clients with an error, of which one ran for a tenth of the time alone."""
        rows = [row(i * SECOND // 10, (i + 1) * SECOND // 10 - 1000, client=client, thread=thread)
                for thread, client, n in ((0, "a", 200), (1, "b", 180)) for i in range(n)]
        rows[5] = rows[5]._replace(error="no")
        paths = [self.tmp / "a.csv", self.tmp / "b.csv"]
        for path in paths:
            path.write_bytes(text(rows))
        report = self.s3analyze("analyze", "--json", paths[0]).json()
        n = report["left_out"]["by_range"]
        self.assertGreater(n, 4)
        said = f"{n} of 380 requests are left out"
        sides = self.s3analyze("cmp", "--json", *paths).json()
        for side in "before", "after":
            told, = [f["sentence"] for f in sides[side]["runs"][0]["findings"] if f["kind"] == "left-out"]
            self.assertEqual(told[:told.index(",")], said)
        self.assertIn(said, " ".join(self.s3analyze("cmp", *paths).out.split()))
        # An option that leaves requests out is no limit.
        self.assertNotIn("in no figure", self.s3analyze("cmp", "--range", "full", *paths).out)


class Times(CliTest):
    def test_from_and_to_of_two_kinds(self):
        """They can be compared only when the start of the run is known."""
        path = self.tmp / "run.csv"
        path.write_bytes(text(steady(100)))
        start = min(r.start for r in steady(100))
        for args in (["--from", "5s", "--to", format_time(start + 3 * SECOND)],
                     ["--from", format_time(start + 3 * SECOND), "--to", "3s"]):
            for command in ["analyze"], ["cat"], ["plot", "--out", self.tmp / "charts"], ["autoterm"]:
                with self.subTest(args=args, command=command[0]):
                    r = self.s3analyze(*command, *args, path, status=1)
                    self.assertIn("--to is not after --from", r.err)
                    self.assertEqual(r.out, "")
                    self.assertFalse((self.tmp / "charts").exists())
        good = ["--from", "2s", "--to", format_time(start + 3 * SECOND)]
        self.assertEqual(self.s3analyze("analyze", "--json", *good, path).json()["left_out"]["by_times"], 90)


class Folder(CliTest):
    def test_plot_leaves_no_empty_folder(self):
        bad = self.tmp / "bad.csv"
        bad.write_text("no capture\n")
        charts = self.tmp / "charts"
        self.s3analyze("plot", "--out", charts, bad, status=1)
        self.assertFalse(charts.exists())
        charts.mkdir()
        self.s3analyze("plot", "--out", charts, bad, status=1)
        self.assertTrue(charts.exists())  # it is not ours


if __name__ == "__main__":
    unittest.main()
