"""Simulates runs whose truth is known: clients in closed or open loops send requests to hosts."""
import collections
import datetime
import functools
import heapq
import math
import random
import statistics


NS = 10**9
MEASURED = -1
BASE_S = 1_790_000_000
COLUMNS = ("idx thread op client_id n_objects bytes endpoint file error start first_byte last_byte end duration_ns "
           "cat").split()
SLOW_DOWN = "503 SlowDown: Please reduce your request rate."
INTERNAL = "500 InternalError: We encountered an internal error."
REFUSED = "dial tcp: connection refused"
TIMED_OUT = "request timed out"


@functools.lru_cache
def whole_second(s):
    return f"{datetime.datetime.fromtimestamp(s, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S}"


def stamp(ns):
    return f"{whole_second(BASE_S + ns // NS)}.{ns % NS:09d}Z"


def seconds(text):
    head, _, frac = text.rstrip("Z").partition(".")
    t = datetime.datetime.strptime(head, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return t.timestamp() - BASE_S + float("0." + (frac or "0"))


# ---- A run ----

class Run:
    """The course of a run, which kinds change. Times are seconds since its start."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.seconds = r.choice([25, 35, 50])
        self.n_hosts, self.slots = r.choice([(4, 8), (5, 12), (8, 6)])  # requests that a host serves at a time
        self.n_clients, self.threads = 1, 16  # threads of each client
        self.mix = {"GET": 1.0}
        self.sizes = [r.choice([16 << 10, 256 << 10, 1 << 20])]
        self.service = {"GET": .040, "PUT": .060, "STAT": .016, "DELETE": .024}
        self.spread = lambda: math.exp(r.gauss(0, .35))
        self.select = "random"
        self.think = 0.0  # mean
        self.rate = 0.0  # requests a second of an open loop; 0: closed
        self.poisson = False
        self.noise, self.noise_s = .04, 2.0  # of the whole system: standard deviation, correlation
        self.spans = {}  # client: (first, last)
        self.factors, self.stops, self.fails = [], [], []  # of (t, request)
        self.delay = lambda q: 0.0  # of the answer, after the host has served it
        self.clock = None
        self.operation = None  # of (t, thread): instead of the mix
        self.want, self.allowed = [], set()

    def host(self, k):
        return f"https://node{k + 1}.store.example:9000"

    def client(self, k):
        return f"gen-{k + 1}"

    def slower(self, factor, when=lambda t: True, **which):
        self.factors.append(lambda t, q: factor if when(t) and matches(q, which) else 1.0)

    def stopped(self, start, end, **which):
        self.stops.append((start, end, which))

    def failing(self, share, error, seconds_each, when=lambda t: True, **which):
        self.fails.append(lambda t, q: (error, seconds_each) if when(t) and matches(q, which) and
                          self.random.random() < share else None)

    def expect(self, *kinds, allowed=(), **fields):
        """start, end, ratio, period, depth, op; host=, client= or thread= is the scope."""
        scope = {k: fields.pop(k) for k in ("host", "client", "thread") if k in fields} or None
        self.want.append({"kinds": kinds, "scope": scope, **fields})
        self.allowed |= set(kinds) | set(allowed)

    # ---- Its requests ----

    def common_noise(self):
        step = .1
        x, a, out = 0.0, math.exp(-step / self.noise_s), []
        for _ in range(int(self.seconds * 3 / step) + 2):
            out.append(math.exp(x))
            x = a * x + self.random.gauss(0, self.noise * math.sqrt(1 - a * a))
        return lambda t: out[min(int(t / step), len(out) - 1)]

    def choose_host(self, thread, turn, free):
        if self.select == "roundrobin":
            return turn % self.n_hosts
        if self.select == "fixed":
            return thread % self.n_hosts
        if self.select == "least-busy":
            low = min(f[0] for f in free)
            return self.random.choice([k for k, f in enumerate(free) if f[0] <= low])
        return self.random.randrange(self.n_hosts)

    def requests(self):
        r, noise = self.random, self.common_noise()
        free = [[0.0] * self.slots for _ in range(self.n_hosts)]
        names, weights = list(self.mix), list(self.mix.values())
        threads = [(c, c * self.threads + i) for c in range(self.n_clients) for i in range(self.threads)]
        heap = []
        for c, t in threads:
            heapq.heappush(heap, (self.spans.get(c, (0, self.seconds))[0] + r.random() * .02, t, c))
        due, turn, rows = 0.0, 0, []
        while heap:
            now, t, c = heapq.heappop(heap)
            intended = None
            if self.rate:
                due += r.expovariate(self.rate) if self.poisson else 1 / self.rate
                intended = due
                now = max(now, due)
            if now >= self.spans.get(c, (0, self.seconds))[1]:
                continue
            op = self.operation(now, t) if self.operation else r.choices(names, weights)[0]
            if op is None:
                continue
            q = {"op": op, "thread": t, "client": c, "host": self.choose_host(t, turn, free),
                 "size": r.choice(self.sizes)}
            turn += 1
            end, error = self.serve(now, q, free[q["host"]], noise)
            rows.append((now, end, q, error, intended))
            pause = r.expovariate(1 / self.think) if self.think else 20e-6
            heapq.heappush(heap, (end + pause, t, c))
        rows.sort(key=lambda x: x[1])
        return rows

    def serve(self, now, q, free, noise):
        for fail in self.fails:
            got = fail(now, q)
            if got:
                return now + got[1] * self.random.uniform(.8, 1.25), got[0]
        begin = max(now, heapq.heappop(free))
        took = self.service[q["op"]] * self.spread() * noise(now)
        if len(self.sizes) > 1:
            took *= .4 + .6 * q["size"] / (sum(self.sizes) / len(self.sizes))
        for factor in self.factors:
            took *= factor(begin, q)
        end = begin + took
        for start, stop, which in self.stops:
            if matches(q, which) and begin < stop and end > start:
                end += stop - max(start, begin)
        heapq.heappush(free, end)
        return end + self.delay(q), ""

    def measure(self, rows):
        """Fills in the truths that depend on the simulated data."""
        for want in self.want:
            if want.get("ratio") == MEASURED:
                want["ratio"] = self.drift_of(rows) if want["kinds"] == ("drift",) else self.ratio_of(want, rows)
            if want["kinds"] == ("errors",):
                want["n_errors"] = sum(bool(error) and self.is_of(want, q) and
                                       (want.get("start") or 0) <= start < (want.get("end") or math.inf)
                                       for start, _, q, error, _ in rows)

    def drift_of(self, rows):
        """Ratio of the level at the end to that at the start, on a straight line through the rates."""
        n = 40
        ends = collections.Counter(int(n * end / self.seconds) for _, end, *_ in rows)
        line = statistics.linear_regression([k + .5 for k in range(n)], [ends[k] for k in range(n)])
        return (line.intercept + n * line.slope) / line.intercept

    def is_of(self, want, q):
        names = {"host": self.host(q["host"]), "client": self.client(q["client"]), "thread": q["thread"]}
        return want.get("op") in (None, q["op"]) and all(names[k] == v for k, v in (want["scope"] or {}).items())

    def ratio_of(self, want, rows):
        """Ratio of medians: of this party and of those without a fault; without a party, from `start` on and before."""
        own, others = collections.defaultdict(list), collections.defaultdict(list)
        at = want.get("start") or 0
        for start, end, q, error, intended in rows:
            if error or want.get("op") not in (None, q["op"]) or want["scope"] and start < at:
                continue
            is_own = self.is_of(want, q) if want["scope"] else start >= at
            if is_own or not want["scope"] or not any(self.is_of(w, q) for w in self.want):
                (own if is_own else others)[q["op"], q["size"]].append(
                    end - (start if want["scope"] or intended is None else intended))
        logs = [(math.log(statistics.median(v) / statistics.median(others[k])), len(v))
                for k, v in own.items() if others[k]]
        return math.exp(sum(x * n for x, n in logs) / sum(n for _, n in logs))

    def write(self, path):
        rows = self.requests()
        self.measure(rows)
        is_open = any(intended is not None for *_, intended in rows)
        with open(path, "w", encoding="utf-8") as f:
            f.write("\t".join(COLUMNS + (["intended"] if is_open else [])) + "\n")
            for i, (start, end, q, error, intended) in enumerate(rows):
                off = self.clock(start, q) if self.clock else 0.0
                a, z = (int((x + off) * NS) for x in (start, end))
                size = q["size"] if q["op"] in ("GET", "PUT") and not error else 0
                first = stamp(a + int((z - a) * .6)) if q["op"] == "GET" and not error else ""
                cells = [i, q["thread"], q["op"], self.client(q["client"]), q.get("keys", 1), size, self.host(q["host"]),
                         f"obj/{q.get('object', i * 7919 % 2000)}", error, stamp(a), first, "", stamp(z), z - a, 0]
                if is_open:
                    cells.append(stamp(int((intended + off) * NS)))
                f.write("\t".join(map(str, cells)) + "\n")


def matches(q, which):
    return all(q[k] in v if isinstance(v, (set, frozenset, range)) else q[k] == v for k, v in which.items())


