"""Small captures for tests: rows from a seeded simulation, and their text in any generation.

Rows are oracle.Row, so that the oracle can be asked about them without a parser in between."""

import functools
import random

import zstd
from oracle import SECOND, Row, format_time, order

START = 1795239958 * SECOND  # 2026-11-21T05:45:58Z

_G0 = 'idx thread op bytes file error start end duration_ns'.split()
_G1 = 'idx thread op n_objects bytes file error start end duration_ns'.split()
_G2 = 'idx thread op n_objects bytes file error start first_byte end duration_ns'.split()
_G3 = ('idx thread op client_id n_objects bytes endpoint file error start first_byte end '
       'duration_ns').split()
_G4 = ('idx thread op client_id n_objects bytes endpoint file error start first_byte last_byte end '
       'duration_ns cat').split()
COLUMNS = [_G0, _G1, _G2, _G3, _G4]


def row(start, end, thread=0, op='GET', host='http://h0:9000', file='k', size=1000, client='c0',
        n_objects=1, error='', first=None, last=None):
    """A row whose times are ns after START."""
    at = lambda t: None if t is None else START + t
    return Row(START + start, thread, START + end, op, host, file, size, client, n_objects, error,
               at(first), at(last))


def steady(n, op='GET', threads=1, every=SECOND // 10, **kwargs):
    """n rows one after another on each of some threads, each `every` long but for 1 us."""
    return [row(i * every + t, (i + 1) * every - 1000 + t, thread=t, op=op, **kwargs)
            for i in range(n) for t in range(threads)]


# Simulation

ERRORS = ['not found', 'Get "http://h1:9000/bucket/key": dial tcp: refused', 'slow\tdown',
          'line one\nline two', ' leading blank', 'Ünïcode']


class Shape:
    """A simulated run; every attribute can be given by keyword."""
    n = 150              # rows
    threads = 4
    hosts = 2
    clients = 1
    keys = 20
    ops = ('GET',)
    phases = False       # one operation type after another
    sizes = (65536,)
    n_objects = (1,)
    error_frac = 0.0
    median = SECOND // 20  # of a duration, ns
    sigma = 0.8
    zero_frac = 0.0      # share of requests that take no time
    long_frac = 0.0      # share of requests that take 30 times the median
    stray_frac = 0.0     # share of requests that overlap others of their thread
    grid_ns = 1          # times are multiples of it, so that ends and starts meet
    key_prefix = 'p/'

    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            if not hasattr(type(self), name):
                raise TypeError(name)
            setattr(self, name, value)


def simulate(seed, shape):
    """Rows ordered by start."""
    r = random.Random(seed)
    out = []
    now = [r.randrange(shape.median) for _ in range(shape.threads)]
    snap = lambda t: t // shape.grid_ns * shape.grid_ns
    phase_end = 0
    for i in range(shape.n):
        op = r.choice(shape.ops)
        if shape.phases:
            k = i * len(shape.ops) // shape.n
            op = shape.ops[k]
            if i and k != (i - 1) * len(shape.ops) // shape.n:
                phase_end = max(now) + shape.grid_ns
                now = [phase_end + r.randrange(shape.median) for _ in now]
        thread = now.index(min(now))
        length = int(shape.median * r.lognormvariate(0, shape.sigma))
        length = 0 if r.random() < shape.zero_frac else length
        length *= 30 if r.random() < shape.long_frac else 1
        start, length = snap(now[thread]), snap(length)
        if r.random() < shape.stray_frac:
            start = max(start - snap(r.randrange(2 * shape.median)), snap(phase_end))
        end = start + length
        # No two requests of a thread begin at once: their order would be undefined.
        now[thread] = max(end + snap(r.randrange(shape.median // 20 + 1)), start + shape.grid_ns)
        error = r.choice(ERRORS) if r.random() < shape.error_frac else ''
        sized = op in ('GET', 'PUT', 'APPEND')
        inside = lambda: start + r.randrange(length + 1)
        out.append(row(
            start, end, thread=thread, op=op, host=f'http://h{r.randrange(shape.hosts)}:9000',
            file=f'{shape.key_prefix}{r.randrange(shape.keys)}' if shape.keys else '',
            size=r.choice(shape.sizes) if sized else 0, client=f'c{thread % shape.clients}',
            n_objects=r.choice(shape.n_objects), error=error,
            first=inside() if op in ('GET', 'LIST') and r.random() < 0.9 else None,
            last=inside() if op == 'PUT' and r.random() < 0.9 else None))
    return sorted(out, key=order)


# Text

@functools.lru_cache(maxsize=4096)
def quoted(text, delimiter='\t'):
    """RFC 4180, as recorders write `endpoint` and `error`."""
    if any(c in text for c in (delimiter, '"', '\r', '\n')) or text[:1].isspace():
        return '"' + text.replace('"', '""') + '"'
    return text


def short_time(ns):
    """Without trailing zeros of the fraction, as recorders write it."""
    text = format_time(ns)[:-1].rstrip('0').rstrip('.') if ns % SECOND else format_time(ns)[:-11]
    return text + 'Z'


def lines(rows, generation=4, delimiter=None, time=short_time, newline='\n', idx=0):
    """Header line and row lines, each with its newline."""
    delimiter = delimiter or (',' if generation == 0 else '\t')
    columns = COLUMNS[generation]
    out = [delimiter.join(columns) + newline]
    optional = lambda t: '' if t is None else time(t)
    for i, r in enumerate(rows, idx):
        f = {'idx': i, 'thread': r.thread, 'op': r.op, 'client_id': r.client,
             'n_objects': r.n_objects, 'bytes': r.bytes, 'endpoint': quoted(r.host, delimiter),
             'file': r.file, 'error': quoted(r.error, delimiter), 'start': time(r.start),
             'first_byte': optional(r.first), 'last_byte': optional(r.last), 'end': time(r.end),
             'duration_ns': r.end - r.start + i % 7, 'cat': 0}
        out.append(delimiter.join(str(f[c]) for c in columns) + newline)
    return out


def moved(rows, by):
    """The rows, later by so many nanoseconds."""
    return [r._replace(start=r.start + by, end=r.end + by, first=r.first and r.first + by,
                       last=r.last and r.last + by) for r in rows]


def text(rows, **kwargs):
    return ''.join(lines(rows, **kwargs)).encode()


def as_read(rows, generation):
    """The rows as a reader sees them that gets only the columns of `generation`."""
    if generation < 1:
        rows = [r._replace(n_objects=1) for r in rows]
    if generation < 2:
        rows = [r._replace(first=None) for r in rows]
    if generation < 3:
        rows = [r._replace(client='', host='') for r in rows]
    return [r._replace(last=None) for r in rows] if generation < 4 else rows


def cut(data, *places):
    """Pieces of `data` cut at the given offsets."""
    places = [0, *sorted(places), len(data)]
    return [data[a:b] for a, b in zip(places, places[1:])]


def frames(data, *places, **kwargs):
    """`data` as zstd frames cut at the given offsets."""
    return b''.join(zstd.frame(piece, **kwargs) for piece in cut(data, *places))
