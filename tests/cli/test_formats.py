"""Formats are promises: a file of each kind and age in testdata/formats is read, with the figures that it holds;
docs/formats.md names every schema and shows the columns that are written."""
import json
import re
import unittest

import zstd
from expect import ReportTest
from harness import ROOT, TESTDATA, run
from oracle import Analysis, parse

FORMATS = TESTDATA / "formats"
PAGE = (ROOT / "docs" / "formats.md").read_text()


def text_of(path):
    return zstd.decodable(path.read_bytes()).decode()


class Read(ReportTest):
    def test_captures(self):
        for path in sorted(FORMATS.glob("*.csv.zst")):
            with self.subTest(path.name):
                self.assert_fits_oracle(self.analyze(path), Analysis(parse(text_of(path))))

    def test_generations(self):
        for g in range(5):
            info = self.s3analyze("info", "--json", FORMATS / f"g{g}.csv.zst").json()
            self.assertEqual(info["captures"][0]["generation"], f"g{g}")

    def test_comments_of_s3load(self):
        for path in sorted(FORMATS.glob("s3load-*.csv.zst")):
            with self.subTest(path.name):
                said = [json.loads(line) for line in re.findall(r"(?m)^# s3load/1 (.*)", text_of(path))]
                ends = [c for c in said if c["event"] == "end"]
                recorded = self.s3analyze("analyze", "--json", path).json()["inputs"][0]["recorded"]
                self.assertEqual({k: recorded[k] for k in ("n_runs", "n_closed", "n_requests")},
                                 {"n_runs": len(said) - len(ends), "n_closed": len(ends),
                                  "n_requests": sum(c["requests"] for c in ends)})

    def test_sums(self):
        """Sums of an early build are those that are made of the capture now."""
        for path in sorted(FORMATS.glob("*.sums.zst")):
            with self.subTest(path.name):
                now = self.tmp / path.name
                self.s3analyze("aggregate", "--quiet", "-o", now, FORMATS / path.name.replace(".sums.", ".csv."))
                held, made = (self.s3analyze("analyze", "--json", p).json()["operations"] for p in (path, now))
                self.assertEqual(held, made)

    def test_what_salvage_left_out(self):
        for name in "salvaged.csv.zst", "salvaged.sums.zst":
            damaged = self.s3analyze("analyze", "--json", FORMATS / name).json()["findings"][0]
            self.assertEqual((damaged["kind"], damaged["evidence"]),
                             ("damaged", {"n_dropped": 1, "n_holes": 0, "n_rows": 119}), name)

    def test_aggregated_captures(self):
        for path in sorted(FORMATS.glob("*.json.zst")):
            with self.subTest(path.name):
                held = json.loads(text_of(path))["by_op_type"]
                report = self.s3analyze("analyze", "--json", path).json()
                self.assertEqual({o["op"]: o["n_requests"] for o in report["operations"]},
                                 {op: o["total_requests"] for op, o in held.items()})

    def test_plan(self):
        report = self.s3analyze("plan", "--json", FORMATS / "plan").json()
        self.assertEqual((report["plan"], report["done"]), ("sweep", True))
        self.assertEqual([(r["level"], r["counts"]) for r in report["runs"]], [(1, True), (2, True)])

    def test_there_is_one_of_each(self):
        for kind in ".csv.zst", ".sums.zst", ".json.zst":
            self.assertTrue(any(p.name.endswith(kind) for p in FORMATS.iterdir()), kind)


class Names(unittest.TestCase):
    def test_options_of_1_0_are_there(self):
        """testdata/formats/options.txt: a line for each command, with the options that 1.0 had."""
        for line in (FORMATS / "options.txt").read_text().splitlines():
            page, *options = line.split()
            with self.subTest(page):
                manual = run(page.partition("-")[0], "--dump-man", page).out.replace(r"\-", "-")
                self.assertEqual(set(options) - set(re.findall(r"\\fB(--?[\w.-]+)\\fR", manual)), set())


class Written(unittest.TestCase):
    def test_schemas_are_named(self):
        sources = "".join(p.read_text() for folder in ("analyze", "loadgen", "libcommon") for p in (ROOT / folder).rglob("*.[ch]"))
        written = set(re.findall(r"\b(s3(?:analyze|load)/(?:[a-z-]+/)?\d+)\b", sources))
        self.assertIn("s3analyze/sums/1", written)
        self.assertEqual(written - set(re.findall(r"`(?:# )?(s3[a-z/-]+\d+)`", PAGE)), set())

    def test_captures_of_s3load_have_the_columns(self):
        shown = re.search(r"^    (idx .*)", PAGE, re.M).group(1).split()
        for name, more in ("slow-host", []), ("s3load-open-loop", ["intended"]):
            lines = [x for x in text_of(TESTDATA / f"{name}.csv.zst").splitlines() if not x.startswith("#")]
            self.assertEqual(lines[0].split("\t"), shown + more)


if __name__ == "__main__":
    unittest.main()
