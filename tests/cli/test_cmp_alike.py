"""cmp takes the runs of a side, and those of the history, as repetitions only if trend puts them into one group."""

import json
import unittest

from capgen import SECOND, row, text
from harness import CliTest

MS = SECOND // 1000


def rows(size=4096, threads=2, ops=("GET",), seconds=3, host="http://h0:9000", objects=1, dead=False, shift=0, prepared=0):
    made = [row(i * MS, i * MS + MS // 2, op="PUT", size=size, thread=i % (1 + prepared % 2)) for i in range(prepared)]
    for thread in range(threads):
        now, k = SECOND + (thread + shift) * MS, thread
        while now < (1 + seconds) * SECOND:
            took = (10 + (k := k * 7 % 5 + 1)) * MS
            made.append(row(now, now + took, thread=thread, op=ops[k % len(ops)], size=0 if dead else size, host=host,
                            n_objects=objects, error="gone" if dead else ""))
            now += took
    return sorted(made)


def asked(**settings):
    return b"# s3load/1 " + json.dumps({"event": "start", "run_id": "x", "settings": settings}).encode() + b"\n"


# What the second of two runs differs in from the first: rows and comment, and the names of the cells; none: they are repetitions.
UNLIKE = {
    "size": (rows(), b"", rows(size=65536), b"", ["GET 4KiB", "GET 64KiB"]),
    "sizes": (rows(), b"", sorted(rows() + rows(size=1 << 20)), b"", ["GET 4KiB", "GET mean 514KiB"]),
    "threads": (rows(), b"", rows(threads=5), b"", ["GET c=2", "GET c=5"]),
    "hosts": (rows(), b"", sorted(rows() + rows(host="http://h1:9000")), b"", ["GET hosts=1", "GET hosts=2"]),
    "operations": (rows(), b"", rows(ops=("GET", "PUT")), b"", ["GET", "GET with PUT", "PUT with GET"]),
    "share": (rows(ops=("GET", "PUT"), seconds=9), b"", rows(ops=("GET", "GET", "PUT"), seconds=9), b"",
              ["GET share=25.04 %", "GET share=49.93 %", "PUT share=50.07 %", "PUT share=74.96 %"]),
    "objects": (rows(), b"", rows(objects=10), b"", ["GET objects=1", "GET objects=10"]),
    "time": (rows(seconds=9), b"", rows(), b"", ["GET duration=3s", "GET duration=9s"]),
    "option": (rows(), asked(prefix="x"), rows(), asked(prefix="y"), ["GET prefix=x", "GET prefix=y"]),
    "time asked for": (rows(), asked(duration_ns=3 * SECOND), rows(), asked(duration_ns=5 * SECOND),
                       ["GET duration_ns=3s", "GET duration_ns=5s"]),
    "unknown option": (rows(), asked(prefix="x"), rows(), b"", []),
    "other hosts": (rows(), asked(host="h0"), rows(host="http://h1:9000"), asked(host="h1"), []),
    "it broke off": (rows(seconds=9), asked(duration_ns=9 * SECOND), rows(), asked(duration_ns=9 * SECOND), []),
    "it failed": (rows(), b"", rows(dead=True), b"", []),
    "it was prepared": (rows(), b"", rows(prepared=200), b"", []),
    "it was prepared otherwise": (rows(prepared=200), b"", rows(prepared=201), b"", []),
}


class Alike(CliTest):
    def written(self, name, rows_, comment=b""):
        path = self.tmp / f"{name}.csv"
        path.write_bytes(comment + text(rows_))
        return path

    def test_what_trend_groups(self):
        """The runs that trend puts into two groups are of different cells, and are never pooled."""
        for name, (a, comment_a, b, comment_b, cells) in UNLIKE.items():
            with self.subTest(differs=name):
                sides = [[self.written(f"{name}-{side}-{i}", rows_, comment + f"# {side}\n".encode())
                          for i, (rows_, comment) in enumerate(((a, comment_a), (b, comment_b)))] for side in ("before", "after")]
                n_groups = len(self.s3analyze("trend", "--no-cache", "--json", *sides[0]).json()["groups"])
                self.assertEqual(n_groups, 2 if cells else 1)
                ops = self.s3analyze("cmp", "--json", "--before", *sides[0], "--after", *sides[1]).json()["operations"]
                self.assertEqual(sorted(o["cell"] for o in ops if "cell" in o), cells)
                self.assertLessEqual({o["n_runs_before"] for o in ops if o["op"] == "GET"}, {1 if cells else 2})

    def test_options_of_cells(self):
        """An option that tells cells apart is no difference between the sides; one that differs in a cell is."""
        def side(name, *of):
            return [self.written(f"{name}-{i}", rows(shift=i), asked(**options)) for i, options in enumerate(of)]
        cells = [[{"prefix": prefix, "keep": keep} for prefix in "xy"] for keep in (1, 2)]
        for after, expected in ((cells[0][::-1], []), (cells[1][::-1], [("keep", "1", "2")])):
            report = self.s3analyze("cmp", "--json", "--before", *side("before", *cells[0]), "--after", *side("after", *after)).json()
            self.assertEqual(sorted(o["cell"] for o in report["operations"]), ["GET prefix=x", "GET prefix=y"])
            self.assertEqual([(o["option"], o["before"], o["after"]) for o in report["differing_options"]], expected)

    def test_the_history_of_a_cell(self):
        """Only earlier runs with the settings of a cell say how much its runs vary."""
        old = [self.written(f"old-{i}", rows(size=size, shift=i + 2, seconds=2 + i % 2)) for i in range(6) for size in (4096, 65536)[i // 3:][:1]]
        a, b = self.written("a", rows()), self.written("b", rows(shift=1))
        noise = lambda *history: self.s3analyze("cmp", "--json", *(f"--history={h}" for h in history), a, b).json()["operations"]
        self.assertEqual(noise(*old), noise(*old[:3]))
        self.assertIn("from 3 earlier runs", json.dumps(noise(*old)))

    def test_sums_and_captures(self):
        """All runs of a comparison are reduced to sums if one is, so they are of one kind."""
        a, b = self.written("a", rows()), self.written("b", rows(shift=1))
        sums = self.tmp / "b.sums.zst"
        self.s3analyze("aggregate", "-o", sums, b)
        self.s3analyze("cmp", "--before", a, sums, "--after", self.written("c", rows(shift=2)))

    def test_a_preparation_may_be_missing(self):
        a, b, c = (self.written(f"{p}", rows(prepared=p, shift=p % 2)) for p in (0, 200, 201))
        codes = [w["code"] for w in self.s3analyze("cmp", "--json", "--before", a, b, "--after", c).json()["warnings"]]
        self.assertIn("op-partly-missing", codes)

    def test_sides_may_differ(self):
        a, b = ([self.written(f"{s}{i}", rows(size=size, shift=i)) for i in range(2)] for s, size in (("a", 4096), ("b", 65536)))
        self.s3analyze("cmp", "--before", *a, "--after", *b)


if __name__ == "__main__":
    unittest.main()
