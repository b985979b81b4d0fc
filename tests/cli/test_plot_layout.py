"""Charts as a browser lays them out."""
import unittest

from browser import FAULTS, Browser
from harness import CliTest, capture, tool


class PlotLayout(CliTest):
    def test_text_lies_apart_in_any_size(self):
        """No text of a picture overlaps another or is cut off."""
        tool("gnuplot")
        sizes = ("360x300", "380x350", "column", "600x300", "860x400", "2000x900")
        names = ["get-errors", "edge-errors", "edge-sizes"]
        with Browser() as browser:
            for size, name in ((s, n) for s in sizes for n in names):
                self.s3analyze("plot", "-q", capture(name), "--size", size, "--out",
                               self.tmp / f"{name}{size}")
            for size in sizes:
                self.s3analyze("plot", "-q", "--before", capture("get-g4"), "--after",
                               capture("get-errors"), "--size", size, "--out", self.tmp / size,
                               "--before-name", "a long name " * 6)
            for svg in self.tmp.glob("*/*.svg"):
                with self.subTest(picture=f"{svg.parent.name}/{svg.name}"):
                    self.assertEqual(browser.open(svg, width=2100).evaluate(FAULTS), [])


if __name__ == "__main__":
    unittest.main()
