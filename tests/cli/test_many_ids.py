"""Captures with far more threads or hosts than rows of an operation: memory grows with rows, and lists end."""

import os
import random
import subprocess
import unittest

from capgen import Shape, row, simulate, steady, text
from expect import ReportTest
from harness import BUILD, SANITIZED, without_sanitizers
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
        self.assertIn('and 40 more threads (the worst with --analyze.v)',
                      self.s3analyze('analyze', path).out)
        said = self.s3analyze('analyze', '-v', path).out
        self.assertEqual(said.count('\nThread '), 20)
        self.assertIn('and 30 more threads\n', said)


if __name__ == '__main__':
    unittest.main()
