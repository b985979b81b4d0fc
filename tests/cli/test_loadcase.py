"""The tests' own reader of captures (loadcase.py): what chance puts in a frame, or a pause in writing cuts off, is no failure
of s3load."""
import unittest

import loadcase
import zstd
from harness import CliTest

HEADER = (b"idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\tlast_byte\tend\t"
          b"duration_ns\tcat\tintended\n# s3load/1 {}\n")
ROW = (b"%d\t3\tPUT\tc\t1\t1\thttp://h\tk\t\t2026-11-22T15:00:00.000000001Z\t\t2026-11-22T15:00:00.000000002Z\t"
       b"2026-11-22T15:00:01.000000001Z\t1000000000\t0\t2026-11-22T15:00:00.000000000Z\n")


class Reader(CliTest):
    def rows(self, *frames):
        """The row numbers in a capture of these frames."""
        return [r.seq for r in loadcase.Capture(self.put("c.csv.zst", b"".join(frames))).rows]

    def test_magic_number_in_a_frame(self):
        """A magic number within a frame begins no frame: here as a key; in compressed data it occurs once in 4 GiB."""
        row = (ROW % 0).replace(b"\tk\t", b"\t" + loadcase.FRAME_MAGIC + b"\t")
        odd = zstd.frame(row[:30], row[30:])
        self.assertIn(loadcase.FRAME_MAGIC, odd[4:])
        self.assertEqual(self.rows(zstd.frame(HEADER), odd, zstd.frame(ROW % 1)), [0, 1])

    def test_line_that_is_being_written(self):
        """A row that is not complete yet does not count, wherever the text ends."""
        for n in range(len(ROW % 1)):
            begun = zstd.frame(ROW % 0 + (ROW % 1)[:n], (ROW % 1)[n:])[:-5]
            self.assertEqual(self.rows(zstd.frame(HEADER), begun), [0], n)


if __name__ == "__main__":
    unittest.main()
