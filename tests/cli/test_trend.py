"""trend: when runs of equal settings became slower."""

import os
import random
import re
import unittest

import aggregates
import capgen
from capgen import row, text
from harness import CliTest, capture, tool, unwrapped

SECOND = 10**9
DAY = 86400 * SECOND


class Trend(CliTest):
    def setUp(self):
        super().setUp()
        self.folder = self.tmp / 'nightly'
        self.folder.mkdir()

    def run_of(self, night, factor=1.0, threads=2, op='GET', n=60, name='night'):
        """A run whose requests take about 10 ms times the factor."""
        r = random.Random(night)
        rows = []
        for thread in range(threads):
            now = night * DAY + thread * 1000
            for _ in range(n):
                took = int(10**7 * factor * (0.8 + 0.4 * r.random()))
                rows.append(row(now, now + took, thread=thread, op=op, size=1 << 20))
                now += took
        path = self.folder / f'{name}-{night:03}.csv'
        path.write_bytes(text(sorted(rows)))
        return path

    def nights(self, factors, seed=1, **kwargs):
        r = random.Random(seed)
        return [self.run_of(i, f * (1 + 0.03 * r.gauss(0, 1)), **kwargs) for i, f in enumerate(factors)]

    def trend(self, *args, status=0):
        return self.s3analyze('trend', '--json', *(args or [self.folder]), status=status).json()

    def test_a_change_is_found_where_it_is(self):
        self.nights([1] * 20 + [1.2] * 15)
        report = self.trend()
        self.assertEqual(report['schema'], 's3analyze/trend/1')
        group, = report['groups']
        self.assertEqual([r['run'] for r in group['runs']], list(range(1, 36)))
        change, = group['changes']
        self.assertEqual((change['op'], change['metric'], change['run']), ('GET', 'throughput', 21))
        self.assertEqual(change['time'], group['runs'][20]['time'])
        self.assertAlmostEqual(change['ratio'], 1 / 1.2, delta=0.04)
        self.assertLessEqual(change['p'], 0.042)
        self.assertTrue(change['is_worse'])
        self.assertEqual({c['metric'] for c in change['also']}, {'p50', 'p99'})
        self.assertTrue(all(c['ratio'] > 1 for c in change['also']))

    def test_many_groups(self):
        """Text shows the first twelve, and the others with -v."""
        for k in range(14):
            self.run_of(k, threads=k + 1, n=9)
        self.assertEqual(len(self.trend()['groups']), 14)
        brief = self.s3analyze('trend', self.folder).out
        self.assertIn('2 more groups of runs with other settings: -v shows them.', brief)
        whole = self.s3analyze('trend', '-v', self.folder).out
        self.assertNotIn('more groups', whole)
        self.assertEqual([len(re.findall(r'\d threads?\b', text)) for text in (brief, whole)], [12, 14])

    def test_a_sentence_says_it(self):
        self.nights([1] * 20 + [1.2] * 15)
        shown = self.s3analyze('trend', self.folder).out
        self.assertRegex(shown, r'Since 11 December \(run 21\) GETs are 1\d % slower \(p = 0\.00\d\)\.')

    def test_runs_that_do_not_change(self):
        self.nights([1] * 30)
        self.assertEqual(self.trend()['groups'][0]['changes'], [])
        self.assertIn('No change is shown.', self.s3analyze('trend', self.folder).out)

    def test_faster_and_back(self):
        self.nights([1] * 15 + [0.8] * 12 + [1] * 13)
        changes = self.trend()['groups'][0]['changes']
        self.assertEqual([(c['run'], c['is_worse']) for c in changes], [(16, False), (28, True)])
        for c in changes:  # each with the durations of its own
            self.assertEqual([(a['metric'], a['ratio'] > 1) for a in c['also']],
                             [('p50', c['is_worse']), ('p99', c['is_worse'])])

    def test_single_outliers_are_no_change(self):
        self.nights([3 if i in (7, 22) else 1 for i in range(30)])
        self.assertEqual(self.trend()['groups'][0]['changes'], [])

    def test_runs_are_grouped_by_settings(self):
        self.nights([1] * 12)
        self.nights([1] * 14, threads=3, name='three')
        groups = self.trend()['groups']
        self.assertEqual(sorted((g['settings']['operations'][0]['concurrency'], len(g['runs'])) for g in groups),
                         [(2, 12), (3, 14)])
        self.assertEqual(groups[0]['settings']['operations'][0]['concurrency'], 3)  # the newest run's

    def test_runs_reduced_to_sums_go_with_captures(self):
        paths = self.nights([1] * 10)
        for path in paths[:5]:
            self.s3analyze('aggregate', '-o', path.with_suffix('.sums.zst'), path)
            path.unlink()
        group, = self.trend()['groups']
        self.assertEqual((len(group['runs']), group['settings']['source']), (10, 'sums'))

    def test_check_last_of_a_level_that_stays(self):
        self.nights([1] * 30)
        r = self.s3analyze('trend', '--check-last', self.folder, status=0)
        self.assertIn('no worse than its level', r.out)

    def test_check_last_of_a_slower_level(self):
        self.nights([1] * 20 + [1.3] * 6)
        self.assertIn('still at the worse level', self.trend('--check-last', self.folder, status=1)['check_last'])

    def test_check_last_of_a_faster_level(self):
        self.nights([1] * 20 + [0.7] * 6)
        self.s3analyze('trend', '--check-last', self.folder, status=0)

    def test_check_last_of_a_small_change(self):
        """Below what cmp takes for the same it must have lasted for as many runs as an archive."""
        paths = [self.run_of(i, 1 if i < 12 else 1.03, n=400) for i in range(24)]
        self.assertRegex(self.trend('--check-last', *paths[:16], status=3)['check_last'],
                         'Undecided: the last run, night-015, is at a level that is only [23].. % slower; more runs decide.')
        self.trend('--check-last', *paths, status=1)

    def test_check_last_of_a_slower_level_that_ended(self):
        self.nights([1] * 15 + [1.3] * 12 + [1] * 13)
        self.s3analyze('trend', '--check-last', self.folder, status=0)

    def test_check_last_of_one_slow_run(self):
        self.nights([1] * 25 + [1.5])
        r = self.s3analyze('trend', '--check-last', self.folder, status=3)
        self.assertIn('Undecided', r.out)

    def test_check_last_of_few_runs(self):
        self.nights([1] * 5)
        r = self.s3analyze('trend', '--check-last', self.folder, status=3)
        self.assertIn('it takes 8', r.out)

    def test_runs_that_repeat_to_the_digit(self):
        for night in range(24):
            path = self.run_of(0, 1 if night < 12 else 2)
            stamp = path.read_text().replace('2026-11-21T', f'2026-12-{night + 1:02}T')
            (self.folder / f'same-{night:02}.csv').write_text(stamp)
            path.unlink()
        changes = self.trend()['groups'][0]['changes']
        self.assertEqual([c['run'] for c in changes], [13])

    def test_page(self):
        tool('gnuplot')
        self.nights([1] * 12 + [1.3] * 10)
        page = self.tmp / 'trend.html'
        self.s3analyze('trend', '--html', page, self.folder)
        html = page.read_text()
        self.assertEqual(re.findall('<figure id="([^"]*)"', html),
                         ['group0-chart-trend', 'group0-chart-trend-2', 'group0-chart-trend-3'])
        self.assertRegex(html, r'Since 3 December \(run 13\) GETs are 2\d % slower')
        self.assertIn('"s3analyze/trend/1"', html)

    def test_page_without_a_change(self):
        """Each metric of each group has a chart, whether it changed or not."""
        tool('gnuplot')
        self.nights([1] * 10)
        self.nights([1] * 10, threads=3, name='other')
        page = self.tmp / 'trend.html'
        self.s3analyze('trend', '--html', page, self.folder)
        self.assertEqual(page.read_text().count('<figure'), 6)

    def test_markdown_and_all_runs(self):
        self.nights([1] * 12 + [1.3] * 10)
        self.assertIn('| 13 | night-012 | GET | Throughput |', self.s3analyze('trend', '--markdown', self.folder).out)
        self.assertIn('night-021', self.s3analyze('trend', '-v', self.folder).out)

    def test_a_file_that_cannot_be_read_is_named(self):
        self.nights([1] * 10)
        (self.folder / 'x.csv').write_text('no capture\n')
        self.assertEqual(len(self.trend()['unread']), 1)

    def test_check_last_of_a_run_that_cannot_be_read(self):
        """If it may be the last run, the answer is not "good"; an older one does not block the job for ever."""
        last = self.nights([1] * 10)[-1]
        began = (capgen.START + 9 * DAY) // SECOND
        bad = self.folder / 'x.csv'
        bad.write_text('no capture\n')
        for after, status, answer in ((60, 3, 'x.csv could not be read'), (-60, 0, f'{last.stem}, is no worse')):
            with self.subTest(after=after):
                os.utime(bad, (began + after, began + after))
                r = self.s3analyze('trend', '--check-last', self.folder, status=status)
                self.assertIn(answer, r.out)
                self.assertIn('x.csv', r.err)

    def test_what_runs_are_of_is_said(self):
        self.nights([1] * 2)
        for path in self.folder.glob('*.csv'):
            self.s3analyze('aggregate', '-o', path.with_suffix('.sums.zst'), path)
            path.unlink()
        self.assertIn('of sums', self.s3analyze('trend', self.folder).out)
        aggregated = self.tmp / 'a.json.zst'
        aggregated.write_bytes(aggregates.packed(aggregates.aggregate(capgen.steady(80, every=10**9 // 8))))
        opened = capture('s3load-open-loop')
        self.assertIn('percentiles of response times', unwrapped(self.s3analyze('trend', opened).out))
        group = self.s3analyze('trend', '--json', opened).json()['groups'][0]
        line = self.s3analyze('table', '--json', '--where', 'op=GET', opened).json()['rows'][0]
        self.assertTrue(all(op['of_response_time'] for op in group['settings']['operations']))
        self.assertIn(line['p50']['value'], [v['value'] for v in group['runs'][0]['values']])
        self.assertIn('of aggregated captures', ' '.join(self.s3analyze('trend', aggregated).out.split()))


if __name__ == '__main__':
    unittest.main()
