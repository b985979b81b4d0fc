"""Damaged captures, by way of the command line: always a report or a message, and with --salvage all
rows but the damaged. (tests/unit/test_damage.c reads many more of them.)

DAMAGE_FLIPS=N tries N flipped bits of each kind of file instead of the usual few."""

import os
import random
import re
import unittest

import zstd
from capgen import Shape, frames, lines, simulate, steady, text
from expect import ReportTest
from harness import run

FLIPS = int(os.environ.get('DAMAGE_FLIPS', '60'))
TIMEOUT_S = 20


def one_line_errors(rows):
    return [r._replace(error=r.error.replace('\n', ' ')) for r in rows]


class Damage(ReportTest):
    @classmethod
    def setUpClass(cls):
        shape = Shape(n=40, ops=('GET', 'PUT'), hosts=2, error_frac=0.1)
        cls.lines = lines(one_line_errors(simulate(11, shape)))
        cls.text = ''.join(cls.lines).encode()
        # One frame per 8 rows, a block per 2 of them.
        rows = [line.encode() for line in cls.lines[1:]]
        groups = [rows[i:i + 8] for i in range(0, 40, 8)]
        groups[0].insert(0, cls.lines[0].encode())
        cls.pieces = [zstd.frame(*(b''.join(g[i:i + 2]) for i in range(0, len(g), 2)), b'')
                      for g in groups]

    def setUp(self):
        super().setUp()
        self.path = self.tmp / 'capture'

    def read(self, data, *options):
        self.path.write_bytes(data)
        r = run('s3analyze', 'analyze', '--json', *options, self.path, timeout=TIMEOUT_S)
        self.assertIn(r.status, (0, 1), r.err)
        self.assertNotIn('Sanitizer', r.err)
        if r.status == 1:
            self.assertEqual(r.raw, b'')
            self.assertRegex(r.err, rf'{re.escape(str(self.path))}(:\d+)?: \S')
        return r

    def rows_salvaged(self, data):
        r = self.read(data, '--salvage')
        return r.json()['n_rows'] if r.status == 0 else 0

    @staticmethod
    def whole_rows(decoded):
        """Rows of a text that was cut off: a row is whole when all of its fields are there."""
        rows = decoded.split(b'\n')
        return sum(1 for r in rows if r.count(b'\t') == 14) - (rows[0].count(b'\t') == 14)

    def test_every_cut_of_plain_text(self):
        data = b''.join(text(steady(3)).splitlines(True))
        header = data.index(b'\n')
        for n in range(len(data)):
            whole = self.whole_rows(data[:n])
            salvaged = self.rows_salvaged(data[:n])
            if n > header:
                # The last field may be empty, or have lost digits.
                self.assertEqual(salvaged, whole, n)
                r = self.read(data[:n])
                self.assertEqual(r.status == 0, data[:n].endswith(b'\n') or
                                 data[:n].splitlines()[-1].count(b'\t') == 14, n)

    def test_cuts_of_many_frames(self):
        data = b''.join(self.pieces)
        ends = [len(b''.join(self.pieces[:i])) for i in range(len(self.pieces) + 1)]
        for n in range(1, len(data), 7):
            decoded = zstd.decodable(data[:n])
            r = self.read(data[:n])
            self.assertEqual(r.status == 0, n in ends, n)
            self.assertGreaterEqual(self.rows_salvaged(data[:n]), decoded.count(b'\n') - 1, n)

    def test_flipped_bits_of_frames(self):
        r = random.Random(3)
        data = b''.join(self.pieces)
        for _ in range(FLIPS):
            at = r.randrange(len(data))
            broken = bytearray(data)
            broken[at] ^= 1 << r.randrange(8)
            note = f'byte {at}: {data[at]} -> {broken[at]}'
            # Some bits of a frame header mean nothing.
            if zstd.decodable(bytes(broken)) != self.text:
                self.assertEqual(self.read(bytes(broken)).status, 1, note)
            frame = next(i for i in range(5) if at < len(b''.join(self.pieces[:i + 1])))
            if frame > 0:
                self.assertGreaterEqual(self.rows_salvaged(bytes(broken)), 32, note)

    def test_flipped_bits_of_plain_text(self):
        r = random.Random(4)
        for _ in range(FLIPS):
            broken = bytearray(self.text)
            at = r.randrange(len(broken))
            broken[at] ^= 1 << r.randrange(8)
            self.read(bytes(broken))
            before = self.text.count(b'\n', 0, at)
            if before > 0:
                self.assertGreaterEqual(self.rows_salvaged(bytes(broken)), before - 1, at)

    def test_a_damaged_frame_in_the_middle(self):
        for i in range(1, 4):
            broken = bytearray(self.pieces[i])
            broken[len(broken) // 2:] = b'\xff' * (len(broken) - len(broken) // 2)
            data = b''.join([*self.pieces[:i], bytes(broken), *self.pieces[i + 1:]])
            self.assertEqual(self.read(data).status, 1)
            self.assertGreaterEqual(self.rows_salvaged(data), 32)
            lost = b''.join(self.pieces[:i] + self.pieces[i + 1:])
            self.assertEqual(self.read(lost).status, 0)
            garbage = b''.join([*self.pieces[:i], os.urandom(50), *self.pieces[i:]])
            self.assertEqual(self.read(garbage).status, 1)
            self.assertEqual(self.rows_salvaged(garbage), 40)

    def test_rows_across_the_seam_of_a_damaged_frame(self):
        """Frames cut anywhere: the rows that lie in the damaged one in part are lost as well."""
        r = random.Random(6)
        rows = one_line_errors(simulate(2, Shape(n=400, error_frac=0.1)))
        data = text(rows)
        for _ in range(30):
            places = sorted(r.sample(range(300, len(data)), 4))
            pieces = [frames(data[a:b]) for a, b in zip([0, *places], [*places, len(data)])]
            k = r.randrange(1, 5)
            broken = bytearray(pieces[k])
            broken[r.randrange(6, len(broken))] ^= 0x55
            bad = [0, *places, len(data)][k:k + 2]
            untouched = data.count(b'\n', 0, bad[0]) - 1 + data.count(b'\n', bad[1]) - 1
            salvaged = self.rows_salvaged(b''.join([*pieces[:k], bytes(broken), *pieces[k + 1:]]))
            self.assertGreaterEqual(salvaged, untouched, places)
            self.assertLessEqual(salvaged, 400)

    def test_a_wrong_checksum_keeps_the_rows_apart(self):
        broken = bytearray(self.pieces[2])
        broken[-1] ^= 1
        data = b''.join([*self.pieces[:2], bytes(broken), *self.pieces[3:]])
        self.assertIn('checksum', self.read(data).err)
        report = self.read(data, '--salvage').json()
        self.assertEqual(report['n_rows'], 40)
        self.assertEqual(report['inputs'][0]['n_unverified'], 8)
        self.assertTrue(report['warnings'])

    def test_the_message_names_the_line(self):
        for n in 1, 5, 40:
            broken = list(self.lines)
            fields = broken[n].split('\t')
            fields[5] = 'x'
            broken[n] = '\t'.join(fields)
            for data in ''.join(broken).encode(), frames(''.join(broken).encode(), 1111, 2222, 3333):
                self.assertIn(f'{self.path}:{n + 1}: ', self.read(data).err)

    def test_reports_say_what_was_dropped(self):
        data = ''.join(self.lines[:20] + ['bad\n'] + self.lines[20:]).encode()
        self.path.write_bytes(data)
        for options in [], ['--json']:
            out = self.s3analyze('analyze', '--salvage', *options, self.path).out
            self.assertRegex(out, r'(?i)dropped')
        report = self.read(data, '--salvage').json()
        self.assertEqual(report['inputs'][0]['n_dropped'], 1)


if __name__ == '__main__':
    unittest.main()
