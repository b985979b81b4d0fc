"""Which files outputs replace, and what a run leaves behind if a signal ends it."""
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import unittest
import zipfile

from harness import BUILD, TESTDATA, TIMEOUT_S, CliTest, capture, run, wait_until

FOREIGN = "my notes\n"
STOPS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
HEADER = ("idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tlast_byte\tend\t"
          "duration_ns\tcat\n")


def rows(n):
    return "".join(f"{i}\t0\tGET\tc\t1\t10\th\tk{i}\t\t2026-01-01T00:00:{i % 60:02}.{i // 60:06}Z\t\t\t"
                   f"2026-01-01T00:00:{i % 60:02}.{i // 60:06}9Z\t0\t0\n" for i in range(n))


class Existing(CliTest):
    def setUp(self):
        super().setUp()
        self.capture = capture("get-g4")
        self.out = self.tmp / "out"

    def refused(self, *args):
        """A foreign file stays, with --force it is replaced."""
        self.out.write_text(FOREIGN)
        r = self.s3analyze(*args, status=1)
        self.assertIn(f"{self.out} is there already", r.err)
        self.assertIn("(--force overwrites it)", r.err)
        self.assertEqual(self.out.read_text(), FOREIGN)
        self.assertEqual(r.out, "", "refused before the work")
        self.s3analyze(*args, "--force")
        self.assertNotEqual(self.out.read_text(), FOREIGN)
        self.assertEqual([p.name for p in self.tmp.iterdir()], ["out"])

    def test_captures(self):
        self.refused("cat", "-o", self.out, self.capture)
        self.s3analyze("cat", "-o", self.out, self.capture, status=1)
        self.refused("merge", "-o", self.out, capture("merge-in-1"), capture("merge-in-2"))

    def test_reports_of_text(self):
        for command in (["analyze"], ["info"], ["autoterm"], ["cmp", self.capture], ["cmp", "--markdown", self.capture],
                        ["cmp", "--csv", self.capture]):
            with self.subTest(command=command):
                self.refused(*command, "-o", self.out, self.capture)
                self.s3analyze(*command, "-o", self.out, self.capture, status=1)

    def test_reports_that_are_made_again(self):
        for command in (["analyze", "--json"], ["info", "--json"], ["autoterm", "--json"],
                        ["cmp", "--json", self.capture]):
            with self.subTest(command=command):
                self.refused(*command, "-o", self.out, self.capture)
                self.s3analyze(*command, "-o", self.out, self.capture)

    def test_pages_and_series(self):
        for args in (["analyze", "--html"], ["analyze", "--out"], ["cmp", self.capture, "--html"]):
            with self.subTest(args=args):
                self.refused(*args, self.out, self.capture)
                self.s3analyze(*args, self.out, self.capture)
        for name in ("s.csv", "s.json", "s.tsv"):
            for _ in range(2):
                self.s3analyze("analyze", "--out", self.tmp / name, self.capture)

    def test_kinds_do_not_replace_each_other(self):
        self.s3analyze("analyze", "--json", "-o", self.out, self.capture)
        r = self.s3analyze("analyze", "--html", self.out, self.capture, status=1)
        self.assertIn("is there already, and is no page of ours", r.err)
        self.s3analyze("analyze", "--json", "-o", self.capture, self.capture, status=2)

    def test_charts(self):
        folder = self.tmp / "charts"
        for _ in range(2):
            self.s3analyze("plot", "--out", folder, "--chart", "cdf", self.capture)
        picture = next(folder.glob("*.svg"))
        data = picture.with_suffix(".tsv")
        data.write_text(FOREIGN)
        r = self.s3analyze("plot", "--out", folder, "--chart", "cdf", self.capture, status=1)
        self.assertIn(f"{picture} is there already", r.err)
        data.unlink()
        self.s3analyze("plot", "--out", folder, "--chart", "cdf", self.capture, status=1)
        picture.unlink()
        self.s3analyze("plot", "--out", folder, "--chart", "cdf", self.capture)

    def test_a_picture(self):
        for name in ("x.svg", "x.png", "x.pdf"):
            picture = self.tmp / name
            with self.subTest(name=name):
                picture.write_text(FOREIGN)
                r = self.s3analyze("plot", "--out", picture, self.tmp / "not-read", status=1)
                self.assertIn(f"{picture} is there already", r.err, "before the capture is looked for")
                self.s3analyze("plot", "--out", picture, "--force", self.capture)
                self.s3analyze("plot", "--out", picture, self.capture)
                picture.with_suffix(".tsv").unlink()

    def test_before_the_work(self):
        missing, nothing = self.tmp / "nowhere" / "x", self.tmp / "not-read"
        for args in (["analyze", "-o"], ["analyze", "--html"], ["analyze", "--out"], ["cat", "-o"], ["info", "-o"],
                     ["merge", "-o"], ["autoterm", "-o"], ["cmp", nothing, "-o"], ["cmp", nothing, "--html"]):
            with self.subTest(args=args):
                r = self.s3analyze(*args, missing, nothing, status=1)
                self.assertIn(f"cannot write {missing}: No such file or directory", r.err)
        r = self.s3analyze("plot", "--out", missing, nothing, status=1)
        self.assertIn(str(missing), r.err)
        self.out.write_text(FOREIGN)
        r = self.s3analyze("plot", "--out", self.out, nothing, status=1)
        self.assertIn(f"{self.out} is no folder: name one, or a .svg, .png or .pdf", r.err)

    def test_standard_output_that_is_closed(self):
        """The message comes once."""
        for command in ["cat"], ["analyze"], ["info", "--json"], ["merge", "-o", "-"]:
            with self.subTest(command=command):
                r = run("/bin/sh", "-c", 'exec "$@" >&-', "sh", BUILD / "s3analyze", *command, self.capture)
                self.assertEqual(r.status, 1)
                self.assertRegex(r.err, r"\A[^\n]*cannot write standard output[^\n]*\n\Z")

    def test_no_output_file_takes_the_place_of_a_closed_stream(self):
        """Messages would be written into it."""
        cut = self.tmp / "cut.csv"
        cut.write_text("".join(self.s3analyze("cat", self.capture).out.splitlines(keepends=True)[:5]) + "GET\n")
        whole, out = self.tmp / "whole.csv", self.tmp / "out.csv"
        self.assertIn("dropped 1", self.s3analyze("cat", "--salvage", cut, "-o", whole).err)
        for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed=closed):
                r = run("/bin/sh", "-c", f'exec "$@" {closed}', "sh", BUILD / "s3analyze", "cat", "--salvage", "-f", "-o",
                        out, cut)
                self.assertEqual(r.status, 0)
                self.assertEqual(out.read_bytes(), whole.read_bytes())

    def test_devices_are_written(self):
        for command in ("analyze", "cat", "info"):
            self.s3analyze(command, "-o", "/dev/null", self.capture)


    def test_why_an_output_cannot_be_written(self):
        """Each message says why, for each command and form, also if the first of several writes failed."""
        a, b = (capture(f"merge-in-{i}") for i in (1, 2))
        report, sheet = ("--json",), ("--markdown",)
        profile = TESTDATA / "profiles" / "cpu-1.pprof"
        commands = [(c, *form, *paths) for c, forms, paths in (
            ("analyze", ((), ("-v",), report, sheet), (a,)), ("cmp", ((), ("-v",), report, sheet, ("--csv",)), (a, b)),
            ("table", ((), report, sheet, ("--csv",)), (a, b)), ("trend", ((), report, sheet), (a, b)),
            ("info", ((), report), (a,)), ("cat", ((),), (self.capture,)), ("merge", ((),), (a, b)), ("aggregate", ((),), (a,)),
            ("autoterm", ((), report), (a,)), ("export", (("--format", "influx"),), (a,)),
            ("plan", ((), report), (TESTDATA / "formats" / "plan",)), ("import", (("hey",),), (TESTDATA / "import" / "hey.csv",)),
            ("profile", [(x, *y) for x in ("top", "diff") for y in ((), ("--folded",))] +
             [("info",), ("flame",), ("flame", "--folded")], (profile,))) for form in forms]
        pages = [(c, "--html", "/dev/full", *paths) for c, paths in (
            ("analyze", (self.capture,)), ("cmp", (a, b)), ("table", (a, b)), ("trend", (a, b)),
            ("plan", (TESTDATA / "formats" / "plan",)))]
        option = {"aggregate": ("-f", "-o"), "profile": ("-f", "-o")}
        for argv in [(argv[0], *option.get(argv[0], ("-o",)), "/dev/full", *argv[1:]) for argv in commands] + pages:
            with self.subTest(argv=argv):
                r = self.s3analyze(*argv, status=1, env={"PATH": "/nonexistent"})
                self.assertRegex(r.err, r"(?m)^s3analyze: cannot write /dev/full: No space left on device\n\Z")
                self.assertNotRegex(r.err, r"(?m): *$")
        for argv in commands:
            if argv[0] in ("merge", "aggregate", "import"):
                continue  # they want a file
            with self.subTest(stdout=argv), open("/dev/full", "wb") as full:
                done = subprocess.run([BUILD / "s3analyze", *argv], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"(?m)^s3analyze: cannot write standard output: No space left on device\n\Z")
                self.assertNotRegex(done.stderr, r"(?m): *$")


class SameFile(CliTest):
    """A file that the shell redirects is a file too."""

    def test_cat(self):
        path = self.tmp / "w"
        text = HEADER + rows(3)
        path.write_text(text)
        for args, said in ((["cat", "-o", path, "-"], "which is standard input, is to be read: it would be overwritten"),
                           (["cat", "--force", "-o", path, "-"], "standard input, is to be read"),
                           (["analyze", "--json", "-o", path, "-"], "standard input, is to be read")):
            with self.subTest(args=args), path.open() as f:
                done = subprocess.run([BUILD / "s3analyze", *args], stdin=f, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(path.read_text(), text)

    def test_appended_to_itself(self):
        path = self.tmp / "w"
        text = HEADER + rows(3)
        for operand in (path, "-"):
            path.write_text(text)
            with path.open("a") as out, path.open() as f:
                done = subprocess.run([BUILD / "s3analyze", "cat", operand], stdin=f, stdout=out,
                                      stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is to be read", done.stderr)
            self.assertEqual(path.read_text(), text)


    def test_inputs_that_are_no_operands(self):
        """Inputs are the runs and limits of a plan, the profiles of a folder, and files beside a capture."""
        limits, plan, load = self.tmp / "limits", self.tmp / "plan", self.tmp / "load.csv.zst"
        limits.write_text("p50<20ms\n")
        self.s3analyze("plan", "--begin", "capacity", "--dir", plan, "--command", "get", "--slo", f"@{limits}")
        first, archive, profile = plan / "run-001-100.csv.zst", self.tmp / "load.profiles.zip", self.tmp / "p/cpu.pprof"
        profile.parent.mkdir()
        shutil.copy(TESTDATA / "profiles/cpu-1.pprof", profile)
        for path in first, load:
            shutil.copy(capture("get-g4"), path)
        with zipfile.ZipFile(archive, "w") as z:
            z.write(profile)
        for path, args in ((plan / "plan.json", ["plan", plan, "-o"]), (first, ["plan", plan, "-o"]),
                           (limits, ["plan", plan, "--html"]), (limits, ["analyze", "--slo", f"@{limits}", load, "-o"]),
                           (archive, ["analyze", load, "--html"]), (load, ["profile", "info", archive, "-o"]),
                           (profile, ["profile", "top", profile.parent, "-o"])):
            with self.subTest(args=args):
                before = path.read_bytes()
                r = self.s3analyze(*args, path, "--force", status=None)
                self.assertIn("is to be read: it would be overwritten", " ".join(r.err.split()))
                self.assertEqual(path.read_bytes(), before)


class Interrupted(CliTest):
    """No half-written file and no child outlives the program."""

    def start(self, *args, **kwargs):
        p = subprocess.Popen([str(BUILD / "s3analyze"), *map(str, args)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    def left(self):
        return sorted(str(p.relative_to(self.tmp)) for p in self.tmp.rglob("*"))

    def test_cat(self):
        for caught in STOPS:
            with self.subTest(caught=caught):
                p = self.start("cat", "-o", self.tmp / "out.csv", "-")
                p.stdin.write((HEADER + rows(10)).encode())
                p.stdin.flush()
                wait_until(lambda: self.left())
                p.send_signal(caught)
                self.assertEqual(p.wait(timeout=TIMEOUT_S), -caught)  # its input goes on
                err = p.stderr.read()
                self.assertIn(f"stopped by {caught.name}: unfinished output is removed".encode(), err)
                self.assertEqual(self.left(), [])

    def test_nothing_open(self):
        p = self.start("info", "-")
        p.stdin.write(HEADER.encode())
        p.stdin.flush()
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(timeout=TIMEOUT_S), -signal.SIGTERM)
        self.assertEqual(p.stderr.read(), b"")

    def test_nohup(self):
        p = self.start("cat", "-o", self.tmp / "out.csv", "-",
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        p.stdin.write((HEADER + rows(10)).encode())
        p.stdin.flush()
        wait_until(lambda: self.left())
        p.send_signal(signal.SIGHUP)
        p.communicate(timeout=TIMEOUT_S)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(self.left(), ["out.csv"])

    def slow_gnuplot(self):
        """A gnuplot that begins a picture and never finishes."""
        bin_folder = self.tmp / "bin"
        bin_folder.mkdir(exist_ok=True)
        program = bin_folder / "gnuplot"
        program.write_text(f'#!/bin/sh\necho begun > "$5"\necho $$ > {bin_folder}/pid.$$\nexec sleep 100\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "TMPDIR": str(self.tmp / "tmp")}

    def interrupt_drawing(self, *args):
        """Ends the program by each signal; returns the files that are left, without those of the slow gnuplot."""
        env = self.slow_gnuplot()
        (self.tmp / "tmp").mkdir()
        for caught in STOPS:
            p = self.start(*args, capture("get-g4"), env=env)
            wait_until(lambda: list((self.tmp / "bin").glob("pid.*")))
            p.send_signal(caught)
            self.assertEqual(p.wait(timeout=TIMEOUT_S), -caught)
            for pid in (self.tmp / "bin").glob("pid.*"):
                number = int(pid.read_text() or 0)
                self.assertTrue(number == 0 or self.is_gone(number), "gnuplot goes on")
                pid.unlink()
        return [p for p in self.left() if not p.startswith("bin")]

    @staticmethod
    def is_gone(pid):
        """It is gone, or became sleep by exec."""
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text() != "sleep\n"
        except OSError:
            return True

    def test_page(self):
        self.assertEqual(self.interrupt_drawing("analyze", "--html", self.tmp / "page.html"), ["tmp"])

    def test_charts(self):
        (self.tmp / "charts").mkdir()
        self.assertEqual(self.interrupt_drawing("plot", "--out", self.tmp / "charts", "--chart", "cdf"),
                         ["charts", "charts/cdf-GET.tsv", "charts/cdf-PUT.tsv", "tmp"])

    def test_limit_of_file_size(self):
        path = self.tmp / "in.csv"
        path.write_text(HEADER + rows(3000))
        limited = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000)))
        for args in (["cat", "-o"], ["merge", "-o"]):
            with self.subTest(args=args):
                r = self.s3analyze(*args, self.tmp / "out.csv", path, status=1, **limited)
                self.assertIn(f"cannot write {self.tmp}/out.csv: File too large", r.err)
                self.assertEqual(self.left(), ["in.csv"])


if __name__ == "__main__":
    unittest.main()
