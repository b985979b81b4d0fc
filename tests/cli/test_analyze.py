"""`s3analyze analyze`: its options, its outputs, and that text, JSON and series agree."""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import subprocess
import unittest

from capgen import SECOND, Shape, row, simulate, steady, text
from expect import ReportTest, read_table
from harness import BUILD, capture, captures, on_terminal, unwrapped

MS = 10**6
UNITS = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30, 'TiB': 1 << 40}
NS = {'ns': 1, 'us': 10**3, 'ms': 10**6, 's': 10**9}


def byte_rate(shown):
    number, unit = re.fullmatch(r'([0-9.]+)([KMGT]?i?B)/s', shown).groups()
    return float(number) * UNITS[unit]


def short_duration(shown):
    number, unit = re.fullmatch(r'([0-9.]+)(ns|us|ms|s)', shown).groups()
    return float(number) * NS[unit]


class Text(ReportTest):
    def assert_shown(self, shown, exact):
        """Three significant digits leave an error of at most half a percent."""
        self.assertAlmostEqual(shown, exact, delta=0.0051 * abs(exact))

    def sections(self, out):
        """Operation -> its part of the report."""
        parts = re.split(r'^-{20,}\n', out, flags=re.M)[1:]
        return {m.group(1): p for p in parts
                if (m := re.match(r'(?:Operation|Before the benchmark|Clean-up): (\S+)$', p, re.M))}

    def check_agreement(self, name):
        path = capture(name)
        report = self.s3analyze('analyze', '--json', path).json()
        sections = self.sections(self.s3analyze('analyze', '-v', path).out)
        self.assertEqual(sorted(sections), sorted(o['op'] for o in report['operations']))
        for o in report['operations']:
            section = sections[o['op']]
            self.assertRegex(section, rf"\A.*\n{o['n_requests']:,} requests\b")
            picks = [('Average', o['throughput'])]
            segments = o['segments'] or {}
            picks += [(f'{pick.title()} segment', segments.get(pick)) for pick in ('fastest', 'slowest')]
            if segments.get('n', 0) > 3:
                picks.append(('Median segment', segments['median']))
            for label, figures in picks:
                if not figures:
                    continue
                m = re.search(rf'^{label} +(?:(\S+/s) +)?([0-9.]+) ', section, re.M)
                self.assertIsNotNone(m, f'{label} in\n{section}')
                if m.group(1):
                    self.assert_shown(byte_rate(m.group(1)), figures['bytes_per_s'])
                self.assert_shown(float(m.group(2)), figures['objects_per_s'])
            requests = o['requests']
            if requests and requests['single_size']:
                m = re.search(r'^(?:Duration|Service time) +(?:[0-9,]+ +)?(\S+)', section, re.M)
                self.assert_shown(short_duration(m.group(1)), requests['mean_ns'])

    def test_text_and_json_agree(self):
        for name in captures():
            with self.subTest(name):
                self.check_agreement(name)

    def test_no_line_ends_with_a_blank(self):
        for name in captures():
            for options in [], ['--analyze.v']:
                out = self.s3analyze('analyze', *options, capture(name)).out
                self.assertNotRegex(out, r'(?m)[ \t]$')
                self.assertNotIn('\033', out)

    def test_verbose_shows_each_host(self):
        out = self.s3analyze('analyze', '-v', '--op', 'GET', capture('mixed-3hosts')).out
        for table in 'Throughput', 'Requests', 'TTFB':
            rows = out.partition(f'\n{table} by host:\n')[2].partition('\n\n')[0]
            for host in '7071', '7072', '7073':
                self.assertRegex(rows, rf'(?m)^http://127.0.0.1:{host} ')
        self.assertRegex(out, r'TTFB by host:\n +Considered +Avg +Fastest ')
        self.assertIn('First access TTFB ', out)

    def test_errors_are_grouped(self):
        out = self.s3analyze('analyze', '-v', capture('get-errors')).out
        self.assertEqual(out.partition('Errors, 2,168')[2].count('The specified key does not exist.'), 1)

    def test_dropped_rows_are_stated(self):
        data = text(steady(50)).replace(b'2026-11-21T05:45:59', b'2026-11-21T05:45:xx', 3)
        path = self.write(data)
        out = unwrapped(self.s3analyze('analyze', '--salvage', path).out)
        self.assertRegex(out, rf'dropped 2 bad rows.*{re.escape(str(path))}:\d+: ')
        report = self.s3analyze('analyze', '--salvage', '--json', path).json()
        self.assertEqual(report['inputs'][0]['n_dropped'], 2)
        self.assertEqual(sum(d['n'] for d in report['inputs'][0]['dropped']), 2)

    def test_all_hosts_are_for_v(self):
        path = self.write(text(simulate(1, Shape(n=3000, hosts=200, threads=50))))
        self.assertLess(self.s3analyze('analyze', path).out.count('http://h'), 10)
        self.assertGreaterEqual(self.s3analyze('analyze', '--v', path).out.count('http://h'), 200)

    def test_times_as_printed_can_be_typed(self):
        path = capture('get-errors')
        reports = [self.s3analyze('analyze', '--json', '--to', t, path).json()['operations']
                   for t in ('2026-11-21T05:50:09Z', '05:50:09', '2026-11-21 05:50:09.000')]
        self.assertEqual(reports[1:], reports[:1] * 2)
        self.assertEqual(reports[0][-1]['n_errors'], 0)

    def test_a_report_has_24_lines(self):
        for name in captures():
            with self.subTest(name):
                out, full = [self.s3analyze('analyze', *v, capture(name)).out for v in ([], ['-v'])]
                self.assertLessEqual(out.count('\n'), 24, out)
                self.assertIn('\n-v adds ', out)
                # What is left out is counted.
                listed, all_of = [len(re.findall(r'(?m)^\d+\. (?:Problem|Notice): ', x)) for x in (out, full)]
                unsaid = re.search(r'-v adds (\d+) findings?, ', out)
                self.assertEqual(all_of - listed, int(unsaid[1]) if unsaid else 0)
                # The rates are of one unit, that of the largest.
                self.assertNotRegex(out, r'\d{5}\.\dB/s')


class Colour(ReportTest):
    def on_terminal(self, *options, **env):
        """What the program writes to a terminal."""
        status, out = on_terminal(BUILD / 's3analyze', 'analyze', *options, capture('get-g4'), env=env)
        self.assertEqual(status, 0)
        return out

    def test_colour_on_a_terminal(self):
        self.assertIn(b'\033[1m', self.on_terminal())

    def test_no_colour(self):
        self.assertNotIn(b'\033', self.on_terminal('--no-color'))
        self.assertNotIn(b'\033', self.on_terminal(NO_COLOR='1'))
        self.assertNotIn(b'\033', self.on_terminal(TERM='dumb'))
        self.assertNotIn(b'\033', self.on_terminal('--json'))
        self.assertIn(b'\033', self.on_terminal(NO_COLOR=''))


class Progress(ReportTest):
    def test_a_long_read(self):
        """It shows how much was read, and wipes that at the end. The pipe feeds rows until it has been shown."""
        ours, theirs = pty.openpty()
        header, _, rows = text(steady(1000)).partition(b'\n')
        with subprocess.Popen([BUILD / 's3analyze', 'cat', '-f', '-o', self.tmp / 'out.csv', '-'], stdin=subprocess.PIPE,
                              stderr=theirs, env={**os.environ, 'TERM': 'xterm'}) as p:
            os.close(theirs)
            p.stdin.write(header + b'\n')
            while not select.select([ours], [], [], 0.01)[0]:
                p.stdin.write(rows)
                p.stdin.flush()
            p.stdin.close()
            shown = b''
            with contextlib.suppress(OSError):  # how a terminal ends
                while piece := os.read(ours, 65536):
                    shown += piece
            os.close(ours)
        self.assertEqual(p.returncode, 0)
        self.assertRegex(shown, rb'^\r\x1b\[KReading: [\d.]+[KM]iB')
        self.assertTrue(shown.endswith(b'\r\x1b[K'), shown)


class Outputs(ReportTest):
    def setUp(self):
        super().setUp()
        self.path = self.write(text(simulate(2, Shape(n=300, hosts=2, ops=('GET', 'PUT')))))

    def test_two_outputs_on_standard_output(self):
        for options in (['--analyze.out', '-'], ['--out=/dev/stdout'], ['--json', '--out', '-']):
            r = self.s3analyze('analyze', *options, self.path, status=2)
            self.assertEqual(r.out, '')
            self.assertIn('standard output', r.err)

    def test_one_file_for_two_outputs(self):
        same = self.tmp / 'x'
        self.s3analyze('analyze', '-o', same, '--out', same, self.path, status=2)
        self.assertFalse(same.exists())

    def test_a_capture_is_never_overwritten(self):
        before = self.path.read_bytes()
        self.s3analyze('analyze', '--out', self.path, self.path, status=2)
        self.s3analyze('analyze', '-o', self.path, self.path, status=2)
        self.assertEqual(self.path.read_bytes(), before)

    def test_series_alone_on_standard_output(self):
        report = self.tmp / 'report.txt'
        r = self.s3analyze('analyze', '--analyze.out', '-', '-o', report, self.path)
        self.assertTrue(r.out.startswith('index\top\thost\t'))
        self.assertIn('\nGET ', report.read_text())

    def test_formats_of_the_series(self):
        tables = {}
        for name in 'x.tsv', 'x.csv', 'x.jsonl', 'x.ndjson', 'x.json':
            self.s3analyze('analyze', '--out', self.tmp / name, '--out.total', self.path)
            content = (self.tmp / name).read_text()
            if name == 'x.json':
                tables[name] = json.loads(content)
            elif 'json' in name:
                tables[name] = [json.loads(line) for line in content.splitlines()]
            else:
                tables[name] = read_table(content, ',' if 'csv' in name else '\t')
        self.assertEqual(tables['x.tsv'], tables['x.csv'])
        self.assertEqual(tables['x.json'], tables['x.jsonl'])
        self.assertEqual(tables['x.json'], tables['x.ndjson'])
        for x in tables['x.json']:
            self.assertAlmostEqual(x['bytes_per_s'], x['mb_per_sec'] * 2**20, delta=1e-9 * x['bytes_per_s'])
        # They replace each other, as reports do.
        self.s3analyze('analyze', '--out', self.tmp / 'x.json', self.path)
        self.assertEqual(len(tables['x.tsv']), len(tables['x.json']))
        for a, b in zip(tables['x.tsv'], tables['x.json']):
            self.assertEqual(list(a), list(b))
            for column, value in b.items():
                if isinstance(value, str):
                    self.assertEqual(a[column], value)
                else:
                    self.assertEqual(float(a[column]) if a[column] else None, value)

    def test_columns(self):
        header = self.s3analyze('analyze', '--out', '-', '-o', '/dev/null', self.path).out.split('\n')[0]
        self.assertEqual(header.split('\t'), (
            'index op host duration_s objects_per_op bytes full_ops partial_ops ops_started '
            'ops_ended errors mb_per_sec ops_ended_per_sec objs_per_sec start_time end_time '
            'reqs_ended_avg_ms p50_ms p90_ms p99_ms max_ms ttfb_p50_ms in_flight bytes_per_s').split())
        header = self.s3analyze('analyze', '--out', '-', '--all', '-o', '/dev/null', self.path).out
        self.assertEqual(header.split('\n')[0].split('\t')[-2:], ['in_range', 't_s'])

    def test_the_total_is_in_the_series(self):
        report = self.analyze(self.path)
        total = report.json['total']['segments']
        rows = report.rows('')
        self.assertEqual(total['n'], len(rows))
        for name in 'fastest', 'median', 'slowest':
            self.assertIn(total[name]['start'], [r['start_time'] for r in rows])
        self.s3analyze('analyze', '--out', self.tmp / 'without', self.path)
        self.assertNotIn('', [r['op'] for r in read_table((self.tmp / 'without').read_text())])

    def test_fields_that_need_quotes(self):
        rows = [r._replace(op='a,"b', host='http://h\t1') for r in steady(30)]
        path = self.write(text(rows), 'quoted')
        for name, delimiter in ('x.csv', ','), ('x.tsv', '\t'):
            self.s3analyze('analyze', '--out', self.tmp / name, path)
            row = read_table((self.tmp / name).read_text(), delimiter)[0]
            self.assertEqual((row['op'], row['host']), ('a,"b', 'http://h\t1'))

    def test_a_full_disk(self):
        r = self.s3analyze('analyze', '--out', '/dev/full', self.path, status=1)
        self.assertIn('/dev/full: No space left on device', r.err)
        for options in [], ['--json']:
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([BUILD / 's3analyze', 'analyze', *options, self.path],
                                      stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count(b'\n'), 1)

    def test_a_failure_leaves_the_old_file(self):
        old = self.tmp / 'old'
        old.write_text('before')
        broken = self.write(b'op\tthread\n', 'broken')
        self.s3analyze('analyze', '--force', '-o', old, broken, status=1)
        self.assertEqual(old.read_text(), 'before')
        self.s3analyze('analyze', '--force', '-o', old, self.path)
        self.assertIn('\nGET ', old.read_text())
        self.assertEqual(sorted(p.name for p in self.tmp.iterdir()),
                         ['broken', 'capture.csv.zst', 'old'])

    def test_an_output_that_cannot_be_written(self):
        r = self.s3analyze('analyze', '-o', self.tmp / 'no' / 'file', self.path, status=1)
        self.assertIn('No such file or directory', r.err)


class Filters(ReportTest):
    def test_unknown_names_list_the_known(self):
        path = capture('mixed-3hosts')
        r = self.s3analyze('analyze', '--host', 'http://nowhere', path, status=2)
        for host in '7071', '7072', '7073':
            self.assertIn(f'http://127.0.0.1:{host}', r.err)
        self.assertIn('STAT', self.s3analyze('analyze', '--op', 'GETT', path, status=2).err)
        self.s3analyze('analyze', '--client', 'nobody', path, status=2)

    def test_hosts_by_glob(self):
        path = capture('mixed-3hosts')
        report = self.s3analyze('analyze', '--json', '--host', '*:707[12]', path).json()
        self.assertEqual({o['n_hosts'] for o in report['operations']}, {2})

    def test_an_exact_name_comes_before_a_glob(self):
        rows = [r._replace(host=f'http://[::{1 + i % 2}]:9000') for i, r in enumerate(steady(60))]
        report = self.analyze(text(rows), '--host', 'http://[::1]:9000')
        self.assertEqual(report.operations['GET']['n_requests'], 30)

    def test_several_operations(self):
        path = capture('mixed-3hosts')
        for options in (['--op', 'GET,PUT'], ['--op=GET', '--analyze.op=PUT']):
            report = self.s3analyze('analyze', '--json', *options, path).json()
            self.assertEqual([o['op'] for o in report['operations']], ['GET', 'PUT'])

    def test_from_and_to(self):
        rows = steady(100)  # one every 100 ms
        for options in (['--from', '2s', '--to', '5s'],
                        ['--from', '2026-11-21T05:46:00Z', '--to', '2026-11-21T06:46:03+01:00']):
            report = self.analyze(text(rows), *options)
            self.assertEqual(report.operations['GET']['n_requests'], 30)
        r = self.s3analyze('analyze', '--from', 'noon', self.write(text(rows)), status=2)
        self.assertIn('--from', r.err)

    def test_several_captures_are_one(self):
        a = self.write(text([r for r in steady(60, threads=2) if r.thread == 0]), 'a')
        b = self.write(text([r for r in steady(60, threads=2) if r.thread == 1]), 'b')
        whole = self.analyze(text(steady(60, threads=2)))
        r = self.s3analyze('analyze', '--json', a, b)
        self.assertEqual(r.json()['operations'], whole.json['operations'])
        self.assertEqual([i['n_rows'] for i in r.json()['inputs']], [60, 60])

    def test_a_capture_counts_once(self):
        a = self.write(text(steady(60)), 'a')
        (self.tmp / 'b').symlink_to(a)
        r = self.s3analyze('analyze', a, self.tmp / 'b', status=1)
        self.assertIn('the same file', r.err)

    def test_median_of_few_segments_is_left_out(self):
        """With two or three segments the rule of ranks picks the fastest one as the median."""
        for n in (2, 3, 4):
            path = self.write(text(steady(10 * n + 10, threads=2)), f'n{n}.csv')
            with self.subTest(n=n):
                shown = self.s3analyze('analyze', path, '--json', '--html', self.tmp / 'x.html', '--force')
                self.assertEqual(shown.json()['operations'][0]['segments']['n'], n)
                for out, row in [(self.s3analyze('analyze', path, '-v').out, r'^Median segment  '),
                                 ((self.tmp / 'x.html').read_text(), r'>Median segment<'),
                                 (self.s3analyze('cmp', path, path, status=None).out, r'^Objects, median segment  ')]:
                    self.assertEqual(bool(re.search(row, out, re.M)), n > 3, out)
                    self.assertIn('slowest segment', out.lower())
                if shutil.which('gnuplot'):
                    self.s3analyze('plot', path, '--chart', 'throughput', '--out', self.tmp / 'x.svg', '--force')
                    self.assertEqual('>median<' in (self.tmp / 'x.svg').read_text(), n > 3)

    def test_a_copy_is_named(self):
        data = text(steady(60))
        a, b = self.write(data, 'a'), self.write(data, 'b')
        findings = self.s3analyze('analyze', '--json', a, b).json()['findings']
        self.assertIn(f'{b} seems to be a copy of {a}: both count',
                      [f['sentence'] for f in findings if f['kind'] == 'copied-capture'])
        one_less = self.write(text(steady(60)[:-1]), 'b')
        findings = self.s3analyze('analyze', '--json', a, one_less).json()['findings']
        self.assertNotIn('copied-capture', [f['kind'] for f in findings])


class StoreThatDies(ReportTest):
    """Puts succeed for 0.5 s of 10 s; then each fails. Sums have nine whole seconds of it."""

    def rows(self, op='PUT', threads=0):
        return [row(i * 5 * MS, i * 5 * MS + 5 * MS - 1000, thread=i % 4 + threads, op=op, size=1 << 16,
                    error='dead' * (i >= 100)) for i in range(2000)]

    def reports(self, rows):
        path, sums = self.tmp / 'dies.csv', self.tmp / 'dies.sums'
        path.write_bytes(text(rows))
        self.s3analyze('aggregate', '-f', '-o', sums, path)
        for args in [path], ['--range', 'full', path], [sums]:
            said = unwrapped(self.s3analyze('analyze', '--html', self.tmp / 'page', '-f', *args).out)
            yield said, (self.tmp / 'page').read_text(), self.s3analyze('analyze', '--json', *args).json()

    def test_what_it_says(self):
        for said, page, report in self.reports(self.rows()):
            self.assertRegex(said, r'\A[^:]*: (6[34]\d|711)\.\dKiB/s( \(95 % CI [^)]*\))?, 12\.\dMiB/s over the 50\dms in which requests '
                                   'succeeded')
            first = report['findings'][0]
            self.assertEqual((first['kind'], first['severity']), ('no-success', 'problem'))
            self.assertRegex(first['sentence'], r'No request succeeded after 05:45:58\.[45] UTC \(9\.50?s, 1,900 requests\)')
            self.assertIn(first['sentence'], said)
            self.assertRegex(page, r': (6[34]\d|711)\.\dKiB/s')
            self.assertIn('No request succeeded after', page)
            self.assertEqual(report['operations'][0]['coverage']['n_after'], 1900)

    def test_the_full_range_is_that_of_all_requests(self):
        path = self.tmp / 'dies.csv'
        path.write_bytes(text(self.rows()))
        total = self.s3analyze('analyze', '--json', '--range', 'full', path).json()['operations'][0]['throughput']
        self.assertAlmostEqual(total['duration_ns'], 10 * SECOND, delta=2000)
        self.assertEqual(total['n_bytes'], 100 << 16)

    def test_mixed(self):
        """One of two operations stops succeeding: it is named, and the run goes on."""
        for said, _, report in self.reports(self.rows() + steady(200, op='GET', threads=4)):
            self.assertEqual([f['op'] for f in report['findings'] if f['kind'] == 'no-success'], ['PUT'])
            self.assertNotIn('in which requests succeeded', said)
        for said, _, report in self.reports(self.rows() + self.rows('GET', 4)):
            self.assertRegex(said, r'\A[^.]* mixed[^.]*: 1\.[23]\dMiB/s, .*MiB/s over the 50\dms in which requests succeeded')

    def test_a_store_that_lives(self):
        """Errors in the middle, or at the end of a run that was interrupted, are no such finding."""
        rows = [r._replace(error='x' if i % 3 == 0 or i > 1995 else '') for i, r in enumerate(self.rows())]
        for said, _, report in self.reports(rows):
            self.assertIsNone(report['operations'][0]['coverage'])
            self.assertNotIn('no-success', [f['kind'] for f in report['findings']])


class NoRequests(ReportTest):
    """An analysis of nothing is an error; commands that copy or list captures accept an empty one."""

    def written(self, data):
        path = self.tmp / 'made.csv'
        path.write_bytes(data)
        return path

    def check(self, path, says, *options, salvage=()):
        other, out = self.tmp / 'other.csv', self.tmp / 'out'
        other.write_bytes(text(steady(100, every=10**9)))
        for command in (('analyze', '--json', '--exit-on', 'problem'), ('analyze', '--html', out), ('autoterm',),
                        ('plot', '--out', out), ('cmp', other), ('cmp', '--before', other, path, '--after'),
                        *([('aggregate', '-o', out)] if not options else [])):
            with self.subTest(command=command):
                r = self.s3analyze(*command, path, *options, *salvage, status=1)
                self.assertEqual((r.out, r.err), ('', f's3analyze: {path}: {says}\n'))
                self.assertFalse(out.exists())
        for command in ('info',), ('cat',), ('merge', '--force', '-o', self.tmp / 'merged'):
            self.s3analyze(*command, path, *salvage)

    def test_header_alone(self):
        self.check(self.written(text([])), 'no requests')
        path = self.written(text([]) + b'stray\n')
        self.check(path, f'no requests are left; the first damage: {path}:2: 1 field where the header has 15',
                   salvage=['--salvage'])

    def test_times_that_leave_nothing(self):
        path = self.written(text(steady(30)))
        self.check(path, 'no requests: --from and --to cut all 30 off', '--from', '1m')
        r = self.s3analyze('analyze', '--skip', '1m', path, status=1)
        self.assertIn('no requests: --skip cuts all 30 off', r.err)

    def test_one_empty_capture_of_two(self):
        """Clients of one run: one of them made no request."""
        path = self.written(text(steady(30)))
        (empty := self.tmp / 'empty.csv').write_bytes(text([]))
        self.assertEqual(self.s3analyze('analyze', '--json', empty, path).json()['n_rows'], 30)

    def test_sums(self):
        path = self.written(b'{"schema":"s3analyze/sums/1","intended":false,"n_threads":0,"operations":[]}')
        for command in ('analyze',), ('cmp', capture('get-g4')):
            self.assertEqual(self.s3analyze(*command, path, status=1).err, f's3analyze: {path}: no requests\n')


class Help(ReportTest):
    def test_aliases(self):
        path = capture('get-g4')
        for long, short in (['--analyze.dur=500ms', '--dur=500ms'], ['--analyze.skip=2s', '--skip=2s'],
                            ['--analyze.op=GET', '--op=GET'], ['--analyze.v', '-v']):
            self.assertEqual(self.s3analyze('analyze', long, path).out,
                             self.s3analyze('analyze', short, path).out)

    def test_wrong_usage(self):
        path = capture('get-g4')
        for options in (['--dur', '0'], ['--dur', 'x'], ['--range', 'most'], ['--threads', '-1'],
                        ['--skip', '-1s'], []):
            operands = [path] if options else []
            self.s3analyze('analyze', *options, *operands, status=2)


if __name__ == '__main__':
    unittest.main()
