"""Whether what s3load records is what happened: against the log of the target, row by row."""
import collections
import itertools
import os
import pathlib
import random
import resource
import signal
import subprocess

from harness import BUILD, TIMEOUT_S, unwrapped
from loadcase import Capture, LoadTest, has_rows, recorded
from servers import Held, Scripted

MS = 10**6
KILLS = int(os.environ.get("S3LOAD_KILLS", "8"))
AUTOTERMS = int(os.environ.get("S3LOAD_AUTOTERMS", "2"))


class Truth(LoadTest):
    def logged(self):
        """The target's log of recorded requests, by thread and seq; a listing has several."""
        by_row = collections.defaultdict(list)
        for line in self.server.log():
            parts = line["user_agent"].split("/")
            if len(parts) == 4:
                by_row[int(parts[2]), int(parts[3])].append(line)
        return by_row

    def assert_as_logged(self, capture):
        """Each row is what the target did. A request takes at least as long here as there; by how much longer depends on the
        machine, and what else it does. Of a request that was sent twice the first time is in the log too."""
        logged = self.logged()
        n_resent = 0
        for r in capture.rows:
            lines = logged.pop((r.thread, r.seq), [])
            self.assertTrue(lines, f"{r.op} {r.thread}/{r.seq} was never received")
            line = lines[-1]
            if r.op != "LIST":
                self.assertLessEqual(len(lines), 2)
                self.assertEqual([l["fault"] for l in lines[:-1]], ["reset"] * (len(lines) - 1))
                n_resent += len(lines) - 1
                self.assertEqual(line["key"], r.file if r.op != "DELETE" or r.file else "")
            self.assertEqual(line["op"], r.op)
            fault, status = line["fault"], int(line["status"])
            self.assertEqual(bool(r.error), status >= 300 or fault not in ("", "slow", "delay"),
                             (r.error, line))
            if r.error:
                if status >= 300:
                    self.assertIn(f"HTTP {status}", r.error)
                continue
            n_bytes = line["bytes_in"] if r.op == "PUT" else line["bytes_out"]
            self.assertEqual(r.bytes, int(n_bytes) if r.op in ("PUT", "GET") else 0)
            self.assertEqual(r.n_objects, sum(int(l["n_objects"]) for l in lines if not l["fault"] == "reset"))
            took = sum(max(int(l["queued_ns"]), int(l["last_ns"])) - int(l["start_ns"])
                       for l in lines)
            self.assertGreater(r.duration, took)
            if r.op == "GET":
                # The first byte was handed over before it was read here.
                self.assertGreaterEqual(r.first_byte - r.start,
                                        int(line["first_ns"]) - int(line["received_ns"]))
        self.assertEqual(list(logged), [], "requests without a row")
        self.assertEqual(n_resent, capture.end["resent"])

    def test_mixed(self):
        self.start("--fault", "latency=exp:3ms", "--fault", "op=GET,fail=503:0.05", "--fault",
                   "op=GET,truncate=0.02,reset=0.02", "--seed", "7")
        c = self.load_until(lambda path: has_rows(path, 2000), "mixed", "--objects", "50", "--obj.size", "20KiB",
                            "--obj.randsize", "--concurrent", "16")
        self.assertGreater(len(c.errors()), 10)
        self.assertTrue(any("SlowDown" in r.error for r in c.errors()))
        self.assert_as_logged(c)

    def test_get_list_delete(self):
        self.start("--fault", "latency=uniform:1ms:5ms")
        for command in ("get", "list", "delete", "stat", "put"):
            with self.subTest(command=command):
                self.start("--fault", "latency=uniform:1ms:5ms")
                own = [] if command == "put" else ["--objects", "300"]
                _, c = self.load(command, *own, "--obj.size", "3KiB", "--concurrent", "8",
                                 "--requests", "300")
                self.assertEqual(c.errors(), [])
                self.assert_as_logged(c)

    def test_latency_of_known_law(self):
        """Delays of the server show, whatever their law."""
        for law, mean_ms in (("5ms", 5), ("exp:4ms", 4), ("uniform:1ms:9ms", 5)):
            self.start("--fault", f"op=PUT,latency={law}")
            c = self.load_until(lambda path: has_rows(path, 1000), "put", "--obj.size", "1KiB", "--concurrent", "8")
            self.assert_as_logged(c)
            mean = sum(r.duration for r in c.rows) / len(c.rows) / MS
            self.assertGreater(mean, mean_ms * 0.9)

    def test_corruption(self):
        self.start("--fault", "op=GET,corrupt=0.2")
        args = ("get", "--objects", "5", "--obj.size", "100KiB", "--concurrent", "4")
        _, c = self.load(*args, "--requests", "100")
        self.assertEqual(c.errors(), [])
        c = self.load_until(lambda path: has_rows(path, 100, "GET"), *args, "--verify", "1")
        bad = [r for r in c.errors() if "not what was uploaded" in r.error]
        corrupted = [l for l in self.logged().values() if l[0]["fault"] == "corrupt"]
        self.assertTrue(bad)
        self.assertEqual(len(bad), len(c.errors()))
        self.assertTrue(corrupted)
        # Of so many the share is as expected, but for 5 standard deviations.
        c = self.load_until(lambda path: has_rows(path, 1000, "GET"), *args, "--verify", "3")
        share = len(c.errors()) / len(c.of("GET"))
        self.assertTrue(0.02 < share < 0.15, share)

    def test_nothing_succeeds(self):
        """A run in which every request failed has failed."""
        self.start("--fault", "op=PUT,fail=503:1")
        path = self.tmp / "failed.csv.zst"
        r = self.s3load("put", "--obj.size", "1KiB", "--concurrent", "2", "--requests", "10",
                        "--benchdata", path, status=1)
        c = Capture(path)
        self.assertIn("none of 10 requests succeeded", r.err)
        self.assertIn("SlowDown", r.out)
        self.assertEqual((len(c.errors()), len(c.rows)), (10, 10))

    def test_stalled_server_times_out(self):
        self.start("--fault", "op=PUT,stall=300ms:1h")

        def late(path):
            c = recorded(path)
            return [r for r in c.rows if "timeout" in r.error] if c else []
        c = self.load_until(lambda path: len({r.thread for r in late(path)}) == 4, "put", "--request-timeout",
                            "500ms", "--concurrent", "4", "--obj.size", "1KiB")
        self.assertEqual([r for r in late(c.path) if r.duration < 500 * MS], [])

    def test_bodies_in_chunks(self):
        """A body in chunks does not say its length. s3load sees its end, and does not wait for a time-out."""
        for command in ("get", "list"):
            self.start("--fault", "chunked=1", "--fault", "op=GET,slow=8MiB:1")
            _, c = self.load(command, "--objects", "3", "--obj.size", "300KiB", "--concurrent", "3",
                             "--requests", "9")
            self.assertEqual(c.errors(), [])
            self.assert_as_logged(c)

    def test_open_loop_shows_a_stall(self):
        """A server that stands still for two seconds: response times tell, as only two requests are in flight."""
        self.start("--fault", "op=PUT,stall=500ms:2s")
        state, c = self.load("put", "--rate", "100", "--concurrent", "2", "--obj.size", "1KiB", "--requests", "400")
        self.assertEqual((len(c.rows), state["not_begun"]), (400, 0))
        due = sorted(r.intended for r in c.rows)
        self.assertEqual([round(at - due[0], -3) for at in due], [i * 10 * MS for i in range(400)])
        # Of the requests that are due in the first of the two seconds, all but two begin after them.
        self.assertGreaterEqual(sum(r.start - r.intended > 900 * MS for r in c.rows), 100 - 2)
        requests = self.s3analyze("analyze", "--json", c.path).json()["operations"][0]["requests"]
        self.assertGreater(requests["response_time"]["p99_ns"], 900 * MS)
        self.assertRegex(self.s3analyze("analyze", c.path).out, "(?i)response")

    def test_open_loop_that_ends_too_soon(self):
        """What is due and not begun is counted, and leaves gaps: the server answers nothing."""
        self.start("--fault", "op=PUT,latency=1h")
        state, c = self.load("put", "--rate", "100", "--concurrent", "2", "--obj.size", "1KiB", "--request-timeout", "2s",
                             # not decisive: what begins and what does not are counted together
                             "--duration", "1s", "--noclear", status=1)
        self.assertLessEqual(len(c.rows), 2)
        self.assertEqual(len(c.rows) + state["not_begun"], 100)

    def test_rare_requests(self):
        """Due times that lie beyond all time, as that of request 9500, are not taken for the past."""
        if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 10000:
            self.skipTest("so many files cannot be open")
        self.start()
        c = self.load_until(has_rows, "put", "--rate", "0.000001", "--concurrent", "9500", "--obj.size", "1")
        self.assertEqual(len(c.rows), 1)
        self.assertEqual(c.end["not_begun"], 0)

    def test_scheduling_policy_is_kept(self):
        self.start("--fault", "latency=1ms")
        path = self.tmp / "batch.csv.zst"
        p = self.begin("put", "--obj.size", "1", "--duration", "1h", "--benchdata", path, "--threads", "2",
                       preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
        self.wait_until(lambda: has_rows(path), p)
        threads = [int(t) for t in os.listdir(f"/proc/{p.pid}/task")]
        policies = {os.sched_getscheduler(t) for t in threads}
        p.send_signal(signal.SIGINT)
        p.communicate()
        self.assertEqual(p.returncode, 130)
        self.assertGreaterEqual(len(threads), 2 + 4)  # the thread sanitizer has one of its own
        self.assertEqual(policies, {os.SCHED_BATCH})

    def test_host_selection(self):
        self.start(n_ports=3)
        _, c = self.load("put", "--host-select", "roundrobin", "--concurrent", "6", "--obj.size",
                         "1KiB", "--requests", "300")
        n = collections.Counter(r.endpoint for r in c.rows)
        self.assertEqual(len(n), 3)
        self.assertLessEqual(max(n.values()) - min(n.values()), 2)

        # The slow one gets fewer: one that takes longer than any machine is busy.
        self.start("--fault", "server=0,op=PUT,latency=2s", n_ports=3)
        slow = self.server.ports[0]
        c = self.load_until(lambda path: has_rows(path, 2, host=slow), "put", "--concurrent", "6", "--obj.size",
                            "1KiB")
        n = collections.Counter(r.endpoint for r in c.rows)
        self.assertLess(n.pop(f"http://127.0.0.1:{slow}"), min(n.values()))

    def test_random_sizes(self):
        """Equal numbers for each of the highest doublings, a chi-square test at 1 in 10,000 (of which one worker with a seed
        gets the same always)."""
        self.start()
        # 20 of each are enough for chi-square.
        _, c = self.load("put", "--obj.size", "64KiB", "--obj.randsize", "--concurrent", "1", "--requests", "800",
                         "--seed", "42")
        sizes = [r.bytes for r in c.rows]
        self.assertTrue(all(1 <= s <= 65536 for s in sizes))
        # D = 8 doublings: the lowest share of two is linear below 2^(m+1), then one each.
        edges = [0, 512] + [512 << i for i in range(1, 8)]
        n = [sum(a < s <= b for s in sizes) for a, b in zip(edges, edges[1:])]
        expected = len(sizes) / 8
        chi2 = sum((k - expected) ** 2 / expected for k in n)
        self.assertLess(chi2, 29.9, n)

    def test_seed(self):
        """The same seed, the same sizes and choices."""
        self.start()
        runs = [self.load("get", "--objects", "20", "--obj.size", "10KiB", "--obj.randsize",
                          "--concurrent", "1", "--requests", "100", "--seed", "5")[1]
                for _ in range(2)]
        a, b = ([(r.op, r.bytes, r.file.split("/", 1)[1]) for r in c.rows] for c in runs)
        self.assertEqual(a, b)

    def test_autoterm_as_replayed(self):
        """Live and replay stop at the same instant."""
        self.start("--fault", "latency=5ms")
        for i in range(AUTOTERMS):
            for command, own in (("put", []), ("mixed", ["--objects", "50"])):
                state, c = self.load(command, *own, "--obj.size", "1KiB", "--concurrent", "8",
                                     "--autoterm", "--autoterm.dur", "500ms", "--autoterm.pct",
                                     "50", "--duration", "1h")
                replay = self.s3analyze("autoterm", "--json", "--autoterm.dur", "500ms",
                                        "--autoterm.pct", "50", c.path).json()
                self.assertEqual(state["end"], "autoterm")
                self.assertEqual([o["stop"]["at_s"] for o in replay["operations"] if o["stopped"]],
                                 [state["autoterm"]["at_s"]])


class Crashes(LoadTest):
    def run_and(self, act, *options, command="put", path=None):
        """Starts s3load, calls act(process) once its capture is begun, waits; returns status, capture
        and stderr."""
        path = path or self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
        p = self.begin(command, "--obj.size", "1KiB", "--benchdata", path, *options)
        self.wait_until(lambda: recorded(path), p)
        act(p)
        out, err = p.communicate(timeout=TIMEOUT_S)
        return p.returncode, Capture(path) if path.exists() else None, err.decode()

    def test_kill(self):
        """SIGKILL: what was recorded stays there, and reads without --salvage but for the cut end. Nothing is recorded that
        was not answered, and no gap is left."""
        generator = random.Random(20260101)
        for i in range(KILLS):
            self.start("--fault", "latency=5ms")  # whose log is of one run
            path = self.tmp / f"killed-{i}.csv.zst"
            n = generator.randrange(1, 2000)
            seen = []

            def kill(p):
                self.wait_until(lambda: has_rows(path, n), p)
                seen.extend((r.thread, r.seq) for r in recorded(path).rows)
                p.kill()
            status, c, _ = self.run_and(kill, "--concurrent", "8", "--noclear", path=path)
            self.assertEqual(status, -signal.SIGKILL)
            have = {(r.thread, r.seq) for r in c.rows}
            answered = {(int(parts[2]), int(parts[3])) for line in self.server.log()
                        if len(parts := line["user_agent"].split("/")) == 4}
            self.assertGreaterEqual(len(seen), n)
            self.assertLessEqual(set(seen), have)
            self.assertLessEqual(have, answered)
            r = self.s3analyze("info", c.path, status=None)
            if r.status != 0:
                self.assertRegex(r.err, "truncated|cut|ends within|incomplete")
            self.s3analyze("info", "--salvage", c.path)

    def test_kill_in_the_preparation(self):
        """The capture shows that the benchmark never began."""
        self.start()
        path = self.tmp / "killed.csv.zst"

        def kill(p):
            self.wait_until(lambda: has_rows(path, 10), p)
            p.kill()
        status, _, err = self.run_and(kill, "--objects", "1000000", command="get", path=path)
        self.assertEqual(status, -signal.SIGKILL, err)
        r = self.s3analyze("analyze", "--salvage", path)
        self.assertIn("The run ended before its benchmark began", unwrapped(r.out))

    def test_second_interrupt(self):
        held = []

        def answer(request):
            if "list-type" in request.target:
                return 200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
            if request.method == "PUT" and "/s3load-" in request.target.removeprefix("/s3load-"):
                held.append(request)
                return Held()
            return 200, b""
        self.server = Scripted(answer)
        self.addCleanup(self.server.stop)

        def interrupt(p):
            self.wait_until(lambda: len(held) == 4, p)
            p.send_signal(signal.SIGINT)
            # It says so a second later: within a second they would be one signal.
            self.assertIn("waiting for requests in flight", p.stderr.readline().decode())
            p.send_signal(signal.SIGINT)
        status, c, err = self.run_and(interrupt, "--concurrent", "4", "--request-timeout", "1h")
        self.assertEqual(status, 130)
        self.assertEqual([r.error for r in c.errors()], ["interrupted"] * 4)
        self.assertIsNotNone(c.end)
        self.assertIn("may be left under", err)

    def test_interrupt_while_preparing(self):
        """The capture holds the uploads, and is named. Neither program takes them for the benchmark."""
        self.start("--fault", "latency=1ms")
        path = self.tmp / "c.csv.zst"
        p = self.begin("get", "--objects", "1000000", "--obj.size", "1KiB", "--concurrent", "2", "--benchdata", path)
        self.wait_until(lambda: has_rows(path, 11, "PUT"), p)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=TIMEOUT_S)[0].decode()
        self.assertRegex(said, r"^get: interrupted before the benchmark: [0-9,]+ objects prepared, [0-9]+ failed\s"
                               rf"\(run .*\)\nCapture: {path}\n$")
        self.assertEqual(p.returncode, 130)
        self.assertGreater(len(Capture(path).of("PUT")), 10)
        report = unwrapped(self.s3analyze("analyze", path).out)
        self.assertRegex(report, "^There was no benchmark, only its preparation: PUT ")
        self.assertIn("Problem: The run ended before its benchmark began", report)
        self.assertIn("it never began: only the preparation is recorded", unwrapped(self.s3analyze("info", path).out))
        self.assertEqual(self.keys(), 0)

    def test_interrupt_while_digesting(self):
        """A payload that takes minutes to be digested is not sent when the run was stopped."""
        self.start()

        def has_digested(p):
            ticks = pathlib.Path(f"/proc/{p.pid}/stat").read_text().rpartition(")")[2].split()[11]
            return int(ticks) > os.sysconf("SC_CLK_TCK") // 4

        def interrupt(p):
            self.wait_until(lambda: has_digested(p), p)
            p.send_signal(signal.SIGINT)
        status, c, _ = self.run_and(interrupt, "--concurrent", "2", "--obj.size", "1TiB", "--md5")
        self.assertEqual(status, 130)
        self.assertEqual(c.rows, [])
        self.assertEqual(c.end["end"], "signal")

    def test_full_disk(self):
        """A failed write of the capture ends the run at once; what was written can be read."""
        self.start()
        limit = ("import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                 "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); "
                 "os.execv(sys.argv[1], sys.argv[1:])")
        path = self.tmp / "full.csv.zst"
        r = self.check_run("/usr/bin/env", "python3", "-c", limit, BUILD / "s3load",
                           *self.argv("put", "--obj.size", "1KiB", "--benchdata", path,
                                      "--duration", "1h", "--rate", "500"),
                           status=1, env=self.environment(), cwd=self.tmp)
        self.assertRegex(r.err, r"full\.csv\.zst: File too large: the run ends, and its last requests are not recorded")
        c = Capture(path)
        self.assertGreater(len(c.rows), 10)
        self.s3analyze("info", path)
        self.assertEqual(self.keys(), 0)

    def test_tmpfs_full(self):
        self.start()
        mount = self.tmp / "small"
        mount.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", str(mount)],
                              stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            # The same by a limit of the size of files: test_full_disk.
            return
        self.addCleanup(subprocess.run, ["umount", str(mount)])
        status, c, err = self.run_and(lambda p: None, "--duration", "1h", "--rate", "500",
                                      path=mount / "full.csv.zst")
        self.assertEqual(status, 1)
        self.assertIn("No space left", err)
        self.assertGreater(len(c.rows), 10)

    def test_synced(self):
        """Each frame is synced before the next one is written. So what was synced ends with a whole frame."""
        self.start("--fault", "latency=5ms")
        sizes = self.tmp / "sizes"
        env = self.preload("#include <stdio.h>\n#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
                           "int fdatasync(int fd) {\n    struct stat s;\n    fstat(fd, &s);\n"
                           f"    FILE *f = fopen(\"{sizes}\", \"a\");\n"
                           "    fprintf(f, \"%ld\\n\", (long)s.st_size);\n    fclose(f);\n"
                           "    return (int)syscall(SYS_fdatasync, fd);\n}\n")
        c = self.load_until(lambda path: recorded(path) and len(recorded(path).frames()) > 3, "put", "--obj.size", "1KiB",
                            "--concurrent", "2", env=env)
        ends = list(itertools.accumulate(map(len, c.frames())))
        self.assertEqual(sorted(set(map(int, sizes.read_text().split()))), ends)
        self.assertIn("# s3load/1 ", Capture(c.path).text.split("\n")[1])

    def test_host_dies(self):
        """Its requests are error rows, the run goes on."""
        how = ("--bucket", "s3load-benchmark-bucket", "--fault", "latency=5ms")
        other = self.server_class(*how)
        self.addCleanup(other.stop)
        self.start(*how)

        def has_died(path):
            c = recorded(path)
            if c and other.process.poll() is None and len({r.endpoint for r in c.rows}) == 2:
                other.stop()
            refused = [r.end for r in c.errors() if "curl: " in r.error] if c else []
            return refused and [r for r in c.rows if not r.error and r.end > max(refused) + 500 * MS]
        c = self.load_until(has_died, "put", "--obj.size", "1KiB", "--host", f"{self.server.hosts},{other.hosts}",
                            "--concurrent", "4")
        self.assertIsNone(c.end["error"])
        failed = c.errors()
        self.assertEqual({r.endpoint for r in failed}, {f"http://{other.hosts}"})
        # It is tried again now and then, not in a storm: by each worker at first, then each 100 ms.
        self.assertLessEqual(len(failed), 4 + 1 + c.end["bench_ns"] // (100 * MS))

    def test_all_hosts_die(self):
        def stop(p):
            self.wait_until(lambda: has_rows(path), p)
            self.server.process.kill()
        for command, own in (("put", []), ("versioned", ["--objects", "20"])):
            with self.subTest(command=command):
                self.start("--fault", "latency=5ms")
                path = self.tmp / f"{command}.csv.zst"
                status, c, err = self.run_and(stop, "--concurrent", "4", "--give-up-after", "2s",
                                              *own, command=command, path=path)
                self.assertEqual(status, 1, err)
                self.assertIn("no host can be connected to", err)
                self.assertEqual(c.end["end"], "error")
                self.assertTrue(c.errors())

    def test_no_host_at_all(self):
        r = self.check_run("s3load", "put", "--host", "127.0.0.1:1", status=1, cwd=self.tmp,
                           env=self.environment())
        self.assertIn("no server answers", r.err)
        self.assertEqual(list(self.tmp.glob("*.zst")), [])
