"""docs/json-statistics.md names every key, and its examples are what the commands print."""

import json
import re
import shlex
import unittest

from expect import assert_same, json_differences
from harness import ROOT, CliTest, capture

DOC = ROOT / 'docs' / 'json-statistics.md'


def keys(value):
    """The keys of all objects in it, without evidence, which differs by kind of finding."""
    if isinstance(value, dict):
        return set(value).union(*(keys(v) for k, v in value.items() if k != 'evidence'))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


class Schemas(CliTest):
    @staticmethod
    def path(name):
        return DOC.parent / 'examples' / 'tiny.csv' if name == 'tiny' else capture(name)

    def check_keys(self, value):
        words = set(re.findall(r'[a-z0-9_]+', DOC.read_text()))
        self.assertEqual(sorted(keys(value) - words), [])

    def test_examples(self):
        found = re.findall(r'^    s3analyze (.*)\n\nprints \[(\S+)\]', DOC.read_text(), re.M)
        self.assertEqual(len(found), 4)
        for command, path in found:
            with self.subTest(example=path):
                example = json.loads((DOC.parent / path).read_text())
                got = self.s3analyze(*shlex.split(command), cwd=ROOT).json()
                assert_same(json_differences(example, got))
                self.assertEqual(keys(got), keys(example))
                self.check_keys(example)

    def test_keys_of_statistics(self):
        report = self.s3analyze('analyze', '--json', '--co-interval', '1ms',
                                capture('mixed-3hosts')).json()
        self.check_keys([o['statistics'] for o in report['operations']])

    def test_keys_of_reports(self):
        runs = [['get-errors'], ['mixed-3hosts'], ['get-randsize'], ['s3load-open-loop'], ['list'],
                ['merge-in-1', 'merge-in-2'], ['tiny']]
        for names in runs:
            with self.subTest(captures=names):
                report = self.s3analyze('analyze', '--json', *map(self.path, names)).json()
                self.check_keys(report)
        info = self.s3analyze('info', '--json', capture('s3load-open-loop')).json()
        self.assertTrue(info['captures'][0]['s3load'])
        self.check_keys(info)

    def test_keys_of_groups(self):
        a, b = capture('get-errors'), capture('get-randsize')
        report = self.s3analyze('cmp', '--json', '-v', '--before', a, '--after', b).json()
        self.check_keys(report)


if __name__ == '__main__':
    unittest.main()
