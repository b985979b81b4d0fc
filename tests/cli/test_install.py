"""`make install`: the files, the man pages, completion typed into real shells; version and packages."""
import csv
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, ROOT, TIMEOUT_S, CliTest, capture, run, tool

# The last one exists if there is an MPI.
PROGRAMS = tuple(p for p in ("s3analyze", "s3load", "s3load-mpi") if (BUILD / p).exists())


def commands(program):
    return [page[len(program) + 1:] for page in run(program, "--dump-pages").out.split()[1:]]


def make(*args, status=0, env=None):
    """Runs make with the build under test. With -o it does not see that its flags are not the default ones,
    which would compile all again. Returns what it says."""
    b = os.path.relpath(BUILD, ROOT)
    done = subprocess.run([shutil.which("make"), f"B={b}", *(f"-o{b}/{name}" for name in ("flags", "version", "sources")),
                           *args], cwd=ROOT, env={k: v for k, v in os.environ.items() if k != "MAKEFLAGS"} | (env or {}),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode(errors="replace")[-4000:]
    if done.returncode != status or "  CC " in said:
        raise AssertionError(said)
    return said


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, argv, cwd):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(argv[0], argv, {"PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C",
                                       "INPUTRC": "/dev/null", "HOME": str(cwd), "PS1": "$ "})

    def close(self):
        os.close(self.fd)  # hangs it up
        os.waitpid(self.pid, 0)

    def type(self, keys, answer):
        """Types and waits for output that has the regular expression `answer`; returns its group."""
        os.write(self.fd, keys.encode())
        said = ""
        while not (match := re.search(answer, said)):
            if not select.select([self.fd], [], [], TIMEOUT_S)[0]:
                raise AssertionError(f"no {answer!r} in {said!r}")
            said += os.read(self.fd, 4096).decode(errors="replace")
        return match.group(1)

    def complete(self, line):
        """The line after a tab; it is printed and not run."""
        return self.type(f"{line}\t\x01printf '<%s>' \x05\r", r"((<[^<>%]+>)+)")


class Install(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name) / "a root"
        make("install", f"DESTDIR={cls.root}", "PREFIX=/usr")

    def files(self, root):
        return {str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir()}

    def test_files(self):
        want = {f"usr/share/s3analyze/plots/{p.name}" for p in (ROOT / "plots").iterdir()}
        for name in PROGRAMS:
            pages = [name] + [f"{name}-{c}" for c in commands(name)]
            want.update(f"usr/share/man/man1/{page}.1" for page in pages)
            want.update((f"usr/bin/{name}", f"usr/share/bash-completion/completions/{name}",
                         f"usr/share/zsh/site-functions/_{name}",
                         f"usr/share/fish/vendor_completions.d/{name}.fish"))
        self.assertEqual(self.files(self.root), want)
        for path in (self.root / "usr").rglob("*"):
            mode = 0o755 if path.is_dir() or path.parent.name == "bin" else 0o644
            self.assertEqual(path.stat().st_mode & 0o7777, mode, path)

    def test_uninstall_leaves_nothing(self):
        """It removes what it installed, and nothing else: not the parts of the path up to each space."""
        others = {"my", "my root/usr/my", "my root/usr/my dir/bin/other", "my root/usr/my dir/share/s3"}
        for other in others:
            (self.tmp / other).parent.mkdir(parents=True, exist_ok=True)
            (self.tmp / other).write_text("")
        for goal in "install", "uninstall":
            make(goal, f"DESTDIR={self.tmp}/my root", "PREFIX=/usr/my dir")
        self.assertEqual(self.files(self.tmp), others)

    def test_packages(self):
        """`make dist` and `make deb` name what is missing."""
        for name in ("sh", "sed", "cat", "gcc", "pkg-config", "find"):
            (self.tmp / name).symlink_to(tool(name))
        bare = {"PATH": str(self.tmp)}
        git = "git " if (ROOT / ".git").exists() else ""  # a tarball packs itself without it
        if git:
            said = make("dist", status=2, env=bare)
            self.assertIn("apt-get install git.", said.replace(".  Stop", "."))
        said = make("deb", status=2, env=bare)
        self.assertRegex(said, rf"apt-get install build-essential debhelper {git}libcsv-dev .*\blibopenmpi-dev\b")

    def test_dependencies_are_listed(self):
        """docs/dependencies.csv has each library that make and the packages ask for, and no other."""
        rows = list(csv.DictReader((ROOT / "docs/dependencies.csv").read_text().splitlines()))
        listed = {row["debian_package"] for row in rows}
        built = set(re.findall(r"(?<==)(lib[\w.-]+-dev|zlib1g-dev)", (ROOT / "Makefile").read_text()))
        packaged = set(re.findall(r"(?m)^ (lib[\w.-]+-dev|zlib1g-dev)", (ROOT / "debian/control").read_text()))
        self.assertEqual(listed - {"gnuplot-nox", "libcsv-dev", "libopenmpi-dev", "libmpich-dev"}, built)  # no pkg-config modules
        self.assertEqual(packaged - listed, set())
        for row in rows:
            self.assertTrue(all(row.values()), row)

    def test_examples_of_documents_are_packaged(self):
        have = set((ROOT / "debian/s3analyze-examples.examples").read_text().split())
        used = {folder for document in ("README.md", "docs/sql.md") for folder in
                re.findall(r"(?<![\w/])(\w+)/[\w.-]+\.(?:csv|sql)", (ROOT / document).read_text())}
        used -= {"build", "docs"}  # docs: packaged as documents
        self.assertEqual(used, {"sql", "testdata"})
        self.assertLessEqual(used, have)

    def test_installed_program_finds_its_plots(self):
        tool("gnuplot")
        picture = self.tmp / "cdf.svg"
        self.check_run(self.root / "usr/bin/s3analyze", "plot", "--quiet", "--chart", "cdf", "--out", picture,
                       capture("list"))
        self.assertIn("<svg", picture.read_text())

    def test_man_pages_have_no_warnings(self):
        man = tool("man")
        for path in sorted(self.root.glob("usr/share/man/man1/*")):
            with self.subTest(page=path.name):
                r = self.check_run(man, "--warnings", "-l", path, env={"MANWIDTH": "80"})
                self.assertEqual(r.err, "")
                self.assertIn("EXIT STATUS", r.out)

    def test_version(self):
        release = re.search(r"^RELEASE = (\S+)$", (ROOT / "Makefile").read_text(), re.M).group(1)
        for name in PROGRAMS:
            lines = run(name, "--version").out.splitlines()
            self.assertRegex(lines[0], rf"^{name} {re.escape(release)}(\+\S+)?$")
            self.assertRegex(lines[1], r"^(\w+ \d[\w.]*, )+\w+ \d[\w.]*$")
            self.assertIn("GPL-3.0-or-later", lines[2])
        self.assertRegex((ROOT / "debian/changelog").read_text(), rf"^s3load-toolkit \({re.escape(release)}\)")

    def test_charts_offered_are_those_there_are(self):
        script = run("s3analyze", "--dump-completion", "bash").out
        offered = re.search(r"'plot --chart'\) words='(.*)'", script).group(1).split()
        known = []
        for operands in (["x"], ["--before", "x", "--after", "x"]):
            r = self.s3analyze("plot", "--chart", "none", "--out", "x", *operands, status=2)
            known += re.search(r"there are (.*)", r.err).group(1).split(", ")
        self.assertEqual(sorted(offered), sorted(known))

    # A line before and after a tab; the last two do not change.
    LINES = [
        ("s3analyze anal", "<s3analyze><analyze>"),
        ("s3load multi", "<s3load><multipart>"),
        ("s3analyze --vers", "<s3analyze><--version>"),
        ("s3analyze info --salv", "<s3analyze><info><--salvage>"),
        ("s3load get --range-s", "<s3load><get><--range-size>"),
        ("s3analyze analyze --range si", "<s3analyze><analyze><--range><single>"),
        ("s3analyze analyze --range=si", "<s3analyze><analyze><--range=single>"),
        ("s3load put --lookup pa", "<s3load><put><--lookup><path>"),
        ("s3analyze plot --chart cdf,thr", "<s3analyze><plot><--chart><cdf,throughput>"),
        ("s3analyze import mc", "<s3analyze><import><mc-trace>"),
        ("s3analyze profile fl", "<s3analyze><profile><flame>"),
        ("s3load repeat cap", "<s3load><repeat><capacity>"),
        ("s3analyze import hey my", "<s3analyze><import><hey><my run.csv>"),
        ("s3analyze analyze my", "<s3analyze><analyze><my run.csv>"),
        ("s3analyze analyze --html=my", "<s3analyze><analyze><--html=my run.csv>"),
        ("s3analyze analyze -o my", "<s3analyze><analyze><-o><my run.csv>"),
        ("s3analyze analyze --dur my", "<s3analyze><analyze><--dur><my>"),
        ("s3load get my", "<s3load><get><my>"),
    ]

    def check_shell(self, argv, setup):
        (self.tmp / "my run.csv").write_text("")
        shell = Shell(argv, self.tmp)
        self.addCleanup(shell.close)
        shell.type(setup + "; echo rea''dy\r", "(ready)")
        for line, want in self.LINES:
            with self.subTest(line=line):
                # zsh adds = where a value must follow.
                self.assertEqual(shell.complete(line).replace("=>", ">"), want)

    def test_bash_completes(self):
        folder = self.root / "usr/share/bash-completion/completions"
        self.check_shell(["bash", "--norc", "--noprofile", "-i"],
                         "; ".join(f"source '{folder}/{name}'" for name in PROGRAMS))

    def test_zsh_completes(self):
        tool("zsh")
        folder = self.root / "usr/share/zsh/site-functions"
        self.check_shell(["zsh", "-f", "-i"],
                         f"fpath=('{folder}' $fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep")

    def test_fish_completes(self):
        fish = tool("fish")
        (self.tmp / "my run.csv").write_text("")
        folder = self.root / "usr/share/fish/vendor_completions.d"
        sources = "; ".join(f"source '{folder}/{name}.fish'" for name in PROGRAMS)
        for line, want in self.LINES:
            with self.subTest(line=line):
                r = self.check_run(fish, "--no-config", "-c", f"{sources}; complete --escape -C '{line}'",
                                   cwd=self.tmp, env={"HOME": str(self.tmp)})
                offered = [o.split("\t")[0].replace("\\ ", " ") for o in r.out.splitlines()]
                last = re.findall(r"<([^<>]+)>", want)[-1]
                self.assertEqual(offered, [] if line.endswith(last) else [last])


if __name__ == "__main__":
    unittest.main()
