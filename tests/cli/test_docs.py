"""The documents: every command that they show runs and prints what they say; links, options, files and
functions that they name exist; sentences are short; the map of the code lists every room.

A command is a line of an indented block that begins with "$ " or with a program's name; those of a loop
over $i run once. What follows a "$ " line is its output; "..." there stands for any lines. Programs are
those of the build, and names such as run.csv.zst stand for small captures; a server in an example is the
embedded target, and large loads are made small.
"""
import functools
import os
import random
import re
import shlex
import subprocess
import unittest
import zipfile

import aggregates
import matrix
from capgen import Shape, simulate, steady, text
from harness import BUILD, ROOT, TESTDATA, TIMEOUT_S, CliTest, run, tool
from oracle import SECOND
from servers import Target

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGES.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/*.md"))]
PROGRAMS = ("s3analyze", "s3load")
OTHER_PROGRAMS = ("make", "sh", "tests/run", ".ci/run")

# Words of commands that a test cannot run, and why.
NOT_RUN = {
    "sh .ci/deps": "installs packages",
    "make": "builds what this test runs on",
    "tests/run": "runs this test",
    ".ci/run": "runs this test",
    "s3load repeat": "starts dozens of runs; test_repeat.py does",
    "--syncstart": "waits for that time; test_load_cli.py does",
    "s3analyze plan": "needs a folder that s3load repeat made",
}

# Exit status of commands that do not end with 0.
STATUS = {"s3analyze trend --check-last nightly/*.csv.zst": 3}  # five runs

# What examples with words of one's own stand for: kind of capture, and how many files a pattern means.
CAPTURES = {
    "run.csv.zst": "get", "old.csv.zst": "get", "old.csv": "before", "*.csv.zst": "get",
    "monday.csv.zst": "before", "tuesday.csv.zst": "after", "a.zst": "before", "b.zst": "after",
    "old/*.zst": "before", "old-*.csv.zst": "before", "new-*.csv.zst": "after",
    "run.sums.zst": "sums", "client-0.sums.zst": "sums", "client-1.sums.zst": "sums", "c0.sums.zst": "sums",
    "c1.sums.zst": "sums", "run.json.zst": "aggregate", "old.json.zst": "aggregate",
    "a*.zst": "before", "b*.zst": "after", "nightly/*.csv.zst": "before", "main/*.csv.zst": "before", "pr/*.csv.zst": "after",
    "ab.csv.zst": "get", "ab.tsv": "import/ab.tsv", "hey.csv": "import/hey.csv", "trace.json": "import/mc-trace.json",
    "logs/*": "import/s3.log",
    "main/": "matrix", "pr/": "matrix",
    "run.profiles.zip": "profiles", "old.profiles.zip": "profiles",
    "client1.csv.zst": "client", "client2.csv.zst": "client", "a.csv.zst": "client", "b.csv.zst": "client",
}
N_OF_PATTERN = 5
OUTPUT_OPTIONS = ("-o", "--output", "--out", "--html", "--benchdata")

KEY = "KEY"  # both keys of the target, as README has them
LOAD_OPTIONS = {"--duration": "300ms", "--concurrent": "2", "--objects": "20", "--obj.size": "16KiB"}
LOAD_LIMITS = {"--duration": "300ms", "--objects": "20", "--part.size": "5MiB"}


class Example:
    def __init__(self, where, command, output=None):
        self.where = where
        self.command = re.sub(r"\s+# .*", "", command).strip().replace("$i", "1")
        self.output = output  # lines; None: none is shown

    def __repr__(self):
        return f"{self.where}: {self.command}"


def is_command(line):
    return re.match(r"(?:    )?(%s)( |$)" % "|".join(map(re.escape, PROGRAMS + OTHER_PROGRAMS)), line)


def blocks(path):
    """Indented blocks of a document: (number of the first line, lines without their indentation)."""
    block = []
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        if line.startswith("    "):
            block.append(line[4:])
        elif not line.strip() and block:
            block.append("")
        elif block:
            yield number - len(block), block
            block = []


def examples_of(path):
    name = path.relative_to(ROOT).as_posix()
    for first, block in blocks(path):
        shown = None
        for i, line in enumerate(block):
            if line.startswith("$ "):
                shown = Example(f"{name}:{first + i}", line[2:], [])
                yield shown
            elif shown:
                shown.output.append(line)
            elif is_command(line):
                yield Example(f"{name}:{first + i}", line)


def examples_of_man_pages():
    for program in PROGRAMS:
        for page in run(program, "--dump-pages").out.split():
            source = run(program, "--dump-man", page).out
            section = re.search(r"^\.SH EXAMPLES\n(.*?)^\.SH", source, re.M | re.S)
            for line in re.findall(r"^\.TP\n\\fB(.*)\\fR$", section.group(1) if section else "", re.M):
                yield Example(f"{page}(1)", line.replace(r"\-", "-").replace(r"\e", "\\").replace(r"\&", ""))


def matches(expected, actual):
    """Whether lines are the expected ones, of which "..." stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0] and matches(expected[1:], actual[1:])


def trimmed(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def output_words(words):
    return {words[i + 1] for i in range(len(words) - 1) if words[i] in OUTPUT_OPTIONS}


@functools.cache
def simulated(seed, client):
    shape = Shape(n=6000, threads=4, keys=100, ops=("GET",), median=2_000_000, sigma=0.3)
    return text(r._replace(client=client) for r in simulate(seed, shape))


class Examples(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.seed = 0

    def make_capture(self, path, kind):
        path.parent.mkdir(exist_ok=True)
        if kind == "get":
            path.write_bytes((TESTDATA / "get-g4.csv.zst").read_bytes())
            return
        if kind.startswith("import/"):
            path.write_bytes((TESTDATA / kind).read_bytes())
            return
        if kind == "matrix":
            path.mkdir()
            of, r = matrix.cells(4), random.Random(path.name)
            for i in range(3 * len(of)):
                (path / f"{i}.csv").write_bytes(matrix.run(r, **of[i % len(of)]))
            return
        if kind == "profiles":
            name = "cpu-1" if path.name.startswith("old") else "cpu-2"
            with zipfile.ZipFile(path, "w") as z:
                z.write(TESTDATA / "profiles" / f"{name}.pprof", "profile-127.0.0.1:9000-cpu.pprof")
            return
        if kind == "aggregate":
            rows = steady(160 + len(path.name), threads=3, every=SECOND // 8)
            path.write_bytes(aggregates.packed(aggregates.aggregate(rows)))
            return
        # Runs of one configuration, and clients of one run.
        Examples.seed += 1
        path.write_bytes(simulated(Examples.seed, path.stem if kind == "client" else "c0"))
        if kind == "sums":
            rows_of = path.with_suffix(".rows")
            path.rename(rows_of)
            self.s3analyze("aggregate", "--quiet", "-o", path, rows_of)
            rows_of.unlink()

    def make_captures(self, words):
        Examples.seed = 0  # what an example prints does not depend on those before it
        for word in sorted(set(words) - output_words(words)):
            if word not in CAPTURES:
                continue
            names = [word.replace("*", str(i)) for i in range(N_OF_PATTERN)] if "*" in word else [word]
            for name in names:
                self.make_capture(self.folder / name, CAPTURES[word])

    def load(self, words):
        """A command of s3load with the target for its servers, and little to do."""
        if not hasattr(self, "server"):
            self.server = Target("--access-key", KEY, "--secret-key", KEY, n_ports=2)
            self.addCleanup(self.server.stop)
        for i in range(len(words) - 1):
            if words[i] in LOAD_LIMITS:
                words[i + 1] = LOAD_LIMITS[words[i]]
            elif words[i] == "--host":
                words[i + 1] = self.server.hosts
        known = run("s3load", words[1], "--help").out
        for option, value in LOAD_OPTIONS.items():
            if option not in words and f"{option} " in known:
                words += [option, value]
        words += ["--bucket", self.folder.name]
        if words[1] == "clean":  # it needs a bucket
            run("s3load", "put", "--host", self.server.hosts, "--requests", "1", "--stress", *words[-2:],
                env={"S3LOAD_ACCESS_KEY": KEY, "S3LOAD_SECRET_KEY": KEY})
        return words if "--host" in words else [*words, "--host", self.server.hosts]

    def check(self, example, number):
        self.folder = self.tmp / f"example-{number}"
        self.folder.mkdir()
        for name in ("testdata", "docs"):
            (self.folder / name).symlink_to(ROOT / name)
        command, pipe, rest = example.command.partition("|")
        words = shlex.split(command)
        if words[:2] == ["s3analyze", "plot"]:
            tool("gnuplot")
        self.make_captures(words)
        if words[0] == "s3load":
            command = shlex.join(self.load(words))
        env = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "HOME": str(self.folder),
               "S3LOAD_ACCESS_KEY": KEY, "S3LOAD_SECRET_KEY": KEY, "NO_COLOR": "1"}
        done = subprocess.run(["bash", "-c", command + pipe + rest], cwd=self.folder, env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIMEOUT_S)
        said = f"{example}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        self.assertEqual(done.returncode, STATUS.get(example.command, 0), said)
        if example.output is not None:
            self.assertTrue(matches(trimmed(example.output), trimmed(done.stdout.splitlines())), said)
        for name in output_words(words) - {"-", "/dev/null"}:
            self.assertTrue((self.folder / name).exists(), f"{example}: no {name}")

    def check_all(self, examples):
        used = set()
        for number, example in enumerate(examples):
            reasons = [r for r in NOT_RUN if f" {r} " in f" {example.command} "]
            used.update(reasons)
            if not reasons:
                with self.subTest(example=example):
                    self.check(example, number)
        return used

    def test_documents(self):
        # test_ci.py runs the commands of docs/ci.md together.
        examples = [e for path in DOCUMENTS if path.name != "ci.md" for e in examples_of(path)]
        self.assertGreater(sum(e.output is not None for e in examples), 4)
        self.assertEqual(sorted(self.check_all(examples)), sorted(NOT_RUN))

    def test_man_pages(self):
        examples = list(examples_of_man_pages())
        self.assertGreater(len(examples), 20)
        self.check_all(examples)


def slug(heading):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Names(unittest.TestCase):
    def test_links(self):
        for path in DOCUMENTS:
            for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
                with self.subTest(document=path.name, link=target):
                    name, _, anchor = target.partition("#")
                    to = path.parent / name if name else path
                    self.assertTrue(to.exists())
                    if anchor:
                        headings = re.findall(r"^#+ (.*)", to.read_text(), re.M)
                        self.assertIn(anchor, map(slug, headings))

    def test_options(self):
        known = {"--help", "--version"}
        known |= {"--full", "--warp-client", "--sse-s3-encrypt"}  # of other recorders
        for program in PROGRAMS:
            for page in run(program, "--dump-pages").out.split():
                source = run(program, "--dump-man", page).out.replace(r"\-", "-")
                known.update(re.findall(r"\\fB(--?[\w.-]+)\\fR", source))
        self.assertIn("--gate", known)
        for script in ROOT / "tests" / "run", *(ROOT / "tests" / "bench").iterdir():
            known.update(re.findall(r'add_argument\("(--[\w-]+)"', script.read_text()))
        # s3load-mpi is there where an MPI is.
        known.update("--" + name for name in re.findall(r'\{"([\w-]+)", CLI_',
                                                        (ROOT / "loadgen/ranks/ranks_mpi.c").read_text()))
        foreign = {"--ci", "--force"}  # of .ci/deps
        foreign |= {"--verbose", "--args", "--break-system-packages"}  # of mc, gdb and pip
        foreign |= {"--fault", "--log", "--port"}  # of the server of the tests
        foreign |= {"--body-file"}  # of gh
        foreign |= {"--hostfile", "--bind-to", "--allow-run-as-root", "--mca", "--conf"}  # of mpirun and Spark
        foreign |= {"--mpi", "--kill-on-bad-exit", "--ntasks-per-node", "--exclusive"}  # of Slurm
        foreign |= {"--rps-limit", "--opslog", "--limitread", "--limitwrite", "--excel"}  # of other load generators
        for path in DOCUMENTS:
            for option in set(re.findall(r"(?<![\w-])--[a-z][\w.-]*\w", path.read_text())) - foreign:
                with self.subTest(document=path.name, option=option):
                    self.assertIn(option, known)

    def test_goals(self):
        """Of make."""
        goals = set()
        for path in (ROOT / name for name in ("Makefile", "tests/coverage.mk", "tests/fuzz/fuzz.mk")):
            for line in re.findall(r"(?m)^\.PHONY: (.*)", path.read_text().replace("\\\n", "")):
                goals.update(line.split())
        for path in DOCUMENTS:
            for words in re.findall(r"(?m)(?:^    |`|&& )make( [^`#\n;&|]*)", path.read_text()):
                for word in shlex.split(words):
                    if "=" not in word and not word.startswith("-"):
                        with self.subTest(document=path.name, goal=word):
                            self.assertIn(word, goals)

    def test_functions(self):
        """file:function, and files alone."""
        for path in DOCUMENTS:
            for name, function in set(re.findall(r"\b((?:libcommon|analyze|loadgen|tests)/[\w/.-]*\w)(?::(\w+))?`",
                                                 path.read_text())):
                if "NAME" in name:
                    continue
                with self.subTest(document=path.name, name=name, function=function):
                    self.assertTrue((ROOT / name).exists())
                    if function:
                        self.assertTrue(re.search(rf"(?m)^(?:[a-z].*\b)?{function}\(", (ROOT / name).read_text()))

    def test_worked_changes_apply(self):
        """Those of CONTRIBUTING, to the sources as they are."""
        git = tool("git")
        paths = sorted(ROOT.glob("docs/examples/*.diff"))
        self.assertEqual(len(paths), 3)
        for path in paths:
            with self.subTest(path.name):
                done = subprocess.run([git, "apply", "--check", path], cwd=ROOT, capture_output=True, text=True, check=False,
                                      env={**os.environ, "GIT_CEILING_DIRECTORIES": str(ROOT.parent)})
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sentences_are_short(self):
        """Of prose and of cells of tables; code counts as a word."""
        for path in DOCUMENTS:
            prose = re.sub(r"(?m)^    .*$", "", path.read_text())
            prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", prose))
            for part in re.split(r"\n\s*\n|\n(?=\s*- |\d+\. )|\|", prose):
                for sentence in re.split(r"(?<=[.?!])[*)\"]*\s", part):
                    with self.subTest(document=path.name, sentence=sentence):
                        self.assertLess(len(sentence.split()), 48)

    def test_lines_are_plain(self):
        """ASCII, and prose fits 132 columns; rows of tables and indented blocks may be longer."""
        for path in DOCUMENTS:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                with self.subTest(document=path.name, line=number):
                    self.assertRegex(line, r"^[ -~\t]*$")
                    if not line.startswith(("|", "    ")):
                        self.assertLessEqual(len(line), 132)

    def test_every_room_is_on_the_map(self):
        document = (ROOT / "docs" / "how-it-is-built.md").read_text()
        listed = re.findall(r"^\| `((?:analyze|loadgen|libcommon)/(?:\w+/)*)` \|", document, re.M)
        there = {f"{p.parent.relative_to(ROOT).as_posix()}/" for folder in ("analyze", "loadgen", "libcommon")
                 for p in (ROOT / folder).rglob("*.[ch]") if p.name != "main.c"}
        self.assertEqual(sorted(listed), sorted(there))


if __name__ == "__main__":
    unittest.main()
