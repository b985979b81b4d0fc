"""Faults that a server really had while s3load loaded it, and what s3analyze makes of the recordings, testdata/faults.
record_faults.py made them. How much a busy machine adds to such a recording is chance, so they are kept, with what was done to
the servers."""
import json
import statistics
import unittest

from harness import TESTDATA, CliTest
from loadcase import Capture
from test_findings import seconds

FOLDER = TESTDATA / "faults"


class RealFaults(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.truth = json.loads((FOLDER / "truth.json").read_text())

    def problem(self, name, kind, scope):
        """The longest problem of the kind in a recording; the machine may have added others."""
        found = self.s3analyze("analyze", "--json", FOLDER / f"{name}.csv.zst").json()["findings"]
        of_kind = [f for f in found if (f["severity"], f["kind"], f["scope"]) == ("problem", kind, scope)]
        self.assertTrue(of_kind, [(f["severity"], f["scope"], f["sentence"]) for f in found])
        return max(of_kind, key=lambda f: seconds(f["end"]) - seconds(f["start"]) if "start" in f else 0)

    def test_a_host_three_times_as_slow(self):
        """Of three hosts. The machine added latency of its own to all: what was recorded is compared."""
        host = self.truth["slow-host"]["host"]
        slow = self.problem("slow-host", "slow-host", {"host": host})
        took = {True: [], False: []}
        for r in Capture(FOLDER / "slow-host.csv.zst").of("GET"):
            took[r.endpoint == host].append(r.end - r.start)
        recorded = statistics.median(took[True]) / statistics.median(took[False])
        self.assertAlmostEqual(slow["ratio"] / recorded, 1, delta=.25)

    def test_a_server_that_stops(self):
        stall = self.problem("stop", "stall", None)
        took = seconds(stall["end"]) - seconds(stall["start"])
        self.assertAlmostEqual(took, self.truth["stop"]["stopped_s"], delta=.5)

    def test_errors_for_two_seconds(self):
        errors = self.problem("errors", "errors", None)
        self.assertAlmostEqual(seconds(errors["end"]) - seconds(errors["start"]), self.truth["errors"]["during_s"], delta=.5)
        self.assertAlmostEqual(errors["evidence"]["share_within"], self.truth["errors"]["share"], delta=.1)

    def test_a_host_that_refuses(self):
        self.problem("refused", "errors", {"host": self.truth["refused"]["host"]})


if __name__ == "__main__":
    unittest.main()
