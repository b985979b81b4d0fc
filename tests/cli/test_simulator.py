"""The simulator of tests/bench/findings: its stations end requests when theory says so, and its judge judges."""
import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import unittest

from harness import ROOT, CliTest

BENCH = ROOT / "tests" / "bench"
sys.path.insert(0, str(BENCH))
import kinds_of_cores  # noqa: E402
import kinds_of_queues  # noqa: E402
from stations import FOREVER, SharedRun, Station  # noqa: E402


def bench():
    loader = importlib.machinery.SourceFileLoader("bench_findings", str(BENCH / "findings"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def ends(station, arrivals, speeds=()):
    """When requests end that arrive at (time, work); the speed changes at (time, speed)."""
    events = sorted([(t, 1, work, k) for k, (t, work) in enumerate(arrivals)] + [(t, 0, speed, None) for t, speed in speeds])
    out = {}
    while events or station.next() < FOREVER:
        if events and events[0][0] <= station.next():
            t, is_arrival, x, k = events.pop(0)
            if is_arrival:
                station.add(t, x, k)
            else:
                station.advance(t)
                station.speed = x
        else:
            now = station.next()
            out[station.pop(now)] = now
    return [out[k] for k in range(len(arrivals))]


class Stations(CliTest):
    def assert_ends(self, station, arrivals, expected, speeds=()):
        for got, want in zip(ends(station, arrivals, speeds), expected, strict=True):
            self.assertAlmostEqual(got, want)

    def test_cores_are_shared(self):
        self.assert_ends(Station(2), [(0, 1)] * 3, [1.5] * 3)
        self.assert_ends(Station(2), [(0, 1), (0, 1)], [1, 1])
        self.assert_ends(Station(1), [(0, 2), (1, .25)], [2.25, 1.5])

    def test_the_others_wait_first_in_first_out(self):
        self.assert_ends(Station(1, 1), [(0, 2), (1, 1), (1.5, .5)], [2, 3, 3.5])
        self.assert_ends(Station(1, 2), [(0, 1), (0, 1), (0, 1)], [2, 2, 3])

    def test_speed_changes(self):
        self.assert_ends(Station(1), [(0, 2)], [3], [(1, .5)])
        self.assert_ends(Station(1), [(0, 2)], [6], [(1, 0), (5, 1)])


class Runs(CliTest):
    def rows_of(self, change):
        x = SharedRun("a run")
        x.seconds, x.noise = 5, 0
        x.spread = lambda: 1.0
        change(x)
        return x, x.requests()

    def test_busy_hosts_do_what_their_cores_can(self):
        """12 cores, 20 ms a request; 24 threads always have one in flight."""
        def change(x):
            x.n_clients, x.select = 1, "least-busy"
            x.per_core(2)
        _, rows = self.rows_of(change)
        self.assertAlmostEqual(len(rows) / (5 * 12 / .020), 1, delta=.05)
        in_flight = sum(end - start for start, end, *_ in rows) / 5
        self.assertAlmostEqual(in_flight / 24, 1, delta=.03)
        self.assertGreater(min(end - start for start, end, *_ in rows), .020)

    def test_network_cards_share_their_bytes(self):
        def change(x):
            x.per_core(1)
            x.client_card = lambda k: 5e6
        x, rows = self.rows_of(change)
        for client in range(x.n_clients):
            read = sum(q["size"] for _, _, q, *_ in rows if q["client"] == client)
            self.assertAlmostEqual(read / 5 / 5e6, 1, delta=.1)

    def test_a_lock_serves_one_at_a_time(self):
        def change(x):
            x.per_core(4)
            x.locks = {0: (.050, None)}
            x.popularity = [1, 2]  # two objects alike
        _, rows = self.rows_of(change)
        n = [sum(q["object"] == k for _, _, q, *_ in rows) for k in range(2)]
        self.assertAlmostEqual(n[0], 5 / .050, delta=50)  # and those that wait at the end
        self.assertLess(n[1], n[0] * 2)

    def test_open_loop_begins_when_due_if_a_thread_is_free(self):
        def change(x):
            x.share(.5)
            x.threads = 1
        _, rows = self.rows_of(change)
        self.assertTrue(all(intended is not None and start >= intended for start, _, _, _, intended in rows))
        self.assertTrue(any(start > intended for start, _, _, _, intended in rows))
        for start, _, q, *_ in rows:
            same = [s for s, end, p, *_ in rows if p["thread"] == q["thread"] and s < start < end]
            self.assertEqual(same, [])

    def test_failed_requests_hold_a_slot_if_they_shall(self):
        def change(holds):
            def with_failures(x):
                x.limit, x.failed_hold = 1, holds
                x.per_core(2)
                x.failing(.5, "failed", .1)
            return with_failures
        n = [sum(not error for *_, error, _ in self.rows_of(change(holds))[1]) for holds in (False, True)]
        self.assertGreater(n[0], n[1] * 2)

    def test_kinds_have_names_of_their_own_and_a_truth(self):
        tables = (kinds_of_queues.FAULTS, kinds_of_queues.HEALTHY, kinds_of_cores.FAULTS, kinds_of_cores.HEALTHY,
                  kinds_of_cores.CHANGES)
        self.assertEqual(len(bench().KINDS), sum(map(len, tables)))
        for name in kinds_of_cores.FAULTS:
            x = SharedRun(name)
            kinds_of_cores.FAULTS[name](x)
            self.assertTrue(x.want, name)
        for name in kinds_of_cores.HEALTHY:
            x = SharedRun(name)
            kinds_of_cores.HEALTHY[name](x)
            self.assertEqual((x.want, x.factors, x.fails), ([], [], []), name)

    def test_a_seed_gives_the_same_run_again(self):
        def rows():
            x = SharedRun("a seed")
            kinds_of_cores.HEALTHY["healthy-cores-random-system"](x)
            x.seconds = 1
            return x.requests()
        self.assertEqual(rows(), rows())


def finding(kind, severity="problem", **more):
    return {"kind": kind, "severity": severity, "sentence": "", "evidence": {}, **more}


class Judge(CliTest):
    def judge(self, name, findings):
        """found, first and the number of false problems."""
        x = SharedRun(name)
        module = bench()
        module.KINDS[name][1](x)
        for want in x.want:
            want.pop("ratio", None)
        found, first, false, _ = module.judge(x, findings)
        return found, first, len(false)

    def test_a_problem_of_a_healthy_run_is_false(self):
        self.assertEqual(self.judge("healthy-cores-sparse", [finding("slow-host", scope={"host": "h"})]), ([], True, 1))
        self.assertEqual(self.judge("healthy-cores-sparse", [finding("drop", "notice")]), ([], True, 0))

    def test_either_is_the_truth(self):
        host = "https://node{}.store.example:9000".format
        two = finding("slow-host", scope={"host": host(2), "hosts": [host(2), host(3)]})
        self.assertEqual(self.judge("two-of-three-hosts-slow", [two]), ([True, True], True, 0))
        fast = finding("fast-host", scope={"host": host(1)})
        self.assertEqual(self.judge("two-of-three-hosts-slow", [fast]), ([True, True], True, 0))
        wrong = finding("slow-host", scope={"host": host(1)})
        self.assertEqual(self.judge("two-of-three-hosts-slow", [wrong]), ([False, False], False, 1))

    def test_the_operation_is_that_of_the_truth(self):
        host = {"host": "https://node3.store.example:9000"}
        self.assertEqual(self.judge("delete-slow-at-a-host", [finding("slow-host", scope=host)])[0], [False])
        self.assertEqual(self.judge("delete-slow-at-a-host", [finding("slow-host", scope=host, op="DELETE")])[0], [True])

    def test_problems_of_the_sums_alone(self):
        program = self.tmp / "program"
        host = {"kind": "slow-host", "severity": "problem", "scope": {"host": "h"}}
        program.write_text(f"#!{sys.executable}\nimport json, sys\nif sys.argv[1] == 'analyze':\n"
                           f"    host = {host!r}\n    kinds = ['drop'] * sys.argv[-1].endswith('.sums') + ['stall']\n"
                           "    print(json.dumps({'findings': [host] + [{'kind': k, 'severity': 'problem'} for k in kinds]}))\n")
        program.chmod(0o755)
        module = bench()
        other = {**host, "scope": {"host": "i"}}
        self.assertEqual(module.only_in_sums(program, "run.csv", module.findings_of(program, "run.csv")),
                         [{"kind": "drop", "severity": "problem"}])
        self.assertEqual([f["kind"] for f in module.only_in_sums(program, "run.csv", [other])],
                         ["slow-host", "drop", "stall"])

    def test_totals_by_class(self):
        """runs, those with a false problem, faults, found, first, false problems, numbers told, right ones"""
        for name, row, is_good in (
                ("healthy-x", (30, 2, 0, 0, 0, 5, 0, 0), False), ("healthy-x", (30, 1, 0, 0, 0, 5, 0, 0), True),
                ("load-x", (30, 1, 30, 30, 0, 1, 0, 0), False), ("load-x", (30, 0, 30, 9, 0, 0, 0, 0), True),
                ("x", (100, 0, 100, 94, 94, 0, 0, 0), False), ("x", (100, 3, 100, 95, 92, 3, 20, 19), True),
                ("x", (100, 0, 100, 95, 91, 0, 0, 0), False), ("x", (100, 4, 100, 95, 92, 4, 0, 0), False)):
            with self.subTest(name=name, row=row), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(bench().summary({name: row}, 1 / 30), is_good)


if __name__ == "__main__":
    unittest.main()
