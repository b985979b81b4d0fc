"""`s3analyze merge`: several captures of one run to one."""

import json
import random
import unittest

import capgen
import oracle
import zstd
from capgen import Shape, moved, simulate, steady, text
from expect import assert_same, json_differences, read_table, table_differences
from harness import CliTest, capture, golden, kept_figures
from oracle import SECOND, order


def lines_of(data):
    """Comments, and fields of the rows, of a capture's text."""
    lines = data.decode().splitlines()
    return ([line for line in lines if line.startswith('#')],
            [line.split('\t') for line in lines[1:] if not line.startswith('#')])


def in_completion_order(rows):
    return sorted(rows, key=lambda r: r.end)


class Merge(CliTest):
    def setUp(self):
        super().setUp()
        self.out = self.tmp / 'merged.csv.zst'

    def captures(self, n=3, **kwargs):
        """Paths and rows of n captures of one run."""
        rows = [in_completion_order(simulate(seed, Shape(n=200, threads=3 + seed, **kwargs)))
                for seed in range(n)]
        return [self.put(f'{i}.csv', text(r)) for i, r in enumerate(rows)], rows

    def merge(self, *args, **kwargs):
        return self.s3analyze('merge', '--force', '-o', self.out, *args, **kwargs)

    def report(self, *args):
        return self.merge('--json', *args).json()

    def merged(self):
        """The merged capture's text."""
        return self.s3analyze('cat', self.out).raw

    def test_golden(self):
        self.merge(capture('merge-in-1'), capture('merge-in-2'))
        series = self.tmp / 'series.tsv'
        r = self.s3analyze('analyze', '--json', '--analyze.out', series, self.out)
        expected = json.loads(golden('merged-1-2.analysis.json').read_text())
        assert_same(json_differences(expected, r.json()))
        expected = read_table(golden('merged-1-2.segments.tsv').read_text())
        assert_same(table_differences(expected, read_table(series.read_text())))

    def test_rows_are_those_of_the_inputs_by_start(self):
        paths, rows = self.captures(ops=('GET', 'PUT'), error_frac=0.1)
        self.merge(*paths)
        expected, base = [], 0
        for r in rows:
            expected += [x._replace(thread=x.thread + base) for x in r]
            base += 1 + max(x.thread for x in r)
        found = oracle.parse(self.merged().decode())
        self.assertEqual([r.start for r in found], sorted(r.start for r in expected))
        self.assertEqual(sorted(found, key=order), sorted(expected, key=order))
        self.assertEqual(self.analyze(self.out), self.analyze(*paths))

    def test_idx_counts_on(self):
        paths, rows = self.captures()
        self.merge(*paths)
        _, fields = lines_of(self.merged())
        self.assertEqual([int(f[0]) for f in fields], list(range(sum(map(len, rows)))))

    def analyze(self, *paths):
        return kept_figures(self.s3analyze('analyze', '--json', *paths).json())

    def test_order_of_inputs_changes_only_thread_numbers(self):
        paths, _ = self.captures(4, grid_ns=SECOND // 100)  # many start together
        found = set()
        for seed in range(6):
            random.Random(seed).shuffle(paths)
            self.merge(*paths)
            comments, rows = lines_of(self.merged())
            comments = [c.split('"thread_base"')[0] for c in comments]
            found.add(json.dumps([comments, [f[:1] + f[2:] for f in rows]]))
        self.assertEqual(len(found), 1)

    def test_order_of_rows_changes_nothing(self):
        paths, rows = self.captures(2, grid_ns=SECOND // 100)
        self.merge(*paths)
        expected = lines_of(self.merged())[1]
        for seed in range(4):
            for path, r in zip(paths, rows):
                random.Random(seed).shuffle(r)
                path.write_bytes(capgen.frames(text(r), 1000, 20000))
            self.merge(*paths)
            self.assertEqual(lines_of(self.merged())[1], expected)

    def test_merged_again(self):
        paths, _ = self.captures(3)
        two = self.tmp / 'two.csv.zst'
        self.s3analyze('merge', '-o', two, *paths[:2])
        self.merge(two, paths[2])
        first = lines_of(self.merged())[1]
        comments = lines_of(self.merged())[0]
        self.assertEqual(sum('s3analyze/merge/1' in c for c in comments), 4)
        self.merge(*paths)
        self.assertEqual(lines_of(self.merged())[1], first)

    def test_long_requests_hold_others_back(self):
        """A request that is recorded at the very end, but began first."""
        a = steady(20000, threads=2, every=SECOND // 1000)
        a = a[1:] + [a[0]._replace(end=a[-1].end + 1)]
        b = moved(steady(3000, threads=2, every=SECOND // 100, size=77), 5)
        paths = [self.put('a.csv.zst', zstd.frame(text(a))), self.put('b.csv', text(b))]
        self.merge(*paths)
        found = oracle.parse(self.merged().decode())
        self.assertEqual([(r.start, r.bytes) for r in found],
                         sorted((r.start, r.bytes) for r in a + b))
        self.assertEqual(found[0].end, a[-1].end)

    def test_generations_mix(self):
        _, rows = self.captures(5)
        paths = [self.put(f'{g}.csv', text(r, generation=g)) for g, r in enumerate(rows)]
        self.merge(*paths)
        self.assertEqual(self.analyze(self.out), self.analyze(*paths))

    def test_captures_within_a_file(self):
        _, (a, b, c) = self.captures(3)
        both = self.put('both.csv', text(a) + text(b))
        third = self.put('c.csv', text(c))
        report = self.report(both, third)
        top = sum(1 + max(r.thread for r in rows) for rows in (a, b))
        self.assertEqual([x['thread_base'] for x in report['inputs']], [0, top])
        self.assertEqual(self.analyze(self.out), self.analyze(both, third))

    def test_thread_numbers_have_a_limit(self):
        rows = steady(4)
        last = [r._replace(thread=2**32 - 2) for r in rows]
        a, b = self.put('a.csv', text(rows)), self.put('b.csv', text(moved(last, 1)))
        self.merge(a, b)
        self.assertEqual(max(r.thread for r in oracle.parse(self.merged().decode())), 2**32 - 1)
        b.write_bytes(text([r._replace(thread=2**32 - 1) for r in last]))
        r = self.merge(b, a, status=1)
        self.assertIn('a.csv: thread numbers past 4294967295', r.err)

    def test_intended_is_kept_if_any_has_it(self):
        rows = steady(6)
        header, *body = text(rows).decode().splitlines()
        due = [oracle.format_time(r.start - 1000) for r in rows]
        data = '\n'.join([header + '\tintended', *map('\t'.join, zip(body, due))]) + '\n'
        a = self.put('a.csv', data.encode())
        b = self.put('b.csv', text(moved(rows, 7)))
        self.merge(b, a)
        found = [f[-1] for f in lines_of(self.merged())[1]]
        self.assertEqual([t for t in found if t], due)
        self.assertEqual(len(found), 12)

    # Provenance and report

    def test_a_name_need_not_be_utf8(self):
        self.merge(self.put('a\udcff<.csv', text(steady(10))))
        told = [json.loads(c.split(' ', 2)[2]) for c in lines_of(self.merged())[0] if 's3analyze/merge/1' in c]
        self.assertEqual([t['name'] for t in told], ['a\ufffd<.csv'])

    def test_comments_say_what_went_in(self):
        paths, rows = self.captures(2)
        paths[0].write_bytes(text(rows[0]) + b'# recorder --seed=1\n')
        self.merge(*paths)
        comments, _ = lines_of(self.merged())
        told = [json.loads(c.split(' ', 2)[2]) for c in comments if 's3analyze/merge/1' in c]
        self.assertEqual({t['name'] for t in told}, {'0.csv', '1.csv'})
        for t in told:
            r = rows[int(t['name'][0])]
            self.assertEqual(t['n_rows'], len(r))
            self.assertEqual(t['generation'], 'g4')
            self.assertEqual(t['first_start'], oracle.format_time(min(x.start for x in r)))
            self.assertEqual(t['last_end'], oracle.format_time(max(x.end for x in r)))
        at = next(i for i, c in enumerate(comments) if '"0.csv"' in c)
        self.assertEqual(comments[at + 1], '# recorder --seed=1')

    def test_spans(self):
        a = steady(100)                      # 0 to 10 s
        b = moved(steady(60, size=7), 5 * SECOND)  # 5 to 11 s
        c = moved(steady(10, size=5), 8 * SECOND)  # 8 to 9 s
        paths = [self.put(f'{i}.csv', text(r)) for i, r in enumerate((a, b, c))]
        report = self.report(*paths)
        self.assertEqual([x['overlap_ns'] for x in report['inputs']],
                         [5 * SECOND - 1000, 5 * SECOND - 1000, SECOND - 1000])
        self.assertEqual([x['start_offset_ns'] for x in report['inputs']],
                         [0, 5 * SECOND, 8 * SECOND])
        self.assertEqual([x['end_offset_ns'] for x in report['inputs']], [-SECOND, 0, -2 * SECOND])
        # Against the earliest start and the latest end, whatever the order; moved by a shift.
        back = self.report(*paths[::-1], '--shift', '3=1s')
        self.assertEqual([(x['start_offset_ns'], x['end_offset_ns']) for x in back['inputs']],
                         [(7 * SECOND, -2 * SECOND), (4 * SECOND, 0), (0, 0)])
        self.assertEqual(report['common_start'], oracle.format_time(c[0].start))
        self.assertEqual(report['common_end'], oracle.format_time(c[-1].end))
        self.assertEqual([x['n_rows'] for x in report['inputs']], [100, 60, 10])

    def test_no_overlap_is_refused(self):
        a, b, c = steady(10), moved(steady(10, size=7), SECOND // 2), moved(steady(10), 100 * SECOND)
        paths = [self.put(f'{i}.csv', text(r)) for i, r in enumerate((a, b, c))]
        self.s3analyze('merge', '-o', self.out, *paths[:2])
        self.out.unlink()
        r = self.s3analyze('merge', '-o', self.out, *paths, status=1)
        self.assertRegex(r.err, r'2\.csv runs from .* when no other input does')
        self.assertFalse(self.out.exists())
        codes = [n['code'] for n in self.report(*paths)['notes']]
        self.assertEqual(codes[:2], ['no-overlap', 'no-common-time'])

    def test_shift(self):
        a, b = steady(10), moved(steady(10, size=2), 100 * SECOND)
        paths = [self.put('a.csv', text(a)), self.put('b.csv', text(b))]
        self.s3analyze('merge', '-o', self.out, '--shift', '2=-99.5s', *paths)
        found = [r for r in oracle.parse(self.merged().decode()) if r.bytes == 2]
        expected = moved(b, -99 * SECOND - SECOND // 2)
        self.assertEqual([(r.start, r.end) for r in found], [(r.start, r.end) for r in expected])
        for wrong in '3=1s', '0=1s', '2', '2=', 'x=1s', '2=1x':
            r = self.merge('--shift', wrong, *paths, status=2)
            self.assertIn(f'--shift {wrong}', r.err)
        for shifts in ('1=-1000000h',), ('1=9223372036854775807ns',) * 2, ('1=-9223372036854775807ns', '1=-1ns'):
            r = self.merge(*(w for s in shifts for w in ('--shift', s)), *paths, status=1)
            self.assertIn('a.csv: --shift moves it out of the years', r.err)

    def test_shifts_add_up(self):
        paths = [self.put('a.csv', text(steady(10))), self.put('b.csv', text(moved(steady(10, size=2), SECOND)))]
        report = self.report('--shift', '2=-2s', '--shift', '1=1ms', '--shift', '2=1500ms', *paths)
        self.assertEqual([x['shift_ns'] for x in report['inputs']], [10**6, -SECOND // 2])

    def test_clocks(self):
        paths, rows = self.captures(3)
        clocks = {0: (1000000, 200000), 1: (5000000, 300000), 2: (1400000, 250000)}
        for i, (offset, error) in clocks.items():
            header, *body = text(rows[i]).decode().splitlines()
            told = json.dumps({'clock': [{'endpoint': 'h', 'ahead_min_ns': offset - error,
                                          'ahead_max_ns': offset + error}]})
            paths[i].write_bytes('\n'.join([header, f'# s3load/1 {told}', *body, '']).encode())
        report = self.report(*paths)
        self.assertEqual([(x['clock_offset_ns'], x['clock_error_ns']) for x in report['inputs']],
                         list(clocks.values()))
        notes = [n['message'] for n in report['notes'] if n['code'] == 'clock-skew']
        self.assertEqual(notes, ['the clock of 1.csv is 4ms (+-500us) behind that of 0.csv: '
                                 '--shift 2=+4ms mends it'])
        report = self.report('--shift', '2=+4ms', *paths)
        self.assertNotIn('clock-skew', [n['code'] for n in report['notes']])
        # Within the range of times; the clock of a capture without requests does not matter.
        report = self.report('-f', '--shift', '2=+7000000000s', '--shift', '3=-1795239000s', *paths)
        self.assertEqual([n['message'] for n in report['notes'] if n['code'] == 'clock-skew'][1:],
                         ['the clock of 2.csv is 498677h30m0s (+-450us) behind that of 0.csv: --shift 3=+400us mends it'])
        paths[1].write_bytes(b''.join(paths[1].read_bytes().splitlines(True)[:2]))
        report = self.report('--shift', '2=-9223372036854775807ns', *paths)
        self.assertNotIn('clock-skew', [n['code'] for n in report['notes']])

    def test_clock_that_drifts(self):
        """A shift does not move the time at which the rank's clock was read."""
        paths = []
        for i, offset in (0, 0), (1, 5000):
            header, *body = text(moved(steady(100, threads=2), i)).decode().splitlines()
            told = json.dumps({'rank': i, 'ranks': 2, 'clock': [{'endpoint': 'h', 'ahead_min_ns': offset, 'ahead_max_ns': offset}],
                               'rank_clock': [{'at_ns': capgen.START + k * 100 * SECOND, 'ahead_ns': k * i * SECOND, 'error_ns': 1} for k in range(2)]})
            paths.append(self.put(f'{i}.csv', '\n'.join([header, f'# s3load/1 {told}', *body, '']).encode()))
        messages = []
        for hours in 0, 100000:
            report = self.report('--shift', f'1={hours}h', '--shift', f'2={hours}h', *paths)
            messages.append([n['message'].split(':')[0] for n in report['notes'] if n['code'] == 'clock-skew'])
        self.assertEqual(messages, [['the clock of 1.csv is 5us (+-0s) behind that of 0.csv']] * 2)

    def test_differing_settings_are_noted(self):
        a = simulate(1, Shape(n=100, threads=2))
        b = simulate(2, Shape(n=100, threads=3, ops=('GET', 'PUT'), sizes=(9000,)))
        one = self.put('1.csv', text(a) + b'# rec get --benchdata=x --concurrent=2 --host=h\n')
        two = self.put('2.csv', text(b) + b'# rec mixed --benchdata=y --concurrent=3 --host=h\n')
        notes = {}
        for n in self.report(one, two)['notes']:
            notes.setdefault(n['code'], []).append(n['message'])
        self.assertEqual(set(notes), {'command'})
        self.assertIn('get --concurrent=2', notes['command'][0])
        self.assertIn('mixed --concurrent=3', notes['command'][0])
        self.assertNotIn('benchdata', notes['command'][0])
        self.assertIn('Note: settings differ', self.merge(one, two).out)

    # Refusals

    def test_the_same_rows_twice_are_refused(self):
        (a, b), rows = self.captures(2)
        copy = self.put('copy.csv', a.read_bytes())
        other_form = self.put('form.csv.zst', zstd.frame(text(sorted(rows[0], key=order), idx=5)))
        link = self.tmp / 'link.csv'
        link.symlink_to(a)
        for twice in a, copy, other_form, link:
            r = self.merge(a, b, twice, status=1)
            self.assertRegex(r.err, 'hold the same requests|are the same file')
        # One capture is part of another.
        both = self.tmp / 'both.csv'
        self.s3analyze('merge', '-o', both, a, b)
        r = self.s3analyze('merge', '-o', self.out, both, b, status=1)
        self.assertIn('200 of the 400 requests', r.err)
        self.assertFalse(self.out.exists())
        report = self.report(both, b)
        self.assertEqual([x['n_duplicates'] for x in report['inputs']], [200, 200])
        self.assertEqual(report['notes'][-1]['code'], 'duplicates')

    def test_outputs(self):
        (a, b), rows = self.captures(2)
        before = a.read_bytes()
        for args in (['-o', a], ['--force', '-o', a]):
            self.assertIn('it would be overwritten',
                          self.s3analyze('merge', *args, a, b, status=2).err)
        self.assertEqual(a.read_bytes(), before)
        self.assertIn('-o FILE', self.s3analyze('merge', a, b, status=2).err)
        old = self.put('old.csv', b'precious')
        r = self.s3analyze('merge', '-o', old, a, b, status=1)
        self.assertIn('is there already', r.err)
        self.assertEqual(old.read_bytes(), b'precious')
        self.s3analyze('merge', '--force', '-o', old, a, b)
        self.assertEqual(len(oracle.parse(old.read_text())), 400)
        r = self.s3analyze('merge', '-o', '-', a, b)
        self.assertEqual(r.raw, old.read_bytes())
        self.assertIn('400 requests of 2 captures', r.err)
        self.assertIn('both want standard output',
                      self.s3analyze('merge', '--json', '-o', '-', a, b, status=2).err)
        self.assertIn('No space left', self.s3analyze('merge', '-o', '/dev/full', a, b, status=1).err)

    def test_pipes_are_refused(self):
        (a, b), _ = self.captures(2)
        r = self.merge(a, '-', stdin=b.read_bytes(), status=1)
        self.assertIn('can be read only once', r.err)
        r = self.merge(a, self.tmp, status=1)
        self.assertIn(f'{self.tmp}: is a directory, not a capture', r.err)

    def test_damage(self):
        (a, b), rows = self.captures(2)
        lines = text(rows[1]).decode().splitlines(keepends=True)
        lines[7] = 'no row\n'
        b.write_bytes(''.join(lines).encode())
        r = self.merge(a, b, status=1)
        self.assertRegex(r.err, r'1\.csv:8: ')
        self.assertFalse(self.out.exists())
        report = self.report('--salvage', a, b)
        self.assertEqual([x['n_rows'] for x in report['inputs']], [200, 199])
        self.assertIn('dropped', [n['code'] for n in report['notes']])
        self.assertEqual(len(oracle.parse(self.merged().decode())), 399)

    def test_no_rows(self):
        (a, _), _ = self.captures(2)
        empty = self.put('empty.csv', text([]))
        report = self.report(a, empty)
        self.assertIn('no-rows', [n['code'] for n in report['notes']])
        self.assertEqual(report['n_rows'], 200)
        report = self.report(empty)
        self.assertEqual(report['n_rows'], 0)
        report = self.report(empty, self.put('empty2.csv', b'# none\n' + text([])))
        self.assertEqual((report['n_rows'], report['common_start'], report['common_end']),
                         (0, None, None))

    def test_one_capture_is_put_in_order(self):
        (a,), (rows,) = self.captures(1)
        self.s3analyze('merge', '-o', self.out, a)
        found = oracle.parse(self.merged().decode())
        self.assertEqual([r.start for r in found], sorted(r.start for r in rows))


if __name__ == '__main__':
    unittest.main()
