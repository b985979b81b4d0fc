"""Comparisons: the figures, what is called a change, and what is not."""

import csv
import io
import itertools
import json
import math
import random
import re
import statistics
import unittest

from capgen import row, steady, text
from harness import SHARED, CliTest, capture, captures

MS = 1_000_000


def run_rows(seed, speed=1.0, seconds=3, threads=4, sizes=(65536,), hosts=1, error_frac=0.0, op='GET',
             offset=0):
    """A run of requests of about 4 ms, slow and fast in turn, on threads that never rest."""
    r = random.Random(seed)
    level = [0.0]
    for _ in range(seconds * 20 + 40):
        level.append(0.6 * level[-1] + r.uniform(-0.1, 0.1))
    out = []
    for thread in range(threads):
        now = r.randrange(4 * MS)
        while now < seconds * 1000 * MS:
            took = int(4 * MS * (0.5 + r.random()) / speed * math.exp(level[now // (50 * MS)]))
            out.append(row(offset + now, offset + now + took, thread=thread, op=op,
                           host=f'http://h{r.randrange(hosts)}:9000', size=r.choice(sizes),
                           file=f'k{r.randrange(100)}',
                           error='broken' if r.random() < error_frac else '',
                           first=offset + now + took // 2 if op == 'GET' else None))
            now += took
    return out


def two_sided(t, df, steps=20000):
    """P(|T| > t) of Student's t, by Simpson's rule."""
    density = lambda u: math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - (df + 1) / 2 * math.log1p(u * u / df))
    h = abs(t) / steps
    area = h / 3 * sum((1 if i in (0, steps) else 4 if i % 2 else 2) * density(i * h) for i in range(steps + 1))
    return 1 - 2 * area / math.sqrt(df * math.pi)


class CmpTest(CliTest):
    def write(self, name, rows):
        path = self.tmp / f'{name}.csv'
        path.write_bytes(text(sorted(rows)))
        return path

    def runs(self, name, n, speed=1.0, cv=0.0, **kwargs):
        """n runs of one configuration, whose speeds scatter by `cv`."""
        r = random.Random(name)
        return [self.write(f'{name}{i}', run_rows(f'{name}{i}', speed * math.exp(r.gauss(0, cv)),
                                                  **kwargs)) for i in range(n)]

    def cmp(self, *args, status=0):
        return self.s3analyze('cmp', '--json', *args, status=status).json()

    @staticmethod
    def metric(report, name, op='GET', **part):
        found = [m for o in report['operations'] if o['op'] == op for m in o['metrics']
                 if m['metric'] == name and m['host'] == part.get('host')
                 and m['min_bytes'] == part.get('min_bytes')]
        assert len(found) == 1, (name, part, found)
        return found[0]

    @staticmethod
    def claims(report):
        return [(o['op'], m['metric']) for o in report['operations'] for m in o['metrics']
                if m['verdict'] in ('faster', 'slower', 'fewer', 'more')]


class Figures(CmpTest):
    def test_warnings_name_files_without_folders(self):
        """In all formats: a report is read elsewhere."""
        sums = []
        for name in 'get-g4', 'get-errors':
            (self.tmp / name).mkdir()
            sums.append(self.tmp / name / f'{name}.sums.zst')
            self.s3analyze('aggregate', '-q', '-o', sums[-1], capture(name))
        report = self.s3analyze('cmp', '--json', *sums).json()
        found = [f['sentence'] for side in ('before', 'after') for r in report[side]['runs'] for f in r['findings']]
        told = found + [w['message'] for w in report['warnings']]
        self.assertTrue([t for t in told if t.startswith('get-g4.sums.zst holds sums')], told)
        self.assertEqual([t for t in told if '/' in t.split(' holds ')[0]], [])

    def test_outputs_do_not_meet(self):
        mine = self.tmp / 'run.csv.zst'
        mine.write_bytes(capture('list').read_bytes())
        other = capture('list')
        for options in ['--html', mine], ['--output', mine]:
            r = self.s3analyze('cmp', *options, mine, other, status=2)
            self.assertIn('cannot be a .zst file' if options[0] == '--html' else 'would be overwritten', r.err)
        r = self.s3analyze('cmp', '--html', '-', mine, other, status=2)
        self.assertIn('standard output', r.err)
        self.assertEqual(mine.read_bytes(), other.read_bytes())

    def test_figures_are_those_of_analyze(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=1.2)
        report = self.cmp(a, b)
        self.assertEqual(report['schema'], 's3analyze/compare/1')
        for side, path in (('before', a), ('after', b)):
            op = self.s3analyze('analyze', '--json', path).json()['operations'][0]
            got = report['operations'][0][side]
            self.assertEqual(got['bytes_per_s']['average'], op['throughput']['bytes_per_s'])
            for pick in ('fastest', 'median', 'slowest'):
                self.assertEqual(got['bytes_per_s'][pick], op['segments'][pick]['bytes_per_s'])
                self.assertEqual(got['objects_per_s'][pick], op['segments'][pick]['objects_per_s'])
            requests = op['requests']
            self.assertEqual(got['duration'], {
                'mean_ns': requests['mean_ns'], 'p50_ns': requests['p50_ns'],
                'p90_ns': requests['p90_ns'], 'p99_ns': requests['p99_ns'],
                'best_ns': requests['fastest_ns'], 'worst_ns': requests['slowest_ns']})
            self.assertEqual(got['ttfb']['p90_ns'], requests['ttfb']['p90_ns'])
            self.assertEqual(got['ttfb']['worst_ns'], requests['ttfb']['worst_ns'])
            value = self.metric(report, 'throughput')[side]
            self.assertEqual(value['value'], op['throughput']['bytes_per_s'])
            statistics = op['statistics']
            self.assertEqual(value['lo'], statistics['bytes_per_s']['mean']['lo'])
            self.assertEqual(self.metric(report, 'p99')[side]['hi'],
                             statistics['duration']['p99_ns']['hi'])
        ratio = self.metric(report, 'throughput')
        self.assertAlmostEqual(ratio['ratio'], ratio['after']['value'] / ratio['before']['value'], 12)
        self.assertLess(ratio['ratio_lo'], ratio['ratio'])
        self.assertLess(ratio['ratio'], ratio['ratio_hi'])

    def test_text_says_the_same(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=1.2)
        report = self.cmp(a, b)
        out = self.s3analyze('cmp', '-v', a, b).out
        before, after = (report['operations'][0][s]['bytes_per_s']['fastest'] for s in ('before', 'after'))
        self.assertRegex(out, rf'\nThroughput, fastest segment +\S+ +\S+ +{re.escape(f"{100 * (after / before - 1):+.3g}%")}\n')
        for m in report['operations'][0]['metrics']:
            self.assertIn(' '.join(m['verdict_text'].split()), ' '.join(out.split()))

    def test_a_change_that_rounds_to_zero_has_no_minus(self):
        """The answer says +0.0, so the tables do not say -0.00%."""
        before = self.write('before', steady(200, threads=4))
        after = self.write('after', steady(200, threads=4, every=100 * MS + 2000))
        out = self.s3analyze('cmp', '-v', '--gate', 'throughput:0%', before, after, status=3).out
        self.assertIn('+0.00 % (90 % CI +0.00 to +0.00)', out)
        self.assertIn('+0.00%  ~ (p<0.001', out)
        self.assertIn('(+0.0 KiB/s) throughput, +0.00% (+0.0) obj/s', out)
        self.assertIn('throughput: +0 % allowed', out)
        self.assertNotRegex(out, r'-0(\.0+)?(?![\d.])')

    def test_settings_that_differ_come_first(self):
        a = self.write('a', run_rows(1))
        b = self.write('b', run_rows(2, threads=6, sizes=(1000, 200000), hosts=2))
        out = self.s3analyze('cmp', a, b).out
        self.assertIn('settings of the runs differ', out.split('Operation: GET')[0])
        self.assertIn('\n * Concurrency: 4 -> 6 (limits the comparison)\n', out)
        self.assertIn('\n * Endpoints: 1 -> 2 (limits the comparison)\n', out)
        self.assertRegex(out, r'\n \* Object size: 64KiB -> several, mean \d')
        before = ' '.join(out.split('Operation: GET')[0].split())
        self.assertIn('(concurrency 4 -> 6, endpoints 1 -> 2, object size 64KiB -> several, mean', before)
        same = self.s3analyze('cmp', a, self.write('c', run_rows(3))).out
        self.assertNotIn('limits', same)
        page = self.tmp / 'page.html'
        self.s3analyze('cmp', '-q', '--html', page, a, b)
        page = page.read_text()
        self.assertIn('settings of the runs differ', page)
        for what in 'Concurrency', 'Endpoints', 'Object size':
            self.assertRegex(page, what + r'[^<]*: [^<]*\(limits the comparison\)')
        self.s3analyze('cmp', '-q', '--force', '--html', self.tmp / 'page.html', a, self.tmp / 'c.csv')
        page = (self.tmp / 'page.html').read_text()
        self.assertNotIn('limits', page[:page.index('<script type="application/json"')])  # its data has keys of that name

    def test_hosts_and_sizes(self):
        a = self.write('a', run_rows(1, seconds=6, hosts=3, sizes=(500, 50000)))
        b = self.write('b', run_rows(2, seconds=6, hosts=3, sizes=(500, 50000)))
        report = self.cmp('-v', a, b)
        metrics = report['operations'][0]['metrics']
        self.assertEqual(list(dict.fromkeys(m['host'] for m in metrics if m['host'])),
                         [f'http://h{i}:9000' for i in range(3)])
        sizes = list(dict.fromkeys(m['min_bytes'] for m in metrics if m['min_bytes'] is not None))
        self.assertEqual(sizes, [100, 10240])
        parts = [self.metric(report, 'objects', host=f'http://h{i}:9000')['before']['value']
                 for i in range(3)]
        self.assertAlmostEqual(sum(parts) / self.metric(report, 'objects')['before']['value'], 1, 5)
        self.assertTrue(all(m['exploratory'] for m in metrics if m['host'] or m['min_bytes']))
        self.assertIn('at http://h1:9000', self.s3analyze('cmp', '-v', a, b).out)

    def test_errors_are_compared_and_left_out_of_latency(self):
        a = self.write('a', run_rows(1, error_frac=.01))
        b = self.write('b', run_rows(2, error_frac=.2))
        m = self.metric(self.cmp('--run-cv', '0', a, b), 'errors')
        self.assertEqual(m['verdict'], 'more')
        self.assertAlmostEqual(m['difference'], .19, delta=.02)
        self.assertLess(m['difference_lo'], .19)
        ok = self.cmp(self.write('c', run_rows(3)), self.write('d', run_rows(4)))
        self.assertNotIn('errors', [m['metric'] for m in ok['operations'][0]['metrics']])

    def test_several_operations(self):
        def two(seed):
            return run_rows(seed) + run_rows(seed + 1, op='PUT', offset=5000 * MS)
        report = self.cmp(self.write('a', two(1)), self.write('b', two(5)))
        self.assertEqual([o['op'] for o in report['operations']], ['GET', 'PUT'])
        judged = [m for o in report['operations'] for m in o['metrics'] if not m['exploratory']]
        self.assertEqual(len(judged), 6)
        report = self.cmp(self.write('a', two(1)), self.write('b', run_rows(5)))
        self.assertEqual([o['op'] for o in report['operations']], ['GET'])
        self.assertEqual([w['code'] for w in report['warnings']], ['op-missing'])

    def test_filters_apply(self):
        a = self.write('a', run_rows(1, hosts=2))
        report = self.cmp('--host', 'http://h1:9000', a, self.write('b', run_rows(2, hosts=2)))
        one = self.s3analyze('analyze', '--json', '--host', 'http://h1:9000', a).json()
        self.assertEqual(report['before']['runs'][0]['n_rows'], one['n_rows'])

    def test_order_of_rows_and_threads_change_nothing(self):
        rows = run_rows(1, hosts=2, error_frac=.1)
        a, b = self.write('a', rows), self.write('b', run_rows(2, hosts=2))
        first = self.s3analyze('cmp', '--json', '--threads', '1', a, b).json()
        shuffled = self.tmp / 'shuffled.csv'
        random.Random(5).shuffle(rows)
        shuffled.write_bytes(text(rows))
        second = self.s3analyze('cmp', '--json', '--threads', '7', shuffled, b).json()
        self.assertEqual(first['operations'], second['operations'])


class Verdicts(CmpTest):
    def test_single_runs_never_show_a_change(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=2)
        r = self.s3analyze('cmp', a, b)
        self.assertNotRegex(r.out, 'faster|slower')
        m = self.metric(self.cmp(a, b), 'throughput')
        self.assertEqual(m['verdict'], 'differs')
        self.assertGreater(m['break_even_run_cv_frac'], .05)
        cv = 100 * m['break_even_run_cv_frac']
        # That is where it turns.
        below = self.cmp('--run-cv', f'{cv * .999}', a, b)
        above = self.cmp('--run-cv', f'{cv * 1.001}', a, b)
        self.assertLess(self.metric(below, 'throughput')['p'], .05)
        self.assertGreater(self.metric(above, 'throughput')['p'], .05)

    def test_run_cv(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=2)
        m = self.metric(self.cmp('--run-cv', '2%', a, b), 'throughput')
        self.assertEqual(m['verdict'], 'faster')
        self.assertEqual(m['verdict_text'], 'faster, >= 5 % (single run, run CV 2 %)')
        m = self.metric(self.cmp('--run-cv', '50', a, b), 'throughput')
        self.assertEqual(m['verdict'], 'inconclusive')
        self.assertIsNone(m['break_even_run_cv_frac'])

    def test_same_within_delta(self):
        a, b = self.runs('a', 2, seconds=40, threads=2)
        m = self.metric(self.cmp('--run-cv', '0', a, b), 'throughput')
        self.assertIn(m['verdict'], ('same', 'inconclusive'))
        if m['verdict'] == 'same':
            self.assertGreater(m['ratio_lo90'], .95)
            self.assertLess(m['ratio_hi90'], 1.05)

    def test_history(self):
        a, b, *old = self.runs('a', 7, cv=.1)
        options = [x for path in old for x in ('--history', path)]
        report = self.cmp(a, b, *options)
        self.assertEqual(report['run_noise'], {'kind': 'history', 'run_cv_frac': None, 'n_history': 5})
        m = self.metric(report, 'throughput')
        values = [math.log(self.metric(self.cmp(a, path), 'throughput')['after']['value'])
                  for path in old]
        mean = sum(values) / 5
        sigma = math.sqrt(sum((v - mean)**2 for v in values) / 4)
        self.assertIn(f'run CV {100 * sigma:.3g} % from 5 earlier runs', m['assumptions'])
        # A pattern and a list are the same.
        folder = self.tmp / 'old'
        folder.mkdir()
        for path in old:
            path.rename(folder / path.name)
        again = self.cmp('--history', f'{folder}/*.csv', a, b)
        self.assertEqual(again['operations'], report['operations'])

    def test_history_must_be_other_runs(self):
        a, b, *old = self.runs('a', 5)
        r = self.s3analyze('cmp', a, b, *(f'--history={p}' for p in [*old, a]), status=1)
        self.assertIn('in the history', r.err)
        r = self.s3analyze('cmp', a, b, *(f'--history={p}' for p in [*old, old[0]]), status=1)
        self.assertIn('same run', r.err)
        short = self.cmp(a, b, f'--history={old[0]}')
        self.assertIn('short-history', [w['code'] for w in short['warnings']])
        self.assertEqual(self.claims(short), [])

    def test_groups(self):
        a = self.runs('a', 5, cv=.05, seconds=2)
        b = self.runs('b', 5, cv=.05, seconds=2, speed=.6)
        report = self.cmp('--before', *a, '--after', *b)
        m = self.metric(report, 'throughput')
        self.assertEqual(m['verdict'], 'slower')
        x, y = ([math.log(v) for v in m[side]['values']] for side in ('before', 'after'))
        self.assertEqual(len(x), 5)
        v, w = statistics.variance(x) / 5, statistics.variance(y) / 5
        t, df = (statistics.mean(y) - statistics.mean(x)) / math.sqrt(v + w), (v + w) ** 2 / (v * v / 4 + w * w / 4)
        self.assertAlmostEqual(math.log(m['ratio']), statistics.mean(y) - statistics.mean(x), 12)
        self.assertAlmostEqual(m['p'] / two_sided(t, df), 1, 4)
        # The interval is that of the level at which p, adjusted, reaches 5 %.
        half = math.log(m['ratio_hi'] / m['ratio'])
        self.assertAlmostEqual(two_sided(half / math.sqrt(v + w), df) / (.05 * m['p'] / m['p_holm']), 1, 4)
        self.assertLess(m['ratio_hi'], 1)

    def test_detectable_effects(self):
        """It is the same number of standard deviations, of logarithms or of shares, for all metrics that are judged alone."""
        a, b = (self.runs(name, 5, cv=.03, seconds=2, error_frac=.03) for name in 'ab')
        report = self.cmp('--before', *a, '--after', *b)
        factors = []
        for name in 'objects', 'p90', 'errors':
            m = self.metric(report, name)
            self.assertTrue(m['exploratory'])
            values = [m[side]['values'] for side in ('before', 'after')]
            if name != 'errors':
                values = [[math.log(x) for x in v] for v in values]
            sd = math.sqrt(sum(statistics.variance(v) for v in values) / 2)
            factors.append((m['mde_frac'] if name == 'errors' else math.log1p(m['mde_frac'])) / sd)
        for f in factors[1:]:
            self.assertAlmostEqual(f, factors[0], delta=1e-9 * f)

    def test_the_answer_names_first_what_became_worse(self):
        def runs(name, put_speed):
            return [self.write(f'{name}{i}', run_rows(f'{name}{i}', seconds=1, threads=2) + run_rows(
                f'{name}-put{i}', put_speed, seconds=1, threads=2, op='PUT')) for i in range(6)]

        report = self.cmp('--before', *runs('a', 1.0), '--after', *runs('b', 0.5))
        self.assertEqual([o['op'] for o in report['operations']], ['GET', 'PUT'])
        self.assertRegex(report['answer'], r'^PUT: slower: .* GET: ')

    def test_groups_of_one_configuration(self):
        runs = self.runs('a', 8, cv=.1, seconds=2)
        self.assertEqual(self.claims(self.cmp('--before', *runs[:4], '--after', *runs[4:])), [])

    def test_few_runs_are_flagged(self):
        runs = self.runs('a', 8, seconds=2)
        def codes(k):
            report = self.cmp('--before', *runs[:k], '--after', *runs[k:2 * k])
            return [w['code'] for w in report['warnings']]
        self.assertEqual(['few-runs' in codes(k) for k in (2, 3, 4)], [True, True, False])

    def test_an_effect_beyond_all_bounds(self):
        """Two runs a side that scatter decide nothing, and no cell has a percentage of 20 digits."""
        sides = ['--before', *self.runs('a', 2, cv=1, seconds=2), '--after', *self.runs('b', 2, cv=1, seconds=2)]
        m = self.metric(self.cmp(*sides), 'throughput')
        self.assertEqual((m['verdict'], m['mde_frac'], m['verdict_text'][:12]), ('inconclusive', None, 'too few runs'))
        for form in ['-v'], ['--markdown'], ['--csv']:
            out = self.s3analyze('cmp', *form, *sides).out
            self.assertIn('too few runs', out)
            self.assertNotRegex(out, r'\d{5}%')
        self.s3analyze('cmp', '--html', self.tmp / 'page', *sides)
        self.assertIn('too few runs', (self.tmp / 'page').read_text())

    def test_one_against_many(self):
        one, *many = self.runs('a', 6, cv=.05, seconds=2)
        report = self.cmp('--before', *many, '--after', one)
        m = self.metric(report, 'throughput')
        self.assertIn('one run against', m['assumptions'])
        self.assertEqual((m['before']['n_runs'], m['after']['n_runs']), (5, 1))
        logs = [math.log(v) for v in m['before']['values']]
        mean = sum(logs) / 5
        self.assertAlmostEqual(math.log(m['ratio']), math.log(m['after']['value']) - mean, 12)

    def test_order_of_runs(self):
        a = self.runs('a', 2, seconds=2)
        b = self.runs('b', 2, seconds=2, offset=60_000 * MS)
        report = self.cmp('--before', *a, '--after', *b)
        self.assertIn('order', [w['code'] for w in report['warnings']])
        report = self.cmp('--before', a[0], b[0], '--after', a[1], b[1])
        self.assertNotIn('order', [w['code'] for w in report['warnings']])

    def test_a_run_counts_once(self):
        a, b = self.runs('a', 2)
        r = self.s3analyze('cmp', '--before', a, a, '--after', b, status=1)
        self.assertIn('same run', r.err)
        report = self.cmp(a, a)
        self.assertEqual([w['code'] for w in report['warnings']], ['same-run'])
        self.assertEqual(self.claims(report), [])

    def test_too_short(self):
        a = self.write('a', run_rows(1)[:20])
        report = self.cmp(a, self.write('b', run_rows(2)))
        self.assertEqual({m['verdict'] for m in report['operations'][0]['metrics']},
                         {'not-enough-data'})


class Gate(CmpTest):
    def check(self, gate, *args):
        r = self.s3analyze('cmp', '--gate', gate, *args, status=None)
        said = {0: 'passed', 1: 'not passed', 3: 'undecided'}[r.status]
        self.assertIn(f'Gate: {said}.', r.out)
        self.assertEqual(json.loads(self.s3analyze('cmp', '--json', '--gate', gate, *args,
                                                   status=r.status).raw)['gate'], said)
        return r.status

    def test_single_runs(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=.6)
        self.assertEqual(self.check('throughput:5%', a, b), 3)
        self.assertEqual(self.check('throughput:5%,p50:10%', '--run-cv', '2%', a, b), 1)
        self.assertEqual(self.check('throughput:5%', '--run-cv', '30%', a, b), 3)
        self.assertEqual(self.check('throughput:80%', '--run-cv', '2%', a, b), 0)
        self.assertEqual(self.check('throughput:5%', '--run-cv', '2%', b, a), 0)
        self.assertEqual(self.check('errors:1%', '--run-cv', '2%', b, a), 0)

    def test_groups(self):
        a = self.runs('a', 5, cv=.03, seconds=2)
        b = self.runs('b', 5, cv=.03, seconds=2, speed=.6)
        self.assertEqual(self.check('throughput:5%,p99:10%', '--before', *a, '--after', *b), 1)
        self.assertEqual(self.check('throughput:5%,p50:10%', '--before', *b, '--after', *a), 0)
        self.assertEqual(self.check('throughput:60%', '--before', *a, '--after', *b), 0)

    def test_a_quantile_of_few_requests_decides_nothing(self):
        """On either side."""
        many, more = self.runs('many', 2, seconds=12)
        few = self.runs('few', 1, threads=1, seconds=1)[0]
        self.assertEqual(self.check('p90:90%', '--run-cv', '1%', many, more), 0)
        self.assertEqual(self.check('p90:90%', '--run-cv', '1%', many, few), 3)
        self.assertEqual(self.check('p90:90%', '--run-cv', '1%', few, many), 3)

    def test_family_is_what_is_gated(self):
        a, b = self.runs('a', 2)
        report = self.cmp('--gate', 'p90:5', '--run-cv', '5', a, b, status=None)
        self.assertEqual(report['n_family'], 1)
        self.assertFalse(self.metric(report, 'p90')['exploratory'])
        self.assertTrue(self.metric(report, 'throughput')['exploratory'])

    def test_a_preparation_is_not_judged(self):
        def with_put(seed):
            return run_rows(seed) + [row(-50 * MS + k * MS, -49 * MS + k * MS, op='PUT')
                                     for k in range(20)]
        a, b = self.write('a', with_put(1)), self.write('b', with_put(2))
        self.assertEqual(self.check('throughput:50%', '--run-cv', '2%', a, b), 0)

    def test_a_missing_operation_is_no_pass(self):
        a = self.write('a', run_rows(1) + run_rows(3, op='PUT', offset=5000 * MS))
        self.assertEqual(self.check('throughput:90%', '--run-cv', '1%', a,
                                    self.write('b', run_rows(2))), 3)

    def test_wrong_gates(self):
        a, b = self.runs('a', 2)
        for gate in ('latency:5%', 'p99', 'p99:', 'p99:-1%', 'p99:100%', 'p99:5%,p99:6%', 'p99:5x', 'p99:0.49'):
            r = self.s3analyze('cmp', '--gate', gate, a, b, status=2)
            self.assertIn('--gate', r.err)
            self.assertEqual(r.out, '')


class Formats(CmpTest):
    def test_csv_is_json(self):
        a, b = self.runs('a', 1) + self.runs('b', 1, speed=1.3, hosts=2)
        rows = list(csv.DictReader(io.StringIO(self.s3analyze('cmp', '-v', '--csv', a, b).out)))
        metrics = self.cmp('-v', a, b)['operations'][0]['metrics']
        self.assertEqual(sum(r['verdict'] != '' for r in rows), len(metrics))
        for r, m in zip(rows, metrics):
            self.assertEqual((r['metric'], r['verdict'], r['verdict_text']),
                             (m['metric'], m['verdict'], m['verdict_text']))
            self.assertEqual(r['before'], next(x for digits in (15, 16, 17) if
                                               float(x := f'{m["before"]["value"]:.{digits}g}') == m['before']['value']))
            self.assertEqual(float(r['p']) if r['p'] else None, m['p'])
            self.assertEqual(r['op'], 'GET')

    def test_markdown(self):
        a, b = self.runs('a', 2)
        out = self.s3analyze('cmp', '--markdown', '--after-name', 'b|<b>', a, b).out
        shown, folded = out.split('<details>')
        self.assertIn('|  | before | b\\|&lt;b> | throughput | p50 | p99 |', shown)
        table = [line for line in folded.splitlines() if line.startswith('|')]
        self.assertIn('| before | b\\|&lt;b> |', table[0])
        rows = table[:2 + len(self.cmp(a, b)['operations'][0]['metrics'])]
        self.assertEqual(len({len(re.findall(r'(?<!\\)\|', line)) for line in rows}), 1)
        self.assertIn('| Throughput, fastest segment | ', out)

    def test_a_fraction_for_a_percentage(self):
        a, b = self.runs('a', 2)
        for option, value in ('--run-cv', '0.05'), ('--gate', 'throughput:0.05'):
            self.assertIn('0.05 % or 5 %?', self.s3analyze('cmp', option, value, a, b, status=2).err)
            self.s3analyze('cmp', option, value + '%', a, b, status=None if option == '--gate' else 0)

    def test_output_file(self):
        a, b = self.runs('a', 2)
        path = self.tmp / 'out.json'
        r = self.s3analyze('cmp', '--json', '-o', path, a, b)
        self.assertEqual(r.out, '')
        self.assertEqual(json.loads(path.read_text())['schema'], 's3analyze/compare/1')

    def test_usage(self):
        a, b = self.runs('a', 2)
        for args in ((), (a,), (a, b, b), ('--before', a), ('--after', b, '--json'),
                     ('--before', a, '--after', b, '--', a), ('--json', '--csv', a, b),
                     ('--run-cv', '2', '--history', b, a, b),
                     ('--before', a, b, '--after', b, '--run-cv', '3')):
            with self.subTest(args=args):
                r = self.s3analyze('cmp', *args, status=2)
                self.assertEqual(r.out, '')
        self.s3analyze('cmp', a, self.tmp / 'nothing', status=1)
        r = self.s3analyze('cmp', a, b, '--history', f'{self.tmp}/*.none', status=1)
        self.assertIn('no such file', r.err)


AB = {s: [f'ab-{s}-{i}' for i in range(1, 7)] for s in ('before', 'after')}

if 'ab-before-1' in captures():
    class Recorded(CmpTest):
        """Six runs each of two configurations on a noisy machine."""

        def test_pairs_of_one_configuration(self):
            for names in AB.values():
                paths = [capture(n) for n in names]
                n_claims = 0
                for a, b in itertools.combinations(paths, 2):
                    self.assertEqual(self.claims(self.cmp(a, b)), [])
                    old = [f'--history={p}' for p in paths if p not in (a, b)]
                    m = self.metric(self.cmp(a, b, *old), 'throughput')
                    n_claims += m['verdict'] in ('faster', 'slower')
                self.assertLessEqual(n_claims, 2)

        def test_halves_of_one_configuration(self):
            for names in AB.values():
                first, *paths = [capture(n) for n in names]
                n_claims = 0
                for two in itertools.combinations(paths, 2):
                    others = [p for p in paths if p not in two]
                    report = self.cmp('--before', first, *two, '--after', *others)
                    m = self.metric(report, 'throughput')
                    n_claims += m['verdict'] in ('faster', 'slower')
                self.assertLessEqual(n_claims, 1)

        def test_six_against_six(self):
            report = self.cmp('--before', *map(capture, AB['before']),
                              '--after', *map(capture, AB['after']))
            m = self.metric(report, 'throughput')
            self.assertEqual(m['verdict'], 'not-judged')  # the sizes differ
            self.assertLess(m['p'], 1e-6)
            self.assertLess(m['ratio_hi'], .5)
            settings = [s['setting'] for o in report['operations'] if o['op'] == 'GET'
                        for s in o['differing_settings']]
            self.assertIn('object_size_bytes', settings)

        def test_break_even(self):
            report = self.cmp(capture('ab-before-1'), capture('ab-before-2'))
            m = self.metric(report, 'throughput')
            self.assertAlmostEqual(100 * (m['ratio'] - 1), -18.07, 2)
            self.assertAlmostEqual(m['p_holm'] / m['p'], 3, 9)  # 6.4 % without adjustment
            self.assertAlmostEqual(100 * m['break_even_run_cv_frac'], 4.8, 1)

        def test_reference(self):
            """The output of the reference tool, digit by digit."""
            for path in sorted((SHARED / 'golden' / 'reference').glob('cmp-*.txt')):
                names = {'cmp-before-1-before-2': ('ab-before-1', 'ab-before-2'),
                         'cmp-get-single-get-3hosts': ('get-single', 'get-3hosts')}[path.stem]
                out = self.s3analyze('cmp', *map(capture, names)).out.split('Operation: GET')[1]
                for line in path.read_text().split('Operation: GET')[1].splitlines():
                    if 'throughput' in line or re.match(r'[A-Z]\w+: \d', line):
                        self.assertIn(line, out)


if __name__ == '__main__':
    unittest.main()
