"""Requests of several sizes: one percentile of all of them, and --size, which takes some."""

import re
import unittest

from capgen import Shape, row, simulate, steady, text
from harness import CliTest, capture, unwrapped

KIB, MIB = 1 << 10, 1 << 20


class Sizes(CliTest):
    def make(self, rows, name='run.csv'):
        path = self.tmp / name
        path.write_bytes(text(rows))
        return path

    def several(self, error_frac=0.02):
        return simulate(3, Shape(n=600, hosts=3, ops=('GET', 'PUT'), sizes=(KIB, MIB, 4 * MIB, 9 * MIB),
                                 error_frac=error_frac))

    def operations(self, *args):
        return self.s3analyze('analyze', '--json', '--range', 'single', *args).json()['operations']

    def test_filter_is_that_of_cat(self):
        path = self.make(self.several())
        for size in ('1MiB', '1MiB..4MiB', '2MiB..', '..1KiB'):
            with self.subTest(size=size):
                some = self.tmp / 'some.csv'
                self.s3analyze('cat', '--force', '-o', some, '--size', size, path)
                self.assertEqual(self.operations('--size', size, path), self.operations(some))

    def test_ends_are_included(self):
        path = self.make(self.several(0))
        rows = lambda *args: self.s3analyze('cat', *args, path).out.splitlines()[1:]
        inside = [r for r in rows() if MIB <= int(r.split('\t')[5]) <= 4 * MIB]
        self.assertEqual(len(rows('--size', '1MiB..4MiB')), len(inside))
        self.assertEqual({r.split('\t')[5] for r in rows('--size', '1MiB..4MiB')}, {str(MIB), str(4 * MIB)})

    def test_one_size_has_durations_by_host(self):
        report = self.s3analyze('analyze', '--json', '--op', 'GET', '--size', '1MiB',
                                self.make(self.several())).json()
        requests = report['operations'][0]['requests']
        self.assertTrue(requests['single_size'])
        self.assertEqual([h['host'] for h in requests['hosts'] if h['p99_ns'] > 0],
                         [f'http://h{i}:9000' for i in range(3)])

    def test_failures_without_size_are_counted(self):
        rows = steady(40, size=MIB) + [row(9, 99, thread=1, size=0, error='gone')]
        path = self.make(rows)
        report = self.s3analyze('analyze', '--json', '--size', '1MiB', path).json()
        self.assertEqual((report['n_rows'], report['left_out']['by_size']), (40, 1))
        self.assertIn('Left out: 1 request that failed without a byte: --size cannot tell their size',
                      unwrapped(self.s3analyze('analyze', '--size', '1MiB', path).out))

    def test_what_is_refused(self):
        path = self.make(self.several())
        for command in ('analyze', 'cat'):
            for size, why in (('x', 'expected a size such as 1MiB, or a range such as 1MiB..4MiB'),
                              ('..', 'expected a size such as 1MiB'),
                              ('4MiB..1MiB', 'the range begins above its end')):
                self.assertIn(why, self.s3analyze(command, '--size', size, path, status=2).err)
            self.assertIn('no requests of 5KiB (--size); analyze -v shows the sizes',
                          self.s3analyze(command, '--size', '5KiB', path, status=1).err)
        sums = self.tmp / 'run.sums'
        self.s3analyze('aggregate', '-o', sums, path)
        self.assertIn('--size needs single requests',
                      self.s3analyze('analyze', '--size', '1MiB', sums, status=1).err)

    def test_plot_takes_both_sizes(self):
        out = self.tmp / 'charts'
        r = self.s3analyze('plot', '--size', '1GiB', '--size', '500x400', self.make(self.several()),
                           '--out', out, status=1)
        self.assertIn('no requests of 1GiB (--size)', r.err)

    def test_headline_and_summary_say_all_sizes(self):
        path = capture('get-randsize')
        report = self.s3analyze('analyze', '--json', path).json()
        text = unwrapped(self.s3analyze('analyze', path).out)
        self.assertRegex(text.split('.\n')[0], r'; median \S+s, p99 \S+s \(all sizes\); no errors')
        self.assertIn('p50 to Slowest: durations, all sizes.', text)
        for o in report['operations']:
            everything = o['requests']['all_sizes']
            self.assertEqual(everything['n'], o['requests']['n'])
            self.assertEqual(sum(s['duration']['n'] for s in o['requests']['sizes']), everything['n'])
        self.assertNotIn('Durations by size', text)
        self.assertIn('Durations by size', self.s3analyze('analyze', '-v', path).out)

    def test_sums_have_them_too(self):
        path, sums = capture('get-randsize'), self.tmp / 'run.sums'
        self.s3analyze('aggregate', '-o', sums, path)
        whole = self.s3analyze('analyze', '--json', '--range', 'full', path).json()['operations'][-1]['requests']
        got = self.s3analyze('analyze', '--json', sums).json()['operations'][-1]['requests']
        for want, have in zip([whole['all_sizes']] + [s['duration'] for s in whole['sizes']],
                              [got['all_sizes']] + [s['duration'] for s in got['sizes']]):
            self.assertEqual(have['n'], want['n'])
            self.assertAlmostEqual(have['p99_ns'], want['p99_ns'], delta=want['p99_ns'] * 0.001)

    def test_response_time_first(self):
        out = self.s3analyze('analyze', '-v', '--op', 'GET', capture('s3load-open-loop')).out
        self.assertRegex(unwrapped(out), r'\A.*; response time median \S+, p99 \S+; service time median \S+, p99')
        rows = [m for m in re.findall(r'^(Response time|Service time|Duration|TTFB) ', out, re.M)]
        self.assertEqual(rows[:3], ['Response time', 'Service time', 'TTFB'])


if __name__ == '__main__':
    unittest.main()
