"""Every command of s3analyze on files that are odd or damaged (odd_files.py), and on what is no file: it ends
within a deadline, with a report or with a message that names the file, and never crashes. What one command
reads all read, and what one refuses all refuse. (test_damage.py and test_reading.py look closer at analyze.)"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import capgen
from harness import TIMEOUT_S, run
from odd_files import ANY, FILES, ROWS
from test_hostile import CONTROLS

COMMANDS = {
    "info": ("info", "--json", "F"),
    "info-text": ("info", "F"),
    "analyze": ("analyze", "--json", "F"),
    "analyze-text": ("analyze", "-v", "F"),
    "analyze-series": ("analyze", "-o", "report", "--out", "series.tsv", "F"),
    "analyze-page": ("analyze", "-o", "report", "--html", "page.html", "F"),
    "analyze-salvage": ("analyze", "--json", "--salvage", "F"),
    "cat": ("cat", "F"),
    "cmp": ("cmp", "--json", "good", "F"),
    "merge": ("merge", "-f", "-o", "merged", "good", "F"),
    "autoterm": ("autoterm", "--json", "F"),
    "plot": ("plot", "--chart", "cdf", "-o", "chart.svg", "F"),
}
# They may find nothing to show: an operation that the other side lacks, a run of no length.
MAY_LACK = {"cmp", "autoterm", "plot", "analyze-page", "merge"}


def take(folder, before):
    """Removes the new files of a folder, and returns them with their content."""
    made = {}
    for path in folder.iterdir():
        if path.name in before:
            continue
        made[path.name] = b"" if path.is_dir() else path.read_bytes()
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return made


def run_all(name):
    """The result of each command on a file, and the files that it leaves, in a folder of its own."""
    done = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "F").write_bytes(FILES[name].data)
        (folder / "good").write_bytes(capgen.text(ROWS))
        before = set(os.listdir(folder))
        for command, argv in COMMANDS.items():
            if command in FILES[name].without:
                continue
            try:
                # gnuplot takes long: these pages have no charts.
                path = os.environ["PATH"] if command == "plot" else "/nonexistent"
                r = run("s3analyze", *argv, cwd=folder, env={"PATH": path, "TMPDIR": str(folder)})
            except subprocess.TimeoutExpired as e:
                r = e
            done[command] = r, take(folder, before)
    return done


class OddFiles(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        only = os.environ.get("ODD_FILES")
        names = only.split(",") if only else list(FILES)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            cls.done = dict(zip(names, pool.map(run_all, names)))

    def check(self, name):
        if name not in self.done:
            self.skipTest("ODD_FILES leaves it out")
        for command, (r, made) in self.done[name].items():
            with self.subTest(command=command):
                self.check_command(FILES[name], command, r, made)

    def check_command(self, odd, command, r, made):
        self.assertNotIsInstance(r, subprocess.TimeoutExpired, f"no end within {TIMEOUT_S} s")
        said = f"status {r.status}\n{r.err[-2000:]}\n{r.out[:1000]}"
        self.assertNotIn("Sanitizer", r.err, said)
        self.assertIn(r.status, (0, 1), said)
        self.assertIsNone(CONTROLS.search(r.err), said)
        if r.status == 1:
            # One line, which names the file, and no part of an output.
            self.assertRegex(r.err, r"\As3analyze: [^\n]+\n\Z", said)
            self.assertEqual((r.out, made), ("", {}), said)
        else:
            self.assertTrue(r.out or made, said)
            for text in [r.out, *(m.decode(errors="replace") for m in made.values())]:
                if command not in ("cat", "merge", "analyze-series"):
                    self.assertIsNone(CONTROLS.search(text.replace("\ufffd", "")), said)
        if odd.sums and command not in ("info", "info-text", "cat", "merge"):
            if r.status == 1:
                self.assertRegex(r.err, odd.sums, said)
                return
        rows = odd.salvaged if command == "analyze-salvage" else odd.rows
        if rows == 0 and command in MAY_LACK:
            return
        if rows is None or (rows == 0 and r.status == 1):
            self.assertEqual(r.status, 1, said)
            self.assertRegex(r.err, r"\As3analyze: (F|good, F)(:\d+)?: \S", said)
            if command != "analyze-salvage":
                self.assertRegex(r.err, re.compile(odd.says), said)
        elif command not in MAY_LACK:
            self.assertEqual(r.status, 0, said)
        if r.status == 0 and r.out.startswith("{"):
            self.check_json(odd, command, json.loads(r.out, parse_constant=self.fail), rows, said)

    def check_json(self, odd, command, report, rows, said):
        if command in ("analyze", "analyze-salvage"):
            if rows != ANY:
                self.assertEqual(report["n_rows"], rows, said)
            lost = sum(i["n_dropped"] + i["n_unverified"] for i in report["inputs"])
            self.assertEqual(lost > 0, odd.rows is None, said)
            if odd.rows is not None:
                self.assertRegex(" ".join(f["kind"] for f in report["findings"]), re.compile(odd.says), said)


def method(name):
    return lambda self: self.check(name)


for name in FILES:
    setattr(OddFiles, "test_" + re.sub(r"\W", "_", name), method(name))


if __name__ == "__main__":
    unittest.main()
