"""tests/constants counts the numeric literals that someone chose."""
import subprocess
import sys
import unittest

from harness import ROOT, CliTest

SAMPLE = r"""/* 3 in a comment, 4.5
 * on two lines */
#define LEAST_REQUESTS 200 // 7
#define SHARE .5
static const double few[] = {0, 1, 2.0, 10, 1e9, .001, 1000UL, 0x0, 1.};
const char *s = "6 of \"7\"", c = '8';
int64_t at32 = INT64_C(1500) + 0x1Fu + 25e-1f + x3 + v.4;
"""
COUNTED = ["3: 200", "4: .5", "7: 1500", "7: 0x1F", "7: 25e-1"]


class Constants(CliTest):
    def run_on(self, *options):
        path = self.tmp / "sample.c"
        path.write_text(SAMPLE)
        (self.tmp / "none.h").write_text("int f(void);\n")
        (self.tmp / "sample.py").write_text("x = 99\n")
        done = subprocess.run([sys.executable, ROOT / "tests" / "constants", *options, self.tmp], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_counts(self):
        status, said = self.run_on("-v")
        head, *lines, total = said.splitlines()
        self.assertEqual((status, head.split()), (0, ["5", str(self.tmp / "sample.c")]))
        self.assertEqual([line.strip() for line in lines], COUNTED)
        self.assertEqual(total, "    5 numeric literals")

    def test_most(self):
        self.assertEqual(self.run_on("--most", "5")[0], 0)
        status, said = self.run_on("--most", "4")
        self.assertEqual((status, said.splitlines()[-1]), (1, "    5 numeric literals (at most 4)"))

    def test_rooms_of_findings_by_default(self):
        done = subprocess.run([sys.executable, ROOT / "tests" / "constants", "--most", "102"], text=True,
                              stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout)
        *files, total = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual({name.rpartition("/")[0] for _, name in files}, {"analyze/findings", "analyze/analysis/conclude"})
        self.assertEqual(sum(int(n) for n, _ in files), int(total[0]))


if __name__ == "__main__":
    unittest.main()
