"""`s3analyze info` and `s3analyze cat`: what is in a capture, and the same requests in the newest form."""

import json
import unittest

import capgen
import oracle
import zstd
from capgen import Shape, simulate, steady, text
from harness import CliTest, capture, captures, kept_figures
from oracle import SECOND


def rows_of(data):
    """The rows of a capture's text, as an independent parser reads them."""
    return oracle.parse(data.decode())


def comments_of(data):
    return [line for line in data.decode().split('\n') if line.startswith('#')]


class Case(CliTest):
    def analyze(self, *args):
        return kept_figures(self.s3analyze('analyze', '--json', *args).json())

    def cat(self, *args, **kwargs):
        return self.s3analyze('cat', *args, **kwargs).raw


class Cat(Case):
    def test_analysis_stays_the_same(self):
        for name in captures():
            with self.subTest(name):
                path = capture(name)
                expected = self.analyze(path)
                plain = self.put('plain.csv', self.cat(path))
                self.assertEqual(self.analyze(plain), expected)
                packed = self.tmp / 'packed.csv.zst'
                self.s3analyze('cat', '--force', '-o', packed, plain)
                self.assertEqual(self.analyze(packed), expected)

    def test_every_generation_becomes_g4(self):
        rows = simulate(3, Shape(n=300, hosts=3, clients=2, ops=('GET', 'PUT'), error_frac=0.2,
                                 n_objects=(1, 7)))
        for generation in range(5):
            path = self.put('in.csv', text(rows, generation=generation))
            out = self.cat(path)
            header = out.split(b'\n', 1)[0].decode().split('\t')
            self.assertEqual(header, capgen.COLUMNS[4])
            self.assertEqual(sorted(rows_of(out)), sorted(capgen.as_read(rows, generation)))

    def test_written_as_specified(self):
        row = ('9\t3\tGET\tc\t2\t5\thttp://h\tkey "raw"\t\t2026-11-21T07:45:58.5+02:00\t\t'
               '2026-11-21T05:45:58.6Z\t2026-11-21T05:45:59Z\t77\t6\n')
        path = self.put('in.csv', ('\t'.join(capgen.COLUMNS[4]) + '\n' + row).encode())
        self.assertEqual(self.cat(path).decode().split('\n')[1],
                         '0\t3\tGET\tc\t2\t5\thttp://h\t"key ""raw"""\t\t'
                         '2026-11-21T05:45:58.500000000Z\t\t2026-11-21T05:45:58.600000000Z\t'
                         '2026-11-21T05:45:59.000000000Z\t500000000\t6')

    def test_frames_of_the_output(self):
        rows = steady(12000, threads=4, every=SECOND // 1000)  # 7 MB
        path = self.put('in.csv', text(rows))
        out = self.tmp / 'out.csv.zst'
        self.s3analyze('cat', '-o', out, path)
        info = self.s3analyze('info', '--json', out).json()['captures'][0]
        self.assertTrue(info['compressed'])
        self.assertEqual(info['n_frames'], -(-info['n_text_bytes'] // (4 << 20)))
        self.assertEqual(self.cat(out), self.cat(path))

    def test_compression_is_by_name_or_option(self):
        path = self.put('in.csv', text(steady(10)))
        magic = b'\x28\xb5\x2f\xfd'
        for args, compressed in [([], False), (['--compress'], True), (['--level', '9'], True)]:
            self.assertEqual(self.cat(*args, path).startswith(magic), compressed)
            for name in 'out.csv', 'out.csv.zst':
                self.s3analyze('cat', '--force', *args, '-o', self.tmp / name, path)
                self.assertEqual((self.tmp / name).read_bytes().startswith(magic),
                                 compressed or name.endswith('.zst'))

    def test_filters(self):
        rows = simulate(5, Shape(n=600, hosts=3, clients=2, ops=('GET', 'PUT', 'STAT')))
        path = self.put('in.csv', text(rows))
        middle = rows[100].start
        put_on_h0 = [r for r in rows if r.op == 'PUT' and r.host == 'http://h0:9000']
        begin = put_on_h0[0].start
        for args, wanted in (
                (['--op', 'GET'], lambda r: r.op == 'GET'),
                (['--op', 'GET,STAT'], lambda r: r.op != 'PUT'),
                (['--host', 'h1:9000'], lambda r: r.host == 'http://h1:9000'),
                (['--host', 'http://h[02]*'], lambda r: r.host != 'http://h1:9000'),
                (['--client', 'c1'], lambda r: r.client == 'c1'),
                (['--from', oracle.format_time(middle)], lambda r: r.start >= middle),
                (['--to', oracle.format_time(middle)], lambda r: r.start < middle),
                (['--from', '1s', '--to', '3s', '--op', 'PUT', '--host', 'h0*'],
                 lambda r: r in put_on_h0 and SECOND <= r.start - begin < 3 * SECOND),
                (['--from', '100h'], lambda r: False)):
            with self.subTest(args):
                expected = [r for r in rows if wanted(r)]
                self.assertLess(len(expected), len(rows))
                self.assertEqual(rows_of(self.cat(*args, path)), expected)

    def test_unknown_names_list_the_known_ones(self):
        path = self.put('in.csv', text(simulate(5, Shape(n=50, hosts=2, ops=('GET', 'PUT')))))
        out = self.tmp / 'out.csv'
        for args, known in ((['--host', 'nowhere'], 'http://h0:9000'), (['--client', 'x'], 'c0'),
                            (['--op', 'LIST'], 'GET')):
            r = self.s3analyze('cat', *args, '-o', out, path, status=2)
            self.assertIn(f'"{args[1]}" in the capture; it has: ', r.err)
            self.assertIn(known, r.err)
            self.assertFalse(out.exists())
            self.assertEqual(self.s3analyze('cat', *args, path, status=2).raw, b'')

    def test_exact_names_go_before_globs(self):
        rows = [r._replace(host=h) for h in ('http://[::1]:9000', 'http://::9000')
                for r in steady(5)]
        path = self.put('in.csv', text(rows))
        kept = rows_of(self.cat('--host', 'http://[::1]:9000', path))
        self.assertEqual({r.host for r in kept}, {'http://[::1]:9000'})
        path.write_bytes(text(rows[::-1]))
        kept = rows_of(self.cat('--host', 'http://[::1]:9000', path))
        self.assertEqual({r.host for r in kept}, {'http://[::1]:9000'})
        # A pipe cannot be read in advance.
        r = self.s3analyze('cat', '--host', 'http://[::1]:9000', '-', stdin=path.read_bytes(), status=1)
        self.assertIn('as a pattern it stands for others', r.err)
        kept = rows_of(self.cat('--host', r'http://\[::1]:9000', path))
        self.assertEqual({r.host for r in kept}, {'http://[::1]:9000'})

    def test_pipes(self):
        data = text(steady(40))
        path = self.put('in.csv', data)
        self.assertEqual(self.cat('-', stdin=data), self.cat(path))
        self.assertEqual(self.cat('-', stdin=zstd.frame(data)), self.cat(path))
        r = self.s3analyze('cat', '--from', '1s', '-', stdin=data, status=1)
        self.assertIn('can be read only once', r.err)

    def test_captures_in_a_row_are_merged(self):
        a, b = (simulate(seed, Shape(n=80, threads=3)) for seed in (1, 2))
        b = [r._replace(thread=r.thread * 1000) for r in b]
        one, two = self.put('1.csv', text(a)), self.put('2.csv', text(b, generation=3))
        both = self.put('both.csv', text(a) + text(b, generation=3))
        top = max(r.thread for r in a) + 1
        expected = a + [r._replace(thread=r.thread + top, last=None) for r in b]
        for args in ([one, two], [both]):
            out = self.cat(*args)
            self.assertEqual(rows_of(out), expected)
            self.assertEqual(out.count(b'idx\t'), 1)
            self.assertEqual(self.analyze(self.put('out.csv', out)), self.analyze(*args))

    def test_intended_is_kept(self):
        rows = steady(6)
        header, *body = text(rows).decode().splitlines()
        due = [oracle.format_time(r.start - 1000) for r in rows]
        open_loop = '\n'.join([header + '\tintended', *map('\t'.join, zip(body, due))]) + '\n'
        path = self.put('in.csv', open_loop.encode())
        self.assertEqual([line.split('\t')[-1] for line in self.cat(path).decode().splitlines()],
                         ['intended', *due])
        # If the column comes later, a second header line names it.
        path.write_bytes(text(rows) + open_loop.encode())
        out = self.cat(path).decode()
        self.assertEqual(out.count('idx\t'), 2)
        self.assertIn(due[-1], out)
        expected = self.analyze(path)
        self.assertEqual(self.analyze(self.put('out.csv', out.encode())), expected)

    def test_comments_are_kept(self):
        header, *body = text(steady(5)).decode().splitlines()
        data = '\n'.join(['# above', header, '# s3load/1 {"seed": 7}', '#bare', *body, '# done']) + '\n'
        out = self.cat(self.put('in.csv', data.encode()))
        self.assertEqual(comments_of(out), ['# above', '# s3load/1 {"seed": 7}', '# bare', '# done'])
        self.assertEqual(len(rows_of(out)), 5)

    def test_salvage_is_told(self):
        lines = text(steady(30)).decode().splitlines(keepends=True)
        lines[7] = 'no row\n'
        path = self.put('in.csv', ''.join(lines).encode())
        out = self.tmp / 'out.csv'
        r = self.s3analyze('cat', '-o', out, path, status=1)
        self.assertRegex(r.err, r'in\.csv:8: ')
        self.assertFalse(out.exists())
        r = self.s3analyze('cat', '--salvage', '-o', out, path)
        self.assertEqual(len(rows_of(out.read_bytes())), 29)
        self.assertIn('dropped 1 bad row;', r.err)
        self.assertRegex(comments_of(out.read_bytes())[-1], r's3analyze/damage/1 .*"n_dropped":1,"n_holes":0,.*csv:8: ')

    def test_outputs(self):
        path = self.put('in.csv', text(steady(30)))
        r = self.s3analyze('cat', '-o', path, path, status=2)
        self.assertIn('it would be overwritten', r.err)
        r = self.s3analyze('cat', '-o', self.tmp / 'no' / 'folder', path, status=1)
        self.assertIn('cannot write', r.err)
        r = self.s3analyze('cat', '-o', '/dev/full', path, status=1)
        self.assertIn('No space left on device', r.err)


class Info(Case):
    def test_of_many_names_the_first_are_shown(self):
        rows = [r._replace(op=f"OP{i:03}", host=f"h{i:03}", client=f"c{i:03}") for i, r in enumerate(steady(300))]
        out = self.s3analyze("info", self.put("ops.csv", text(rows))).out
        for last, left_out in ("OP019", "OP020"), ("h019", "h020"), ("c019", "c020"):
            self.assertIn(f"{last}  1\n", out)
            self.assertNotIn(left_out, out)
        self.assertEqual(out.count("and 280 more: --json has them all"), 3)

    def info(self, *args, **kwargs):
        return self.s3analyze('info', '--json', *args, **kwargs).json()['captures']

    def test_counts(self):
        rows = simulate(8, Shape(n=500, threads=5, hosts=3, clients=2, ops=('GET', 'PUT'),
                                 error_frac=0.1))
        one = self.put('1.csv', text(rows))
        two = self.put('2.csv.zst', zstd.frame(text(rows[:90], generation=2)) + zstd.skippable(b'x') +
                       zstd.frame(text(rows[90:], generation=2)))
        a, b = self.info(one, two)
        self.assertEqual((a['generation'], b['generation']), ('g4', 'g2'))
        self.assertEqual((a['compressed'], b['compressed']), (False, True))
        self.assertEqual((b['n_frames'], b['n_skippable_frames'], b['n_headers']), (2, 1, 2))
        self.assertEqual(b['n_file_bytes'], two.stat().st_size)
        self.assertEqual(a['n_text_bytes'], one.stat().st_size)
        for x in a, b:
            self.assertEqual(x['n_rows'], len(rows))
            self.assertEqual(x['first_start'], oracle.format_time(min(r.start for r in rows)))
            self.assertEqual(x['last_end'], oracle.format_time(max(r.end for r in rows)))
            self.assertEqual(x['duration_ns'],
                             max(r.end for r in rows) - min(r.start for r in rows))
            self.assertEqual(x['n_errors'], sum(bool(r.error) for r in rows))
            self.assertEqual({o['op']: (o['n_requests'], o['n_errors'], o['n_bytes'])
                              for o in x['operations']},
                             {op: (sum(r.op == op for r in rows),
                                   sum(r.op == op and bool(r.error) for r in rows),
                                   sum(r.bytes for r in rows if r.op == op and not r.error))
                              for op in ('GET', 'PUT')})
        self.assertEqual(a['n_threads'], 5)
        self.assertEqual(b['n_threads'], 10)  # two inputs
        self.assertEqual({h['host']: h['n_requests'] for h in a['hosts']},
                         {h: sum(r.host == h for r in rows) for h in {r.host for r in rows}})
        self.assertEqual({c['client_id']: c['n_requests'] for c in a['clients']},
                         {c: sum(r.client == c for r in rows) for c in {r.client for r in rows}})
        self.assertEqual([h['host'] for h in b['hosts']], [''])

    def test_threads_change_nothing(self):
        rows = simulate(8, Shape(n=20000, threads=50, hosts=3, ops=('GET', 'PUT')))
        data = text(rows)
        path = self.put('in.csv.zst', capgen.frames(data, *range(0, len(data), 50000), level=-1000))
        expected = self.s3analyze('info', '--json', '--threads', 1, path).raw
        for threads in 2, 4:
            self.assertEqual(self.s3analyze('info', '--json', '--threads', threads, path).raw, expected)

    def test_how_it_was_recorded(self):
        x = self.info(capture('get-g4'))[0]
        self.assertTrue(x['command'].startswith('warp get '))
        self.assertIsNone(x['s3load'])
        self.assertIn('warp get ', self.s3analyze('info', capture('get-g4')).out)
        header, *body = text(steady(5)).decode().splitlines()
        told = {'command': ['s3load', 'get'], 'seed': 7}
        data = '\n'.join([header, '# s3load/1 ' + json.dumps(told), *body]) + '\n'
        path = self.put('in.csv', data.encode())
        self.assertEqual(self.info(path)[0]['s3load'], told)
        self.assertRegex(self.s3analyze('info', path).out, r'seed +7\n')

    def test_merged(self):
        out = self.tmp / 'merged.csv'
        self.s3analyze('merge', '-o', out, capture('merge-in-1'), capture('merge-in-2'))
        self.assertEqual(self.info(out)[0]['n_merged'], 2)
        self.assertIn('merged from  2 captures', self.s3analyze('info', out).out)

    def test_text_has_the_figures(self):
        out = self.s3analyze('info', capture('get-g4')).out
        for part in ('g4, zstd: 1 frame, 0 skippable', '24,092 in 24,094 lines', 'Y305  24,092',
                     'GET  24,032', 'http://127.0.0.1:9000', '(11.2s)'):
            self.assertIn(part, out)

    def test_damage(self):
        lines = text(steady(30)).decode().splitlines(keepends=True)
        lines[7] = 'no row\n'
        path = self.put('in.csv', ''.join(lines).encode())
        self.assertRegex(self.s3analyze('info', path, status=1).err, r'in\.csv:8: ')
        x = self.info('--salvage', path)[0]
        self.assertEqual((x['n_rows'], x['n_dropped']), (29, 1))
        self.assertEqual(x['dropped'][0]['why'], 'bad rows')
        self.assertIn('1 bad row;', self.s3analyze('info', '--salvage', path).out)

    def test_pipe(self):
        self.assertEqual(self.info('-', stdin=text(steady(30)))[0]['n_rows'], 30)


if __name__ == '__main__':
    unittest.main()
