"""s3analyze plan on runs that are simulated as it asks for them: its answers, during the plan and at its end."""
import zstd
from capgen import SECOND, Shape, simulate, steady, text
from harness import CliTest


class Plan(CliTest):
    def begin(self, kind, *options):
        self.folder = self.tmp / "plan"
        self.s3analyze("plan", "--begin", kind, "--dir", self.folder, "--command", "get", *options)
        return self.answer(status=3)

    def answer(self, status):
        """The answer in one line."""
        return " ".join(self.s3analyze("plan", self.folder, status=status).out.split())

    def run_next(self, rows_of):
        """Makes the next run that the plan wants, with the rows of its level; returns False if the plan is over."""
        wanted = self.s3analyze("plan", "--next", self.folder).out.split()
        if not wanted:
            return False
        name, _, level = wanted
        number = int(name.split("-")[1])
        (self.folder / f"{name}.csv.zst").write_bytes(zstd.frame(text(rows_of(float(level), number))))
        return True

    @staticmethod
    def limited(rate, number):
        """A server that takes 5 ms at up to 300 requests/s, and 50 ms beyond."""
        return simulate(number, Shape(n=4000, threads=8, hosts=1, sigma=0.2, median=SECOND // (200 if rate <= 300 else 20)))

    def test_capacity(self):
        said = [self.begin("capacity", "--slo", "p50<20ms")]
        self.assertIn("Not decided yet after 0 runs: met at no rate, missed at no rate; next: 100.0 requests/s.", said[0])
        while self.run_next(self.limited):
            said.append(self.answer(status=None))
        self.assertIn("after 3 runs: met at 200.0 requests/s, missed at 400.0 requests/s; next: 282.8 requests/s.", said[3])
        self.assertRegex(said[-2], "next: [0-9.]+ requests/s, to confirm that end[.]")
        self.assertRegex(said[-1], r"The assertions are met up to 29\d.\d requests/s and missed at 30\d.\d, [34].\d* % apart; both "
                                   r"ends are confirmed \(\d+ runs\)[.]")
        self.assertEqual(self.answer(status=0), said[-1])

    def test_capacity_with_too_few_runs(self):
        self.begin("capacity", "--slo", "p50<20ms", "--max-runs", "3")
        while self.run_next(self.limited):
            pass
        self.assertIn("Not confirmed after 3 runs: met at 200.0 requests/s, missed at 400.0 requests/s. --max-runs ended the "
                      "search: repeat it in another --dir with a higher --max-runs, and --from 200.", self.answer(status=3))

    def test_capacity_of_no_rate(self):
        self.begin("capacity", "--slo", "p50<20ms", "--from", "400", "--max-runs", "1")
        self.run_next(self.limited)
        self.assertIn("Not confirmed after 1 run: met at no rate, missed at 400.0 requests/s. No rate met the assertions; below, "
                      '"Not met" says what', self.answer(status=3))

    def test_options_that_are_no_text(self):
        """plan.json cannot hold them, and must not leave them out."""
        for options in (["capacity", "--slo", "G\udcff: p99<1s"],
                        ["ab", "--before", "--host a\udcff", "--after", "--host b", "--gate", "p99:5%"]):
            said = self.s3analyze("plan", "--begin", *options, "--dir", self.tmp / "none", "--command", "get", status=1)
            self.assertIn("an option is not UTF-8", said.err)

    def undecided(self, n):
        """The answer of a plan with one run of n requests and a p99 near the limit."""
        self.begin("capacity", "--slo", "p99<80ms", "--max-runs", "1")
        self.run_next(lambda rate, number: simulate(number, Shape(n=n, threads=8, hosts=1, sigma=0.2)))
        return self.answer(status=3)

    def test_capacity_of_runs_without_intervals(self):
        self.assertIn("met at no rate, missed at no rate. Runs of this length do not decide the other rates: repeat it in another "
                      "--dir with a much longer --duration. ", self.undecided(50))

    def test_capacity_of_runs_that_are_too_short(self):
        self.assertRegex(self.undecided(4000), r"another --dir with a --duration about \d+ times as long[.] ")

    def test_sweep_with_a_peak(self):
        """Runs follow the law exactly: 100 requests/s of one, contention 0.05, coherency 0.01; so the peak is at 9.7 in flight."""
        def by_law(level, number):
            n = round(level)
            per_s = 100 * n / (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1)) * (1 + number % 3 / 1000)
            return steady(200, threads=n, every=round(n / per_s * SECOND))
        self.begin("sweep", "--concurrent", "1,2,4,8,16,24", "--runs", "2", "--seed", "1")
        while self.run_next(by_law):
            pass
        said = self.answer(status=0)
        self.assertRegex(said, r"Universal scalability law: 10\d(\.\d)? requests/s of one in flight")
        self.assertRegex(said, r"Most throughput with 9\.8 in flight \(9\.7 to 9\.8\): 426\.\d requests/s\.")
