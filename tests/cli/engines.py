"""Where the SQL of sql/ runs: Python packages that `.ci/deps --ci` puts into build/python, and what the
views give beside the goldens."""
import csv
import json
import re
import sys

from capgen import Shape, moved, simulate, text
from harness import ROOT, golden

sys.path.append(str(ROOT / "build" / "python"))
SQL = ROOT / "sql"
# Generations, several sizes, errors, several hosts, mixed operations; all in testdata/.
CAPTURES = ("get-g4", "put-g4", "get-randsize", "get-errors", "mixed-3hosts", "list", "edge-sizes")
TOTALS = ("duration_ns", "n_bytes", "full_ops", "partial_ops", "bytes_per_s")


def several_captures(gap_ms):
    """Three captures in one file, each of threads 0 to 3, that begin gap_ms after each other."""
    shape = Shape(n=400, threads=4)
    return b"".join(text(moved(simulate(seed, shape), seed * gap_ms * 10**6)) for seed in range(3))


def statements(name):
    """The statements of sql/NAME.sql, one after another."""
    text = re.sub(r"^--.*\n", "", (SQL / f"{name}.sql").read_text(), flags=re.M)
    return [s for s in text.split(";\n") if s.strip()]


class SameDigits:
    """What a test of an engine has: `table(view)` gives the rows of a view, as dicts."""

    def assert_figures(self, name):
        self.assert_report(json.loads(golden(f"{name}.analysis.json").read_text()))

    def assert_report(self, report):
        self.operations = {r["op"]: r for r in self.table("operations")}
        self.assertEqual(sorted(self.operations), sorted(o["op"] for o in report["operations"]))
        totals = {(r["op"], r["host"] if r["scope"] == "host" else None): r for r in self.table("throughput")}
        durations = {(r["op"], r["host"] if r["scope"] == "host" else None): r
                     for r in self.table("request_statistics")}
        sizes = sorted(self.table("size_statistics"), key=lambda r: (r["op"], r["bucket"]))
        n = 0
        for o in report["operations"]:
            op = o["op"]
            n += self.assert_same(self.operations[op], o)
            for host, t in ((None, o["throughput"]), *((h["host"], h["throughput"]) for h in o["hosts"])):
                if t:
                    n += self.assert_same(totals[op, host], {k: t[k] for k in TOTALS})
            if not o["requests"]["single_size"]:
                mine = [r for r in sizes if r["op"] == op]
                self.assertEqual(len(mine), len(o["requests"]["sizes"]))
                n += sum(self.assert_same(r, s) for r, s in zip(mine, o["requests"]["sizes"]))
                continue
            for host, r in ((None, o["requests"]), *((h["host"], h) for h in o["requests"]["hosts"])):
                n += self.assert_same(durations[op, host], r)
        self.assertGreater(n, 10 * len(report["operations"]))

    def assert_same(self, row, figures):
        """Checks that figures of one name are equal, to the last digit; returns how many were compared."""
        names = [k for k in row if k in figures and k not in ("op", "host")]
        self.assertEqual({k: row[k] for k in names}, {k: figures[k] for k in names})
        return len(names)

    def assert_segments(self, name):
        mine = {(r["op"], r["k"]): r for r in self.table("segments")}
        n = 0
        with open(golden(f"{name}.segments.tsv"), encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f, delimiter="\t"):
                if row["op"] not in self.operations or row["host"] and self.operations[row["op"]]["n_hosts"] > 1:
                    continue  # of all operations together, or of one host
                segment = mine[row["op"], int(row["index"])]
                for figure in ("bytes", "full_ops", "partial_ops", "ops_started", "ops_ended", "errors"):
                    self.assertEqual(segment[figure], int(row[figure]), (row["op"], row["index"], figure))
                n += 1
        self.assertEqual(n, len(mine))
