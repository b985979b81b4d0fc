"""Calls that fail, one at a time: memory, reading, writing, syncing, renaming, opening, threads. A program
then has done the whole of its work all the same (a thread less is no failure), or says in one line why not,
exits with 1 and leaves no output behind, no part of one and no temporary file. (tests/fault/fault.c makes
the calls fail; the kernel's limit of file sizes does it for what stdio writes.)"""
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest

import aggregates
import zstd
from capgen import steady, text
from harness import BUILD, FLAGS, TESTDATA, CliTest, capture, preload, run, without_sanitizers
from loadcase import Capture, LoadTest
from oracle import SECOND

TIMEOUT_S = 20
KINDS = ("malloc", "mmap", "read", "write", "short-write", "sync", "rename", "open", "thread")
# Counts of a program that is measured must get into their files.
LIMITS_SIZES = "--coverage" not in FLAGS
# Tries of each kind in each command; FAULT_TRIES=1000000 tries every call, which takes hours.
TRIES = int(os.environ.get("FAULT_TRIES", "16"))


def spread(n, tries):
    """Up to `tries` of 1..n: the first few, the last, and between at growing distances."""
    if n <= tries:
        return range(1, n + 1)
    half = tries // 2
    ratio = (n / half) ** (1 / (tries - half))
    return sorted({*range(1, half + 1), *(round(half * ratio**k) for k in range(1, tries - half + 1)), n})


def limit_file_size(n):
    """Makes writes beyond the first n bytes of a file fail, in this process and what it runs."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))


class FaultTest(CliTest):
    # Without gnuplot, which takes long, pages have no charts.
    path = "/nonexistent"

    def check_one_line(self, program, r, note):
        self.assertEqual(r.status, 1, note)
        self.assertRegex(r.err, rf"\A{program}: [^\n]+\n\Z", note)

    def env(self, fault):
        return {**preload("fault.so"), "FAULT": fault, "PATH": self.path,
                "FAULT_LOG": str(self.log), "OPENSSL_CONF": "/dev/null", "TMPDIR": str(self.out)}

    def counts(self):
        """How many calls of each kind the last run made."""
        return {kind: int(n) for kind, n in (line.split() for line in self.log.read_text().splitlines())}

    def setUp(self):
        super().setUp()
        self.log = self.tmp / "log"
        self.out = self.tmp / "out"


@without_sanitizers("they have malloc of their own, as these tests do")
class Analyze(FaultTest):
    def setUp(self):
        super().setUp()
        self.a = capture("s3load-get")
        self.b = capture("s3load-open-loop")

    def written(self):
        """What is in the folder for outputs. Why a page is without charts may differ."""
        return {p.relative_to(self.out): re.sub(rb"There are no charts: [^<]*", b"", p.read_bytes())
                for p in self.out.rglob("*") if not p.is_dir()}

    def attempt(self, argv, fault="", **kwargs):
        """A run in an empty folder."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        return run("s3analyze", *argv, env=self.env(fault), cwd=self.out, timeout=TIMEOUT_S, **kwargs)

    def check_result(self, r, expected, printed, note):
        if r.status == 0:
            self.assertEqual(self.written(), expected, note)
            self.assertEqual(r.raw, printed, note)
        else:
            self.check_one_line("s3analyze", r, note)
            # Outputs are finished one after another: those that are there are whole.
            whole = {name: expected.get(name) for name in self.written()}
            self.assertEqual(self.written(), whole, note)
            self.assertTrue(len(whole) < len(expected) or r.raw != printed, note)

    def check_all(self, *argv, tries=TRIES):
        r = self.attempt(argv)
        self.assertEqual(r.status, 0, r.err)
        expected, printed = self.written(), r.raw
        counts = self.counts()
        for kind in KINDS:
            for n in spread(counts[kind], tries):
                for on in ("", "+"):
                    fault = f"{kind}:{n}{on}"
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
        for form in "benchfmt", "influx", "openmetrics", "hdr", "parquet-ready":
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
        self.check_all("autoterm", "--sweep", "-o", "o.txt", self.a)

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


@without_sanitizers("they have malloc of their own, as these tests do")
class Shorter(FaultTest):
    """A file that becomes shorter while it is read is an error, wherever it ends then: here where a frame does."""

    PIECE = 64 << 10

    def padded(self, data):
        """A frame that ends where a piece of the file does."""
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


@without_sanitizers("they have malloc of their own, as these tests do")
class Load(FaultTest, LoadTest):
    """What s3load recorded up to the failure can be read; a request that fails is a row that says so."""

    def setUp(self):
        super().setUp()
        self.start()

    def attempt(self, argv, fault="", **kwargs):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        # Who has no memory left cannot connect, which ends the cleaning after 30 s unless told otherwise.
        return run("s3load", *self.argv(*argv, "--benchdata", "c.csv.zst", "--json", "--quiet", "--give-up-after", "1s",
                                        "--duration", "50ms", "--concurrent", "2", "--obj.size", "1KiB"),
                   env={**self.environment(), **self.env(fault)}, cwd=self.out, timeout=TIMEOUT_S, **kwargs)

    def check_result(self, r, note):
        self.assertIn(r.status, (0, 1), note)
        self.assertLessEqual({p.name for p in self.out.iterdir()}, {"c.csv.zst"}, note)
        path = self.out / "c.csv.zst"
        if r.status == 0:
            r.json()
            self.s3analyze("info", path)
        else:
            self.assertRegex(r.err, r"\A(s3load: [^\n]+\n)+\Z", note)
            if path.exists() and path.stat().st_size >= self.n_first_frame:
                self.s3analyze("info", path)

    def check_all(self, *argv):
        r = self.attempt(argv)
        self.assertEqual(r.status, 0, r.err)
        self.n_first_frame = len(Capture(self.out / "c.csv.zst").frames()[0])
        counts = self.counts()
        for kind in KINDS:
            for n in spread(counts[kind], TRIES // 2):
                for on in ("", "+"):
                    fault = f"{kind}:{n}{on}"
                    r = self.attempt(argv, fault)
                    self.check_result(r, f"FAULT={fault} ({r.status})\n{r.err[-2000:]}")
        sizes = (1, self.n_first_frame - 1, self.n_first_frame, self.n_first_frame + 100)
        for n in sizes if LIMITS_SIZES else ():
            r = self.attempt(argv, preexec_fn=lambda: limit_file_size(n), restore_signals=False)
            self.assertEqual(r.status, 1)
            self.check_result(r, f"limit {n}\n{r.err[-2000:]}")

    def test_put(self):
        self.check_all("put")

    def test_get(self):
        self.check_all("get", "--objects", "4")

    def test_wrong_usage(self):
        """Is told from a lack of memory."""
        argv = ["put", "--host", "h{1...3}", "--syncstart", "x", "--access-key", "x", "--secret-key", "y"]
        expected = run("s3load", *argv, env=self.env(""))
        self.assertEqual(expected.status, 2)
        n_calls = self.counts()["malloc"]
        for n in range(n_calls - 20, n_calls + 1):
            r = run("s3load", *argv, env=self.env(f"malloc:{n}"))
            self.assertIn((r.status, r.err), ((1, "s3load: out of memory\n"), (2, expected.err)), n)

    def test_name_server_that_does_not_answer(self):
        """A connection that is given up is not held up by it."""
        r = run("s3load", "put", "--anonymous", "--host", "name.example:9000", "--connect-timeout", "500ms",
                cwd=self.tmp, env={**self.env(""), "FAULT_RESOLVE_S": "1000000"})
        self.check_one_line("s3load", r, "")
        self.assertIn("Resolving timed out", r.err)


if __name__ == "__main__":
    unittest.main()
