"""Generated captures: the oracle's figures, and what must hold whatever the figures are.

PROPERTY_CASES=N tries N random captures instead of the usual few, PROPERTY_SEED=S others."""

import collections
import os
import random
import unittest

import capgen
import oracle
import zstd
from capgen import START, Shape, frames, row, simulate, steady, text
from expect import ReportTest, figures
from oracle import SECOND, Analysis, attribute, format_time, parse_time

CASES = int(os.environ.get('PROPERTY_CASES', '60'))
SEED = int(os.environ.get('PROPERTY_SEED', '1'))
COUNTS = 'bytes full_ops partial_ops ops_started ops_ended errors'.split()
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [(65536,), (0,), (1000, 65536), (0, 1, 9, 10, 999, 1024, 10240, MIB, GIB, 5 << 40),
         tuple(range(900, 1200)), (9 * GIB, 11 * GIB)]
OPS = [('GET',), ('GET', 'PUT'), ('GET', 'PUT', 'DELETE', 'STAT'), ('LIST', 'APPEND')]


def random_shape(r):
    ops = r.choice(OPS)
    return Shape(
        n=r.choice([1, 2, 3, 20, 150, 300]), threads=r.choice([1, 2, 4, 16]),
        hosts=r.choice([1, 1, 2, 5]), clients=r.choice([1, 1, 2, 3]), keys=r.choice([0, 1, 30, 500]),
        ops=ops, phases=len(ops) > 1 and r.random() < 0.4, sizes=r.choice(SIZES),
        n_objects=r.choice([(1,), (1, 7, 100), (0, 1)]), error_frac=r.choice([0, 0, 0.05, 0.5, 1]),
        sigma=r.choice([0.1, 0.8, 1.5]), zero_frac=r.choice([0, 0, 0.1]),
        long_frac=r.choice([0, 0, 0.05]), grid_ns=r.choice([1, 1, SECOND // 100]),
        median=r.choice([SECOND // 50, SECOND // 10, SECOND]))


def random_options(r, rows):
    """(keyword arguments of Analysis, command-line options)."""
    ops = sorted({x.op for x in rows})
    known, options = {}, []
    if r.random() < 0.7:
        known['dur'] = r.choice([10**7, 10**8, 123456789, 2 * SECOND])
        options += ['--analyze.dur', f"{known['dur']}ns"]
    if r.random() < 0.2:
        known['skip'] = r.choice([1, SECOND // 10, SECOND, 20 * SECOND])
        options += ['--analyze.skip', f"{known['skip']}ns"]
    choice = r.random()
    if choice < 0.2:
        known['op'] = r.choice(ops)
        options += ['--analyze.op', known['op']]
    elif choice < 0.3 and rows[0].host:
        known['host'] = r.choice(rows).host
        options += ['--analyze.host', known['host']]
    return known, options


class Invariants(ReportTest):
    """What holds for any capture, checked on every report here."""

    def check_invariants(self, report, rows, note=''):
        for op, o in report.operations.items():
            if o['n_requests']:
                with self.subTest(note, op=op):
                    self.check_outside(o, report.rows(op))
                    self.check_hosts(o, report)
                    self.check_picks(o['segments'], report.rows(op))
                    self.check_requests(o, [r for r in rows if r.op == op and not r.error])
        total = report.json['total']
        if total:
            self.check_picks(total['segments'], report.rows(''))

    def check_outside(self, o, rows):
        inside = sum(int(r['bytes']) for r in rows)
        outside = o['outside']
        self.assertEqual(inside + outside['n_bytes'], o['n_bytes'])
        self.assertEqual(outside['before'] + outside['after'], outside['n_bytes'])
        if o['n_errors'] == 0:
            ended = sum(int(r['ops_ended']) for r in rows)
            self.assertEqual(ended + outside['n'], o['n_requests'])

    def check_hosts(self, o, report):
        names = [h['host'] for h in o['hosts']]
        self.assertEqual(names, sorted(names, key=str.encode))
        if not names:
            return
        series = [report.rows(o['op'], h) for h in names]
        for whole, *parts in zip(report.rows(o['op']), *series, strict=True):
            for c in COUNTS:
                self.assertEqual(sum(int(p[c]) for p in parts), int(whole[c]), c)
            for p in parts:
                self.assertEqual(p['start_time'], whole['start_time'])
            objects = sum(float(p['objs_per_sec']) for p in parts)
            self.assertAlmostEqual(objects, float(whole['objs_per_sec']),
                                   delta=1e-9 * max(1, objects))

    def check_picks(self, segments, rows):
        if not segments:
            return
        self.assertEqual(segments['n'], len(rows))
        by_start = {r['start_time']: r for r in rows}
        rates = {'bytes_per_s': lambda r: float(r['mb_per_sec']) * MIB,
                 'objects_per_s': lambda r: float(r['objs_per_sec'])}
        values = sorted(map(rates[segments['sorted_by']], rows))
        half = min((2 * len(rows) * 50 + 100) // 200, len(rows) - 1)
        for name, index in ('slowest', 0), ('median', half), ('fastest', -1):
            pick = segments[name]
            r = by_start[pick['start']]
            for key, rate in rates.items():
                self.assertAlmostEqual(pick[key], rate(r), delta=1e-9 * max(1, rate(r)))
            self.assertAlmostEqual(pick[segments['sorted_by']], values[index],
                                   delta=1e-9 * max(1, values[index]))

    def check_requests(self, o, good):
        requests = o['requests']
        if not requests:
            return
        if o['n_hosts'] > 1:
            start = parse_time(o['throughput']['start'])
            end = start + o['throughput']['duration_ns'] + 1
            inside = collections.Counter(r.host for r in good if r.start >= start and r.end <= end)
            # There is a list only if two hosts have requests that count.
            self.assertEqual({h['host']: h['n'] for h in requests['hosts']},
                             inside if len(inside) > 1 else {})
            self.assertEqual(sum(inside.values()), requests['n'])
        else:
            self.assertEqual(requests['hosts'], [])
        if not requests['single_size']:
            sizes = requests['sizes']
            self.assertEqual(sum(s['n'] for s in sizes), requests['n'])
            for a, b in zip(sizes, sizes[1:]):
                self.assertEqual(a['max_bytes'], b['min_bytes'])


class RandomCaptures(Invariants):
    def check_case(self, seed):
        r = random.Random(seed)
        shape = random_shape(r)
        rows = simulate(seed, shape)
        generation = r.choice([0, 1, 2, 3, 4, 4, 4])
        data = text(rows, generation=generation)
        rows = capgen.as_read(rows, generation)
        known, options = random_options(r, rows)
        if r.random() < 0.8:
            data = frames(data, *(r.randrange(len(data)) for _ in range(r.choice([0, 1, 5]))))
        note = f'seed {seed}: {options} {vars(shape)}'
        chosen = [x for x in rows if x.op == known.get('op', x.op) and x.host == known.get('host', x.host)]
        skip_to = {op: min(x.start for x in chosen if x.op == op) + known.get('skip', 0) for op in {x.op for x in chosen}}
        if all(x.start < skip_to[x.op] for x in chosen):
            self.assertIn('no requests: --skip cuts all', self.fails(data, *options))
            return
        report = self.analyze(data, *options)
        self.assert_fits_oracle(report, Analysis(rows, **known), note)
        self.check_invariants(report, rows, note)
        said = self.s3analyze('analyze', '-v', *options, self.tmp / 'capture.csv.zst').out
        for op in report.operations:
            self.assertIn(op, said, note)

    def test_random_captures(self):
        for seed in range(SEED, SEED + CASES):
            with self.subTest(seed=seed):
                self.check_case(seed)

    def test_requests_of_one_thread_may_overlap(self):
        for seed in range(10):
            rows = simulate(seed, Shape(stray_frac=0.3, ops=('GET', 'PUT'), long_frac=0.05))
            report = self.analyze(text(rows), '--dur', '100ms')
            with self.subTest(seed=seed):
                self.assert_fits_oracle(report, Analysis(rows, dur=SECOND // 10))
                self.check_invariants(report, rows)


class SameFigures(ReportTest):
    """The order and packing of rows, and the number of threads, change no digit."""

    @classmethod
    def setUpClass(cls):
        shape = Shape(n=2000, threads=16, hosts=3, clients=2, keys=100, error_frac=0.01,
                      ops=('GET', 'PUT', 'DELETE'), sizes=(1000, 65536, 3 * MIB), long_frac=0.01,
                      n_objects=(1, 3))
        cls.rows = simulate(7, shape)
        cls.data = text(cls.rows)

    def setUp(self):
        super().setUp()
        self.expected = figures(self.analyze(self.data).raw)

    def check_same(self, data, *options, **kwargs):
        self.assertMultiLineEqual(figures(self.analyze(data, *options, **kwargs).raw),
                                  self.expected)

    def test_any_order_of_rows(self):
        for seed in range(5):
            rows = list(self.rows)
            random.Random(seed).shuffle(rows)
            self.check_same(frames(text(rows)))

    def test_any_frames(self):
        r = random.Random(1)
        for n in 0, 1, 2, 10, 300:
            places = [r.randrange(len(self.data)) for _ in range(n)]
            for threads in 1, 2, 5:
                self.check_same(frames(self.data, *places), '--threads', str(threads))

    def test_frames_with_and_without_checksum_skippable_and_empty_ones(self):
        pieces = capgen.cut(self.data, 10, 5000, 5001, 90000)
        r = random.Random(2)
        data = zstd.skippable(b'')
        for piece in pieces:
            data += zstd.frame(piece, checksum=r.random() < 0.5, level=r.choice([1, 3, 9]))
            data += zstd.skippable(r.randbytes(r.choice([0, 1, 1000])), r.randrange(16))
            data += zstd.frame()
        self.check_same(data)
        self.check_same(data, '--threads', '1')

    def test_plain_text_line_ends_and_standard_input(self):
        self.check_same(self.data)
        self.check_same(self.data[:-1])
        self.check_same(text(self.rows, newline='\r\n'))
        self.check_same(text(self.rows, newline='\n\n# a comment\n'))
        # Standard input has no name that could tell the format.
        stdin = frames(self.data, 20000)
        for data in self.data, stdin:
            self.check_same('-', stdin=data)

    def test_repeated_runs(self):
        data = frames(self.data, *range(1000, len(self.data), 5000))
        for _ in range(10):
            self.check_same(data)


class Attribution(Invariants):
    """Bytes of requests over many segments."""

    def spanning(self, n_segments, size, seed):
        """A request that spans about n_segments of 1 ms among short ones, with its size."""
        r = random.Random(seed)
        ms = SECOND // 1000
        begin = 3 * ms + r.randrange(ms)
        end = begin + n_segments * ms + r.randrange(ms)
        rows = [row(begin, end, thread=1, size=size)]
        rows += [row(t, t + ms // 3, size=0)
                 for t in range(0, end + 20 * ms, max(ms, n_segments * ms // 500))]
        return rows + [row(0, ms // 2, thread=1, size=0),
                       row(end + 15 * ms, end + 16 * ms, thread=1, size=0)]

    def test_parts_of_a_request_sum_to_its_size(self):
        for n in 2, 3, 10, 99, 1000, 10000:
            for size in 1, 65537, 9 * GIB + 1, (1 << 62) + 12345:
                with self.subTest(segments=n, size=size):
                    rows = self.spanning(n, size, n)
                    report = self.analyze(text(rows), '--dur', '1ms')
                    parts = [int(s['bytes']) for s in report.rows('GET') if s['bytes'] != '0']
                    self.assertEqual(sum(parts), size)
                    if size > n:
                        self.assertGreaterEqual(len(parts), n)
                    self.check_invariants(report, rows)

    def test_parts_are_cumulative_floors(self):
        rows = self.spanning(1000, 9 * GIB + 1, 5)
        report = self.analyze(text(rows), '--dur', '1ms')
        self.assert_fits_oracle(report, Analysis(rows, dur=SECOND // 1000))

    def test_borders(self):
        """Requests that begin or end exactly where segments do."""
        half = SECOND // 2
        rows = [row(i * half, (i + 1) * half, size=1000 + i) for i in range(20)]
        rows += [row(i * SECOND, (i + 3) * SECOND, thread=1, size=10**6) for i in range(0, 9, 3)]
        rows += [row(i * SECOND, i * SECOND, thread=2, size=7) for i in range(10)]
        rows += [row(i * half, (i + 1) * half, thread=3, error='x') for i in range(20)]
        for dur in half, SECOND, SECOND * 3 // 2:
            for chosen in rows, [r for r in rows if not r.error]:
                report = self.analyze(text(chosen), '--dur', f'{dur}ns')
                self.assert_fits_oracle(report, Analysis(chosen, dur=dur))
                self.check_invariants(report, rows)

    def test_the_whole_run(self):
        """--analyze.all: the series has everything, so nothing is outside."""
        rows = simulate(3, Shape(n=300, long_frac=0.05))
        report = self.analyze(text(rows), '--analyze.all', '--dur', '100ms')
        series = report.rows('GET')
        self.assertEqual(sum(int(s['bytes']) for s in series), sum(r.bytes for r in rows))
        self.assertEqual(sum(int(s['ops_ended']) for s in series), len(rows))
        self.assertLessEqual(float(series[0]['t_s']), 0)
        starts = [oracle.parse_time(s['start_time']) for s in series]
        parts = attribute(rows, starts, SECOND // 10)
        self.assertEqual([int(s['bytes']) for s in series], [p.bytes for p in parts])
        flags = [s['in_range'] for s in series]
        self.assertEqual(flags.count('1') + flags.count('0'), len(flags))
        self.assertIn('1', flags)


class Corners(Invariants):
    def check_fits(self, rows, **known):
        options = ['--dur', f"{known['dur']}ns"] if 'dur' in known else []
        report = self.analyze(text(rows), *options)
        self.assert_fits_oracle(report, Analysis(rows, **known))
        self.check_invariants(report, rows)
        return report

    def test_one_row(self):
        for size in 0, 1, 5 << 40:
            for length in 0, 1, SECOND, 3 * 86400 * SECOND:
                for error in '', 'no':
                    o = self.check_fits([row(0, length, size=size, error=error)]).operations['GET']
                    self.assertEqual(o['skipped'], 'too few samples')
                    self.assertEqual(o['n_requests'], 1)
                    self.assertIsNone(o['segments'])

    def test_two_rows(self):
        for second in [row(0, 0), row(0, 5), row(2, 9), row(9, 9), row(10 * SECOND, 11 * SECOND)]:
            self.check_fits([row(0, SECOND), second])
            self.check_fits([row(0, SECOND), second._replace(thread=1)])
            self.check_fits([row(0, SECOND), second._replace(op='PUT')])

    def test_everything_takes_no_time(self):
        self.check_fits([row(i * SECOND // 10, i * SECOND // 10, size=i % 2) for i in range(50)])
        self.check_fits([row(0, 0) for _ in range(50)])

    def test_large_sizes(self):
        sizes = [9 * GIB, 10 * GIB, 100 * GIB - 1, 100 * GIB, 1 << 40, (1 << 40) - 1, 5 << 40]
        rows = steady(40, size=(1 << 33) + 1)
        self.check_fits(rows)
        self.check_fits([r._replace(bytes=sizes[i % 7]) for i, r in enumerate(rows)])

    def test_a_sum_past_63_bits(self):
        rows = steady(40, size=(1 << 63) - 1)
        self.assertNotIn('Sanitizer', self.fails(text(rows)))
        one = self.analyze(text(rows[:1])).operations['GET']
        self.assertEqual(one['n_bytes'], (1 << 63) - 1)

    def test_durations_over_a_day(self):
        day = 86400 * SECOND
        rows = [row(i * day, i * day + 5 * day // 2, thread=i % 3, size=10**12 + i)
                for i in range(30)]
        self.check_fits(rows)
        self.check_fits(rows + [row(i * day // 9, i * day // 9 + 1000, thread=9) for i in range(99)])
        year = 365 * day
        self.check_fits([row(i * year, (i + 1) * year - 1, size=1) for i in range(5)])

    def test_years_1970_to_2262(self):
        times = ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000000001Z', '2000-02-29T23:59:59Z',
                 '2262-04-11T23:47:16.854775807Z']
        at = [oracle.parse_time(t) - START for t in times]
        rows = [row(t, t, size=i) for i, t in enumerate(at)]
        o = self.analyze(text(rows), '--dur', '10000h').operations['GET']
        self.assertEqual((o['n_requests'], o['n_bytes']), (4, 6))
        self.assertEqual(o['start'], format_time(rows[0].start))
        self.assertEqual(o['end'], format_time(rows[-1].end))

    def test_an_operation_that_never_succeeds(self):
        good = steady(100, threads=2)
        bad = [r._replace(op='APPEND', error='not implemented', thread=r.thread + 5) for r in good]
        for rows in good + bad, bad:
            o = self.check_fits(rows).operations['APPEND']
            self.assertEqual((o['n_errors'], o['n_bytes'], o['throughput']), (200, 0, None))
            self.assertEqual([(e['message'], e['count']) for e in o['errors']],
                             [('not implemented', 200)])

    def test_100000_threads(self):
        rows = [row(i * 1000, SECOND + i * 1000, thread=i, size=i) for i in range(100000)]
        rows += [row(2 * SECOND + i * 1000, 3 * SECOND + i * 1000, thread=i) for i in range(100000)]
        o = self.analyze(frames(text(rows)), '--dur', '10ms').operations['GET']
        self.assertEqual((o['n_requests'], o['concurrency']), (200000, 100000))
        top = [r._replace(thread=4294967295 - r.thread) for r in rows[::1000]]
        self.assertEqual(self.analyze(text(top)).operations['GET']['concurrency'], 100)

    def test_10000_hosts(self):
        rows = [row(i * 100000, i * 100000 + SECOND // 2, thread=i % 5000, size=i,
                    host=f'http://h{i % 10000}:9000') for i in range(30000)]
        report = self.analyze(frames(text(rows)))
        o = report.operations['GET']
        self.assertEqual((o['n_hosts'], len(o['hosts']), len(o['requests']['hosts'])), (10000,) * 3)
        self.check_invariants(report, rows)
        self.s3analyze('analyze', '--analyze.v', self.write(text(rows)))

    def test_many_operations_and_clients(self):
        ops = tuple(f'OP{i}' for i in range(300))
        self.check_fits(simulate(1, Shape(n=3000, ops=ops, threads=50, clients=50)))

    def test_a_million_segments_are_the_limit(self):
        rows = steady(30)
        message = self.fails(text(rows), '--dur', '1us')
        self.assertIn('segments', message)


if __name__ == '__main__':
    unittest.main()
