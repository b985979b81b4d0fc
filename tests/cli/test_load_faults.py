"""Calls that fail in s3load (faults.py)."""
import shutil
import unittest

from faults import LIMITS_SIZES, TRIES, FaultTest, faults, limit_file_size, not_with_sanitizers
from harness import run
from loadcase import Capture, LoadTest


@not_with_sanitizers
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
                                        "--requests", "30", "--concurrent", "2", "--obj.size", "1KiB"),
                   env={**self.environment(), **self.env(fault)}, cwd=self.out, **kwargs)

    def check_result(self, r, note):
        self.assertIn(r.status, (0, 1), note)
        self.assertLessEqual({p.name for p in self.out.iterdir()}, {"c.csv.zst"}, note)
        path = self.out / "c.csv.zst"
        if r.status == 0:
            r.json()
            self.s3analyze("info", path)
        else:
            self.assertRegex(r.err, r"\A((s3load: |To delete them)[^\n]+\n)+\Z", note)
            if path.exists() and path.stat().st_size >= self.n_first_frame:
                self.s3analyze("info", path)

    def check_all(self, *argv):
        r = self.attempt(argv)
        self.assertEqual(r.status, 0, r.err)
        self.n_first_frame = len(Capture(self.out / "c.csv.zst").frames()[0])
        for fault in faults(self.counts(), TRIES // 2):
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
