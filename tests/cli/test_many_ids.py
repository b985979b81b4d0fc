"""Far more threads, hosts, captures or ids of runs than usual: memory and steps grow with their number, and lists end."""

import os
import random
import subprocess
import unittest

from capgen import Shape, row, simulate, steady, text
from expect import ReportTest
from faults import FaultTest
from harness import BUILD, SANITIZED, without_sanitizers
from hostile import XML, Hostile, Mode, answer, listing
from oracle import SECOND, Analysis

N_ROWS, N_OPS = 20000, 1000
# Arrays by operation and thread are some GB; by rows it is a tenth of this. What sanitizers add is
# within three times of it.
MANY_KB = 1_500_000 if SANITIZED else 500_000


def peak_kb(*args):
    pid = subprocess.Popen([BUILD / 's3analyze', *args], stdout=subprocess.DEVNULL).pid
    _, status, usage = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, args
    return usage.ru_maxrss


class Memory(ReportTest):
    def test_operations_times_threads_or_hosts(self):
        for n_threads, n_hosts in (N_ROWS, 1), (8, N_ROWS):
            rows = [row(i * SECOND // 60, (i + 30) * SECOND // 60, op=f'OP{i % N_OPS}',
                        thread=i % n_threads, host=f'h{i % n_hosts}') for i in range(N_ROWS)]
            path = self.write(text(rows))
            for args in ('analyze', '--json'), ('autoterm',):
                with self.subTest(threads=n_threads, hosts=n_hosts, command=args[0]):
                    self.assertLess(peak_kb(*args, path), MANY_KB)


    @without_sanitizers("they add to each allocation")
    def test_a_host_or_a_client_for_each_request(self):
        n = 100_000
        peaks = []
        for names in {}, {'host': 'h{}'}, {'client': 'c{}'}:
            path = self.write(text([row(i * SECOND // 100, i * SECOND // 100 + SECOND // 40, thread=i % 4,
                                        **{k: v.format(i) for k, v in names.items()}) for i in range(n)]))
            peaks.append(peak_kb('analyze', '--threads=1', path))
        for what, peak in zip(('hosts', 'clients'), peaks[1:]):
            # Measured: 840 bytes each.
            self.assertLess((peak - peaks[0]) * 1024 / n, 1300, what)


class Figures(ReportTest):
    def test_operations_of_fewer_rows_than_threads_and_hosts(self):
        """An operation's figures do not depend on whether its threads and hosts are also those of others."""
        for seed in range(12):
            r = random.Random(seed)
            shape = Shape(n=r.choice([20, 150]), threads=r.choice([4, 16, 100]),
                          hosts=r.choice([3, 40, 100]), clients=r.choice([1, 3]), keys=30,
                          ops=('GET', 'PUT', 'STAT'), error_frac=r.choice([0, 0.05]),
                          median=SECOND)
            rows = simulate(seed, shape)
            # One operation has few rows, and is alone in threads and hosts of its own.
            rows += [x._replace(thread=x.thread + 200, op='LIST', host=f'http://z{x.thread}')
                     for x in r.sample(rows, 12)]
            with self.subTest(seed=seed):
                report = self.analyze(text(rows), '--dur', '500ms')
                self.assert_fits_oracle(report, Analysis(rows, dur=SECOND // 2))


class Names(ReportTest):
    def test_names_that_differ_anywhere(self):
        """Hosts, clients and operations whose names differ in one byte are told apart, at any length."""
        names = ['h' * n for n in range(1, 40)]
        names += ['h' * i + 'x' + 'h' * (n - i - 1) for n in (3, 8, 9, 16, 17, 24, 25, 39) for i in range(n)]
        for field in 'host', 'client', 'op':
            said = names[:60] if field == 'op' else names
            rows = [row(i * SECOND // 60, (i + 30) * SECOND // 60, **{field: said[i % len(said)]})
                    for i in range(3 * len(said))]
            with self.subTest(field=field):
                self.assert_fits_oracle(self.analyze(text(rows)), Analysis(rows))


class Comparisons(FaultTest):
    def test_one_of_many_hosts_became_slower(self):
        """The captures name the hosts in different orders."""
        n = 3000

        def write(name, seed, slow):
            hosts = random.Random(seed).sample(range(n), n) * 4
            # Each eighth request is at one host.
            places = [p for i, host in enumerate(hosts) for p in ([host, 7] if i % 8 == 0 else [host])]
            return self.put(name, text([row(i * SECOND // 500, i * SECOND // 500 + SECOND // (2 if p == slow else 100) +
                                            i % 97 * 100000, thread=i % 300, host=f'h{p}') for i, p in enumerate(places)]))
        sides = write('a.csv', 1, None), write('b.csv', 2, 7)
        for paths in sides, sides[::-1]:
            op, = self.s3analyze('cmp', '-v', '--json', *paths).json()['operations']
            self.assertEqual([(c['kind'], c['names']) for c in op['where']], [('hosts', ['h7'])])
            self.assertEqual({m['host'] for m in op['metrics']}, {None, *(f'h{i}' for i in range(n))})

    @without_sanitizers('fault.so counts')
    def test_files_are_read_once_however_many_there_are(self):
        """Files of one size, which may be the same, are told apart without reading them for each pair."""
        paths = [self.put(f'{i:03}.csv', text([row((100 * i + k) * SECOND, (100 * i + k) * SECOND + SECOND // 2)
                                              for k in range(9)])) for i in range(40)]
        self.assertEqual(len({p.stat().st_size for p in paths}), 1)
        n_opened = []
        for n in 20, 40:
            self.s3analyze('cmp', '--before', *paths[:n // 2], '--after', *paths[n // 2:n], env=self.env(''))
            n_opened.append(self.counts()['open'])
        self.assertLessEqual(n_opened[1], 2 * n_opened[0])


class Clean(ReportTest):
    def test_many_runs(self):
        """Two listings name the runs, in different orders."""
        letters = '23456789abcdefghijkmnpqrstuvwxyz'
        ids = [''.join(letters[i * 7919 >> 5 * k & 31] for k in range(12)) for i in range(20000)]
        keys = [b's3load-%s/0000/0000000000000000' % i.encode() for i in ids]
        uploads = b''.join(b'<Upload><Key>%s</Key><UploadId>u</UploadId></Upload>' % k for k in keys[::-2])
        server = Hostile(Mode('clean', {
            'LIST': lambda r: [answer(200, listing(keys))],
            'GET ?uploads': lambda r: [answer(200, XML + b'<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>'
                                              + uploads + b'</ListMultipartUploadsResult>')]}, ''))
        self.addCleanup(server.stop)
        r = self.check_run('s3load', 'clean', '--host', f'127.0.0.1:{server.port}', '--bucket', 'b', '--access-key', 'A',
                           '--secret-key', 'S', '--dry-run', '--older-than', '0s', env={'HOME': str(self.tmp)})
        said = [line.split() for line in r.out.splitlines()[1:]]
        self.assertEqual([s[:4] for s in said],
                         [[run_id, '1', '0', str(i % 2)] for i, run_id in enumerate(ids)])


class SlowThreads(ReportTest):
    def test_the_worst_and_how_many_more(self):
        """Fifty threads begin late, each later than the one before."""
        rows = steady(1000, threads=4, every=SECOND // 10)
        end = max(r.end for r in rows)
        start = min(r.start for r in rows)
        rows += [rows[0]._replace(thread=10 + i, start=end - (60 - i) * SECOND // 10, end=end)
                 for i in range(50)]
        self.assertLess(start, end - 10 * SECOND)
        report = self.analyze(text(rows))
        single = report.operations[rows[0].op]['single_range']
        self.assertEqual(single['n_slow_threads'], 50)
        # All of them end at the same time; ties are sorted by number.
        self.assertEqual([t['thread'] for t in single['threads']], list(range(10, 30)))
        path = self.tmp / 'capture.csv.zst'
        said = self.s3analyze('analyze', '-v', path).out
        self.assertEqual(said.count('\nThread '), 20)
        self.assertIn('and 30 more threads\n', said)


if __name__ == '__main__':
    unittest.main()
