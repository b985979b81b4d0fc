"""Damaged captures, by way of the command line: always a report or a message, and with --salvage all
rows but the damaged. (tests/unit/read/test_damage.c reads many more of them.)

DAMAGE_FLIPS=N tries N flipped bits of each kind of file instead of the usual few."""

import json
import os
import random
import re
import unittest

import capgen
import zstd
from capgen import Shape, cut, frames, lines, simulate, steady, text
from expect import ReportTest
from harness import ROOT, SANITIZED, CliTest, run

FLIPS = int(os.environ.get('DAMAGE_FLIPS', '60'))
# test_damage.c reads every prefix, with sanitizers too, as it starts no process for each.
STEP = 6 if SANITIZED else 1
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
        for n in range(0, len(data), STEP):
            whole = self.whole_rows(data[:n])
            salvaged = self.rows_salvaged(data[:n])
            if n > header:
                # The last field may be empty, or have lost digits. The header alone is no run.
                self.assertEqual(salvaged, whole, n)
                r = self.read(data[:n])
                self.assertEqual(r.status == 0, whole > 0 and (data[:n].endswith(b'\n') or
                                                               data[:n].splitlines()[-1].count(b'\t') == 14), n)

    def test_cuts_of_many_frames(self):
        data = b''.join(self.pieces)
        ends = [len(b''.join(self.pieces[:i])) for i in range(len(self.pieces) + 1)]
        for n in range(1, len(data), 7 * STEP):
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
            garbage = b''.join([*self.pieces[:i], random.Random(i).randbytes(50), *self.pieces[i:]])
            self.assertEqual(self.read(garbage).status, 1)
            self.assertEqual(self.rows_salvaged(garbage), 40)

    def test_rows_across_the_seam_of_a_damaged_frame(self):
        """Frames cut anywhere: rows that lie partly in the damaged frame are lost as well."""
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
        self.assertIn('unverified', [f['kind'] for f in report['findings']])

    def test_a_header_line_behind_damage(self):
        """Captures put together with cat: after damage a new input begins."""
        broken = bytearray(self.pieces[4])
        broken[len(broken) // 2:] = b'\xff' * (len(broken) - len(broken) // 2)
        for generation in 0, 4:
            second = text(steady(7, threads=3), generation=generation)
            data = b''.join([*self.pieces[:4], bytes(broken), frames(second)])
            report = self.read(data, '--salvage').json()
            self.assertGreaterEqual(report['n_rows'], 32 + 21)
            self.assertIn('several-headers', [f['kind'] for f in report['findings']])

    def test_the_message_names_the_line(self):
        for n in 1, 5, 40:
            broken = list(self.lines)
            fields = broken[n].split('\t')
            fields[5] = 'x'
            broken[n] = '\t'.join(fields)
            for data in ''.join(broken).encode(), frames(''.join(broken).encode(), 1111, 2222, 3333):
                self.assertIn(f'{self.path}:{n + 1}: ', self.read(data).err)

    def test_the_message_says_what_is_wrong_with_a_frame(self):
        whole = b''.join(self.pieces)
        at = len(self.pieces[0])
        reserved_bit, window, block = bytearray(whole), bytearray(whole), bytearray(whole)
        reserved_bit[at + 4] |= 8
        window[at + 4:at + 6] = b'\0\xff'
        block[at + len(self.pieces[1]) // 2:at + len(self.pieces[1])] = b'\xff' * (
            len(self.pieces[1]) - len(self.pieces[1]) // 2)
        for data, why in (reserved_bit, 'Unsupported frame parameter'), (window, 'larger than 128 MiB'), (
                block, 'corruption detected'):
            self.assertRegex(self.read(bytes(data)).err, rf'damaged zstd frame \(at byte {at}\): .*{why}')

    def test_reports_say_what_was_dropped(self):
        data = ''.join(self.lines[:20] + ['bad\n'] + self.lines[20:]).encode()
        self.path.write_bytes(data)
        for options in [], ['--json']:
            out = self.s3analyze('analyze', '--salvage', *options, self.path).out
            self.assertRegex(out, r'(?i)dropped')
        report = self.read(data, '--salvage').json()
        self.assertEqual(report['inputs'][0]['n_dropped'], 1)


class Threads(CliTest):
    """Results do not depend on the number of threads, nor on whether a file or a pipe is read."""

    @classmethod
    def setUpClass(cls):
        # Keys that do not compress, so that the threads get a few frames each.
        r = random.Random(7)
        rows = [row._replace(file=f'{r.getrandbits(400):x}')
                for row in simulate(5, Shape(n=24000, threads=8, hosts=2))]
        cls.lines = lines(rows)
        cls.n_rows = len(rows)
        cls.frames = cls.framed(''.join(cls.lines).encode())

    def setUp(self):
        super().setUp()
        self.path = self.tmp / 'capture'

    @staticmethod
    def framed(data):
        """Frames that end within rows."""
        return [zstd.frame(piece) for piece in cut(data, *range(331, len(data), len(data) // 9))]

    def same(self, frames, status=0):
        """The report on salvaging, whatever reads it."""
        data = b''.join(frames)
        self.assertGreater(len(data), 1 << 20)  # below, one thread reads it all
        self.path.write_bytes(data)
        analyze = lambda *args, **kwargs: self.s3analyze('analyze', '--json', *args, **kwargs)
        plain = [analyze('--threads', n, self.path, status=status).err for n in (1, 2, 4)]
        self.assertEqual(plain, plain[:1] * 3)
        one, *others = (analyze('--salvage', '--threads', n, self.path).raw for n in (1, 2, 4))
        for other in others:
            self.assertEqual(other, one)
        piped = json.loads(analyze('--salvage', '-', stdin=data).raw)
        report = json.loads(one)
        self.assertEqual(piped['operations'], report['operations'])
        self.assertEqual(self.dropped(piped, '<stdin>'), self.dropped(report, str(self.path)))
        return report

    @staticmethod
    def dropped(report, path):
        (this,) = report['inputs']
        return (this['n_unverified'], this['n_dropped'],
                [{**d, 'first': d['first'].removeprefix(path)} for d in this['dropped']])

    def broken(self, k, at, xor):
        frame = bytearray(self.frames[k])
        frame[at] ^= xor
        return [*self.frames[:k], bytes(frame), *self.frames[k + 1:]]

    def test_whole(self):
        self.assertEqual(self.same(self.frames)['n_rows'], self.n_rows)

    def test_comments(self):
        commented = [f'{line}# {i}\n' if i % 5 == 0 else line for i, line in enumerate(self.lines)]
        self.path.write_bytes(b''.join(self.framed(''.join(commented).encode())))
        one, four = (self.s3analyze('info', '--json', '--threads', n, self.path).raw for n in (1, 4))
        self.assertEqual(four, one)

    def test_a_header_that_lies_about_the_content_size(self):
        self.assertEqual(self.frames[3][4] >> 6, 2)  # four bytes say it, behind the window
        for at in 6, 7:
            report = self.same(self.broken(3, at, 0x02), status=1)
            self.assertLessEqual(self.n_rows - 1, report['n_rows'])
            self.assertEqual(report['inputs'][0]['n_dropped'], 1)

    def test_a_wrong_checksum(self):
        for k in 2, 4, 7:  # on the border of two threads' parts as well
            report = self.same(self.broken(k, -1, 0x01), status=1)
            self.assertEqual(report['n_rows'], self.n_rows - 1)  # the row that it leaves open
            self.assertGreater(report['inputs'][0]['n_unverified'], 2000)

    def test_missing_bytes(self):
        for k in 3, len(self.frames) - 1:
            short = self.frames[k][:-3000]
            report = self.same([*self.frames[:k], short, *self.frames[k + 1:]], status=1)
            (why,) = [d['why'] for d in report['inputs'][0]['dropped'] if d['why'] != 'bad rows']
            self.assertEqual(why == 'damaged frames', k + 1 < len(self.frames))


if __name__ == '__main__':
    unittest.main()


class Told(CliTest):
    """Every command says what it left out, and what it wrote says so too."""

    ARGS = {'autoterm': [], 'analyze': [], 'cmp': [], 'info': [], 'table': [], 'trend': [], 'cat': [], 'plot': [],
            'export': ['--format', 'openmetrics'], 'aggregate': ['-o', 'OUT'], 'merge': ['-o', 'OUT']}

    def setUp(self):
        super().setUp()
        # Frames of half a second; the pause in each is what a damaged frame leaves.
        rows = [line.encode() for line in lines(steady(1000, threads=4, every=10 ** 7))]
        pieces = [zstd.frame(b''.join(rows[i:i + 200])) for i in range(0, len(rows), 200)]
        for k in 4, 8, 12, 16:
            pieces[k] = pieces[k][:20] + bytes([pieces[k][20] ^ 255]) + pieces[k][21:]
        self.path = self.tmp / 'run.csv.zst'
        self.path.write_bytes(b''.join(pieces))

    def test_each_command(self):
        listed = [line.split() for line in (ROOT / 'testdata/formats/options.txt').read_text().splitlines()]
        commands = {words[0].removeprefix('s3analyze-') for words in listed if '--salvage' in words}
        self.assertEqual(commands, set(self.ARGS))
        for command, args in self.ARGS.items():
            with self.subTest(command):
                args = [self.tmp / command if a == 'OUT' else a for a in args]
                inputs = [self.path] * (1 + (command == 'cmp'))
                more = ['--out', self.tmp / 'plots'] if command == 'plot' else []
                r = self.s3analyze(command, '-q', '--salvage', *args, *more, *inputs)
                self.assertRegex(r.out + r.err, r'damaged frames|is damaged')

    def test_damage_is_the_cause(self):
        found = self.s3analyze('analyze', '--salvage', '--json', self.path).json()['findings']
        self.assertEqual([f['kind'] for f in found if f['severity'] == 'problem'], ['damaged'])
        self.assertIn('throughput lacks', found[0]['sentence'])
        self.assertIn(('pauses', [0]), [(f['kind'], f['because']) for f in found])

    def test_a_bad_row_explains_nothing(self):
        rows = [r for r in steady(1000, threads=4, every=10 ** 7) if not 4 * 10 ** 9 < r.start - capgen.START < 7 * 10 ** 9]
        self.path.write_bytes(text(rows) + b'bad\n')
        found = self.s3analyze('analyze', '--salvage', '--json', self.path).json()['findings']
        self.assertIn(('stall', []), [(f['kind'], f['because']) for f in found])

    def test_what_is_made_of_it(self):
        of_file = self.s3analyze('analyze', '--salvage', '--json', self.path).json()['findings'][0]['evidence']
        outs = {name: self.tmp / name for name in ('cat', 'merge', 'aggregate', 'cat of merge', 'aggregate of cat',
                                                  'merge of aggregate')}
        for name, out in outs.items():
            command, _, source = name.partition(' of ')
            made_of = [outs[source]] if source else ['--salvage', self.path]
            self.s3analyze(command, '-q', '-o', out, *made_of)
            found = self.s3analyze('analyze', '--json', out).json()['findings']
            damaged = [f for f in found if f['kind'] == 'damaged']
            self.assertEqual([f['evidence'] for f in damaged], [of_file], name)
            self.assertIn(f'{self.path}:', damaged[0]['sentence'])
