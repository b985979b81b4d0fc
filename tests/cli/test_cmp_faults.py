"""A comparison whose runs hold a fault says so in its answer, which comes first."""
import re

from capgen import SECOND, row, text
from harness import CliTest

MS = SECOND // 1000


def rows(stall_s=None, size=4096, threads=4, seconds=20, slow_s=0):
    """Requests of 10 to 14 ms; three times that up to slow_s; those under way at the stall last 3 s longer."""
    made = []
    for thread in range(threads):
        now, k = thread * MS, thread
        while now < seconds * SECOND:
            took = (10 + (k := k * 7 % 5 + 1)) * MS * (3 if now < slow_s * SECOND else 1)
            if stall_s is not None and now <= stall_s * SECOND < now + took:
                took += 3 * SECOND
            made.append(row(now, now + took, thread=thread, op="GET", size=size))
            now += took
    return sorted(made)


class Faults(CliTest):
    def written(self, name, **how):
        path = self.tmp / f"{name}.csv"
        path.write_bytes(text(rows(**how)))
        return path

    def first(self, *args):
        """The answer, in one line."""
        out = self.s3analyze("cmp", *args).out
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        return " ".join(out.split("\n\n")[0].split())

    def test_a_stall_is_named_first(self):
        a, b = self.written("a"), self.written("b", stall_s=8)
        out = self.s3analyze("cmp", a, b).out
        self.assertRegex(out, r"\n1 of 2 runs had a problem.*\n(  .*\n)? \* Problem: after: Stalled for 3.\d*s ")
        report = self.s3analyze("cmp", "--json", a, b).json()
        self.assertEqual(report["n_faulty_runs"], 1)
        self.assertEqual(report["before"]["runs"][0]["findings"], [])
        self.assertEqual(report["after"]["runs"][0]["findings"][0]["kind"], "stall")
        get = report["operations"][0]
        with_fault = next(m["ratio"] for m in get["metrics"] if m["metric"] == "throughput")
        self.assertLess(with_fault, .9)
        self.assertEqual(get["without_faults"]["metric"], "throughput")
        self.assertAlmostEqual(get["without_faults"]["ratio"], 1, delta=.01)
        ratio, lo, hi = (get["without_faults"][k] for k in ("ratio", "lo", "hi"))
        self.assertTrue(.97 < lo < ratio < hi < 1.03, (lo, ratio, hi))
        change, low, high = (f"{100 * (x - 1):+.2f} %" for x in (ratio, lo, hi))
        self.assertIn(f"difference of GET throughput is {change} ({low} to {high}) instead of", " ".join(out.split()))
        markdown = self.s3analyze("cmp", "--markdown", a, b).out
        self.assertIn(" 1 of 2 runs had a problem.", markdown.splitlines()[0])
        self.assertIn("- **Problem: after: Stalled for 3", markdown)
        self.assertRegex(self.first(a, b), r"^GET: .*\. 1 of 2 runs had a problem\.$")

    def test_a_rise_ends_its_fault(self):
        """A run that is slow at first and then as fast as the other: without the fault they are the same."""
        a, b = self.written("a"), self.written("b", slow_s=6)
        report = self.s3analyze("cmp", "--json", a, b).json()
        self.assertIn("rise", [f["kind"] for f in report["after"]["runs"][0]["findings"]])
        self.assertAlmostEqual(report["operations"][0]["without_faults"]["ratio"], 1, delta=.02)

    def test_several_runs_name_the_file(self):
        a, b = [self.written(f"a{i}", seconds=9 + i) for i in range(2)], self.written("b", stall_s=4)
        out = self.s3analyze("cmp", "--before", *a, "--after", b, self.written("c")).out
        self.assertRegex(" ".join(out.split()), r" 1 of 4 runs had a problem.* Problem: after, \S*b.csv: Stalled")

    def test_nothing_succeeds(self):
        """Neither the answer nor a gate calls this undecided, and a run that is in no figure is named."""
        good = [self.written(f"good{i}", seconds=4 + i / 8) for i in range(6)]
        bad = self.tmp / "bad.csv"
        bad.write_bytes(text([r._replace(error="gone", bytes=0) for r in rows(seconds=4)]))
        self.assertRegex(self.first(good[0], bad), "^GET: no request of after succeeded. 1 of 2 runs had a problem.$")
        self.assertRegex(self.first(bad, good[0]), "^GET: no request of before succeeded. 1 of 2 runs had a problem.$")
        gate = ("--gate", "throughput:5%")
        self.assertIn("Gate: not passed.", self.s3analyze("cmp", good[0], bad, *gate, status=1).out)
        self.assertIn("Gate: undecided.", self.s3analyze("cmp", bad, good[0], *gate, status=3).out)
        among = self.s3analyze("cmp", "--before", *good[:3], "--after", *good[3:], bad, *gate, status=1).out
        self.assertIn("GET: in 1 of 4 runs of after no request succeeded", " ".join(among.split()))

    def test_errors_are_in_the_answer(self):
        """Also if throughput and latency did not change."""
        good = self.written("good")
        bad = self.tmp / "bad.csv"
        bad.write_bytes(text([r._replace(error="gone", bytes=0) if i % 4 == 0 else r
                              for i, r in enumerate(rows(threads=4))]))
        self.assertRegex(self.first(good, bad), r"^GET: .*\. Errors: 0 -> 25\S* %, \+25\.0 points\. 1 of")
        self.assertRegex(self.first(bad, good), r"^GET: .*\. Errors: 25\S* -> 0 %, -25\.0 points\. 1 of")

    def test_no_fault(self):
        a, b = self.written("a"), self.written("b", threads=5)
        report = self.s3analyze("cmp", "--json", a, b).json()
        self.assertEqual((report["n_faulty_runs"], report["operations"][0]["without_faults"]), (0, None))
        self.assertEqual(report["answer"], self.first(a, b))
        self.assertNotIn("problem", self.s3analyze("cmp", a, b).out)

    def test_p_as_benchstat_writes_it(self):
        runs = [self.written(f"r{i}", seconds=3 + i / 8) for i in range(8)]
        out = self.s3analyze("cmp", "--before", *runs[::2], "--after", *runs[1::2]).out
        self.assertRegex(out, r"~ \(p=\d\.\d{3} n=4\)\n")
        out = self.s3analyze("cmp", "--before", *runs[::2], "--after", *runs[1:7:2]).out
        self.assertIn("n=4+3)", out)

    def test_other_sizes(self):
        a, b = self.written("a"), self.written("b", size=65536)
        metrics = self.s3analyze("cmp", "--json", a, b).json()["operations"][0]["metrics"]
        self.assertEqual([(m["metric"], m["exploratory"]) for m in metrics[:2]],
                         [("objects", False), ("throughput", True)])
        out = self.s3analyze("cmp", a, b).out
        self.assertIn("\n * Object size: 4KiB -> 64KiB (limits the comparison)\n", out)
        self.assertIn("Object sizes differ: objects/s are compared", out)
        self.assertRegex(self.first(a, b), r"^GET: .* obj/s, .* Object sizes differ, so bytes/s are not judged\. "
                                             r"The sides differ: object size 4KiB -> 64KiB\.$")

    def test_nothing_is_claimed_of_too_little(self):
        a, b = self.written("a", seconds=1, threads=1), self.written("b", seconds=1, threads=1)
        out = self.s3analyze("cmp", "--to", "200ms", a, b).out
        self.assertIn("not enough data", out)
        self.assertNotRegex(out, r"[+-]\d+(\.\d+)?%")

    def test_gates_are_those_of_the_help(self):
        a, b = self.written("a"), self.written("b")
        said = self.s3analyze("cmp", "--gate", "nothing:5%", a, b, status=2).err
        names = re.search(r"nothing:5%: (.*), then", said)[1]
        for name in [*re.split(", | or ", names), "ttfb_p50"]:
            self.assertNotEqual(self.s3analyze("cmp", "--gate", f"{name}:5%", a, a, status=None).status, 2)
        self.assertIn(names, " ".join(self.s3analyze("--dump-man", "s3analyze-cmp").out.split()))
