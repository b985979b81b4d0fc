"""What the reader accepts, and its messages about the rest."""

import gzip
import lzma
import random
import resource
import unittest

import capgen
import oracle
import zstd
from capgen import Shape, frames, lines, row, simulate, steady, text
from expect import ReportTest, figures
from harness import BUILD, capture, run
from oracle import SECOND, Analysis, parse_time

HEADER = '\t'.join(capgen.COLUMNS[4])
MULTI_LINE = ['one\ntwo', 'a\r\nb', '\n', 'x\n\n\ny', '# no comment\n# neither', 'say "no"\n"', '"',
              '7\t3\tGET\tc\t1\t5\thttp://h\tk\t\t'
              '2026-11-21T05:45:58Z\t\t\t2026-11-21T05:45:59Z\t1\t0\n',
              '\t\t\n\t', ' blank first', 'idx\tthread\top\n']


def objects(report, op='GET'):
    """The number of distinct objects of an operation."""
    first = report.operations[op]['requests']['first_access']
    return first['n'] if first else None


class Quoting(ReportTest):
    def rows(self):
        good = steady(60, threads=2, size=4096)
        return [r._replace(error=MULTI_LINE[i // 3 % len(MULTI_LINE)]) if i % 3 == 0 else r
                for i, r in enumerate(good)]

    def test_quoted_errors_span_lines(self):
        rows = self.rows()
        report = self.analyze(text(rows))
        self.assert_fits_oracle(report, Analysis(rows))

    def test_quoted_errors_span_frames(self):
        rows = self.rows()
        data = text(rows)
        expected = figures(self.analyze(data).raw)
        r = random.Random(1)
        quotes = [i for i, byte in enumerate(data) if byte == ord('"')]
        for _ in range(40):
            places = [r.choice(quotes) + r.randrange(-2, 3) for _ in range(6)]
            self.assertEqual(figures(self.analyze(frames(data, *places)).raw), expected, places)

    def test_units_that_begin_inside_quotes(self):
        """Frames so large that they are read in parallel, on a guess of what comes before them."""
        r = random.Random(4)
        rows = []
        for i, x in enumerate(steady(10000, threads=2, every=SECOND // 1000, size=1)):
            long_error = '\n'.join(r.choice(MULTI_LINE) for _ in range(30))
            rows.append(x._replace(error=long_error if i % 40 == 0 else '', file=r.randbytes(40).hex()))
        data = text(rows)
        expected = self.analyze(data)
        self.assertEqual(expected.json['n_rows'], len(rows))
        places = range(1000, len(data), 70001)
        for level in -1000, 1:
            packed = frames(data, *places, level=level)
            for threads in '1', '2', '4':
                report = self.analyze(packed, '--threads', threads)
                self.assertEqual(figures(report.raw), figures(expected.raw))

    def test_a_header_within_units(self):
        """A second capture, of another generation, somewhere in a file read by several threads."""
        rows = simulate(9, Shape(n=12000, threads=8, ops=('GET', 'PUT'), median=SECOND // 1000))
        later = [r._replace(start=r.start + 10**9, end=r.end + 10**9,
                            first=r.first and r.first + 10**9, last=None) for r in rows]
        data = text(rows) + text(later, generation=3) + text(capgen.as_read(rows[:50], 0), generation=0)
        expected = self.analyze(data)
        self.assert_fits_oracle(expected, Analysis(oracle.parse(data.decode())))
        for level in -1000, 3:
            packed = frames(data, *range(500, len(data), 60013), level=level)
            for threads in '1', '3':
                report = self.analyze(packed, '--threads', threads)
                self.assertEqual(figures(report.raw), figures(expected.raw))

    def test_quotes_inside_a_field_are_ordinary(self):
        data = text(steady(9, file='a"b""c')).replace(b'\ta"', b'\tx"', 1)
        self.assertEqual(objects(self.analyze(data)), 2)
        quoted = text(steady(9, error='a "b" c'))
        raw = quoted.replace(b'\t"a ""b"" c"\t', b'\ta "b" c\t')
        self.assertNotEqual(raw, quoted)
        self.assertEqual(figures(self.analyze(raw).raw), figures(self.analyze(quoted).raw))

    def keyed(self, *keys):
        """A capture of one row for each key, written raw, and once more for the key `k`."""
        out = lines(steady(len(keys) + 1))
        return ''.join([out[0], out[1], *(line.replace('\tk\t', f'\t{k}\t')
                                          for k, line in zip(keys, out[2:]))]).encode()

    def test_keys_that_begin_with_a_quote(self):
        self.assertEqual(objects(self.analyze(self.keyed('"k"', '"k"'))), 1)
        # A quoted key may hold the delimiter, and doubled quotes.
        self.assertEqual(objects(self.analyze(self.keyed('"a\tb"', '"a\tb"', 'k'))), 2)
        self.assertEqual(objects(self.analyze(self.keyed('"x""y"', 'x"y', '"x"y'))), 3)
        # No closing quote on the line, or none before a delimiter: literal.
        self.assertEqual(objects(self.analyze(self.keyed('"k', '"k', '"k"x', 'k'))), 3)
        self.assertEqual(objects(self.analyze(self.keyed('"', '""', '"""', '"'))), 3)

    def test_a_literal_quote_before_a_quoted_error(self):
        rows = steady(9, error='say "x"')
        data = text(rows).replace(b'\tk\t', b'\t"k\t')
        self.assertEqual(figures(self.analyze(data).raw), figures(self.analyze(text(rows)).raw))

    def test_a_literal_quote_before_an_error_that_begins_with_the_delimiter(self):
        """If the key were read as quoted, the error and the next row would be one field."""
        rows = [row(0, 9, file='"x', error='\t'), row(10, 19, error='y\tz'), row(20, 29)]
        raw = text(rows)
        self.assertIn(b'\t"x\t"\t"\t', raw)
        for data in raw, raw.replace(b'\n', b'\r\n'):
            out = self.s3analyze('cat', '-', stdin=data).out
            self.assertEqual([(r.file, r.error) for r in oracle.parse(out)],
                             [(r.file, r.error) for r in rows])

    def test_a_quoted_key_before_an_error_of_several_lines(self):
        raw = text(steady(2, file=' k', error='one\ntwo')).replace(b'\t k\t', b'\t" k"\t')
        out = self.s3analyze('cat', '-', stdin=raw).out
        self.assertEqual([(r.file, r.error) for r in oracle.parse(out)], [(' k', 'one\ntwo')] * 2)

    def test_quoted_endpoints(self):
        data = text(steady(20)).replace(b'\thttp://h0:9000\t', b'\t"http://h0:9000"\t', 7)
        self.assertEqual(self.analyze(data).operations['GET']['n_hosts'], 1)

    def test_quoted_fields_in_commas(self):
        rows = [r._replace(host='', client='') for r in steady(40)]
        rows = [r._replace(error='a, b\n"c"') if i % 5 == 0 else r for i, r in enumerate(rows)]
        data = text(rows, generation=0)
        self.assertIn(b'"a, b\n""c"""', data)
        self.assert_fits_oracle(self.analyze(data), Analysis(rows))


class Names(ReportTest):
    def test_a_file_that_is_meant(self):
        self.put("run.csv.zst", b"")
        for name, said in (("run.csv", "no such file; there is {}/run.csv.zst"),
                           ("run-*.zst", "no such file; write a pattern without quotes"),
                           ("other.csv", "cannot open: No such file or directory")):
            r = self.s3analyze("analyze", self.tmp / name, status=1)
            self.assertIn(f"{name}: {said.format(self.tmp)}\n", r.err)


class Lines(ReportTest):
    def setUp(self):
        super().setUp()
        self.rows = simulate(5, Shape(n=60))
        self.lines = lines(self.rows)

    def check_same(self, data):
        self.assert_fits_oracle(self.analyze(data), Analysis(self.rows))

    def test_comments_and_blank_lines(self):
        for odd in ('# x\n', '#\n', '\n', '\r\n', '# "\n', '# a "quoted\n', '#\t"\t"\t\n',
                    '#idx\tthread\n'):
            with self.subTest(odd=odd):
                self.check_same((odd + odd.join(self.lines) + odd).encode())
        self.check_same(''.join(self.lines).encode() + b'# no newline')
        self.check_same(''.join(self.lines).encode() + b'\n\n\n')

    def test_last_line_without_newline(self):
        self.check_same(''.join(self.lines).encode()[:-1])
        self.check_same(frames(''.join(self.lines).encode()[:-1]))
        data = ''.join(self.lines).rpartition('\t')[0].encode()
        self.assertIn(':61: ', self.fails(data))

    def test_carriage_returns(self):
        self.check_same(text(self.rows, newline='\r\n'))
        mixed = [line.replace('\n', '\r\n') if i % 3 else line for i, line in enumerate(self.lines)]
        self.check_same(''.join(mixed).encode())
        self.check_same(''.join(mixed).encode()[:-2])

    def test_any_bytes_in_a_key(self):
        odd = bytes(b for b in range(256) if b not in b'\t\n\r')
        data = text(steady(9)).replace(b'\tk\t', b'\tk' + odd + b'\t', 4)
        self.assertEqual(objects(self.analyze(data)), 2)

    def test_a_carriage_return_in_a_key(self):
        data = text(steady(9)).replace(b'\tk\t', b'\tk\r\t', 4)
        self.assertEqual(objects(self.analyze(data)), 2)

    def test_an_empty_key_is_no_object(self):
        self.assertEqual(objects(self.analyze(text(steady(9)).replace(b'\tk\t', b'\t\t', 4))), 1)
        self.assertIsNone(objects(self.analyze(text(steady(9, file='')))))

    def test_rows_of_up_to_a_mebibyte(self):
        for n, fits in ((1 << 20) - 200, True), (1 << 20, False), (5 << 20, False):
            for field in 'file', 'error':
                long = [self.rows[0]._replace(**{field: 'x' * n, 'bytes': 77})]
                data = text(self.rows[:5] + long + self.rows[5:])
                for packed in data, frames(data, 1000, 700000):
                    with self.subTest(n=n, field=field):
                        if fits:
                            self.assertEqual(self.analyze(packed).json['n_rows'], 61)
                        else:
                            self.assertRegex(self.fails(packed), r':7: .*1 MiB')
                            report = self.analyze(packed, '--salvage')
                            self.assertEqual(report.json['n_rows'], 60)
                            self.assertEqual(report.json['inputs'][0]['n_dropped'], 1)

    def test_a_quote_that_is_never_closed(self):
        """The rest of the file is no error text: the row is bad, and the others are read."""
        bad = self.lines[10].split('\t')
        bad[8] = '"open'
        broken = self.lines[:10] + ['\t'.join(bad)] + self.lines[11:]
        data = ''.join(broken).encode()
        self.assertIn(':11: ', self.fails(data))
        report = self.analyze(data, '--salvage')
        self.assertEqual(report.json['n_rows'], 59)


class Columns(ReportTest):
    def test_columns_are_found_by_name(self):
        rows = simulate(6, Shape(n=80, ops=('GET', 'PUT'), hosts=2, clients=2, error_frac=0.1))
        r = random.Random(3)
        for delimiter in '\t', ',':
            table = [line for line in self.fields(rows, delimiter)]
            for _ in range(5):
                columns = list(range(len(table[0])))
                r.shuffle(columns)
                data = '\n'.join(delimiter.join(line[c] for c in columns) for line in table)
                self.assert_fits_oracle(self.analyze(data.encode()), Analysis(rows))

    def fields(self, rows, delimiter):
        """Fields of a capture with columns nobody knows."""
        columns = capgen.COLUMNS[4]
        out = [columns + ['colour', 'x y']]
        for i, row_line in enumerate(rows):
            [line] = lines([row_line], delimiter=delimiter)[1:]
            fields, _ = oracle.split_row(line, 0, delimiter)
            fields = [capgen.quoted(f, delimiter) for f in fields]
            out.append(fields + ['red', str(i)])
        return out

    def test_all_generations(self):
        rows = simulate(8, Shape(n=80, ops=('GET', 'PUT'), hosts=2, clients=2, n_objects=(1, 5)))
        for generation in range(5):
            report = self.analyze(text(rows, generation=generation))
            self.assert_fits_oracle(report, Analysis(capgen.as_read(rows, generation)))
            self.assertEqual(report.json['inputs'][0]['generation'], f'g{generation}')

    def test_absent_and_empty_n_objects(self):
        data = text(steady(20, n_objects=3))
        self.assertEqual(self.analyze(data).operations['GET']['n_objects'], 60)
        empty = data.replace(b'\tc0\t3\t', b'\tc0\t\t', 10)
        self.assertEqual(self.analyze(empty).operations['GET']['n_objects'], 40)
        zero = data.replace(b'\tc0\t3\t', b'\tc0\t0\t')
        self.assertEqual(self.analyze(zero).operations['GET']['n_objects'], 0)

    def test_response_time(self):
        rows = steady(20)
        data = [HEADER + '\tintended\n'] + [line[:-1] + '\t' + capgen.short_time(r.start - 1000) + '\n'
                                            for r, line in zip(rows, lines(rows)[1:])]
        requests = self.analyze(''.join(data).encode()).operations['GET']['requests']
        self.assertEqual(requests['response_time']['p50_ns'], requests['p50_ns'] + 1000)

    def test_missing_columns_are_named(self):
        for column in 'start', 'end', 'op', 'thread', 'bytes':
            names = [c for c in capgen.COLUMNS[4] if c != column]
            data = '\t'.join(names) + '\n' + '\t'.join('1' for _ in names) + '\n'
            self.assertIn(column, self.fails(data.encode()))

    def test_repeated_headers(self):
        a, b = simulate(1, Shape(n=40)), simulate(2, Shape(n=40, threads=3, ops=('GET', 'PUT')))
        for first in 0, 4:
            for second in 0, 1, 3, 4:
                data = text(a, generation=first) + text(b, generation=second)
                expected = Analysis(oracle.parse(data.decode()))
                for packed in data, frames(data), frames(text(a, generation=first)) + frames(
                        text(b, generation=second)):
                    report = self.analyze(packed)
                    self.assert_fits_oracle(report, expected)
                    self.assertIn('several-headers', [f['kind'] for f in report.json['findings']])

    def test_thread_numbers_of_a_repeated_header_stay_in_range(self):
        top = text(steady(5, threads=1)).replace(b'\n0\t0\t', b'\n0\t4294967295\t')
        self.assertEqual(self.analyze(top).json['n_rows'], 5)
        self.assertIn('thread', self.fails(top + text(steady(5))))


class Times(ReportTest):
    def timed(self, start, end):
        return (HEADER + f'\n0\t0\tGET\tc\t1\t5\thttp://h\tk\t\t{start}\t\t\t{end}\t1\t0\n').encode()

    def check_time(self, written):
        o = self.analyze(self.timed(written, '2262-04-11T00:00:00Z')).operations['GET']
        self.assertEqual(parse_time(o['start']), parse_time(written), written)

    def test_digits_and_offsets(self):
        for digits in range(10):
            fraction = '.' + '123456789'[:digits] if digits else ''
            for zone in 'Z', '+00:00', '-00:00', '+05:30', '-11:59', '+14:00':
                self.check_time('2026-02-28T23:59:59' + fraction + zone)

    def test_calendar(self):
        for day in ('1970-01-02', '1972-02-29', '1999-12-31', '2000-02-29', '2024-02-29', '2100-02-28',
                    '2100-03-01', '2261-12-31', '2262-04-10'):
            for hour in '00:00:00', '12:34:56.789', '23:59:59.999999999':
                self.check_time(f'{day}T{hour}Z')
                self.check_time(f'{day}T{hour}+01:00')

    def test_random_times(self):
        r = random.Random(5)
        rows = [row(t, t + r.randrange(10**9), size=1) for t in
                (r.randrange(-3 * 10**16, 3 * 10**16) for _ in range(300))]

        def written(ns):
            zone = r.choice([0, 0, 0, 60, -330, 845])
            local = oracle.format_time(ns + zone * 60 * SECOND)[:-1]
            local = local[:len(local) - r.choice([0, 0, 1])] if local.endswith('0') else local
            sign = '-' if zone < 0 else '+'
            return local + ('Z' if zone == 0 else f'{sign}{abs(zone) // 60:02}:{abs(zone) % 60:02}')

        report = self.analyze(text(rows, time=written), '--dur', '1000h')
        self.assert_fits_oracle(report, Analysis(rows, dur=3600000 * SECOND))

    def test_bad_times(self):
        for bad in ('', '2026-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2026-13-01T00:00:00Z',
                    '2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z', '2026-01-32T00:00:00Z',
                    '2026-04-31T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z',
                    '2026-01-01T00:00:61Z', '2026-01-01T00:00:00', '2026-01-01T00:00:00.Z',
                    '2026-01-01T00:00:00.1234567890Z', '2026-01-01 00:00:00', '2026-1-1T00:00:00Z',
                    '2026-01-01T00:00:00+1:00', '2026-01-01T00:00:00+01:60', '2026-01-01T00:00:00+25:00',
                    '1969-12-31T23:59:59Z', '2263-01-01T00:00:00Z', '2262-04-11T23:47:16.854775808Z',
                    '1970-01-01T00:00:00+00:01', '2026-01-01T00:00:00Zx', '2026-01-01T00:00:0aZ',
                    '2026-01-01T00:00:00.12a45Z', '2026-01-01T00:00:00.1234567/9Z', 'yesterday', '0'):
            with self.subTest(bad=bad):
                message = self.fails(self.timed(bad, '2262-04-11T00:00:00Z'))
                self.assertRegex(message, r'capture\.csv\.zst:2: .*start')
                good = '2026-01-01T00:00:00.5Z'
                # In the same minute as an earlier good time.
                data = self.timed(good, good) + self.timed(bad, good).split(b'\n')[1] + b'\n'
                self.assertRegex(self.fails(data), r'capture\.csv\.zst:3: .*start')


class BadInput(ReportTest):
    def check_bad(self, old, new, *words):
        """Replaces text in line 30, and expects a message about that line."""
        good = steady(50, size=4096)
        all_lines = lines(good)
        self.assertIn(old, all_lines[29])
        all_lines[29] = all_lines[29].replace(old, new, 1)
        for data in ''.join(all_lines).encode(), frames(''.join(all_lines).encode(), 2000, 5000):
            message = self.fails(data)
            self.assertRegex(message, r'capture\.csv\.zst:30: \S')
            for word in words:
                self.assertIn(word, message)
            report = self.analyze(data, '--salvage')
            self.assertEqual(report.json['n_rows'], 49)
            self.assertEqual(report.json['inputs'][0]['n_dropped'], 1)
            self.assertIn('damaged', [f['kind'] for f in report.json['findings']])
            out = self.s3analyze('analyze', '--salvage', self.write(data)).out
            self.assertRegex(out, '(?i)dropped|skipped')

    def test_bad_rows(self):
        self.check_bad('\t4096\t', '\t', 'field')
        self.check_bad('\t4096\t', '\t4096\t\t', 'field')
        self.check_bad('\t4096\t', '\t4096 \t', 'bytes', '4096 ')
        for bad in '', 'x', '-1', '+1', '1.0', '1e3', '0x10', '9223372036854775808', '4 096', '４':
            self.check_bad('\t4096\t', f'\t{bad}\t', 'bytes')
        self.check_bad('\t1\t4096', '\t-1\t4096', 'n_objects')
        self.check_bad('\t1\t4096', '\tone\t4096', 'n_objects')
        for bad in '', '-1', '4294967296', 'x', '99999999999999999999':
            self.check_bad('28\t0\tGET', f'28\t{bad}\tGET', 'thread')
        self.check_bad('\tGET\t', '\t\t', 'op')
        self.check_bad('2026-11-21T05:46:00.8Z', '2026-11-21T05:47:00.8Z', 'end', 'start')
        self.check_bad('2026-11-21T05:46:00.8Z', '2026-11-21T05:46:60.8Z', 'start')

    def test_fields_that_are_ignored_may_hold_anything(self):
        data = ''.join(lines(steady(50))).encode().replace(b'\t99', b'\tx99')
        self.assertEqual(self.analyze(data).json['n_rows'], 50)

    def test_other_formats_are_named(self):
        good = text(steady(5))
        report = b'{"version": 2, "total": {"x": [1, 2]}}\n'
        for data, word in ((gzip.compress(good), 'gzip'), (lzma.compress(good), 'xz'),
                           (report, 'JSON'), (frames(report), 'JSON')):
            self.assertIn(word, self.fails(data))
            self.assertIn(word, self.fails(data, '--salvage'))

    def test_no_capture_at_all(self):
        for data in (b'', b'\n', b'# only a comment\n', frames(b''), zstd.skippable(b'x'), b'hello\n',
                     b'a\tb\tc\n1\t2\t3\n', b'\x00' * 100, random.Random(1).randbytes(5000)):
            with self.subTest(data=data[:40]):
                message = self.fails(data)
                self.assertIn('capture.csv.zst', message)
                self.assertGreater(len(message), len('capture.csv.zst') + 20)

    def test_files_that_cannot_be_read(self):
        for path in self.tmp / 'nothing', self.tmp:
            r = self.s3analyze('analyze', path, status=1)
            self.assertIn(str(path), r.err)

    def test_too_large_a_window(self):
        data = text(steady(50))
        wide = zstd.frame(data[:1000], data[1000:], window_log=27)
        self.assertEqual(self.analyze(wide).json['n_rows'], 50)
        wider = zstd.frame(data[:1000], data[1000:], window_log=28)
        self.assertIn('window', self.fails(wider))


class AddressSpace(unittest.TestCase):
    """Batch systems limit address space (ulimit -v): a small capture needs little."""

    def test_limited(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))

        for name in 'mixed-3hosts', 'edge-errors':
            command = 's3analyze', 'analyze', '--json', capture(name)
            limited = run(*command, preexec_fn=limit)
            self.assertEqual((limited.status, limited.err), (0, ''))
            self.assertEqual(limited.raw, run(*command).raw)


if '-fsanitize' in (BUILD / 'flags').read_text():
    del AddressSpace  # sanitizers take terabytes of it


if __name__ == '__main__':
    unittest.main()
