"""Compares results with expected ones: integers and strings exactly, other numbers within 1e-9."""

import collections
import csv
import io
import json
import math

from harness import CliTest

RELATIVE = 1e-9
EXACT_COLUMNS = set('index objects_per_op bytes full_ops partial_ops ops_started ops_ended errors'
                    .split())


def same_number(e, a):
    return math.isfinite(a) and abs(e - a) <= RELATIVE * max(abs(e), abs(a))


def json_differences(expected, actual, at=''):
    """The parts of `expected` that `actual` lacks; `actual` may have more keys."""
    wrong = [f'{at}: expected {expected!r:.200}, got {actual!r:.200}']
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return wrong
        return [d for k, v in expected.items()
                for d in (json_differences(v, actual[k], f'{at}.{k}') if k in actual
                          else [f'{at}.{k}: missing, expected {v!r:.80}'])]
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return wrong
        return [d for i, (e, a) in enumerate(zip(expected, actual))
                for d in json_differences(e, a, f'{at}[{i}]')]
    if isinstance(expected, float):
        is_number = isinstance(actual, (int, float)) and not isinstance(actual, bool)
        return [] if is_number and same_number(expected, actual) else wrong
    return [] if type(expected) is type(actual) and expected == actual else wrong


def read_table(text, delimiter='\t'):
    """Rows of a time series as dictionaries of strings."""
    return list(csv.DictReader(io.StringIO(text, newline=''), delimiter=delimiter))


def _cell_differs(column, e, a):
    if a is None or column in EXACT_COLUMNS or str(e) == a:
        return str(e) != a
    try:
        return not same_number(float(e), float(a))
    except ValueError:
        return True


def table_differences(expected, actual):
    """As json_differences, for rows of dictionaries; `actual` holds strings."""
    out = []
    if len(expected) != len(actual):
        out.append(f'expected {len(expected)} rows, got {len(actual)}')
    for i, (e, a) in enumerate(zip(expected, actual)):
        out += [f'row {i} {k}: expected {v!r}, got {a.get(k)!r}' for k, v in e.items()
                if _cell_differs(k, v, a.get(k))]
    return out


def figures(raw):
    """`operations` and `total` of a report as text, every digit as printed."""
    report = json.loads(raw, parse_float=lambda digits: f'float {digits}')
    return json.dumps({k: report[k] for k in ('operations', 'total')}, indent=1)


def listing(differences, limit=15):
    more = len(differences) - limit
    return '\n'.join(differences[:limit] + ([f'... {more} more'] if more > 0 else []))


def assert_same(differences, note=''):
    if differences:
        raise AssertionError(f'{note}\n{listing(differences)}')


class Report:
    """The output of one run of `s3analyze analyze`: JSON and series."""

    def __init__(self, run, series_path):
        self.raw = run.raw
        self.json = run.json()
        self.operations = {o['op']: o for o in self.json['operations']}
        self.series = read_table(series_path.read_text())
        self.by_host = {}
        n_series = collections.Counter()
        for r in self.series:
            n_series[r['op']] += r['index'] == '0'
            # All hosts together come first.
            host = None if n_series[r['op']] == 1 else r['host']
            self.by_host.setdefault((r['op'], host), []).append(r)

    def rows(self, op, host=None):
        """Series of one operation ('' : the cluster total), of all hosts together or of one host."""
        return self.by_host.get((op, host), [])


class ReportTest(CliTest):
    """A test that writes captures and looks at their analysis."""

    def write(self, data, name='capture.csv.zst'):
        return super().put(name, data)

    def analyze(self, data, *options, **kwargs):
        """The Report of a capture given as bytes (or as a path)."""
        path = self.write(data) if isinstance(data, bytes) else data
        series = self.tmp / 'series.tsv'
        run = self.s3analyze('analyze', '--json', '--analyze.out', series, '--analyze.out.total',
                             *options, path, **kwargs)
        return Report(run, series)

    def fails(self, data, *options, name='capture.csv.zst'):
        """The message of an analysis that must fail with status 1."""
        r = self.s3analyze('analyze', *options, self.write(data, name), status=1)
        self.assertEqual(r.out, '')
        return r.err

    def assert_fits_oracle(self, report, oracle, note=''):
        expected = oracle.report()
        assert_same(json_differences(expected, report.json), note)
        actual = [r for r in report.series if r['op']]
        assert_same(table_differences(oracle.series(), actual), note)
