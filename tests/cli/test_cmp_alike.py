"""cmp and plot take the runs of a side, and those of the history, as repetitions only if trend puts them into one group."""

import json
import shlex
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


# What the second of two runs differs in from the first: rows and comment, and what the message names; "": they are repetitions.
UNLIKE = {
    "size": (rows(), b"", rows(size=65536), b"", "object size of GET: 4KiB (a) and 64KiB (b)"),
    "sizes": (rows(), b"", sorted(rows() + rows(size=1 << 20)), b"", "object size of GET: 4KiB (a) and several, mean"),
    "threads": (rows(), b"", rows(threads=5), b"", "concurrency of GET: 2 (a) and 5 (b)"),
    "hosts": (rows(), b"", sorted(rows() + rows(host="http://h1:9000")), b"", "endpoints of GET: 1 (a) and 2 (b)"),
    "operations": (rows(), b"", rows(ops=("GET", "PUT")), b"", "the operations: without (a) and with PUT (b)"),
    "share": (rows(ops=("GET", "PUT"), seconds=9), b"", rows(ops=("GET", "GET", "PUT"), seconds=9), b"", "share of the requests of "),
    "objects": (rows(), b"", rows(objects=10), b"", "objects per operation of GET: 1 (a) and 10 (b)"),
    "time": (rows(seconds=9), b"", rows(), b"", "duration of GET: 9s (a) and 3s (b)"),
    "option": (rows(), asked(prefix="x"), rows(shift=1), asked(prefix="y"), 'option prefix: "x" (a) and "y" (b)'),
    "time asked for": (rows(), asked(duration_ns=3 * SECOND), rows(shift=1), asked(duration_ns=5 * SECOND), "option duration_ns"),
    "unknown option": (rows(), asked(prefix="x"), rows(shift=1), b"", ""),
    "other hosts": (rows(), asked(host="h0"), rows(host="http://h1:9000"), asked(host="h1"), ""),
    "it broke off": (rows(seconds=9), asked(duration_ns=9 * SECOND), rows(), asked(duration_ns=9 * SECOND), ""),
    "it failed": (rows(), b"", rows(dead=True), b"", ""),
    "it was prepared": (rows(), b"", rows(prepared=200), b"", ""),
    "it was prepared otherwise": (rows(prepared=200), b"", rows(prepared=201), b"", ""),
}


class Alike(CliTest):
    def written(self, name, rows_, comment=b""):
        path = self.tmp / f"{name}.csv"
        path.write_bytes(comment + text(rows_))
        return path

    def check(self, a, b, says):
        """Puts a and b on each side, and into the history. cmp must refuse them with `says`, or accept them if it is empty. trend
        must have two groups, or one."""
        c, d, e = (self.written(x, rows(shift=i + 2)) for i, x in enumerate("cde"))
        n_groups = len(self.s3analyze("trend", "--no-cache", "--json", a, b).json()["groups"])
        self.assertEqual(n_groups, 2 if says else 1)
        for side, args in (("before", ["--before", a, b, "--after", c, d]), ("after", ["--before", c, "--after", a, b]),
                           ("history", [d, e, f"--history={a}", f"--history={b}"])):
            r = self.s3analyze("cmp", *args, status=2 if says else 0)
            self.assertIn(f": --{side} runs" if says else "", r.err)
            self.assertIn(says, r.err)

    def test_what_trend_groups(self):
        for name, (a, comment_a, b, comment_b, says) in UNLIKE.items():
            with self.subTest(differs=name):
                self.check(self.written("a", a, comment_a), self.written("b", b, comment_b), says)

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

    def test_the_command_of_the_message(self):
        sides = {s: [self.written(f"{s}'s {size}-{i}", rows(size=size, shift=i)) for size in (4096, 65536, 1 << 20) for i in range(2)]
                 for s in "ab"}
        for command, out in ("cmp", ()), ("plot", ("--out", self.tmp / "x.svg")):
            r = self.s3analyze(command, *out, "--before", *sides["a"], "--after", *sides["b"], status=2)
            words = shlex.split(r.err.splitlines()[0].split("alike: ")[1].replace("OUT", str(self.tmp / "y.svg")))
            self.assertEqual(words[:2], ["s3analyze", command])
            self.assertEqual(words[-6:], ["--before", *map(str, sides["a"][:2]), "--after", *map(str, sides["b"][:2])])
            self.s3analyze(*words[1:])

    def test_sides_may_differ(self):
        a, b = ([self.written(f"{s}{i}", rows(size=size, shift=i)) for i in range(2)] for s, size in (("a", 4096), ("b", 65536)))
        self.s3analyze("cmp", "--before", *a, "--after", *b)


if __name__ == "__main__":
    unittest.main()
