"""Findings are marks on every chart whose horizontal axis is time."""
import csv

from capgen import SECOND, row, text
from harness import CliTest, tool

MS = SECOND // 1000
OVER_TIME = ["throughput", "latency", "latency-heat", "in-flight", "hosts", "clients"]


def requests(error=None, stall_s=None, threads=4, seconds=20):
    made = []
    for thread in range(threads):
        now, k = thread * MS, thread
        while now < seconds * SECOND:
            took = (10 + (k := k * 7 % 5 + 1)) * MS
            if stall_s is not None and now <= stall_s * SECOND < now + took:
                took += 3 * SECOND
            failed = error is not None and error * SECOND <= now < (error + 1) * SECOND
            made.append(row(now, now + took, thread=thread, op="GET", size=4096, host=f"http://h{k % 3}:9000",
                            client=f"c{thread % 2}", error="no such key" if failed else ""))
            now += took
    return text(sorted(made))


def events(path):
    part = next(p for p in path.read_text().split("\n\n\n") if p.startswith("# events"))
    return list(csv.DictReader(part.splitlines()[1:], delimiter="\t"))[1:]


class Marks(CliTest):
    def setUp(self):
        super().setUp()
        tool("gnuplot")

    def drawn(self, content):
        path = self.tmp / "run.csv"
        path.write_bytes(content)
        self.s3analyze("plot", "-q", path, "--out", self.tmp, "--chart", ",".join(OVER_TIME), "--force")
        return [self.tmp / f"{chart}-GET.tsv" for chart in OVER_TIME]

    def test_a_stall_is_a_span_with_its_number(self):
        for data in self.drawn(requests(stall_s=8)):
            with self.subTest(chart=data.name):
                stall, = events(data)
                self.assertEqual((stall["kind"], stall["text"]), ("0", "1: stall"))
                self.assertAlmostEqual(float(stall["from_s"]), 8, delta=.1)
                self.assertAlmostEqual(float(stall["to_s"]), 11, delta=.1)
                self.assertIn(">1: stall<", data.with_suffix(".svg").read_text())

    def test_the_first_error(self):
        for data in self.drawn(requests(error=5)):
            self.assertIn("errors", " ".join(e["text"] for e in events(data)))

    def test_nothing_happened(self):
        for data in self.drawn(requests()):
            self.assertEqual(events(data), [])
            self.assertNotIn(">1 ", data.with_suffix(".svg").read_text())
