"""`s3analyze import`: recordings of hey, ab, mc and AWS become captures that every command takes."""
import csv
import gzip
import itertools
import json
import math
import random
import re
import subprocess
import unittest

from harness import TESTDATA, TIMEOUT_S, CliTest, tool, unwrapped
from loadcase import Row, ns
from s3client import S3Client
from servers import Target
import zstd

IMPORTS = TESTDATA / "import"
FILES = {"hey": "hey.csv", "ab": "ab.tsv", "mc-trace": "mc-trace.json", "s3-log": "s3.log"}
HEY = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
AB = "starttime\tseconds\tctime\tdtime\tttime\twait"
MS = 10**6
LOG = ('79a5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a5 3E57 REST.GET.OBJECT a/b "GET /bucket/a/b HTTP/1.1" '
       '200 - 2048 4096 70 10 "-" "agent "of"mine" - id= SigV4 ECDHE AuthHeader h.example TLSV1.2 - Yes')
CALL = {"host": "n1:9000", "time": "2026-11-21T05:41:32.000000001Z", "client": "10.0.0.9", "duration": 5000000,
        "callStats": {"rx": 700, "tx": 65536, "timeToFirstByte": 4000000}, "api": "s3.GetObject", "path": "/b/o",
        "statusCode": 200, "statusMsg": "OK", "type": "S3"}


def rows_of(path):
    lines = [line for line in path.read_text().split("\n") if not line.startswith("#")]
    return [Row(fields, i) for i, fields in enumerate(csv.DictReader(lines, delimiter="\t"))]


def rank(n, p):
    """The index of the quantile p, in thousandths, among n sorted values (docs/how-the-numbers-are-made.md, section 5)."""
    return min((2 * n * p + 1000) // 2000, n - 1)


class Case(CliTest):
    def imported(self, form, path, *options):
        out = self.tmp / f"from-{form}.csv"
        self.s3analyze("import", form, path, "-f", "-o", out, *options)
        return out

    def of_text(self, form, text, *options):
        return rows_of(self.imported(form, self.put(f"{form}.in", text.encode()), *options))

    def of_file(self, form):
        return self.imported(form, IMPORTS / FILES[form])

    def refused_beside(self, form, text, *words):
        """Refused with these words. Other files may be in the folder."""
        r = self.s3analyze("import", form, self.put("bad", text.encode()), "-f", "-o", self.tmp / "refused.csv", status=1)
        for word in words:
            self.assertIn(word, r.err)

    def refused(self, form, text, *words):
        self.refused_beside(form, text, *words)
        left = sorted(p.name for p in self.tmp.iterdir())
        (self.tmp / "refused.csv").unlink(missing_ok=True)
        self.assertEqual(left, ["bad"])


class Formats(Case):
    def test_hey(self):
        row, failed = self.of_text("hey", f"{HEY}\n0.0300,0.0010,0.0000,0.0005,0.0205,0.0080,200,0.0002\n"
                                          "0.0100,0.0000,0.0000,0.0000,0.0099,0.0001,503,0.0305\n",
                                   "--start", "2026-11-21T05:41:32Z", "--host", "h:1")
        start = ns("2026-11-21T05:41:32.000000000Z")
        self.assertEqual((row.op, row.endpoint, row.error, row.bytes), ("GET", "h:1", "", 0))
        self.assertEqual((row.start - start, row.duration, row.first_byte - row.start), (200000, 30 * MS, 22 * MS))
        self.assertEqual(failed.error, "HTTP 503")
        upload = self.of_text("hey", f"{HEY}\n0.0300,0.0010,0.0000,0.0005,0.0205,0.0080,200,0.0002\n", "--op", "PUT")[0]
        self.assertEqual((upload.first_byte, upload.end - upload.last_byte), (None, 28500000))

    def test_requests_of_one_start_keep_their_order(self):
        took = [k * 7 % 601 for k in range(1, 601)]
        text = "".join(f"{t / 10000:.4f},0,0,0,0,0,200,0.5\n" for t in took)
        self.assertEqual([r.duration * 10 // MS for r in self.of_text("hey", f"{HEY}\n{text}")], took)

    def test_ab(self):
        row = self.of_text("ab", f"{AB}\nSat Nov 21 05:41:32 2026\t1795239692\t2\t40\t42\t39\n")[0]
        self.assertEqual((row.start, row.duration, row.first_byte - row.start),
                         (ns("2026-11-21T05:41:32.000000000Z"), 42 * MS, 41 * MS))

    def test_mc_trace(self):
        put = dict(CALL, api="s3.PutObject", callStats={"rx": 4300, "tx": 0})
        verbose = {k: v for k, v in CALL.items() if k not in ("statusCode", "statusMsg", "client")}
        verbose.update(api="s3.PutObject", request={"headers": {"Content-Length": "4096"}}, response={"statusCode": 503})
        text = (json.dumps(CALL) + "\n" + json.dumps(dict(CALL, api="storage.ReadAll")) + "\n\n" +
                json.dumps(dict(put, path='/b/{"x')) + "\n" + json.dumps(verbose, indent=1) + "\n" +
                json.dumps(dict(verbose, response={"statusCode": 200})))
        rows = self.of_text("mc-trace", text)
        self.assertEqual([(r.op, r.bytes, r.error, r.client, r.file) for r in rows],
                         [("GET", 65536, "", "10.0.0.9", "/b/o"), ("PUT", 4300, "", "10.0.0.9", '/b/{"x'),
                          ("PUT", 0, "HTTP 503", "", "/b/o"), ("PUT", 4096, "", "", "/b/o")])
        self.assertEqual({(r.start, r.duration) for r in rows}, {(ns("2026-11-21T05:41:32.000000001Z"), 5 * MS)})
        self.assertEqual([r.first_byte and r.first_byte - r.start for r in rows], [4 * MS, None, None, None])
        self.assertEqual(len({r.thread for r in rows}), 4)

    def test_mc_trace_of_minio(self):
        """What mc of March 2025 recorded of a MinIO of February 2026: requests of s3load and of mc, without --verbose
        and with it. Only the Authorization headers were taken out."""
        short, verbose = (rows_of(self.imported("mc-trace", IMPORTS / name)) for name in ("minio.json", "minio-verbose.json"))
        self.assertEqual([(r.op, r.bytes, r.error) for r in verbose],
                         [("HeadBucket", 0, "HTTP 404"), ("PUT", 10240, ""), ("LIST", 0, ""), ("GET", 102400, ""),
                          ("DELETE", 0, ""), ("STAT", 0, ""), ("GetBucketObjectLockConfig", 0, "HTTP 404"),
                          ("STAT", 0, "HTTP 404"), ("PUT", 6, ""), ("CopyObject", 0, ""), ("PutObjectPart", 3222784, "")])
        self.assertEqual([r.bytes for r in short if r.op.lower().startswith("put")], [10330, 313, 3227491])
        for a, b in zip(short, verbose, strict=True):
            self.assertEqual((a.op, a.start, a.duration, a.first_byte, a.file, a.endpoint),
                             (b.op, b.start, b.duration, b.first_byte, b.file, b.endpoint))
            self.assertEqual(a.error.split()[:2], b.error.split()[:2])
        self.assertEqual([r.error for r in short if r.error], ["HTTP 404 Not Found"] * 3)
        self.assertEqual((short[3].client, short[3].endpoint, short[3].first_byte - short[3].start),
                         ("127.0.0.1", "127.0.0.1:19000", 1037756))

    def test_s3_log(self):
        put = LOG.replace("REST.GET.OBJECT", "REST.PUT.OBJECT").replace("2048", "-")
        lines = [LOG, put, LOG.replace("200 -", "503 SlowDown"), LOG.replace("REST.GET.OBJECT", "REST.GET.VERSIONING"),
                 LOG.replace("4096 70", "4096 -"), LOG.rpartition(" -")[0].split(" - id=")[0]]
        rows = self.of_text("s3-log", "\n".join(lines))
        self.assertEqual([(r.op, r.bytes, r.error, r.endpoint) for r in rows],
                         [("GET", 2048, "", "h.example"), ("PUT", 4096, "", "h.example"),
                          ("GET", 0, "HTTP 503 SlowDown", "h.example"), ("GET.VERSIONING", 0, "", "h.example"),
                          ("GET", 2048, "", "bucket")])
        get, upload = rows[:2]
        self.assertEqual((get.start, get.duration, get.first_byte - get.start, get.client, get.file),
                         (ns("2019-02-06T00:00:38.000000000Z"), 70 * MS, 10 * MS, "192.0.2.3", "a/b"))
        self.assertEqual((upload.first_byte, upload.end - upload.last_byte), (None, 10 * MS))

    def test_time_zones(self):
        row = self.of_text("s3-log", LOG.replace("+0000", "-0130"))[0]
        self.assertEqual(row.start, ns("2019-02-06T01:30:38.000000000Z"))

    def test_s3_log_texts_of_clients(self):
        """Clients choose Request-URI, Referer and User-Agent; none of these sets another field. A requester may have
        blanks. A line has more or fewer fields by its age."""
        forged = '"x" - id= SigV4 c AuthHeader evil.example TLSv1.2 - -'
        tail = LOG[LOG.index(" - id="):]
        front, figures = LOG[:LOG.index(' "GET')], ' 200 - 2048 4096 70 10'
        for request, referer, agent in itertools.product(
                ('"GET /a HTTP/1.1"', '"GET /a?b="c"&d=" HTTP/1.1"', "-"), ("-", '"-"', '"http://a/"b" c"', forged + '"'),
                ('"-"', '""', '"a "b" (c)"', '"' + forged + '"', '"' + figures + '"', '"[a] "')):
            row, = self.of_text("s3-log", f"{front} {request}{figures} {referer} {agent}{tail}")
            self.assertEqual((row.endpoint, row.bytes, row.duration, row.file, row.op),
                             ("h.example", 2048, 70 * MS, "a/b", "GET"), (request, referer, agent))
        for requester in "arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E1", "-", 'a "b" c':
            row, = self.of_text("s3-log", LOG.replace("192.0.2.3 79a5", f"192.0.2.3 {requester}"))
            self.assertEqual((row.endpoint, row.client, row.file), ("h.example", "192.0.2.3", "a/b"))
        agent = '"-" "agent "of"mine"'
        for change, host in (("h.example", "-"), "bucket"), (("TLSV1.2 - Yes", "TLSV1.2"), "h.example"), (
                ("TLSV1.2 - Yes", "TLSV1.2 - Yes eu-west-1 new"), "h.example"), ((tail, " - id="), "bucket"), (
                (agent, "- -"), "h.example"), ((agent, '"http://a/" -'), "h.example"), ((agent, '- "agent"'), "h.example"):
            self.assertEqual(self.of_text("s3-log", LOG.replace(*change))[0].endpoint, host, change)

    def test_s3_log_bytes_of_bodies(self):
        for operation, op, n_bytes in (("REST.GET.OBJECT", "GET", 2048), ("WEBSITE.GET.OBJECT", "WEBSITE.GET.OBJECT", 2048),
                                       ("REST.PUT.OBJECT", "PUT", 4096), ("REST.POST.OBJECT", "POST.OBJECT", 4096),
                                       ("REST.PUT.PART", "PUT.PART", 4096), ("REST.PUT.OBJECT_TAGGING", "PUT.OBJECT_TAGGING", 0),
                                       ("REST.GET.OBJECT_TAGGING", "GET.OBJECT_TAGGING", 0), ("REST.PUT.ACL", "PUT.ACL", 0),
                                       ("REST.COPY.OBJECT", "COPY.OBJECT", 0), ("REST.POST.UPLOAD", "POST.UPLOAD", 0)):
            row, = self.of_text("s3-log", LOG.replace("REST.GET.OBJECT", operation))
            self.assertEqual((row.op, row.bytes, row.last_byte is not None), (op, n_bytes, n_bytes == 4096))

    def test_lines_without_what_is_needed(self):
        log = "\n".join([LOG, LOG.replace("200 -", "- -"), LOG.replace(" 70 ", " - ")])
        calls = "\n".join(json.dumps(call) for call in (
            CALL, dict(CALL, statusCode=0), {k: v for k, v in CALL.items() if k != "statusCode"},
            dict(CALL, time="0001-01-01T00:00:00Z"), dict(CALL, api="os.Open")))
        for form, text, *said in (("s3-log", log, "1 call that are no", "1 call without a status"),
                                  ("mc-trace", calls, "1 call that are no", "2 calls without a status", "1 call without a time")):
            out = self.tmp / "o.csv"
            r = self.s3analyze("import", form, self.put("in", text.encode()), "-f", "-o", out)
            self.assertEqual(len(rows_of(out)), 1)
            for words in said:
                self.assertIn(words, unwrapped(r.out))

    def test_mc_trace_ends_with_an_error(self):
        end = {"status": "error", "error": {"message": "no trace", "cause": {"message": "EOF", "error": {}}, "type": "fatal"}}
        out = self.tmp / "o.csv"
        for text in json.dumps(CALL) + json.dumps(end), json.dumps(CALL, indent=1) + "\n" + json.dumps(end, indent=1):
            r = self.s3analyze("import", "mc-trace", self.put("in", text.encode()), "-f", "-o", out)
            self.assertIn("An error ended the recording: no trace: EOF", r.out)
            self.assertIn("imported-cut", [f["kind"] for f in self.s3analyze("analyze", "--json", out).json()["findings"]])
        self.refused_beside("mc-trace", json.dumps(end), "no requests: it ended with an error: no trace: EOF")

    def test_mc_trace_of_2021(self):
        old = {k: v for k, v in CALL.items() if k != "duration"}
        row, = self.of_text("mc-trace", json.dumps(dict(old, callStats=dict(CALL["callStats"], duration=5000000))))
        self.assertEqual(row.duration, 5 * MS)
        self.refused_beside("mc-trace", json.dumps(old), '"duration" is no number')

    def test_marks_at_the_beginning(self):
        for form, name in FILES.items():
            text = (IMPORTS / name).read_text()
            plain = self.of_file(form).read_bytes()
            marked = self.imported(form, self.put("marked", b"\xef\xbb\xbf" + text.encode())).read_bytes()
            self.assertEqual(marked, plain)
            for code in "utf-16", "utf-16-be":
                bom = b"\xfe\xff" if code == "utf-16-be" else b""
                r = self.s3analyze("import", form, self.put("wide", bom + text.encode(code)), "-f", "-o", self.tmp / "o",
                                   status=1)
                self.assertIn("text in UTF-16: convert it first", r.err)
            for packed, how in (gzip.compress(text.encode()), "gzip -dc"), (zstd.frame(text.encode()), "zstd -dc"):
                r = self.s3analyze("import", form, self.put("packed", packed), "-f", "-o", self.tmp / "o", status=1)
                self.assertIn(how, r.err)

    def test_a_request_counts_once(self):
        """By its id and its time. Without an id each line counts: times of logs are coarse."""
        def n_rows(form, *texts):
            out = self.tmp / "o.csv"
            paths = [self.put(f"in{i}", text.encode()) for i, text in enumerate(texts)]
            r = self.s3analyze("import", form, *paths, "-f", "-o", out)
            n = len(rows_of(out))
            self.assertEqual("in the recording twice" in r.out, n < sum(text.count("\n") for text in texts))
            self.assertIn(f": {n} request", r.out)
            return n

        log = "".join(LOG.replace("00:38", f"00:{i // 3:02d}").replace("3E57", f"ID{i}") + "\n" for i in range(90))
        later = "".join(log.splitlines(True)[60:]) + LOG.replace("00:38", "01:00") + "\n"
        self.assertEqual([n_rows("s3-log", *texts) for texts in ((log,), (log, log), (log, later), (log + log,))],
                         [90, 90, 91, 90])
        once = LOG + "\n"
        for other in LOG.replace("a/b", "a/c", 1), LOG.replace("GET.OBJECT", "COPY.OBJECT_GET"), LOG.replace(":38", ":39"):
            self.assertEqual(n_rows("s3-log", once, other + "\n"), 2)
        self.assertEqual(n_rows("s3-log", 2 * once.replace("3E57", "-")), 2)
        calls = "".join(json.dumps(dict(CALL, duration=5000000 + i)) + "\n" for i in range(5))
        self.assertEqual([n_rows("mc-trace", calls), n_rows("mc-trace", calls, calls)], [5, 5])

    def test_several_files(self):
        out = self.tmp / "o.csv"
        later = self.put("b.log", LOG.replace("00:00:38", "00:00:07").encode())
        self.s3analyze("import", "s3-log", self.put("a.log", LOG.encode()), later, "-o", out)
        self.assertEqual([r.start % (60 * 10**9) // 10**9 for r in rows_of(out)], [7, 38])
        r = self.s3analyze("import", "hey", IMPORTS / "hey.csv", IMPORTS / "hey.csv", "-f", "-o", out, status=1)
        self.assertIn("one by one", r.err)

    def test_standard_streams(self):
        r = self.s3analyze("import", "ab", "-", "-o", "-", stdin=(IMPORTS / "ab.tsv").read_bytes())
        self.assertEqual(r.out.count("\n"), 303)
        self.assertIn("300 requests on 4 threads", r.err)


class Threads(Case):
    def hey(self, *rows):
        lines = [f"{duration:.4f},0,0,0,0,0,200,{start:.4f}" for start, duration in rows]
        return self.of_text("hey", "\n".join([HEY, *lines]) + "\n")

    def test_no_request_begins_before_the_last_one_ended(self):
        rows = self.hey((0, 1), (0.5, 1), (1.0, 1), (1.2, 5), (1.5, 1))
        self.assertEqual([r.thread for r in rows], [0, 1, 0, 2, 1])

    def test_rounding_adds_no_thread(self):
        """Requests of one thread that follow each other at once seem to overlap by up to 0.1 ms."""
        rng, at, rows = random.Random(1), 0, []
        for _ in range(500):
            rows.append((at, rng.uniform(0.00001, 0.002)))
            at += rows[-1][1]
        self.assertEqual({r.thread for r in self.hey(*rows)}, {0})

    def test_as_many_as_the_recorded_run_had(self):
        for form in "hey", "ab":  # both ran with -c 4
            self.assertEqual(len({r.thread for r in rows_of(self.of_file(form))}), 4)

    def test_within_a_second_one_behind_the_other(self):
        rows = rows_of(self.of_file("ab"))
        recorded = sorted(int(line.split("\t")[1]) for line in (IMPORTS / "ab.tsv").read_text().splitlines()[1:])
        self.assertEqual(sorted(r.start // 10**9 for r in rows), recorded)
        for thread in range(4):
            own = sorted((r for r in rows if r.thread == thread), key=lambda r: r.start)
            self.assertTrue(all(b.start - a.end >= -MS for a, b in zip(own, own[1:])))

    def test_more_rows_than_fit_in_memory_at_once(self):
        lines = [f"0.0010,0,0,0,0,0,200,{(7919 * i % 30000) / 1000:.4f}" for i in range(30000)]
        starts = [r.start for r in self.of_text("hey", "\n".join([HEY, *lines]) + "\n")]
        self.assertEqual(starts, [i * MS for i in range(30000)])


class Limits(Case):
    def analyze(self, *args):
        return self.s3analyze("analyze", *args)

    def test_quantiles_are_those_of_the_file(self):
        for form, column, scale in ("hey", 0, 10**9), ("ab", 4, MS):
            path = self.of_file(form)
            lines = (IMPORTS / FILES[form]).read_text().splitlines()[1:]
            values = sorted(round(float(re.split("[,\t]", line)[column]) * scale) for line in lines)
            requests = self.analyze("--json", "--range", "full", path).json()["operations"][0]["requests"]
            for p in 50, 90, 99:
                self.assertEqual(requests[f"p{p}_ns"], values[rank(len(values), 10 * p)])

    def test_what_is_known_is_said(self):
        for form, start, duration in ("hey", "100us", "100us"), ("ab", "1s", "1ms"), ("s3-log", "1s", "1ms"):
            path = self.of_file(form)
            page = self.tmp / "page.html"
            text = unwrapped(self.analyze("-f", "-v", "--html", page, path).out)
            self.assertIn(f"Imported from {form}: starts are known to {start}, durations to {duration}", text)
            self.assertIn(f"times are known to {duration}", text)
            self.assertIn(f"times are known to {duration}", page.read_text())
            info = unwrapped(self.s3analyze("info", path).out)
            self.assertIn(f"starts {start}, durations {duration}; threads are guessed", info)
        self.assertIn("(times are known to 100us);", unwrapped(self.analyze(self.of_file("hey")).out))

    def test_json(self):
        imported = self.analyze("--json", self.of_file("ab")).json()["inputs"][0]["imported"]
        self.assertEqual((imported["from"], imported["start_resolution_ns"], imported["duration_resolution_ns"]),
                         ("ab", 10**9, MS))
        self.assertIn("sizes", imported["absent"])
        self.assertIsNone(self.analyze("--json", TESTDATA / "get-g4.csv.zst").json()["inputs"][0]["imported"])

    def test_no_segments_below_the_resolution(self):
        path = self.of_file("ab")
        for command in ("analyze",), ("plot", "--chart", "throughput", "--out", self.tmp / "p"):
            r = self.s3analyze(*command, "--dur", "999ms", path, status=1)
            self.assertIn("starts are known to 1s only", r.err)
        self.assertEqual(self.analyze("--json", "--dur", "1s", path).json()["operations"][0]["segments"]["n"], 4)

    def test_no_autoterm(self):
        for form in FILES:
            r = self.s3analyze("autoterm", self.of_file(form), status=1)
            self.assertIn(f"imported from {form}", r.err)

    def test_kept_by_other_commands(self):
        path = self.of_file("ab")
        copy, sums, merged = (self.tmp / name for name in ("copy.csv.zst", "run.sums", "merged.csv"))
        self.s3analyze("cat", "-o", copy, path)
        self.s3analyze("aggregate", "-o", sums, path)
        self.s3analyze("merge", "-o", merged, copy)
        for path in copy, sums, merged:
            report = self.analyze("--json", path).json()
            self.assertEqual(report["inputs"][0]["imported"]["duration_resolution_ns"], MS)
            self.assertIn("imported", [f["kind"] for f in report["findings"]])

    def test_no_verdict_within_the_resolution(self):
        """Medians of 2 and 3 ms are no change, of 2 and 5 ms they are."""
        def run(name, ms):
            rng = random.Random(name)
            lines = [f"x\t{1795239692 + i // 20}\t0\t{v}\t{v}\t{v}" for i in range(4000)
                     for v in [ms + rng.choice((-1, 0, 0, 0, 1, 9))]]
            out = self.tmp / f"{name}.csv"
            self.s3analyze("import", "ab", self.put(f"{name}.tsv", "\n".join([AB, *lines, ""]).encode()), "-o", out)
            return out

        before, after, slow = run("before", 2), run("after", 3), run("slow", 5)
        said = {}
        for other in after, slow:
            report = self.s3analyze("cmp", "--json", before, other).json()
            metrics = {m["metric"]: m for m in report["operations"][0]["metrics"]}
            said[other] = metrics["p50"]["verdict"]
        self.assertEqual(said, {after: "not-enough-data", slow: "differs"})

    def test_limits_within_the_resolution_are_undecided(self):
        path = self.of_file("ab")
        # Its starts are known to the second, and it took only a few: the report has no interval either.
        r = self.s3analyze("analyze", "--range", "full", "--slo", "GET: p50<104ms", path, status=3)
        self.assertIn("fewer than 20 segments", unwrapped(r.out))
        rows = [f"x\t{1795239692 + i // 20}\t0\t5\t5\t5" for i in range(4000)]
        self.s3analyze("import", "ab", self.put("even.tsv", "\n".join([AB, *rows, ""]).encode()), "-f", "-o", path)
        for limit, status in ("7ms", 0), ("5.4ms", 3), ("4.6ms", 3), ("3ms", 1):
            self.s3analyze("analyze", "--slo", f"GET: p50<{limit}", path, status=status)

    def test_no_findings_of_what_was_guessed(self):
        for form in FILES:
            kinds = {f["kind"] for f in self.analyze("--json", self.of_file(form)).json()["findings"]}
            self.assertFalse(kinds & {"identical-rows", "overlapping-runs", "short-range", "absent-client", "stuck-thread",
                                      "stall", "drop"}, form)

    def test_hey_keeps_a_million(self):
        line = "0.0010,0,0,0,0,0,200,{:.4f}\n"
        text = HEY + "\n" + "".join(line.format(i / 10000) for i in range(10**6))
        path = self.tmp / "hey.csv"
        r = self.s3analyze("import", "hey", self.put("million", text.encode()), "-o", path)
        self.assertIn("hey keeps the first 1,000,000 requests only", r.out)
        self.assertIn("imported-cut", [f["kind"] for f in self.analyze("--json", path).json()["findings"]])


class Damaged(Case):
    def test_file_and_line(self):
        good = "0.0300,0.0010,0.0000,0.0005,0.0205,0.0080,200,0.0002"
        for form, text, *words in [
                ("hey", "", ":1: this is not what `hey -o csv` writes"),
                ("hey", f"{HEY}\n{good}\n0.03,0.0\n", ":3: expected 8 fields"),
                ("hey", f"{HEY}\n{good.replace('0.0300', '-0.03')}\n", ":2: field 1 is no number of seconds"),
                ("hey", f"{HEY}\n{good.replace('200', '2.0')}\n", ":2: field 7 is no status"),
                ("hey", f"{HEY}\n{good.replace('0.0002', '99999999999999')}\n", ":2: field 8"),
                ("hey", f"{HEY}\n", "no requests"),
                ("ab", "Percentage served,Time in ms\n0,0.1\n", ":1: this is not what `ab -g` writes"),
                ("ab", f"{HEY}\n", ":1: this is not what `ab -g` writes"),
                ("ab", f"{AB}\nx\t1795239692\t0\t1\t1\n", ":2: expected 6 fields"),
                ("ab", f"{AB}\nx\t1795239692\t0\t1\t-1\t1\n", ":2: field 5 is no number of ms"),
                ("ab", f"{AB}\nx\t99999999999\t0\t1\t1\t1\n", ":2: "),
                ("ab", f"{AB}\nx\t5000000000\t0\t1\t1\t1\n", ":2: a start after 2106"),
                ("ab", f"{AB}\nx\0", ":2: a NUL"),
                ("mc-trace", "{\n}\n", ':1: a call without "api"'),
                ("mc-trace", "[1]\n", ":1: "),
                ("mc-trace", "1\n", ":1: no JSON"),
                ("mc-trace", "no JSON\n", ":1: no JSON"),
                ("mc-trace", json.dumps(CALL)[:-1] + "\n", ":1: the call is not whole"),
                ("mc-trace", json.dumps(CALL) + "\n\n1\n", ":3: no JSON"),
                ("mc-trace", json.dumps(CALL)[:-1], ":1: the call is not whole"),
                ("mc-trace", json.dumps(dict(CALL, time="now")), ':1: "time" is no time'),
                ("mc-trace", json.dumps(dict(CALL, duration=-1)), ':1: "duration"'),
                ("mc-trace", json.dumps(dict(CALL, duration=2**62)), ":1: "),
                ("mc-trace", json.dumps(dict(CALL, callStats={"tx": -1})), ":1: a size below 0"),
                ("mc-trace", json.dumps(dict(CALL, api="os.Open")), "no requests"),
                ("s3-log", "a b c\n", ":1: expected a line of a server access log"),
                ("s3-log", f"{LOG}\n{LOG.replace('06/Feb', '31/Feb')}\n", ":2: field 3 is no time"),
                ("s3-log", LOG.replace(" 70 ", " x "), ":1: field 14 is no number"),
                ("s3-log", LOG.replace('HTTP/1.1"', "HTTP/1.1"), ":1: "),
                ("s3-log", "x" * (1 << 20) + "y\n", ":1: a line of more than 1 MiB")]:
            with self.subTest(form=form, text=text[:80]):
                self.refused(form, text, *words)

    def test_salvage(self):
        """Skips and counts what cannot be read, wherever it stands; what is read is as without it."""
        whole = json.dumps(CALL, indent=1)
        for form, head, good, bads in (
                ("hey", f"{HEY}\n", "0.0300,0.0010,0.0000,0.0005,0.0205,0.0080,200,0.0002", ["1,2", "\0", "x" * (2 << 20)]),
                ("ab", f"{AB}\n", "x\t1795239692\t0\t1\t1\t1", ["x", "x\t5000000000\t0\t1\t1\t1"]),
                ("s3-log", "", LOG.replace("3E57", "-"), ["a b c", LOG.replace(" 70 ", " x "), LOG[:120]]),
                ("mc-trace", "", whole, ["1", "no JSON", whole[:100], whole[:-1], json.dumps(CALL)[:90], whole[100:],
                                         json.dumps(dict(CALL, time="now")), '{"a": "' + "x" * (2 << 20), "[1]", "{}"])):
            calls = itertools.count()
            def unique(text):
                return text.replace('"rx": 700', f'"rx": {next(calls)}').replace("5000000", f"500000{next(calls)}") \
                    if form == "mc-trace" and text == good else text
            for bad, lines in [(b, [good, b, good, good, b, b, good]) for b in bads] + [(b, [b, good, b]) for b in bads]:
                text = head + "\n".join(map(unique, lines)) + "\n"
                with self.subTest(form=form, bad=bad[:80], n=len(lines)):
                    path = self.put("in", text.encode())
                    r = self.s3analyze("import", form, path, "-f", "-o", self.tmp / "o", status=1)
                    self.assertIn("--salvage skips", r.err)
                    first = re.search(r"in:(\d+): ", r.err).group(1)
                    r = self.s3analyze("import", form, path, "-f", "--salvage", "-o", self.tmp / "o")
                    n_bad, n_good = lines.count(bad), lines.count(good)
                    if form == "mc-trace" and bad[0] != "{" and n_bad == 3:
                        n_bad = 2  # up to the next call it is one place
                    self.assertIn(f": {n_good} request", r.out)
                    self.assertRegex(unwrapped(r.err), rf"dropped {n_bad} bad rows?; the first: \S*in:{first}: ")
                    found = {f["kind"]: f for f in self.s3analyze("analyze", "--json", self.tmp / "o").json()["findings"]}
                    self.assertIn(f"in:{first}: ", found["damaged"]["sentence"])
        r = self.s3analyze("import", "hey", self.put("in", b"x\n"), "-f", "--salvage", "-o", self.tmp / "p", status=1)
        self.assertIn("the header is missing", r.err)

    def test_files_that_are_not_there(self):
        for path in "/nowhere", self.tmp:
            r = self.s3analyze("import", "ab", path, "-o", self.tmp / "o.csv", status=1)
            self.assertIn(str(path), r.err)

    def test_what_the_recording_tells_is_not_asked(self):
        out = self.tmp / "o.csv"
        for form, name, option, value in (("mc-trace", "mc-trace.json", "--op", "PUT"), ("s3-log", "s3.log", "--host", "h"),
                                          ("ab", "ab.tsv", "--start", "2026-11-21T05:41:32Z")):
            r = self.s3analyze("import", form, IMPORTS / name, "-o", out, option, value, status=2)
            self.assertIn(f"{form} records", r.err)
            self.assertFalse(out.exists())

    def test_output_is_spared(self):
        path = self.put("o.csv", b"mine")
        r = self.s3analyze("import", "ab", IMPORTS / "ab.tsv", "-o", path, status=1)
        self.assertIn("--force", r.err)
        self.assertEqual(path.read_bytes(), b"mine")
        self.s3analyze("import", "ab", IMPORTS / "ab.tsv", status=2)
        self.s3analyze("import", "wrk", IMPORTS / "ab.tsv", "-o", path, status=2)
        self.s3analyze("import", "ab", path, "-f", "-o", path, status=2)

    def test_comments_that_say_too_much(self):
        """A comment is input, too."""
        path = self.of_file("ab")
        text = path.read_text()
        said = re.search("# s3analyze/import/1 (.*)", text).group(1)
        for told in (dict(start_ns=2**62), dict(duration_ns=-5, start_ns=-1), dict(absent="x" * 5000), dict(event=[]),
                     {"from": 7, "absent": None}, {"from": "\x1b[31m"}):
            path.write_text(text.replace(said, json.dumps(dict(json.loads(said), **told))))
            for command in "analyze", "info":
                self.assertNotIn("\x1b", self.s3analyze(command, path).out)


class RealPrograms(Case):
    """Against the embedded target."""

    def run_against_target(self, program, *options):
        target = Target("--bucket", "b")
        self.addCleanup(target.stop)
        client = S3Client(target)
        client.done("PUT", "/b/o", body=b"x" * 16384)
        sent, path = client.signed("GET", "/b/o")
        headers = [word for k, v in sent.items() if k != "host" for word in ("-H", f"{k}: {v}")]
        argv = [program, "-n", "1000", "-c", "8", *map(str, options), *headers, f"http://{target.hosts}{path}"]
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)
        return done.stdout.decode()

    def requests(self, form, path):
        report = self.s3analyze("analyze", "--json", "--range", "full", self.imported(form, path)).json()
        self.assertEqual(report["n_rows"], 1000)
        self.assertEqual(report["operations"][0]["n_errors"], 0)
        return report["operations"][0]["requests"]

    def test_hey(self):
        text = self.run_against_target(tool("hey"), "-o", "csv")
        requests = self.requests("hey", self.put("hey.csv", text.encode()))
        values = sorted(float(line.split(",")[0]) for line in text.split("\n")[1:1001])
        for p in 50, 75, 90, 99:
            # The value that hey takes for a percentile (requester/report.go).
            value = values[math.ceil(p * len(values) / 100)]
            self.assertLessEqual(abs(requests[f"p{p}_ns"] - value * 1e9), 100000)

    def test_ab(self):
        out = self.tmp / "ab.tsv"
        text = self.run_against_target(tool("ab"), "-q", "-g", out)
        requests = self.requests("ab", out)
        printed = {int(p): int(ms) for p, ms in re.findall(r"^ +(\d+)% +(\d+)", text, re.M)}
        for p in 50, 75, 90, 99:
            self.assertLessEqual(abs(requests[f"p{p}_ns"] - printed[p] * MS), MS)
        self.assertLessEqual(abs(requests["slowest_ns"] - printed[100] * MS), MS)


if __name__ == "__main__":
    unittest.main()
