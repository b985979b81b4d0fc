"""Aggregated captures for tests, as a recorder since 2025 would have written them for given requests.

Made from oracle.Row by the rules of docs/aggregated-captures.md, mistakes included: labels two seconds early,
failed requests among the bytes. Requests have one size each (groups of a single size)."""

import csv
import json
import math
from fractions import Fraction

import zstd
from oracle import SECOND, format_time, parse_time


def stamp(ns):
    return format_time(ns)[:-11] + 'Z' if ns % SECOND == 0 else format_time(ns)


def spread(rows, seconds):
    """Bytes and objects of each second; a request's are spread evenly over its time."""
    out = {s: [Fraction(0), Fraction(0), 0, 0] for s in seconds}
    for r in rows:
        length = r.end - r.start
        for s in range(r.start // SECOND, max(r.start, r.end - 1) // SECOND + 1):
            if s not in out:
                continue
            inside = min(r.end, (s + 1) * SECOND) - max(r.start, s * SECOND)
            share = Fraction(inside, length) if length else 1
            out[s][0] += share * r.bytes
            out[s][1] += share * r.n_objects
        if r.start // SECOND in out:
            out[r.start // SECOND][2] += 1
            out[r.start // SECOND][3] += bool(r.error)
    return out


def true_seconds(rows):
    """The true seconds of the series: all clock seconds but the first two and the last two."""
    first = min(r.start for r in rows) // SECOND + 2
    return range(first, max(r.end for r in rows) // SECOND - 1)


def number(x):
    return int(x) if x == int(x) else float(x)


def throughput(rows):
    seconds = true_seconds(rows)
    first = min(r.start for r in rows) // SECOND * SECOND
    out = {'start_time': stamp(first), 'end_time': stamp(first + 4 * SECOND), 'errors': 0,
           'measure_duration_millis': 0, 'bytes': 0, 'objects': 0, 'ops': 0}
    if len(seconds) == 0:
        return out
    parts = spread(rows, seconds)
    segments = []
    for s in seconds:
        n_bytes, n_objects, _, errors = parts[s]
        segment = {'start': stamp((s - 2) * SECOND), 'bytes_per_sec': int(n_bytes),
                   'obj_per_sec': number(round(float(n_objects), 2))}
        segments.append({**segment, 'errors': errors} if errors else segment)
    total = [sum(parts[s][k] for s in seconds) for k in range(4)]
    return {'start_time': stamp(seconds[0] * SECOND), 'end_time': stamp((seconds[-1] + 5) * SECOND),
            'segmented': {'segments': segments, 'segment_duration_millis': 1000, 'sorted_by': 'ops'},
            'errors': total[3], 'measure_duration_millis': 1000 * len(seconds),
            'bytes': number(total[0]), 'objects': number(total[1]), 'ops': total[2]}


def rank(values, percent):
    at = math.floor(len(values) * percent / 100 + 0.5)
    return values[min(at, len(values) - 1)]


def groups(rows):
    """Ten seconds each, from the second in which the first request ended."""
    origin = min(r.end for r in rows) // SECOND
    out = []
    for k in range((max(r.end for r in rows) // SECOND - origin) // 10 + 1):
        inside = [r for r in rows if (r.end // SECOND - origin) // 10 == k]
        ms = sorted((r.end - r.start) / 1e6 for r in inside)
        n = len(ms)
        start = (origin + 10 * k) * SECOND
        single = dict.fromkeys(('dur_median_millis', 'fastest_millis', 'slowest_millis', 'std_dev_millis',
                                'dur_99_millis', 'dur_90_millis', 'dur_avg_millis', 'requests', 'obj_size'), 0)
        if n == 0:
            single['skipped'] = True
        else:
            mean = math.fsum(ms) / n
            deviation = math.sqrt(math.fsum((x - mean)**2 for x in ms) / (n - 1)) if n > 1 else 0
            single.update(requests=n, obj_size=inside[0].bytes, dur_avg_millis=mean, std_dev_millis=deviation,
                          fastest_millis=ms[0], slowest_millis=ms[-1], dur_median_millis=rank(ms, 50),
                          dur_90_millis=rank(ms, 90), dur_99_millis=rank(ms, 99))
        out.append({'start_time': stamp(start), 'end_time': stamp(start + 10 * SECOND),
                    'single_sized_requests': single})
    return out


def by(rows, attribute):
    out = {}
    for r in rows:
        out.setdefault(getattr(r, attribute), []).append(r)
    return dict(sorted(out.items()))


def party(rows):
    return {'start_time': stamp(min(r.start for r in rows)), 'end_time': stamp(max(r.end for r in rows)),
            'errors': sum(bool(r.error) for r in rows), 'measure_duration_millis': 1,
            'bytes': sum(r.bytes for r in rows), 'objects': sum(r.n_objects for r in rows), 'ops': len(rows)}


def entry(rows, title):
    failed = [r.error for r in sorted(rows, key=lambda r: r.end) if r.error]
    return {
        'Title': title,
        'total_requests': len(rows), 'total_objects': sum(r.n_objects for r in rows),
        'total_errors': len(failed), 'total_bytes': sum(r.bytes for r in rows),
        'concurrency': len({(r.client, r.thread) for r in rows}),
        'start_time': stamp(min(r.start for r in rows)), 'end_time': stamp(max(r.end for r in rows)),
        'first_errors': failed[:10] or None,
        'hosts': list(by(rows, 'host')), 'clients': list(by(rows, 'client')),
        'throughput': throughput(rows),
        'throughput_by_host': {k: party(v) for k, v in by(rows, 'host').items()},
        'throughput_by_client': {k: party(v) for k, v in by(rows, 'client').items()},
        'requests_by_client': {k: groups(v) for k, v in by(rows, 'client').items()},
    }


def aggregate(rows, command='warp get --host=h0:9000 --duration=10s'):
    """The document as a dict."""
    sizes = {}
    for r in rows:
        if r.bytes:
            sizes.setdefault(str(r.bytes.bit_length()), []).append(r)
    return {
        'v': 2, 'commandline': command, 'final': True, 'total': entry(rows, 'Total'),
        'by_op_type': {k: entry(v, k) for k, v in by(rows, 'op').items()},
        'by_host': {k: entry(v, k) for k, v in by(rows, 'host').items()},
        'by_obj_log_2_size': {k: entry(v, k) for k, v in sorted(sizes.items())},
        'by_client': {k: entry(v, k) for k, v in by(rows, 'client').items()},
    }


def text(document):
    return json.dumps(document, indent=2).encode() + b'\n'


def packed(document):
    return zstd.frame(text(document))


# ---- What s3analyze says of such a file, in the words of the file ----

def counters(x, amounts):
    return {'n_requests': x['n_requests'], 'n_errors': x['n_errors'], **{k: amounts[k] for k in ('n_bytes', 'n_objects')}}


def second(row):
    return {'start': parse_time(row['start_time']), 'bytes_per_sec': int(row['bytes']),
            'obj_per_sec': float(row['objs_per_sec']), 'errors': int(row['errors'])}


def ms(ns):
    return None if ns is None else ns / 1e6


def latency(requests):
    if requests is None:
        return {'kind': 'none'}
    times = requests if requests['single_size'] else requests['all_sizes']
    out = {'kind': 'single' if requests['single_size'] else 'multi', 'n_requests': requests['n'],
           'complete': times['mean_ns'] is not None, 'mean_ms': ms(times['mean_ns']),
           'percentiles': None if times['p50_ns'] is None else {f'{k}_ms': ms(times[f'{k}_ns']) for k in ('p50', 'p90', 'p99')}}
    if not requests['single_size']:
        return {**out, 'classes': [{**{k: s[k] for k in ('min_bytes', 'max_bytes', 'fastest_bytes_per_s', 'slowest_bytes_per_s')},
                                    'n_requests': s['n'], 'mean_ms': ms(s['mean_ns'])} for s in requests['sizes']]}
    groups = [{**g, 'start': g['start'] and parse_time(g['start']), 'obj_size': g['object_bytes'],
               'ttfb': g['ttfb'] and {k[len('ttfb_'):]: v for k, v in g['ttfb'].items()}} for g in requests['groups']]
    return {**out, 'stddev_ms': ms(times['stddev_ns']), 'min_ms': ms(times['fastest_ns']), 'max_ms': ms(times['slowest_ns']),
            'n_groups': len(groups), 'groups': groups,
            **{f'{k}_of_groups_ms': [ms(v) for v in requests[f'{k}_of_groups_ns']] for k in ('p50', 'p90', 'p99')}}


def window(segments, codes):
    if segments is None:
        return None
    pick = lambda x: {'start': parse_time(x['start']), 'bytes_per_sec': x['bytes_per_s'], 'obj_per_sec': x['objects_per_s']}
    return {'start': parse_time(segments['mean']['start']), 'n_seconds': segments['n'],
            'by': segments['sorted_by'].removesuffix('_per_s'), 'label_shift_s': 2 * ('label-shift' in codes),
            'label_shift_sure': 'label-shift-unsure' not in codes, 'complete': 'seconds-lost' not in codes,
            'early_requests_missing': 'early-missing' in codes,
            **{f'mean_{k}': segments['mean'][k] for k in ('bytes_per_s', 'objects_per_s')},
            **{k: pick(segments[k]) for k in ('fastest', 'median', 'slowest')}}


def whole(x):
    """x with whole numbers as integers."""
    if isinstance(x, dict):
        return {k: whole(v) for k, v in x.items()}
    if isinstance(x, list):
        return [whole(v) for v in x]
    return number(x) if isinstance(x, float) else x


def shown(analysis, series):
    """The figures of analyze --json and of the lines of --out FILE.csv as a dict, each with its name in the file."""
    table = list(csv.DictReader(series.splitlines()))
    rows = lambda key, name: [second(r) for r in table if r[key] == name and (key == 'op' or r['op'] == '')]
    out = {'operations': {}}
    for op in analysis['operations']:
        codes = {w['code'] for w in analysis['warnings'] if w['op'] in (None, op['op'])}
        t = op['throughput'] or dict.fromkeys(('n_bytes', 'n_objects', 'bytes_per_s', 'objects_per_s'))
        rates = {f'mean_{k}': t[k] for k in ('bytes_per_s', 'objects_per_s')} if op['n_errors'] == 0 else {}
        out['operations'][op['op']] = {
            **counters(op, op), **rates, 'threads': op['concurrency'], 'start': parse_time(op['start']),
            'end': parse_time(op['end']), 'ok_bytes': t['n_bytes'], 'ok_objects': t['n_objects'],
            'preparation': 'preparation' in codes, 'window': window(op['segments'], codes),
            'latency': latency(op['requests']), 'n_hosts': op['n_hosts'],
            # A single host or client has the figures of the operation.
            'hosts': [{'name': h['host'], **counters(h, h['throughput'])} for h in op['hosts']],
            'clients': [{'name': c['client'], **counters(c, c['throughput']),
                         'start': c['first_start'] and parse_time(c['first_start']),
                         'end': c['last_end'] and parse_time(c['last_end'])} for c in op['clients']],
            'seconds': rows('op', op['op'])}
    for key in 'host', 'client_id':
        out[f'by_{key.removesuffix("_id")}'] = {
            n: rows(key, n) for n in dict.fromkeys(r[key] for r in table if r['op'] == '') if n}
    return whole(out)
