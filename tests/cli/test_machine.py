"""What s3load records of its machine, and what s3analyze makes of it; and the lock against two loads at once."""

import json
import os
import pathlib
import signal
import socket
import threading
import unittest

from capgen import START, steady, text
from harness import TIMEOUT_S, CliTest, unwrapped, wait_until
from loadcase import Capture, LoadTest, apart_from_speed, has_rows, recorded

SCHEMA = "# s3load/machine/1 "
COUNTERS = {"cpu_ns", "busy_ns", "steal_ns", "cpu_stall_ns", "memory_stall_ns", "n_throttled", "throttled_ns", "rx_bytes",
            "tx_bytes", "n_dropped", "n_retransmits", "wait_ns", "loops"}


def samples(capture):
    """The comments between the first and the last."""
    return [json.loads(line[len(SCHEMA):]) for line in capture.text.split("\n") if line.startswith(SCHEMA)]


class Root:
    """A folder that replaces /, with the files of a machine without a fault."""

    def __init__(self, path):
        self.path = path
        self.stat(steal=0)
        self.put("proc/loadavg", "1.00 1.00 1.00 7/100 4242\n")
        self.put("proc/thread-self/schedstat", "8000000 2000000 7\n")
        self.put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\n")
        self.put("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 total=1\n")
        self.put("proc/self/cgroup", "0::/user/load\n")
        self.throttle(0, 0)
        self.put("sys/fs/cgroup/user/cpu.max", "150000 100000\n")
        for cpu in 0, 1:
            self.put(f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", "performance\n")
        self.put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")
        self.put("sys/class/net/lo/speed", "25000\n")
        self.traffic(0)
        self.put("adjtimex", "status 1\nmaxerror 250\n")

    def put(self, name, text):
        """Replaces the file in one step, as s3load may read it now."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").rename(path)

    def stat(self, steal):
        self.put("proc/stat", f"cpu  10 20 30 40 50 60 70 {steal} 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")

    def throttle(self, n, us):
        for group in "user/load", "user":
            self.put(f"sys/fs/cgroup/{group}/cpu.stat", f"nr_periods 9\nnr_throttled {n}\nthrottled_usec {us}\n")

    def traffic(self, n):
        for name in "rx_bytes", "tx_bytes", "rx_dropped", "tx_dropped":
            self.put(f"sys/class/net/lo/statistics/{name}", f"{n}\n")


class Recording(LoadTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.root = Root(self.tmp / "root")

    def environment(self):
        return {**super().environment(), "S3LOAD_TEST_ROOT": str(self.tmp / "root")}

    def load_and(self, change, *options):
        """A load; the machine changes during its benchmark."""
        def changed(path):
            c = recorded(path)
            if c is None or not c.of("GET"):
                return False
            change()
            return True
        return self.load_until(changed, "get", "--objects", "1", "--obj.size", "1KiB", "--concurrent", "1", *options)

    def test_state_and_counters(self):
        c = self.load_and(lambda: (self.root.stat(steal=700), self.root.throttle(3, 4000), self.root.traffic(9)))
        start, end = c.start["machine"], c.end["machine"]
        self.assertEqual(start["over_ns"], 0)
        self.assertEqual(set(start) & COUNTERS, set())
        for told in start, end:
            self.assertEqual({k: told[k] for k in told if k not in COUNTERS - {"at_ns"}} | {
                "governor": "performance", "interface": "lo", "n_running": 7, "quota_cpus": 2,
                "setup_cpu_ns": 8_000_000, "setup_wait_ns": 2_000_000, "link_bits_per_s": 25 * 10**9, "clock_error_ns": 250_000, "clock_synchronised": 1, "turbo": 0,
                "client": c.rows[0].client, "cpus": os.sysconf("SC_NPROCESSORS_ONLN")},
                {k: told[k] for k in told if k not in COUNTERS - {"at_ns"}})
        self.assertEqual(set(end) & COUNTERS, COUNTERS)
        tick_ns = 10**9 // os.sysconf("SC_CLK_TCK")
        self.assertEqual([end[k] for k in ("steal_ns", "busy_ns", "memory_stall_ns", "n_throttled", "throttled_ns",
                                           "rx_bytes", "tx_bytes", "n_dropped", "wait_ns", "loops")],
                         [700 * tick_ns, 0, 0, 6, 8_000_000, 9, 9, 18, 2_000_000, 1])
        self.assertGreater(end["cpu_ns"], 0)
        self.assertGreater(end["over_ns"], 0)
        self.assertGreaterEqual(end["at_ns"], max(r.start for r in c.rows))

    def test_what_64_bits_cannot_hold_is_left_out(self):
        """Also sums of it. A sum that wraps around would pass for a small figure."""
        huge = 2**63 - 1

        def change():
            self.root.put("proc/stat", f"cpu  {huge} {huge} 100 40 50 60 70 {huge} 0 0\n")
            self.root.put("proc/pressure/memory", f"some total={huge}\n")
            self.root.throttle(huge, huge)
            self.root.traffic(huge)
        end = self.load_and(change).end["machine"]
        self.assertEqual(set(end) & COUNTERS, {"cpu_ns", "n_retransmits", "cpu_stall_ns", "wait_ns", "loops"})
        end = self.load_and(lambda: self.root.throttle(2, -huge)).end["machine"]
        self.assertEqual({"n_throttled", "throttled_ns"} & set(end), set())

    def test_unknown_is_left_out(self):
        for file in self.root.path.rglob("*"):
            if file.is_file():
                file.write_text("\n" if file.name == "speed" else "")
        c = self.load("get", "--objects", "1", "--obj.size", "1KiB", "--requests", "5")[1]
        for told in c.start["machine"], c.end["machine"]:
            self.assertEqual(set(told) - {"cpu_ns", "n_retransmits", "loops"}, {"at_ns", "over_ns", "client", "interface", "cpus"})

    def test_every_ten_seconds(self):
        def has_two(path):
            c = recorded(path)
            return c is not None and len(samples(c)) >= 2
        c = self.load_until(has_two, "get", "--objects", "1", "--obj.size", "1KiB", "--rps-limit", "20")
        told = [c.start["machine"], *samples(c), c.end["machine"]]
        self.assertEqual(set(told[1]), set(told[-1]))
        overs = [t["over_ns"] for t in told]
        self.assertEqual(overs, sorted(overs))
        for a, b in zip(told[1:], told[2:]):
            self.assertEqual(b["at_ns"] - a["at_ns"], b["over_ns"] - a["over_ns"])
        for a, b in zip(told, told[1:-1]):
            self.assertGreaterEqual(b["over_ns"] - a["over_ns"], 10**10)

    def test_real_files(self):
        """On any machine the figures are whole numbers, and CPU time was used."""
        c = self.load("get", "--objects", "1", "--obj.size", "1KiB", "--requests", "5",
                      env={"S3LOAD_TEST_ROOT": ""})[1]
        told = c.end["machine"]
        texts = {"client", "governor", "interface"}
        self.assertEqual({type(v) for k, v in told.items() if k not in texts}, {int})
        self.assertGreaterEqual(min(told[k] for k in set(told) - texts), 0)
        self.assertGreater(told["cpu_ns"], 0)


class Dropping:
    """A server that answers no connection until one has sent its first segment again: its backlog is full, so the kernel
    drops new ones. Then it answers each request with an empty object."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.port = self.listener.getsockname()[1]
        self.hosts = f"127.0.0.1:{self.port}"
        self.filler = socket.socket()
        self.ended = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def has_retransmitted(self):
        """Whether a socket that connects to us (SYN_SENT) has retransmits, by /proc/net/tcp."""
        for line in pathlib.Path("/proc/net/tcp").read_text().split("\n")[1:]:
            f = line.split()
            if len(f) > 6 and f[2].endswith(f":{self.port:04X}") and f[3] == "02" and int(f[6], 16) > 0:
                return True
        return False

    def answer(self, c):
        with c:
            while data := c.recv(65536):
                if b"\r\n\r\n" in data:
                    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"a\"\r\n\r\n")

    def run(self):
        first, _ = self.listener.accept()
        self.filler.setblocking(False)
        self.filler.connect_ex(("127.0.0.1", self.port))  # a backlog of 0 holds one connection
        threading.Thread(target=self.answer, args=(first,), daemon=True).start()
        wait_until(lambda: self.has_retransmitted() or self.ended.is_set())
        while not self.ended.is_set():
            c, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(c,), daemon=True).start()

    def stop(self):
        self.ended.set()
        self.listener.close()
        self.filler.close()


class Retransmits(LoadTest):
    server_class = Dropping

    def test_they_are_recorded(self):
        """The connection of the first request is established by its second segment: a retransmit of that time."""
        self.start()
        c = self.load_until(has_rows, "put", "--noclear", "--obj.size", "1KiB", "--concurrent", "1")
        told = c.end["machine"]
        seconds = [s for o in [*samples(c), told] for s in o.get("retransmits", [])]
        self.assertGreaterEqual(told["n_retransmits"], 1)
        self.assertEqual(sum(n for _, _, n in seconds), told["n_retransmits"])
        row = c.rows[0]
        self.assertTrue(any(since < row.end and row.start < until for since, until, _ in seconds), (seconds, vars(row)))
        self.assertEqual([s for s in seconds if s[0] >= s[1]], [])


# The comment of a machine without a fault after a run of 20 s.
FINE = {"client": "c1", "over_ns": 20 * 10**9, "cpus": 4, "busy_ns": 10**9, "steal_ns": 4 * 10**8, "n_throttled": 0,
        "throttled_ns": 0, "rx_bytes": 10**9, "tx_bytes": 10**6, "link_bits_per_s": 10**9, "clock_synchronised": 1,
        "governor": "performance", "interface": "eth0", "n_retransmits": 0, "cpu_ns": 10**10, "loops": 4, "wait_ns": 9 * 10**9,
        "setup_cpu_ns": 8 * 10**6, "setup_wait_ns": 10**6}
# Its threads were ready for 22 s, and waited for 12 s of these; 15 % of 4 x 20 s.
WAITED = {"wait_ns": 12 * 10**9}
END = {"event": "end", "end": "duration", "error": None, "requests": 4000, "errors": 0, "connects": 4,
       "bytes": 10**9, "bench_ns": 20 * 10**9, "max_thread_cpu_pct": 12.5, "client_bound": False, "clock": []}

# Kind: severity, keys of the last comment, words of the sentence.
FAULTS = {
    "steal": ("problem", {"steal_ns": 20 * 10**8}, "gave 2.5 % of the CPU time of client c1 to others"),
    "throttled": ("problem", {"n_throttled": 4, "throttled_ns": 10**9}, "stopped threads on the machine of client c1 for 5 %"),
    "governor": ("notice", {"governor": "powersave"}, "frequency governor powersave, not performance"),
    "machine-busy": ("problem", {"busy_ns": 76 * 10**9}, "busy for 95 % of the time"),
    "cpu-wait": ("notice", WAITED, "s3load on client c1 waited 15 % of the time for a CPU"),
    "link-full": ("problem", {"rx_bytes": 245 * 10**7}, "carried 98 % of what it can"),
    "link-exceeded": ("problem", {"link_bits_per_s": 10**8, "rx_bytes": 10**7}, "moved 400 % of what its network link"),
    "clock-unsynchronised": ("notice", {"clock_synchronised": 0}, "The kernel of client c1 says that its clock is not synchronised"),
}
KINDS = {*FAULTS, "retransmits"}


class Findings(CliTest):
    def put(self, name, *runs, rows=None):
        """A capture of runs with several machine objects each; the last one is in the closing comment."""
        header, body = text(rows or steady(1000, threads=4, every=20_000_000)).decode().split("\n", 1)
        lines = []
        for told in runs:
            told = [{**FINE, "at_ns": START + t.get("over_ns", FINE["over_ns"]), **t} for t in told]
            lines.append("# s3load/1 " + json.dumps({"event": "start", "machine": {**told[0], "over_ns": 0}}))
            lines += [SCHEMA + json.dumps(t) for t in told[:-1]]
            lines.append("# s3load/1 " + json.dumps({**END, "machine": told[-1]}))
        path = self.tmp / name
        path.write_text(header + "\n" + body + "".join(line + "\n" for line in lines))
        return path

    def found(self, *argv):
        return {f["kind"]: f for f in self.s3analyze("analyze", "--json", *argv).json()["findings"] if f["kind"] in KINDS}

    def test_each_fault_is_a_finding(self):
        self.assertEqual(self.found(self.put("fine.csv", [{}])), {})
        clients = [r._replace(client=f"c{r.thread % 2 + 1}") for r in steady(1000, threads=4, every=20_000_000)]
        for kind, (severity, told, sentence) in FAULTS.items():
            with self.subTest(kind):
                path = self.put(f"{kind}.csv", [{**told, "over_ns": 10**9, "steal_ns": 0}, told], rows=clients)
                found = self.found(path)
                self.assertEqual(set(found), {kind})
                self.assertEqual(found[kind]["severity"], severity)
                self.assertIn(sentence, found[kind]["sentence"])
                self.assertEqual(found[kind]["evidence"]["n_clients"], 1)
                self.assertIn(sentence, unwrapped(self.s3analyze("analyze", path).out))

    def test_unknown_is_no_fault(self):
        """Nothing is known of a machine, numbers are nonsense, or the run never began."""
        nothing = {k: None for k in FINE if k not in ("client", "over_ns")}
        odd = {k: "x" for k in nothing if k != "governor"} | {"retransmits": [[1], 7, [1, 2, "a"], [5, 4, 3], {}]}
        huge = {k: -2**63 for k in nothing}
        for told in nothing, odd, huge, {"at_ns": 2**63 - 1, "over_ns": -1}, {"over_ns": 0, "clock_synchronised": 0}, {"over_ns": -5}, {"cpus": 0}:
            self.assertEqual(self.found(self.put("odd.csv", [told])), {})
        self.found(self.put("large.csv", [{k: 2**63 - 1 for k in nothing}]))
        path = self.tmp / "odd.csv"
        path.write_text(path.read_text() + "# s3load/machine/1 \n# s3load/machine/1 [\n# s3load/machine/1 7\n# s3load/machine/1 {}\n")
        self.assertEqual(self.found(path), {})

    def test_clock_of_a_single_client_is_no_matter(self):
        self.assertEqual(self.found(self.put("one.csv", [{"clock_synchronised": 0}])), {})

    def test_server_on_the_same_machine_may_keep_it_busy(self):
        self.assertEqual(self.found(self.put("lo.csv", [{"interface": "lo", "busy_ns": 80 * 10**9}])), {})

    def test_waits_for_a_cpu(self):
        """A server on the same machine may be what s3load waits for, unless s3load had to wait before it sent anything."""
        busy = {"setup_wait_ns": 3 * 10**6}
        for told, found in ((WAITED, True), ({**WAITED, "interface": "lo"}, False), ({**WAITED, **busy, "interface": "lo"}, True),
                            (busy, False), ({**WAITED, "cpu_ns": 12 * 10**9}, False), ({"cpu_ns": 10**7, "wait_ns": 7 * 10**8}, False),
                            ({**WAITED, "setup_cpu_ns": None, "interface": "lo"}, False)):
            with self.subTest(told):
                self.assertEqual(set(self.found(self.put("wait.csv", [told]))), {"cpu-wait"} if found else set())

    def test_an_answer_that_depends_on_the_machine(self):
        for told, said in (WAITED, True), ({}, False):
            folder = self.tmp / f"plan {said}"
            self.s3analyze("plan", "--begin", "capacity", "--slo", "p50<1s", "--dir", folder, "--command", "get")
            self.put("run.csv", [told]).rename(folder / "run-001-100.csv.zst")
            self.assertEqual("s3load waited up to 15 % of the time for a CPU: the answer depends on that." in
                             unwrapped(self.s3analyze("plan", folder, status=3).out), said)

    def test_a_search_on_a_busy_machine(self):
        """A run that did not meet the assertions while s3load waited does not count, unless more requests were late than that
        explains, or some failed. After --max-runs such runs the search ends."""
        def plan(end, rows):
            """What a plan of two runs says, and whether each counts. All requests begin when they are due."""
            folder = self.tmp / f"plan {end} {len(rows)}"
            self.s3analyze("plan", "--begin", "capacity", "--slo", "p50<1ms", "--max-runs", "2", "--dir", folder, "--command", "get")
            for number in 1, 2:
                path = self.put("run.csv", [WAITED], rows=rows)
                header, *lines = path.read_text().replace('"requests": 4000', f'"requests": 4000, {end}').splitlines()
                at = header.split("\t").index("start")
                lines = [line if line.startswith("#") else f"{line}\t{line.split(chr(9))[at]}" for line in lines]
                (folder / f"run-00{number}-100.csv.zst").write_text("\n".join([header + "\tintended", *lines, ""]))
            runs = self.s3analyze("plan", "--json", folder, status=3).json()["runs"]
            return unwrapped(self.s3analyze("plan", folder, status=3).out), [r["counts"] for r in runs]

        rows = steady(1000, threads=4, every=20_000_000)
        said, counts = plan('"not_begun": 0', rows)
        self.assertEqual(counts, [False, False])
        self.assertIn("The machine was too busy: repeat it in another --dir when nothing else runs there. s3load waited up to 15 % of "
                      "the time for a CPU: runs that did not meet the assertions then do not count.", said)
        self.assertIn("s3load waited 15 % of the time for a CPU; p50<1ms: ", said)
        self.assertEqual(plan('"not_begun": 2000', rows)[1], [True, True])
        self.assertEqual(plan('"not_begun": 0', rows[:-2] + [rows[-1]._replace(error="503")])[1], [True, True])

    def test_steal_of_some_seconds_is_a_notice(self):
        told = [{"over_ns": 10**10, "steal_ns": 0}, {"steal_ns": 7 * 10**8}]
        found = self.found(self.put("brief.csv", told))
        self.assertEqual((set(found), found["steal"]["severity"]), ({"steal"}, "notice"))
        self.assertIn("For some seconds the hypervisor gave 1.8 %", found["steal"]["sentence"])

    def test_killed_run_has_its_last_comment(self):
        path = self.put("killed.csv", [{"steal_ns": 0, "over_ns": 10**9}, {"steal_ns": 30 * 10**8}, {}])
        path.write_text("".join(path.read_text().splitlines(True)[:-1]))
        self.assertEqual(set(self.found(path)), {"steal"})

    def test_clients_of_a_merge(self):
        """Each client's comments stay its own, also in a capture merged again, and one finding names the worst."""
        def run(client, steal):
            return [{"client": client, "steal_ns": 0, "over_ns": 10**9}, {"client": client, "steal_ns": steal}]
        a, b, c = (self.put(f"{name}.csv", run(name, steal), rows=steady(1000 + i, threads=4, every=20_000_000))
                   for i, (name, steal) in enumerate([("a", 8 * 10**9), ("b", 16 * 10**9), ("c", 0)]))
        merged, again = self.tmp / "m.csv.zst", self.tmp / "n.csv.zst"
        self.s3analyze("merge", "--force", "-o", merged, a, b)
        self.s3analyze("merge", "--force", "-o", again, merged, c)
        lines = [line for line in Capture(again).text.split("\n") if line.startswith("#")]
        order = [json.loads(line.split(" ", 2)[2])["client"] for line in lines if SCHEMA in line]
        self.assertEqual(order, ["a", "b", "c"])
        self.assertIn("event\": \"start", lines[lines.index(next(x for x in lines if SCHEMA in x)) - 1])
        for path in merged, again:
            found = self.found(path)
            self.assertEqual(set(found), {"steal"})
            self.assertEqual(found["steal"]["evidence"], {"steal_pct": 20, "n_clients": 2})
            self.assertIn("client b (and of 1 more)", found["steal"]["sentence"])
        sums = self.tmp / "m.sums.zst"
        self.s3analyze("aggregate", "-o", sums, again)
        self.assertEqual(self.found(sums)["steal"]["evidence"], {"steal_pct": 20, "n_clients": 2})

    def test_comments_of_a_day_survive_a_merge(self):
        told = [{"over_ns": (i + 1) * 10**10, "n": i} for i in range(8640)]
        merged = self.tmp / "m.csv.zst"
        r = self.s3analyze("merge", "-o", merged, self.put("day.csv", told))
        self.assertNotIn("not carried over", r.out + r.err)
        self.assertEqual([json.loads(line[len(SCHEMA):])["n"] for line in Capture(merged).text.split("\n")
                          if line.startswith(SCHEMA)], list(range(8639)))

    def test_retransmits_explain_a_stall(self):
        rows = steady(1000, threads=4, every=10_000_000)
        gap = rows[2000].start
        rows = [r._replace(start=r.start + (r.start >= gap) * 3 * 10**9, end=r.end + (r.end >= gap) * 3 * 10**9)
                for r in rows]

        def stall(*seconds):
            path = self.put("stall.csv", [{"over_ns": 10**9}, {"retransmits": list(seconds)}], rows=rows)
            found = self.s3analyze("analyze", "--json", path).json()["findings"]
            return [(f["kind"], f["severity"], [found[i]["kind"] for i in f["because"]]) for f in found]
        during = [gap + 5 * 10**8, gap + 25 * 10**8, 12]
        alone = [("stall", "problem", [])]
        self.assertEqual(stall(during), [("retransmits", "problem", []), ("stall", "notice", ["retransmits"])])
        self.assertEqual(stall([gap - 4 * 10**9, gap - 2 * 10**9, 12]), alone)
        # The usual number of retransmits explains nothing.
        self.assertEqual(stall(*([gap + i * 10**9, gap + (i + 1) * 10**9, 12] for i in range(-6, 10))), alone)
        self.assertEqual(stall(), alone)


if __name__ == "__main__":
    unittest.main()
