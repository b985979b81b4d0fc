"""tests/layering finds what it says it finds: includes upwards, foreign internal headers and libraries out of
their room, each in a small tree of its own."""
import subprocess
import sys
import unittest

from harness import ROOT, CliTest

# Files that pass: each room includes a later one, or a library of its own.
GOOD = {
    "libcommon/err.h": "",
    "libcommon/err.c": '#include "libcommon/err.h"\n#include <zstd.h>\n',
    "analyze/main.c": '#include "analyze/cmd/commands.h"\n#include <jansson.h>\n',
    "analyze/cmd/commands.h": '#include "libcommon/err.h"\n',
    "analyze/cmd/info.c": '#include "analyze/cmd/commands.h"\n#include "analyze/stats/stats.h"\n',
    "analyze/analysis/run/load.h": '#include "analyze/data/table.h"\n',
    "analyze/analysis/sums/sums.h": "",
    "analyze/analysis/run/sums.c": '#include "analyze/analysis/sums/sums.h"\n',
    "analyze/data/table.h": '#include "libcommon/err.h"\n#include <stdint.h>\n',
    "analyze/stats/stats.h": "",
    "analyze/stats/stats_internal.h": '#include "analyze/stats/stats.h"\n',
    "analyze/stats/dist.c": '#include "analyze/stats/stats_internal.h"\n#include <gsl/gsl_cdf.h>\n',
    "loadgen/net/conn.c": '#include "libcommon/err.h"\n#include <curl/curl.h>\n',
}

# What breaks it: file, added line, and the message.
BAD = {
    "include upwards": ("analyze/data/table.h", '#include "analyze/analysis/run/load.h"', "points upwards"),
    "include across": ("analyze/stats/dist.c", '#include "analyze/data/table.h"', "points upwards, or across"),
    "upwards in a room": ("analyze/analysis/sums/sums.h", '#include "analyze/analysis/run/load.h"', "upwards"),
    "foreign internal header": ("analyze/cmd/info.c", '#include "analyze/stats/stats_internal.h"', "stays in its folder"),
    "GSL outside of stats": ("analyze/cmd/info.c", "# include <gsl/gsl_cdf.h>", "is for analyze/stats"),
    "other program": ("loadgen/net/conn.c", '#include "analyze/stats/stats.h"', "loadgen does not know analyze"),
    "program in libcommon": ("libcommon/err.c", '#include "analyze/data/table.h"', "libcommon does not know analyze"),
    "not from the root": ("analyze/data/table.h", '#include "table.h"', "named from the root"),
    "no room": ("analyze/odd/file.c", "", "not in a room"),
    "no folder of the room": ("analyze/analysis/file.c", "", "not in a room"),
    "beside the rooms": ("analyze/file.c", "", "not in a room"),
}


class Layering(CliTest):
    def check(self, files):
        """Exit status and output of tests/layering for a tree of these files."""
        folder = self.tmp / str(len(list(self.tmp.iterdir())))
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, ROOT / "tests" / "layering", folder], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def test_good_tree_passes(self):
        self.assertEqual(self.check(GOOD), (0, ""))

    def test_each_offence_is_found(self):
        for what, (name, line, words) in BAD.items():
            with self.subTest(offence=what):
                text = GOOD.get(name, "")
                status, said = self.check({**GOOD, name: f"{text}{line}\n"})
                self.assertEqual(status, 1)
                self.assertRegex(said, rf"^{name}:")
                self.assertIn(words, said)
                self.assertEqual(len(said.splitlines()), 1)
                if line:
                    self.assertIn(f"{name}:{len(text.splitlines()) + 1}: ", said)

    def test_offences_in_the_real_sources(self):
        sources = {p.relative_to(ROOT).as_posix(): p.read_text() for program in ("analyze", "loadgen", "libcommon")
                   for p in (ROOT / program).rglob("*.[ch]")}
        self.assertEqual(self.check(sources), (0, ""))
        sources["analyze/data/table.c"] += '#include "analyze/cmd/options.h"\n'
        self.assertEqual(self.check(sources)[0], 1)

    def test_nothing_to_check_is_no_success(self):
        (self.tmp / "empty").mkdir()
        done = subprocess.run([sys.executable, ROOT / "tests" / "layering", self.tmp / "empty"])
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
