"""s3load against servers that answer badly (hostile.py): each run ends by itself within a deadline, its rows
and its messages say what was wrong, and nothing of others is touched. All modes run at the start, some at a
time, as most of them wait; HOSTILE_MODES=NAME,... runs only those."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import TIMEOUT_S, run
from hostile import BUCKET, MODES, Hostile, Mode, plant
from loadcase import Capture, apart_from_speed

AT_ONCE = 16
COMMON = ("--bucket", BUCKET, "--concurrent", "2", "--requests", "8", "--connect-timeout", "2s", "--give-up-after", "2s",
          "--access-key", "A", "--secret-key", "S", "--json", "--quiet")
# What a terminal would obey.
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]")


class Outcome:
    """The outcome of one mode: the run, its capture (or None), and what the server saw."""

    def __init__(self, mode, folder):
        path = folder / "c.csv.zst"
        self.server = Hostile(mode)
        sized = () if mode.command in ("retention", "multipart") else ("--obj.size", "1KiB")
        counted = () if mode.command in ("put", "multipart") else ("--objects", "4")
        try:
            self.run = run("s3load", mode.command, "--host", f"127.0.0.1:{self.server.port}", *sized, *counted,
                           *COMMON, "--request-timeout", mode.timeout, "--benchdata", path, *mode.options, cwd=folder,
                           env={"HOME": str(folder), "AWS_PROFILE": "", "http_proxy": ""})
        finally:
            self.server.stop()
        self.info = run("s3analyze", "info", path) if path.exists() else None
        self.capture = Capture(path) if path.exists() else None
        self.files = {p.name for p in folder.iterdir()}


def outcome_of(mode):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Outcome(mode, pathlib.Path(folder))
        except subprocess.TimeoutExpired as e:
            return e


class Servers(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        only = os.environ.get("HOSTILE_MODES")
        names = only.split(",") if only else list(MODES)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            cls.outcomes = dict(zip(names, pool.map(lambda name: outcome_of(MODES[name]), names)))

    def check(self, name):
        if name not in self.outcomes:
            self.skipTest("left out")
        mode, o = MODES[name], self.outcomes[name]
        self.assertNotIsInstance(o, subprocess.TimeoutExpired, f"{name}: no end within {TIMEOUT_S} s")
        said = f"{name}: status {o.run.status}\n{o.run.err[-3000:]}\n{o.run.out[-1000:]}"
        self.assertNotIn("Sanitizer", o.run.err, said)
        self.assertIn(o.run.status, (0, 1) if mode.status is None else (mode.status,), said)
        self.assertIsNone(CONTROLS.search(o.run.err), said)
        self.assertRegex(o.run.err, r"\A((s3load|The bucket|To delete them)[^\n]+\n)*\Z", said)
        self.assertRegex(apart_from_speed(o.run.err), re.compile(mode.says), said)
        # Every failure is reported, and what is reported as done was done.
        self.assertEqual(o.run.status == 0 or o.run.err != "", True, said)
        self.check_rows(mode, o, said)
        self.check_server(mode, o, said)

    def check_rows(self, mode, o, said):
        self.assertLessEqual(o.files, {"c.csv.zst"}, said)
        if o.capture is None:
            self.assertFalse(mode.rows, said)
            return
        self.assertEqual(o.info.status, 0, said + o.info.err)
        self.assertEqual(o.info.err, "", said)
        self.assertIsNotNone(o.capture.end, said)
        n_errors = sum(1 for r in o.capture.rows if r.error)
        self.assertTrue(n_errors == 0 or o.run.status != 0 or o.run.json()["errors"] > 0, said)
        if not mode.rows:
            return
        rows = o.capture.of(mode.op)
        self.assertGreater(len(rows), 0, said)
        for r in rows:
            if mode.errors == "":
                self.assertEqual(r.error, "", said)
            else:
                self.assertRegex(r.error, re.compile(mode.errors), said)
            if mode.bytes is not None:
                self.assertEqual(r.bytes, mode.bytes, said)
        for r in o.capture.rows:
            self.assertLess(len(r.error), 2000, said)

    def check_server(self, mode, o, said):
        ours = [k for k in o.server.objects if k.startswith(b"s3load-")]
        left = {*ours, *o.server.uploads} - o.server.planted
        self.assertLessEqual(o.server.planted, {*ours, *o.server.uploads}, said)
        self.assertFalse(o.server.planted & set(o.server.removed), said)
        if left:
            self.assertTrue(mode.leaves, f"{said}\nleft: {left}")
            self.assertRegex(o.run.err, "left|upload", said)
        for key in o.server.removed:
            self.assertTrue(key.startswith(b"s3load-"), f"{said}\nnot ours: {key}")
        self.assertTrue(set(mode.foreign) <= o.server.objects.keys(), said)


class Clean(unittest.TestCase):
    def test_others_that_appear(self):
        """s3load clean keeps what no run has written, however late a listing shows it."""
        root, run_id = b"s3load-c9ep2w7tf8wm/", "c9ep2w7tf8wm"
        own = {root + k for k in (b"0000/0000000000000000", b"0001/9e3779b97f4a7c15", b"daa66d2c7ddf743f")}
        for n_before in range(5):
            def listed(r):
                with r.server.lock:
                    r.server.n_asked += 1
                    if r.server.n_asked > n_before:
                        plant(r.server, root)
                return r.server.good(r)
            server = Hostile(Mode("clean", {"LIST": listed}, ""))
            server.n_asked = 0
            server.objects.update(dict.fromkeys(own, b"x"))
            with tempfile.TemporaryDirectory() as folder:
                r = run("s3load", "clean", "--run", run_id, "--host", f"127.0.0.1:{server.port}", "--bucket", BUCKET,
                        "--access-key", "A", "--secret-key", "S", env={"HOME": folder, "AWS_PROFILE": ""})
            server.stop()
            self.assertEqual(r.status, 0, r.err)
            self.assertEqual(set(server.objects), server.planted | (own if n_before == 0 else set()))
            self.assertEqual(set(server.removed), set() if n_before == 0 else own)
            self.assertIn("s3load did not write 's3load-c9ep2w7tf8wm/../precious'", r.err)


def method(name):
    return lambda self: self.check(name)


for name in MODES:
    setattr(Servers, "test_" + name.replace("-", "_").replace(".", "_"), method(name))


if __name__ == "__main__":
    unittest.main()
