"""Captures of a matrix of cells: sizes x threads x operations, some runs a side. A run is a closed loop of threads whose requests
take 5 ms on average. Runs of one configuration scatter by `cv`."""

import math
import random

from capgen import SECOND, row, text

MS = SECOND // 1000


def run(r, op='GET', size=4096, threads=1, factor=1.0, cv=.01, seconds=1.5, at=0, prepared=0):
    """The bytes of a capture whose requests take `factor` times as long, that begins `at` seconds later than others."""
    took = 5 * MS * factor * math.exp(r.gauss(0, cv))
    rows, begin = [], at * SECOND
    for i in range(prepared):
        rows.append(row(begin + i * MS, begin + i * MS + MS // 2, op='PUT', size=size))
    begin += prepared * MS
    for thread in range(threads):
        now = begin + r.randrange(5 * MS)
        while now < begin + seconds * SECOND:
            ns = int(took * r.uniform(.8, 1.2))
            rows.append(row(now, now + ns, thread=thread, op=op, size=size))
            now += ns
    return text(sorted(rows))


SIZES = (4096, 65536, 1 << 20, 16 << 20)
THREADS = (1, 2, 4)


def cells(n):
    """n cells, as keywords of run(): GET, then PUT, then STAT-like DELETE of each size and number of threads."""
    every = [{'op': op, 'size': size, 'threads': threads} for op in ('GET', 'PUT', 'DELETE') for size in SIZES for threads in THREADS]
    return every[:n]


def write(folder, seed, of, n_runs=6, slower=None, factor=1 / .9, cv=.01, **how):
    """Writes before/ and after/ below the folder. Runs are taken in random turns. The cell with the number `slower` is slower
    after."""
    r = random.Random(seed)
    for side in ('before', 'after'):
        (folder / side).mkdir(parents=True)
    turns = [(cell, side) for cell in range(len(of)) for side in ('before', 'after') for _ in range(n_runs)]
    r.shuffle(turns)
    for k, (cell, side) in enumerate(turns):
        worse = factor if side == 'after' and cell == slower else 1.0
        path = folder / side / f'run-{k:03}.csv'
        path.write_bytes(run(r, factor=worse, cv=cv, at=4 * k, **{**how, **of[cell]}))
