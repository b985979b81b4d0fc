"""The replay of autoterm, and what analyze says of a run's course."""

import json
import re
import unittest

from capgen import row, steady, text
from expect import assert_same, json_differences
from harness import GOLDEN, SHARED, CliTest, capture

SECOND = 10**9


class Autoterm(CliTest):
    def write(self, rows):
        path = self.tmp / 'run.csv'
        path.write_bytes(text(sorted(rows)))
        return path

    def replay(self, *args):
        return self.s3analyze('autoterm', '--json', *args).json()['operations']

    def test_goldens(self):
        found = [p for folder in (GOLDEN, SHARED / 'golden') for p in folder.glob('*.autoterm-*.json')]
        self.assertTrue(found)
        for path in found:
            name, _, settings = path.stem.partition('.autoterm-')
            dur, pct = settings.removesuffix('pct').split('-')
            with self.subTest(golden=path.name):
                r = self.s3analyze('autoterm', '--json', '--autoterm.dur', dur, '--autoterm.pct', pct,
                                   capture(name))
                assert_same(json_differences(json.loads(path.read_text()), r.json()))

    def test_keeps_the_capture(self):
        path = self.write(steady(20, threads=2))
        before = path.read_bytes()
        r = self.s3analyze('autoterm', '-o', path, path, status=2)
        self.assertIn('would be overwritten', r.err)
        self.assertEqual(path.read_bytes(), before)

    def test_steady_run(self):
        # The range has to be longer than 7 s * 25 / 7.
        path = self.write(steady(400, threads=2))
        op, = self.replay('--autoterm.dur', '7s', path)
        self.assertEqual(op['stop']['at_s'], 26)
        self.assertAlmostEqual(op['stop']['off_frac'], 0, 6)
        self.assertFalse(op['drift'] and op['drift']['reported'])
        op, = self.replay('--autoterm.dur', '20s', path)
        self.assertFalse(op['stopped'])

    def test_drift_passes_the_rule(self):
        # A decline from 100 to 78 % of the speed over the range.
        rows, now = [], 0
        while now < 60 * SECOND:
            took = int(SECOND / 50 / (1 - .0036 * now / SECOND))
            rows.append(row(now, now + took, size=100000))
            now += took
        path = self.write(rows)
        op, = self.replay('--autoterm.dur', '15s', path)
        self.assertTrue(op['stopped'])
        self.assertTrue(op['drift']['reported'])
        self.assertLess(op['drift']['change_frac'], -.1)
        r = self.s3analyze('autoterm', '--autoterm.dur', '15s', path)
        self.assertRegex(r.out, r'Warning: up to then the speed drifted by -\d')

    def test_an_estimate_that_was_right_is_not_off_by_minus_nothing(self):
        out = self.s3analyze('autoterm', '--autoterm.dur', '2s', self.write(steady(300, threads=3, op='DELETE', size=0, n_objects=10))).out
        self.assertIn(' obj/s, +0.00 % from', out)
        self.assertNotRegex(out, r'-0\.0')

    def test_mixed_is_one(self):
        rows = steady(300, threads=2) + [r._replace(op='PUT', thread=r.thread + 2)
                                         for r in steady(300, threads=2)]
        op, = self.replay('--autoterm.dur', '5s', self.write(rows))
        self.assertEqual(op['op'], '')
        self.assertTrue(op['stopped'])
        self.assertEqual(len(self.replay('--op', 'GET', self.tmp / 'run.csv')), 1)


class Course(CliTest):
    def warming_up(self):
        """20 s, the first 4 s of them at half speed."""
        rows = []
        for thread in range(4):
            now = 1000 * thread
            k = 0
            while now < 20 * SECOND:
                k = (k * 1103515245 + 12345 + thread) % 2**31
                took = int((.008 + .004 * k / 2**31) * SECOND * (2 if now < 4 * SECOND else 1))
                rows.append(row(now, now + took, thread=thread, size=65536))
                now += took
        path = self.tmp / 'warm.csv'
        path.write_bytes(text(sorted(rows)))
        return path

    def test_warm_up_is_found_and_left_out_on_request(self):
        path = self.warming_up()
        before, after = (self.s3analyze('analyze', '--json', *options, path).json() for options in ((), ('--steady',)))
        found, = [f for f in before['findings'] if f['kind'] == 'warm-up']
        length, = re.findall(r'The first (\S+) ran at', found['sentence'])
        cut = after['operations'][0]['statistics']['warm_up']['cut_ns']
        self.assertAlmostEqual(cut / SECOND, 4, delta=1)
        self.assertEqual(before['operations'][0]['statistics']['warm_up']['cut_ns'], 0)
        self.assertGreater(after['operations'][0]['throughput']['bytes_per_s'],
                           1.1 * before['operations'][0]['throughput']['bytes_per_s'])
        self.assertNotIn('warm-up', [f['kind'] for f in after['findings']])
        self.assertIn(f'Warm-up: {length} left out.', self.s3analyze('analyze', '-v', '--steady', path).out)

    def test_co_interval(self):
        path = self.warming_up()
        s = self.s3analyze('analyze', '--json', '--co-interval', '1ms', path).json()
        s = s['operations'][0]['statistics']
        self.assertEqual(s['co']['interval_ns'], 10**6)
        self.assertGreater(s['co']['n'], 5 * s['duration']['n'])
        self.assertLess(s['co']['p50_ns'], s['duration']['p50_ns']['value'])
        plain = self.s3analyze('analyze', '--json', path).json()['operations'][0]['statistics']
        self.assertIsNone(plain['co'])
        self.assertEqual(plain['duration'], s['duration'])

    def test_short_runs_say_why(self):
        path = self.tmp / 'short.csv'
        path.write_bytes(text(steady(5, threads=2)))
        s = self.s3analyze('analyze', '--json', path).json()['operations'][0]['statistics']
        self.assertIn('fewer than', s['bytes_per_s']['mean']['why'])
        self.assertIsNone(s['bytes_per_s']['mean']['lo'])
        self.assertIn('fewer than', self.s3analyze('analyze', '-v', path).out)


if __name__ == '__main__':
    unittest.main()
