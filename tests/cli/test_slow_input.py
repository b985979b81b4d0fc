"""Inputs made to be slow: each is read within the time that its bytes take, or the test runs into its deadline."""
import struct

import zstd
from harness import CliTest, run

DEADLINE_S = 60  # each takes about a second, and minutes where it is looked through again and again
HEADER = b"idx\tthread\top\tbytes\tendpoint\tfile\terror\tstart\tend\n"
ROW = b"%d\t0\tGET\t1000\th\tk\t\t2026-01-01T00:00:%02dZ\t2026-01-01T00:00:%02dZ\n"
TEXT = HEADER + b"".join(ROW % (i, i, i + 1) for i in range(50))


def repeated(byte, n):
    """A zstd frame of n bytes of one kind, in a few KiB."""
    blocks = []
    while n > 0:
        size = min(n, 128 << 10)
        n -= size
        blocks.append(struct.pack("<I", (n == 0) | 1 << 1 | size << 3)[:3] + byte)
    return b"\x28\xb5\x2f\xfd\0\x58" + b"".join(blocks)


class SlowInput(CliTest):
    def test_headers_that_lead_nowhere(self):
        """Block headers of many torn frames, each of which could be followed to the end of the file."""
        good = zstd.frame(TEXT)
        path = self.tmp / "magics.csv.zst"
        path.write_bytes(good + b"\x28\xb5\x2f\xfd\0\x58" * 3000 + bytes(3 << 20) + good)
        r = run("s3analyze", "info", "--json", "--salvage", path, timeout=DEADLINE_S)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(r.json()["captures"][0]["n_rows"], 100)
        r = run("s3analyze", "info", path, timeout=DEADLINE_S)
        self.assertEqual(r.status, 1)
        self.assertIn("damaged zstd frame", r.err)

    def test_blank_lines(self):
        path = self.tmp / "blank.csv.zst"
        path.write_bytes(zstd.frame(TEXT) + repeated(b"\n", 4 << 30) + zstd.frame(TEXT[len(HEADER):]))
        r = run("s3analyze", "info", "--json", path, timeout=DEADLINE_S)
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(r.json()["captures"][0]["n_rows"], 100)


if __name__ == "__main__":
    import unittest
    unittest.main()
