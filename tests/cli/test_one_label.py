"""A figure has one value under one label, whatever command or format shows it."""

import csv
import io
import re
import unittest

from harness import CliTest, capture, judged, unwrapped

# One size and several, one host and several, alone and mixed, with errors, with ranges of few requests.
CAPTURES = ['merge-in-2', 'edge-errors', 'edge-sizes', 'get-errors', 'get-randsize', 'list', 'mixed-3hosts', 'put-g4']
QUANTILES = {'p50': 'p50_ns', 'p90': 'p90_ns', 'p99': 'p99_ns'}
TIMES = ('duration', 'ttfb')
# A value of sums is the middle of a bucket of 1/1024.
SUMS_BOUND = .0005


def times_of(op):
    """{'duration': {...}, 'ttfb': {...}} of all requests of an operation in the report."""
    requests = op['requests']
    if requests is None:
        return {}
    found = {'ttfb': requests['ttfb']} if requests.get('ttfb') else {}
    if requests['single_size']:
        found['duration'] = requests
    return found


def cells(out, label):
    """The cells (separated by two spaces) after `label` in the rows of text that begin with it."""
    rows = re.findall(rf'^ *{re.escape(label)} {{2,}}(.*)$', out, re.M)
    return [re.split(r' {2,}', row.strip()) for row in rows]


def tables(out):
    """{name: rows} of a file of plot data."""
    found = {}
    for block in out.split('\n\n\n'):
        name, _, rows = block.strip().partition('\n')
        found[name.lstrip('# ')] = list(csv.DictReader(io.StringIO(rows), delimiter='\t'))
    return found


class OneLabel(CliTest):
    def analyze(self, path, *options):
        return {op['op']: op for op in self.s3analyze('analyze', '--json', *options, path).json()['operations']}

    def cmp(self, path, *options):
        return self.s3analyze('cmp', *options, path, path)

    def sums(self, path):
        sums = self.tmp / f'{path.name}.sums.zst'
        self.s3analyze('aggregate', '-o', sums, path)
        return sums

    def test_statistics_are_those_of_the_report(self):
        n = 0
        for path in map(capture, CAPTURES):
            for op in self.analyze(path).values():
                for kind, times in times_of(op).items():
                    if op['statistics'] is None:
                        continue
                    found = op['statistics'][kind]
                    self.assertEqual(found['n'], times['n'])
                    for key in QUANTILES.values():
                        ci = found[key]
                        self.assertEqual(ci['value'], times[key], (op['op'], kind, key))
                        self.assertLessEqual(ci['lo'] or 0, ci['value'])
                        self.assertGreaterEqual(ci['hi'] or ci['value'], ci['value'])
                        n += 1
                if op['statistics'] and op['statistics']['objects_per_s']:
                    self.assertEqual(op['statistics']['objects_per_s']['mean']['value'], judged(op)['objects_per_s'])
        self.assertGreater(n, 30)

    def test_comparisons_have_the_values_of_the_report(self):
        n = 0
        for path in map(capture, CAPTURES):
            reports = self.analyze(path)
            for op in self.cmp(path, '--json', '-v').json()['operations']:
                report = reports[op['op']]
                hosts = {h['host']: h for h in (report['requests'] or {}).get('hosts', [])}
                for kind, times in times_of(report).items():
                    for key in QUANTILES.values():
                        self.assertEqual(op['before'][kind][key], times[key])
                for m in op['metrics']:
                    if m['min_bytes'] is not None:
                        continue
                    key, value = m['metric'], m['before']['value']
                    if m['host'] is None:
                        wanted = {'throughput': op['before']['bytes_per_s']['average'],
                                  'objects': op['before']['objects_per_s']['average'],
                                  'ttfb_p50': op['before']['ttfb']['p50_ns']}
                        wanted.update({k: op['before']['duration'][k + '_ns'] for k in ('p50', 'p90', 'p99')})
                        self.assertEqual(value, wanted.get(key, value), (op['op'], key))
                        if key == 'throughput':
                            self.assertEqual(value, judged(report)['bytes_per_s'])
                        elif key == 'objects':
                            self.assertEqual(value, judged(report)['objects_per_s'])
                        n += 1
                    elif key in ('p50', 'p90', 'p99') and report['requests']['single_size']:
                        self.assertEqual(value, hosts[m['host']][key + '_ns'])
                        n += 1
        self.assertGreater(n, 50)

    def test_texts_show_one_value(self):
        for name in 'merge-in-2', 'put-g4', 'get-errors':
            with self.subTest(name):
                path = capture(name)
                op = list(self.analyze(path))[-1]
                out = intervals = self.s3analyze('analyze', '-v', '--op', op, path).out
                # At 80 columns the table has parts, each with its headings.
                heads = re.findall(r'^ +((?:Considered|Avg|p\d\d|Fastest|Slowest).*)$', re.split(r'\nThroughput', out)[0], re.M)
                rows = re.findall(r'^Duration (.*)$', out, re.M)
                duration = dict(zip(' '.join(heads).split(), ' '.join(rows).split()))
                for options in [], ['--markdown'], ['--csv']:
                    shown = self.cmp(path, '--op', op, *options).out
                    for quantile, key in QUANTILES.items():
                        value = duration[quantile]
                        self.assertEqual(cells(intervals, f'Duration, {quantile}')[0][0], value)
                        if '--csv' in options:
                            row = next(r for r in csv.DictReader(io.StringIO(shown)) if r['metric'] == key[:3])
                            exact = times_of(self.analyze(path)[op])['duration'][key]
                            self.assertEqual(float(row['before']), exact)
                            continue
                        rows = re.findall(rf'^[| ]*(?:\w+, )?{quantile}[ *|\\]+(\S+) ', shown, re.M)
                        self.assertIn(value, rows)
                        # If the label occurs again, as for TTFB, it is another figure.
                        self.assertEqual(len([r for r in rows if r == value]), 1, shown)
                self.assertIn(f"p99 {duration['p99']}", unwrapped(out))

    def test_pages_show_the_values_of_texts(self):
        path, page = capture('merge-in-2'), self.tmp / 'page.html'
        op = list(self.analyze(path))[-1]
        text = self.s3analyze('analyze', '-v', '--op', op, '--html', page, path).out
        for quantile in QUANTILES:
            self.assertIn(f'>{cells(text, f"Duration, {quantile}")[0][0]}<', page.read_text())

    def test_charts_have_the_values_of_the_report(self):
        n = 0
        for name in 'merge-in-2', 'get-errors', 'put-g4':
            path, folder = capture(name), self.tmp / name
            self.s3analyze('plot', '--chart', 'cdf', '--out', folder, path)
            for op, report in self.analyze(path).items():
                if report['requests'] is None:
                    continue
                for mark in tables((folder / f'cdf-{op}.tsv').read_text())['marks']:
                    times = times_of(report)[TIMES[int(mark['is_ttfb'])]]
                    key = f"p{mark['pct']}_ns"
                    if key in times:
                        self.assertEqual(round(float(mark['ms']) * 1e6), times[key])
                        n += 1
        self.assertGreater(n, 15)

    def test_failures_say_what_they_are_counted_of(self):
        """Figures do not count what is left out, findings count all requests: each says which it counts."""
        report = self.s3analyze('analyze', '--json', capture('edge-errors')).json()
        n, n_errors = (sum(op[key] for op in report['operations']) for key in ('n_requests', 'n_errors'))
        self.assertGreater(report['n_rows'], n)
        out = unwrapped(self.s3analyze('analyze', capture('edge-errors')).out)
        self.assertRegex(out, rf'; [0-9,]+ of {report["n_rows"]:,} requests failed')
        self.assertRegex(out, rf'Cluster Total {n:,} {n_errors} ')
        for op in report['operations']:
            self.assertEqual(sum(g['count'] for g in op['errors']), op['n_errors'])
        found = re.findall(r'([0-9,]+) (?:\w+ )?requests (?:of \S+ )?failed [^(]*'
                           r'\((?:[0-9.]+ % of the requests [^,]*, )?([0-9.]+) ?% of all', out)
        self.assertGreater(len(found), 1)
        for count, share in found:
            self.assertAlmostEqual(100 * int(count.replace(',', '')) / report['n_rows'], float(share), delta=.01)
        whole = unwrapped(self.s3analyze('analyze', '--range', 'full', capture('get-errors')).out)
        self.assertIn(' requests failed (', whole)

    def test_sums_are_near_the_whole_run(self):
        n = 0
        for path in map(capture, CAPTURES):
            sums = self.sums(path)
            whole, found = self.analyze(path, '--range', 'full'), self.analyze(sums)
            for op, report in found.items():
                for kind, times in times_of(report).items():
                    if kind not in times_of(whole[op]):
                        continue
                    exact = times_of(whole[op])[kind]
                    self.assertEqual(times['n'], exact['n'])
                    for key in QUANTILES.values():
                        self.assertAlmostEqual(times[key], exact[key], delta=SUMS_BOUND * exact[key] + 1)
                        n += 1
            out = unwrapped(self.s3analyze('analyze', sums).out)
            self.assertNotIn('in the active range:', out)
        self.assertGreater(n, 30)

    def test_comparisons_of_sums_have_the_rates_of_their_reports(self):
        n = 0
        for path in map(capture, CAPTURES):
            sums = self.sums(path)
            for option in ((), ('--range', 'full', '--dur', '2s')):
                reports = self.analyze(sums, *option)
                ops = self.cmp(sums, '--json', *option).json()['operations']
                self.assertEqual({op['op'] for op in ops}, set(reports))
                for op in ops:
                    total, found = reports[op['op']]['throughput'], op['before']
                    if total is None:
                        continue
                    n += 1
                    self.assertEqual(found['objects_per_s']['average'], total['objects_per_s'])
                    values = {m['metric']: m['before']['value'] for m in op['metrics']}
                    self.assertEqual(values.get('objects', 0), total['objects_per_s'])
                    for pick in 'fastest', 'median', 'slowest':
                        segments = reports[op['op']]['segments']
                        self.assertEqual(found['objects_per_s'][pick],
                                         segments and segments[pick]['objects_per_s'])
        self.assertGreater(n, 10)

    def test_comparisons_of_sums_have_the_values_of_their_reports(self):
        for path in map(capture, CAPTURES):
            sums = self.sums(path)
            reports = self.analyze(sums)
            for op in self.cmp(sums, '--json').json()['operations']:
                values = {m['metric']: m['before']['value'] for m in op['metrics']}
                times = times_of(reports[op['op']]).get('duration')
                for key in times and ('p50', 'p90', 'p99') or ():
                    self.assertEqual(values[key], times[key + '_ns'])


if __name__ == '__main__':
    unittest.main()
