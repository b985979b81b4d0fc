"""The programs with which benchmarks measure still work: no other test runs them."""
import re
import subprocess
import unittest

from harness import BUILD, CliTest


class Programs(CliTest):
    def raw_requests(self, *options):
        """How many requests rawclient made of nullserver in 50 ms."""
        with subprocess.Popen([BUILD / "bench" / "nullserver", "--body", "4KiB"], stdout=subprocess.PIPE,
                              text=True) as server:
            try:
                port = re.search(r":(\d+)$", server.stdout.readline()).group(1)
                out = self.check_run(BUILD / "bench" / "rawclient", "--port", port, "--size", "4KiB", "--in-flight", "4",
                                     # not decisive: what is in flight then is waited for
                                     "--duration", "50ms", *options).out
            finally:
                server.terminate()
        n_requests, cpu_ns = map(int, out.split())
        self.assertGreater(cpu_ns, 0)
        return n_requests

    def test_raw_client(self):
        for options in (("--op", "get"), ("--op", "stat"), ("--op", "put"), ("--op", "put", "--unsigned")):
            with self.subTest(options=options):
                self.assertGreater(self.raw_requests(*options), 0)

    def test_simulations(self):
        """A few repetitions are too few to judge, and the status says so."""
        for program, first in (("stats", "2 repetitions, %"), ("plans", "")):
            with self.subTest(program=program):
                run = subprocess.run([BUILD / "bench" / program, "2" if first else "1"], capture_output=True, text=True)
                self.assertIn(run.returncode, (0, 1), run.stderr)
                self.assertTrue(run.stdout.startswith(first), run.stdout)
                self.assertNotIn("nan", run.stdout)
                self.assertGreater(run.stdout.count("\n"), 10)

    def test_generated_capture(self):
        capture = self.tmp / "run.csv.zst"
        with open(capture, "wb") as out:
            subprocess.run([BUILD / "bench" / "gen", "--rows", "3000"], stdout=out, check=True)
        info = self.s3analyze("info", capture).out
        self.assertRegex(info, r"rows +3,000 ")
        self.assertEqual(len(set(re.findall(r"http://\S+", info))), 4)


if __name__ == "__main__":
    unittest.main()
