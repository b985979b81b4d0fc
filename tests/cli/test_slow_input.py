"""Inputs made to be slow: each costs the processor what its bytes cost, not minutes."""
import os
import resource
import struct
import subprocess

import zstd
from harness import BUILD, CliTest, preload, run

HEADER = b"idx\tthread\top\tbytes\tendpoint\tfile\terror\tstart\tend\n"
ROW = b"%d\t0\tGET\t1000\th\tk\t\t2026-01-01T00:00:%02dZ\t2026-01-01T00:00:%02dZ\n"
TEXT = HEADER + b"".join(ROW % (i, i, i + 1) for i in range(50))


def limit_cpu():
    """Each takes about a second, or minutes if a reader scans it again and again."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def repeated(byte, n):
    """A zstd frame of n bytes of one kind, in a few KiB."""
    blocks = []
    while n > 0:
        size = min(n, 128 << 10)
        n -= size
        blocks.append(struct.pack("<I", (n == 0) | 1 << 1 | size << 3)[:3] + byte)
    return b"\x28\xb5\x2f\xfd\0\x58" + b"".join(blocks)


def work_of(log, *args):
    """How often s3analyze called malloc and read, and how often its threads waited for each other."""
    env = dict(os.environ, **preload("fault.so"), FAULT_LOG=str(log))
    child = subprocess.Popen([BUILD / "s3analyze", *args], env=env, stdout=subprocess.DEVNULL)
    usage = os.wait4(child.pid, 0)[2]
    work = {kind: int(n) for kind, n in (line.split() for line in log.read_text().splitlines())}
    return dict(work, wait=usage.ru_nvcsw)


class SlowInput(CliTest):
    def test_headers_that_lead_nowhere(self):
        """Block headers of many torn frames, each of which could be followed to the end of the file."""
        good = zstd.frame(TEXT)
        path = self.tmp / "magics.csv.zst"
        path.write_bytes(good + b"\x28\xb5\x2f\xfd\0\x58" * 3000 + bytes(3 << 20) + good)
        r = run("s3analyze", "info", "--json", "--salvage", path, preexec_fn=limit_cpu)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(r.json()["captures"][0]["n_rows"], 100)
        r = run("s3analyze", "info", path, preexec_fn=limit_cpu)
        self.assertEqual(r.status, 1)
        self.assertIn("damaged zstd frame", r.err)

    def test_blank_lines(self):
        path = self.tmp / "blank.csv.zst"
        path.write_bytes(zstd.frame(TEXT) + repeated(b"\n", 4 << 30) + zstd.frame(TEXT[len(HEADER):]))
        r = run("s3analyze", "info", "--json", path, preexec_fn=limit_cpu)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(r.json()["captures"][0]["n_rows"], 100)

    def test_quotes_that_are_never_closed(self):
        """Each row opens a quoted field that could be scanned to the end of the text."""
        row = b'1\t0\tGET\t1000\th\tk\t"a\n'
        path = self.tmp / "quotes.csv"
        for end, n_good in (b"", 50), (b'"\n', 50):
            path.write_bytes(TEXT + row * 200000 + end)
            r = run("s3analyze", "info", "--json", "--salvage", path, preexec_fn=limit_cpu)
            self.assertEqual(r.status, 0, r.err)
            self.assertEqual(r.json()["captures"][0]["n_rows"], n_good)

    def test_comments_between_the_first_and_the_last(self):
        """They are counted even if they are not kept."""
        path = self.tmp / "comments.csv"
        path.write_bytes(TEXT + b"".join(b"#%d\n" % i for i in range(1000)))
        info = self.s3analyze("info", "--json", path).json()["captures"][0]
        kept = [*range(64), *range(1000 - 64, 1000)]
        self.assertEqual(info["comments"], [f"#{i}" for i in kept])
        self.assertEqual(info["n_comments_left_out"], 1000 - len(kept))
        report = self.s3analyze("merge", "--json", "-o", self.tmp / "out.csv.zst", path).json()
        self.assertIn("comments-left-out", [n["code"] for n in report["notes"]])

    def test_comments_above_the_header(self):
        """What must be kept until the header line comes is bounded."""
        path = self.tmp / "above.csv"
        path.write_bytes((b"#" + b"x" * 1000 + b"\n") * 17000 + TEXT)
        r = self.s3analyze("cat", "-o", self.tmp / "out", path, status=1)
        self.assertIn("more than 16 MiB of comments above the header line", r.err)
        self.assertFalse((self.tmp / "out").exists())


# Sanitizers have their own malloc, which does not count calls.
if "-fsanitize" not in (BUILD / "flags").read_text():
    class Work(CliTest):
        def work(self, data, *args):
            path = self.tmp / "capture"
            path.write_bytes(data)
            return work_of(self.tmp / "log", *args, path)

        def test_comments(self):
            """One more comment costs no memory of its own: the first and the last ones are kept."""
            for args in ("info",), ("analyze", "--json"), ("cat", "-o", "-"):
                for above in b"", b"#x\n":
                    few, many = (self.work(above * n + TEXT + b"#x\n" * n, *args) for n in (1000, 200000))
                    self.assertLess(many["malloc"], few["malloc"] + 100, args)

        def test_torn_frames(self):
            """Their headers are read together, and passed between threads many at a time."""
            good = zstd.frame(TEXT)
            n = 20000
            work = self.work(good + good[:-30] * n + good, "info", "--salvage")
            self.assertLess(work["read"], n / 2)
            n = 100000
            work = self.work(good + b"\x28\xb5\x2f\xfd\0\x58" * n + good, "info", "--salvage")
            self.assertLess(work["read"], 1.5 * n)
            self.assertLess(work["wait"], n / 2)

        def test_tiny_frames(self):
            """Frames of a row each, from a pipe: threads do not wait for each frame."""
            row = zstd.frame(TEXT.splitlines(keepends=True)[1])
            n = 50000
            path = self.tmp / "capture"
            path.write_bytes(zstd.frame(TEXT) + row * n)
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
                child = subprocess.Popen([BUILD / "s3analyze", "info", "-"], stdin=cat.stdout,
                                         stdout=subprocess.DEVNULL)
                usage = os.wait4(child.pid, 0)[2]
            self.assertLess(usage.ru_nvcsw, n / 4)


if __name__ == "__main__":
    import unittest
    unittest.main()
