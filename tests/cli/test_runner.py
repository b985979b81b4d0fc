"""tests/run itself: it counts skipped tests and shows progress; .ci/run reads its last line."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

from harness import ROOT, TIMEOUT_S, CliTest, wait_until

CASES = {
    "test_some.py": "import unittest\nclass T(unittest.TestCase):\n"
                    "    def test_a(self): pass\n    def test_b(self): self.skipTest('no reason')\n",
    "test_other.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n",
}


class Runner(CliTest):
    def run_tests(self, *args, cases=None, shell='exec "$@"', patience="1"):
        folder = self.tmp / "tests"
        (folder / "cli").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / "run", folder / "run")
        for name, content in (cases or CASES).items():
            (folder / "cli" / name).write_text(content)
        env = {k: v for k, v in os.environ.items() if k != "BUILD"} | {"TEST_PATIENCE": patience}
        return subprocess.run(["sh", "-c", shell, "sh", sys.executable, folder / "run", *args], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)

    def test_skipped_are_counted(self):
        for names in (), ("test_some", "test_other"):
            done = self.run_tests(*names)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-2:]),
                             (0, ["SKIPPED 1: no reason", "2 passed, 0 failed, 1 skipped"]))
        self.assertEqual(self.run_tests("test_some").stdout.splitlines()[-1],
                         "1 passed, 0 failed, 1 skipped")
        done = self.run_tests("--skip-is-failure")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]),
                         (1, "2 passed, 1 failed, 0 skipped"))

    def test_what_happened_stands_first(self):
        """If a log is cut, the trace may be missing, but not the message."""
        case = CASES["test_other.py"].replace("pass", "raise OSError('no milk')")
        done = self.run_tests(cases={"test_other.py": case})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^FAIL test_other\.T\.test_a\nOSError: no milk\nTraceback ")

    def test_the_end_names_what_failed(self):
        """A log may be cut to its end."""
        broken = CASES["test_other.py"].replace("pass", "self.fail()")
        for cases, expected in (
                ({"test_other.py": broken}, ["FAILED test_other.T.test_a", "1 passed, 1 failed, 1 skipped"]),
                ({"test_other.py": "import os\nos._exit(3)\n"}, ["FAILED test_other.py", "1 passed, 1 failed, 1 skipped"])):
            done = self.run_tests(cases=dict(CASES, **cases))
            self.assertEqual(done.stdout.splitlines()[-2:], expected)
            self.assertEqual(len(re.findall("(?m)^FAILED ", done.stdout)), 1, done.stdout)
        done = self.run_tests("test_other", cases=dict(CASES, **{"test_other.py": broken}))
        self.assertEqual(done.stdout.splitlines()[-2:], ["FAILED test_other.T.test_a", "0 passed, 1 failed, 0 skipped"])
        done = self.run_tests("--skip-is-failure", "test_some")
        self.assertEqual(done.stdout.splitlines()[-2:],
                         ["FAILED test_some.T.test_b: no reason", "1 passed, 1 failed, 0 skipped"])

    def test_says_how_far_it_is(self):
        out = self.run_tests().stdout
        self.assertIn("2 files of tests, ", out)
        for number in 1, 2:
            self.assertRegex(out, rf"(?m)^\[{number}/2, \d+ s\] test_(some|other)\.py: 1 passed, 0 failed, ")

    def wait_for_end(self, pid):
        """Whether a process has ended, even if its parent has not waited for it."""
        with contextlib.suppress(OSError):
            wait_until(lambda: re.search(r"\) [ZX] ", pathlib.Path(f"/proc/{pid}/stat").read_text()))

    def test_what_hangs_is_ended(self):
        """The message names the test. Processes that it started end too, and so do those that a passing test left running."""
        start = f"p = subprocess.Popen(['sleep', '1000']); open('{self.tmp}/pids', 'a').write(f'{{p.pid}} ')"
        head = "import subprocess\nimport unittest\nclass T(unittest.TestCase):\n"
        cases = {"test_some.py": f"{head}    def test_a(self):\n        {start}\n",
                 "test_other.py": f"{head}    def test_a(self):\n        with self.subTest(1):\n            {start}; p.wait()\n"
                                  "    def test_b(self): pass\n"}
        done = self.run_tests(cases=cases, patience="0.002")
        self.assertEqual(done.stdout.splitlines()[-2:], ["FAILED test_other.T.test_a", "1 passed, 1 failed, 0 skipped"])
        self.assertRegex(done.stdout, r"TooLong: the file has run for 4 s\n(?s:.*), in test_a\n")
        pids = (self.tmp / "pids").read_text().split()
        self.assertEqual(len(pids), 2)
        for pid in pids:
            self.wait_for_end(pid)

    def test_an_interrupted_run_leaves_nothing(self):
        case = CASES["test_other.py"].replace("pass", f"open('{self.tmp}/pid', 'w').write(f'{{os.getpid()}} '); signal.pause()")
        cases = {"test_some.py": CASES["test_some.py"], "test_other.py": f"import os\nimport signal\n{case}"}
        interrupt = f"\"$@\" & until grep -q ' ' '{self.tmp}/pid'; do sleep 0.1; done; kill -TERM $!; wait $!"
        done = self.run_tests(cases=cases, shell=interrupt)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stdout)
        self.wait_for_end((self.tmp / "pid").read_text().strip())

    def test_longest_begins_first(self):
        times = self.tmp / "build" / "times.json"
        times.parent.mkdir()
        for first, second in ("other", "some"), ("some", "other"):
            times.write_text(json.dumps({f"test_{first}.py": 9, f"test_{second}.py": 1}))
            out = self.run_tests("--jobs", "1")
            self.assertRegex(out.stdout, rf"(?s)\] test_{first}\.py.*\] test_{second}\.py")
            took = json.loads(times.read_text())
            self.assertEqual(sorted(took), sorted(CASES))
            self.assertNotIn(9, took.values())

    def test_no_signal_stays_ignored(self):
        """Programs of tests can be interrupted, though `nohup make check &` ignores it."""
        ignored = "; ".join(f"trap '' {name}" for name in ("HUP", "INT", "QUIT", "TERM"))
        case = ("import unittest\nimport harness\nclass T(unittest.TestCase):\n    def test_a(self):\n"
                "        r = harness.run('/bin/grep', 'SigIgn', '/proc/self/status')\n"
                "        self.assertEqual(int(r.out.split()[1], 16) & 0x4007, 0, r.out)\n")
        folder = self.tmp / "tests" / "cli"
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "cli" / "harness.py", folder)
        done = self.run_tests(cases={"test_other.py": case}, shell=f"{ignored}; exec \"$@\"")
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 0 skipped", done.stdout)

    def test_ci_reads_the_last_line(self):
        script = pathlib.Path(ROOT / ".ci" / "run").read_text()
        suite = re.search(r"^suite\(\) \{\n.*?^\}\n", script, re.M | re.S).group(0)
        for line, expected in (("7 passed, 2 failed, 3 skipped", "7 2"), ("no end", "0 1")):
            done = subprocess.run(["bash", "-c", f"passed=0; failed=0\n{suite}\nsuite it echo '{line}' >/dev/null\n"
                                   "echo $passed $failed"], text=True, stdout=subprocess.PIPE, check=True)
            self.assertEqual(done.stdout.strip(), expected)


class Mutants(unittest.TestCase):
    def test_each_can_be_applied(self):
        """A change of the sources must update the mutants of its lines."""
        done = subprocess.run([sys.executable, ROOT / "tests" / "mutants", "--check"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
