"""Percentiles of aggregated captures: the bounds that follow from their groups."""
import json
import os
import random
import unittest

import aggregates
import capgen
import oracle
import zstd
from capgen import Shape, simulate
from harness import SPECIMENS, TESTDATA, CliTest, with_specimens
from oracle import SECOND

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99}


def durations(rows):
    return sorted(r.end - r.start for r in rows if not r.error)


def true(rows, percent):
    return aggregates.rank(durations(rows), percent)


def random_run(seed):
    r = random.Random(seed)
    shape = Shape(n=r.choice((1, 2, 9, 40, 300, 2000)), threads=r.randint(1, 9), clients=r.randint(1, 3),
                  hosts=r.randint(1, 2), sizes=(r.choice((0, 1, 65536)),), error_frac=r.choice((0, 0, .01, .3)),
                  median=int(SECOND * 10**r.uniform(-2.5, .5)), sigma=r.uniform(0, 2), zero_frac=r.choice((0, .2)))
    return simulate(seed, shape)


def groups_of(entry):
    """(requests, then (rank, ms) of what a group has) of each group."""
    for groups in entry["requests_by_client"].values():
        for g in groups:
            s = g["single_sized_requests"]
            n = s["requests"]
            if n > 0:
                rank = lambda p, n=n: min(n - 1, (2 * n * p + 100) // 200)
                yield n, [(0, s["fastest_millis"]), (rank(50), s["dur_median_millis"]), (rank(90), s["dur_90_millis"]),
                          (rank(99), s["dur_99_millis"]), (n - 1, s["slowest_millis"])]


def plain_bounds(entry, percent):
    """The bounds of a percentile without failures, by trying each known value in turn."""
    groups = list(groups_of(entry))
    n = sum(g[0] for g in groups)
    need = min(n - 1, (2 * n * percent + 100) // 200) + 1
    values = sorted({ms for _, known in groups for _, ms in known})
    least = next(v for v in values if sum(min([i for i, ms in known if ms > v] + [k]) for k, known in groups) >= need)
    most = next(v for v in values if sum(max([i + 1 for i, ms in known if ms <= v] + [0]) for _, known in groups) >= need)
    return [least * 1e6, most * 1e6]


class Base(CliTest):
    def put(self, rows):
        path = self.tmp / "a.json.zst"
        path.write_bytes(aggregates.packed(aggregates.aggregate(rows)))
        return path

    def operations(self, path, *options, **kwargs):
        return {o["op"]: o for o in self.s3analyze("analyze", "--quiet", "--json", *options, path, **kwargs).json()["operations"]}

    def holds(self, path, rows):
        """Checks the bounds of each operation; returns how many bounds were checked."""
        n = 0
        for op, of in self.operations(path).items():
            own = [r for r in rows if r.op == op]
            if not of["requests"] or not of["requests"].get("groups") or not durations(own):
                continue
            for name, percent in PERCENTILES.items():
                least, most = of["requests"][f"{name}_bounds_ns"]
                value = true(own, percent)
                self.assertLessEqual(least, value, (op, name))
                self.assertTrue(most is None or value <= most, (op, name, value, most))
                n += 1
                if of["n_errors"] == 0:
                    self.assertEqual(of["requests"][f"{name}_ns"], value if least == most else None)
        return n


class BoundsTest(Base):
    def test_true_percentiles_lie_within(self):
        """S3_BOUNDS=1000 tries so many random runs."""
        n = sum(self.holds(self.put(rows), rows) for rows in map(random_run, range(int(os.environ.get("S3_BOUNDS", 40)))))
        self.assertGreater(n, 60)

    def test_they_are_as_narrow_as_the_groups_allow(self):
        for seed in range(6):
            rows = [r._replace(error="") for r in random_run(100 + seed)]
            entry = aggregates.aggregate(rows)["by_op_type"]["GET"]
            got = self.operations(self.put(rows))["GET"]["requests"]
            for name, percent in PERCENTILES.items():
                for a, b in zip(got[f"{name}_bounds_ns"], plain_bounds(entry, percent)):
                    self.assertAlmostEqual(a, b, delta=1)

    @with_specimens
    def test_recorded_pairs(self):
        n = 0
        for path in sorted(SPECIMENS.glob("*.json.zst")):
            rows = path.with_name(path.name.replace(".json.", ".csv."))
            if rows.exists():
                n += self.holds(path, oracle.parse(self.s3analyze("cat", rows).out))
        self.assertGreater(n, 60)

    def test_files_of_testdata(self):
        for path in sorted((TESTDATA / "formats").glob("aggregated-*.json.zst")):
            document = json.loads(zstd.decodable(path.read_bytes()))
            for op, of in self.operations(path).items():
                for name, percent in PERCENTILES.items():
                    for a, b in zip(of["requests"][f"{name}_bounds_ns"], plain_bounds(document["by_op_type"][op], percent)):
                        self.assertAlmostEqual(a, b, delta=1, msg=(path, op, name))


class DecisionTest(Base):
    def rows(self, n=400, seconds=30):
        """Two groups of durations: half of each 10 s takes 5 ms, half 10 to 20 ms."""
        every = seconds * SECOND // n
        return [capgen.row(i * every, i * every + (5 + i % 2 * (5 + i % 11)) * SECOND // 1000) for i in range(n)]

    def answer(self, rows, limit, **kwargs):
        path = self.put(rows)
        report = self.s3analyze("analyze", "--quiet", "--json", "--slo", limit, path, **kwargs).json()
        return report["slo"]["assertions"][0]

    def test_a_limit_inside_is_undecided_and_says_the_bounds(self):
        rows = self.rows()
        least, most = self.operations(self.put(rows))["GET"]["requests"]["p90_bounds_ns"]
        self.assertLess(least, most)
        a = self.answer(rows, f"p90<{int(least + most) // 2}ns", status=3)
        self.assertEqual((a["verdict"], a["value"], a["value_bounds_ns"]), ("undecided", None, [least, most]))
        text = self.s3analyze("analyze", "--slo", f"p90<{int(least + most) // 2}ns", self.put(rows), status=3).out
        self.assertRegex(text, r"undecided .*\(bounds\)")

    def test_a_limit_outside_is_decided(self):
        self.assertEqual(self.answer(self.rows(), "p90<40ms")["verdict"], "met")
        self.assertEqual(self.answer(self.rows(), "p90<1ms", status=1)["verdict"], "missed")

    def test_the_greatest_request_decides_a_p99_only_with_enough(self):
        """Below 299 independent requests, all of them may by chance take less than the true p99."""
        self.assertEqual(self.answer(self.rows(290), "p99<1s", status=3)["verdict"], "undecided")
        self.assertEqual(self.answer(self.rows(400), "p99<1s")["verdict"], "met")

    def test_what_failed_counts_on_both_sides(self):
        rows = [r._replace(error="gone") if i % 50 == 0 else r for i, r in enumerate(self.rows(2000))]
        self.assertEqual(self.holds(self.put(rows), rows), 3)
        self.assertEqual(self.answer(rows, "p99<1s", status=3)["verdict"], "undecided")
        self.assertEqual(self.answer(rows, "p90<1s")["verdict"], "met")

    def test_the_mean(self):
        """It is exact, or if requests failed within bounds."""
        rows = self.rows(n=4000, seconds=300)
        path = self.put(rows)
        answer, = self.s3analyze("analyze", "--json", "--slo", "mean<1h", path, status=0).json()["slo"]["assertions"]
        took = durations(rows)
        self.assertAlmostEqual(answer["value"] / (sum(took) / len(took)), 1, delta=1e-6)
        self.assertEqual(answer.get("value_bounds_ns"), None)
        failing = [r._replace(error="gone") if i % 200 == 0 else r for i, r in enumerate(rows)]
        answer, = self.s3analyze("analyze", "--json", "--slo", "mean<1h", self.put(failing), status=0).json()["slo"]["assertions"]
        took = durations(failing)
        least, most = answer["value_bounds_ns"]
        self.assertTrue(least <= sum(took) / len(took) <= most, answer)
        self.assertTrue(answer["lo"] < least < most < answer["hi"], answer)

    def test_text_says_the_same(self):
        path = self.put(self.rows())
        for args in [], ["-v"]:
            self.assertRegex(self.s3analyze("analyze", *args, path).out, r"p90: \S+ to \S+ \(bounds\)")


class CompareTest(Base):
    def run_of(self, name, factor):
        r = random.Random(f"{name}")
        rows = [capgen.row(i * SECOND // 50, i * SECOND // 50 + int(factor * r.lognormvariate(0, .2) * SECOND / 200),
                           thread=i % 4) for i in range(1500)]
        path = self.tmp / f"{name}.json.zst"
        path.write_bytes(aggregates.packed(aggregates.aggregate(rows)))
        return path

    def metric(self, name, *argv):
        op, = self.s3analyze("cmp", "--json", *argv, status=None).json()["operations"]
        return next(m for m in op["metrics"] if m["metric"] == name)

    def test_single_runs(self):
        """What the bounds leave open is no change."""
        m = self.metric("p50", self.run_of("a", 1), self.run_of("b", 1.02))
        least, most = m["before"]["bounds"]
        self.assertIsNone(m["before"]["value"])
        self.assertLess(least, most)
        below, above = m["after"]["bounds"]
        self.assertLessEqual(m["ratio_lo"], below / most)
        self.assertGreaterEqual(m["ratio_hi"], above / least)
        self.assertNotIn(m["verdict"], ("slower", "faster"))

    def test_several_runs(self):
        before = [self.run_of(f"a{i}", 1) for i in range(4)]
        sides = lambda factor: ["--before", *before, "--after", *(self.run_of(f"b{i}", factor) for i in range(4))]
        m = self.metric("p50", *sides(1.05))
        self.assertLessEqual(m["ratio_lo"], 1, "the bounds of each run leave more open than that")
        self.assertNotIn(m["verdict"], ("slower", "faster"))
        self.assertEqual(self.metric("p50", *sides(3))["verdict"], "slower")
        self.s3analyze("cmp", "--gate", "p50:20%", *sides(3), status=1)

    def test_table_and_trend(self):
        paths = [self.run_of(f"r{i}", 1 if i < 6 else 3) for i in range(12)]
        for i, row in enumerate(self.s3analyze("table", "--json", "--no-cache", *paths).json()["rows"]):
            self.assertIsNone(row["p50"]["value"], i)
            self.assertLess(*row["p50"]["bounds"])
        self.assertIn("(bounds)", self.s3analyze("table", "--no-cache", paths[0]).out)


if __name__ == "__main__":
    unittest.main()
