"""What s3load makes of answers: which are errors, and what their rows say."""
import base64
import hashlib
import re
import unittest

from harness import preload, without_sanitizers
from loadcase import LoadTest
from servers import Held, Proxy, Scripted, VersityGw

KEY = re.compile(r"benchmark-bucket/(s3load-[^?]*)")


class Store(LoadTest):
    """A store whose answers to the benchmark's requests a test gives."""

    def setUp(self):
        super().setUp()
        self.server = Scripted(self.answer)
        self.addCleanup(self.server.stop)
        self.keys = []

    def answer(self, request):
        measured = self.measured(request)
        if measured is not None:
            return measured
        if request.method == "PUT":
            self.keys += KEY.findall(request.target)
            return 200, b"", {"ETag": '"e"'}
        if request.method == "POST":
            self.keys = []
            return 200, b"<DeleteResult></DeleteResult>"
        if "list-type" in request.target:
            return 200, self.listing(self.keys)
        return 200, b""

    def listing(self, keys):
        objects = "".join(f"<Contents><Key>{k}</Key><Size>9</Size></Contents>" for k in keys)
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{objects}</ListBucketResult>".encode()

    def errors_of(self, command, measured, *options, op=None, status=1, **kwargs):
        """The distinct errors of a run that gets such answers, and its rows."""
        self.keys = []
        self.measured = lambda request: measured(request) if self.is_measured(request, command) else None
        size = () if "--obj.size" in options else ("--obj.size", "64")
        state, c = self.load(command, "--objects", "2", "--concurrent", "1", "--requests", "2", *size, *options,
                             status=status, **kwargs)
        rows = c.of(op or command.upper())
        return {r.error for r in rows}, rows

    @staticmethod
    def is_measured(request, command):
        if command == "get":
            return request.method == "GET" and KEY.search(request.target)
        return "list-type" in request.target and not re.search("prefix=(&|$)", request.target)


class Answers(Store):
    def test_a_bucket_is_made_in_its_region(self):
        """S3 wants the region in the body, but of us-east-1 it wants none."""
        made = []

        def answer(request):
            if request.method == "HEAD" and not KEY.search(request.target):
                return 404, b""
            if request.method == "PUT" and not KEY.search(request.target):
                made.append(request.body)
            return None
        self.measured = answer
        for region in "us-east-1", "eu-west-1":
            self.load("put", "--requests", "1", "--concurrent", "1", "--obj.size", "64", "--region", region)
        self.assertEqual(made[0], b"")
        self.assertRegex(made[1], b"^<CreateBucketConfiguration xmlns=[^>]*><LocationConstraint>eu-west-1</LocationConstraint>"
                                  b"</CreateBucketConfiguration>$")

    def test_206_unasked(self):
        errors, _ = self.errors_of("get", lambda r: (206, b"x" * 64, {"Content-Range": "bytes 0-63/64"}))
        self.assertEqual(errors, {"HTTP 206 to a request for a whole object"})

    def test_content_range(self):
        """It must be what was asked for."""
        def good(request, shift=0, size="64"):
            a, b = map(int, re.match(r"bytes=(\d+)-(\d+)", request.headers["range"]).groups())
            return 206, b"x" * (b - a + 1), {"Content-Range": f"bytes {a + shift}-{b + shift}/{size}"}

        wrong = "HTTP 206 with another range than asked for, or none"
        for how, expected in ((good, ""), (lambda r: good(r, size="*"), ""), (lambda r: good(r, 1), wrong),
                              (lambda r: good(r)[:2], wrong),
                              (lambda r: (*good(r)[:2], {"Content-Range": "bytes */64"}), wrong)):
            errors, _ = self.errors_of("get", how, "--range-size", "10", status=1 if expected else 0)
            self.assertEqual(errors, {expected})

    def test_list_without_our_objects(self):
        errors, _ = self.errors_of("list", lambda r: (200, self.listing([])))
        self.assertEqual(errors, {"0 objects listed, 2 of this run are there"})
        errors, _ = self.errors_of("list", lambda r: (200, self.listing(self.keys[:1])), "--noprefix")
        self.assertEqual(errors, {"1 objects listed, 2 of this run are there"})
        errors, _ = self.errors_of("list", lambda r: None, status=0)
        self.assertEqual(errors, {""})

    def test_code_of_a_long_body(self):
        """Wherever it stands in the body, and when the connection ends within it."""
        body = b"<Error><Message>" + b"m" * 3000 + b"</Message><Detail>" + b"d" * 9000 + b"</Detail><Code>SlowDown</Code>"
        errors, _ = self.errors_of("get", lambda r: (503, body + b"</Error>"))
        self.assertRegex(errors.pop(), "^HTTP 503 SlowDown: m+$")
        head = f"HTTP/1.1 503 X\r\nContent-Length: {len(body) + 9}\r\n\r\n".encode()
        errors, _ = self.errors_of("get", lambda r: head + b"<Error><Code>SlowDown</Code><Message>Wait.</Message>")
        self.assertRegex(errors.pop(), "^HTTP 503 SlowDown: Wait., connection closed after \\d+ of \\d+ body bytes$")

    def test_301_names_the_region(self):
        body = b"<Error><Code>PermanentRedirect</Code><Message>Elsewhere.</Message></Error>"
        self.measured = lambda r: (301, body, {"x-amz-bucket-region": "eu-central-1"})
        r = self.s3load("put", "--requests", "2", "--concurrent", "1", status=1)
        self.assertIn("HTTP 301 PermanentRedirect: Elsewhere. (the bucket is in region eu-central-1, not us-east-1: "
                      "--region eu-central-1)", r.err)

    def test_bytes_of_a_timed_out_get(self):
        """Those that came count, however few wake us up. The time is over once all of them are in this machine's buffers."""
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"
        clock, move = self.movable_clock()
        for n in (10, 700_001):
            with self.subTest(n=n):
                errors, rows = self.errors_of("get", lambda r: Held(head + b"x" * n, then=lambda: move(3600)),
                                              "--request-timeout", "1h", "--requests", "1", env=clock)
                self.assertEqual(errors, {"timeout: no complete answer within 3600 s"})
                self.assertEqual([r.bytes for r in rows], [n])

    def test_time_of_digests(self):
        """The closing comment has it; the request's own time does not."""
        self.start()
        state, c = self.load("put", "--obj.size", "1MiB", "--concurrent", "1", "--requests", "3")
        self.assertGreater(c.end["digest_ns"], 0)
        self.assertEqual(state["digest_ns"], c.end["digest_ns"])
        self.assertLess(c.end["digest_ns"], c.end["bench_ns"])
        _, c = self.load("get", "--objects", "1", "--obj.size", "1MiB", "--requests", "3")
        self.assertEqual(c.end["digest_ns"], 0)

    def test_checksums(self):
        """Computed here once more, bit by bit."""
        def crc(data, width, polynomial):
            value = ones = 2**width - 1
            for byte in data:
                value ^= byte
                for _ in range(8):
                    value = value >> 1 ^ (polynomial if value & 1 else 0)
            return (value ^ ones).to_bytes(width // 8, "big")

        digests = {"CRC32C": lambda b: crc(b, 32, 0x82f63b78), "CRC64NVME": lambda b: crc(b, 64, 0x9a6c9329ac4bc9b5),
                   "SHA256": lambda b: hashlib.sha256(b).digest()}
        n, seen = 10, []
        self.measured = lambda r: seen.append(r) if r.method == "PUT" and KEY.search(r.target) else None
        for options in ([], ["--disable-sha256-payload"], ["--md5"]):
            for name, digest in digests.items():
                for size in ("0", "77"):
                    seen.clear()
                    self.load_until(lambda _: len(seen) >= n, "put", "--checksum", name, "--obj.size", size, *options)
                    self.assertGreaterEqual(len(seen), n)
                    for r in seen[:n]:
                        self.assertEqual(base64.b64decode(r.headers["x-amz-checksum-" + name.lower()]), digest(r.body))
                        self.assertIn("x-amz-checksum-" + name.lower(), r.headers["authorization"])


class Uncopied(Store):
    """Bodies that are only counted are dropped in the kernel, without a copy. (tests/fault/world.c sees the calls.)"""
    N = 1_000_000
    HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"

    def get(self, measured, *options, skips=True, **env):
        """Errors and bytes of the rows of a run that gets such answers; `skips`: it drops bytes. Where the kernel
        cannot, the rows are the same."""
        log = self.tmp / "world.log"
        found = []
        for refused in ({}, {"WORLD_NO_SKIPS": "1"}):
            errors, rows = self.errors_of("get", measured, "--obj.size", str(self.N), *options, status=None,
                                          env={**preload("world.so"), "WORLD_LOG": str(log), **refused, **env})
            skipped = int(re.search(r"skipped (\d+)", log.read_text())[1])
            # What comes with the head is copied.
            least, most = (0, 0) if refused or not skips else (len(rows) * (self.N // 3), len(rows) * self.N + self.N)
            self.assertTrue(least <= skipped <= most, (least, skipped, most))
            found.append(({re.sub("within \\d+ bytes", "", e) for e in errors}, [r.bytes for r in rows]))
            self.assertTrue(all(r.start < r.first_byte <= r.end for r in rows if r.bytes))
        self.assertEqual(*found)
        return found[0]

    @without_sanitizers("a library cannot be loaded before theirs")
    def test_all_that_can_come(self):
        body = b"x" * self.N
        whole = {""}, [self.N] * 2
        self.assertEqual(self.get(lambda r: (200, body)), whole)
        # The connection says that it stays open, and must not be used again: more than the body came.
        for more in (b"junk", body, b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"):
            self.assertEqual(self.get(lambda r: Held(self.HEAD % self.N + body + more)), whole)
        cut = {f"connection closed after 700000 of {self.N} body bytes"}, [700_000] * 2
        self.assertEqual(self.get(lambda r: self.HEAD % self.N + body[:700_000]), cut)
        other = {f"700000 bytes came, {self.N} were expected"}, [700_000] * 2
        self.assertEqual(self.get(lambda r: (200, body[:700_000])), other)

    @without_sanitizers("a library cannot be loaded before theirs")
    def test_ranges(self):
        def part(r, more=0):
            a, b = map(int, re.match(r"bytes=(\d+)-(\d+)", r.headers["range"]).groups())
            return 206, b"x" * (b - a + 1 + more), {"Content-Range": f"bytes {a}-{b}/*"}
        self.assertEqual(self.get(part, "--range-size", "500000"), ({""}, [500_000] * 2))
        self.assertEqual(self.get(lambda r: part(r, 9), "--range-size", "500000"),
                         ({"500009 bytes came, 500000 were expected"}, [500_009] * 2))

    @without_sanitizers("a library cannot be loaded before theirs")
    def test_what_must_be_read(self):
        """Bodies that do not say their length, that are verified, or that say what went wrong."""
        body = b"x" * self.N
        whole = {""}, [self.N] * 2
        self.assertEqual(self.get(lambda r: b"HTTP/1.1 200 OK\r\n\r\n" + body, skips=False), whole)
        chunks = b"%x\r\n%s\r\n" % (self.N // 2, body[::2]) * 2 + b"0\r\n\r\n"
        self.assertEqual(self.get(lambda r: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, skips=False),
                         whole)
        errors, _ = self.get(lambda r: (200, body), "--verify", "1", skips=False)
        self.assertRegex(errors.pop(), "^the body is not what was uploaded")
        slow = b"<Error><Message>" + b"m" * self.N + b"</Message><Code>SlowDown</Code></Error>"
        errors, _ = self.get(lambda r: (503, slow), skips=False)
        self.assertRegex(errors.pop(), "^HTTP 503 SlowDown: m+$")

    @without_sanitizers("a library cannot be loaded before theirs")
    def test_through_a_proxy(self):
        proxy = Proxy()
        self.addCleanup(proxy.stop)
        self.assertEqual(self.get(lambda r: (200, b"x" * self.N), http_proxy=proxy.url), ({""}, [self.N] * 2))
        self.assertTrue(proxy.asked)


class Checksums(LoadTest):
    """A server that refuses what does not fit."""
    server_class = VersityGw

    def test_versitygw(self):
        self.start()
        for name in ("CRC32C", "CRC64NVME", "SHA256"):
            for command, own in (("put", ["--obj.size", "300KiB"]), ("multipart", ["--parts", "2", "--part.size", "5MiB"])):
                with self.subTest(command=command, checksum=name):
                    _, c = self.load(command, "--checksum", name, *own, "--concurrent", "2", "--requests", "6")
                    self.assertEqual([r.error for r in c.errors()], [])


if __name__ == "__main__":
    unittest.main()
