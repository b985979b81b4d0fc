"""The SQL of sql/ gives the digits of s3analyze on DuckDB, and what docs/columns.md says how to type works."""
import json
import pathlib
import re
import tempfile
import unittest

import zstd
from engines import CAPTURES, SameDigits, several_captures, statements
from harness import BUILD, ROOT, CliTest, capture, run

try:
    import duckdb
    import pandas
    import polars
    import zstandard
    MISSING = None
except ImportError as e:
    MISSING = f"{e}: '.ci/deps --ci' installs it"


@unittest.skipIf(MISSING, MISSING)
class DuckDb(SameDigits, unittest.TestCase):
    def setUp(self):
        self.db = duckdb.connect()
        self.addCleanup(self.db.close)

    def table(self, view):
        rows = self.db.execute(f"SELECT * FROM {view}")
        names = [column[0] for column in rows.description]
        return [dict(zip(names, row)) for row in rows.fetchall()]

    def test_figures(self):
        for name in CAPTURES:
            with self.subTest(name):
                self.db.execute(f"SET VARIABLE capture = '{capture(name)}'")
                for statement in statements("read-duckdb") + statements("analysis"):
                    self.db.execute(statement)
                self.assert_figures(name)
                self.assert_segments(name)

    def test_open_loop(self):
        """A mixed capture without errors, which also has the single range; and one of its operations alone."""
        header, *rows = zstd.decodable(capture("s3load-open-loop").read_bytes()).decode().splitlines()
        error = header.split("\t").index("error")
        mixed = [r for r in rows if not r.startswith("#") and not r.split("\t")[error]]
        one = [r for r in mixed if "\tGET\t" in r]
        for name, body in (("one", one), ("mixed", mixed)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "open.csv"
                path.write_text("\n".join([header, *body]) + "\n")
                self.db.execute(f"SET VARIABLE capture = '{path}'")
                for statement in statements("read-duckdb") + statements("analysis"):
                    self.db.execute(statement)
                self.assert_report(json.loads(run(BUILD / "s3analyze", "analyze", "--json", path).out))


    def test_captures_in_one_file(self):
        """A header line that comes again begins another capture: its threads are other threads."""
        with tempfile.TemporaryDirectory() as folder:
            for gap in 0, 200, 3000:
                path = pathlib.Path(folder) / f"two-{gap}.csv"
                path.write_bytes(several_captures(gap))
                self.db.execute(f"SET VARIABLE capture = '{path}'")
                for statement in statements("read-duckdb") + statements("analysis"):
                    self.db.execute(statement)
                report = json.loads(run(BUILD / "s3analyze", "analyze", "--json", path).out)
                self.assertEqual(report["operations"][0]["concurrency"], 12)
                self.assert_report(report)


@unittest.skipIf(MISSING, MISSING)
class Columns(CliTest):
    def test_examples(self):
        """Each gives about the p99 of s3analyze; their rules for it differ."""
        page = (ROOT / "docs" / "columns.md").read_text()
        codes = [re.sub(r"^    ", "", block, flags=re.M).replace("run.csv.zst", str(capture("get-g4")))
                 for block in re.findall(r"(?:^    .*\n)+", page, re.M)]
        report = self.s3analyze("analyze", "--json", capture("get-g4")).json()
        want = next(o for o in report["operations"] if o["op"] == "GET")["requests"]["p99_ns"]
        for tool in ("pandas", "polars", "duckdb"):
            with self.subTest(tool):
                if tool == "duckdb":
                    code = next(c for c in codes if "read_csv('" in c)
                    found = dict(duckdb.connect().execute(code).fetchall())["GET"] * 1e3
                else:
                    lines = next(c for c in codes if f"import {tool}" in c).strip().split("\n")
                    names = {"zstandard": zstandard, "polars": polars}
                    exec("\n".join(lines[:-1]), names)  # pylint: disable=exec-used
                    found = eval(lines[-1], names)  # pylint: disable=eval-used
                    if isinstance(found, pandas.Series):
                        found = found["GET"].total_seconds() * 1e9
                    else:
                        found = dict(found.rows())["GET"].total_seconds() * 1e9
                self.assertLess(abs(found - want), .02 * want)


if __name__ == "__main__":
    unittest.main()
