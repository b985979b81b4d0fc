"""cmp of matrices: cells are matched, judged together, and told in one sentence and a row each, in all formats."""

import csv
import html
import io
import json
import re
import unittest

import matrix
from harness import CliTest


class Cells(CliTest):
    def matrix(self, name, n, seed=1, **how):
        folder = self.tmp / name
        matrix.write(folder, seed, matrix.cells(n), **how)
        return folder / 'before', folder / 'after'

    def test_one_slower_cell(self):
        sides = self.matrix('slower', 12, slower=4)
        gate = ('--gate', 'throughput:5%')
        report = self.s3analyze('cmp', '--json', *gate, *sides, status=1).json()
        said = report['answer']
        self.assertRegex(said, r'^Gate: not passed\. 1 of 12 cells is slower: GET 64KiB c=2, throughput -\d+(\.\d)? % '
                               r'\(95 % CI -1\d\.\d to -\d\.\d+\)\. 11 show no change; a change of \d\.\d % would have been seen\. '
                               r'6 runs a side of a cell\. Throughput is -\d\.\d\d % in the geometric mean\.$')
        ops = report['operations']
        self.assertEqual([o['change'] for o in ops], ['worse'] + 11 * ['no-change-shown'])
        self.assertEqual(ops[0]['cell'], 'GET 64KiB c=2')
        self.assertEqual((ops[0]['settings']['object_size_bytes'], ops[0]['settings']['concurrency']), (65536, 2))
        self.assertEqual({(o['n_runs_before'], o['n_runs_after']) for o in ops}, {(6, 6)})
        self.assertEqual(report['n_family'], 36)

        text = self.s3analyze('cmp', *gate, *sides, status=1).out
        self.assertEqual(' '.join(text.split('\nLimits')[0].split()), said)
        rows = [line for line in text.splitlines() if re.match('GET |cell ', line)]
        self.assertEqual([line.split()[:3] for line in rows[:3]],
                         [['cell', 'before', 'after'], ['GET', '64KiB', 'c=2'], ['GET', '4KiB', 'c=1']])
        self.assertEqual(len(rows), 13)
        self.assertNotIn('Operation:', text)
        self.assertEqual(self.s3analyze('cmp', '-v', *sides).out.count('Operation:'), 12)

        table = list(csv.DictReader(io.StringIO(self.s3analyze('cmp', '--csv', *sides).out)))
        self.assertEqual({r['op'] for r in table} - {''}, {o['cell'] for o in ops})
        page = self.tmp / 'page.html'
        self.s3analyze('cmp', '-q', '--html', page, *gate, *sides, status=1)
        shown = html.unescape(page.read_text())
        self.assertIn(said, shown)
        self.assertEqual(len(re.findall(r'id="op\d+"', page.read_text())), 12)

    def test_a_comment_for_a_pull_request(self):
        sides = self.matrix('comment', 12, slower=4, prepared=300)
        out = self.s3analyze('cmp', '--markdown', *sides).out
        shown, folded = out.split('<details>')
        self.assertLessEqual(len((shown + '<details>').splitlines()), 18)
        self.assertRegex(shown.splitlines()[0], r'^\*\*1 of 12 cells is slower: GET 64KiB c=2, .*\)\.\*\* 11 show no change; ')
        rows = [[c.strip() for c in line.split('|')[1:-1]] for line in shown.splitlines() if line.startswith('|')]
        self.assertEqual(rows[0], ['cell', 'before', 'after', 'throughput', 'p50', 'p99', ''])
        self.assertEqual((rows[2][0], rows[2][-1]), ('GET 64KiB c=2', 'slower'))
        self.assertEqual(len(rows), 2 + 12)
        self.assertTrue(all(all(r[:6]) for r in rows))
        self.assertEqual(folded.count('</details>'), 1)
        self.assertTrue(out.endswith('</details>\n'))
        self.assertNotIn(str(self.tmp), out)
        self.assertNotIn('PUT', out)

    def test_a_comment_of_one_cell(self):
        a, b = (self.s3analyze('cmp', '--markdown', *s).out for s in (self.matrix('one', 1), self.matrix('none', 1, slower=0)))
        for out in a, b:
            shown, _ = out.split('<details>')
            self.assertLessEqual(len(shown.splitlines()), 6)
            self.assertRegex(shown, r'^\*\*GET: .*\*\*\n\n\|  \| before \| after \| throughput \|')
        self.assertIn('| slower |', b)

    def test_one_adjustment(self):
        """What one cell shows alone it may not show among 36."""
        alone = self.matrix('alone', 1, seed=5, slower=0, factor=1.08, cv=.03)
        report = self.s3analyze('cmp', '--json', *alone).json()
        self.assertEqual(report['operations'][0]['metrics'][0]['verdict'], 'slower')
        many = self.matrix('many', 36, seed=5, n_runs=3)
        for side in 'before', 'after':  # the same runs, as a cell of the others
            for path in (alone[0].parent / side).iterdir():
                (many[0].parent / side / f'alone-{path.name}').write_bytes(
                    path.read_bytes().replace(b'\t4096\t', b'\t8192\t'))
        among = self.s3analyze('cmp', '--json', *many).json()
        own = [o for o in among['operations'] if o['cell'] == 'GET 8KiB c=1'][0]
        self.assertEqual(among['n_family'], 37 * 3)
        self.assertAlmostEqual(own['metrics'][0]['p'], report['operations'][0]['metrics'][0]['p'], places=6)
        self.assertGreater(own['metrics'][0]['p_holm'], .05)
        self.assertEqual(own['change'], 'no-change-shown')

    def test_runs_in_which_nothing_succeeds(self):
        before, after = self.matrix('dead', 2)
        some = [p for p in sorted(after.iterdir()) if p.read_bytes().count(b'\n') < 500][:2]  # one thread
        for path in some:
            path.write_bytes(path.read_bytes().replace(b'\tk\t\t', b'\tk\tgone\t'))
        report = self.s3analyze('cmp', '--json', '--gate', 'throughput:5%', before, after, status=1).json()
        self.assertIn('1 of 2 cells is worse: GET c=1, nothing succeeded in 2 of 6 runs, before in 0 of 6.', report['answer'])
        self.assertIn('more runs fail', self.s3analyze('cmp', before, after).out)

    def test_cells_of_one_side(self):
        before, after = self.matrix('lone', 3)
        r = self.s3analyze('cmp', '--json', '--cell', 'c=1', '--cell', 'c=2', before, after)
        self.assertEqual([o['cell'] for o in r.json()['operations']], ['GET c=1', 'GET c=2'])
        for path in list(after.iterdir()):
            if path.read_bytes().count(b'\n') > 1000:  # those of four threads
                path.unlink()
        says = 'GET c=4: no run of after has it; not compared'
        self.assertIn(says, self.s3analyze('cmp', before, after).out)
        report = self.s3analyze('cmp', '--json', '--gate', 'throughput:20%', before, after, status=3).json()
        self.assertIn(says, [w['message'] for w in report['warnings']])
        self.assertEqual(report['gate'], 'undecided')
        self.s3analyze('cmp', '--gate', 'throughput:20%', '--cell', 'c=1,c=2', before, after, status=0)

    def test_which_cells(self):
        sides = self.matrix('which', 6)
        for cells, expected in ((['size=64KiB'], ['GET c=1', 'GET c=2', 'GET c=4']), (['op=get', 'c=2'], ['GET 4KiB', 'GET 64KiB']),
                                (['size=4KiB,size=64KiB,c=4'], ['GET 4KiB', 'GET 64KiB'])):
            args = [x for c in cells for x in ('--cell', c)]
            report = self.s3analyze('cmp', '--json', *args, *sides).json()
            self.assertEqual(sorted(o['cell'] for o in report['operations']), expected)
        alone = self.s3analyze('cmp', '--json', '--cell', 'size=4KiB,c=2', *sides).json()
        self.assertRegex(alone['answer'], '^GET: ')
        self.assertNotIn('cell', alone['operations'][0])
        self.assertIn('no run of before has a cell with --cell size=5KiB', self.s3analyze('cmp', '--cell', 'size=5KiB', *sides, status=2).err)
        self.assertIn('KEY=VALUE', self.s3analyze('cmp', '--cell', 'size', *sides, status=2).err)

    def test_files_of_folders(self):
        before, after = self.matrix('files', 2)
        (before / 'notes.txt').write_text('x')
        (before / 'cut.csv').write_text('idx\tthread\top\n1\t')
        report = self.s3analyze('cmp', '--json', before, after).json()
        said = '\n'.join(w['message'] for w in report['warnings'])
        self.assertRegex(said, r'before: .*notes\.txt')
        self.assertRegex(said, r'left out: .*cut\.csv')
        self.assertEqual(report['before']['n_runs'], 12)
        self.assertIn('cut.csv', self.s3analyze('cmp', before / 'cut.csv', next(after.iterdir()), status=1).err)
        (self.tmp / 'empty').mkdir()
        self.assertIn('no captures in this folder', self.s3analyze('cmp', self.tmp / 'empty', after, status=2).err)

    def test_exit_status(self):
        """1 if a gate fails in any cell, else 3 if it is undecided in one, else 0."""
        same = self.matrix('same', 4)
        slower = self.matrix('worse', 4, slower=2)
        self.s3analyze('cmp', '--gate', 'throughput:5%,p99:10%', *same, status=0)
        self.s3analyze('cmp', '--gate', 'throughput:5%', *slower, status=1)
        self.s3analyze('cmp', '--gate', 'throughput:10%', *slower, status=3)
        self.s3analyze('cmp', '--gate', 'throughput:15%', *slower, status=0)

    def test_charts_of_cells(self):
        before, after = self.matrix('charts', 2)
        out = self.tmp / 'charts'
        self.s3analyze('plot', '--before', before, '--after', after, '--chart', 'compare-throughput', '--out', out)
        self.assertEqual(len(list(out.glob('*.svg'))), 2)


if __name__ == '__main__':
    unittest.main()
