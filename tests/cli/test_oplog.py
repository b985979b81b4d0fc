"""Logs of operations of s3dlio and sai3-bench. The samples in testdata/formats are made by log() and sorted_log() here, from
what the sources say of the format: s3dlio, src/s3_logger.rs and src/object_store_logger.rs, and sai3-bench, src/oplog_merge.rs.
The thread is a hash of 64 bits; requests of one thread overlap; a line is written when its request ends; first_byte is `end`
of a GET and `start` of a PUT; a HEAD has the object's size. Sorted and merged logs have thread 0, no end and no first byte."""
import datetime
import random

import zstd
from expect import ReportTest
from harness import TESTDATA

FORMATS = TESTDATA / "formats"
HEADER = "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tend\tduration_ns\n"
BEGIN = 1_764_000_000 * 10**9
N_AT_A_TIME = 12


def time(ns, zone="Z"):
    second = datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09}{zone}"


def requests(n=600, seed=1):
    """(thread, op, bytes, start, end) in order of their ends: tasks with one request at a time, on three threads."""
    rng = random.Random(seed)
    threads = [rng.getrandbits(64) | 1 << 63 for _ in range(3)]
    free = [BEGIN + rng.randrange(10**6) for _ in range(N_AT_A_TIME)]
    made = []
    for _ in range(n):
        task = free.index(min(free))
        op = rng.choice(("GET",) * 6 + ("PUT", "HEAD", "LIST"))
        start, end = free[task], free[task] + rng.randrange(10**6, 40 * 10**6)
        free[task] = end + rng.randrange(10**5)
        made.append((rng.choice(threads), op, 0 if op == "LIST" else 65536, start, end))
    return sorted(made, key=lambda r: r[4])


def log(made):
    text = HEADER
    for i, (thread, op, size, start, end) in enumerate(made):
        first = {"GET": time(end), "PUT": time(start)}.get(op, "")
        error = "dispatch failure: connection refused" if i % 100 == 7 else ""
        text += (f"{i}\t{thread}\t{op}\tagent-1\t1\t{size}\ts3://bucket\tbucket/object-{i % 50}\t{error}\t{time(start)}\t{first}\t"
                 f"{time(end)}\t{end - start}\n")
    return text


def sorted_log(made):
    text = HEADER
    for i, (_, op, size, start, end) in enumerate(sorted(made, key=lambda r: r[3])):
        text += f"{i}\t0\t{op}\t\t1\t{size}\ts3://bucket\tbucket/object-{i % 50}\t\t{time(start, '+00:00')}\t\t\t{end - start}\n"
    return text


class OpLog(ReportTest):
    def report(self, path, *options, **kwargs):
        return self.s3analyze("analyze", "--json", *options, path, **kwargs).json()

    def test_samples(self):
        """As many threads as there were requests at a time, and one finding that says that they are made up."""
        for name, made in ("oplog", log(requests())), ("oplog-sorted", sorted_log(requests())):
            with self.subTest(name):
                path = FORMATS / f"{name}.tsv.zst"
                self.assertEqual(zstd.decodable(path.read_bytes()).decode(), made)
                report = self.report(path)
                self.assertEqual(report["n_rows"], 600)
                self.assertEqual([o["op"] for o in report["operations"]], ["GET", "HEAD", "LIST", "PUT"])
                self.assertEqual(max(o["concurrency"] for o in report["operations"]), N_AT_A_TIME)
                kinds = [f["kind"] for f in report["findings"]]
                self.assertEqual(kinds.count("imported"), 1)
                self.assertNotIn("overlapping-runs", kinds)
                self.assertIn("Imported from an op-log: it lacks threads, and requests that its logger dropped; threads are as "
                              "few as the times allow", " ".join(self.s3analyze("analyze", path).out.split()))
                self.assertEqual([o["op"] for o in report["operations"] if o["requests"]["ttfb"] is not None], [])
                head = next(o for o in report["operations"] if o["op"] == "HEAD")
                self.assertEqual(head["throughput"]["n_bytes"], 0)
        self.assertEqual(report["operations"][0]["start"][:19], "2025-11-24T16:00:00")

    def test_other_commands(self):
        log_path = FORMATS / "oplog.tsv.zst"
        figures = [o["requests"] for o in self.report(log_path)["operations"]]
        for command in "cat", "merge":
            path = self.tmp / f"{command}.csv.zst"
            self.s3analyze(command, "-q", log_path, "-o", path)
            report = self.report(path)
            self.assertEqual([o["requests"] for o in report["operations"]], figures)
            self.assertEqual([f["kind"] for f in report["findings"]].count("imported"), 1)
        self.s3analyze("aggregate", "-q", log_path, "-o", self.tmp / "a.sums.zst")
        self.assertIn("imported", [f["kind"] for f in self.report(self.tmp / "a.sums.zst")["findings"]])
        self.assertIn("no change", self.s3analyze("cmp", log_path, log_path).out)
        self.assertEqual(self.s3analyze("info", "--json", log_path).json()["captures"][0]["generation"], "g3")

    def test_threads_do_not_depend_on_how_a_file_is_read(self):
        """Many units, which several threads read."""
        text = log(requests(20_000)).encode()
        path = self.tmp / "log.tsv.zst"
        step = len(text) // 4 - 7
        frames = [zstd.frame(text[at:at + step], level=-100) for at in range(0, len(text), step)]
        self.assertGreater(len(frames[0]), 512 << 10)  # a unit each
        path.write_bytes(b"".join(frames))
        reports = [self.report(path, "--threads", n) for n in (1, 4)]
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0]["n_rows"], 20_000)
        rows = [line.split("\t") for line in self.s3analyze("cat", "-q", path).out.splitlines() if line[0] not in "#i"]
        self.assertEqual(len({r[1] for r in rows}), N_AT_A_TIME)
        at = {}
        for r in rows:
            self.assertGreaterEqual(r[9], at.get(r[1], ""))
            at[r[1]] = r[12]

    def test_hostile(self):
        good = log(requests(20))
        thread = good.splitlines()[5].split("\t")[1]
        for bad in "", "-1", f"-{thread}", "18446744073709551616", "9" * 40, "1e9":
            with self.subTest(bad):
                path = self.tmp / "bad.tsv"
                lines = good.splitlines()
                lines[5] = lines[5].replace(thread, bad)
                path.write_text("\n".join(lines) + "\n")
                self.assertIn(f"bad.tsv:6: thread \"{bad[:60]}\" is not an integer of 0 to 18446744073709551615",
                              self.s3analyze("cat", "-q", path, status=1).err)
                self.assertEqual(sum(o["n_requests"] for o in self.report(path, "--salvage")["operations"]), 19)
        for duration in "", "-1", "9223372036854775807":
            with self.subTest(duration=duration):
                lines = sorted_log(requests(20)).splitlines()
                lines[5] = lines[5].rpartition("\t")[0] + f"\t{duration}"
                path.write_text("\n".join(lines) + "\n")
                self.assertIn("bad.tsv:6: duration_ns ", self.s3analyze("cat", "-q", path, status=1).err)
        path.write_text(HEADER)
        self.assertIn("no requests", self.s3analyze("analyze", path, status=1).err)

    def test_too_many_at_a_time(self):
        """Also the worst order, in which each ends before all before it."""
        made = [(1 << 63, "GET", 1, BEGIN, BEGIN + 10**9 - i) for i in range(16385)]
        path = self.tmp / "log.tsv"
        path.write_text(log(made[:-1]))
        self.assertEqual(self.report(path)["operations"][0]["concurrency"], 16384)
        path.write_text(log(made))
        self.assertIn("log.tsv: more than 16384 requests at a time", self.s3analyze("analyze", path, status=1).err)
