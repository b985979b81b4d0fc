"""Calls that fail in s3analyze (faults.py)."""
import os
import re
import shutil
import subprocess
import unittest

import aggregates
import zstd
from capgen import steady, text
from faults import LIMITS_SIZES, TRIES, FaultTest, faults, limit_file_size, not_with_sanitizers, spread
from harness import BUILD, TESTDATA, TIMEOUT_S, capture, run
from oracle import SECOND


@not_with_sanitizers
class Analyze(FaultTest):
    def setUp(self):
        super().setUp()
        self.a = capture("s3load-get")
        self.b = capture("s3load-open-loop")

    def written(self):
        """The content of the folder for outputs, without the reason why a page has no charts."""
        return {p.relative_to(self.out): re.sub(rb"There are no charts: [^<]*", b"", p.read_bytes())
                for p in self.out.rglob("*") if not p.is_dir()}

    def attempt(self, argv, fault="", **kwargs):
        """A run in an empty folder."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        return run("s3analyze", *argv, env=self.env(fault), cwd=self.out, **kwargs)

    def check_result(self, r, expected, printed, note):
        if r.status == 0:
            self.assertEqual(self.written(), expected, note)
            self.assertEqual(r.raw, printed, note)
        else:
            self.check_one_line("s3analyze", r, note)
            # Outputs are finished one after another: every one that exists is whole.
            whole = {name: expected.get(name) for name in self.written()}
            self.assertEqual(self.written(), whole, note)
            self.assertTrue(len(whole) < len(expected) or r.raw != printed, note)

    def check_all(self, *argv, tries=TRIES):
        r = self.attempt(argv)
        self.assertEqual(r.status, 0, r.err)
        expected, printed = self.written(), r.raw
        for fault in faults(self.counts(), tries):
            r = self.attempt(argv, fault)
            self.check_result(r, expected, printed, f"{argv} FAULT={fault} ({r.status})\n{r.err[-2000:]}")
        size = max(map(len, expected.values()))
        for n in spread(size - 1, tries // 2) if LIMITS_SIZES else ():
            r = self.attempt(argv, preexec_fn=lambda: limit_file_size(n), restore_signals=False)
            self.assertEqual(r.status, 1)
            self.check_result(r, expected, printed, f"{argv} limit {n}\n{r.err[-2000:]}")

    def test_analyze_json(self):
        self.check_all("analyze", "--json", "--output", "o.json", self.a)

    def test_analyze_series(self):
        self.check_all("analyze", "-o", "o.txt", "--out", "o.tsv", self.a)

    def test_analyze_html(self):
        self.check_all("analyze", "-o", "o.txt", "--html", "o.html", self.a)

    def test_aggregate(self):
        a, b = self.tmp / "a.json.zst", self.tmp / "b.json.zst"
        a.write_bytes(aggregates.packed(aggregates.aggregate(steady(7, threads=2, every=SECOND))))
        b.write_bytes(aggregates.packed(aggregates.aggregate(steady(8, threads=2, every=SECOND, client="c1"))))
        self.check_all("analyze", "--json", "-o", "o.json", "--out", "o.csv", "--html", "o.html", a, tries=12)
        self.check_all("info", "-o", "o.txt", a, tries=6)
        self.check_all("cmp", "-o", "o.txt", a, b, tries=6)

    def test_cat(self):
        self.check_all("cat", "-o", "o.csv.zst", self.a)

    def test_import(self):
        for form, name in ("ab", "ab.tsv"), ("mc-trace", "mc-trace.json"):
            self.check_all("import", form, TESTDATA / "import" / name, "-o", "o.csv.zst", tries=8)

    def test_export(self):
        for form in "benchfmt", "influx", "openmetrics", "hdr":
            self.check_all("export", "--format", form, "-o", "o.txt", self.a, tries=8)

    def test_merge(self):
        self.check_all("merge", "-f", "-o", "o.csv.zst", self.a, self.b)

    def test_cmp(self):
        self.check_all("cmp", "--json", "-o", "o.json", self.a, self.a)

    def test_cmp_html(self):
        self.check_all("cmp", "-v", "-o", "o.txt", "--html", "o.html", self.a, self.b)

    def test_info(self):
        self.check_all("info", "--json", "-o", "o.json", self.a)

    def test_autoterm(self):
        self.check_all("autoterm", "-o", "o.txt", self.a)

    def test_plot(self):
        self.path = os.environ["PATH"]
        self.check_all("plot", "--chart", "cdf", "-o", "o.svg", self.a, tries=TRIES // 4)

    def test_standard_output(self):
        """A full disk behind standard output."""
        for argv in (["analyze", self.a], ["analyze", "--json", self.a], ["cat", self.a], ["info", self.a],
                     ["cmp", self.a, self.b], ["merge", "-f", "-z", "-o", "-", self.a, self.b],
                     ["autoterm", self.a], ["export", "--format", "hdr", self.a],
                     ["import", "ab", TESTDATA / "import" / "ab.tsv", "-o", "-"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([BUILD / "s3analyze", *argv], stdout=full, stderr=subprocess.PIPE,
                                      timeout=TIMEOUT_S)
            self.assertEqual(done.returncode, 1, argv)
            self.assertRegex(done.stderr, rb"\As3analyze: [^\n]*No space left on device\n\Z")


@not_with_sanitizers
class Shorter(FaultTest):
    """A file that becomes shorter while it is read is an error, wherever it ends: here at the end of a frame."""

    PIECE = 64 << 10

    def padded(self, data):
        """A frame that ends at the end of a piece of the file."""
        packed = zstd.frame(data)
        return packed + zstd.skippable(bytes(self.PIECE - 8 - len(packed)))

    def test_every_read(self):
        path = self.tmp / "c.csv.zst"
        lines = text(steady(3000, threads=2, size=4096)).splitlines(True)
        path.write_bytes(b"".join(self.padded(b"".join(lines[i:i + 100])) for i in range(0, len(lines), 100)))
        for command in ("analyze", "--json"), ("analyze", "--json", "--salvage"), ("cat",), ("info", "--json"):
            whole = run("s3analyze", *command, path, env=self.env(""))
            n, said = self.counts()["end"], set()
            for k in spread(n, TRIES):
                r = run("s3analyze", *command, path, env=self.env(f"end:{k}+"))
                if r.status == 0:
                    self.assertEqual(r.raw, whole.raw, f"{command} {k} of {n}")
                    continue
                self.check_one_line("s3analyze", r, f"{command} {k} of {n}")
                said.update(re.findall("is empty|became shorter while it was read", r.err))
            self.assertIn("became shorter while it was read", said, command)


if __name__ == "__main__":
    unittest.main()
