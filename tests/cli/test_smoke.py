"""Runs each command of both programs once, in seconds (`make check-fast`). Other tests check the output."""
import unittest

from harness import capture
from loadcase import LoadTest


class Smoke(LoadTest):
    def test_s3analyze(self):
        a, b = capture("merge-in-1"), capture("merge-in-2")
        for args, words in ((("analyze", a), "Operations:"), (("info", a), "operations"), (("cat", a), "duration_ns"),
                            (("cmp", a, b), "Operation: GET"), (("autoterm", a), "GET"),
                            (("merge", "-o", self.tmp / "merged.csv.zst", a, b), "merged.csv.zst"),
                            (("plot", "--quiet", "--chart", "cdf", "--out", self.tmp / "charts", a), "")):
            with self.subTest(command=args[0]):
                self.assertIn(words, self.s3analyze(*args).out)
        self.assertTrue(list((self.tmp / "charts").glob("*.svg")))

    def test_s3load(self):
        self.start()
        objects = ("--objects", "4", "--obj.size", "1KiB")
        for command, options in (("get", objects), ("put", objects[2:]), ("delete", (*objects, "--batch", "2")),
                                 ("list", objects), ("stat", objects), ("mixed", objects), ("versioned", objects),
                                 ("retention", objects), ("multipart", ("--parts", "2", "--part.size", "5MiB"))):
            with self.subTest(command=command):
                _, capture = self.load(command, "--concurrent", "2", *options, "--bucket", f"of-{command}", "--requests", "6")
                self.assertTrue(capture.rows)
                self.assertFalse(capture.errors())
        self.s3load("clean", "--bucket", "of-get")


if __name__ == "__main__":
    unittest.main()
