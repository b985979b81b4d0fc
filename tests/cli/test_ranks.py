"""s3load-mpi: one run of several processes; and s3load, where a launcher started several."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import time
import unittest

import capgen
from harness import BUILD, SANITIZED, TIMEOUT_S, CliTest, preload, tool, unwrapped, wait_until
from loadcase import Capture, LoadTest, has_rows
from servers import Target

QUICK = ("--obj.size", "1KiB", "--concurrent", "2", "--requests", "30", "--stress")
# How often each failure is tried with each MPI.
KILLS = int(os.environ.get("S3LOAD_RANK_KILLS", "1"))
MPIS = {"mpich": ("mpirun.mpich",), "ompi-c": ("mpirun.openmpi", "--oversubscribe")}
if SANITIZED:
    del MPIS["ompi-c"]  # our code is the same with both, and Open MPI itself leaks


class Launched(LoadTest):
    def test_refuses_to_be_one_of_many(self):
        self.start()
        for env in ({"OMPI_COMM_WORLD_SIZE": "4"}, {"PMI_SIZE": "4"}, {"PMIX_RANK": "3"},
                    {"SLURM_NTASKS": "4", "SLURM_STEP_ID": "0"}):
            with self.subTest(env):
                for command in ("put", "clean"):
                    r = self.s3load(command, status=2, env=env)
                    self.assertIn("4 copies of s3load would run without knowing each other: use s3load-mpi", r.err)
        self.assertEqual(self.server.log(), [])
        self.s3load("put", *QUICK, "--alone", env={"OMPI_COMM_WORLD_SIZE": "4"})

    def test_is_one(self):
        """A single copy is accepted, and so is a batch script, whose environment only tells how many tasks it may start."""
        self.start()
        for env in ({"OMPI_COMM_WORLD_SIZE": "1"}, {"PMIX_RANK": "0"}, {"SLURM_NTASKS": "4"}):
            self.s3load("put", *QUICK, env=env)


class Bounds(CliTest):
    def merged(self, *errors_ns):
        """What is reported if the clocks of ranks may be wrong by these times, (before, after) the run; None: the rank was
        killed. Requests take 99.999 ms."""
        parts = []
        for i, errors in enumerate(errors_ns):
            header, *rows = capgen.text(capgen.steady(20, client=f"c-{i}", threads=1)).decode().splitlines()
            said = [{"event": event, "rank": i, "ranks": len(errors_ns), "rank_clock": [
                {"at_ns": capgen.START, "ahead_ns": 0, "error_ns": error}]}
                    for event, error in zip(("start", "end"), errors) if error is not None]
            comments = [f"# s3load/1 {json.dumps(o)}" for o in said]
            parts.append(self.tmp / f"{i}.csv")
            parts[-1].write_text("\n".join([header, comments[0], *rows, *comments[1:], ""]))
        self.s3analyze("merge", "--force", "-o", self.tmp / "all.csv.zst", *parts)
        report = self.s3analyze("analyze", "--json", self.tmp / "all.csv.zst").json()
        found = [f for f in report["findings"] if f["kind"] == "clocks-apart"]
        return report["inputs"][0]["recorded"]["clock_error_ns"], found

    def test_apart(self):
        """Clocks that may differ by more than a tenth of the median duration are a problem. The bound is that of the end, or
        if a rank was killed that of the beginning."""
        near, far = 9_999_000, 10_001_000
        self.assertEqual(self.merged((far, 0), (far, near), (far, 50)), (near, []))
        self.assertEqual(self.merged((0, 0), (near, None), (50, 50)), (near, []))
        for errors in (((0, 0), (0, far), (0, 7)), ((0, 0), (0, 7), (far, None)), ((far, None), (0, 7))):
            bound, found = self.merged(*errors)
            self.assertEqual(bound, far)
            self.assertEqual([f["severity"] for f in found], ["problem"])
            self.assertIn("The clocks of the ranks agree only within 10.0ms", found[0]["sentence"])


class RankedTest(LoadTest):
    """Runs s3load-mpi, with each MPI there is."""

    def setUp(self):
        super().setUp()
        self.start()

    def mpirun(self, mpi, n):
        """The beginning of a command with n ranks, and its environment."""
        program = BUILD / f"s3load-mpi.{mpi}"
        if not program.exists():
            raise unittest.SkipTest(f"no s3load-mpi with {mpi}")
        return [tool(MPIS[mpi][0]), *MPIS[mpi][1:], "-np", str(n), program]

    def ranked_environment(self):
        # What MPI itself leaks is not ours.
        asan = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
        return {**self.environment(), "ASAN_OPTIONS": asan, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def ranks(self, mpi, n, command, *options, status=0, env=None):
        return self.check_run(*self.mpirun(mpi, n), *self.argv(command, *options), status=status,
                              env={**self.ranked_environment(), **(env or {})}, cwd=self.tmp)

    def ranked_load(self, mpi, n, command, *options, **kwargs):
        """Runs it to its end and returns its final state and capture."""
        path = self.tmp / f"{command}-{mpi}.csv.zst"
        r = self.ranks(mpi, n, command, "--benchdata", path, "--json", *options, **kwargs)
        return r.json(), Capture(path)

    def parts(self, path, n):
        return [pathlib.Path(str(path).replace(".csv.zst", f".rank-{i}.csv.zst")) for i in range(n)]


class Commands(RankedTest):
    COMMANDS = {"get": ("--objects", "40"), "put": (), "delete": ("--objects", "40", "--batch", "3"),
                "list": ("--objects", "40"), "stat": ("--objects", "40"), "mixed": ("--objects", "40"),
                "versioned": ("--objects", "9"), "retention": ("--objects", "9"),
                "multipart": ("--parts", "3", "--part.size", "5MiB")}

    def command(self, mpi, name):
        size = () if name == "multipart" else ("--obj.size", "1KiB")
        # The same ranks, and as many requests in the capture as they count.
        state, capture = self.ranked_load(mpi, 3, name, "--bucket", f"{name}-{mpi}", "--concurrent", "2",
                                          "--requests", "90", *size, *self.COMMANDS[name])
        self.assertEqual(state["errors"], 0)
        return state, capture

    def test_commands(self):
        """Each command runs, with each MPI, leaves nothing, and records each request once, as the target
        saw it come from that rank."""
        jobs = {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name in self.COMMANDS:
                for mpi in MPIS:
                    jobs[mpi, name] = pool.submit(self.command, mpi, name)
        log = collections.defaultdict(collections.Counter)
        for line in self.server.log():
            log[line["bucket"]][line["op"], line["user_agent"].split(" ")[1].split("/")[0], line["key"]] += 1
        for (mpi, name), job in jobs.items():
            with self.subTest(f"{name} {mpi}"):
                state, capture = job.result()
                self.assertEqual(len({r.client for r in capture.rows}), 3)
                seen = log[f"{name}-{mpi}"]
                self.assertEqual(state["requests"], {"delete": 14 + 1}.get(name, 90))
                if name == "put":
                    self.assertEqual(len(capture.rows), 90)
                for op in {"get": ["GET"], "put": ["PUT"], "stat": ["STAT"]}.get(name, []):
                    rows = collections.Counter((op, r.client, r.file) for r in capture.of(op))
                    self.assertEqual({k: n for k, n in seen.items() if k[0] == op}, dict(rows))
                if name not in ("put", "multipart"):
                    self.assertEqual(state["prepared"], 45 if name in ("versioned", "retention") else 40)
                self.assertEqual(self.keys(f"{name}-{mpi}"), 0)

    def test_parts(self):
        """The capture is what s3analyze merge makes of the parts; the parts are deleted unless --keep-parts is given."""
        for mpi in MPIS:
            _, capture = self.ranked_load(mpi, 3, "put", "--obj.size", "1KiB", "--requests", "90",
                                          "--keep-parts")
            parts = self.parts(capture.path, 3)
            self.check_run("s3analyze", "merge", "-o", self.tmp / "hand.csv.zst", "--force", *parts)
            self.assertEqual((self.tmp / "hand.csv.zst").read_bytes(), capture.data)
            for i, part in enumerate(map(Capture, parts)):
                self.assertEqual((part.start["rank"], part.start["ranks"]), (i, 3))
                self.assertEqual({r.client.rsplit("-")[-1] for r in part.rows}, {str(i)})
                part.path.unlink()
            capture.path.unlink()
            self.ranked_load(mpi, 2, "put", "--obj.size", "1KiB", "--requests", "90")
            self.assertEqual([p.name for p in self.tmp.glob("put-*")], [capture.path.name])
            capture.path.unlink()

    def test_no_colours_in_a_file(self):
        """Under Open MPI standard output is a terminal, wherever it goes."""
        for mpi in MPIS:
            for n in (1, 2):
                r = self.ranks(mpi, n, "put", "--obj.size", "1KiB", "--requests", "90")
                self.assertIn("obj/s", r.out)
                self.assertNotIn("\033", r.out + r.err)

    def test_usage(self):
        """Only rank 0 prints, and no rank waits for one that has ended."""
        for mpi in MPIS:
            r = self.ranks(mpi, 3, "put", "--bogus", status=2)
            self.assertEqual(r.err.count("unknown option --bogus"), 1)
            r = self.ranks(mpi, 3, "get", "--objects", "2", status=1)
            self.assertIn("--objects 2 is less than one for each of 3 ranks", r.err)


class Autoterm(RankedTest):
    def test_autoterm(self):
        """All ranks end by one decision, and a replay of their common capture decides the same."""
        self.start("--fault", "latency=20ms")
        for mpi in MPIS:
            path = self.tmp / f"a-{mpi}.csv.zst"
            self.ranks(mpi, 3, "put", "--obj.size", "1KiB", "--concurrent", "2", "--duration", "1h", "--autoterm",
                       "--autoterm.dur", "1s", "--autoterm.pct", "25", "--keep-parts", "--benchdata", path)
            ends = [Capture(p).end for p in self.parts(path, 3)]
            self.assertEqual({e["end"] for e in ends}, {"autoterm"})
            self.assertEqual(len({json.dumps(e["autoterm"]) for e in ends}), 1)
            r = self.check_run("s3analyze", "autoterm", "--json", "--autoterm.dur", "1s", "--autoterm.pct",
                               "25", path)
            self.assertEqual(ends[0]["autoterm"]["at_s"], r.json()["operations"][0]["stop"]["at_s"])


class Options(RankedTest):
    """What several ranks have options for, with the MPI that starts sooner."""
    MPI = "mpich"

    def test_who_uses_what(self):
        """--hosts-per-rank; with --progress rank 0 shows the progress of all."""
        self.start("--fault", "latency=5ms", n_ports=3)
        path = self.tmp / "who.csv.zst"
        r = self.ranks(self.MPI, 3, "get", "--objects", "30", "--obj.size", "1KiB", "--concurrent", "2", "--rate",
                       "300", "--requests", "3000", "--hosts-per-rank", "--progress",
                       "--benchdata", path)
        capture = Capture(path)
        made, used, hosts = (collections.defaultdict(set) for _ in range(3))
        for row in capture.rows:
            rank = int(row.client.rsplit("-", 1)[1])
            (made if row.op == "PUT" else used)[rank].add(row.file)
            hosts[rank].add(row.endpoint)
        for rank in range(3):
            self.assertEqual(len(made[rank]), 10)
            self.assertLessEqual(used[rank], made[rank])
            self.assertEqual(len(used[rank]), 10)
        self.assertEqual(sorted(len(h) for h in hosts.values()), [1, 1, 1])
        self.assertEqual(len(set.union(*hosts.values())), 3)
        # The requests come due over ten seconds. The lines tell of all but those of the last second, which are more than one rank
        # has, even if some lines are late.
        told = re.findall(r"(?m)^ +\d+s +\S+ +(\d+)\S* +0 ", r.err)
        self.assertGreater(sum(map(int, told)), len(capture.of("GET")) / 3, r.err)
        self.assertNotIn("Preparing [", self.ranks(self.MPI, 2, "get", "--objects", "4", *QUICK).err)

    def normal(self, capture):
        """What is not time or id of a capture, in the order of its rows."""
        names = {}
        rows = [(r.op, r.n_objects, r.bytes, r.endpoint, r.error, r.thread, r.client == capture.start["run_id"],
                 names.setdefault(r.file, len(names)), r.first_byte is None, r.last_byte is None)
                for r in capture.rows]
        head = {k: v for k, v in capture.start.items()
                if k not in ("run_id", "command_line", "start", "clock", "machine")}
        head["settings"] = {k: v for k, v in head["settings"].items() if k != "hosts-per-rank"}
        tail = {k: v for k, v in capture.end.items() if k in ("end", "error", "errors", "connects", "prepared",
                                                              "not_prepared", "resent", "rank", "rank_clock")}
        self.assertEqual((capture.end["requests"], capture.end["bytes"]), (len(rows), sum(r.bytes for r in capture.rows)))
        tail["due"] = len(rows) + capture.end["not_begun"]
        return rows, head, tail, capture.text.split("\n")[0]

    def test_one_rank(self):
        """One rank records the same as s3load, except for times and ids, however it was started."""
        for command in ("put", "mixed"):
            how = ("--obj.size", "1KiB", *(("--objects", "5") if command == "mixed" else ()), "--concurrent", "1",
                   "--rate", "40", "--requests", "20", "--seed", "5")
            _, alone = self.load(command, *how)
            for launched in (True, False):
                path = self.tmp / f"{command}-{launched}.csv.zst"
                argv = [*self.mpirun(self.MPI, 1)[0 if launched else -1:], *self.argv(command, *how)]
                self.check_run(*argv, "--benchdata", path, status=0, env=self.ranked_environment(), cwd=self.tmp)
                self.assertEqual(self.normal(Capture(path)), self.normal(alone))
                self.assertEqual(len(alone.rows), 20)

    def test_nothing_succeeds(self):
        """A run succeeds if any rank had success; and messages about a rank name it."""
        self.start()
        other = Target()
        self.addCleanup(other.stop)
        how = ("--obj.size", "1KiB", "--concurrent", "1", "--rate", "100", "--noclear")
        # The bucket is on the first server alone, and rank 1 has the second.
        _, capture = self.ranked_load(self.MPI, 2, "put", "--host", f"{self.server.hosts},{other.hosts}",
                                      "--hosts-per-rank", *how, "--requests", "30")
        self.assertEqual({(r.client[-1], r.error != "") for r in capture.rows}, {("0", False), ("1", True)})
        self.start("--fault", "op=PUT,latency=20ms", "--fault", "op=PUT,fail=503:1")
        # not decisive: what begins and what does not are counted together
        r = self.ranks(self.MPI, 2, "put", "--json", *how, "--rate", "1000", "--duration", "3s", "--stress", status=1)
        said = unwrapped(r.err)
        n = r.json()["requests"]
        for rank in range(2):
            self.assertRegex(said, rf"rank {rank} \(\S+\): none of {n:,} requests of all ranks succeeded, the first")
        self.assertEqual(n + r.json()["not_begun"], 3000)


class Failing(RankedTest):
    """Ranks that are stopped or killed: the others end, and what was recorded is there."""
    # After a loss the run has this time again for its last steps.
    RANK_TIMEOUT_S = 5
    NONE_IS_LOST = ("--rank-timeout", f"{TIMEOUT_S}s")  # even on a slow machine

    def each(self, check):
        """With each MPI, S3LOAD_RANK_KILLS times."""
        for mpi in MPIS:
            for i in range(KILLS):
                with self.subTest(f"{mpi} {i}"):
                    self.start("--fault", "latency=1ms")
                    self.tmp.joinpath(f"{mpi}{i}").mkdir()
                    check(mpi, self.tmp / f"{mpi}{i}" / "f.csv.zst")

    def begin(self, mpi, path, *options, launcher=()):
        """Starts a run, and returns mpirun and the processes of the ranks once all of them record."""
        self.path = path
        whole = self.mpirun(mpi, 3)
        argv = [whole[0], *launcher, *whole[1:],
                *self.argv("put", "--obj.size", "1KiB", "--concurrent", "2", "--rate", "600", "--duration", "1h",
                           "--benchdata", path, "--rank-timeout", f"{self.RANK_TIMEOUT_S}s", *options)]
        p = subprocess.Popen([str(a) for a in argv], cwd=self.tmp, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env={**os.environ, **self.ranked_environment()})
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.kill)
        self.wait_until(lambda: all(has_rows(part, 100) for part in self.parts(path, 3)), p)
        self.assertIsNone(p.poll())
        self.recorded = {key for part in self.parts(path, 3) for key in self.keys_of(Capture(part))}
        return p, self.processes()

    @staticmethod
    def keys_of(capture):
        return [(r.client, r.thread, r.seq) for r in capture.rows]

    def processes(self):
        """Process ids of the ranks of this test's run, by rank."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if not pathlib.Path(os.readlink(folder / "exe")).name.startswith("s3load-mpi") or \
                        pathlib.Path(os.readlink(folder / "cwd")) != self.tmp.resolve():
                    continue
                variables = dict(v.split("=", 1) for v in (folder / "environ").read_text().split("\0") if "=" in v)
            except OSError:
                continue  # it has ended
            found[int(variables.get("OMPI_COMM_WORLD_RANK", variables.get("PMI_RANK", -1)))] = int(folder.name)
        return found

    def finish(self, p):
        """Waits until mpirun and all ranks have ended, and returns what they said."""
        said = p.communicate(timeout=TIMEOUT_S)[0].decode(errors="replace")
        wait_until(lambda: not self.processes())
        return said

    def logged(self):
        """The requests that the target has answered and s3load records."""
        agents = [line["user_agent"].split(" ")[1].split("/") for line in self.server.log()]
        return {(agent[0], int(agent[1]), int(agent[2])) for agent in agents if len(agent) == 3}

    def check_parts(self):
        """Each part can be read, and has what was recorded before the failure, each request once and none that was not
        answered; they can be merged; and what is left in the bucket, `s3load clean` finds by the id of the run."""
        parts = self.parts(self.path, 3)
        captures = [Capture(p) for p in parts]
        have = [key for c in captures for key in self.keys_of(c)]
        self.assertEqual(len(have), len(set(have)))
        self.assertLessEqual(self.recorded, set(have))
        self.assertLessEqual({key for c in captures for key, r in zip(self.keys_of(c), c.rows) if not r.error}, self.logged())
        self.check_run("s3analyze", "merge", "--salvage", "-o", self.path, *parts)
        if self.keys() > 0:
            self.s3load("clean", "--run", captures[0].start["run_id"])
        self.assertEqual(self.keys(), 0)

    def check_whole(self, statuses, p, said):
        """One capture with every request, no parts, and an empty bucket."""
        self.assertIn(p.returncode, statuses, said)
        capture = Capture(self.path)
        self.assertEqual(len(capture.rows), len(self.logged()))
        self.assertEqual(len({r.client for r in capture.rows}), 3)
        self.assertEqual(list(self.path.parent.iterdir()), [self.path])
        self.assertEqual(self.keys(), 0)

    def test_signal(self):
        """If one rank gets a signal, all end in order, with its status."""
        def check(mpi, path):
            p, ranks = self.begin(mpi, path, *self.NONE_IS_LOST)
            os.kill(ranks[1], signal.SIGTERM)
            self.check_whole((128 + signal.SIGTERM,), p, self.finish(p))
        self.each(check)

    def test_interrupt(self):
        """Ctrl-C at mpirun: all end in order. Open MPI needs an option to allow the time, and has a status of its own. MPICH
        loses the statuses of all ranks once in a hundred times; its own is 0 then."""
        def check(mpi, path):
            launcher, status = {"ompi-c": (("--mca", "odls_base_sigkill_timeout", "3"), (1,)),
                                "mpich": ((), (130, 0))}[mpi]
            p, _ = self.begin(mpi, path, *self.NONE_IS_LOST, launcher=launcher)
            p.send_signal(signal.SIGINT)
            self.check_whole(status, p, self.finish(p))
        self.each(check)

    def test_killed(self):
        """If a rank dies, launchers may end all without a word. What is needed then is printed at the start, once."""
        def check(mpi, path):
            p, ranks = self.begin(mpi, path, "--prefix", "it's")
            os.kill(ranks[1], signal.SIGKILL)
            said = self.finish(p)
            self.assertNotEqual(p.returncode, 0)
            parts = self.parts(path, 3)
            run_id = Capture(parts[0]).start["run_id"]
            self.assertEqual(unwrapped(said).count(f"run {run_id}, 3 ranks, which record into {parts[0]} to {parts[2]}"),
                             1)
            command = re.search(r"(?m)^If it is killed, this deletes its objects: (s3load clean .*)$", said)
            self.assertIn(f"--run {run_id} ", command[1])
            self.check_run(*shlex.split(command[1]), env=self.environment(), cwd=self.tmp, status=0)
            self.assertEqual(self.keys(), 0)
            self.check_parts()
        self.each(check)

    def test_launcher_killed(self):
        """No rank goes on without mpirun."""
        def check(mpi, path):
            p, _ = self.begin(mpi, path)
            p.kill()
            self.finish(p)
            self.check_parts()
        self.each(check)

    def test_paused(self):
        """A rank that resumes within the timeout is not lost: the run goes on as if nothing had happened."""
        def check(mpi, path):
            p, ranks = self.begin(mpi, path, *self.NONE_IS_LOST)
            parts = self.parts(path, 3)
            self.stop_process(ranks[2])
            n = len(Capture(parts[0]).rows)
            self.wait_until(lambda: has_rows(parts[0], n + 300), p)
            os.kill(ranks[2], signal.SIGCONT)
            n = len(Capture(parts[2]).rows)
            self.wait_until(lambda: has_rows(parts[2], n + 10), p)
            os.kill(ranks[1], signal.SIGTERM)
            self.check_whole((128 + signal.SIGTERM,), p, self.finish(p))
        self.each(check)

    def test_silent(self):
        """A rank that does not resume ends the run after --rank-timeout; the message says what to do."""
        def check(mpi, path):
            p, ranks = self.begin(mpi, path)
            os.kill(ranks[2], signal.SIGSTOP)
            said = self.finish(p)
            self.assertNotEqual(p.returncode, 0)
            self.assertRegex(said, r"(?m)^put, rank 0 alone: \S+ requests, 0 failed, in ")
            # Open MPI resumes it before it kills it.
            self.assertIn(f"a rank has not answered for {self.RANK_TIMEOUT_S}s (--rank-timeout)", unwrapped(said))
            self.assertRegex(unwrapped(said), r"objects of this run may be left under .*To delete them.*: s3load clean --run")
            self.assertIn(f"s3analyze merge -o {path} {self.parts(path, 3)[0]}", said)
            self.check_parts()
        self.each(check)

    def test_full_disk(self):
        """If a rank cannot write, all end in order; what it has written is in the capture."""
        def check(mpi, path):
            p, ranks = self.begin(mpi, path, *self.NONE_IS_LOST)
            part = self.parts(path, 3)[1]
            resource.prlimit(ranks[1], resource.RLIMIT_FSIZE, (part.stat().st_size + 5000,) * 2)
            said = self.finish(p)
            self.assertEqual(p.returncode, 1, said)
            self.assertRegex(unwrapped(said), rf"rank 1 \(\S+\): cannot write '?{part}'?: File too large")
            clients = collections.Counter(r.client.rsplit("-")[-1] for r in Capture(path).rows)
            self.assertEqual(set(clients), {"0", "1", "2"})
            self.assertEqual(sorted(path.parent.iterdir()), [path, part])
            self.assertEqual(self.keys(), 0)
        self.each(check)


    def test_no_room_for_loops(self):
        """A rank that fails after it has opened its part leaves none."""
        broken = self.preload(
            "#include <string.h>\n"
            "void *EVP_MD_fetch(void *ctx, const char *name, const char *properties) {\n"
            "    static int n;\n"
            "    if (strcmp(name, \"MD5\") == 0 && ++n == 2) return 0;\n"  # of the control crew, then of the loops
            "    return ((void *(*)(void *, const char *, const char *))dlsym(RTLD_NEXT, \"EVP_MD_fetch\"))"
            "(ctx, name, properties);\n}\n")
        if "ASAN_OPTIONS" in broken:
            broken["ASAN_OPTIONS"] += ":detect_leaks=0"  # what MPI itself leaks is not ours

        def check(mpi, path):
            argv = self.argv("put", "--obj.size", "1KiB", "--requests", "30", "--benchdata", path)
            whole = self.mpirun(mpi, 1)
            r = self.check_run(*whole, *argv, ":", "-np", "1", "env", *(f"{k}={v}" for k, v in broken.items()), whole[-1],
                               *argv, status=1, env=self.ranked_environment(), cwd=self.tmp)
            self.assertRegex(r.err + r.out, r"rank 1 \(\S+\): out of memory")
            self.assertEqual(list(path.parent.iterdir()), [path])
            self.assertEqual(Capture(path).rows, [])
        self.each(check)


class Clocks(RankedTest):
    # Nothing is preloaded into programs with sanitizers.
    AHEAD_NS = 0 if SANITIZED else 20_000_000_000  # more than a request takes on a busy machine
    DRIFT_PPM = 0 if SANITIZED else 50

    def shifted(self, mpi, path, *options):
        """A run in which the clock of rank 1 is ahead, and drifts."""
        self.since = time.monotonic_ns()  # not decisive: the origin of a drift
        # not decisive: of 1000 readings the one with the least time around it counts
        pairs = ((time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(1000))
        before, real, after = min(pairs, key=lambda t: t[2] - t[0])
        self.offset = real - (before + after) // 2
        argv = ["put", "--host", self.server.hosts, "--obj.size", "1KiB", "--concurrent", "2",
                "--duration", "1500ms", "--rate", "300",  # not decisive: what does not begin is counted
                "--keep-parts", "--benchdata", path, *options]
        whole = self.mpirun(mpi, 1)
        env = [] if SANITIZED else ["env", *(f"{k}={v}" for k, v in preload("world.so").items()),
               f"WORLD_AHEAD_NS={self.AHEAD_NS}", f"WORLD_DRIFT_PPM={self.DRIFT_PPM}", f"WORLD_SINCE_NS={self.since}"]
        self.check_run(*whole, *argv, ":", "-np", "1", *env, whole[-1], *argv, ":", "-np", "1", whole[-1],
                       *argv, status=0, env=self.ranked_environment(), cwd=self.tmp)
        return Capture(path), [Capture(p) for p in self.parts(path, 3)]

    def ahead(self, at_ns):
        """How far the clock of rank 1 is ahead when it shows at_ns."""
        mono = at_ns - self.AHEAD_NS - self.offset
        return self.AHEAD_NS + (mono - self.since) * self.DRIFT_PPM / 1e6

    def misplaced(self, rows, log, within_ns):
        """The number of rows whose request reached the target outside of the row's time."""
        n = 0
        for row in rows:
            seen = log[row.client, row.thread, row.seq]
            n += not row.start - within_ns <= seen <= row.end + within_ns
        return n

    def test_shifted_clock(self):
        """Measured clocks are right within the stated errors, and all rows get their true times."""
        for mpi in MPIS:
            with self.subTest(mpi):
                whole, parts = self.shifted(mpi, self.tmp / f"c-{mpi}.csv.zst")
                log = {}
                for line in self.server.log():
                    client, thread, seq = (line["user_agent"].split(" ")[1].split("/") + ["", ""])[:3]
                    if seq:
                        log[client, int(thread), int(seq)] = int(line["start_real_ns"])
                found = parts[1].start["rank_clock"] + parts[1].end["rank_clock"]
                for c in found:
                    # 20 us: reading two clocks here.
                    self.assertLessEqual(abs(c["ahead_ns"] - self.ahead(c["at_ns"])), c["error_ns"] + 20_000)
                bound = max(c["error_ns"] for p in parts for c in p.end["rank_clock"])
                r = self.check_run("s3analyze", "analyze", "--json", whole.path)
                stated = r.json()["inputs"][0]["recorded"]
                self.assertEqual(stated["n_ranks"], 3)
                self.assertGreaterEqual(stated["clock_error_ns"], bound)
                # 100 us: the clock of the target.
                within = stated["clock_error_ns"] + 100_000
                self.assertEqual(sum(self.misplaced(p.rows, log, within) for p in (parts[0], parts[2])), 0)
                # As recorded, the rows of rank 1 are misplaced. Requests that took longer than its clock is ahead, as on a busy
                # machine, prove nothing.
                quick = [r for r in parts[1].rows if r.duration < self.AHEAD_NS - within]
                self.assertEqual(self.misplaced(quick, log, within), len(quick))
                self.assertEqual(bool(quick), self.AHEAD_NS > 0)
                bases = {}
                for row in whole.rows:
                    bases[row.client] = min(bases.get(row.client, row.thread), row.thread)
                first = {p.rows[0].client: min(r.thread for r in p.rows) for p in parts}
                for row in whole.rows:
                    row.thread += first[row.client] - bases[row.client]
                self.assertEqual(len(whole.rows), sum(len(p.rows) for p in parts))
                self.assertEqual(self.misplaced(whole.rows, log, within), 0)

    def test_rate(self):
        """The due times of all ranks are the schedule: each occurs once, on the rank whose turn it is."""
        for mpi in MPIS:
            with self.subTest(mpi):
                whole, parts = self.shifted(mpi, self.tmp / f"r-{mpi}.csv.zst", "--rate", "1000")
                zero = min(row.intended for row in parts[0].rows)
                for rank, part in enumerate(parts):
                    due = sorted(row.intended for row in part.rows)
                    # By its own clock, to the nanosecond; requests that a busy machine did not begin are counted, and leave a gap.
                    self.assertEqual(len(due) + part.end["not_begun"], 500)
                    self.assertEqual(len(set(due)), len(due))
                    self.assertEqual({(t - due[0]) % 3_000_000 for t in due}, {0})
                    self.assertLess(due[-1] - due[0], 500 * 3_000_000)
                    first, last = part.end["rank_clock"][0], part.end["rank_clock"][-1]
                    ahead = first["ahead_ns"]
                    self.assertEqual(due[0] - ahead, zero + rank * 1_000_000)
                    # By the clock of rank 0, as exact as clocks were measured: on a busy machine not to a millisecond.
                    drift = abs(self.ahead(last["at_ns"]) - self.ahead(first["at_ns"])) if rank == 1 else 0
                    within = first["error_ns"] + last["error_ns"] + drift + 20_000
                    merged = sorted(row.intended for row in whole.rows if row.client.endswith(f"-{rank}"))
                    self.assertEqual(len(merged), len(due))
                    self.assertLessEqual(max(abs(m - (t - ahead)) for m, t in zip(merged, due)), within)


if __name__ == "__main__":
    unittest.main()
