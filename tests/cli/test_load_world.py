"""s3load in a world that changes: clocks that are set, names with several addresses. (tests/fault/world.c
changes it.)"""
import datetime
import re
import signal
import time
import unittest

from harness import SANITIZED, TIMEOUT_S, preload, without_sanitizers
from loadcase import LoadTest, apart_from_speed, has_rows, n_hosts, recorded
from servers import Listening

ENDLESS = ("--obj.size", "1KiB", "--concurrent", "1", "--noclear")
SMALL = (*ENDLESS, "--requests", "10")
STEP_NS = 3600 * 10**9


class Recorder(Listening):
    """Says 200 to anything, with a clock that is `ahead_s`, and closes every second connection after one
    answer; keeps what the requests of each connection were; on_request is called at each. With `stale` it sends
    the time at which it was made."""

    def __init__(self, address="127.0.0.1", port=0, ahead_s=0, on_request=lambda: None, keep=False, stale=False):
        self.ahead = datetime.timedelta(seconds=ahead_s)
        self.stale = datetime.datetime.now(datetime.timezone.utc) if stale else None
        self.on_request = on_request
        self.keep = keep
        self.heads = []
        super().__init__(address, port)

    def serve(self, c):
        with c:
            text = b""
            while True:
                while b"\r\n\r\n" not in text:
                    data = c.recv(1 << 16)
                    if not data:
                        return
                    text += data
                head, text = text.split(b"\r\n\r\n", 1)
                length = re.search(rb"(?i)content-length: (\d+)", head)
                n = int(length[1]) if length else 0
                while len(text) < n:
                    text += c.recv(1 << 16)
                text = text[n:]
                self.heads.append(head.decode())
                date = (self.stale or datetime.datetime.now(datetime.timezone.utc)) + self.ahead
                self.on_request()
                close = "" if self.keep else "Connection: close\r\n"
                c.sendall(f"HTTP/1.1 200 OK\r\nDate: {date:%a, %d %b %Y %H:%M:%S} GMT\r\n{close}"
                          "Content-Length: 0\r\n\r\n".encode())
                if not self.keep:
                    return

    def times(self):
        """When the requests were signed, in seconds."""
        dates = [re.search(r"(?i)x-amz-date: (\S+)", head)[1] for head in self.heads]
        return [datetime.datetime.strptime(d + "+0000", "%Y%m%dT%H%M%SZ%z").timestamp() for d in dates]


class World(LoadTest):
    def setUp(self):
        super().setUp()
        self.step = self.tmp / "step"
        self.log = self.tmp / "world.log"

    def environment(self):
        changed = {} if SANITIZED else preload("world.so")
        return {**super().environment(), **changed, "WORLD_STEP": str(self.step),
                "WORLD_LOG": str(self.log)}

    def counts(self):
        return {name: int(n) for name, n in (line.split() for line in self.log.read_text().splitlines())}

    def recorder(self, *args, **kwargs):
        server = Recorder(*args, **kwargs)
        self.addCleanup(server.stop)
        return server

    def two_addresses(self):
        """Servers on two addresses and one port, and the name of both."""
        a = self.recorder("127.0.0.1")
        b = self.recorder("127.0.0.2", a.port)
        return a, b, f"store.example:{a.port}", {"WORLD_NAME": "store.example=127.0.0.1,127.0.0.2"}

    @without_sanitizers("they want to be loaded first")
    def test_names_are_looked_up_once(self):
        """For the run, not for each connection; these take turns at the addresses."""
        a, b, name, env = self.two_addresses()
        c = self.load_until(lambda _: len(a.heads + b.heads) > 9, "put", *ENDLESS, "--host", name, env=env)
        self.assertEqual(c.errors(), [])
        self.assertGreater(c.end["connects"], 4)
        self.assertEqual(self.counts()["lookups"], 1)
        self.assertLess(abs(len(a.heads) - len(b.heads)), 3)
        self.assertEqual({r.endpoint for r in c.rows}, {f"http://{name}"})

    @without_sanitizers("they want to be loaded first")
    def test_resolve_host(self):
        """A host for each address, which is named so in the capture, and by its name to the server."""
        a, b, name, env = self.two_addresses()
        c = self.load_until(lambda path: n_hosts(path) == 2, "put", *ENDLESS, "--host", f"{name},127.0.0.1:{a.port}",
                            "--resolve-host", "--host-select", "roundrobin", env=env)
        self.assertEqual(c.errors(), [])
        self.assertEqual({r.endpoint for r in c.rows}, {f"http://127.0.0.{i}:{a.port}" for i in (1, 2)})
        self.assertEqual(self.counts()["lookups"], 1)
        self.assertEqual({re.search(r"(?i)host: (\S+)", head)[1] for head in b.heads}, {name})

    def test_hosts_from_a_file(self):
        """A host or range in each line; what is wrong is told by its line."""
        servers = [self.recorder() for _ in range(3)]
        path = self.tmp / "hosts"
        lines = ["# ours", "", *(f"  127.0.0.1:{s.port} \r" for s in servers)]
        path.write_text("\n".join(lines))
        c = self.load_until(lambda capture: n_hosts(capture) == 3, "put", *ENDLESS, "--host", f"file:{path}",
                            "--host-select", "roundrobin")
        self.assertEqual({r.endpoint for r in c.rows}, {f"http://127.0.0.1:{s.port}" for s in servers})
        for text, line, why in (("a\n\nb:x\nc\n", 3, "port is not a number"), ("# none\n", 3, "the file has no host"),
                                ("a,b\n", 1, "unexpected ','")):
            path.write_text(text)
            r = self.s3load("put", *SMALL, "--host", f"file:{path}", status=2)
            self.assertIn(f"{path}:{line}: ", r.err)
            self.assertIn(why, r.err)
        r = self.s3load("put", "--host", f"file:{self.tmp / 'none'}", status=2)
        self.assertIn("cannot read", r.err)

    @without_sanitizers("they want to be loaded first")
    def test_digests_between_arrivals(self):
        """At most two large pieces, however many requests are to begin, and however they come due."""
        self.start()
        for options in ((), ("--rate", "1000"), ("--md5",)):
            with self.subTest(options=options):
                _, c = self.load("put", *options, "--obj.size", "1MiB", "--concurrent", "32", "--requests",
                                 "64")
                self.assertEqual(c.errors(), [])
                self.assertIn(self.counts()["digests"], (1, 2))

    @without_sanitizers("they want to be loaded first")
    def test_digests_that_fail(self):
        """A request without its digests is not sent."""
        self.start()
        r = self.s3load("put", "--obj.size", "1MiB", "--concurrent", "2", "--requests", "10",
                        env={"WORLD_NO_DIGESTS": "1"}, status=1)
        self.assertIn("cannot digest a payload", r.err)
        self.assertEqual([x for x in self.server.log() if x["op"] == "PUT"], [])

    @without_sanitizers("they want to be loaded first")
    def test_clock_that_is_set(self):
        """Requests are signed with the new time, rows go on in the old one, and the step is told."""
        server = self.recorder(on_request=self.step.touch)
        before = datetime.datetime.now().timestamp()
        c = self.load_until(lambda _: len(server.heads) > 4, "put", *ENDLESS, "--host", f"127.0.0.1:{server.port}")
        times = server.times()
        self.assertGreater(len(times), 2)
        self.assertLess(times[0], before + 1800)
        for at in times[1:]:
            self.assertGreater(at, before + 1800)
        for row in c.rows:
            self.assertLess(row.end, (before + 1800) * 1e9)
        for end in (c.end, c.state):
            self.assertLess(abs(end["clock_change_ns"] - STEP_NS), 10**9)

    @without_sanitizers("they want to be loaded first")
    def test_clock_that_is_refused(self):
        """Where a server refuses our time, requests are signed with its own: each worker has one that fails at most,
        and its objects are deleted; HEAD is refused without a word."""
        self.start()
        for command, options in (("put", ()), ("stat", ("--objects", "4"))):
            with self.subTest(command):
                self.step.unlink(missing_ok=True)

                def done(path, op=command.upper()):
                    capture = recorded(path)
                    rows = capture.of(op) if capture else []
                    failed = [r.start for r in rows if r.error]
                    if sum(not r.error for r in rows) > 4:
                        self.step.touch()
                    return len(failed) > 8 or failed and sum(r.start > failed[0] and not r.error for r in rows) > 4
                c = self.load_until(done, command, *options, "--obj.size", "1KiB", "--concurrent", "2")
                self.assertIn(len(c.errors()), (1, 2))
                self.assertEqual(c.state["error"], None)
                self.assertEqual(self.keys(), 0)
                report = self.s3analyze("analyze", "--json", c.path).json()
                self.assertIn("clock-step", [f["kind"] for f in report["findings"] if f["severity"] == "problem"])

    @without_sanitizers("they want to be loaded first")
    def test_clock_that_is_wrong_from_the_beginning(self):
        self.start()
        self.step.touch()
        _, c = self.load("put", *SMALL)
        self.assertEqual(c.errors(), [])
        self.s3load("clean", "--run", c.start["run_id"])
        self.assertEqual(self.keys(), 0)

    def test_stop_of_s3load(self):
        """It is in the last comment, by the clock of the rows: a loop that runs wakes up more often. A machine that is
        busy may stop it too."""
        self.start()
        path = self.tmp / "stop.csv.zst"
        p = self.begin("put", *ENDLESS, "--benchdata", path, "--duration", "1h")
        self.wait_until(lambda: has_rows(path), p)
        self.stop_process(p.pid)
        began = time.time_ns()
        time.sleep(0.5)  # not decisive: longer than a loop waits
        ended = time.time_ns()
        p.send_signal(signal.SIGCONT)
        self.wait_until(lambda: any(r.start > ended for r in recorded(path).rows), p)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=TIMEOUT_S)
        stops = [(s["at_ns"], s["at_ns"] + s["length_ns"]) for s in recorded(path).end["stops"]]
        self.assertTrue(any(at < began and end > ended for at, end in stops), (began, ended, stops))

    def test_clock_of_a_server(self):
        """Is told where it is more than a second off, of several servers once; and not where it is right."""
        hosts = [self.recorder(ahead_s=s) for s in (-100, 3600, 0)]
        p = self.begin("put", *ENDLESS, "--stress", "--json", "--host-select", "roundrobin", "--host",
                       ",".join(f"127.0.0.1:{h.port}" for h in hosts))
        self.wait_until(lambda: all(len(h.heads) > 4 for h in hosts), p)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=TIMEOUT_S)[1].decode()
        self.assertRegex(apart_from_speed(err), r"\As3load: the clocks of 2 of 3 servers are off by more "
                         rf"than 1 s: that of http://127.0.0.1:{hosts[1].port} is at least (59m59|1h0m0)\S* ahead of "
                         r"this machine's\n\Z")
        r = self.s3load("put", *SMALL, "--stress", "--json", "--host", f"127.0.0.1:{hosts[2].port}")
        self.assertEqual(apart_from_speed(r.err), "")

    def test_date_that_is_old(self):
        """Servers make a Date now and then: one that may be so old says nothing against a clock."""
        server = self.recorder(stale=True, ahead_s=-3)
        path = self.tmp / "old.csv.zst"
        r = self.s3load("put", *SMALL, "--json", "--benchdata", path, "--host", f"127.0.0.1:{server.port}")
        self.assertEqual(apart_from_speed(r.err), "")
        for said in (recorded(path).start, recorded(path).end):
            for clock in said["clock"]:
                self.assertLess(clock["ahead_min_ns"], 0)
                self.assertGreater(clock["ahead_max_ns"], 0)
        self.assertEqual(len(recorded(path).end["clock"]), 1)

    def test_clock_of_a_server_without_a_run(self):
        """Is told though none begins."""
        server = self.recorder(ahead_s=-100)
        r = self.s3load("get", "--stress", "--list-existing", "--host", f"127.0.0.1:{server.port}", status=1)
        self.assertIn("behind this machine's", r.err)


if __name__ == "__main__":
    unittest.main()
