"""A run whose hosts share their cores, and whose network cards share their bytes, among all requests that they have.

A request goes through stations: the cores of its host, a lock if its object has one, the network card of its host and that
of its client. Times are in seconds since the start of the run.
"""
import collections
import heapq
import itertools
import math

from simulator import Run, matches

FOREVER = math.inf
SPEED_STEP_S = .05  # a speed that depends on the time changes in such steps
N_OBJECTS = 2000


class Station:
    """Serves up to `limit` requests at a time, which share `cores`; a request takes at most one core. The others wait, first
    in first out. All that are served attain the same, so that one ends first whose work and what it found attained are least."""

    def __init__(self, cores, limit=FOREVER):
        self.cores, self.limit, self.speed = cores, limit, 1.0
        self.attained, self.at, self.served, self.waiting = 0.0, 0.0, [], collections.deque()
        self.version, self.turn = 0, itertools.count()

    def pace(self):
        n = len(self.served)
        return self.speed * min(1.0, self.cores / n) if n else 0.0

    def advance(self, now):
        self.attained += (now - self.at) * self.pace()
        self.at = now

    def add(self, now, work, job):
        self.advance(now)
        if len(self.served) < self.limit:
            heapq.heappush(self.served, (self.attained + work, next(self.turn), job))
        else:
            self.waiting.append((work, job))

    def next(self):
        pace = self.pace()
        return self.at + max(0.0, self.served[0][0] - self.attained) / pace if pace else FOREVER

    def pop(self, now):
        self.advance(now)
        self.attained, _, job = heapq.heappop(self.served)
        if self.waiting:
            self.add(now, *self.waiting.popleft())
        return job


class SharedRun(Run):
    """4 hosts of 3 cores and 4 clients, unless a kind changes it."""

    def __init__(self, seed):
        super().__init__(seed)
        self.seconds, self.n_hosts, self.n_clients, self.cores = 40, 4, 4, 3
        self.limit = FOREVER  # requests that a host serves at a time
        self.sizes = [256 << 10]
        self.service = {"GET": .020, "PUT": .030, "STAT": .006, "DELETE": .010, "LIST": .030}
        self.noise = .02
        self.host_card = self.client_card = lambda k: 0.0  # bytes a second; 0: no limit
        self.round_trip = lambda q: .0005
        self.size_of = lambda t, q: self.random.choice(self.sizes)  # q has op, client, thread, object and host
        self.keys_of = lambda q: 1000  # of a LIST
        self.work_of = lambda q: 1.0  # a factor
        self.delays = []  # seconds of (t, q), besides the round trip
        self.speed = None  # of (t, host)
        self.hosts_of = lambda t, client: range(self.n_hosts)
        self.popularity = None  # of objects: sums of weights
        self.due = None  # times of an open loop; instead of rate
        self.last_first = False  # the thread of an open loop that was free last takes what is due
        self.begins = None  # of a thread
        self.locks = {}  # object: (seconds it is held, its host or None)
        self.failed_hold = False  # failed requests are served like others
        self.limits = {}  # host: its own limit
        self.rests = lambda t, thread: self.random.expovariate(1 / self.think) if self.think else 20e-6
        self.place = None  # of q: its host, instead of one that is chosen

    def place_by_object(self):
        self.place = lambda q: q["object"] * 2654435761 % 2**32 % self.n_hosts

    def per_core(self, n):
        """Closed loop, n threads for each core of the hosts."""
        self.threads = max(1, round(n * self.cores * self.n_hosts / self.n_clients))
        return self

    def share(self, rho):
        """Open loop, which keeps this share of the cores busy."""
        work = sum(self.service[op] * w for op, w in self.mix.items()) / sum(self.mix.values())
        self.rate = rho * self.cores * self.n_hosts / (work * self.mean_spread())
        self.poisson, self.threads = True, max(1, self.cores * self.n_hosts * 16 // self.n_clients)

    def mean_spread(self):
        return sum(self.spread() for _ in range(5000)) / 5000

    def slower_by(self, factor, **which):
        self.factors.append(lambda t, q: factor(t) if matches(q, which) else 1.0)

    def delay_from(self, start, took, **which):
        self.delays.append(lambda t, q: took if t >= start and matches(q, which) else 0.0)

    # ---- Its requests ----

    def dues(self):
        if self.due:
            yield from self.due
        t = 0.0
        while self.rate:
            t += self.random.expovariate(self.rate) if self.poisson else 1 / self.rate
            yield t

    def requests(self):
        return Course(self).rows

    def request(self, t, thread, client):
        r = self.random
        op = self.operation(t, thread) if self.operation else r.choices(list(self.mix), list(self.mix.values()))[0]
        if op is None:
            return None
        q = {"op": op, "thread": thread, "client": client, "object": self.some_object()}
        q["keys"] = self.keys_of(q) if op == "LIST" else 1
        return q

    def some_object(self):
        if self.popularity is None:
            return self.random.randrange(N_OBJECTS)
        return self.random.choices(range(len(self.popularity)), cum_weights=self.popularity)[0]


class Course:
    """Simulates the run event by event; `rows` as those of Run.requests."""

    def __init__(self, x):
        self.x, self.noise, self.rows = x, x.common_noise(), []
        self.events, self.turn, self.picked = [], itertools.count(), 0
        self.hosts = [Station(x.cores, x.limits.get(k, x.limit)) for k in range(x.n_hosts)]
        self.host_cards = [Station(1) if x.host_card(k) else None for k in range(x.n_hosts)]
        self.client_cards = [Station(1) if x.client_card(k) else None for k in range(x.n_clients)]
        self.locks = {}
        self.in_flight = [[0] * x.n_hosts for _ in range(x.n_clients)]
        self.is_open = bool(x.rate or x.due)
        self.dues = x.dues()
        self.idle, self.overdue = [[collections.deque() for _ in range(x.n_clients)] for _ in range(2)]
        for thread in range(x.n_clients * x.threads):
            client = thread % x.n_clients
            at = x.begins(thread) if x.begins else x.spans.get(client, (0, 0))[0]
            if self.is_open:
                self.idle[client].append(thread)
            else:
                self.at(at + x.random.random() * .02, self.begin, thread)
        if self.is_open:
            self.at(next(self.dues, FOREVER), self.is_due, None)
        if x.speed:
            self.at(0.0, self.set_speeds, 0)
        while self.events:
            now, _, act, arg = heapq.heappop(self.events)
            act(now, arg)
        self.rows.sort(key=lambda row: row[1])

    def at(self, t, act, arg):
        if t < FOREVER:
            heapq.heappush(self.events, (t, next(self.turn), act, arg))

    # ---- Stations ----

    def watch(self, station):
        station.version += 1
        self.at(station.next(), self.served, (station, station.version))

    def served(self, now, arg):
        station, version = arg
        if version == station.version:
            job = station.pop(now)
            self.watch(station)
            self.go_on(now, job)

    def go_on(self, now, job):
        if not job["stages"]:
            self.finish(now, job)
            return
        station, work = job["stages"].pop()
        if station:
            station.add(now, work, job)
            self.watch(station)
        else:
            self.at(now + work, self.go_on, job)

    def set_speeds(self, now, n):
        for k, station in enumerate(self.hosts):
            speed = self.x.speed(now, k)
            if speed != station.speed:
                station.advance(now)
                station.speed = speed
                self.watch(station)
        if now < self.x.seconds * 2:
            self.at((n + 1) * SPEED_STEP_S, self.set_speeds, n + 1)

    # ---- Requests ----

    def is_due(self, now, _):
        if now >= self.x.seconds:
            return
        client = self.x.random.randrange(self.x.n_clients)
        self.overdue[client].append(now)
        self.take_due(now, client)
        self.at(next(self.dues, FOREVER), self.is_due, None)

    def take_due(self, now, client):
        idle, overdue = self.idle[client], self.overdue[client]
        while overdue and idle and now < self.x.seconds:
            self.begin(now, idle.pop() if self.x.last_first else idle.popleft(), overdue.popleft())

    def begin(self, now, thread, intended=None):
        x = self.x
        client = thread % x.n_clients
        if now >= x.spans.get(client, (0, x.seconds))[1]:
            return
        q = x.request(now, thread, client)
        if q is None:
            return
        q["host"] = self.choose_host(now, q)
        q["size"] = x.size_of(now, q)
        self.in_flight[client][q["host"]] += 1
        job = {"q": q, "start": now, "intended": intended, "error": ""}
        job["stages"] = self.stages(now, q, job)[::-1]
        self.go_on(now, job)

    def choose_host(self, now, q):
        x = self.x
        hosts = x.hosts_of(now, q["client"])
        if x.place:
            return x.place(q)
        if x.select == "roundrobin":
            self.picked += 1
            return hosts[self.picked % len(hosts)]
        if x.select == "least-busy":
            n = self.in_flight[q["client"]]
            low = min(n[k] for k in hosts)
            return x.random.choice([k for k in hosts if n[k] == low])
        return hosts[x.random.randrange(len(hosts))]

    def stages(self, now, q, job):
        x, host = self.x, q["host"]
        for fail in x.fails:
            got = fail(now, q)
            if got:
                job["error"], took = got[0], got[1] * x.random.uniform(.8, 1.25)
                return [(self.hosts[host] if x.failed_hold else None, took)]
        work = x.service[q["op"]] * x.spread() * self.noise(now) * x.work_of(q)
        if q["op"] == "LIST":
            work *= q["keys"] / 1000
        for factor in x.factors:
            work *= factor(now, q)
        out = [(None, x.round_trip(q) + sum(f(now, q) for f in x.delays)), (self.hosts[host], work)]
        hold, of_host = x.locks.get(q["object"], (0, None))
        if hold and of_host in (None, host):
            out.append((self.locks.setdefault(q["object"], Station(1, 1)), hold))
        size = q["size"] if q["op"] in ("GET", "PUT") else 0
        if size and self.host_cards[host]:
            out.append((self.host_cards[host], size / x.host_card(host)))
        if size and self.client_cards[q["client"]]:
            out.append((self.client_cards[q["client"]], size / x.client_card(q["client"])))
        return out

    def finish(self, now, job):
        q, x = job["q"], self.x
        self.in_flight[q["client"]][q["host"]] -= 1
        self.rows.append((job["start"], now, q, job["error"], job["intended"]))
        if self.is_open:
            self.idle[q["client"]].append(q["thread"])
            self.take_due(now, q["client"])
        else:
            self.at(now + x.rests(now, q["thread"]), self.begin, q["thread"])
