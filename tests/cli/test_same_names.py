"""Captures of one name in different folders: each format of each command tells them apart."""

import csv
import io
import json
import unittest

from capgen import row, text
from harness import CliTest, unwrapped, run

SECOND = 10**9


class SameNames(CliTest):
    def setUp(self):
        super().setUp()
        self.paths = {}

    def add(self, name, day):
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text([row(day * 86400 * SECOND + i * SECOND // 20, day * 86400 * SECOND + i * SECOND // 20 + SECOND // (25 + i % 7),
                                   size=1 << 20, client=f'c{day}') for i in range(100)]))
        return path

    def names(self, *paths):
        return [r['run'] for r in self.s3analyze('table', '--json', *paths).json()['rows']]

    def test_as_much_as_it_takes(self):
        a, b = self.add('a/run.csv', 0), self.add('b/run.csv', 1)
        self.assertEqual(self.names(a, b), ['a/run', 'b/run'])
        self.assertEqual(self.names(a), ['run'])
        self.assertEqual(self.names(a, self.add('a/other.csv', 2)), ['run', 'other'])
        self.assertEqual(self.names(self.add('x/m/run.csv', 0), self.add('y/m/run.csv', 1), self.add('y/n/run.csv', 2)),
                         ['x/m/run', 'y/m/run', 'y/n/run'])
        # The suffix is not shown, so it tells nothing apart.
        zst = self.tmp / 'c' / 'run.csv.zst'
        zst.parent.mkdir()
        self.s3analyze('cat', '-o', zst, self.add('c.csv', 3))
        self.assertEqual(self.names(a, zst), ['a/run', 'c/run'])

    def test_from_where_they_are(self):
        """A path that ends where the others go on; the root; two slashes."""
        self.add('run.csv', 0)
        self.add('a/run.csv', 1)
        r = run('s3analyze', 'table', '--json', 'run.csv', 'a//run.csv', self.tmp / 'a' / '..' / 'run.csv', cwd=self.tmp)
        found = [line['run'] for line in r.json()['rows']]
        self.assertEqual(len(set(found)), 3)
        self.assertIn('run', found)

    def test_all_formats(self):
        a, b = self.add('a/run.csv', 0), self.add('b/run.csv', 1)
        both = ['a/run', 'b/run']
        table = self.s3analyze('table', '--csv', a, b).out
        self.assertEqual([line['run'] for line in csv.DictReader(io.StringIO(table))], both)
        self.assertEqual(self.names('--where', 'run=a/run', a, b), ['a/run'])
        page = self.tmp / 'page.html'
        for command in ('table',), ('table', '--markdown'), ('trend', '-v'), ('trend', '--markdown', '-v'), \
                ('table', '--html', page), ('trend', '--html', page):
            out = self.s3analyze(*command, '-f', a, b, env={'PATH': '/nonexistent'}).out
            if page in command:
                out = page.read_text()
            with self.subTest(command=command):
                for name in both:
                    self.assertIn(name, out)

    def test_cmp(self):
        paths = [self.add(f'{side}/run-{i}.csv', 4 * k + i) for k, side in enumerate('ab') for i in range(4)]
        said = unwrapped(self.s3analyze('cmp', '--before', *paths[:4], '--after', *paths[4:]).out)
        self.assertIn('before: 4 runs, a/run-0..3', said)
        self.assertIn('after: 4 runs, b/run-0..3', said)
        # The same run on both sides is no reason for more.
        said = unwrapped(self.s3analyze('cmp', '--before', *paths[:2], '--after', *paths[:2]).out)
        self.assertIn('before: 2 runs, run-0..1', said)

    def test_merge(self):
        a, b = self.add('a/run.csv', 0), self.add('b/run.csv', 0)
        b.write_bytes(b.read_bytes().replace(b'\tc0\t', b'\tc1\t'))
        merged = self.tmp / 'merged.csv'
        self.s3analyze('merge', '-o', merged, a, b)
        told = [json.loads(line[line.index('{'):]) for line in merged.read_text().splitlines()
                if line.startswith('# s3analyze/merge/1 {"name"')]
        self.assertEqual(sorted(x['name'] for x in told), ['a/run.csv', 'b/run.csv'])


if __name__ == '__main__':
    unittest.main()
