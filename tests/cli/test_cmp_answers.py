"""The first line of a comparison is its answer: it names each of ten planted differences, in all formats."""

import csv
import html
import io
import math
import random
import re
import unittest

from capgen import row, steady, text
from harness import CliTest

MS = 1_000_000
SECONDS = 8
BIG = 1 << 20


def simulated(seed, slower=lambda r, request: 1.0, cv=.01, ops=(('GET', 1),), sizes=(65536,)):
    """A closed loop of four clients with two threads each. A request takes about 20 ms times the factor that `slower` gives
    for it."""
    r = random.Random(seed)
    speed = math.exp(r.gauss(0, cv))
    names, weights = zip(*ops)
    out = []
    for thread in range(8):
        now = r.randrange(20 * MS)
        while now < SECONDS * 1000 * MS:
            request = {'op': r.choices(names, weights)[0], 'size': r.choice(sizes), 'host': f'http://h{r.randrange(4)}:9000',
                       'client': f'c{thread % 4}', 's': now / 1e9}
            took = int(20 * MS * speed * math.exp(r.gauss(0, .3)) * slower(r, request))
            out.append(row(now, now + took, thread=thread, op=request['op'], size=request['size'],
                           host=request['host'], client=request['client']))
            now += took
    return sorted(out)


def where(key, value, factor=2.5):
    return lambda r, request: factor if request[key] == value else 1.0


MIX = {'ops': (('GET', 7), ('PUT', 3))}
TWO_SIZES = {'sizes': (4096, BIG)}

# The difference: how the runs of both sides are made, what the answer says, and what it does not say.
PLANTED = {
    'one operation': (where('op', 'PUT'), MIX,
                      r'^PUT: slower: median duration .* \+1[45]\d % .*(9\d|100) % of the lost throughput is in PUT.*'
                      r' GET: durations alike; throughput follows other operations', 'GET: slower'),
    'one size': (where('size', BIG), TWO_SIZES,
                 r'^GET: slower: .* of the added time is in requests of 1MiB to \S+ \(there \+1[45]\d %, elsewhere [+-]\d\.\d+ %\)',
                 ' at http| client'),
    'two sizes': (lambda r, request: 2.5 if request['size'] in (1024, BIG) else 1.08, {'sizes': (1024, 1 << 14, BIG, 1 << 26)},
                  r'^GET: slower: .* of the added time is in requests of (1.00KiB|1KiB|1MiB) to \S+ and of (1KiB|1MiB) to \S+ '
                  r'\(there \+1[45]\d %', ' at http| client'),
    'two hosts': (lambda r, request: 2.5 if request['host'][8] in '12' else 1.0, {},
                  r'^GET: slower: .* of the added time is at http://h([12]):9000 and http://h(?!\1)[12]:9000 \(there \+1[45]\d %',
                  'client|in the'),
    'one host': (where('host', 'http://h2:9000'), {},
                 r'^GET: slower: .* of the added time is at http://h2:9000 \(there \+1[45]\d %', 'client|in the'),
    'one client': (where('client', 'c1'), {},
                   r'^GET: slower: .* of the added time is at client c1 \(there \+1[45]\d %', 'at http|in the'),
    'the tail': (lambda r, request: 8.0 if r.random() < .02 else 1.0, {},
                 r'^GET: slower: .*99.*of the added time is in the slowest [25] % of the requests', 'at http| client'),
    'the first seconds': (lambda r, request: 3.0 if request['s'] < 2 else 1.0, {},
                          r'^GET: slower: .* of the added time is in the first [12]\.\d s', 'at http| client'),
    'nothing': (lambda r, request: 1.0, {},
                r'^GET: (no change shown|the same within 5 %): .* obj/s|^GET: (no change shown|the same)', 'slower|faster|time is'),
    'noise': (lambda r, request: 1.0, {'cv': .15},
              r'^GET: no change shown: .*; a change below \d+ % could not be seen', 'slower|faster|time is'),
    'two at once': (lambda r, request: (2.5 if request['host'] == 'http://h2:9000' else 1.0) *
                    (2.5 if request['op'] == 'PUT' else 1.0), MIX,
                    r'^PUT: slower: median .* PUT\. .*time is at http://h2:9000 .* GET: slower: .* '
                    r'of the added time is at http://h2:9000 \(there \+1[45]\d %', 'client'),
}


FOUR = {'ops': (('GET', 45), ('STAT', 30), ('PUT', 15), ('DELETE', 10))}


class Answers(CliTest):
    def written(self, name, **how):
        path = self.tmp / f'{name}.csv'
        path.write_bytes(text(simulated(name, **how)))
        return path

    def sides(self, name, slower, before, after=None, n=6):
        side = lambda s, how: [self.written(f'{name.replace(" ", "-")}-{s}-{i}', **how) for i in range(n)]
        return ['--before', *side('before', before),
                '--after', *side('after', {**(before if after is None else after), 'slower': slower})]

    def answer(self, args):
        """Returns the answer, after checking that it is the same in all formats."""
        report = self.s3analyze('cmp', '--json', *args).json()
        said = report['answer']
        text_ = self.s3analyze('cmp', *args).out
        self.assertEqual(' '.join(text_.split('\n\n')[0].split()), said)
        self.assertLessEqual(max(map(len, text_.splitlines())), 80)
        markdown = self.s3analyze('cmp', '--markdown', *args).out
        plain = lambda s: re.sub(r'[^\w%]', '', html.unescape(s))
        self.assertIn(plain(said), plain(markdown.splitlines()[0]))
        notes = [r['verdict_text'] for r in csv.DictReader(io.StringIO(self.s3analyze('cmp', '--csv', *args).out))]
        self.assertIn(said, notes)
        page = self.tmp / 'page.html'
        self.s3analyze('cmp', '-q', '-f', '--html', page, *args)
        headline = html.unescape(re.search(r'class="headline">(.*?)</p>', page.read_text(), re.S)[1])
        self.assertIn(said.replace(' -> ', '\u00a0\u2192\u00a0'), headline)
        return said, report

    def test_five_runs_of_the_mix_of_s3load_decide(self):
        """Five runs a side show a change, even among twelve figures. Ranks could not: their p is never below 2 / 252."""
        said, report = self.answer(self.sides('mix', where('op', 'PUT', 1.6), FOUR, n=5))
        self.assertEqual(report['n_family'], 12)
        self.assertRegex(said, r'^PUT: slower: median duration ')

    def test_planted(self):
        for name, (slower, how, says, says_not) in PLANTED.items():
            with self.subTest(planted=name):
                said, _ = self.answer(self.sides(name, slower, how))
                self.assertRegex(said, says)
                self.assertNotRegex(said, says_not)

    def test_pairs_of_single_runs(self):
        """One run a side: a change that comes and goes has no useful interval; the answer says when it was."""
        planted = {
            'the first seconds': (lambda r, request: 3.0 if request['s'] < 2 else 1.0, {},
                                  r'^GET: differs in the first [12]\.\d s: durations there \+[12]\d\d %, elsewhere [+-]\d\.\d+ %; '
                                  'over all no change shown: ', 'alike| at http'),
            'the last seconds': (lambda r, request: 3.0 if request['s'] > 6 else 1.0, {},
                                 r'^GET: differs between [56]\.\d and \d\.\d s: durations there', 'alike| at http'),
            'worse and better': (lambda r, request: 2.0 if request['op'] == 'PUT' else .5, MIX,
                                 r'^PUT: differs: .* GET: differs: ', 'client| at http'),
            'everything': (where('op', 'GET', 1.5), {}, r'^GET: differs: .* -3\d\.\d % ', 'time is|differ:'),
            'nothing': (lambda r, request: 1.0, {}, r'^GET: (no change shown|the same)', 'differs|time is'),
        }
        for name, (slower, how, says, says_not) in planted.items():
            with self.subTest(planted=name):
                said, _ = self.answer([self.written(f'{name}-a', **how), self.written(f'{name}-b', slower=slower, **how)])
                self.assertRegex(said, says)
                self.assertNotRegex(said, says_not)

    def test_operations_that_fail_altogether(self):
        """Operations that stopped working come first; those that work again come before small changes. If there are many,
        the last ones are only counted."""
        ops = [f'OP{k:02}' for k in range(14)]
        rows = {fails: sorted(r._replace(error='refused' if r.op == fails else '')
                              for op in ops for r in steady(60, op=op, threads=2))
                for fails in ('', 'OP07')}
        good, bad = (self.put(f'{name}.csv', text(rows[fails])) for name, fails in (('good', ''), ('bad', 'OP07')))
        for sides, name in ((good, bad), 'after'), ((bad, good), 'before'):
            said, _ = self.answer(sides)
            self.assertRegex(said, rf'^OP07: no request of {name} succeeded[.] OP0[0-9]: ')
            self.assertRegex(said, r' \d+ more operations[.]')

    def test_chance_is_no_place(self):
        """With few requests some host or client always has most of the added time, by chance: none is named."""
        mix = {'ops': (('GET', 9), ('PUT', 1)), 'cv': 0}
        for seed in range(5):
            answer = self.s3analyze('cmp', '--json', self.written(f'few-{seed}-a', **mix),
                                    self.written(f'few-{seed}-b', slower=lambda r, request: 1.25, **mix)).json()
            self.assertEqual([o['where'] for o in answer['operations']], [[], []], answer['answer'])

    def test_errors_alone(self):
        """If nothing else changed, errors are the answer."""
        rows = simulated('errors')
        failing = [r._replace(error='503 Slow Down', bytes=0) if i % 50 == 0 else r for i, r in enumerate(rows)]
        a, b = self.tmp / 'fine.csv', self.tmp / 'failing.csv'
        a.write_bytes(text(rows))
        b.write_bytes(text(failing))
        self.assertRegex(self.answer([a, b])[0], r'^GET: differs: error rate 0 -> 2\.01 %, \+2\.\d\d points')
        self.assertRegex(self.answer([b, a])[0], r'^GET: differs: error rate 2\.01 -> 0 %, -2\.\d\d points')

    def test_sides_that_differ(self):
        """A setting that limits the comparison is part of the answer, with its values."""
        rows = simulated('threads')
        fewer = self.tmp / 'fewer.csv'
        fewer.write_bytes(text([r for r in rows if r.thread < 6]))
        said, _ = self.answer([self.written('threads'), fewer])
        self.assertRegex(said, r' The sides differ: concurrency 8 -> 6\.$')

    def test_other_sizes(self):
        """If sizes differ, bytes/s are shown and not judged."""
        args = self.sides('sizes', lambda r, request: 1.0, {}, {'sizes': (16384,)})
        said, report = self.answer(args)
        self.assertRegex(said, r'^GET: (no change shown|the same within 5 %): \S+ -> \S+ obj/s.*'
                               r'Object sizes differ, so bytes/s are not judged\. '
                               r'The sides differ: object size 64KiB -> 16KiB\.$')
        bytes_ = next(m for m in report['operations'][0]['metrics'] if m['metric'] == 'throughput')
        self.assertEqual(bytes_['verdict_text'], 'not judged (object sizes differ)')
        self.assertRegex(self.s3analyze('cmp', *args).out, r'\nThroughput \* .* not judged\n')

    def test_one_estimate(self):
        """The change is that of the values beside it."""
        args = self.sides('noise', lambda r, request: 1.0, {'cv': .15})
        report = self.s3analyze('cmp', '--json', *args).json()
        for m in report['operations'][0]['metrics']:
            change = 100 * (m['after']['value'] / m['before']['value'] - 1)
            shown = f'{change:+.2f}%' if abs(change) < 10 else f'{change:+.1f}%'
            self.assertRegex(self.s3analyze('cmp', *args).out, rf' {re.escape(shown)}  +~? ?\(p')

    def test_files_and_common_notices(self):
        args = self.sides('a', lambda r, request: 1.0, {})
        out = self.s3analyze('cmp', *args).out
        self.assertIn('\nbefore: 6 runs, a-before-0..5\nafter: 6 runs, a-after-0..5\n', out)
        self.assertNotIn(str(self.tmp), out)


class Configurations(CliTest):
    def test_a_duration_that_is_an_outcome(self):
        """No limit: durations that differ by little, or in runs of one number of requests."""
        def capture(name, n, took):
            path = self.tmp / f'{name}.csv'
            path.write_bytes(text([row(i * took * MS + t, (i + 1) * took * MS - 1000 + t, thread=t)
                                   for i in range(n) for t in range(2)]))
            return path

        def n_limits(a, b):
            return self.s3analyze('cmp', '--json', a, b).json()['n_limits']
        self.assertEqual(n_limits(capture('a', 2500, 10), capture('b', 2390, 10)), 0)
        self.assertEqual(n_limits(capture('a', 1000, 10), capture('b', 1000, 20)), 0)
        self.assertEqual(n_limits(capture('a', 1000, 10), capture('b', 2000, 10)), 1)


if __name__ == '__main__':
    unittest.main()
