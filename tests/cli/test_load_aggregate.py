"""s3load --aggregate: the sums of a run, beside its capture."""
import shutil
import subprocess

from harness import BUILD
from loadcase import LoadTest

OPTIONS = ["--requests", "30", "--concurrent", "2", "--objects", "10", "--obj.size", "4KiB", "--quiet"]


class Aggregate(LoadTest):
    def setUp(self):
        super().setUp()
        self.start()

    def test_sums_are_those_of_the_capture(self):
        r = self.s3load("get", *OPTIONS, "--aggregate", "--benchdata", self.tmp / "run")
        self.assertIn("run.sums.zst", r.out)
        sums, made = self.tmp / "run.sums.zst", self.tmp / "made"
        self.s3analyze("aggregate", "--quiet", "-o", made, self.tmp / "run.csv.zst")
        self.assertEqual(sums.read_bytes(), made.read_bytes())
        state = self.s3analyze("analyze", "--json", sums).json()
        self.assertGreater(state["n_rows"], 10)

    def test_nothing_is_overwritten(self):
        sums = self.tmp / "run.sums.zst"
        sums.write_bytes(b"mine")
        r = self.s3load("get", *OPTIONS, "--aggregate", "--benchdata", self.tmp / "run", status=1)
        self.assertIn("run.sums.zst' is there already", r.err)
        self.assertEqual(sums.read_bytes(), b"mine")
        self.assertFalse((self.tmp / "run.csv.zst").exists())

    def test_standard_output(self):
        r = self.s3load("get", *OPTIONS, "--aggregate", "--benchdata", "-", status=1)
        self.assertIn("--aggregate needs a capture in a file", r.err)

    def test_in_place_of_the_capture(self):
        r = self.s3load("get", *OPTIONS, "--aggregate-only", "--benchdata", self.tmp / "run")
        self.assertIn("Sums, in place of the capture: ", r.out)
        self.assertFalse((self.tmp / "run.csv.zst").exists())
        info, = self.s3analyze("info", "--json", self.tmp / "run.sums.zst").json()["captures"]
        self.assertEqual(info["s3load"]["command"], "get")
        self.assertEqual(info["s3load_end"]["end"], "done")
        r = self.s3load("get", *OPTIONS, "--json", "--aggregate-only", "--benchdata", self.tmp / "json").json()
        self.assertEqual((r["capture"], r["sums"]), (None, str(self.tmp / "json.sums.zst")))

    def test_without_sums_the_capture_stays(self):
        """Where s3analyze is not beside s3load nobody makes them."""
        shutil.copy(BUILD / "s3load", self.tmp / "s3load")
        argv = [str(a) for a in self.argv("get", *OPTIONS, "--aggregate-only", "--benchdata", self.tmp / "run")]
        done = subprocess.run([self.tmp / "s3load", *argv], env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("sums could not be made", done.stderr)
        self.assertTrue((self.tmp / "run.csv.zst").exists())
