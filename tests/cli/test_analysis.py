"""Single figures of the analysis whose definition is easy to miss, each against the oracle."""

import random
import unittest

import capgen
import oracle
from capgen import Shape, frames, lines, row, simulate, steady, text
from expect import ReportTest, figures
from oracle import SECOND, Analysis


class Ties(ReportTest):
    """If segments have equal rates, the earlier one sorts first."""

    def test_equal_sums_of_parts(self):
        # In each second three requests of a third, and of other shares that add up to one as well.
        rows = []
        for i in range(30):
            n = 3 + i % 5 * 4
            rows += [row(i * SECOND, (i + n) * SECOND, thread=i * 9 + k, size=0) for k in range(n)]
        for dur in SECOND, SECOND // 3, SECOND * 7:
            with self.subTest(dur=dur):
                report = self.analyze(text(rows), '--dur', f'{dur}ns', '--range', 'full')
                series = report.rows('GET')
                segments = report.operations['GET']['segments']
                exact = oracle.attribute(rows, [oracle.parse_time(s['start_time']) for s in series],
                                         dur)
                order = sorted(exact, key=lambda s: (s.objects, s.a))
                half = min((2 * len(order) * 50 + 100) // 200, len(order) - 1)
                for name, k in ('slowest', 0), ('median', half), ('fastest', -1):
                    self.assertEqual(segments[name]['start'], oracle.format_time(order[k].a), name)

    def test_captures_whose_ties_were_broken_wrongly(self):
        for seed in range(40):
            rows = simulate(seed, Shape(sizes=(0,), grid_ns=SECOND // 100, threads=16, n=150,
                                        median=SECOND))
            report = self.analyze(text(rows), '--dur', '100ms')
            self.assert_fits_oracle(report, Analysis(rows, dur=SECOND // 10), f'seed {seed}')


class FirstAccess(ReportTest):
    def test_only_requests_of_the_buckets_sizes(self):
        """A size that occurs only outside of the active range gets no bucket."""
        rows = steady(100, size=2000, file='a') + steady(100, size=3000, file='b', threads=1)
        rows = [r._replace(thread=i // 100) for i, r in enumerate(rows)]
        first = [row(-SECOND, -1, thread=t, size=size, file=key)
                 for t, (size, key) in enumerate([(5, 'a'), (50 << 20, 'b')])]
        report = self.analyze(text(first + rows))
        sizes = report.operations['GET']['requests']['sizes']
        self.assertEqual(len(sizes), 1)
        self.assertEqual(sizes[0]['first_access']['n'], 2)
        self.assert_fits_oracle(report, Analysis(first + rows))


class StuckThread(ReportTest):
    def test_the_single_range_of_a_mixed_run(self):
        """If one thread hangs for ever, a mixed run has no range; the report shows the single range."""
        rows = steady(200, op='GET', threads=4) + \
            [r._replace(thread=r.thread + 4) for r in steady(200, op='PUT', threads=4)]
        stuck = [row(0, 21 * SECOND, thread=9)]
        report = self.analyze(text(stuck + rows))
        said = self.s3analyze('analyze', '-v', self.tmp / 'capture.csv.zst').out
        for op in 'GET', 'PUT':
            o = report.operations[op]
            self.assertEqual((o['n_requests'], o['skipped']), (0, 'no requests left'))
            self.assertGreater(o['single_range']['throughput']['objects_per_s'], 39)
            self.assertEqual([t['thread'] for t in o['single_range']['threads']], [9])
        self.assertEqual(said.count('Throughput over the single range'), 2)


class RelativeTimes(ReportTest):
    """--from and t_s count from the first start after the filters."""

    def setUp(self):
        super().setUp()
        early = steady(50, host='http://h0:9000')
        late = [r._replace(start=r.start + 3 * SECOND, end=r.end + 3 * SECOND, thread=1)
                for r in steady(50, host='http://h1:9000')]
        self.data = text(early + late)

    def first_start(self, *options):
        return oracle.parse_time(self.analyze(self.data, *options).operations['GET']['start'])

    def test_from(self):
        self.assertEqual(self.first_start('--from', '1s'), capgen.START + SECOND)
        self.assertEqual(self.first_start('--from', '1s', '--host', 'http://h1:9000'),
                         capgen.START + 4 * SECOND)

    def test_t_s(self):
        for options in ['--host', 'http://h1:9000'], ['--host', '*h1*', '--from', '1s']:
            report = self.analyze(self.data, '--analyze.all', '--dur', '500ms', *options)
            for s in report.rows('GET'):
                at = oracle.parse_time(s['start_time']) - capgen.START - 3 * SECOND
                self.assertAlmostEqual(float(s['t_s']), at / 1e9, places=9)

    def test_only_host(self):
        report = self.analyze(self.data, '--host', '*h1*')
        self.assertEqual({s['host'] for s in report.rows('GET')}, {'http://h1:9000'})
        self.assertEqual({s['host'] for s in self.analyze(self.data).rows('GET')}, {''})


class Large(ReportTest):
    """Code that only larger captures reach."""

    def check(self, shape, dur, note='', shuffle=None):
        rows = simulate(1, shape)
        expected = Analysis(rows, dur=dur)
        if shuffle:
            shuffle(rows)
        self.assert_fits_oracle(self.analyze(text(rows), '--dur', f'{dur}ns'), expected, note)

    def test_many_rows(self):
        """Blocks of rows within a segment, and values that are counted and not kept. The order of rows does not matter."""
        r = random.Random(5)
        shape = Shape(n=33000, threads=32, hosts=2, long_frac=0.001, error_frac=0.0002,
                      n_objects=(1, 5), keys=3000, median=SECOND // 20)
        rows = simulate(1, shape)
        header, *body = lines(rows)
        data = lambda: (header + ''.join(body)).encode()
        first = self.analyze(data(), '--dur', '5s')
        self.assert_fits_oracle(first, Analysis(rows, dur=5 * SECOND))
        for change in list.reverse, r.shuffle:
            change(body)
            report = self.analyze(data(), '--dur', '5s')
            self.assertEqual(figures(report.raw), figures(first.raw))
            self.assertEqual(report.series, first.series)
        skipped = self.analyze(data(), '--dur', '5s', '--analyze.skip', '7s')
        self.assert_fits_oracle(skipped, Analysis(rows, dur=5 * SECOND, skip=7 * SECOND))
        shape.error_frac, shape.ops = 0, ('GET', 'PUT')
        self.check(shape, 7 * SECOND, 'mixed, shuffled', r.shuffle)

    def test_many_sizes(self):
        sizes = tuple(int(10 ** (k / 7)) for k in range(70)) + (0, (1 << 32) - 1, 1 << 32, 5 << 40)
        self.check(Shape(n=20000, threads=16, hosts=1, sizes=sizes, keys=500), 5 * SECOND)

    def test_many_hosts_and_segments(self):
        """More hosts x segments than are kept at a time."""
        r = random.Random(6)
        for sizes in (0,), (0, 65536, 5 << 32):
            shape = Shape(n=3000, threads=16, hosts=400, sizes=sizes, n_objects=(0, 1, 5 << 32),
                          long_frac=0.01, error_frac=0.01)
            self.check(shape, SECOND // 20, str(sizes), r.shuffle)

    def test_gigantic_durations(self):
        """Moments of values whose squares need more than 64 bits."""
        rows = steady(2000, threads=3, every=SECOND // 2)
        rows += [row(i * SECOND, i * SECOND + (1 << 40) * i, thread=3 + i) for i in range(9)]
        self.assert_fits_oracle(self.analyze(text(rows)), Analysis(rows))


class TiedRequests(ReportTest):
    """Requests that tie in start, thread, end, host and bytes are ordered by their objects."""

    def test_objects_per_op_is_the_least_of_the_first(self):
        """In any order, in one unit or in several."""
        rows = [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file=name, n_objects=k + 2)
                for i in range(20) for k, name in enumerate("dbac")]
        for seed in range(4):
            random.Random(seed).shuffle(rows)
            data = text(rows)
            for packed in data, frames(data, *range(500, len(data), 500)):
                with self.subTest(seed=seed):
                    report = self.analyze(packed)
                    self.assertEqual(report.operations["LIST"]["objects_per_op"], 2)
                    self.assert_fits_oracle(report, Analysis(rows))

    def test_first_and_last_access(self):
        """Two requests that differ only in TTFB: either may come first in the file."""
        found = set()
        for firsts in (None, 100, 300), (300, 100, None), (100, None, 300):
            rows = [row(i * SECOND, i * SECOND + 500, file="k", first=first and i * SECOND + first)
                    for i in range(20) for first in firsts]
            requests = self.analyze(text(rows)).operations["GET"]["requests"]
            found.add(str([requests[k]["ttfb"] for k in ("first_access", "last_access")]))
        self.assertEqual(len(found), 1)

    def test_after_a_cut(self):
        """The order is the same among the rows that filters leave."""
        rows = [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file="a", n_objects=99) for i in range(5)]
        rows += [row(i * SECOND, (i + 1) * SECOND, op="LIST", size=0, file=name, n_objects=k + 3)
                 for i in range(5, 20) for k, name in enumerate("dbeac")]
        for seed in range(3):
            random.Random(seed).shuffle(rows)
            path = self.tmp / "ties.csv"
            path.write_bytes(text(rows))
            last = ["--from", "7s"]
            for how in last, ["--skip", "7s"], [*last, "--host", "*"], [*last, "--steady"]:
                with self.subTest(seed=seed, how=how):
                    r = self.s3analyze("analyze", "--json", "--range", "full", *how, path)
                    self.assertEqual(r.json()["operations"][0]["objects_per_op"], 3)


if __name__ == '__main__':
    unittest.main()
