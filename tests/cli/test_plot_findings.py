"""Findings are marks on every chart whose horizontal axis is time."""
import csv
import re

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


def two_stalls():
    """Of 1.4 s each, .4 s apart in a run of a minute."""
    made = []
    for thread in range(8):
        now, k = thread * MS, thread
        while now < 60 * SECOND:
            took = (10 + (k := k * 7 % 5 + 1)) * MS
            for start in (20000 * MS, 21800 * MS):
                if now < start + 1400 * MS and now + took > start:
                    took = start + 1400 * MS - now + k * MS
            made.append(row(now, now + took, thread=thread, op="GET", size=4096))
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

    def test_stalls_close_to_each_other(self):
        """The earlier name is above, where the later one has no line; on the page lines pass below the numbers."""
        path = self.tmp / "run.csv"
        path.write_bytes(two_stalls())
        self.s3analyze("plot", "-q", path, "--out", self.tmp, "--chart", "throughput", "--force")
        data = self.tmp / "throughput-GET.tsv"
        by_time = [e["text"] for e in sorted(events(data), key=lambda e: float(e["from_s"]))]
        self.assertEqual(len(by_time), 2, by_time)
        drawing = data.with_suffix(".svg").read_text()
        rows = [float(re.search(r"translate\([^,]+,([0-9.]+)\)[^>]*>\s*<text><?[^<]*>?" + re.escape(t) + "<", drawing)[1])
                for t in by_time]
        self.assertLess(rows[0] + 10, rows[1])
        self.s3analyze("analyze", "-q", "--html", self.tmp / "page.html", path)
        timeline = re.search(r'<svg class="timeline wide".*?</svg>', (self.tmp / "page.html").read_text(), re.S)[0]
        self.assertEqual(timeline.count("<circle"), 2)
        self.assertLess(timeline.rindex('<path class="mark'), timeline.index("<circle"))
