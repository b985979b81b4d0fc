"""Faults that a server really has while s3load loads it, and what s3analyze makes of the recording. A busy machine may add
findings of its own; those of the faults must be there."""
import json
import signal
import socket
import statistics
import threading
import time

from loadcase import LoadTest
from test_findings import seconds

# The time of an answer without a fault.
USUAL = "op=GET,latency=lognormal:4ms:0.3"


class RealFaults(LoadTest):
    def findings(self, *options):
        _, self.capture = self.load("get", "--objects", "20", "--obj.size", "4KiB", "--concurrent", "16", *options)
        return json.loads(self.s3analyze("analyze", "--json", self.capture.path).out)["findings"]

    def check_problem(self, findings, kind, scope):
        """The longest problem of the kind; a busy machine may add others."""
        of_kind = [f for f in findings if (f["severity"], f["kind"], f["scope"]) == ("problem", kind, scope)]
        self.assertTrue(of_kind, [(f["severity"], f["scope"], f["sentence"]) for f in findings])
        return max(of_kind, key=lambda f: seconds(f["end"]) - seconds(f["start"]) if "start" in f else 0)

    def host(self, i):
        return {"host": f"http://127.0.0.1:{self.server.ports[i]}"}

    def test_a_host_four_times_as_slow(self):
        """A busy machine adds latency of its own to both: what was recorded is compared."""
        self.start("--fault", "op=GET,latency=lognormal:50ms:0.3", "--fault",
                   "server=1,op=GET,latency=lognormal:150ms:0.3", n_ports=3)
        slow = self.check_problem(self.findings("--duration", "4s"), "slow-host", self.host(1))
        took = {True: [], False: []}
        for r in self.capture.rows:
            if r.op == "GET" and not r.error:
                took[r.endpoint == self.host(1)["host"]].append(r.end - r.start)
        recorded = statistics.median(took[True]) / statistics.median(took[False])
        self.assertAlmostEqual(slow["ratio"] / recorded, 1, delta=.25)

    def test_a_server_that_stops(self):
        self.start("--fault", USUAL)
        sent = []

        def send(what):
            self.server.process.send_signal(what)
            sent.append(time.monotonic())
        timers = [threading.Timer(at, send, [s]) for at, s in ((1.5, signal.SIGSTOP), (4.5, signal.SIGCONT))]
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        for t in timers:
            t.start()
            self.addCleanup(t.cancel)
        stall = self.check_problem(self.findings("--duration", "6s"), "stall", None)
        self.assertAlmostEqual(seconds(stall["end"]) - seconds(stall["start"]), sent[1] - sent[0], delta=.5)

    def test_errors_for_two_seconds(self):
        self.start("--fault", USUAL, "--fault", "op=GET,fail=503:0.3,during=1s:2s")
        errors = self.check_problem(self.findings("--duration", "4s"), "errors", None)
        self.assertAlmostEqual(seconds(errors["end"]) - seconds(errors["start"]), 2, delta=.5)
        self.assertAlmostEqual(errors["evidence"]["share_within"], .3, delta=.1)

    def test_a_host_that_refuses(self):
        self.start("--fault", USUAL, n_ports=2)
        with socket.socket() as bound:  # and does not listen
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
            found = self.findings("--duration", "4s", "--host", f"{self.server.hosts},127.0.0.1:{port}")
        self.check_problem(found, "errors", {"host": f"http://127.0.0.1:{port}"})
