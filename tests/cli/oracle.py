"""A second, slow implementation of docs/how-the-numbers-are-made.md, sections 2 to 5, in exact arithmetic.

It reads like the text that it implements, and shares no code with the program: if both agree, two implementations
understood the text in the same way. analyze() returns the documented part of the JSON report, series() the time series.
Only for small captures."""

import bisect
import calendar
import functools
import math
import time
from collections import namedtuple
from fractions import Fraction

Row = namedtuple('Row', 'start thread end op host file bytes client n_objects error first last')

SECOND = 10**9
LENGTHS = [n * SECOND for n in (1, 5, 15, 60, 300, 900, 3600, 10800)]
EDGES = [0, 1, 10, 100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 10 << 20, 100 << 20, 1 << 30,
         10 << 30, 100 << 30, 1 << 40]


# Capture text -> rows

@functools.lru_cache(maxsize=4096)
def parse_second(text):
    return calendar.timegm(time.strptime(text, '%Y-%m-%dT%H:%M:%S'))


def parse_time(text):
    """ns since the Unix epoch of an RFC 3339 time, None of an empty one."""
    if not text:
        return None
    zone = 0
    if text.endswith('Z'):
        text = text[:-1]
    else:
        sign = -1 if text[-6] == '-' else 1
        zone = sign * (int(text[-5:-3]) * 60 + int(text[-2:])) * 60
        text = text[:-6]
    text, _, fraction = text.partition('.')
    return (parse_second(text) - zone) * SECOND + int((fraction + '000000000')[:9])


@functools.lru_cache(maxsize=4096)
def format_second(s):
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(s))


def format_time(ns):
    return format_second(ns // SECOND) + '.%09dZ' % (ns % SECOND)


def split_row(text, at, delimiter):
    """Fields of the row at text[at:] and where the next one begins, by RFC 4180."""
    fields = []
    while True:
        quoted = text.startswith('"', at)
        if quoted:
            at, field = at + 1, ''
            while True:
                end = text.index('"', at)
                field += text[at:end]
                at = end + 1
                if not text.startswith('"', at):
                    break
                field += '"'
                at += 1
        ends = [e for e in (text.find(delimiter, at), text.find('\n', at)) if e >= 0]
        end = min(ends, default=len(text))
        fields.append(field if quoted else text[at:end].rstrip('\r'))
        at = end + 1
        if end == len(text) or text[end] == '\n':
            return fields, at


def parse(text):
    """Rows of a well-formed capture."""
    rows, names, base, top, delimiter, at = [], None, 0, -1, '\t', 0
    while at < len(text):
        if text[at] in '#\r\n':
            at = text.find('\n', at) + 1 or len(text)
            continue
        if text.startswith(('idx\t', 'idx,'), at):
            delimiter = text[at + 3]
            names, at = split_row(text, at, delimiter)
            base = top + 1
            continue
        fields, at = split_row(text, at, delimiter)
        f = dict(zip(names, fields))
        thread = base + int(f['thread'])
        top = max(top, thread)
        rows.append(Row(parse_time(f['start']), thread, parse_time(f['end']), f['op'],
                        f.get('endpoint', ''), f['file'], int(f['bytes']), f.get('client_id', ''),
                        int(f.get('n_objects') or 1), f['error'],
                        parse_time(f.get('first_byte', '')), parse_time(f.get('last_byte', ''))))
    return rows


# Active ranges, segments, attribution

def order(r):
    return (r.start, r.thread, r.end, r.op, r.host, r.bytes, r.n_objects)


def rank(x, percent):
    """Q(percent/100) of the sorted list x."""
    return x[min((2 * len(x) * percent + 100) // 200, len(x) - 1)]


def bounds(rows, single):
    """Start and end of the active range; start > end: empty."""
    if single:
        starts = [r.start for r in rows]
        s0, s1 = min(starts), max(starts)
        start = min((s for s in starts if s > s0), default=s1)
        end = max((r.end for r in rows if r.end < s1), default=s0)
    else:
        first_end, last_start = {}, {}
        for r in rows:
            first_end[r.thread] = min(first_end.get(r.thread, r.end), r.end)
            last_start[r.thread] = max(last_start.get(r.thread, r.start), r.start)
        start, end = max(first_end.values()), min(last_start.values())
    return start, end


def active_range(rows, single):
    """The active range, or None if it is too short."""
    if not rows:
        return None
    start, end = bounds(rows, single)
    return (start, end) if end - start > 1 else None


def segment_length(full):
    return next((d for d in LENGTHS if full // d <= 400), LENGTHS[-1])


def grid(active, d):
    """Starts of the whole segments of length d in an active range."""
    out, t = [], active[0]
    while t < active[1] - d:
        out.append(t)
        t += d
    return out


@functools.cache
def in_seconds(ns):
    return Fraction(ns, SECOND)


class Segment:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.bytes = self.full = self.partial = self.started = self.ended = self.errors = 0
        self.objects = 0
        self.durations = []

    def add(self, r):
        a, b = self.a, self.b
        if not (r.start < b and r.end >= a):
            return
        started, ended = r.start >= a, r.end < b
        if r.error:
            self.errors += ended
        if not r.error and started and ended:
            self.full += 1
            self.started += 1
            self.ended += 1
            self.objects += r.n_objects
            self.bytes += r.bytes
        elif not (started and ended):
            self.partial += 1
            self.started += started
            self.ended += ended
            if not r.error:
                length = r.end - r.start
                lo, hi = max(a, r.start) - r.start, min(b, r.end) - r.start
                self.bytes += r.bytes * hi // length - r.bytes * lo // length
                self.objects += Fraction(r.n_objects * (hi - lo), length)
        if not r.error and ended:
            self.durations.append(r.end - r.start)

    def rate(self, by_objects):
        amount = self.objects if by_objects else self.bytes
        return amount and amount / in_seconds(self.b - self.a)


def attribute(rows, starts, d):
    """One Segment per start."""
    out = [Segment(a, a + d) for a in starts]
    for r in rows:
        first = max(bisect.bisect_right(starts, r.start) - 1, 0)
        for s in out[first:]:
            if s.a > r.end:
                break
            s.add(r)
    return out


# Averages; fastest, median and slowest

def throughput(rows, single):
    """The total of a set, or None."""
    good = [r for r in rows if not r.error]
    active = active_range(good, single)
    if not active:
        return None
    start, length = active[0], active[1] - active[0] - 1
    s = Segment(start, start + length)
    for r in good:
        s.add(r)
    seconds = Fraction(length, SECOND)
    return {'start': format_time(start), 'duration_ns': length, 'n_bytes': s.bytes,
            'n_objects': float(s.objects), 'full_ops': s.full, 'partial_ops': s.partial,
            'ops_ended': s.ended, 'errors': len(rows) - len(good),
            'bytes_per_s': float(s.bytes / seconds), 'objects_per_s': float(s.objects / seconds),
            'ops_ended_per_s': float(s.ended / seconds)}


def segments(parts, d, total):
    """Fastest, median and slowest of a series, or None. `total`: throughput of the same set."""
    if len(parts) < 2:
        return None
    by_objects = not (total and total['n_bytes'] > 0)
    x = sorted(parts, key=lambda s: (s.rate(by_objects), s.a))
    pick = {name: {'start': format_time(s.a), 'bytes_per_s': float(s.rate(False)),
                   'objects_per_s': float(s.rate(True))}
            for name, s in (('fastest', rank(x, 100)), ('median', rank(x, 50)), ('slowest', x[0]))}
    return {'duration_ns': d, 'n': len(x),
            'sorted_by': 'objects_per_s' if by_objects else 'bytes_per_s', **pick}


# Single requests

def ttfb_of(r):
    if r.last is not None:
        return r.end - r.last
    return r.first - r.start if r.first is not None else None


def mean_stddev(x):
    mean = Fraction(sum(x), len(x))
    if len(x) < 2:
        return float(mean), None
    variance = Fraction(sum(v * v for v in x) * len(x) - sum(x) ** 2, len(x) * (len(x) - 1))
    scale = 10**30
    return float(mean), math.isqrt(int(variance * scale * scale)) / scale


def ttfb(rows):
    x = sorted(t for t in map(ttfb_of, rows) if t is not None)
    if not x:
        return None
    mean, stddev = mean_stddev(x)
    return {'n': len(x), 'mean_ns': mean, 'stddev_ns': stddev, 'best_ns': x[0],
            'p25_ns': rank(x, 25), 'p50_ns': rank(x, 50), 'p75_ns': rank(x, 75),
            'p90_ns': rank(x, 90), 'p99_ns': rank(x, 99), 'worst_ns': rank(x, 100)}


def durations(rows):
    if not rows:
        return None
    x = sorted(r.end - r.start for r in rows)
    mean, stddev = mean_stddev(x)
    return {'n': len(x), 'mean_ns': mean, 'stddev_ns': stddev, 'p50_ns': rank(x, 50),
            'p90_ns': rank(x, 90), 'p99_ns': rank(x, 99), 'fastest_ns': x[0], 'slowest_ns': x[-1],
            'ttfb': ttfb(rows)}


def sized(rows):
    if not rows:
        return None
    n = len(rows)
    rated = [r for r in rows if r.bytes > 0 and r.end > r.start]
    x = sorted((Fraction(r.bytes * SECOND, r.end - r.start) for r in rated), reverse=True)
    out = {'n': n, 'n_unrated': n - len(rated),
           'mean_bytes': float(Fraction(sum(r.bytes for r in rows), n)),
           'mean_ns': float(Fraction(sum(r.end - r.start for r in rows), n))}
    rates = [('p50', 50), ('p90', 90), ('p99', 99), ('fastest', 0), ('slowest', 100)]
    if x:
        out['mean_bytes_per_s'] = float(Fraction(sum(r.bytes for r in rated) * SECOND,
                                                 sum(r.end - r.start for r in rated)))
        out.update((name + '_bytes_per_s', float(rank(x, p))) for name, p in rates)
    out['ttfb'] = ttfb(rows)
    return out


def per_object(rows, last=False):
    """First (or last) request of each object, and whether any object occurs twice."""
    seen, again = {}, False
    for r in sorted(rows, key=order):
        if r.file:
            again = again or r.file in seen
            if last or r.file not in seen:
                seen[r.file] = r
    return list(seen.values()), again


def buckets(sizes):
    """Joined size buckets [(lo, hi)], hi None above the last edge; `sizes` sorted."""
    need = max(1, len(sizes) // 20)
    count = lambda lo, hi: (len(sizes) if hi is None else bisect.bisect_left(sizes, hi)) \
        - bisect.bisect_left(sizes, lo)
    edges = EDGES + [None]
    i = bisect.bisect_right(EDGES, sizes[0]) - 1
    out, lo = [], edges[i]
    while edges[i] is not None:
        hi = edges[i + 1]
        if count(lo, hi) >= need:
            out.append((lo, hi))
            lo = hi
        i += 1
        if hi is None or hi > sizes[-1]:
            break
    if lo is not None and lo <= sizes[-1]:
        top = next((e for e in EDGES if e > sizes[-1]), None)
        if out and out[-1][1] == lo:
            out[-1] = (out[-1][0], top)
        else:
            out.append((lo, top))
    return out


def requests(rows, single):
    good = [r for r in rows if not r.error]
    active = active_range(good, single)
    kept = [r for r in good if active and r.start >= active[0] and r.end <= active[1]]
    if not kept:
        return None
    hosts = sorted({r.host for r in rows}, key=lambda h: h.encode())
    one_size = len({r.bytes for r in good}) == 1
    stats = durations if one_size else sized
    per_host = [(h, stats([r for r in kept if r.host == h])) for h in hosts] if len(hosts) > 1 else []
    per_host = [{'host': h, **s} for h, s in per_host if s]
    per_host = per_host if len(per_host) > 1 else []
    if one_size:
        first, again = per_object(good)
        last, _ = per_object(good, True)
        return {**durations(kept), 'single_size': True, 'object_size_bytes': good[0].bytes,
                'first_access': durations(first) if again else None,
                'last_access': durations(last) if again else None, 'hosts': per_host}
    out = {'n': len(kept), 'single_size': False, 'hosts': per_host, 'sizes': [],
           'all_sizes': durations(kept),
           'mean_bytes': float(Fraction(sum(r.bytes for r in kept), len(kept)))}
    for lo, hi in buckets(sorted(r.bytes for r in kept)):
        inside = lambda r: r.bytes >= lo and (hi is None or r.bytes < hi)
        all_of_size = [r for r in good if inside(r)]
        first, again = per_object(all_of_size)
        of_size = list(filter(inside, kept))
        out['sizes'].append({'min_bytes': lo, 'max_bytes': hi, **sized(of_size),
                             'duration': {k: v for k, v in (durations(of_size) or {}).items() if k != 'ttfb'},
                             'first_access': sized(first) if again else None})
    return out


# What is dropped

def is_mixed(rows):
    spans = {}
    for r in rows:
        lo, hi = spans.get(r.op, (r.start, r.end))
        spans[r.op] = min(lo, r.start), max(hi, r.end)
    last = None  # the one that ends last
    for lo, hi in sorted(spans.values()):
        overlap = 0 if last is None else min(last[1], hi) - lo
        if overlap > 0 and 10 * overlap >= min(hi - lo, last[1] - last[0]):
            return True
        if last is None or hi > last[1]:
            last = lo, hi
    return False


class Analysis:
    """All of it applied: what report() and series() need."""

    def __init__(self, rows, dur=0, skip=0, op=None, host=None):
        rows = [r for r in rows if host is None or r.host == host]
        whole = is_mixed(rows)
        if op is not None:
            rows = [r for r in rows if r.op == op]
        self.n_rows = len(rows)
        self.mixed = is_mixed(rows)
        prefiltered = host is not None or (op is not None and whole)
        ops = sorted({r.op for r in rows}, key=lambda o: o.encode())
        if not self.mixed:
            ops.sort(key=lambda o: min(order(r) for r in rows if r.op == o))
        if skip:
            first = {o: min(r.start for r in rows if r.op == o) for o in ops}
            rows = [r for r in rows if r.start >= first[r.op] + skip]
        errors = any(r.error for r in rows)
        self.single = prefiltered or errors or self.mixed
        if errors:
            clients = {r.client for r in rows}
            if len(clients) > 1:
                spans = [bounds([r for r in rows if r.client == c], True) for c in clients]
                lo, hi = max(s[0] for s in spans), min(s[1] for s in spans)
                rows = [r for r in rows if r.start >= lo and r.end <= hi]
        elif self.mixed and rows:
            lo, hi = bounds(rows, prefiltered)
            rows = [r for r in rows if r.start >= lo and r.end <= hi]
        self.rows, self.ops, self.dur = sorted(rows, key=order), ops, dur

    def cut(self, rows):
        """(grid starts, segment length) of a set; no starts where it has no range."""
        if not rows:
            return [], 0
        d = self.dur or segment_length(max(r.end for r in rows) - min(r.start for r in rows))
        active = active_range(rows, self.single)
        return (grid(active, d) if active else []), d

    def hosts(self, rows):
        return sorted({r.host for r in rows}, key=lambda h: h.encode())

    def host_results(self, rows, starts, d):
        hosts = self.hosts(rows)
        out = []
        for h in hosts if len(hosts) > 1 else []:
            own = [r for r in rows if r.host == h]
            total = throughput(own, True)
            out.append({'host': h, 'throughput': total,
                        'segments': segments(attribute(own, starts, d), d, total)})
        return out

    def operation(self, op):
        rows = [r for r in self.rows if r.op == op]
        if not rows:
            return {'op': op, 'n_requests': 0, 'skipped': 'no requests left'}
        good = [r for r in rows if not r.error]
        starts, d = self.cut(rows)
        total = throughput(rows, self.single)
        segs = segments(attribute(rows, starts, d), d, total) if total else None
        return {'op': op, 'n_requests': len(rows), 'n_errors': len(rows) - len(good),
                'n_objects': sum(r.n_objects for r in good), 'n_bytes': sum(r.bytes for r in good),
                'objects_per_op': rows[0].n_objects, 'concurrency': len({r.thread for r in rows}),
                'n_hosts': len(self.hosts(rows)), 'n_clients': len({r.client for r in rows}),
                'start': format_time(rows[0].start), 'end': format_time(max(r.end for r in rows)),
                'skipped': None if segs else 'too few samples', 'throughput': total,
                'segments': segs, 'hosts': self.host_results(rows, starts, d),
                'requests': requests(rows, self.single)}

    def report(self):
        total = None
        if self.mixed and self.rows:
            starts, d = self.cut(self.rows)
            total = throughput(self.rows, True)
            if total:
                total = {**total, 'segments': segments(attribute(self.rows, starts, d), d, total),
                         'hosts': self.host_results(self.rows, starts, d)}
        return {'schema': 's3analyze/analysis/1', 'n_rows': self.n_rows, 'mixed': self.mixed,
                'operations': [self.operation(o) for o in self.ops], 'total': total}

    def series(self):
        """Rows of the time series as dictionaries of the documented columns."""
        out = []
        for op in self.ops:
            rows = [r for r in self.rows if r.op == op]
            starts, d = self.cut(rows)
            hosts = self.hosts(rows)
            for h in [None] + (hosts if len(hosts) > 1 else []):
                own = [r for r in rows if h is None or r.host == h]
                name = h if h is not None else hosts[0] if len(hosts) == 1 else ''
                for i, s in enumerate(attribute(own, starts, d)):
                    out.append(self.series_row(i, op, name, rows[0].n_objects, s))
        return out

    @staticmethod
    def series_row(i, op, host, objects_per_op, s):
        seconds = in_seconds(s.b - s.a)
        mean = ''
        if s.durations:
            mean = float(Fraction(sum(s.durations), len(s.durations) * 10**6))
        return {'index': i, 'op': op, 'host': host, 'duration_s': float(seconds),
                'objects_per_op': objects_per_op, 'bytes': s.bytes, 'full_ops': s.full,
                'partial_ops': s.partial, 'ops_started': s.started, 'ops_ended': s.ended,
                'errors': s.errors, 'mb_per_sec': float(s.rate(False) / (1 << 20)),
                'ops_ended_per_sec': float(s.ended and s.ended / seconds),
                'objs_per_sec': float(s.rate(True)), 'start_time': format_time(s.a),
                'end_time': format_time(s.b), 'reqs_ended_avg_ms': mean}
