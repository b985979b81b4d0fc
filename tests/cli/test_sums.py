"""Sums of a run (s3analyze aggregate): analyze reports the same of them as of the capture, and merge adds them up."""
import json
import random
import re

import capgen
import zstd
from capgen import Shape, simulate
from harness import CliTest, capture, captures
from oracle import SECOND

EXACT = ["n_requests", "n_errors", "n_objects", "n_bytes", "objects_per_op", "concurrency", "n_hosts", "n_clients", "start",
         "end", "errors", "requests"]
WITHIN = 0.001
IS_QUANTILE = re.compile(r"\.(p\d+_ns|\w*bytes_per_s)$")
NOT_IN_SUMS = ("first_access", "last_access")


def differences(expected, got, at=""):
    """The paths at which two reports differ; quantiles may be off by a thousandth."""
    if isinstance(expected, dict) and isinstance(got, dict):
        if expected.keys() != got.keys():
            return [at + ": keys"]
        return [d for k in expected if k not in NOT_IN_SUMS for d in differences(expected[k], got[k], f"{at}.{k}")]
    if isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            return [at + ": lengths"]
        return [d for i, (x, y) in enumerate(zip(expected, got)) for d in differences(x, y, f"{at}[{i}]")]
    if expected == got:
        return []
    if IS_QUANTILE.search(at) and isinstance(got, (int, float)) and abs(got - expected) <= WITHIN * expected + 0.001:
        return []
    return [f"{at}: {expected} {got}"]


SHAPES = {
    "plain": Shape(n=400),
    "mixed": Shape(n=600, ops=("GET", "PUT", "STAT"), sizes=(0, 65536), hosts=3, clients=2),
    "errors": Shape(n=400, error_frac=0.2, hosts=2),
    "sizes": Shape(n=500, sizes=(0, 1, 5, 99, 2000, 70000, 5 << 20, 3 << 30), ops=("PUT", "GET"), phases=True),
    "objects": Shape(n=300, ops=("LIST",), n_objects=(0, 1, 7, 1000), sizes=(0,)),
    "odd": Shape(n=300, zero_frac=0.2, long_frac=0.1, grid_ns=SECOND // 4, stray_frac=0.1),
}


class SumsTest(CliTest):
    def put(self, name, rows, **kwargs):
        path = self.tmp / f"{name}.csv.zst"
        path.write_bytes(zstd.frame(capgen.text(rows, **kwargs)))
        return path

    def sums(self, *paths, name="x.sums.zst"):
        out = self.tmp / name
        self.s3analyze("aggregate", "--quiet", "--force", "--together", "-o", out, *paths)
        return out

    def analyze(self, *argv):
        return self.s3analyze("analyze", "--quiet", "--json", *argv).json()

    def document(self, path):
        return json.loads(zstd_text(path))


def bare(path):
    """The text of sums without intervals of percentiles, which a merge drops."""
    return re.sub(r',"intervals":\[[^]]*\]', "", zstd_text(path))


def zstd_text(path):
    return zstd.decodable(path.read_bytes()).decode()


class AsTheCapture(SumsTest):
    def check(self, capture):
        of_rows = self.analyze("--range", "full", capture)
        of_sums = self.analyze(self.sums(capture))
        self.assertEqual(of_rows["n_rows"], of_sums["n_rows"])
        self.assertEqual(of_rows["mixed"], of_sums["mixed"])
        self.assertEqual([op["op"] for op in of_rows["operations"]], [op["op"] for op in of_sums["operations"]])
        found = []
        for x, y in zip(of_rows["operations"], of_sums["operations"]):
            found += [d for k in EXACT for d in differences(x[k], y[k], f"{x['op']}.{k}")]
            for k in "hosts", "clients":
                without = lambda p: [{a: b for a, b in v.items() if a not in ("throughput", "segments")} for v in p]
                found += differences(without(x[k]), without(y[k]), f"{x['op']}.{k}")
        self.assertEqual(found, [], str(capture))

    def test_simulated(self):
        for name, shape in SHAPES.items():
            with self.subTest(name):
                self.check(self.put(name, simulate(7, shape)))

    def test_generations(self):
        rows = simulate(3, Shape(n=120, error_frac=0.1))
        for generation in range(5):
            with self.subTest(generation):
                self.check(self.put(f"g{generation}", rows, generation=generation))

    def test_captures(self):
        for name in captures():
            with self.subTest(name):
                self.check(capture(name))


class Seconds(SumsTest):
    """Compares the series with what follows from the rows."""

    def test_spread(self):
        rows = simulate(11, SHAPES["odd"])
        second = self.document(self.sums(self.put("s", rows)))["operations"][0]["seconds"]
        first = min(r.start for r in rows) // SECOND
        self.assertEqual(second["first"], first)
        n = max(r.end for r in rows) // SECOND + 1 - first
        self.assertEqual(second["n"], n)
        bytes_, busy, ended = [0] * n, [0] * n, [0] * n
        for r in rows:
            ended[r.end // SECOND - first] += 1
            done = 0
            for k in range(n):
                a, b = (first + k) * SECOND, (first + k + 1) * SECOND
                busy[k] += max(0, min(b, r.end) - max(a, r.start))
                if r.end // SECOND - first == k:
                    share = r.bytes
                else:
                    share = r.bytes * max(0, min(b, r.end) - r.start) // max(1, r.end - r.start)
                if r.start // SECOND - first <= k <= r.end // SECOND - first:
                    bytes_[k] += share - done
                    done = share
        self.assertEqual(second["bytes"], bytes_)
        self.assertEqual(second["busy_ns"], busy)
        self.assertEqual(second["ended"], ended)
        self.assertEqual(sum(second["bytes"]), sum(r.bytes for r in rows))

    def test_segments_on_whole_seconds_are_those_of_the_capture(self):
        """If all threads begin and end their first and last requests on a second, the ranges are the same."""
        rows = capgen.steady(80, threads=3, every=SECOND // 8, size=800)
        rows = [r._replace(start=r.start - r.thread, end=r.end + 1000 - r.thread) for r in rows]
        path = self.put("s", rows)
        x, y = (self.analyze("--dur", "2s", p)["operations"][0] for p in (path, self.sums(path)))
        self.assertEqual(y["segments"]["median"]["bytes_per_s"], 3 * 8 * 800)
        self.assertEqual(x["segments"]["median"]["bytes_per_s"], y["segments"]["median"]["bytes_per_s"])

    def test_page_of_many_segments(self):
        """Bins are several segments each; the last one holds fewer, and no more than these."""
        path = self.put("long", capgen.steady(511, threads=2, every=SECOND // 2 + 10**8))
        page = self.tmp / "page.html"
        self.s3analyze("analyze", "--quiet", "--range", "full", "--analyze.dur", "1s", "--html", page,
                       self.sums(path))
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)[1]
        course = json.loads(data)["course"]["series"][0]
        n = len(course["throughput"])
        self.assertLess((course["end_ms"] - course["start_ms"]) / course["bin_ms"], n)
        self.assertGreater(course["bin_ms"], 1000)
        for rate, in_flight in zip(course["throughput"], course["in_flight"]):
            self.assertAlmostEqual(rate, 2000 / 0.6, delta=200)
            self.assertAlmostEqual(in_flight, 2, delta=0.1)

    def test_series(self):
        sums = self.sums(self.put("s", simulate(5, SHAPES["mixed"])))
        out = self.tmp / "s.ndjson"
        self.s3analyze("analyze", "--quiet", "--analyze.all", "--analyze.out.total", "--out", out, sums)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        operations = self.document(sums)["operations"]
        for op in operations:
            of_op = [r for r in rows if r["op"] == op["op"]]
            self.assertEqual(sum(r["bytes"] for r in of_op if r["host"] == ""), op["n_bytes"])
            self.assertEqual(sum(r["bytes"] for r in of_op if r["host"] != ""), op["n_bytes"])
            self.assertEqual(sum(r["ops_ended"] for r in of_op if r["host"] == ""), op["n_requests"])
        self.assertEqual(sum(r["bytes"] for r in rows if r["op"] == "" and r["host"] == ""),
                         sum(op["n_bytes"] for op in operations))
        self.assertTrue(all(r["p50_ms"] is None and r["full_ops"] is None for r in rows))


class Merging(SumsTest):
    def test_merge_of_sums_is_sums_of_the_merge(self):
        """Byte for byte, whatever the order, but for the intervals."""
        shapes = [SHAPES["mixed"], SHAPES["errors"], SHAPES["sizes"], SHAPES["odd"]]
        paths = [self.put(str(i), simulate(20 + i, s), generation=i + 1) for i, s in enumerate(shapes)]
        merged = self.tmp / "merged.csv.zst"
        self.s3analyze("merge", "--quiet", "--force", "-o", merged, *paths)
        expected = bare(self.sums(merged, name="expected"))
        parts = [self.sums(p, name=f"{i}.sums") for i, p in enumerate(paths)]
        for seed in range(3):
            random.Random(seed).shuffle(parts)
            out = self.tmp / f"out{seed}"
            self.s3analyze("merge", "--quiet", "-o", out, *parts)
            self.assertEqual(zstd_text(out), expected)
        self.assertEqual(bare(self.sums(*paths)), expected)
        self.assertEqual(self.analyze(*parts)["operations"], self.analyze(out)["operations"])

    def test_rows_are_added_up_in_portions(self):
        """Several tasks add up the requests of one operation in the merged file, one task those of each file alone."""
        paths = [self.tmp / f"{name}.csv" for name in "ab"]
        head, *rows = capgen.text(simulate(2, Shape(n=700, hosts=3, sizes=(1000, 900000), error_frac=0.1))).splitlines()
        for name, path in zip(b"ab", paths):
            clients = [b"%c%d\t" % (name, i) for i in range(100)]
            path.write_bytes(b"\n".join([head] + [row.replace(b"c0\t", c) for c in clients for row in rows]) + b"\n")
        parts = [self.sums(p, name=f"{p.name}.sums") for p in paths]
        out = self.tmp / "out"
        self.s3analyze("merge", "--quiet", "--force", "-o", out, *parts)
        self.assertEqual(zstd_text(out), bare(self.sums(*paths)))

    def test_refused(self):
        a = self.sums(self.put("a", simulate(1, SHAPES["plain"])), name="a.sums")
        late = [capgen.row(at * SECOND, at * SECOND + 1000) for at in range(3600, 3650)]
        b = self.sums(self.put("b", late), name="b.sums")
        out = self.tmp / "out"
        for argv, words in [([a, a], "the same file|hold the same sums"), ([a, b], "overlaps in time with no other"),
                            ([a, self.tmp / "a.csv.zst"], "no file of sums"), (["--shift", "2=1s", a, b], "--shift")]:
            r = self.s3analyze("merge", "-o", out, *argv, status=None)
            self.assertNotEqual(r.status, 0)
            self.assertRegex(" ".join(r.err.split()), words)
            self.assertFalse(out.exists())
        copy = self.tmp / "copy.sums"
        copy.write_bytes(a.read_bytes())
        self.assertIn("hold the same sums", " ".join(self.s3analyze("merge", "-o", out, a, copy, status=1).err.split()))
        self.s3analyze("merge", "--force", "-o", out, a, b)
        self.assertEqual(self.document(out)["operations"][0]["n_requests"], 450)


class Recorded(SumsTest):
    """The comments of s3load are kept."""

    def run_of(self, name, i, concurrent):
        say = lambda o: "# s3load/1 " + json.dumps(o) + "\n"
        text = capgen.text(simulate(30 + i, SHAPES["plain"])).decode()
        head, rest = text.split("\n", 1)
        path = self.tmp / f"{name}.csv"
        settings = {"concurrent": concurrent, "tls": False, "multi_delete": i}
        path.write_text(head + "\n" + rest + say({"event": "start", "run_id": name, "command_line": "s3load get --autoterm",
                                                "settings": settings})
                        + say({"event": "end", "end": "done", "bench_ns": i, "requests": 400, "errors": 0, "connects": 3,
                               "client_bound": i == 1, "max_thread_cpu_pct": 99}))
        return path

    def test_said(self):
        paths = [self.run_of(f"r{i}", i, 4) for i in range(3)]
        parts = [self.sums(p, name=f"{p.name}.sums") for p in paths]
        merged, out = self.tmp / "merged.csv", self.tmp / "merged.sums"
        self.s3analyze("merge", "--quiet", "--force", "-o", merged, *paths)
        self.s3analyze("merge", "--quiet", "--force", "-o", out, *reversed(parts))
        self.assertEqual(bare(self.sums(merged)), zstd_text(out))
        of_rows, of_sums = self.analyze("--together", merged), self.analyze(out)
        self.assertEqual(of_rows["inputs"][0]["recorded"], of_sums["inputs"][0]["recorded"])
        self.assertEqual(of_sums["inputs"][0]["recorded"]["n_runs"], 3)
        self.assertIn("generator-bound", [f["kind"] for f in of_sums["findings"]])
        r = self.s3analyze("cmp", "--json", parts[0], paths[1]).json()
        self.assertEqual([(o["option"], o["before"], o["after"]) for o in r["differing_options"]], [("multi_delete", "0", "1")])


class Refused(SumsTest):
    def test_options_and_commands_that_need_requests(self):
        sums = self.sums(self.put("s", simulate(1, SHAPES["plain"])))
        for option in (["--host", "h0"], ["--client", "c0"], ["--from", "1s"], ["--skip", "1s"], ["--steady"],
                       ["--range", "single"], ["--dur", "1500ms"], ["--co-interval", "10ms"]):
            r = self.s3analyze("analyze", *option, sums, status=1)
            self.assertEqual(r.out, "")
            self.assertIn("x.sums.zst", r.err)
        for command in (["cat", sums], ["autoterm", sums], ["aggregate", "-o", self.tmp / "q", sums]):
            r = self.s3analyze(*command, status=1)
            self.assertIn("holds sums by second, not requests", " ".join(r.err.split()))

    def test_odd_captures(self):
        """Names that are not UTF-8, two of which become equal when converted."""
        content = capgen.text(simulate(3, Shape(n=60, hosts=3, error_frac=0.3)))
        for k, byte in (b"h1", b"\xff1"), (b"h2", b"\xfe1"), (b"not found", b"\xff gone"):
            content = content.replace(k, byte)
        path = self.tmp / "odd.csv"
        path.write_bytes(content)
        op, = self.document(self.sums(path))["operations"]
        self.assertEqual([h["name"] for h in op["hosts"]], ["http://h0:9000", "http://\ufffd1:9000"])
        self.analyze(self.sums(path))
        cut = self.tmp / "cut.csv"
        cut.write_bytes(content[:-40])
        out = self.tmp / "cut.sums"
        self.s3analyze("aggregate", "--salvage", "-o", out, cut)
        self.assertGreater(self.analyze(out)["n_rows"], 50)

    def test_failed_request_of_many_objects(self):
        rows = simulate(1, SHAPES["plain"])
        rows.append(capgen.row(SECOND, SECOND + 1, error="gone", n_objects=(1 << 63) - 1))
        document = self.document(self.sums(self.put("s", rows)))
        self.assertEqual(sum(op["n_errors"] for op in document["operations"]), 1 + sum(1 for row in rows[:-1] if row.error))

    def test_what_the_reader_refuses(self):
        last = (1 << 63) // SECOND * SECOND - capgen.START
        late = [capgen.row(last - k * SECOND, last - k * SECOND + 1000) for k in range(9)]
        long = [capgen.row(at * SECOND, at * SECOND + 1000, op="G" * 70000) for at in range(9)]
        out = self.tmp / "out"
        for rows, words in (late, "year 2262"), (long, "a name of more than 65536 bytes"):
            r = self.s3analyze("aggregate", "-o", out, self.put("s", rows), status=1)
            self.assertIn(words, " ".join(r.err.split()))
            self.assertFalse(out.exists())
        many = [self.sums(self.put("s", [capgen.row(at * SECOND, at * SECOND + n, op=f"{n}-{at}") for at in range(600)]),
                          name=f"{n}.sums") for n in (1, 2)]
        r = self.s3analyze("merge", "-o", out, *many, status=1)
        self.assertIn("more than 1000 operations", " ".join(r.err.split()))

    def test_info(self):
        path = self.put("s", simulate(1, SHAPES["mixed"]))
        a, b = self.s3analyze("info", "--json", path, self.sums(path)).json()["captures"]
        self.assertEqual([a["generation"], b["generation"]], ["g4", "sums"])
        for key in b:
            if key not in ("path", "generation", "n_file_bytes"):
                self.assertEqual(a[key], b[key], key)
        self.assertRegex(self.s3analyze("info", self.sums(path)).out, "sums by second(.|\\n)*PUT")

    def test_output(self):
        path = self.put("s", simulate(1, SHAPES["plain"]))
        before = path.read_bytes()
        self.s3analyze("aggregate", "-o", path, path, status=2)
        self.assertEqual(path.read_bytes(), before)
        self.s3analyze("aggregate", path, status=2)
        other = self.tmp / "other"
        other.write_bytes(b"mine")
        self.s3analyze("aggregate", "-o", other, path, status=1)
        self.assertEqual(other.read_bytes(), b"mine")


class Damage(SumsTest):
    def document_of(self, shape="mixed", n=60):
        return self.document(self.sums(self.put("s", simulate(9, Shape(n=n, ops=("GET", "PUT"), hosts=2, error_frac=0.1)))))

    def look(self, content):
        path = self.tmp / "damaged.zst"
        path.write_bytes(content)
        r = self.s3analyze("analyze", "--quiet", "--json", path, status=None)
        self.assertIn(r.status, (0, 1))
        if r.status == 1:
            self.assertEqual(r.out, "")
            self.assertRegex(r.err, "damaged.zst:(1:)? ")  # a file that is cut early looks like a capture
        return r

    def test_prefixes(self):
        content = self.sums(self.put("s", simulate(9, Shape(n=40)))).read_bytes()
        for n in range(40, len(content), 97):
            self.assertEqual(self.look(content[:n]).status, 1)

    def test_changed_numbers(self):
        """Any changed number is refused, unless nothing else depends on it."""
        text = json.dumps(self.document_of(), separators=(",", ":"))
        numbers = [m.span() for m in re.finditer(r"(?<=[:,\[])\d+", text)]
        r = random.Random(1)
        n_refused = 0
        for at, end in r.sample(numbers, 60):
            value = r.choice(["0", "-1", "1e3", "1.5", "9223372036854775807", "9" * 30, "null", "true", '"1"', "[]", "{}",
                              str(int(text[at:end]) + 1)])
            n_refused += self.look((text[:at] + value + text[end:]).encode()).status
        self.assertGreater(n_refused, 45)

    def test_sums_that_do_not_add_up(self):
        document = self.document_of()
        op = document["operations"][0]
        for path, words in [(("n_requests",), "numbers of values"), (("n_bytes",), "do not add up"),
                            (("hosts", 0, "n_errors"), ""), (("seconds", "bytes", 0), "bytes do not add up"),
                            (("errors", 0, "n"), "errors do not add up"), (("duration_ns", "sum"), ""),
                            (("duration_ns", "counts", 0), "counts do not add up"),
                            (("duration_ns", "buckets", 0), ""), (("sizes", 0, "min_bytes"), "no such class"),
                            (("start_ns",), "") if op["start_ns"] % SECOND == SECOND - 1 else (("end_ns",), "")]:
            changed = json.loads(json.dumps(document))
            at = changed["operations"][0]
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] += SECOND if path[-1] in ("start_ns", "end_ns") else 7
            r = self.look(json.dumps(changed, separators=(",", ":")).encode())
            self.assertEqual(r.status, 1, path)
            self.assertIn(words, " ".join(r.err.split()))

    def move(self, at, key):
        most = at[key].index(max(at[key]))
        at[key][most] -= 1
        at[key][most - 1] += 1

    def test_forged(self):
        """Values that each figure alone would allow, but not together with others."""
        document = self.document_of()
        big, host = 9223372036854775807, ("operations", 0, "hosts", 0)
        cases = [((*where, key), lambda at, key, v=v: at.__setitem__(key, v), words)
                 for where in ((), ("operations", 0))
                 for key, v, words in (("n_threads", big, "threads"), ("range_end_ns", big, "range is not within"),
                                       ("range_start_ns", 0, "range is not within"))]
        cases += [(("operations", 0, key), lambda at, key, v=v: at.__setitem__(key, v), "more threads than requests, or sizes that do not fit the bytes")
                  for key, v in (("min_bytes", 1 << 40), ("max_bytes", 1), ("n_threads", 40))]
        cases += [((*host, "seconds", key), self.move, "hosts do not add up") for key in ("bytes", "started", "busy_ns")]
        cases += [((*host, "rate", "buckets"), lambda at, key: at.__setitem__(key, [at[key][0], at[key][1] + 1, at[key][2] - 1,
                                                                                 *at[key][3:]]), "hosts do not add up"),
                  (("operations", 0, "errors", 0, "first_ns"), lambda at, key: at.__setitem__(key, 1), "no such errors"),
                  (("operations", 0, "clients", 0, "rated_ns"), lambda at, key: at.__setitem__(key, at[key] - 1),
                   "clients do not add up")]
        for path, change, words in cases:
            changed = json.loads(json.dumps(document))
            at = changed
            for key in path[:-1]:
                at = at[key]
            change(at, path[-1])
            with self.subTest(path=path):
                r = self.look(json.dumps(changed, separators=(",", ":")).encode())
                self.assertEqual(r.status, 1)
                self.assertIn(words, " ".join(r.err.split()))

    def one_value(self, op, n, size=1):
        """An operation of n equal requests of 1 ns, which ended in the second in which they began."""
        start, n_bytes = 1700000000, n * size
        values = {"n": n, "min": 1, "max": 1, "buckets": [1], "counts": [n]}
        part = {"n_requests": n, "n_errors": 0, "n_bytes": n_bytes, "n_objects": 0, "start_ns": start * SECOND, "end_ns": start * SECOND + 9,
                "rated_bytes": n_bytes, "rated_ns": n, "duration_ns": {**values, "sum": n, "squares": n}, "rate": values}
        timed = {**part, "seconds": {"first": start, "n": 1, "started": [n], "ended": [n], "bytes": [n_bytes], "busy_ns": [n], "ended_ns": [n]}}
        return {"op": op, "n_threads": 1, "range_start_ns": start * SECOND, "range_end_ns": start * SECOND + 1, "min_bytes": size,
                "max_bytes": size, "first_objects": 0, **json.loads(json.dumps(timed)), "hosts": [{"name": "h", **json.loads(json.dumps(timed))}],
                "clients": [{"name": "c", **json.loads(json.dumps(timed))}], "sizes": [{"min_bytes": size, **json.loads(json.dumps(part))}], "errors": []}

    def look_at(self, *ops):
        first = ops[0]
        return self.look(json.dumps({"schema": "s3analyze/sums/1", "n_threads": 1, "range_start_ns": first["range_start_ns"],
                                     "range_end_ns": first["range_end_ns"], "operations": ops}, separators=(",", ":")).encode())

    def refuse(self, words, *ops):
        r = self.look_at(*ops)
        self.assertEqual(r.status, 1)
        self.assertIn(words, " ".join(r.err.split()))

    def test_forged_to_overflow(self):
        """Each part is valid, but not the sum of several."""
        self.assertEqual(self.look_at(self.one_value("GET", 1000), self.one_value("PUT", 1000)).status, 0)
        most = 1 << 46
        self.assertEqual(self.look_at(self.one_value("GET", most)).status, 0)
        self.refuse("more than 2^46 requests", self.one_value("GET", most), self.one_value("PUT", 1))
        ops = [self.one_value(op, 1 << 22, size=1 << 40) for op in ("GET", "PUT")]
        self.assertEqual(self.look_at(ops[0]).status, 0)
        self.refuse("does not fit 63 bits", *ops)
        op = self.one_value("GET", 3)
        op["sizes"][0]["seconds"] = {"first": (1 << 63) - 1, "n": 2, "started": [1, 2]}
        self.refuse("a class of sizes has no seconds", op)

    def parts(self, op):
        return [op, *op["hosts"], *op["clients"], *op["sizes"]]

    def test_forged_values(self):
        op = self.one_value("GET", 2)
        for part in self.parts(op):
            part["duration_ns"] = {"n": 2, "sum": 3, "squares": 4, "min": 1, "max": 2, "buckets": [1, 1], "counts": [1, 1]}
            if "seconds" in part:
                part["seconds"]["ended_ns"] = [3]
        self.refuse("sum and squares are not those of such values", op)
        for part in self.parts(op):
            part["duration_ns"]["squares"] = 5
        self.assertEqual(self.look_at(op).status, 0)
        for part in self.parts(op):
            part["rated_ns"] = 0
        self.refuse("more rates than bytes or nanoseconds", op)

    def test_unknown_keys_and_versions(self):
        document = self.document_of()
        document["operations"][0]["more"] = {"a": [1, None]}
        self.assertEqual(self.look(json.dumps(document, separators=(",", ":")).encode()).status, 0)
        document["schema"] = "s3analyze/sums/2"
        r = self.look(json.dumps(document, separators=(",", ":")).encode())
        self.assertIn("'s3analyze/sums/2' is not known here", " ".join(r.err.split()))


class Compare(SumsTest):
    def runs(self, n=1, median=SECOND // 25, error_frac=0.0):
        """Captures and sums of n runs of half a minute."""
        shape = Shape(n=3000, threads=4, hosts=2, median=median, sigma=0.4, error_frac=error_frac)
        paths = [self.put(f"{median}-{i}", simulate(median + i, shape)) for i in range(n)]
        return paths, [self.sums(p, name=f"{median}-{i}.sums") for i, p in enumerate(paths)]

    def test_with_the_capture(self):
        """A capture is reduced to sums: both sides say the same, also where requests failed."""
        (capture,), (sums,) = self.runs(error_frac=0.1)
        r = self.s3analyze("cmp", "--json", capture, sums).json()
        self.assertIn("from-sums", [w["code"] for w in r["warnings"]])
        op, = r["operations"]
        self.assertEqual({m["metric"] for m in op["metrics"]},
                         {"throughput", "objects", "p50", "p90", "p99", "ttfb_p50", "errors", "mean"})
        for m in op["metrics"]:
            self.assertEqual(m["before"], m["after"])
            self.assertIsNotNone(m["before"]["lo"], m["metric"])
        self.assertEqual(op["before"], op["after"])
        self.assertEqual(op["duration_effect"]["ks_d"], 0)

    def test_figures_are_those_of_the_capture(self):
        (capture,), (sums,) = self.runs()
        other = self.runs(median=SECOND // 20)[0][0]
        x = self.s3analyze("cmp", "--json", "--range", "full", capture, other).json()["operations"][0]["before"]
        y = self.s3analyze("cmp", "--json", sums, other).json()["operations"][0]["before"]
        for figures in "duration", "ttfb":
            for k, v in x[figures].items():
                self.assertAlmostEqual(y[figures][k] / v, 1, delta=WITHIN)

    def test_several_runs_a_side_are_judged(self):
        _, before = self.runs(5)
        _, after = self.runs(5, median=SECOND // 15)
        r = self.s3analyze("cmp", "--json", "--before", *before, "--after", *after).json()
        verdicts = {m["metric"]: m["verdict"] for m in r["operations"][0]["metrics"]}
        self.assertEqual(verdicts["objects"], "slower")
        self.assertEqual(verdicts["p50"], "slower")

    def test_gate_and_options(self):
        a, b = self.runs(2)[1]
        self.s3analyze("cmp", "--gate", "p99:5%", "--run-cv", "1%", a, b, status=3)
        for option in (["--host", "h0"], ["--from", "1s"]):
            self.assertEqual(self.s3analyze("cmp", *option, a, b, status=1).out, "")
