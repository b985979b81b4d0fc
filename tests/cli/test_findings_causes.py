"""One cause, one finding."""
import json
import unittest

from test_findings import FindingsCase, Load


class Causes(FindingsCase):
    def test_operations_one_after_the_other(self):
        """Threads begin the next operation each by itself, which makes no mix."""
        lines = []
        for i, op in enumerate(("PUT", "GET", "STAT")):
            load = Load(80 + i, mix=((op, 1),), length_s=8 * i + 8)
            load.begins = lambda client, i=i: 8 * i
            head, *rows = load.rows().splitlines()
            lines += rows
        path = self.tmp / "run.csv"
        path.write_text("\n".join([head] + lines) + "\n")
        report = json.loads(self.s3analyze("analyze", "--json", path).out)
        self.assertEqual([o["op"] for o in report["operations"]], ["PUT", "GET", "STAT"])
        self.assertLess(report["operations"][1]["start"], report["operations"][0]["end"], "they overlap")
        self.assertFalse(report["mixed"])
        self.assertEqual([f["sentence"] for f in report["findings"] if f["severity"] == "problem"], [])


if __name__ == "__main__":
    unittest.main()
