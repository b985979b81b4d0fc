"""table: many runs, one line for each operation."""

import csv
import io
import math
import shutil
import unittest

from capgen import row, text
from harness import CliTest, capture, unwrapped

SECOND = 10**9
DAY = 86400 * SECOND


def rows_of(night, took, n=400, threads=2, op='GET', error=''):
    """A run of the given night, whose requests take `took` ns, in turn a little more and less."""
    out = []
    for thread in range(threads):
        now = night * DAY + thread
        for i in range(n):
            length = took * (90 + i * 7 % 21) // 100
            out.append(row(now, now + length, thread=thread, op=op, size=1 << 20, error=error))
            now += length
    return sorted(out)


class Table(CliTest):
    def setUp(self):
        super().setUp()
        self.folder = self.tmp / 'nightly'
        self.folder.mkdir()
        for night, (name, took) in enumerate((('c', 10), ('a', 30), ('b', 20))):
            (self.folder / f'{name}.csv').write_bytes(text(rows_of(night, took * 10**6)))

    def table(self, *args, status=0):
        return self.s3analyze('table', '--json', *args, status=status).json()

    def names(self, *args):
        return [r['run'] for r in self.table(*args, self.folder)['rows']]

    def test_runs_are_listed_by_their_start(self):
        self.assertEqual(self.names(), ['c', 'a', 'b'])

    def test_figures_are_those_of_analyze(self):
        path = capture('mixed-3hosts')
        analysis = self.s3analyze('analyze', '--json', path).json()
        lines = {r['op']: r for r in self.table(path)['rows']}
        self.assertEqual(len(lines), 4)
        for op in analysis['operations']:
            line = lines[op['op']]
            self.assertEqual(line['requests'], op['n_requests'])
            self.assertEqual(line['errors'], op['n_errors'])
            self.assertEqual(line['threads'], op['concurrency'])
            self.assertEqual(line['hosts'], op['n_hosts'])
            if op['n_bytes'] > 0:
                self.assertTrue(math.isclose(line['throughput']['value'], op['throughput']['bytes_per_s'], rel_tol=1e-12))
                self.assertLess(line['throughput']['lo'], line['throughput']['value'])
            quantiles = op['requests']['p50_ns'], op['requests']['p99_ns']
            self.assertEqual((line['p50']['value'], line['p99']['value']), quantiles)

    def test_percentiles_of_an_open_loop_are_of_response_times(self):
        """The same under --where and --sort, and in sums. A closed loop has durations."""
        path = self.folder / 'open.csv.zst'
        shutil.copy(capture('s3load-open-loop'), path)
        self.s3analyze('aggregate', '-o', self.folder / 'reduced.sums.zst', path)
        report = self.s3analyze('analyze', '--json', path).json()
        response = {op['op']: op['requests']['response_time'] for op in report['operations']}
        service = {op['op']: op['statistics']['duration']['p50_ns']['value'] for op in report['operations']}
        rows = self.table(self.folder)['rows']
        self.assertEqual([r['of_response_time'] for r in rows], [r['run'] in ('open', 'reduced.sums') for r in rows])
        for r in rows:
            if r['run'] == 'open':
                of = response[r['op']]
                self.assertEqual([r[p]['value'] for p in ('p50', 'p90', 'p99')],
                                 [of[p] for p in ('p50_ns', 'p90_ns', 'p99_ns')])
                self.assertGreater(r['p50']['value'], service[r['op']])
            elif r['run'] == 'reduced.sums':
                # Sums have no active range: their percentiles are of all requests.
                self.assertGreater(r['p50']['value'], service[r['op']])
        p50 = {r['op']: r['p50'] for r in rows if r['run'] == 'open'}
        self.assertTrue(p50['GET']['lo'] < p50['GET']['value'] < p50['GET']['hi'])
        # 150 us: below the response times of PUT, above its service times.
        self.assertLess(service['PUT'], 150000)
        found = self.table('--where', 'run=open,p50>150us', '--sort', '-p50', path)['rows']
        self.assertEqual([r['op'] for r in found], sorted(p50, key=lambda op: -response[op]['p50_ns']))
        line = list(csv.DictReader(io.StringIO(self.s3analyze('table', '--csv', path).out)))[0]
        self.assertEqual(float(line['p99']), response[line['op']]['p99_ns'])
        label = 'response times, from the intended start'
        self.assertIn(label, unwrapped(self.s3analyze('table', path).out))
        self.assertNotIn(label, self.s3analyze('table', self.folder / 'a.csv').out)

    def test_sort(self):
        self.assertEqual(self.names('--sort', 'p50'), ['c', 'b', 'a'])
        self.assertEqual(self.names('--sort=-p50'), ['a', 'b', 'c'])
        self.assertEqual(self.names('--sort', 'run'), ['a', 'b', 'c'])

    def test_where(self):
        self.assertEqual(self.names('--where', 'p50>15ms'), ['a', 'b'])
        self.assertEqual(self.names('--where', 'p50>15ms,p50<=25ms'), ['b'])
        self.assertEqual(self.names('--where', 'run!=[ab]'), ['c'])
        self.assertEqual(self.names('--where', 'start>=2026-11-22'), ['a', 'b'])
        self.assertEqual(self.names('--where', 'threads=2', '--where', 'throughput>150MiB/s'), ['c'])
        self.assertEqual(self.names('--where', 'op=PUT'), [])

    def test_an_empty_table_says_why(self):
        """Each client ran while the other did not, and requests failed: none is left."""
        path = self.tmp / 'apart.csv'
        path.write_bytes(text([row(at, at + 1000, client=client, error='down')
                               for client, at in (('a', 0), ('a', 2000), ('b', SECOND), ('b', SECOND + 2000))]))
        self.assertIn('No operation of 1 run has a request left to analyse.', self.s3analyze('table', path).out)
        self.assertIn('No operation of 3 runs meets --where.',
                      self.s3analyze('table', '--where', 'op=PUT', self.folder).out)

    def test_wrong_tests_and_columns_are_refused(self):
        for args in (('--where', 'speed>3'), ('--where', 'p50'), ('--where', 'p50>3'), ('--where', 'op<GET'),
                     ('--where', 'p50!3ms'), ('--where', 'throughput>1GiB'), ('--sort', 'speed'), ('--csv', '--json')):
            with self.subTest(args=args):
                self.s3analyze('table', *args, self.folder, status=2)

    def test_sums_and_aggregated_captures_stand_beside_captures(self):
        self.s3analyze('aggregate', '-o', self.folder / 'd.sums.zst', self.folder / 'c.csv')
        lines = {r['run']: r for r in self.table(self.folder)['rows']}
        self.assertEqual(lines['d.sums']['source'], 'sums')
        self.assertEqual(lines['d.sums']['requests'], lines['c']['requests'])
        self.assertTrue(math.isclose(lines['d.sums']['p50']['value'], lines['c']['p50']['value'], rel_tol=2e-3))
        self.assertLessEqual(lines['d.sums']['p50']['lo'], lines['d.sums']['p50']['value'])

    def test_a_file_of_a_folder_that_cannot_be_read_is_named(self):
        (self.folder / 'broken.csv').write_text('no capture\n')
        (self.folder / 'notes.txt').write_text('not looked at\n')
        report = self.table(self.folder)
        self.assertEqual(len(report['rows']), 3)
        self.assertEqual([u['path'] for u in report['unread']], [str(self.folder / 'broken.csv')])
        r = self.s3analyze('table', self.folder)
        self.assertIn('1 file could not be read:', r.out)
        r = self.s3analyze('table', self.folder / 'broken.csv', status=1)
        self.assertIn('broken.csv', r.err)

    def test_no_captures(self):
        (self.tmp / 'none').mkdir()
        r = self.s3analyze('table', self.tmp / 'none', status=1)
        self.assertIn('no captures in this folder', r.err)

    def test_a_file_that_is_named_twice_is_one_run(self):
        self.assertEqual(len(self.table(self.folder / 'a.csv', self.folder, self.folder)['rows']), 3)

    def test_all_formats_have_the_same_lines(self):
        json = self.table(self.folder)['rows']
        lines = list(csv.DictReader(io.StringIO(self.s3analyze('table', '--csv', self.folder).out)))
        self.assertEqual([(r['run'], r['start'], float(r['p99']), float(r['throughput_lo'])) for r in lines],
                         [(r['run'], r['start'], r['p99']['value'], r['throughput']['lo']) for r in json])
        markdown = self.s3analyze('table', '--markdown', self.folder).out
        page = self.tmp / 'runs.html'
        shown = self.s3analyze('table', '-v', '--html', page, self.folder).out
        for r in json:
            for out in markdown, shown, page.read_text():
                self.assertIn(r['start'][:10], out)
        self.assertIn('"s3analyze/table/1"', page.read_text())

    def test_units_are_in_names(self):
        """Beside the names that metrics have."""
        units = {'size': 'size_bytes', 'throughput': 'throughput_bytes_per_s', 'objects': 'objects_per_s', 'mean': 'mean_ns',
                 'p50': 'p50_ns', 'p90': 'p90_ns', 'p99': 'p99_ns'}
        json = self.table(self.folder)['rows']
        lines = list(csv.DictReader(io.StringIO(self.s3analyze('table', '--csv', self.folder).out)))
        for line, of in zip(lines, json, strict=True):
            for name, with_unit in units.items():
                self.assertEqual(of[with_unit], of[name] if name == 'size' else of[name]['value'])
                for limit in ('',) if name == 'size' else ('', '_lo', '_hi'):
                    self.assertEqual(line[with_unit + limit], line[name + limit])

    def test_the_worst_finding_is_named(self):
        (self.folder / 'e.csv').write_bytes(text(rows_of(3, 10**7) + rows_of(3, 10**7, n=200, op='PUT', error='down')))
        findings = {(r['run'], r['op']): r['finding'] for r in self.table(self.folder)['rows']}
        self.assertEqual(findings['e', 'PUT'], 'errors')

    def test_a_capture_is_not_overwritten(self):
        before = (self.folder / 'a.csv').read_bytes()
        self.s3analyze('table', '-f', '-o', self.folder / 'a.csv', self.folder, status=1)
        self.assertEqual((self.folder / 'a.csv').read_bytes(), before)


if __name__ == '__main__':
    unittest.main()
