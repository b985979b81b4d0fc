"""Recorded captures give exactly the results of an independent implementation."""

import csv
import difflib
import io
import json
import re
import unittest
from itertools import permutations

import zstd
from expect import assert_same, json_differences, read_table, table_differences
from harness import GOLDEN, ROOT, SHARED, CliTest, capture
from oracle import Analysis, parse

# The captures of goldens that are not named after one capture.
INPUTS = {'merged-1-2': ['merge-in-1', 'merge-in-2']}


def options(variant):
    """The command-line options of a variant (the middle part of a golden's name)."""
    if variant.startswith('dur'):
        return ['--analyze.dur', variant[3:]]
    if variant.startswith('skip'):
        return ['--analyze.skip', variant[4:]]
    if variant.startswith('op-'):
        return ['--analyze.op', variant[3:]]
    if variant.startswith('host-'):
        return ['--analyze.host', 'http://127.0.0.1:' + variant[5:]]
    return []


def goldens():
    """(capture, variant) -> (path of the analysis, path of the series or None)."""
    found = {}
    for folder in (SHARED / 'golden', GOLDEN):
        for path in sorted(folder.glob('*.analysis.json')):
            name, _, variant = path.name[:-len('.analysis.json')].partition('.')
            series = path.with_name(path.name.replace('.analysis.json', '.segments.tsv'))
            found[name, variant] = path, series if series.exists() else None
    return found


def known_to_oracle(variant):
    """The same as arguments of the oracle."""
    known = {}
    for option, value in zip(*[iter(options(variant))] * 2):
        number = re.fullmatch(r'(\d+)(m?)s', value)
        known[option.rpartition('.')[2]] = int(number[1]) * 10**(6 if number[2] else 9) if number else value
    return known


def as_table(rows):
    out = io.StringIO()
    table = csv.DictWriter(out, rows[0], delimiter='\t', lineterminator='\n')
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def update():
    """Writes the goldens of testdata/ anew as the oracle, never the program, would have them, and yields what
    becomes different as text."""
    for (name, variant), paths in goldens().items():
        if not paths[0].is_relative_to(GOLDEN):
            continue
        text = ''.join(zstd.decodable(capture(n).read_bytes()).decode() for n in INPUTS.get(name, [name]))
        analysis = Analysis(parse(text), **known_to_oracle(variant))
        texts = json.dumps(analysis.report(), indent=1) + '\n', as_table(analysis.series())
        for path, new, read, compare in zip(paths, texts, (json.loads, read_table), (json_differences, table_differences)):
            # Both ways round: keys that came, and keys that went.
            if path is not None and any(compare(*pair) for pair in permutations((read(path.read_text()), read(new)))):
                title = path.relative_to(ROOT).as_posix()
                old = path.read_text().splitlines(True)
                yield ''.join(difflib.unified_diff(old, new.splitlines(True), title, title))
                path.write_text(new)


class Golden(CliTest):
    def check_golden(self, name, variant, report_path, series_path):
        inputs = [capture(n) for n in INPUTS.get(name, [name])]
        out = self.tmp / 'series.tsv'
        r = self.s3analyze('analyze', '--json', '--analyze.out', out, *options(variant), *inputs)
        expected = json.loads(report_path.read_text())
        assert_same(json_differences(expected, r.json()))
        if series_path:
            expected = read_table(series_path.read_text())
            assert_same(table_differences(expected, read_table(out.read_text())))

    def test_there_are_goldens(self):
        self.assertTrue(goldens())


def add_tests():
    for (name, variant), paths in goldens().items():
        def test(self, name=name, variant=variant, paths=paths):
            self.check_golden(name, variant, *paths)
        title = f'test_{name}_{variant}'.rstrip('_').replace('-', '_')
        setattr(Golden, title, test)


add_tests()

if __name__ == '__main__':
    unittest.main()
