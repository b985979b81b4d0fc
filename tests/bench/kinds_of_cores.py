"""Kinds of simulated runs in which all requests of a host share its cores: healthy, with faults, and with a changed load."""
import itertools
import math

from simulator import INTERNAL, MEASURED, REFUSED, SLOW_DOWN, TIMED_OUT
from stations import N_OBJECTS

MIB = 1 << 20
HEALTHY, FAULTS, CHANGES = {}, {}, {}
SELECTS = ("random", "roundrobin", "least-busy", "hash")
MIX5 = {"GET": .5, "PUT": .15, "STAT": .15, "DELETE": .1, "LIST": .1}
LEVEL = ("drop", "rise", "drift", "swings", "warm-up", "no-steady-state", "unsteady", "left-out", "slow-op")
# Kinds of findings that say: the load changed; these hosts are faster than the others; an object's requests wait.
LOAD, FAST, OBJECT = "load-change", "fast-host", "slow-object"


def registered(table, prefix=""):
    def register(function):
        table[prefix + function.__name__.replace("_", "-")] = function
        return function
    return register


healthy, fault, change = registered(HEALTHY, "healthy-cores-"), registered(FAULTS), registered(CHANGES, "load-")


def choose(x, select):
    if select == "hash":
        x.place_by_object()
    else:
        x.select = select


def popular(x, skew):
    x.popularity = list(itertools.accumulate((k + 1) ** -skew for k in range(N_OBJECTS)))


def system(x, select="random"):
    """Some equal hosts; how the work scatters."""
    r = x.random
    x.n_hosts, x.cores, x.seconds = r.choice([(4, 3, 40), (8, 2, 35), (3, 6, 35), (6, 1, 60)])
    x.spread = r.choice([lambda: r.expovariate(1), lambda: math.exp(r.gauss(0, .35)), lambda: r.uniform(.98, 1.02)])
    x.n_clients = r.choice([1, 2, 8]) if select == "least-busy" else r.choice([1, 4])
    choose(x, select)


# ---- Healthy ----

def closed(load, select):
    def kind(x):
        system(x, select)
        x.per_core(load)
    return kind


def opened(rho, select):
    def kind(x):
        system(x, select)
        x.share(rho)
    return kind


for select_ in SELECTS:
    for load_ in (.5, 1, 2, 3, 5, 8):
        HEALTHY[f"healthy-cores-{load_}-{select_}"] = closed(load_, select_)
    for rho_ in (.5, .8, .9, .95):
        HEALTHY[f"healthy-cores-open-{rho_}-{select_}"] = opened(rho_, select_)


def wobbling(x, deviation, correlation_s):
    """The speed of each host changes on its own."""
    noise = x.noise, x.noise_s
    x.noise, x.noise_s = deviation, correlation_s
    speeds = [x.common_noise() for _ in range(x.n_hosts)]
    x.noise, x.noise_s = noise
    x.speed = lambda t, k: speeds[k](t)


@healthy
def random_system(x):
    some_system(x)


def some_system(x, has_cards=True):
    """Without cards no network hides what the hosts do."""
    r = x.random
    system(x, r.choice(SELECTS))
    if r.random() < .3:
        x.share(r.uniform(.3, .97))
    else:
        x.per_core(math.exp(r.uniform(math.log(.3), math.log(12))))
    if r.random() < .5:
        x.mix = dict(MIX5)
    if r.random() < .5:
        x.sizes = [r.choice([16 << 10, 256 << 10, MIB, 4 * MIB, 16 * MIB]) for _ in range(r.randrange(1, 5))]
    if has_cards and r.random() < .5:
        x.client_card = lambda k: 400e6 / x.n_clients
    if has_cards and r.random() < .3:
        x.host_card = lambda k: 400e6 / x.n_hosts
    if r.random() < .3:
        popular(x, r.uniform(.5, 1.1))
    if r.random() < .3:
        x.limit = x.cores * r.choice([1, 2, 4])
    x.noise, x.noise_s = r.uniform(0, .06), r.uniform(.5, 5)
    if r.random() < .3:
        wobbling(x, r.uniform(0, .08), r.uniform(.5, 5))


@healthy
def each_host_wobbles(x):
    x.per_core(3)
    wobbling(x, .08, 2)


@healthy
def each_host_wobbles_at_a_given_rate(x):
    x.share(.7)
    wobbling(x, .08, 2)


@healthy
def short_pauses_of_all_hosts(x):
    """Each host collects garbage for 50 ms, every two seconds on average."""
    x.per_core(2)
    pauses = [{round(x.random.uniform(0, x.seconds) * 20) for _ in range(x.seconds // 2)} for _ in range(x.n_hosts)]
    x.speed = lambda t, k: 0.0 if round(t * 20) in pauses[k] else 1.0


@healthy
def short_stall_of_a_host(x):
    """One that stands still for half a second is no slow host."""
    x.per_core(1)
    x.speed = lambda t, k: 0.0 if k == 2 and 20 <= t < 20.5 else 1.0
    x.allowed = {"stall"}


@healthy
def mix_of_five(x):
    system(x)
    x.mix = dict(MIX5)
    x.per_core(3)


def pool(x, rho):
    """Open loop of a pool of threads, of which few work."""
    x.share(rho)
    x.last_first = True


@healthy
def heavy_requests_at_a_given_rate(x):
    x.spread = lambda: math.exp(x.random.gauss(0, 1.6))
    pool(x, x.random.uniform(.7, .85))


@healthy
def batches(x):
    pool(x, .5)
    n, x.rate = round(2 * x.rate), 0.0
    x.due = [t + k * 1e-6 for t in range(0, x.seconds, 2) for k in range(n)]


def uneven(load):
    def kind(x):
        """A balancer with weights keeps one host busy, and the others idle."""
        shares = x.random.choice([(3, 2, 2, 2), (2, 1, 1, 1), (4, 3, 2, 1), (5, 1, 1, 1)])
        x.n_hosts, x.cores = len(shares), 4
        x.spread = x.random.choice([lambda: x.random.expovariate(1), lambda: math.exp(x.random.gauss(0, 1))])
        x.place = lambda q: x.random.choices(range(len(shares)), weights=shares)[0]
        x.per_core(load)
    return kind


for load_ in (1, 2, 4):
    HEALTHY[f"healthy-cores-uneven-shares-{load_}"] = uneven(load_)


@healthy
def hashed_keys(x):
    """The popular objects make one host busier."""
    popular(x, 1.1)
    x.place_by_object()
    x.per_core(3)


@healthy
def hashed_keys_at_a_given_rate(x):
    popular(x, 1)
    x.place_by_object()
    x.share(.6)


@healthy
def many_hosts(x):
    x.n_hosts, x.cores, x.seconds = 100, 1, 12
    x.per_core(3)


@healthy
def one_host(x):
    x.n_hosts, x.cores = 1, 8
    x.per_core(3)


@healthy
def noisy(x):
    x.per_core(3)
    x.noise, x.noise_s = .08, x.random.uniform(1, 10)


@healthy
def thinking_clients(x):
    x.per_core(6)
    x.think = .1


@healthy
def cache_hits(x):
    x.per_core(2)
    x.work_of = lambda q: .2 if x.random.random() < .8 else 4


@healthy
def heavy_tail(x):
    x.per_core(2)
    x.spread = lambda: .6 * x.random.paretovariate(2.2)


@healthy
def card_of_hosts(x):
    x.sizes, x.host_card = [4 * MIB], lambda k: 250e6
    x.per_core(3)


@healthy
def card_of_clients(x):
    x.sizes, x.client_card = [MIB, 4 * MIB], lambda k: 120e6
    x.per_core(3)


@healthy
def busy_client(x):
    """One client has most threads, so its network card is fuller."""
    x.sizes, x.client_card = [MIB], lambda k: 120e6
    x.per_core(2)
    n = x.threads * x.n_clients
    x.begins = lambda thread: 0 if thread % x.n_clients == 0 or thread < n // 3 else 1e9


@healthy
def sizes_by_host(x):
    x.size_of, x.host_card = lambda t, q: MIB << q["host"] // 3, lambda k: 200e6
    x.per_core(2)


@healthy
def sizes_by_host_placed(x):
    x.place_by_object()
    x.size_of, x.host_card = lambda t, q: 64 << 10 << 2 * (q["object"] % 4), lambda k: 200e6
    x.per_core(2)


@healthy
def sizes_by_client(x):
    x.size_of, x.client_card = lambda t, q: MIB << q["client"] % 2, lambda k: 60e6
    x.per_core(1)


@healthy
def sizes_in_one_queue(x):
    x.sizes = [16 << 10, 256 << 10, MIB, 8 * MIB]
    x.work_of, x.host_card = lambda q: .5 + q["size"] / MIB, lambda k: 400e6
    x.limit = x.cores
    x.per_core(3)


@healthy
def keys_by_client(x):
    x.n_clients = 2
    x.mix, x.keys_of = {"LIST": .5, "GET": .5}, lambda q: (1000, 100)[q["client"]]
    x.per_core(1)


@healthy
def unequal_work_in_one_queue(x):
    """One host gets half of its requests as PUTs of eight times the work, the others none; first in, first out."""
    x.mix, x.limit = {"GET": .875, "PUT": .125}, x.cores
    x.service = {"GET": .010, "PUT": .080}
    x.place = lambda q: 1 if q["op"] == "PUT" or x.random.random() < 1 / 7 else x.random.choice([0, 2, 3])
    x.per_core(1.5)


@healthy
def operations_by_client(x):
    x.mix = {"GET": .5, "PUT": .5}
    x.operation = lambda t, thread: "PUT" if thread % x.n_clients == 1 else "GET"
    x.sizes, x.client_card = [MIB], lambda k: 150e6
    x.per_core(2)


def bursts(x, each, length, height, base):
    """Times at which requests are due: Poisson, with `height` times the rate in bursts."""
    t, out, until = 0.0, [], x.random.expovariate(1 / each)
    while t < x.seconds:
        in_burst = until - length <= t < until
        t += x.random.expovariate(base * (height if in_burst else 1))
        out.append(t)
        if t >= until:
            until = t + length + x.random.expovariate(1 / each)
    return out


@healthy
def bursts_of_all(x):
    x.share(.4)
    base, x.rate = x.rate, 0.0
    x.due = bursts(x, 2, .3, 4, base)


@healthy
def bursts_of_a_client(x):
    """One client waits between its requests for the most part, and does not for two seconds now and then."""
    x.per_core(3)
    x.begins = lambda thread: 0 if thread % x.n_clients else x.random.expovariate(.5)
    busy = {}

    def pause(t, thread):
        n = int(t / 2)
        return busy.setdefault(n, x.random.random() < .3) if thread % x.n_clients == 0 else True
    x.rests = lambda t, thread: 20e-6 if pause(t, thread) else .2


@healthy
def clocks_apart(x):
    x.per_core(2)
    off = [x.random.uniform(-.4, .4) for _ in range(x.n_clients)]
    x.clock = lambda t, q: off[q["client"]]


@healthy
def pinned_clients(x):
    """Each client uses two hosts; one client has a third of the threads of the others."""
    x.hosts_of = lambda t, client: (client, (client + 1) % x.n_hosts)
    x.per_core(3)
    n = x.threads * x.n_clients
    x.begins = lambda thread: 0 if thread % x.n_clients or thread < n // 3 else 1e9


@healthy
def host_and_client_are_one(x):
    x.hosts_of = lambda t, client: (client,)
    x.per_core(3)
    n = x.threads * x.n_clients
    x.begins = lambda thread: 0 if thread % x.n_clients or thread < n // 2 else 1e9


def sparse_run(x):
    x.sizes, x.n_clients, x.threads, x.host_card = [64 * MIB], 1, 8, lambda k: 200e6


@healthy
def sparse(x):
    sparse_run(x)


@healthy
def sparse_mixed(x):
    sparse_run(x)
    x.mix, x.sizes = {"GET": .7, "PUT": .3}, [16 * MIB, 64 * MIB]


# ---- With a fault ----

@fault
def two_of_three_hosts_slow(x):
    x.n_hosts, x.cores, f = 3, 4, x.random.uniform(2, 3)
    x.per_core(1)
    x.slower(f, host={1, 2})
    for k in 1, 2:
        x.expect("slow-host", FAST, scopes={"slow-host": [{"host": x.host(k)}], FAST: [{"host": x.host(0)}]}, allowed=LEVEL)


@fault
def one_of_four_hosts_fast(x):
    x.per_core(1)
    x.slower(1 / 3, host=0)
    x.expect("slow-host", FAST, scopes={"slow-host": [{"host": x.host(1)}], FAST: [{"host": x.host(0)}]}, allowed=LEVEL)


@fault
def one_of_a_hundred_hosts_slow(x):
    x.n_hosts, x.cores, x.seconds = 100, 1, 20
    x.per_core(1)
    x.slower(4, host=41)
    x.expect("slow-host", host=x.host(41))


@fault
def half_of_the_hosts_slow(x):
    x.n_hosts, x.cores, f = 8, 2, x.random.uniform(2, 3)
    x.per_core(1)
    x.slower(f, host=range(4))
    for k in range(4):
        x.expect("slow-host", host=x.host(k), ratio=MEASURED)


def slow_delete(x, **ratio):
    x.mix = {"GET": .5, "PUT": .2, "DELETE": .2, "STAT": .1}
    x.slower(5, host=2, op="DELETE")
    x.expect("slow-host", host=x.host(2), op="DELETE", allowed=LEVEL, **ratio)


@fault
def delete_slow_at_a_host(x):
    x.per_core(.7)
    slow_delete(x, ratio=MEASURED)


@fault
def delete_slow_at_a_busy_host(x):
    """All operations wait for the DELETEs."""
    x.per_core(2)
    slow_delete(x)


@fault
def put_slow_everywhere(x):
    x.mix = dict(MIX5)
    x.per_core(1)
    x.slower(3, lambda t: t >= 18, op="PUT")
    x.expect("slow-op", op="PUT", start=18, allowed=LEVEL)


@fault
def tail_at_a_host(x):
    x.per_core(1.5)
    x.work_of = lambda q: 10 if q["host"] == 1 and x.random.random() < .08 else 1
    x.expect("slow-host", host=x.host(1))


@fault
def few_long_waits_at_a_host(x):
    """Its 99th percentile is a hundred times that of the others, its median is theirs."""
    x.per_core(1.5)
    x.delays.append(lambda now, q: .8 if q["host"] == 1 and x.random.random() < .012 else 0)
    x.expect("slow-host", host=x.host(1))


def sparse_slow(x):
    sparse_run(x)
    x.host_card = lambda k: 50e6 if k == 1 else 200e6
    x.expect("slow-host", host=x.host(1), allowed=LEVEL)


@fault
def slow_host_of_few_requests(x):
    sparse_slow(x)


@fault
def slow_host_all_along(x):
    x.per_core(1)
    x.slower(1.8, host=2)
    x.expect("slow-host", host=x.host(2), ratio=MEASURED, work=1.8)


@fault
def slow_host_at_a_given_rate(x):
    x.share(.5)
    x.slower(1.7, host=2)
    x.expect("slow-host", host=x.host(2), ratio=MEASURED, work=1.7, allowed=LEVEL + ("backlog",))


@fault
def slow_host_of_a_pool(x):
    pool(x, .4)
    x.slower(2, host=2)
    x.expect("slow-host", host=x.host(2), ratio=MEASURED, allowed=LEVEL)


@fault
def all_slower_of_a_pool(x):
    pool(x, .3)
    x.slower(2, lambda t: t >= 20)
    x.expect("slow-op", start=20, ratio=MEASURED)


@fault
def stall_of_a_pool(x):
    pool(x, .5)
    x.speed = lambda t, k: 0.0 if 24 <= t < 26 else 1.0
    x.expect("stall", start=24, end=26, allowed=LEVEL)


@fault
def time_outs_that_take_a_pool(x):
    """While all threads wait for a time-out nothing goes on."""
    pool(x, .5)
    x.threads = 8
    x.failing(.3, TIMED_OUT, 3, lambda t: 15 <= t < 25)
    x.expect("errors", allowed=(*LEVEL, "backlog"))


@fault
def slow_host_in_a_random_system(x):
    some_system(x, has_cards=False)
    k, f, at = x.random.randrange(x.n_hosts), x.random.uniform(2.5, 4), x.random.uniform(.3, .6) * x.seconds
    x.slower(f, lambda t: t >= at, host=k)
    x.expect("slow-host", host=x.host(k), start=at, near=2, allowed=LEVEL + ("backlog", "late-starts"))


@fault
def slow_client_in_a_random_system(x):
    some_system(x, has_cards=False)
    if x.n_clients == 1:
        x.n_clients, x.threads = 4, max(1, x.threads // 4)
    k, d = x.random.randrange(x.n_clients), x.random.uniform(2, 4) * x.service["GET"]
    x.per_core(x.random.uniform(.3, 1.5))
    x.rate = 0.0
    x.delay_from(0, d, client=k)
    x.expect("slow-client", client=x.client(k), allowed=LEVEL)


@fault
def all_slower_in_a_random_system(x):
    some_system(x, has_cards=False)
    f, at = x.random.uniform(1.8, 3), x.random.uniform(.3, .6) * x.seconds
    x.slower(f, lambda t: t >= at)
    x.expect("drop", "slow-op", "backlog", start=at, near=2, allowed=LEVEL + ("backlog", "late-starts", "latency"))


def half_speed(x, host, start, end=1e9):
    x.speed = lambda t, k: .5 if k == host and start <= t < end else 1.0


def saturated_half_speed(x, load, select):
    x.per_core(load)
    choose(x, select)
    half_speed(x, 1, 15)
    x.expect("slow-host", host=x.host(1), start=15, ratio=MEASURED, work=2, allowed=LEVEL)


for load_, select_ in ((1, "random"), (3, "random"), (3, "least-busy"), (3, "hash"), (5, "roundrobin"), (8, "random")):
    FAULTS[f"half-speed-from-the-middle-{load_}-{select_}"] = (
        lambda x, load=load_, select=select_: saturated_half_speed(x, load, select))


@fault
def half_speed_for_a_while(x):
    x.per_core(2)
    half_speed(x, 0, 9, 23)
    x.expect("slow-host", host=x.host(0), start=9, end=23, allowed=LEVEL)


@fault
def host_slow_for_2_of_60_s(x):
    x.seconds, start = 60, x.random.uniform(15, 45)
    x.per_core(1)
    x.slower(5, lambda t: start <= t < start + 2, host=1)
    x.expect("slow-host", host=x.host(1), start=start, end=start + 2, allowed=LEVEL + ("stall",))


@fault
def connection_limit_of_a_host(x):
    x.per_core(1)
    x.limits = {1: 2}
    x.expect("slow-host", host=x.host(1), allowed=LEVEL)


@fault
def host_works_itself_tired(x):
    """A host becomes slower all along, three times in the end."""
    x.per_core(1)
    x.slower_by(lambda t: 1 + 2 * t / x.seconds, host=1)
    x.expect("slow-host", host=x.host(1), allowed=LEVEL)


@fault
def client_with_a_slow_card(x):
    x.sizes, x.client_card = [4 * MIB], lambda k: 25e6 if k == 1 else 200e6
    x.per_core(.7)
    x.expect("slow-client", client=x.client(1), ratio=MEASURED, allowed=LEVEL)


@fault
def client_far_away(x):
    x.per_core(1)
    x.mix, x.round_trip = dict(MIX5), lambda q: .020 if q["client"] == 2 else .0005
    x.expect("slow-client", client=x.client(2))


@fault
def client_far_away_from_the_middle(x):
    x.per_core(.8)
    x.delay_from(18, .030, client=2)
    x.expect("slow-client", client=x.client(2), start=18, ratio=MEASURED, allowed=LEVEL)


@fault
def host_and_client_slow(x):
    """A client all along, and a host from 15 s on: neither causes the other."""
    x.per_core(1)
    x.delay_from(0, .030, client=1)
    x.slower(2, lambda t: t >= 15, host=2)
    x.expect("slow-client", client=x.client(1), problem=True)
    x.expect("slow-host", host=x.host(2), start=15, problem=True, allowed=LEVEL)


@fault
def slow_host_of_one_client(x):
    """Host and client occur only together."""
    x.hosts_of = lambda t, client: (client,)
    x.per_core(1)
    x.slower(2.5, host=1)
    x.expect("slow-host", "slow-client", scopes={"slow-host": [{"host": x.host(1)}], "slow-client": [{"client": x.client(1)}]})


def locked(x, hold, host=None):
    share = .12
    x.popularity = list(itertools.accumulate([share * (N_OBJECTS - 1) / (1 - share)] + [1] * (N_OBJECTS - 1)))
    x.locks = {0: (hold, host)}
    scopes = {OBJECT: [None, *({"host": x.host(k)} for k in range(x.n_hosts))]}
    if host is not None:
        scopes["slow-host"] = [{"host": x.host(host)}]
    x.expect(*scopes, scopes=scopes, allowed=LEVEL)


@fault
def hot_object(x):
    x.per_core(4)
    locked(x, .02)


@fault
def hot_object_on_a_host(x):
    x.per_core(4)
    locked(x, .04, 1)


@fault
def hot_object_placed(x):
    x.per_core(4)
    x.place_by_object()
    locked(x, .03, x.place({"object": 0}))


@fault
def list_grows(x):
    x.mix = dict(MIX5)
    x.per_core(.7)
    x.slower_by(lambda t: 1 + 4 * t / x.seconds, op="LIST")
    x.expect("drift", op="LIST", allowed=("drift",))


@fault
def ramp_that_recovers(x):
    x.seconds = 60
    x.per_core(1)
    x.slower_by(lambda t: 1 + 2 * (t - 20) / 20 if 20 <= t < 40 else 1)
    x.expect("drop", "drift", "slow-op", start=20, end=40, near=4, allowed=("drop", "drift", "slow-op", "rise"))


@fault
def brown_out(x):
    """A bell around 30 s."""
    x.seconds = 60
    x.per_core(1)
    x.slower_by(lambda t: 1 + 2 * math.exp(-.5 * ((t - 30) / 6) ** 2))
    x.expect("drop", "slow-op", start=20, end=40, near=6, allowed=("drop", "slow-op", "drift", "rise"))


@fault
def sawtooth(x):
    x.seconds = 60
    x.per_core(1)
    x.slower_by(lambda t: 1 + 2 * (t % 12) / 12)
    x.expect("swings", period=12, allowed=("swings", "drop", "slow-op"))


@fault
def cold_start(x):
    x.per_core(3)
    x.slower(5, lambda t: t < 3)
    x.expect("warm-up", end=3, allowed=("warm-up", "rise"))


@fault
def capacity_falls(x):
    """All hosts work at a third of their speed from 20 s on."""
    x.share(.6)
    x.speed = lambda t, k: 1 / 3 if t >= 20 else 1.0
    x.expect("backlog", "drop", "slow-op", start=20, allowed=LEVEL + ("backlog", "late-starts", "latency"))


@fault
def work_grows(x):
    x.per_core(2)
    x.slower(1.6, lambda t: t >= 25)
    x.expect("drop", "slow-op", start=25, allowed=LEVEL)


@fault
def half_of_the_requests_miss(x):
    """A cache is lost."""
    x.per_core(2)
    x.slower_by(lambda t: 1 if t < 20 or x.random.random() < .5 else 3)
    x.expect("drop", "slow-op", start=20, allowed=LEVEL)


@fault
def some_reads_slow(x):
    """One of ten GETs takes six times as long from 15 s on."""
    x.per_core(.7)
    x.slower_by(lambda t: 6 if t >= 15 and x.random.random() < .1 else 1)
    x.expect("drop", "slow-op", start=15, allowed=LEVEL)


@fault
def cache_from_the_middle(x):
    x.per_core(2)
    x.slower_by(lambda t: .2 if t >= 20 and x.random.random() < .5 else 1)
    x.expect("rise", start=20, allowed=LEVEL)


@fault
def some_hang(x):
    """1 % of requests hang until a time-out and take all threads."""
    x.per_core(2)
    x.failing(.01, TIMED_OUT, 10)
    x.expect("errors", allowed=("stuck-thread", "left-out"))


@fault
def flapping_host(x):
    x.per_core(1)
    x.failing(1, REFUSED, .003, lambda t: t % 8 >= 6, host=1)
    x.expect("errors", host=x.host(1), allowed=("uneven-hosts",))


@fault
def failed_requests_hold_a_slot(x):
    """Failed requests at one host make the others wait: not a slow host."""
    x.limit = x.cores
    x.failed_hold = True
    x.per_core(1.5)
    x.failing(.1, INTERNAL, .1, host=1)
    x.expect("errors", host=x.host(1), allowed=("uneven-hosts",))


@fault
def failed_requests_hold_slots_everywhere(x):
    x.limit = x.cores
    x.failed_hold = True
    x.per_core(2)
    x.failing(.05, SLOW_DOWN, .2)
    x.expect("errors")


@fault
def all_slow_while_clocks_differ(x):
    x.n_clients, start = 2, x.random.uniform(10, 20)
    x.per_core(1)
    x.clock = lambda t, q: (-.25, .25)[q["client"]]
    x.slower(3, lambda t: start <= t < start + 6)
    x.expect("drop", "slow-op", start=start, end=start + 6, allowed=LEVEL)


# ---- The load changes, the store does not ----

def changed(x, at=20):
    x.expect(LOAD, start=at)


@change
def mix_for_puts(x):
    x.per_core(1)
    x.operation = lambda t, thread: "PUT" if x.random.random() < (.1 if t < 20 else .8) else "GET"
    changed(x)


@change
def mix_for_costly_puts(x):
    """All wait in one queue, so their durations do not show that a PUT is more work."""
    x.service = {**x.service, "PUT": 4 * x.service["GET"]}
    x.limit = x.cores
    x.per_core(6)
    x.operation = lambda t, thread: "PUT" if x.random.random() < (.1 if t < 20 else .7) else "GET"
    changed(x)


@change
def sizes_twice(x):
    x.size_of, x.client_card = lambda t, q: MIB << (t >= 20), lambda k: 120e6
    x.per_core(1)
    changed(x)


@change
def sizes_33_times(x):
    x.size_of = lambda t, q: 64 << 10 if t < 20 or x.random.random() < .5 else 4 * MIB
    x.host_card = lambda k: 400e6
    x.per_core(1)
    changed(x)


@change
def sizes_at_a_given_rate(x):
    x.size_of, x.host_card = lambda t, q: MIB << (t >= 20), lambda k: 800e6
    x.share(.5)
    changed(x)


@change
def threads_one_by_one(x):
    x.per_core(3)
    x.begins = lambda thread: thread * .5
    changed(x, None)


@change
def more_threads(x):
    x.per_core(2)
    n = x.threads * x.n_clients
    x.begins = lambda thread: 0 if thread < n // 2 else 20
    changed(x)


def offered(x, factor):
    """Poisson, with a rate that depends on the time: `factor` times half of what the hosts can do."""
    x.share(.5)
    base, x.rate, x.due, t = x.rate, 0.0, [], 0.0
    while t < x.seconds:
        t += x.random.expovariate(base * factor(t))
        x.due.append(t)


@change
def offered_rate(x):
    offered(x, lambda t: .8 if t < 20 else 1.4)
    changed(x)


@change
def offered_rate_falls(x):
    offered(x, lambda t: 1.4 if t < 20 else .7)
    changed(x)


@change
def offered_rate_in_steps(x):
    offered(x, lambda t: .4 + .4 * (t // 10))
    changed(x, None)


@change
def offered_rate_swings(x):
    """Whether that is told is not judged: only that it is no problem."""
    offered(x, lambda t: 1 + .4 * math.sin(2 * math.pi * t / 10))


@change
def offered_rate_swings_through_saturation(x):
    phase, x.last_first = x.random.uniform(0, 2 * math.pi), True
    offered(x, lambda t: 1.2 + .95 * math.sin(2 * math.pi * t / 40 + phase))


@change
def offered_rate_peaks(x):
    offered(x, lambda t: .8 + 1.4 * math.exp(-(((t - 20) / 5) ** 2)))
    x.last_first = True


@change
def hosts_from_two_to_four(x):
    x.hosts_of = lambda t, client: range(2 if t < 20 else 4)
    x.per_core(1.5)
    changed(x)


@change
def think_time_ends(x):
    x.per_core(2)
    x.rests = lambda t, thread: .05 if t < 20 else 20e-6


@change
def client_ends(x):
    """A client has done its share; the others go on."""
    x.per_core(2)
    x.spans = {1: (0, 24)}
    x.expect(LOAD, "absent-client", scopes={LOAD: [None], "absent-client": [{"client": x.client(1)}]}, start=24)


@change
def sizes_twice_and_a_slow_host(x):
    """A fault coincides: both are told."""
    x.size_of, x.client_card = lambda t, q: MIB << (t >= 20), lambda k: 400e6
    x.per_core(1)
    x.slower(3, lambda t: t >= 20, host=1)
    changed(x)
    x.expect("slow-host", host=x.host(1), start=20, allowed=LEVEL)
