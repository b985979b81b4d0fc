"""Recorded captures give exactly the results of an independent implementation of the semantics."""

import json
import unittest

from expect import json_differences, listing, read_table, table_differences
from harness import GOLDEN, SHARED, CliTest, capture

# Captures that a golden's name stands for, if not one of the same name.
INPUTS = {'merged-1-2': ['merge-in-1', 'merge-in-2']}


def options(variant):
    """Command-line options that the middle part of a golden's name stands for."""
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


class Golden(CliTest):
    def check_golden(self, name, variant, report_path, series_path):
        inputs = [capture(n) for n in INPUTS.get(name, [name])]
        out = self.tmp / 'series.tsv'
        r = self.s3analyze('analyze', '--json', '--analyze.out', out, *options(variant), *inputs)
        expected = json.loads(report_path.read_text())
        differences = json_differences(expected, r.json())
        self.assertFalse(differences, listing(differences))
        if series_path:
            expected = read_table(series_path.read_text())
            differences = table_differences(expected, read_table(out.read_text()))
            self.assertFalse(differences, listing(differences))

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
