"""Intervals: each end is one that could be, the value is within, and --slo has the interval of the report."""

import unittest

from harness import TESTDATA, CliTest

SLO = "throughput>1B/s, rate>0.001, p50<1h, p90<1h, p99<1h, p(99.9)<1h, errors<100%"
PERCENTILES = {"p50<1h": "p50_ns", "p90<1h": "p90_ns", "p99<1h": "p99_ns", "p(99.9)<1h": "p99_9_ns"}


def inputs():
    yield from sorted(TESTDATA.glob("*.csv.zst"))
    yield from sorted((TESTDATA / "builds").glob("*-1.csv.zst"))
    yield from sorted((TESTDATA / "formats").glob("*.zst"))


def estimates(tree, path=""):
    """All objects of a document that have a value and two ends."""
    if isinstance(tree, dict):
        if {"value", "lo", "hi"} <= tree.keys() and tree["value"] is not None:
            yield path, tree
        for key, x in tree.items():
            yield from estimates(x, f"{path}.{key}")
    elif isinstance(tree, list):
        for i, x in enumerate(tree):
            yield from estimates(x, f"{path}[{i}]")


class Intervals(CliTest):
    def reports(self, *slo):
        for path in inputs():
            args = [x for s in slo for x in ("--slo", s)]
            r = self.s3analyze("analyze", "-q", "--json", *args, path, status=None)
            if r.out:
                yield path, r.json()

    def ends(self, x, least, most, where):
        lo, hi = (x["value"] if end is None else end for end in (x["lo"], x["hi"]))
        self.assertLessEqual(lo, x["value"], where)
        self.assertLessEqual(x["value"], hi, where)
        self.assertLessEqual(least, lo, where)
        self.assertLessEqual(hi, most, where)

    def test_ends_that_could_be(self):
        n = 0
        for path, report in self.reports(SLO):
            slowest = [x["slowest_ns"] for op in report["operations"] for q in [op.get("requests") or {}]
                       for x in (q, q.get("all_sizes"), q.get("response_time")) if x and x.get("slowest_ns")]
            longest = max(slowest, default=float("inf"))
            for where, x in estimates(report):
                of_times = where.endswith("_ns") or "<1h" in x.get("assertion", "")
                fraction = "error" in where or x.get("assertion", "").startswith("errors")
                self.ends(x, 0, 1 if fraction else longest if of_times else float("inf"), (path, where, x))
                n += 1
        self.assertGreater(n, 400)

    def test_an_end_that_is_not_known_is_not_the_limit(self):
        """A percentile that few requests show may still be on one side of a limit. It has no end there."""
        n = 0
        for _, report in self.reports(*(f"p(99.9)<{ms}ms, p(99.9)>{ms}ms" for ms in (1, 40, 200, 2000))):
            for x in report["slo"]["assertions"]:
                n += x["hi"] is None and x["verdict"] == ("met" if "<" in x["assertion"] else "missed")
                for end in "lo", "hi":
                    if x[end] is not None:
                        self.assertGreater(abs(x[end] - x["limit"]), 1e-6, x)
        self.assertGreater(n, 0)

    def test_one_interval_for_one_figure(self):
        n = 0
        for path, report in self.reports():
            for op in report["operations"]:
                st = op.get("statistics")
                if st is None:
                    continue
                r = self.s3analyze("analyze", "-q", "--json", "--slo", f"{op['op']}: {SLO}", path, status=None).json()
                for x in r["slo"]["assertions"]:
                    if x["assertion"] in PERCENTILES:
                        of, per = st["duration"] and st["duration"][PERCENTILES[x["assertion"]]], 1
                    else:
                        of, per = {"t": (st["bytes_per_s"], 1), "r": (st["objects_per_s"], op["objects_per_op"])}.get(
                            x["assertion"][0], (None, 1))
                        of = of and of["mean"]
                    if of is None or x["of_response_time"] or x["value"] is None:
                        continue
                    for end in "value", "lo", "hi":
                        if end == "hi" and "more requests failed" in (x["why"] or ""):
                            continue
                        self.assertFalse(x[end] is None and of[end] is not None, (x, of))
                        if of[end] is not None:  # of a percentile the report has both ends or none
                            self.assertAlmostEqual(x[end] * per, of[end], delta=1e-9 * of[end], msg=(end, x, of))
                    n += x["lo"] is not None
        self.assertGreater(n, 20)


if __name__ == "__main__":
    unittest.main()
