"""tests/style finds what it says it finds, each in a small tree of its own."""
import subprocess
import sys
import unittest

from harness import ROOT, CliTest

GOOD = {
    "tests/cli/harness.py": "time.sleep(0.01)\n",
    "tests/cli/test_load.py": "r = random.Random(1)\nx = r.random()\n# not decisive: longer will do\ntime.sleep(0.1)\n"
                              "p.communicate(timeout=TIMEOUT_S)\nself.load('put', '--duration', '1h')\n",
    "tests/unit/net/test_names.c": "",
    "docs/how-it-is-built.md": "",
    "docs/how-the-numbers-are-made.md": "",
    "libcommon/err.h": "/* See docs/how-it-is-built.md. */\n",
    "analyze/data/table.c": "/* Section 5 of docs/how-the-numbers-are-made.md. */\n"
                            "size_t n = sizeof *v + sizeof(struct table) + sizeof v->s;\n"
                            "#define SIZE(x) sizeof(x)\n"
                            "int f(void)\n{\n    int n = 1,\n        m = 2;\n    char *s;\n\n    if (n) {\n"
                            "        int k = m;\n        n += k;\n    }\n    return n;\n}\n",
}

# What breaks it: file, added line, and the message.
BAD = {
    "foreign document": ("libcommon/err.h", "/* See output-formats.md. */", "output-formats.md is not in the repository"),
    "section of nothing": ("libcommon/err.h", "/* As section 3 says. */", "a section of which document"),
    "declarations": ("analyze/data/table.c", "int g(void) {\n    int n = 1;\n    const char *const s = 0;\n    return n;\n}",
                     "a blank line follows declarations"),
    "percent of a figure": ("analyze/data/table.c", 'const char *f = "%.1f%% of";', "the sign of percent"),
    "percent of a number": ("analyze/data/table.c", 'const char *f = "within 95% of";', "the sign of percent"),
    "sleep": ("tests/cli/test_load.py", "time.sleep(0.1)", "wait for an event"),
    "clock": ("tests/cli/test_load.py", "self.assertLess(time.monotonic(), end)", "not measure time"),
    "chance": ("tests/cli/test_load.py", "n = random.randrange(9)", "give chance a seed"),
    "chance without a seed": ("tests/cli/test_load.py", "r = random.Random()", "give chance a seed"),
    "short limit": ("tests/cli/test_load.py", "p.communicate(timeout=5)", "TIMEOUT_S"),
    "run that time ends": ("tests/cli/test_load.py", 'self.load("put", "--duration",\n          "300ms")', "let --requests"),
    "sleep of C": ("tests/unit/net/test_names.c", "usleep(9);", "not measure time"),
    "sizeof": ("analyze/data/table.c", "size_t m = sizeof(*v);", "sizeof of an expression has no parentheses"),
}


class Style(CliTest):
    def check(self, files):
        """Exit status and output of tests/style for a tree of these files."""
        folder = self.tmp / str(len(list(self.tmp.iterdir())))
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, ROOT / "tests" / "style", folder], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_good_tree_passes(self):
        self.assertEqual(self.check(GOOD), (0, ""))

    def test_each_offence_is_found(self):
        for what, (name, line, words) in BAD.items():
            with self.subTest(offence=what):
                text = GOOD[name]
                status, said = self.check({**GOOD, name: f"{text}{line}\n"})
                self.assertEqual(status, 1)
                first = text.count("\n") + 1
                self.assertIn(int(said.split(":")[1]), range(first, first + line.count("\n") + 1))
                self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
