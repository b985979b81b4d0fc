"""A NUL in a name stays visible: two hosts that differ behind one are two."""
import unittest

from capgen import steady, text
from expect import ReportTest


class Nul(ReportTest):
    def test_info_shows_names_as_analyze_does(self):
        rows = [r for name in ("h\0one", "h\0two") for r in steady(20, host=name)]
        path = self.write(text(rows), "nul.csv")
        info = self.s3analyze("info", "--json", path).json()
        names = ["h\\0one", "h\\0two"]
        self.assertEqual([h["host"] for h in info["captures"][0]["hosts"]], names)
        report = self.s3analyze("analyze", "--json", path).json()
        self.assertEqual([h["host"] for h in report["operations"][0]["hosts"]], names)


if __name__ == "__main__":
    unittest.main()
