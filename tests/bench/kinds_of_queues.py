"""Kinds of simulated runs in which hosts serve some requests at a time and queue the rest: with faults, and healthy."""
import collections
import math

from simulator import INTERNAL, MEASURED, REFUSED, SLOW_DOWN, TIMED_OUT

# ---- Workloads, as faults and healthy kinds meet them ----

MIXED = {"GET": .6, "PUT": .3, "STAT": .1}


def light(x):
    x.threads = x.n_hosts * x.slots // 2


def busy(x):
    x.threads = x.n_hosts * x.slots * 2


def thinking(x):
    x.think, x.threads = .08, x.n_hosts * x.slots


def clients(x):
    x.n_clients, x.threads = 4, x.n_hosts * x.slots // 8


def mixed(x):
    light(x)
    x.mix, x.slots = dict(MIXED), 4 * x.slots  # operations do not wait for each other


def open_loop(x):
    light(x)
    x.rate = .6 * x.n_hosts * x.slots / (x.service["GET"] * 1.07)
    x.threads = x.n_hosts * x.slots * 8


def window(x, low, high):
    n = x.random.uniform(low, high)
    start = x.random.uniform(.25, .6) * x.seconds
    return start, start + n


def moment(x):
    return x.random.uniform(.3, .65) * x.seconds


FAULTS = {}


def fault(*workloads):
    def register(function):
        for w in workloads or (light,):
            name = function.__name__ + ("" if len(workloads) < 2 else "_" + w.__name__)
            FAULTS[name.replace("_", "-")] = (w, function)
        return function
    return register


LEVEL = ("drop", "rise", "drift", "swings", "warm-up", "no-steady-state", "unsteady", "left-out", "slow-op")


@fault(light, busy, open_loop, thinking)
def host_slow(x):
    k, f = x.random.randrange(x.n_hosts), x.random.uniform(1.8, 3.5)
    x.slower(f, host=k)
    x.expect("slow-host", host=x.host(k), ratio=MEASURED, allowed=("backlog",) + (LEVEL if x.rate else ()))


@fault(light, busy, thinking)
def host_slow_tail(x):
    k, share = x.random.randrange(x.n_hosts), x.random.uniform(.05, .1)
    x.factors.append(lambda t, q: 10 if q["host"] == k and x.random.random() < share else 1)
    x.expect("slow-host", host=x.host(k))


@fault(busy)
def host_loses_packets(x):
    k, share = x.random.randrange(x.n_hosts), x.random.uniform(.03, .06)
    x.delay = lambda q: 20 * x.service["GET"] if q["host"] == k and x.random.random() < share else 0
    x.expect("slow-host", host=x.host(k))


@fault(light, clients)
def host_half_slower(x):
    k = x.random.randrange(x.n_hosts)
    x.slower(1.5, host=k)
    x.expect("slow-host", host=x.host(k), ratio=MEASURED)


@fault()
def host_half_slower_saturated(x):
    x.slots = x.random.choice([1, 2, 4, 8])
    x.threads = round(x.random.choice([1.5, 2, 3, 4]) * x.n_hosts * x.slots)
    x.spread, x.select = x.random.choice(list(SPREADS.values()))(x.random), x.random.choice(["random", "roundrobin"])
    host_half_slower(x)
    x.allowed |= set(LEVEL)


@fault(busy)
def host_half_slower_where_the_least_busy_is_chosen(x):
    k = x.random.randrange(x.n_hosts)
    x.select = "least-busy"
    x.slower(1.5, host=k)
    x.expect("slow-host", host=x.host(k), ratio=1.5)


@fault(light, mixed)
def host_slow_from(x):
    k, f, at = x.random.randrange(x.n_hosts), x.random.uniform(2.5, 4), moment(x)
    x.slower(f, lambda t: t >= at, host=k)
    x.expect("slow-host", host=x.host(k), ratio=MEASURED, start=at, allowed=LEVEL)


@fault()
def host_slow_again_and_again(x):
    k, f = x.random.randrange(x.n_hosts), x.random.uniform(3, 5)
    begins = [a * x.seconds for a in (.1, .3, .5, .75)]
    x.slower(f, lambda t: any(a <= t < a + .07 * x.seconds for a in begins), host=k)
    x.expect("slow-host", host=x.host(k), allowed=LEVEL)


@fault()
def host_slow_around_a_stall(x):
    k, start, n = x.random.randrange(x.n_hosts), x.random.uniform(.3, .5) * x.seconds, x.random.uniform(1, 2)
    end, at = start + .2 * x.seconds, start + .08 * x.seconds
    x.slower(3, lambda t: start <= t < end, host=k)
    x.stopped(at, at + n)
    x.expect("slow-host", host=x.host(k), start=start, end=end)
    x.expect("stall", start=at, end=at + n, allowed=LEVEL)


@fault()
def two_hosts_slow(x):
    f = x.random.uniform(2, 3)
    for k in x.random.sample(range(x.n_hosts), 2):
        x.slower(f, host=k)
        x.expect("slow-host", host=x.host(k), ratio=MEASURED)


@fault(mixed)
def host_slow_one_op(x):
    k, f = x.random.randrange(x.n_hosts), x.random.uniform(3, 5)
    x.slower(f, host=k, op="PUT")
    x.expect("slow-host", host=x.host(k), op="PUT", ratio=MEASURED, allowed=LEVEL)


@fault(light)
def host_slow_at_rare_puts(x):
    x.mix, x.slots = {"GET": .9, "PUT": .1}, 4 * x.slots
    k, f = x.random.randrange(x.n_hosts), x.random.uniform(2.5, 4)
    x.slower(f, host=k, op="PUT")
    x.expect("slow-host", host=x.host(k), op="PUT", ratio=MEASURED)


@fault(light)
def host_slow_at_large_objects(x):
    x.sizes, x.slots = [4 << 10] * 7 + [1 << 20], 4 * x.slots
    k, f = x.random.randrange(x.n_hosts), x.random.uniform(2.5, 4)
    x.slower(f, host=k, size=1 << 20)
    x.expect("slow-host", host=x.host(k))


@fault(clients)
def client_slow(x):
    k, f = x.random.randrange(x.n_clients), x.random.uniform(1.8, 3)
    x.slower(f, client=k)
    x.expect("slow-client", client=x.client(k), ratio=MEASURED)


@fault(clients)
def client_slow_at_a_host(x):
    k, h, f = x.random.randrange(x.n_clients), x.random.randrange(x.n_hosts), x.random.uniform(3, 6)
    x.slower(f, client=k, host=h)
    x.expect("slow-host", client=x.client(k), host=x.host(h), ratio=MEASURED)


@fault(clients)
def client_slow_from(x):
    k, f, at = x.random.randrange(x.n_clients), x.random.uniform(2, 3), moment(x)
    x.slower(f, lambda t: t >= at, client=k)
    x.expect("slow-client", client=x.client(k), ratio=MEASURED, start=at, allowed=LEVEL)


@fault(mixed)
def op_slow_for_a_while(x):
    start, end = window(x, 4, 8)
    x.slower(x.random.uniform(2, 4), lambda t: start <= t < end, op="PUT")
    x.expect("slow-op", op="PUT", start=start, end=end, allowed=LEVEL)


@fault(light, open_loop)
def size_slow_from(x):
    x.sizes, x.slots = [4 << 10] * 4 + [1 << 20], 4 * x.slots
    at = moment(x)
    x.slower(x.random.uniform(2, 4), lambda t: t >= at, size=1 << 20)
    x.expect("slow-op", start=at, allowed=LEVEL)


@fault(mixed)
def op_slow_twice(x):
    first, second = .2 * x.seconds, .6 * x.seconds
    x.slower(3, lambda t: first <= t < first + 5 or second <= t < second + 5, op="GET")
    for start in (first, second):
        x.expect("slow-op", op="GET", start=start, end=start + 5, allowed=LEVEL)


@fault(mixed)
def op_slow_from(x):
    f, at = x.random.uniform(2, 3), moment(x)
    x.slower(f, lambda t: t >= at, op="PUT")
    x.expect("slow-op", op="PUT", ratio=f, start=at, allowed=LEVEL)


@fault(light, busy, mixed, clients)
def level_falls(x):
    f, at = x.random.uniform(1.4, 2.2), moment(x)
    x.slower(f, lambda t: t >= at)
    x.expect("drop", start=at, ratio=1 / f, allowed=LEVEL)


@fault(light, busy)
def level_rises(x):
    f, at = x.random.uniform(1.4, 2), moment(x)
    x.slower(f, lambda t: t < at)
    x.expect("rise", "warm-up", start=None, allowed=LEVEL)


@fault(light, busy)
def level_falls_and_returns(x):
    f = x.random.uniform(1.8, 3)
    start, end = window(x, 6, 10)
    x.slower(f, lambda t: start <= t < end)
    x.expect("drop", start=start, end=end, ratio=1 / f, allowed=LEVEL)


@fault(light, busy)
def level_falls_twice(x):
    x.seconds = 60
    for low in .12, .55:
        start = x.random.uniform(low, low + .2) * x.seconds
        end = start + x.random.uniform(4, 7)
        x.slower(x.random.uniform(2, 4), lambda t, start=start, end=end: start <= t < end)
        x.expect("drop", "stall", start=start, end=end, allowed=("rise",))


@fault(light, thinking)
def drifts(x):
    f = x.random.uniform(1.8, 2.5)
    x.factors.append(lambda t, q: 1 + (f - 1) * t / x.seconds)
    if x.think:
        x.think = .01
    x.expect("drift", ratio=MEASURED, allowed=LEVEL + ("latency",))


@fault(light, busy)
def falls_little_by_little(x):
    x.seconds = 60
    start, f = x.random.uniform(.2, .4) * x.seconds, x.random.uniform(.8, 2)
    length = x.random.uniform(.2, .3) * x.seconds
    x.factors.append(lambda t, q: 1 + f * min(max((t - start) / length, 0), 1))
    x.expect("drop", start=start, near=.06 * x.seconds, ratio=1 / (1 + f), allowed=("drop",))


@fault(light, busy)
def warms_up_little_by_little(x):
    x.seconds = 60
    n, f = x.random.uniform(.25, .4) * x.seconds, x.random.uniform(1, 2)
    x.factors.append(lambda t, q: 1 + f * max(1 - t / n, 0))
    x.expect("warm-up", "rise", allowed=("warm-up",))


@fault()
def falls_faster_and_faster(x):
    f = x.random.uniform(1.5, 2.5)
    x.factors.append(lambda t, q: 1 + f * (t / x.seconds) ** 3)
    x.expect("drift", allowed=LEVEL)


@fault(light, busy)
def warms_up(x):
    n, f = x.random.uniform(.1, .2) * x.seconds, x.random.uniform(1.8, 2.5)
    x.slower(f, lambda t: t < n)
    x.expect("warm-up", end=n, ratio=1 / f, allowed=LEVEL)


@fault()
def cache_warms(x):
    n, f = x.random.uniform(.06, .1) * x.seconds, x.random.uniform(2, 4)
    x.factors.append(lambda t, q: 1 + f * math.exp(-t / n))
    x.expect("warm-up", "drift", "rise", allowed=LEVEL)


@fault(open_loop, thinking)
def latency_doubles(x):
    at, f = moment(x), x.random.uniform(1.8, 2.2)
    if x.rate:
        x.rate *= .6
        x.threads *= 2
    x.slower(f, lambda t: t >= at)
    x.expect("slow-op", "latency", "slow", start=at, ratio=MEASURED, allowed=LEVEL)


@fault(open_loop)
def latency_drifts(x):
    f = x.random.uniform(1, 2)
    x.rate *= .5
    x.threads *= 3
    x.factors.append(lambda t, q: 1 + f * t / x.seconds)
    x.expect("drift")


@fault(open_loop)
def latency_rises_twice(x):
    x.seconds = 60
    x.rate *= .5
    x.threads *= 3
    for low in .12, .55:
        start = x.random.uniform(low, low + .2) * x.seconds
        end = start + x.random.uniform(4, 7)
        x.slower(x.random.uniform(1.8, 2.5), lambda t, start=start, end=end: start <= t < end)
        x.expect("slow-op", start=start, end=end)


@fault(open_loop)
def latency_swings(x):
    x.seconds = 60
    x.rate *= .4
    x.threads *= 3
    period = x.seconds / x.random.uniform(2, 12)
    x.factors.append(lambda t, q: 1 + .6 * math.sin(2 * math.pi * t / period))
    x.expect("swings", period=period)


@fault(open_loop)
def tail_grows(x):
    x.rate *= .5
    x.threads *= 3
    at, share = moment(x), x.random.uniform(.03, .06)
    x.factors.append(lambda t, q: 10 if t >= at and x.random.random() < share else 1)
    x.expect("slow-op", start=at)


@fault(open_loop)
def cache_warms_at_a_given_rate(x):
    x.rate *= .4
    x.threads *= 3
    n, f = x.random.uniform(.06, .1) * x.seconds, x.random.uniform(1, 2)
    x.factors.append(lambda t, q: 1 + f * math.exp(-t / n))
    x.expect("warm-up")


@fault(open_loop)
def spike(x):
    start, end = window(x, 2, 4)
    x.slower(x.random.uniform(4, 6), lambda t: start <= t < end)
    x.expect("backlog", "drop", "stall", "slow-op", "latency", start=start, allowed=LEVEL)


@fault(open_loop)
def falls_behind(x):
    at = moment(x)
    x.slower(x.random.uniform(2.2, 3), lambda t: t >= at)
    x.expect("backlog", start=at, allowed=LEVEL + ("late-starts", "latency"))


@fault(light, busy, open_loop, clients)
def stalls(x):
    start, end = window(x, 1.2, 4)
    x.stopped(start, end)
    x.expect("stall", start=start, end=end, allowed=("backlog", "late-starts", "drop"))


@fault(light, clients)
def host_stalls(x):
    k = x.random.randrange(x.n_hosts)
    start, end = window(x, 3, 5)
    x.stopped(start, end, host=k)
    x.expect("stall", host=x.host(k), start=start, end=end)


@fault(clients)
def client_stalls(x):
    k = x.random.randrange(x.n_clients)
    start, end = window(x, 2, 4)
    x.stopped(start, end, client=k)
    x.expect("stall", client=x.client(k), start=start, end=end)


def pausing(x, low, high, **which):
    each, n = x.random.uniform(3, 5), x.random.uniform(low, high)
    at = x.random.uniform(.5, each)
    while at < x.seconds - 1:
        x.stopped(at, at + n, **which)
        at += each
    return {"period": each, "length": n}


@fault(light, busy)
def pauses(x):
    x.expect("pauses", **pausing(x, .4, .7), allowed=("stall",))


@fault(clients)
def client_pauses(x):
    k = x.random.randrange(x.n_clients)
    x.expect("pauses", **pausing(x, .3, .5, client=k), client=x.client(k), allowed=("stall",))


@fault(clients)
def client_pauses_long(x):
    k = x.random.randrange(x.n_clients)
    x.expect("pauses", **pausing(x, .9, 1.1, client=k), client=x.client(k), allowed=("stall",))


@fault(light)
def host_pauses(x):
    k = x.random.randrange(x.n_hosts)
    x.expect("pauses", **pausing(x, .8, 1.2, host=k), host=x.host(k), allowed=("stall",))


def swinging(x, cycles):
    x.seconds = 60
    period, depth = x.seconds / cycles, x.random.uniform(.45, .6)
    x.factors.append(lambda t, q: 1 / (1 - depth / 2 + depth / 2 * math.sin(2 * math.pi * t / period)))
    x.expect("swings", period=period, depth=depth, allowed=LEVEL)


@fault()
def swings_slowly(x):
    swinging(x, x.random.uniform(1.5, 4))


@fault()
def swings(x):
    swinging(x, x.random.uniform(5, 15))


@fault(light, mixed)
def errors_in_bursts(x):
    k, begin, every = x.random.randrange(x.n_hosts), x.random.uniform(2, 4), x.random.uniform(6, 8)
    x.failing(1, REFUSED, .01, lambda t: begin <= t and (t - begin) % every < 1.5, host=k)
    x.expect("errors", host=x.host(k))


@fault(light, mixed)
def errors_in_a_burst(x):
    start, end = window(x, 2, 4)
    x.failing(x.random.uniform(.3, .9), SLOW_DOWN, .005, lambda t: start <= t < end)
    x.expect("errors", start=start, end=end, allowed=LEVEL)


@fault(light, clients)
def errors_all_along(x):
    x.failing(x.random.uniform(.02, .1), INTERNAL, .01)
    x.expect("errors")


@fault()
def errors_all_along_and_a_burst(x):
    start, end = window(x, 2, 4)
    x.failing(.05, SLOW_DOWN, .01)
    x.failing(.97, SLOW_DOWN, .01, lambda t: start <= t < end)
    x.expect("errors", "drop", allowed=LEVEL)


@fault()
def errors_of_a_host(x):
    k = x.random.randrange(x.n_hosts)
    x.failing(x.random.uniform(.05, .2), INTERNAL, .01, host=k)
    x.expect("errors", host=x.host(k))


@fault(light, clients)
def host_down(x):
    k = x.random.randrange(x.n_hosts)
    start, end = window(x, 4, 8)
    x.failing(1, REFUSED, .003, lambda t: start <= t < end, host=k)
    x.expect("errors", host=x.host(k), start=start, end=end, allowed=LEVEL + ("uneven-hosts",))


@fault(light, busy)
def host_comes_back_slow(x):
    k = x.random.randrange(x.n_hosts)
    start, end = window(x, 3, 6)
    x.failing(1, REFUSED, .003, lambda t: start <= t < end, host=k)
    x.slower(3, lambda t: end <= t < end + 4, host=k)
    x.expect("errors", host=x.host(k), start=start, end=end, allowed=LEVEL + ("uneven-hosts",))


@fault(busy)
def client_refused(x):
    """A request that is refused at once waits in no queue."""
    x.n_clients, x.threads = 3, x.n_hosts * x.slots
    k, at = x.random.randrange(x.n_clients), moment(x)
    x.failing(.9, "403 Forbidden", .003, lambda t: t >= at, client=k)
    x.expect("errors", client=x.client(k), start=at, allowed=LEVEL)


@fault()
def host_down_to_the_end(x):
    k, at = x.random.randrange(x.n_hosts), moment(x)
    x.failing(1, REFUSED, .003, lambda t: t >= at, host=k)
    x.expect("errors", host=x.host(k), start=at, allowed=LEVEL + ("uneven-hosts",))


@fault(mixed)
def errors_of_an_operation(x):
    x.failing(x.random.uniform(.05, .2), INTERNAL, .01, op="PUT")
    x.expect("errors", op="PUT")


@fault(clients)
def client_cannot_reach_a_host(x):
    k, h = x.random.randrange(x.n_clients), x.random.randrange(x.n_hosts)
    start, end = window(x, 4, 8)
    x.failing(1, REFUSED, .01, lambda t: start <= t < end, client=k, host=h)
    x.expect("errors", start=start, end=end, client=x.client(k), host=x.host(h), allowed=LEVEL + ("uneven-hosts",))


@fault()
def request_hangs(x):
    start = x.random.uniform(.2, .3) * x.seconds
    end = x.random.uniform(.75, .9) * x.seconds
    k = x.random.randrange(x.threads)
    x.stopped(start, end, thread=k)
    x.expect("stuck-thread", thread=k, start=start, end=end, allowed=("left-out",))


@fault()
def request_hangs_until_timeout(x):
    at, k = moment(x), x.random.randrange(x.threads)
    hung = []

    def fail(t, q):
        if q["thread"] == k and t >= at and not hung:
            hung.append(1)
            return TIMED_OUT, 10.0
        return None
    x.fails.append(fail)
    x.expect("stuck-thread", thread=k, start=at, allowed=("left-out", "errors"))


@fault(clients)
def client_leaves(x):
    k, at = x.random.randrange(x.n_clients), x.random.uniform(.5, .75) * x.seconds
    x.spans[k] = (0, at)
    x.expect("absent-client", client=x.client(k), start=at, allowed=LEVEL)


@fault(clients)
def client_comes_late(x):
    k, at = x.random.randrange(x.n_clients), x.random.uniform(.2, .5) * x.seconds
    x.spans[k] = (at, x.seconds)
    x.expect("absent-client", client=x.client(k), end=at, allowed=LEVEL)


@fault(clients)
def clock_jumps(x):
    k, at, by = x.random.randrange(x.n_clients), moment(x), x.random.choice([-1, 1]) * x.random.uniform(3, 6)
    x.clock = lambda t, q: by if q["client"] == k and t >= at else 0.0
    x.expect("clock-jump", client=x.client(k), allowed=LEVEL)


@fault(light, mixed)
def store_dies(x):
    at = x.random.uniform(.4, .8) * x.seconds
    x.failing(1, REFUSED, .02, lambda t: t >= at)
    x.expect("no-success", "errors", "stopped", start=at, allowed=LEVEL)


@fault(open_loop)
def outage_in_an_hour(x):
    x.seconds, x.rate, x.threads = 1800, 8, 400
    start = x.random.uniform(.3, .6) * x.seconds
    x.stopped(start, start + 60)
    x.expect("stall", "drop", start=start, allowed=("backlog", "late-starts", "drop", "rise"))


@fault()
def large_objects_slow(x):
    x.sizes = [4 << 10, 1 << 20]
    at, f = moment(x), x.random.uniform(2.5, 4)
    x.slower(f, lambda t: t >= at, size=1 << 20)
    x.expect("drop", "slow-op", "latency", start=at, allowed=LEVEL)


@fault(clients)
def hosts_uneven(x):
    x.choose_host = lambda thread, turn, free: 0 if x.random.random() < .5 else x.random.randrange(x.n_hosts)
    x.slots *= 6
    x.expect("uneven-hosts")


# ---- Healthy runs ----

HEALTHY = {}
SPREADS = {
    "constant": lambda r: lambda: r.uniform(.98, 1.02),
    "exponential": lambda r: lambda: r.expovariate(1),
    "lognormal": lambda r: lambda: math.exp(r.gauss(0, .35)),
}


def saturated(load, spread, select, mix=None):
    def change(x):
        x.mix = mix or x.mix
        x.slots = x.random.choice([1, 2, 4])
        x.threads = max(2, round(load * x.n_hosts * x.slots))
        x.spread, x.select = SPREADS[spread](x.random), select
    return change


for load_ in (.5, 1, 2, 4):
    for spread_ in SPREADS:
        select_ = ("random", "roundrobin", "least-busy", "fixed")[(int(load_ * 2) + len(spread_)) % 4]
        HEALTHY[f"healthy-saturated-{load_}-{spread_}-{select_}"] = saturated(load_, spread_, select_)
for select_ in ("random", "roundrobin", "least-busy", "fixed"):
    HEALTHY[f"healthy-saturated-3-exponential-{select_}"] = saturated(3, "exponential", select_)
    HEALTHY[f"healthy-saturated-2-mixed-{select_}"] = saturated(2, "lognormal", select_, MIXED)


def healthy(function):
    HEALTHY[function.__name__.replace("_", "-")] = function
    return function


@healthy
def healthy_open_loop(x):
    open_loop(x)


@healthy
def healthy_open_loop_poisson(x):
    open_loop(x)
    x.poisson = True


@healthy
def healthy_thinking(x):
    thinking(x)


@healthy
def healthy_mixed(x):
    mixed(x)


@healthy
def healthy_clients(x):
    clients(x)


@healthy
def healthy_clocks_apart(x):
    """Each client's clock is off by up to 0.4 s."""
    x.n_clients, x.threads = 4, max(x.n_hosts * x.slots // 3, 1)
    x.spread, x.select = (lambda: x.random.expovariate(1)), "roundrobin"
    off = [x.random.uniform(-.4, .4) for _ in range(x.n_clients)]
    x.clock = lambda t, q: off[q["client"]]


@healthy
def healthy_sizes(x):
    light(x)
    x.sizes = [4 << 10, 64 << 10, 1 << 20, 4 << 20]


@healthy
def healthy_heavy_tail(x):
    light(x)
    x.spread = lambda: .6 * x.random.paretovariate(2.4)


@healthy
def healthy_cache_hits(x):
    light(x)
    x.spread = lambda: x.random.uniform(.9, 1.1) * (.2 if x.random.random() < .8 else 3)


@healthy
def healthy_one_thread(x):
    x.threads = 1


@healthy
def healthy_one_host(x):
    x.n_hosts = 1


@healthy
def healthy_many_hosts(x):
    x.n_hosts, x.slots, x.threads = 30, 2, 40


@healthy
def healthy_short(x):
    light(x)
    x.seconds = 8


@healthy
def healthy_few_requests(x):
    x.threads, x.service = 4, {k: v * 10 for k, v in x.service.items()}


@healthy
def healthy_one_after_another(x):
    light(x)
    x.seconds = 30

    def operation(t, thread):
        if t >= 20 + .02 * (thread % 2):
            return "DELETE"
        return "GET" if t >= 10 + .02 * (thread % 2) else "PUT"
    x.operation = operation


@healthy
def healthy_fixed_number(x):
    """Each thread makes the same number of requests, so threads end one after the other."""
    light(x)
    x.seconds, n, made = 300, x.random.choice([100, 300]), collections.Counter()

    def operation(t, thread):
        made[thread] += 1
        return "GET" if made[thread] <= n else None
    x.operation = operation


@healthy
def healthy_one_client_after_the_other_begins(x):
    light(x)
    x.n_clients, x.threads = 24, 2
    x.spans = {k: (k * .15, x.seconds) for k in range(x.n_clients)}


@healthy
def healthy_slow_noise(x):
    light(x)
    x.noise, x.noise_s = .08, x.random.uniform(1, 10)

