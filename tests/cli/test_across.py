"""Systems side by side: `table --across label` and `plot --chart response`."""

import csv
import io
import json
import random
import statistics

import aggregates
import zstd
from capgen import SECOND, moved, row, text
from harness import CliTest, capture, tool, unwrapped
from oracle import order
from test_plot import blocks, svg_texts

MS = 10**6
KIB = 1 << 10


def rows_of(seed, took, threads=4, size=64 * KIB, n=60, op='GET', sigma=0.2, failed=0, **kwargs):
    """A run whose requests take about `took` ns; the first `failed` of each thread fail at once."""
    r = random.Random(seed)
    out = []
    for thread in range(threads):
        now = thread
        for i in range(n):
            fails = i < failed
            length = 1000 if fails else int(took * r.lognormvariate(0, sigma))
            out.append(row(now, now + length, thread=thread, op=op, size=size, error='down' if fails else '', **kwargs))
            now += length
    return sorted(out, key=order)


def said(label=None, rate=None):
    """The opening comment of s3load."""
    settings = {} if rate is None else {'settings': {'rate': rate}}
    return b'# s3load/1 ' + json.dumps({'event': 'start', 'label': label, **settings}).encode() + b'\n'


class Across(CliTest):
    """The runs of a folder begin one after another, a second apart; those of later folders are later."""

    def setUp(self):
        super().setUp()
        self.n_written = 0

    def write(self, folder, name, rows, comment=b''):
        self.n_written += 1
        path = self.tmp / folder / f'{name}.csv'
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text(moved(rows, self.n_written * 100 * SECOND)) + comment)
        return path

    def system(self, name, took, n_runs=5, spread=0.01, **kwargs):
        """A folder of runs that vary by about `spread`."""
        r = random.Random(name)
        for i in range(n_runs):
            self.write(name, f'{name}-{i}-{len(list((self.tmp / name).glob("*")))}',
                       rows_of(f'{name}{i}', took * r.gauss(1, spread), **kwargs))
        return self.tmp / name

    def table(self, *args, **kwargs):
        return self.s3analyze('table', '--across', 'label', *args, **kwargs)

    def rows(self, *args):
        return self.table('--json', *args).json()['rows']

    def best(self, *args):
        return {(r['size'], r['metric']): r['label'] for r in self.rows(*args) if r['is_best']}

    # --- The table ---

    def test_figures_are_medians_of_runs(self):
        folders = self.system('old', 10 * MS), self.system('new', 9 * MS)
        lines = self.s3analyze('table', '--json', *folders).json()['rows']
        rows = self.rows(*folders)
        self.assertEqual([(r['op'], r['size'], r['metric'], r['label']) for r in rows],
                         [('GET', 64 * KIB, metric, label) for metric in ('throughput', 'p99') for label in ('old', 'new')])
        for r in rows:
            of_runs = [x[r['metric']]['value'] for x in lines if x['run'].startswith(r['label'])]
            self.assertEqual((r['n_runs'], r['median'], r['least'], r['greatest']),
                             (5, statistics.median(of_runs), min(of_runs), max(of_runs)))

    def test_all_formats_show_the_same(self):
        folders = self.system('old', 10 * MS), self.system('new', 8 * MS)
        rows = self.rows(*folders)
        self.assertEqual({r['label'] for r in rows if r['is_best']}, {'new'})
        lines = list(csv.DictReader(io.StringIO(self.table('--csv', *folders).out)))
        for a, b in zip(rows, lines, strict=True):
            self.assertEqual([a[k] for k in ('op', 'label', 'metric', 'unit')], [b[k] for k in ('op', 'label', 'metric', 'unit')])
            self.assertEqual([a['size'], a['n_runs'], a['median'], a['least'], a['greatest'], a['is_best']],
                             [float(b[k]) for k in ('size', 'runs', 'median', 'least', 'greatest', 'is_best')])
        shown = self.table(*folders).out
        self.assertRegex(shown, r'(?m)^GET +64KiB +\S+MiB/s +\* \S+MiB/s$')
        self.assertRegex(shown, r'(?m)^GET +64KiB +\S+ms +\* \S+ms$')
        self.assertIn('Holm', shown)
        self.assertRegex(self.table('--markdown', *folders).out, r'\| GET \| 64KiB \| \S+MiB/s \| \S+ to \S+ \| \\\* \S+MiB/s \|')
        page = self.tmp / 'page.html'
        self.table('--html', page, *folders)
        self.assertIn('* better than each other system', page.read_text())

    def test_four_systems_fit_into_80_columns(self):
        folders = [self.system(name, took * MS) for name, took in (('first', 5), ('second', 7), ('third', 9), ('fourth', 3))]
        lines = self.table(*folders).out.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn(['Op', 'Size', 'first', 'second', 'third', 'fourth'], [x.split() for x in lines])

    def test_the_best_is_what_cmp_calls_better(self):
        """Also of three: it must be better than each other one."""
        a, b, c = self.system('a', 10 * MS), self.system('b', 9 * MS), self.system('c', 9.5 * MS, spread=0.15)
        found = self.best(a, b, '--metric', 'throughput,p50')
        self.assertEqual(found, {(64 * KIB, 'throughput'): 'b', (64 * KIB, 'p50'): 'b'})
        compared = self.s3analyze('cmp', '--json', '--before', *a.iterdir(), '--after', *b.iterdir()).json()
        verdicts = {m['metric']: m['verdict'] for m in compared['operations'][0]['metrics']}
        self.assertEqual((verdicts['throughput'], verdicts['p50']), ('faster', 'faster'))
        self.assertEqual(self.best(a, b, c), {})

    def exact(self, name, size, took):
        """Runs of requests that all take as long: one for each of `took`."""
        for i, ms in enumerate(took):
            self.write(name, f'{size}-{i}', rows_of(0, ms * MS, size=size, sigma=0))
        return self.tmp / name

    def test_a_difference_that_is_the_same_to_cmp_has_no_best(self):
        took = 10, 10.01, 10.02
        a, b = self.exact('a', KIB, took), self.exact('b', KIB, [x * 0.98 for x in took])
        self.assertEqual(self.best(a, b), {})
        slow = self.exact('slow', KIB, (13, 14, 15, 16))  # the larger p, and the verdict is sure
        self.assertEqual(set(self.best(slow, b).values()), {'b'})
        self.assertEqual(self.best(a, b, slow), {})

    def test_p_is_corrected_over_all_lines(self):
        took = 10, 11, 12, 13
        for i in range(1, 6):
            a, b = self.exact('a', i * KIB, took), self.exact('b', i * KIB, [x * (0.8 if i == 1 else 0.9) for x in took])
        args = a, b, '--metric', 'p50'
        self.assertEqual(self.best(*args, '--where', 'size=1KiB'), {(KIB, 'p50'): 'b'})
        self.assertEqual(self.best(*args), {})

    def test_what_noise_explains_has_no_best(self):
        folders = self.system('a', 10 * MS, spread=0.3), self.system('b', 9 * MS, spread=0.3)
        self.assertEqual(self.best(*folders), {})
        self.assertIn('none is shown to be better', unwrapped(self.table(*folders).out))

    def test_single_runs_have_no_best(self):
        folders = self.system('a', 10 * MS, n_runs=1), self.system('b', 2 * MS, n_runs=1)
        self.assertEqual(self.best(*folders), {})
        self.assertIn('which takes several runs of each', unwrapped(self.table(*folders).out))

    def test_a_system_that_fails_is_not_the_best(self):
        slow = self.system('slow', 10 * MS)
        self.assertEqual(set(self.best(slow, self.system('fast', 5 * MS)).values()), {'fast'})
        self.assertEqual(self.best(slow, self.system('failing', 5 * MS, failed=6)), {})

    def test_a_run_without_success_leaves_no_best(self):
        folders = self.system('a', 10 * MS), self.system('b', 5 * MS)
        self.write('b', 'down', rows_of(1, 1, failed=60))
        self.assertEqual(self.best(*folders), {})

    def test_objects_stand_for_bytes(self):
        rows = self.rows(self.system('a', 5 * MS, op='DELETE', size=0), self.system('b', 6 * MS, op='DELETE', size=0))
        self.assertEqual({(r['metric'], r['unit']) for r in rows}, {('objects', 'objects_per_s'), ('p99', 'ns')})

    def test_runs_whose_settings_differ_are_never_taken_together(self):
        a, b = self.system('a', 10 * MS, threads=4), self.system('b', 9 * MS, threads=4)
        self.system('a', 10 * MS, threads=8)
        self.system('b', 9 * MS, threads=8)
        self.assertIn('differ in concurrency of GET: 4 and 8', self.table(a, b, status=2).err)
        rows = self.rows(a, b, '--by', 'op,size,threads', '--metric', 'p50')
        self.assertEqual([(r['threads'], r['label'], r['n_runs']) for r in rows],
                         [(4, 'a', 5), (4, 'b', 5), (8, 'a', 5), (8, 'b', 5)])
        self.assertEqual([r['threads'] for r in self.rows(a, b, '--by=-threads', '--metric', 'p50')], [8, 8, 4, 4])
        self.assertEqual({r['threads'] for r in self.rows(a, b, '--by', 'threads', '--where', 'threads=4')}, {4})

    def test_systems_whose_settings_differ_have_no_best(self):
        folders = self.system('a', 10 * MS, threads=4), self.system('b', 5 * MS, threads=8)
        self.assertEqual({r['differing'] for r in self.rows(*folders)}, {'concurrency of GET'})
        self.assertEqual(self.best(*folders), {})
        self.assertIn('GET 64KiB: systems differ in concurrency of GET, 4 and 8: no best is marked',
                      unwrapped(self.table(*folders).out))

    def test_sizes_are_lines(self):
        a, b = self.system('a', 10 * MS), self.system('b', 9 * MS)
        self.system('b', 20 * MS, size=4 * KIB)
        rows = self.rows(a, b, '--metric', 'p50')
        self.assertEqual([(r['size'], r['label'], r['n_runs']) for r in rows],
                         [(4 * KIB, 'a', 0), (4 * KIB, 'b', 5), (64 * KIB, 'a', 5), (64 * KIB, 'b', 5)])
        self.assertRegex(self.table(a, b).out, r'(?m)^GET +4KiB +- ')

    def test_random_sizes_are_one_line(self):
        """Their means differ by chance."""
        for name in 'ab':
            for seed in range(3):
                r = random.Random(f'{name}{seed}')
                self.write(name, f'{name}{seed}', [x._replace(bytes=r.randrange(1000, 9000)) for x in rows_of(seed, 5 * MS, n=200)])
        rows = self.rows(self.tmp / 'a', self.tmp / 'b')
        self.assertEqual([(r['metric'], r['n_runs']) for r in rows], [('objects', 3)] * 2 + [('p99', 3)] * 2)

    def test_labels_name_systems_of_one_folder(self):
        for i, label in enumerate(('v1', 'v2', 'v1', None)):
            self.write('all', f'run{i}', rows_of(i, 10 * MS), said(label))
        self.assertEqual([(r['label'], r['n_runs']) for r in self.rows(self.tmp / 'all', '--metric', 'p50')],
                         [('v1', 2), ('v2', 1), ('all', 1)])
        other = self.write('other', 'run', rows_of(9, 10 * MS), said('v1'))
        self.assertEqual([r['label'] for r in self.rows(self.tmp / 'all', other, '--metric', 'p50')], ['all', 'other'])
        self.assertEqual([r['run'] for r in self.s3analyze('table', '--json', '--where', 'label=v2', self.tmp / 'all').json()['rows']],
                         ['run1'])

    def test_captures_are_reduced_to_what_others_hold(self):
        a, b = self.system('a', 10 * MS), self.system('b', 9 * MS)
        for path in b.iterdir():
            self.s3analyze('aggregate', '-q', '-o', path.with_suffix('.sums.zst'), path)
            path.unlink()
        self.assertEqual({r['differing'] for r in self.rows(a, b)}, {None})

    def test_wrong_usage(self):
        folder = self.system('a', 10 * MS, n_runs=1)
        for args, why in ((('--by', 'op'), 'need --across'), (('--metric', 'p50'), 'need --across'),
                          (('--across', 'label', '--sort', 'p50'), '--sort is without it'),
                          (('--across', 'host'), 'label'), (('--across', 'label', '--by', 'speed'), '--by speed: the columns are'),
                          (('--across', 'label', '--metric', 'p98'), '--metric p98: there are throughput, objects')):
            with self.subTest(args=args):
                self.assertIn(why, self.s3analyze('table', *args, folder, status=2).err)
        self.assertIn('All runs are of one system', self.table(folder).out)
        self.assertIn('meets --where', self.table('--where', 'op=PUT', folder).out)
        again = self.tmp / 'link'
        again.symlink_to(folder)
        self.assertIn('a-0', self.table(folder, again, status=1).err)
        many = [self.system(f's{i}', 10 * MS, n_runs=1, n=2) for i in range(13)]
        self.assertIn('more than 12 systems', self.table(*many, status=2).err)

    # --- The response curve ---

    def levels(self, name, levels, n_runs=3, capacity=8, **kwargs):
        """Runs at several concurrencies of a server that does so many requests at once."""
        for level in levels:
            for i in range(n_runs):
                took = 5 * MS * max(1, level / capacity) * random.Random(f'{name}{level}{i}').gauss(1, 0.02)
                self.write(name, f'{name}-{level}-{i}', rows_of(f'{name}{level}{i}', took, threads=level, **kwargs))
        return self.tmp / name

    def plot(self, *args, **kwargs):
        tool('gnuplot')
        return self.s3analyze('plot', '-q', '--chart', 'response', *args, **kwargs)

    def test_points_are_the_levels(self):
        """They may run for shorter or longer."""
        a, b = self.levels('a', (1, 2, 16)), self.levels('b', (1,))
        self.levels('b', (8,), n=500)
        self.plot('-o', self.tmp / 'out.svg', a, b)
        data = blocks(self.tmp / 'out.tsv')
        self.assertEqual([r['name'] for r in data['systems']], ['a', 'b'])
        self.assertEqual([(r['is_tail'], r['system'], r['level'], r['runs']) for r in data['points']],
                         [(tail, *x, '3') for tail in '01' for x in (('0', '1'), ('0', '2'), ('0', '16'), ('1', '1'), ('1', '8'))])
        lines = self.s3analyze('table', '--json', a, b).json()['rows']
        for r in data['points']:
            runs = [x for x in lines if x['run'].startswith(f"{'ab'[int(r['system'])]}-{r['level']}-")]
            for key, metric, unit in ('rate', 'throughput', 1 << 20), ('ms', 'p99' if r['is_tail'] == '1' else 'p50', MS):
                of_runs = [x[metric]['value'] / unit for x in runs]
                for column, value in ('', statistics.median(of_runs)), ('_least', min(of_runs)), ('_most', max(of_runs)):
                    self.assertAlmostEqual(float(r[key + column]), value, delta=1e-9 * value)
        shown = svg_texts(self.tmp / 'out.svg')
        for label in 'a', 'b', 'p50', 'p99', '16', 'MiB/s; numbers: requests in flight', 'GET 64KiB · latency by throughput':
            self.assertIn(label, shown)

    def test_each_operation_and_size_has_a_chart(self):
        a, b = self.levels('a', (1, 4)), self.levels('b', (1, 4))
        self.levels('b', (2,), size=4 * KIB, n=1000)
        self.plot('-o', self.tmp / 'out', a, b)
        self.assertEqual({p.name for p in (self.tmp / 'out').glob('*.svg')},
                         {'response-GET_4KiB.svg', 'response-GET_64KiB.svg'})
        self.plot('-o', self.tmp / 'one.png', a, b)  # of the most requests
        self.assertIn('GET 4KiB', blocks(self.tmp / 'one.tsv')['chart'][0]['title'])
        self.plot('-o', self.tmp / 'one.pdf', '--dark', '--size', 'column', a, b)

    def test_rates_are_levels(self):
        for rate in 50, 100:
            for i in range(2):
                self.write('a', f'{rate}-{i}', rows_of(rate + i, 5 * MS), said(rate=rate))
        self.plot('-o', self.tmp / 'out.svg', self.tmp / 'a')
        data = blocks(self.tmp / 'out.tsv')
        self.assertEqual([(r['level'], r['runs']) for r in data['points']], [('50', '2'), ('100', '2')] * 2)
        self.assertEqual(data['chart'][0]['level'], 'requests/s asked for')
        self.write('a', 'closed', rows_of(1, 5 * MS), said(rate=0))
        self.assertIn('differ in option rate: 0 and 50', self.plot('-o', self.tmp / 'out.svg', self.tmp / 'a', status=2).err)

    def test_aggregated_captures(self):
        """Captures beside them are reduced to what they hold."""
        (self.tmp / 'a').mkdir()
        for level in 1, 2, 4:
            rows = rows_of(level, 20 * MS, threads=level, n=600)
            (self.tmp / 'a' / f'{level}.json.zst').write_bytes(aggregates.packed(aggregates.aggregate(rows)))
        b = self.levels('b', (1, 2), n_runs=1, n=2000)
        rows = [r for r in self.rows(self.tmp / 'a', b, '--by', 'level') if r['metric'] == 'throughput']
        self.assertEqual([(r['level'], r['label'], r['n_runs']) for r in rows],
                         [(1, 'a', 1), (1, 'b', 1), (2, 'a', 1), (2, 'b', 1), (4, 'a', 1), (4, 'b', 0)])
        self.assertNotIn('what the files hold', [r['differing'] for r in rows])
        self.assertIn('(bounds)', self.table(self.tmp / 'a', '--by', 'level').out)
        self.plot('-o', self.tmp / 'out.svg', self.tmp / 'a')
        self.assertEqual([r['level'] for r in blocks(self.tmp / 'out.tsv')['points']], ['1', '2', '4'] * 2)

    def test_bounds_have_no_best(self):
        """Percentiles of aggregated captures are known to bounds, though the middle of these may differ."""
        for name, took in ('a', 20), ('b', 10):
            for i in range(5):
                (self.tmp / name).mkdir(exist_ok=True)
                rows = moved(rows_of(i, took * MS, threads=1, n=1500), self.n_written * 100 * SECOND)
                (self.tmp / name / f'{i}.json.zst').write_bytes(aggregates.packed(aggregates.aggregate(rows)))
        self.assertNotIn((64 * KIB, 'p99'), self.best(self.tmp / 'a', self.tmp / 'b'))
        self.assertIn('(bounds)', self.table(self.tmp / 'a', self.tmp / 'b').out)

    def test_points_of_a_line_differ_in_load_alone(self):
        self.levels('a', (1, 2))
        self.levels('a', (4,), host='http://h0:9000')
        rows = rows_of(5, 5 * MS, threads=8) + moved(rows_of(6, 5 * MS, threads=8, host='http://h1:9000'), 1)
        self.write('a', 'hosts', sorted(rows, key=order))
        why = self.plot('-o', self.tmp / 'out.svg', self.tmp / 'a', status=2).err
        self.assertIn('differ in endpoints of GET: 1 and 2', why)
        self.assertFalse((self.tmp / 'out.svg').exists())

    def test_runs_of_a_level_are_repetitions(self):
        self.levels('a', (2,), n=400)
        self.levels('a', (2,), n_runs=1, n=4000, capacity=7)
        self.assertRegex(self.plot('-o', self.tmp / 'out.svg', self.tmp / 'a', status=2).err, 'count as repetitions, but differ in duration')

    def test_a_seventh_system_is_refused(self):
        folders = [self.levels(f's{i}', (1,), n_runs=1) for i in range(7)]
        self.plot('-o', self.tmp / 'six.svg', *folders[:6])
        self.assertIn('room for 6 systems, and these captures are of 7', self.plot('-o', self.tmp / 'x.svg', *folders, status=2).err)

    def test_wrong_usage_of_the_chart(self):
        folder = self.levels('a', (1,), n_runs=1)
        self.assertIn('draw the other charts apart', self.s3analyze('plot', '--chart', 'response,cdf', '-o', 'x/', folder, status=2).err)
        self.assertIn('there are compare-change', self.s3analyze('plot', '--chart', 'response', '-o', 'x.svg', '--before',
                                                                 capture('get-g4'), '--after', capture('get-g4'), status=2).err)
        down = self.write('down', 'down', rows_of(1, 1, failed=60))
        self.assertIn('there is no data for --chart response', self.plot('-o', self.tmp / 'x.svg', down, status=1).err)
        (folder / 'cut.csv.zst').write_bytes(zstd.frame(b'idx\tthread\n')[:9])
        self.assertIn('cut.csv.zst', self.s3analyze('plot', '--chart', 'response', '-o', self.tmp / 'y.svg', folder).err)
