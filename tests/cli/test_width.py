"""Text fits 80 columns: every line of what analyze, cmp, info, merge and autoterm say about the captures.

What cannot be broken is let through: a line that is one word besides its indentation, and rows of hosts
with long names.
"""
import re
import subprocess

from capgen import steady, text
from harness import BUILD, CliTest, capture, captures, on_terminal

WIDTH = 80
LONG = "a-host-with-a-rather-long-name.storage.example.org"


# "1 requests"
ONE = r"(?<![\d.,])1 (requests|rows|threads|errors|runs|hosts|clients|segments|objects|frames|captures|times|kinds)\b"


class Width(CliTest):
    def check(self, out):
        self.assertNotRegex(out, ONE)
        for line in out.splitlines():
            self.assertTrue(len(line) <= WIDTH or len(line.split()) == 1, f"{len(line)} columns: {line}")

    def test_captures(self):
        for name in captures():
            path = capture(name)
            for words in ["analyze"], ["analyze", "-v"], ["info"], ["autoterm"]:
                with self.subTest(name, words=words):
                    # A relative name, as one types it.
                    r = self.s3analyze(*words, path.name, cwd=path.parent, status=None)
                    self.assertTrue(r.out or r.err)
                    self.check(r.out)

    def test_one_of_each(self):
        for name, rows in ("one", steady(1)), ("thread", steady(300)):
            path = self.tmp / f"{name}.csv"
            path.write_bytes(text(rows))
            page = self.tmp / f"{name}.html"
            for words in ["analyze"], ["analyze", "-v"], ["analyze", "-q", "--html", page], ["info"], ["autoterm"]:
                self.check(self.s3analyze(*words, path.name, cwd=self.tmp, status=None).out)
            self.assertIsNone(re.search(ONE, page.read_text()))
        self.check(self.s3analyze("cmp", "one.csv", "thread.csv", cwd=self.tmp, status=None).out)

    def test_comparisons(self):
        folder = capture("get-g4").parent
        for a, b in ("get-g4", "get-randsize"), ("put-g4", "versioned"), ("mixed-3hosts", "get-errors"):
            r = self.s3analyze("cmp", f"{a}.csv.zst", f"{b}.csv.zst", cwd=folder, status=None)
            self.assertIn("before", r.out)
            self.check(r.out)
        r = self.s3analyze("merge", "-o", self.tmp / "m", "merge-in-1.csv.zst", "merge-in-2.csv.zst", cwd=folder)
        self.check(r.out)

    def test_what_does_not_fit_goes_below(self):
        rows = steady(300, threads=2)
        rows = [r._replace(host=f"https://{i % 3}.{LONG}:9000") for i, r in enumerate(rows)]
        path = self.tmp / "in.csv"
        path.write_bytes(text(rows))
        out = self.s3analyze("analyze", "-v", path).out
        for i in range(3):
            self.assertIn(f"\nhttps://{i}.{LONG}:9000", out)
        # A long name leaves at most 40 columns to the rest.
        self.assertLessEqual(max(map(len, out.splitlines())), len(f"https://0.{LONG}:9000") + 40)

    def test_no_figure_is_lost(self):
        out = self.s3analyze("analyze", "-v", capture("edge-errors")).out
        section = out[out.index("Operation: GET"):]
        section = section[section.index("Requests, "):section.index("Throughput, ")]
        headings = [line.split() for line in section.splitlines() if line.startswith("      ")]
        self.assertEqual(sum(headings, []),
                         ["Considered", "Avg", "Fastest", "p25", "p50", "p75", "p90", "p99", "Slowest", "StdDev"])
        self.assertEqual(len(re.findall("(?m)^TTFB ", section)), len(headings))


class Terminal(CliTest):
    """On a wide terminal tables are side by side."""

    def longest(self, columns):
        """The longest line on a terminal of that many columns; None: on a pipe."""
        words = [BUILD / "s3analyze", "cmp", "--quiet", capture("get-g4").name, capture("get-randsize").name]
        if columns is None:
            said = subprocess.run(words, cwd=capture("get-g4").parent, stdout=subprocess.PIPE, check=True).stdout
            return max(map(len, said.decode().splitlines()))
        status, said = on_terminal(*words, columns=columns, env={"NO_COLOR": "1"}, cwd=capture("get-g4").parent)
        self.assertEqual(status, 0)
        return max(len(line) for line in said.decode().splitlines())

    def test_wide(self):
        self.assertLessEqual(self.longest(80), 80)
        self.assertEqual(self.longest(40), self.longest(80))
        self.assertEqual(self.longest(None), self.longest(80))
        wide = self.longest(140)
        self.assertGreater(wide, 80)
        self.assertLessEqual(wide, 140)
