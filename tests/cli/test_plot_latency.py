"""Charts of latency and of errors: their data are those of the analysis."""
import random

from capgen import SECOND, row, text
from harness import CliTest, tool
from test_plot import blocks, number

MS = SECOND // 1000


def spread(n=3000, hosts=3, sizes=(4096,), threads=4, errors=()):
    r, made, free = random.Random(7), [], [0] * threads
    for i in range(n):
        t = i % threads
        took = int(MS * r.lognormvariate(1, .6)) * (4 if i % hosts == 1 else 1)
        made.append(row(free[t], free[t] + took, thread=t, op="GET", size=r.choice(sizes), file=f"k{i}",
                        host=f"http://node-{i % hosts}.store.example:9000",
                        error=errors[i % len(errors)] if errors and i % 5 == 0 else ""))
        free[t] += took
    return text(sorted(made))


class Latency(CliTest):
    def setUp(self):
        super().setUp()
        tool("gnuplot")

    def drawn(self, chart, content, *args):
        path = self.tmp / "run.csv"
        path.write_bytes(content)
        self.s3analyze("plot", "-q", path, "--out", self.tmp, "--chart", chart, "--force", *args)
        data = self.tmp / f"{chart}-GET.tsv"
        return blocks(data), data.with_suffix(".svg").read_text()

    def test_spectrum(self):
        data, _ = self.drawn("spectrum", spread())
        duration = self.s3analyze("analyze", "--json", self.tmp / "run.csv").json()["operations"][0]["statistics"]["duration"]
        rows = data["durations"]
        for nines, name in (1, "p90_ns"), (2, "p99_ns"):
            point = min(rows, key=lambda x: abs(number(x["nines"]) - nines))
            for column, key in ("ms", "value"), ("lo_ms", "lo"), ("hi_ms", "hi"):
                self.assertAlmostEqual(number(point[column]) * 1e6 / duration[name][key], 1, delta=.15 if key != "value" else .01)
        for column in "ms", "lo_ms", "hi_ms":
            values = [number(x[column]) for x in rows if x[column] != "NaN"]
            self.assertEqual(values, sorted(values))
        self.assertEqual([m["label"].split()[0] for m in data["marks"]], ["p50", "p90", "p99", "p99.9", "max"])

    def test_open_loops_draw_response_times(self):
        lines = spread(400).decode().splitlines()
        first = lines[1].split("\t")[lines[0].split("\t").index("start")]
        # All requests were due at once, and waited for each other.
        late = ("\n".join(line + "\t" + (first if i else "intended") for i, line in enumerate(lines)) + "\n").encode()
        data, picture = self.drawn("spectrum", late)
        self.assertIn("response time", picture)
        self.assertIn("service time", picture)
        service = number(data["service"][-1]["ms"])
        self.assertGreater(number(data["durations"][-1]["ms"]), 5 * service)
        for chart, index, column in ("cdf", "durations", "ms"), ("latency", "series", "max_ms"), ("latency-heat", "heat", "from_ms"):
            with self.subTest(chart=chart):
                data, picture = self.drawn(chart, late)
                self.assertIn("response time", picture)
                self.assertGreater(max(number(r[column]) for r in data[index] if r[column] != "NaN"), 4 * service)

    def test_hosts(self):
        data, picture = self.drawn("host-latency", spread())
        hosts = self.s3analyze("analyze", "--json", self.tmp / "run.csv").json()["operations"][0]["requests"]["hosts"]
        wanted = sorted(((h["p50_ns"], h["host"]) for h in hosts), reverse=True)
        self.assertEqual([(round(number(r["p50_ms"]) * 1e6), f"http://node-{r['name']}.store.example:9000")
                          for r in data["hosts"]], wanted)
        self.assertEqual(data["chart"][0]["shared"], "http://node-*.store.example:9000")
        self.assertEqual(data["hosts"][0]["is_slow"], "1")
        self.assertIn("http://node-*.store.example:9000", picture)

    def test_many_hosts(self):
        data, picture = self.drawn("host-latency", spread(n=4000, hosts=100))
        self.assertEqual([r["name"] for r in data["hosts"]][-1], "80 more")
        self.assertEqual(len(data["hosts"]), 21)
        self.assertIn(">80 more<", picture)

    def test_sizes(self):
        data, _ = self.drawn("latency-size", spread(sizes=(100, 5000, 70000)))
        report = self.s3analyze("analyze", "--json", self.tmp / "run.csv").json()["operations"][0]["requests"]
        self.assertEqual(sum(int(r["requests"]) for r in data["density"]), report["n"])
        self.assertEqual(len({r["size_bucket"] for r in data["density"] if r["requests"] != "0"}), 3)

    def test_errors_by_message(self):
        messages = ["first", "second", "third", "fourth"]
        data, picture = self.drawn("errors", spread(errors=messages))
        shown = [(m["text"], int(m["n"])) for m in data["messages"]]
        self.assertEqual([len(shown), shown[-1][0], sum(n for _, n in shown)], [3, "others", 600])
        self.assertEqual(sum(int(b["hi"]) - int(b["lo"]) for b in data["bars"]), 600)
        self.assertIn(">others<", picture)

    def test_operations_are_not_pooled(self):
        made = [row(i * MS, i * MS + (3 if i % 2 else 40) * MS, thread=i % 50, op="GET" if i % 2 else "DELETE", size=0)
                for i in range(2000)]
        path = self.tmp / "mixed.csv"
        path.write_bytes(text(made))
        self.s3analyze("plot", "-q", path, "--out", self.tmp / "charts")
        drawn = {p.name for p in (self.tmp / "charts").glob("*.svg")}
        self.assertIn("throughput-all.svg", drawn)
        self.assertLessEqual({"spectrum-GET.svg", "spectrum-DELETE.svg", "latency-GET.svg"}, drawn)
        self.assertEqual(drawn & {f"{c}-all.svg" for c in ("spectrum", "cdf", "latency", "latency-heat")}, set())
