"""Sentences of findings."""
import re
import unittest

from harness import ROOT
from test_findings import FindingsCase, Load

# What begins a sentence that the program makes of parts.
NAMES = "s3load", "s3analyze"


class Sentences(FindingsCase):
    def test_sentences_begin_with_a_capital(self):
        """In the sources, as some of them are hard to provoke."""
        n = 0
        for path in [*ROOT.glob("analyze/findings/*.c"), *ROOT.glob("analyze/analysis/conclude/*.c"),
                     ROOT / "analyze/data/recorded.c"]:
            source = path.read_text()
            starts = re.findall(r'(?:findings_add\([^;"]*?e,|\bSAY\(|snprintf\(note\.message, sizeof note\.message,)\s*"'
                                r'([^"]*)', source)
            if path.name == "recorded.c":
                starts += re.findall(r'(?:true|false),\s*"([^"]*)"', source)
            n += len(starts)
            for start in starts:
                self.assertRegex(start, r"^(%|[A-Z]|" + "|".join(NAMES) + ")", path.name)
        self.assertGreater(n, 40)

    def test_a_rise_to_many_times(self):
        load = Load(5, length_s=40)
        load.factor = lambda s, *where: 8 if s < 30 else 1
        said = " ".join(f["sentence"] for f in self.findings(load))
        self.assertRegex(said, r"Throughput rose to [78]\.\d times (at|from) ")

    def test_share_of_a_burst(self):
        load = Load(6, length_s=40)
        load.fails = lambda s, *where: "HTTP 503" if 20 < s < 22 and int(s * 1e5) % 2 else ""
        self.assertRegex(self.findings(load)[0]["sentence"],
                         r"\((5|6)\d % of the requests in that time, [0-9.]+ % of all\): HTTP 503$")

    def test_a_run_across_midnight(self):
        load = Load(7, length_s=30)
        load.factor = lambda s, h, *where: 4 if h == 1 and 5 < s < 15 else 1
        rows = load.rows()
        for minute, other in (":3", "02T00:00:2"), (":2", "02T00:00:1"), (":1", "02T00:00:0"), (":0", "01T23:59:5"):
            rows = rows.replace("01T12:00" + minute, other)
        path = self.tmp / "run.csv"
        path.write_text(rows)
        first = self.s3analyze("analyze", "--json", path).json()["findings"][0]
        self.assertRegex(first["sentence"], r" from 2026-05-01 23:59:5\d\.\d until 2026-05-02 00:00:0\d\.\d$")

    def test_many_bursts_of_one_message(self):
        """They are no steady errors, and each says that it is a part of all."""
        load = Load(7, length_s=60)
        load.fails = lambda s, *where: "HTTP 503" if s % 10 > 9 and int(s * 1e5) % 2 else ""
        whole, *parts = [f["sentence"] for f in self.findings(load) if f["kind"] == "errors"]
        self.assertRegex(whole, r"^[0-9,]+ requests failed in 6 bursts from 12:00:09")
        self.assertEqual(len(parts), 6)
        for part in parts:
            self.assertIn(f"; part of the {whole.split()[0]}): HTTP 503", part)

    def test_errors_outside_of_the_bursts(self):
        """The whole counts them; times and shares are of the bursts, as it says."""
        load = Load(8, length_s=60)
        load.fails = lambda s, *where: "HTTP 503" if int(s * 1e5) % (300 if s < 16 else 2 if 25 < s and s % 27 < 2 else 1e9) == 0 else ""
        whole, *parts = [f["sentence"] for f in self.findings(load) if f["kind"] == "errors"]
        said = re.match(r"(\S+) requests failed, (\S+) of them in 2 bursts from .* \((4|5)\d % of the requests in them, ", whole)
        self.assertIsNotNone(said, whole)
        of_bursts = sum(int(part.split()[0].replace(",", "")) for part in parts)
        self.assertEqual(int(said[2].replace(",", "")), of_bursts)
        self.assertGreater(int(said[1].replace(",", "")), of_bursts)


if __name__ == "__main__":
    unittest.main()
