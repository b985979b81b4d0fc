"""The tests' own reader of captures (loadcase.py): what chance puts in a frame, or a pause in writing cuts off, is no failure
of s3load."""
import subprocess
import unittest
import urllib.error
import urllib.request

import loadcase
import servers
import zstd
from harness import BUILD, CliTest

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


class Ports(CliTest):
    """The server of the tests takes a port that ended connections still name, and none that another server has."""

    def serve(self, port):
        process = subprocess.Popen([BUILD / "s3target", "serve", "--port", str(port)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_a_port_is_taken_once(self):
        port = servers.free_port()
        for _ in range(3):
            first = self.serve(port)
            self.assertIn(f":{port}", first.stdout.readline())
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/")
            second = self.serve(port)
            self.assertEqual(second.stdout.readline(), "")
            self.assertIn(f"cannot listen on port {port}", second.communicate()[1])
            self.assertNotEqual(second.returncode, 0)
            first.kill()
            first.wait()


if __name__ == "__main__":
    unittest.main()
