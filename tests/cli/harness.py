"""What the command-line tests share: where things are, and how to run a program.

A test is a method test_* of a unittest.TestCase in tests/cli/test_*.py:

    from harness import CliTest, capture

    class Analyze(CliTest):
        def test_unknown_host(self):
            r = self.s3analyze("analyze", "--host", "nowhere", capture("mixed-3hosts"), status=1)
            self.assertIn("no such host", r.err)

One file alone: tests/run NAME, or BUILD=build python3 tests/cli/test_NAME.py.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
TESTDATA = ROOT / "testdata"
GOLDEN = TESTDATA / "golden"
# More captures and goldens in the same layout, if the developers keep some there.
SHARED = ROOT.parent / "shared"
SPECIMENS = SHARED / "captures" / "aggregate"
# A program that takes longer hangs. None takes a tenth of this, except on a busy machine.
TIMEOUT_S = 600
# `nohup make check &` ignores these signals, and programs would inherit that.
for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
# Compiler and flags of the build; empty if a server is fetched before the build.
FLAGS = (BUILD / "flags").read_text() if (BUILD / "flags").exists() else ""
SANITIZED = "-fsanitize" in FLAGS
# Tests load at the same time; s3load would warn of that.
# No cache of captures, except where a test gives its place. Other programs keep theirs.
NO_CACHE = {"XDG_CACHE_HOME": "/proc/none"}


def with_specimens(test):
    """A test, or a class of tests, that reads SPECIMENS. Without them there is no such test: it is not one skipped."""
    return test if SPECIMENS.is_dir() else None


def without_sanitizers(why):  # pylint: disable=unused-argument
    """Removes a test, or a class of tests, that is meaningless with sanitizers, and says why. It is not skipped, as a
    skipped test is a failure in CI."""
    return lambda test: None if SANITIZED else test


def capture(name):
    """Path of the capture NAME.csv.zst; skips the test if there is none."""
    for folder in (TESTDATA, SHARED / "captures"):
        path = folder / f"{name}.csv.zst"
        if path.exists():
            return path
    raise unittest.SkipTest(f"no capture {name}")  # in CI, with testdata/ alone, a failure


def captures():
    """Names of all captures; of a numbered series, whose captures are alike, only the first."""
    names = set()
    for folder in (TESTDATA, SHARED / "captures"):
        names.update(p.name[:-len(".csv.zst")] for p in folder.glob("*.csv.zst"))
    return sorted(n for n in names if not re.search(r"-[2-9]$", n))


def golden(name):
    """Path of an expected result, such as "get-g4.analysis.json"; None if there is none."""
    for folder in (GOLDEN, SHARED / "golden"):
        if (folder / name).exists():
            return folder / name
    return None


def kept_figures(report):
    """What must stay the same when a capture is written anew."""
    return {key: report[key] for key in ("n_rows", "mixed", "operations", "total")}


def unwrapped(out):
    """The text with line breaks undone: one space between any two words."""
    return " ".join(out.split())


def judged(op):
    """The throughput that verdicts take: with the time in which requests failed."""
    return op["judged"] or op["throughput"]


def wait_until(done, goes_on=lambda: True):
    """Waits until done() returns something true, or goes_on() something false. Returns what done() returned. Only a broken
    program meets the deadline."""
    end = time.monotonic() + TIMEOUT_S
    while (asked := time.monotonic()) < end:
        if (found := done()) or not goes_on():
            return found
        # Asking may take processor time from what is waited for.
        time.sleep(min(max(0.01, 4 * (time.monotonic() - asked)), 0.5))
    raise AssertionError(f"nothing happened in {TIMEOUT_S} s")


class Run:
    """A finished program: status, out and err (str), raw (stdout as bytes)."""

    def __init__(self, done):
        self.status = done.returncode
        self.raw = done.stdout
        self.out = done.stdout.decode(errors="replace")
        self.err = done.stderr.decode(errors="replace")

    def json(self):
        return json.loads(self.raw)


def run(*argv, stdin=b"", env=None, timeout=TIMEOUT_S, **kwargs):
    """Runs a program (a name without a slash is one of ours) and returns a Run."""
    argv = [str(a) for a in argv]
    if "/" not in argv[0]:
        argv[0] = str(BUILD / argv[0])
    full_env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | NO_CACHE
    full_env.update(env or {})
    return Run(subprocess.run(argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=full_env, timeout=timeout, **kwargs))


def preload(library):
    """Variables that put build/LIBRARY before the C library; LD_PRELOAD takes no path with a space."""
    folders = filter(None, (str(BUILD), os.environ.get("LD_LIBRARY_PATH")))
    return {"LD_PRELOAD": library, "LD_LIBRARY_PATH": ":".join(folders)}


def on_terminal(*argv, stream="stdout", columns=None, env=None, **kwargs):
    """Runs a program with a terminal as its standard output, or standard error; returns exit status and bytes."""
    ours, theirs = pty.openpty()
    if columns is not None:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    full_env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | NO_CACHE
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    with subprocess.Popen([str(a) for a in argv], env=full_env | {"TERM": "xterm"} | (env or {}), **streams,
                          **kwargs) as p:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while piece := os.read(ours, 65536):
                shown += piece
        os.close(ours)
        return p.wait(TIMEOUT_S), shown


def tool(name):
    """Path of a program that tests need but the project does not; skips the test without it."""
    path = shutil.which(name)
    if path is None:
        raise unittest.SkipTest(f"{name} is not installed")
    return path


class CliTest(unittest.TestCase):
    """A test case with a temporary folder (self.tmp) and our programs as methods."""
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tmp = pathlib.Path(folder.name)

    def put(self, name, data):
        """The path of a file with these bytes."""
        path = self.tmp / name
        path.write_bytes(data)
        return path

    def s3analyze(self, *args, status=0, **kwargs):
        """Runs s3analyze and checks its exit status (None: any but death by a signal)."""
        return self.check_run("s3analyze", *args, status=status, **kwargs)

    def check_run(self, *argv, status=0, **kwargs):
        r = run(*argv, **kwargs)
        said = f"{argv} -> {r.status}\n{r.err[-4000:]}"
        self.assertNotIn("Sanitizer", r.err, said)
        if status is None:
            self.assertGreaterEqual(r.status, 0, said)
        else:
            self.assertEqual(r.status, status, said)
        return r
