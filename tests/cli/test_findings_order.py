"""The order of rows changes no finding: rows in any order, and a run in two files, give the same JSON."""
import itertools
import json
import random
import unittest

import capgen
from harness import CliTest, capture, captures
from test_findings import Load


class Order(CliTest):
    def findings(self, *files):
        """What is found in the captures with these heads and rows."""
        paths = [self.tmp / f"{i}.csv" for i in range(len(files))]
        for path, lines in zip(paths, files):
            path.write_text("\n".join(lines) + "\n")
        if len(paths) > 1:
            self.s3analyze("merge", "--force", "-q", "-o", self.tmp / "both.csv.zst", *paths)
            paths = [self.tmp / "both.csv.zst"]
        return json.loads(self.s3analyze("analyze", "--json", *paths).out)["findings"]

    def check(self, text):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        head, rows = lines[0], lines[1:]
        column = {name: i for i, name in enumerate(head.split("\t"))}

        def cell(row, name):
            return row.split("\t")[column[name]]

        found = self.findings([head, *rows])
        for seed in range(4):  # a last digit differs in about every other order
            shuffled = random.Random(seed).sample(rows, len(rows))
            self.assertEqual(self.findings([head, *shuffled]), found, f"shuffled, seed {seed}")
        for name in "start", "end":
            self.assertEqual(self.findings([head, *sorted(rows, key=lambda row, name=name: cell(row, name))]), found,
                             f"by {name}")
        halves = [[head] + [row for row in shuffled if int(cell(row, "thread")) % 2 == k] for k in range(2)]
        self.assertEqual(self.findings(*halves), found, "merged from two halves")
        return found

    def check_load(self, kinds, **parts):
        load = Load(7, length_s=45)
        for part, value in parts.items():
            setattr(load, part, value)
        self.assertEqual({f["kind"] for f in self.check(load.rows())}, kinds)

    def test_swings(self):
        self.check_load({"swings"}, noise_sd=.3)

    def test_slow_host(self):
        self.check_load({"slow-host", "uneven-hosts"}, host_of=lambda thread: thread % 4,
                        factor=lambda s, h, *rest: 2.5 if h == 2 else 1)

    def test_slow_client(self):
        self.check_load({"slow-client"}, clients=3, factor=lambda s, h, c, *rest: 2.5 if c == 1 else 1)

    def test_slow_pair(self):
        self.check_load({"slow-host"}, clients=3, factor=lambda s, h, c, *rest: 6 if (h, c) == (2, 1) else 1)

    def test_coarse_clock(self):
        """Many requests begin and end at one time, and some last for no time."""
        self.check_load({"slow-host", "uneven-hosts"}, tick_ns=10**7, host_of=lambda thread: thread % 4,
                        factor=lambda s, h, *rest: 4 if h == 2 else 1)

    def test_slow_objects(self):
        """Of twenty objects that are read equally often, sixteen are compared: which ones?"""
        names = random.Random(2)
        rows = []
        for thread in range(16):
            at_ns = 0
            while at_ns < 40 * capgen.SECOND:
                name = names.randrange(20)
                end_ns = at_ns + (30 if name in (3, 7, 11) else 10) * 10**6
                rows.append(capgen.row(at_ns, end_ns, thread=thread, file=f"k{name}"))
                at_ns = end_ns
        self.assertEqual({f["kind"] for f in self.check(capgen.text(rows).decode())}, {"slow-object"})

    def test_many_kinds_of_requests(self):
        sizes = random.Random(3)
        self.check_load({"load-change"}, mix=(("GET", 2), ("PUT", 1), ("DELETE", 1)),
                        size_of=lambda s: int(2**sizes.uniform(0, 30)) if s < 22 else 2**sizes.randrange(20, 30))

    def test_equally_frequent_errors(self):
        """More kinds than are kept apart: which ones are merged?"""
        requests = itertools.count()

        def fails(*where):
            n = next(requests)
            return f"HTTP 5{n // 50 % 13:02}" if n % 50 == 0 else ""

        self.check_load({"errors"}, fails=fails)

    def test_captures(self):
        for name in captures():
            if name.startswith("edge-"):  # names with line feeds
                continue
            with self.subTest(name):
                self.check(self.s3analyze("cat", "-q", capture(name)).out)


if __name__ == "__main__":
    unittest.main()
