"""Reports of captures with faults: parts that ordinary captures do not show."""

import itertools
import math
import re
import string
import unittest
from datetime import datetime

import zstd
from capgen import lines, row, steady, text
from expect import ReportTest
from harness import BUILD, capture, on_terminal, unwrapped
from loadcase import LoadTest
from servers import ACCESS_KEY, SECRET_KEY
from test_cmp import CmpTest, run_rows

SECOND = 10**9


def kinds(report):
    return [f['kind'] for f in report['findings']]


class Errors(ReportTest):
    N = 1200

    def rows(self):
        # Words, as numbers in messages are replaced.
        words = itertools.product(string.ascii_lowercase, repeat=3)
        out = steady(40)
        for i, word in zip(range(self.N), words):
            for host in 'h0', 'h1', 'h0':
                at = i * 1000 + len(out)
                out.append(row(at, at + 500, thread=1, host=f'http://{host}:9000',
                               error='broken ' + ''.join(word) * 4))
        return out

    def test_the_rarest_kinds_are_counted_together(self):
        report = self.analyze(text(self.rows())).json
        errors = report['operations'][0]['errors']
        self.assertEqual(len(errors), 1000)
        self.assertEqual(sum(g['count'] for g in errors), 3 * self.N)
        other = errors[-1]
        self.assertEqual(other['message'], 'other')
        self.assertEqual(other['count'], 3 * (self.N - 999))
        self.assertEqual({h['host']: h['count'] for h in other['hosts']},
                         {'http://h0:9000': 2 * (self.N - 999), 'http://h1:9000': self.N - 999})
        self.assertIn('error-groups', kinds(report))

    def test_all_kinds_are_for_v(self):
        path = self.write(text(self.rows()))
        listed = re.compile(r'^ +\d+ +\d\d:.*broken [a-z]', re.M)  # findings name some too
        self.assertEqual(listed.findall(self.s3analyze('analyze', path).out), [])
        full = self.s3analyze('analyze', '-v', path).out
        self.assertEqual(len(listed.findall(full)), 999)


class Course(ReportTest):
    def test_a_gap(self):
        """A stall, whether few requests or many tell what is usual."""
        for n in 20, 100:
            rows = steady(n, threads=2) + [
                x._replace(start=x.start + 60 * SECOND, end=x.end + 60 * SECOND)
                for x in steady(n, threads=2)]
            found = self.analyze(text(rows)).json['findings']
            gap, = [f for f in found if f['kind'] == 'stall']
            start, end = (datetime.fromisoformat(gap[k][:26]) for k in ('start', 'end'))
            self.assertAlmostEqual((end - start).total_seconds(), 60 - n / 10, delta=0.2)

    def test_an_outlier(self):
        """One of six hosts is half as fast as the others."""
        rows = []
        for host in range(6):
            every = SECOND // (50 if host == 3 else 100)
            for i in range(8 * SECOND // every):
                took = every * (90 + (i * 7 + host) % 10) // 100
                rows.append(row(i * every, i * every + took, thread=host, host=f'http://h{host}:9000'))
        report = self.analyze(text(rows)).json
        found, = [f for f in report['findings'] if f['kind'] == 'slow-host']
        self.assertIn('http://h3:9000', found['sentence'])

    def test_more_threads_shorten_the_range_than_are_listed(self):
        rows = [row(i * SECOND // 100, (i + 1) * SECOND // 100, thread=0) for i in range(1000)]
        rows += [row(k * SECOND // 20, (k + 1) * SECOND // 20, thread=t) for t in range(1, 31) for k in range(3)]
        page = self.tmp / 'page.html'
        self.s3analyze('analyze', '--html', page, self.write(text(rows)))
        self.assertIn('and 10 more threads</p>', page.read_text())

    def test_two_days(self):
        """Times have dates if a run continues past midnight."""
        day = 18 * 3600 * SECOND + 14 * 60 * SECOND  # from the captures' start to 23:59:58
        rows = [x._replace(start=x.start + day, end=x.end + day) for x in steady(50, threads=2)]
        out = self.s3analyze('analyze', '-v', self.write(text(rows))).out
        self.assertIn('from 2026-11-21 23:59:58.000 to 2026-11-22 00:00:02.999', unwrapped(out))

    def test_steady_on_a_page(self):
        page = self.tmp / 'page.html'
        said = self.s3analyze('analyze', capture('get-g4')).out
        length, = re.findall(r'The first (\S+) ran at', said)
        self.s3analyze('analyze', '--steady', '--html', page, capture('get-g4'))
        self.assertIn(f'Warm-up: {length} left out.', page.read_text())


class Damaged(ReportTest):
    """A capture of three frames, of which the second fails its checksum."""

    def setUp(self):
        super().setUp()
        rows = lines(steady(150, threads=2))
        frames = [zstd.frame(''.join(part).encode()) for part in (rows[:101], rows[101:201], rows[201:])]
        frames[1] = frames[1][:-1] + bytes([frames[1][-1] ^ 1])
        self.path = self.write(b''.join(frames))

    def test_reports_say_which_rows_are_in_doubt(self):
        report = self.s3analyze('analyze', '--salvage', '--json', self.path).json()
        self.assertEqual(report['inputs'][0]['n_unverified'], 100)
        self.assertEqual(report['n_rows'], 300)
        self.assertIn('unverified', kinds(report))
        said = unwrapped(self.s3analyze('analyze', '--salvage', self.path).out)
        self.assertRegex(said, r'100 rows come from frames with a wrong checksum')
        self.assertIn('100 rows of frames that fail their checksum',
                      self.s3analyze('info', '--salvage', self.path).out)
        self.s3analyze('analyze', self.path, status=1)

    def test_copies_say_so_too(self):
        out = self.s3analyze('cat', '--salvage', self.path).raw.decode()
        self.assertRegex(out, r'(?m)^# .*100 .*checksum')
        good = self.write(text(steady(150, threads=2, client='c1')), 'good.csv')
        merged = self.s3analyze('merge', '--salvage', '-o', self.tmp / 'merged.csv.zst', self.path, good)
        self.assertIn('100 rows of frames that fail their checksum', merged.out + merged.err)

    def test_copies_name_a_file_of_a_long_path(self):
        folder = self.tmp.joinpath(*['d' * 200] * 6)
        folder.mkdir(parents=True)
        path = folder / 'x.csv.zst'
        path.write_bytes(self.path.read_bytes())
        out = self.s3analyze('cat', '--salvage', path).raw.decode()
        self.assertIn(f'100 rows of frames of {path} that fail their checksum\n', out)


class Info(ReportTest):
    def test_many_hosts_and_failures(self):
        rows = [row(i * 1000, i * 1000 + 500, host=f'http://h{i % 60}:9000', error='x' * (i % 4 == 0))
                for i in range(600)]
        path = self.write(text(rows))
        out = self.s3analyze('info', path).out
        self.assertRegex(out, r'GET +600, 150 failed')
        shown = len(re.findall(r'http://h\d+:9000', out))
        self.assertIn(f'and {60 - shown} more: --json has them all', out)
        self.assertEqual(len(self.s3analyze('info', '--json', path).json()['captures'][0]['hosts']), 60)


class Comparison(CmpTest):
    def test_settings_in_markdown(self):
        a, b = self.runs('a', 3), self.runs('b', 3, threads=2)
        out = self.s3analyze('cmp', '--markdown', '--gate', 'throughput:90%', '--before', *a, '--after',
                             *b).out
        self.assertIn('settings of the runs differ', out)
        self.assertRegex(out, r'### Operation: GET\n\n(- .*\n)*- \*\*Concurrency: 4 \u2192 2 \(limits the comparison\)\*\*')
        self.assertIn('(n=3)', out)
        self.assertIn('Gate: passed.', out)
        self.assertIn('Limits of the gate:', out)

    def test_gate_on_a_page(self):
        a, b = self.runs('a', 5), self.runs('b', 5, speed=0.8)
        page = self.tmp / 'page.html'
        self.s3analyze('cmp', '--gate', 'throughput:5%,p99:90%', '--html', page, '--before', *a,
                       '--after', *b, status=1)
        html = page.read_text()
        self.assertIn('Gate: not passed.', html)
        self.assertRegex(html, r'<li>GET throughput: -5 % allowed: not shown to be within')
        self.assertRegex(html, r'<li>GET p99: \+90 % allowed: within')

    def test_geometric_mean(self):
        def two(name, speed):
            rows = run_rows(name, speed) + run_rows(name + 'x', speed * 2, op='PUT', offset=4 * SECOND)
            return self.write(name, rows)
        a = [two(f'a{i}', 1) for i in range(2)]
        b = [two(f'b{i}', .8) for i in range(3)]
        report = self.cmp('--before', *a, '--after', *b)
        ratio = 1
        for op in 'GET', 'PUT':
            m = self.metric(report, 'throughput', op)
            ratio *= m['after']['value'] / m['before']['value']
        said = self.s3analyze('cmp', '-v', '--before', *a, '--after', *b).out
        line = re.search(r'Geometric mean over the operations:\n.*\nthroughput \(2\).* ([-+.\d]+)%', said)
        self.assertAlmostEqual(float(line.group(1)), 100 * (math.sqrt(ratio) - 1), delta=0.1)

    def test_an_operation_without_figures(self):
        """A preparation so short that its threads never run together gives no empty table."""
        def prepared(name):
            puts = [row(thread * SECOND, thread * SECOND + 1000, thread=thread, op='PUT') for thread in range(4)]
            return self.write(name, puts + run_rows(name, offset=5 * SECOND))
        a, b = [prepared(f'a{i}') for i in range(2)], [prepared(f'b{i}') for i in range(2)]
        said = self.s3analyze('cmp', '-v', '--before', *a, '--after', *b).out
        put = said.split('Operation: PUT')[1].split('Operation: GET')[0]
        self.assertTrue(put.rstrip('-\n').endswith('Nothing to compare: no figure that both sides have.'), put)
        self.assertRegex(said, r'\nGET .* 95 % CI *\n')
        self.assertNotIn('Geometric mean', said)
        self.assertNotIn('PUT', self.s3analyze('cmp', '--before', *a, '--after', *b).out)

    def test_names_with_quotes_in_csv(self):
        rows = [x._replace(op='GET "A", B') for x in run_rows('q')]
        path, other = self.write('q', rows), self.write('r', [x._replace(op='GET "A", B')
                                                               for x in run_rows('r')])
        self.assertIn('"GET ""A"", B",', self.s3analyze('cmp', '--csv', path, other).out)


class Autoterm(ReportTest):
    def test_text(self):
        path = self.write(text(steady(200, threads=2)))
        out = unwrapped(self.s3analyze('autoterm', '--autoterm.dur', '20s', path).out)
        self.assertIn('GET could not have stopped early: 20s within 7.5 % need a run of more than 1m11.4s', out)
        unsteady = [row(i * SECOND // 10, (i + 1) * SECOND // 10 - 1000, thread=t,
                        size=1000 * (1 + i % 2 * 9)) for i in range(20) for t in range(2)]
        self.assertIn('would not have stopped', self.s3analyze('autoterm', '--autoterm.dur', '500ms',
                                                                 self.write(text(unsteady))).out)
        both = steady(200) + steady(200, threads=2, op='PUT')[1::2]
        out = self.s3analyze('autoterm', '--autoterm.dur', '2s', self.write(text(both))).out
        self.assertIn('All operations together', out)


class Terminal(LoadTest):
    def on_terminal(self, *argv):
        """The output of a command whose standard error is a terminal."""
        status, shown = on_terminal(*argv, stream='stderr', env=self.environment(), cwd=self.tmp)
        self.assertEqual(status, 0, shown)
        return shown.decode()

    def test_a_run(self):
        self.start('--access-key', ACCESS_KEY, '--secret-key', SECRET_KEY, '--fault', 'latency=5ms')
        shown = self.on_terminal(BUILD / 's3load', 'get', '--host', self.server.hosts, '--objects', '300',
                                 '--obj.size', '1KiB', '--concurrent', '2', '--duration', '2500ms',  # not decisive: a line each second
                                 '--autoterm', '--json')
        self.assertRegex(shown, r'\[#+ *\] +\d+ % of 300')
        self.assertRegex(shown, r' time +throughput +obj/s +failed +p50 +p99 +active +CPU\r?\n'
                                r' +\d+s +[\d.]+[KM]iB/s +[\d.]+ +0 +\d\S+ +\d\S+ +\d+ +\d+% unstable\r?\n')
        for line in re.split(r'[\r\n]|\033\[K', shown):
            self.assertLessEqual(len(line), 80)
        quiet = self.on_terminal(BUILD / 's3load', 'stat', '--host', self.server.hosts, '--objects', '300',
                                 '--obj.size', '1KiB', '--concurrent', '2', '--requests', '20', '--quiet',
                                 '--json')
        self.assertNotIn('\033', quiet)

    def test_environment(self):
        self.start('--access-key', ACCESS_KEY, '--secret-key', SECRET_KEY)
        small = ('--obj.size', '1KiB', '--concurrent', '2', '--requests', '5', '--json')
        self.s3load('put', *small, env={'S3LOAD_TLS': 'false'})
        said = self.s3load('put', *small, env={'S3LOAD_TLS': 'perhaps'}, status=2).err
        self.assertIn('S3LOAD_TLS', said)


class Help(ReportTest):
    def test_help_of_a_command(self):
        self.assertEqual(self.s3analyze('help', 'cmp').out, self.s3analyze('cmp', '--help').out)
        self.assertIn('cmp', self.s3analyze('help', 'cpm', status=2).err)


if __name__ == '__main__':
    unittest.main()
