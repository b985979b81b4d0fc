"""s3load repeat: plans of several runs, and s3analyze plan, which decides what comes next."""
import itertools
import json
import os
import pathlib
import re
import select
import shutil
import signal
import sys
import threading

import test_plan
import zstd
from capgen import SECOND, Shape, simulate, steady, text
from harness import BUILD, ROOT, TESTDATA, TIMEOUT_S, tool, unwrapped
from loadcase import Capture, LoadTest
from servers import free_port
from test_load_outages import Scripted

GET = ("get", "--obj.size", "1KiB", "--objects", "10", "-q")
SHORT = (*GET, "--requests", "1")
EIGHT = (*GET, "--concurrent", "8")


def limited(number, rate):
    return test_plan.Plan.limited(float(rate), number)


def ten_each(number, level):
    return steady(50, threads=int(level))


def slow_after(number, side):
    return simulate(number, Shape(n=400, hosts=1, sigma=.2, median=SECOND // (50 if side == "after" else 100)))


def slow_before(number, side):
    return slow_after(number, {"before": "after", "after": "before"}[side])


def replace(folder, function):
    """Replaces each run that was not replaced before."""
    (folder / "simulated").mkdir(exist_ok=True)
    for path in (folder / "plan").glob("run-*.csv.zst"):
        mark = folder / "simulated" / path.name
        if not mark.exists():
            if not Capture(path).rows:
                raise SystemExit(f"{path}: nothing was recorded")
            _, number, level = path.name.removesuffix(".csv.zst").split("-")
            path.write_bytes(zstd.frame(text(function(int(number), level))))
            mark.touch()


class Repeat(LoadTest):
    program = "s3load"

    def repeat(self, plan, *options, command, status=0):
        argv = ["repeat", plan, "--dir", "plan", "--seed", "1", *options, "--", *command, "--host", self.server.hosts]
        return self.check_run(self.program, *argv, status=status, cwd=self.tmp, env=self.environment())

    def state(self, **kwargs):
        return self.s3analyze("plan", "--json", self.tmp / "plan", **kwargs).json()

    def simulate(self, function):
        """Copies s3load beside an s3analyze that first replaces what new runs have recorded by what the function gives for
        their number and level. So the loop is real, and its answer depends on no machine."""
        shutil.copy(BUILD / "s3load", self.tmp / "s3load")
        program = self.tmp / "s3analyze"
        program.write_text(f"#!{sys.executable}\nimport os, pathlib, sys\nsys.dont_write_bytecode = True\n"
                           f"sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
                           f"os.environ['BUILD'] = {str(BUILD)!r}\nimport test_repeat\n"
                           f"test_repeat.replace(pathlib.Path({str(self.tmp)!r}), test_repeat.{function.__name__})\n"
                           f"os.execv({str(BUILD / 's3analyze')!r}, ['s3analyze', *sys.argv[1:]])\n")
        program.chmod(0o755)
        self.program = program.parent / "s3load"

    def test_capacity(self):
        """A server with a limit: the answer is around that."""
        self.start()
        self.simulate(limited)
        self.repeat("capacity", "--slo", "p50<20ms", "--from", "50", command=(*GET, "--requests", "10"))
        found = self.state()
        self.assertTrue(found["confirmed"])
        self.assertTrue(280 < found["met_per_s"] <= 300 < found["missed_per_s"] < 320, found)
        self.assertIn("miss", found["answer"])

    def test_ab(self):
        """A slow side after a quick one is worse, and not the other way round. The status is the answer."""
        self.start()
        other = self.server_class()
        self.addCleanup(other.stop)
        for function, status, answer in ((slow_before, 0, "no worse"), (slow_after, 1, "worse")):
            with self.subTest(answer):
                self.simulate(function)
                r = self.repeat("ab", "--before", f"--host {self.server.hosts}", "--after", f"--host {other.hosts}", "--gate",
                                "p50:5%", command=(*GET, "--requests", "10"), status=status)
                self.assertIn(answer, r.out, r.err)  # a failure has the status of "worse"
                self.assertEqual(self.state(status=status)["gates"][0]["answer"], answer)
                self.assertGreaterEqual(min(sum(r["op"] == "GET" for r in s.log()) for s in (self.server, other)), 10)
                shutil.rmtree(self.tmp / "plan")
                shutil.rmtree(self.tmp / "simulated")

    def test_sweep(self):
        self.start()
        self.simulate(ten_each)
        self.repeat("sweep", "--concurrent", "1,2,4,8", "--runs", "2", command=(*GET, "--requests", "10"))
        found = self.state()
        self.assertTrue(found["done"])
        self.assertEqual(sorted((r["level"], round(r["requests_per_s"])) for r in found["runs"]),
                         [(n, 10 * n) for n in (1, 1, 2, 2, 4, 4, 8, 8)])

    def test_quiet(self):
        """Only warnings of the runs are shown."""
        self.start()
        loud = self.repeat("sweep", "--concurrent", "1", "--runs", "1", command=(*GET[:-1], "--requests", "20"))
        self.assertIn("run-001-1:", loud.err)
        self.assertIn("Preparing 10 objects", loud.err)
        shutil.rmtree(self.tmp / "plan")
        for quiet in "--quiet", "-q":
            r = self.repeat("sweep", "--concurrent", "1", "--runs", "1", quiet, command=(*GET[:-1], "--requests", "20"))
            self.assertTrue(r.out.startswith("1 run at 1 level."), r.out)
            self.assertNotIn("run-001-1:", r.err)
            self.assertNotIn("Preparing", r.err)
            shutil.rmtree(self.tmp / "plan")

    def test_page(self):
        tool("gnuplot")
        page = self.tmp / "page.html"
        self.s3analyze("plan", "--html", page, TESTDATA / "formats" / "plan")
        html = page.read_text()
        self.assertEqual(re.findall("<figcaption>([^<]*) <", html), ["Throughput by level", "Response time by level"])
        self.assertEqual(re.findall('<figure id="([^"]*)"', html), ["runs-chart-plan", "runs-chart-plan-2"])

    def test_a_sweep_without_runs(self):
        for levels in "--rate", "--concurrent":
            plan = self.tmp / levels
            self.s3analyze("plan", "--begin", "sweep", "--dir", plan, levels, "50,100", "--command", "get")
            self.assertEqual(self.s3analyze("plan", plan, status=3).out, "0 runs at 2 levels; more runs follow.\nget\n")

    def test_what_s3load_could_not_send(self):
        """A capacity search ends there, and does not count the run. A sweep counts it, as it would else repeat that level
        for ever."""
        text = self.s3analyze("cat", "-q", TESTDATA / "s3load-open-loop.csv.zst").out
        text = text.replace('"client_bound":false', '"client_bound":true').replace('"not_begun":0', '"not_begun":400')
        for plan, options, counts, following in (
                ("sweep", ("--rate", "100,200", "--runs", "1"), True, "run-002-200 --rate 200\n"),
                ("capacity", ("--slo", "p99<1s"), False, "")):
            with self.subTest(plan):
                folder = self.tmp / plan
                self.s3analyze("plan", "--begin", plan, "--dir", folder, *options, "--command", "get")
                (folder / "run-001-100.csv.zst").write_text(text)
                self.assertEqual(self.s3analyze("plan", "--next", folder).out, following)
                runs = self.s3analyze("plan", "--json", folder, status=3).json()["runs"]
                self.assertEqual([r["counts"] for r in runs], [counts])
                self.assertEqual(runs[0]["offered_frac"], 0.5)

    def test_goes_on(self):
        """An interrupted plan continues; a run that was cut off is repeated; another plan in the folder is refused."""
        held, over = threading.Event(), threading.Event()
        self.addCleanup(over.set)
        numbers = itertools.count(1)

        def answer(method, target, body):
            if method == "GET" and "list-type" not in target and target.count("/") > 1 and next(numbers) == 25:
                held.set()
                over.wait(TIMEOUT_S)

        self.server = Scripted(answer)
        self.addCleanup(self.server.stop)
        sweep = ("--concurrent", "1,2,4", "--runs", "1")
        argv = ("repeat", "sweep", "--dir", "plan", "--seed", "1", *sweep, "--", *GET, "--requests", "20",
                "--host", self.server.hosts)
        p = self.begin("repeat", *argv[1:])
        self.wait_until(held.is_set, p)  # in the second run
        p.send_signal(signal.SIGINT)
        while b"waiting for requests in flight" not in (line := p.stderr.readline()):
            self.assertTrue(line)
        over.set()
        self.assertEqual(p.wait(), 130)
        found = self.state(status=3)
        self.assertEqual([r["counts"] for r in found["runs"]], [True, False])
        self.assertEqual(found["done"], False)
        self.bare(*argv, env=self.environment())
        found = self.state()
        self.assertEqual([r["counts"] for r in found["runs"]], [True, False, True, True])
        self.assertEqual(sorted(r["level"] for r in found["runs"] if r["counts"]), [1, 2, 4])
        other = list(argv)
        other[other.index("1,2,4")] = "1,2"
        self.assertIn("another folder", self.bare(*other, env=self.environment(), status=1).err)

    def test_a_server_that_goes_away(self):
        """The run that an error ended does not count, and ends s3load: a server that fails at this load would do so for
        ever. The same command goes on."""
        first = self.start("--fault", "latency=100ms", "--port", str(free_port()))
        argv = ("sweep", "--dir", "plan", "--seed", "1", "--concurrent", "1", "--runs", "1", "--", "get", "--obj.size", "1KiB",
                "--objects", "2", "--requests", "200", "--give-up-after", "100ms", "-q", "--host", first.hosts)
        p = self.begin("repeat", *argv)
        self.wait_until(lambda: any(r["op"] == "GET" for r in first.log()), p)
        first.stop()
        _, err = p.communicate()
        self.assertEqual(p.returncode, 1)
        why = "an error ended it: no host can be connected to"
        self.assertIn(f"s3analyze: run-001-1.csv.zst does not count: {why}".encode(), err)
        self.assertTrue(err.endswith(b"s3load: the plan stops here; the same command goes on with it\n"), err)
        self.assertEqual(len(list((self.tmp / "plan").glob("*.zst"))), 1)
        self.start("--port", *first.ports)
        self.bare("repeat", *argv, env=self.environment())
        runs = self.state()["runs"]
        self.assertEqual([r["counts"] for r in runs], [False, True])
        self.assertTrue(runs[0]["why"].startswith(why), runs[0])
        self.assertIn(why, self.s3analyze("plan", self.tmp / "plan").out)

    def test_runs_that_an_error_ended(self):
        """They count in no plan; --next says so with its status."""
        text = self.s3analyze("cat", "-q", TESTDATA / "formats" / "plan" / "run-001-1.csv.zst").out
        text = text.replace('"error":null', '"error":"no host"')
        for name, plan, *options in (("100", "capacity", "--slo", "p99<1s"), ("100", "sweep", "--rate", "100"),
                                     ("after", "ab", "--before", "-v", "--after", "-q", "--gate", "p99:5%")):
            with self.subTest(plan):
                folder = self.tmp / plan
                self.s3analyze("plan", "--begin", plan, "--dir", folder, *options, "--command", "get")
                (folder / f"run-001-{name}.csv.zst").write_text(text)
                r = self.s3analyze("plan", "--next", folder, status=3)
                self.assertTrue(r.out.startswith("run-002-"), r.out)
                self.assertEqual(r.err, f"s3analyze: run-001-{name}.csv.zst does not count: an error ended it: no host\n")
                runs = self.s3analyze("plan", "--json", folder, status=3).json()["runs"]
                self.assertEqual([(r["counts"], r["why"]) for r in runs], [(False, "an error ended it: no host")])
                said = self.s3analyze("plan", folder, status=3).out
                self.assertRegex(said, r"\A(.* after )?0 runs")
                self.assertIn("does not count an error ended it: no host", unwrapped(said))

    def test_killed(self):
        """The run ends with s3load repeat, as after a signal."""
        self.start("--fault", "latency=2ms")
        p = self.begin("repeat", "sweep", "--dir", "plan", "--concurrent", "1", "--runs", "1", "--", *GET, "--duration", "1h",
                       "--host", self.server.hosts)
        self.wait_until(lambda: any(r["op"] == "GET" for r in self.server.log()), p)
        child = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children")
        run = os.pidfd_open(int(child.read_text()))
        p.kill()
        p.wait()
        ended, _, _ = select.select([run], [], [], TIMEOUT_S)
        if not ended:
            signal.pidfd_send_signal(run, signal.SIGKILL)
        os.close(run)
        self.assertTrue(ended)
        self.assertEqual([r["why"] for r in self.state(status=3)["runs"]], ["it was interrupted"])

    def test_an_ab_plan_without_runs(self):
        """It is undecided: nothing was compared."""
        self.s3analyze("plan", "--begin", "ab", "--dir", self.tmp / "plan", "--before", "-v", "--after", "-q", "--gate", "p99:5%",
                       "--command", "get")
        self.assertIn("Undecided after 0 runs", self.s3analyze("plan", self.tmp / "plan", status=3).out)

    def test_a_signal_while_s3analyze_runs(self):
        """It comes while s3analyze says what is next, to both or to s3load alone, or while it writes the report. No
        run begins, and the status tells the signal alone."""
        self.start()
        shutil.copy(BUILD / "s3load", self.tmp / "s3load")
        asked = self.tmp / "s3analyze"
        for name, when, kill, status, n_runs in (
                ("alone", "*--next*", "kill -TERM $PPID", 143, 0), ("next", "*--next*", "kill -INT $PPID $$", 130, 0),
                ("report", "'plan -- report'", "kill -INT $PPID $$", 130, 1)):
            with self.subTest(name):
                asked.write_text(f'#!/bin/sh\ncase "$*" in {when}) {kill};; esac\nexec "{BUILD}/s3analyze" "$@"\n')
                asked.chmod(0o755)
                r = self.check_run(self.tmp / "s3load", "repeat", "sweep", "--dir", name, "--concurrent", "1", "--runs",
                                   "1", "--", *GET, "--requests", "10", "--host", self.server.hosts,
                                   env=self.environment(), cwd=self.tmp, status=status)
                self.assertEqual(len(list((self.tmp / name).glob("*.zst"))), n_runs)
                self.assertNotIn("could not", r.err)

    def test_no_secret_in_the_plan(self):
        self.start()
        env = {"HOME": str(self.tmp)}
        self.bare("repeat", "sweep", "--dir", "plan", "--concurrent", "1", "--runs", "1", "--", *GET, "--requests",
                  "20", "--host", self.server.hosts, "--access-key", "s3load", "--secret-key", "s3load-secret", env=env)
        text = (self.tmp / "plan" / "plan.json").read_text()
        self.assertNotIn("s3load-secret", text)
        self.assertIn("REDACTED", json.loads(text)["command"])

    def refused(self, *argv, status=2):
        """What s3load says to a plan that must leave nothing, and send nothing."""
        r = self.bare("repeat", *argv, env=self.environment(), status=status)
        self.assertFalse((self.tmp / "plan").exists())
        self.assertEqual(self.server.log(), [])
        return r.err

    def ab(self, before, after):
        return self.refused("ab", "--dir", "plan", "--gate", "p50:5%", f"--before={before}", "--after", after, "--", *SHORT,
                            "--host", self.server.hosts)

    def test_a_secret_of_a_side(self):
        self.start()
        for text in ("--secret-key HUSH", "--secret-key=HUSH", "-secret-key HUSH", "--secretkey=HUSH",
                     "--session-token HUSH", "--tls  --access-key=HUSH", "--host http://me:HUSH@127.0.0.1",
                     "--tls\t--secret-key\tHUSH", "--region x\n--secret-key=HUSH"):
            for sides in (text, "--tls"), ("--tls", text):
                with self.subTest(sides):
                    said = self.ab(*sides)
                    self.assertNotIn("HUSH", said)
                    self.assertRegex(said, "(?s)--profile|separated by spaces")

    def test_both_sides_are_checked_first(self):
        self.start()
        for text, message in (("--nonsense", "unknown option"), ("--obj.size 1X", "1X"), ("--encrypt", "needs --tls"),
                              ("--profile none", "no profile 'none'"), ("more", "takes only options")):
            for name, sides in ("--before", (text, "--insecure")), ("--after", ("--insecure", text)):
                with self.subTest(sides):
                    self.assertRegex(self.ab(*sides), f"s3load: with {name}: .*{message}")
        for text, message in ("--benchdata x", "captures go to --dir"), ("--aggregate-only", "needs the captures"):
            for sides in (text, "--insecure"), ("--insecure", text):
                with self.subTest(sides):
                    self.assertRegex(self.ab(*sides), f"s3load: {text.split()[0]} is not for the runs: .*{message}")

    def test_options_that_the_plan_sets(self):
        self.start()
        capacity, levels, rates = ("capacity", "--slo", "p50<1s"), ("sweep", "--concurrent", "1,2"), ("sweep", "--rate", "1,2")
        for plan, option, instead in (
                (capacity, ("--rate", "9"), "--from"), (capacity, ("-rps-limit=9",), "--from"), (rates, ("--rate", "9"), "before --, with --rate"),
                (levels, ("--concurrent", "9"), "before --, with --concurrent"), (levels, ("--benchdata", "x"), "--dir"),
                (rates, ("--stress",), "captures")):
            with self.subTest(plan=plan, option=option):
                said = self.refused(*plan, "--dir", "plan", "--", *SHORT, "--host", self.server.hosts, *option)
                name = option[0].replace("-rps-limit=9", "--rate")
                self.assertRegex(said, f"s3load: {name} is not for the runs: .*{instead}")
        for from_rate, run, seconds in ("100", ["--requests", "367"], 4), ("1", [], 369):  # the default is 5 minutes
            self.assertIn(f"s3load: runs this short never decide p99<20ms: that takes 368 requests, and at --from {from_rate} --duration "
                          f"{seconds}s\n",
                          self.refused("capacity", "--slo", "p99<20ms", "--from", from_rate, "--dir", "plan", "--", *GET, *run,
                                                           "--host", self.server.hosts))
        self.assertIn("--dir DIR is missing", self.refused(*levels, "--", "get"))
        for words in ("clean", "--run", "x"), ("repeat",), ("nothing",), ("--secret-key=HUSH", "get"):
            said = self.refused(*levels, "--dir", "plan", "--", *words)
            self.assertIn("after -- comes a command that loads a server", said)
            self.assertNotIn("HUSH", said)
        self.assertIn("--help", self.refused(*levels, "--dir", "plan", "--", "get", "--help"))
        said = self.refused("capacity", "--slo", "GETS: p50<1s", "--dir", "plan", "--", *SHORT, "--host", self.server.hosts)
        self.assertIn('no operation is called "GETS"; they are PUT, GET', said)

    def test_without_s3analyze(self):
        """It is named, with its package, before a request is sent."""
        self.start()
        shutil.copy(BUILD / "s3load", self.tmp / "s3load")
        self.assertIn("\nPackage: s3analyze\n", (ROOT / "debian" / "control").read_text())
        for argv in (["repeat", "sweep", "--dir", "plan", "--concurrent", "1", "--", *SHORT], [*SHORT, "--slo", "p50<1s"]):
            r = self.check_run(self.tmp / "s3load", *argv, "--host", self.server.hosts, env=self.environment(), cwd=self.tmp,
                               status=1)
            self.assertIn("needs s3analyze beside s3load: install the package s3analyze", r.err)
        self.assertFalse((self.tmp / "plan").exists())
        self.assertEqual(self.server.log(), [])

    def test_wrong(self):
        self.start()
        env = self.environment()
        for argv in (["repeat", "capacity", "--", "get"], ["repeat", "capacity", "--dir", "d"],
                     ["repeat", "nothing", "--dir", "d", "--", "get"],
                     ["repeat", "capacity", "--dir", "d", "--", "get"],
                     ["repeat", "capacity", "--dir", "d", "--slo", "p99", "--", "get"],
                     ["repeat", "sweep", "--dir", "d", "--", "get"],
                     ["repeat", "sweep", "--dir", "d", "--concurrent", "1", "--runs", "0", "--", "get"],
                     ["repeat", "ab", "--dir", "d", "--before", "x", "--", "get"],
                     ["repeat", "--dir", "d", "--concurrent", "1", "--", "get", "--objects", "1"]):
            said = self.bare(*argv, env=env, status=2).err
            self.assertRegex(said, r"\As3load: .*\nTry 's3load repeat --help'\.\n\Z", argv)
            self.assertNotIn("could not make the plan", said)
        self.assertFalse((self.tmp / "d").exists())
        for argv in (["get"], ["get", "--host", "x"], ["get", "--concurrent", "1", "--duration=1s"]):
            self.assertIn("write s3load repeat capacity|sweep|ab --dir DIR OPTION... -- COMMAND --host HOST OPTION...\n",
                          self.bare("repeat", *argv, env=env, status=2).err, argv)
        (self.tmp / "file").write_text("")
        r = self.bare("repeat", "sweep", "--dir", "file", "--concurrent", "1", "--", "get", env=env, status=1)
        self.assertRegex(r.err, r"\As3load: .*file/plan[.]json.*\n\Z")

    def test_wrong_options_of_the_runs(self):
        """Such mistakes are corrected in the same folder, as no run was made."""
        self.start()
        r = self.repeat("sweep", "--concurrent", "1", "--runs", "1", command=("get", "--nonsense"), status=2)
        self.assertIn("nonsense", r.err)
        self.repeat("sweep", "--concurrent", "2", "--runs", "1", command=(*GET, "--requests", "10"))
        self.assertEqual([r["level"] for r in self.state()["runs"]], [2])


class Hooks(LoadTest):
    SWEEP = ("sweep", "--dir", "plan", "--seed", "1", "--concurrent", "1,2", "--runs", "1")

    def sweep(self, *options):
        return ("repeat", *self.SWEEP, *options, "--", *GET, "--requests", "10", "--host", self.server.hosts)

    def calls(self):
        return (self.tmp / "plan" / "calls").read_text().splitlines()

    def test_before_and_after_each_run(self):
        """In the plan's folder, with what tells the run. What they print is beside the capture."""
        self.start()
        for plan, options, side, level in (("sweep", self.SWEEP[3:], "", "1"), ("capacity", ("--slo", "p50<1h", "--max-runs", "2"), "", "100"),
                                           ("ab", ("--before", "", "--after=--tls=false", "--gate", "p50:5%", "--max-runs", "2"), None, "")):
            with self.subTest(plan):
                note = 'echo "{} $(pwd) $RUN,$SIDE,$LEVEL,$CAPTURE" | tee -a calls; test {} -e "$CAPTURE"'
                self.bare("repeat", plan, "--dir", plan, *options, "--before-run", note.format("before", "!"),
                          f"--after-run={note.format('after', '')}", "--", *GET, "--requests", "400", "--host", self.server.hosts,
                          env=self.environment(), status=0 if plan == "sweep" else 3)
                folder = self.tmp / plan
                calls = (folder / "calls").read_text().splitlines()
                runs = sorted(folder.glob("run-*.csv.zst"))
                self.assertGreaterEqual(len(runs), 2)
                expected = []
                for number, path in enumerate(runs, 1):
                    what = path.name.split("-", 2)[2].removesuffix(".csv.zst")
                    run = f"{number},{what},," if plan == "ab" else f"{number},,{what},"
                    both = [f"{when} {folder} {run}{path}" for when in ("before", "after")]
                    self.assertEqual((folder / path.name.replace(".csv.zst", ".log")).read_text().splitlines(), both)
                    expected += both
                self.assertEqual(calls, expected)

    def test_no_secret_in_the_environment(self):
        self.start()
        hush = {"AWS_SECRET_ACCESS_KEY": "HUSH1", "WARP_SESSION_TOKEN": "HUSH2", "RESTIC_PASSWORD": "HUSH3", "My_s3_key": "HUSH4",
                "https_proxy": "http://me:HUSH5@proxy", "DEPLOY_TO": "root@host=KEY"}
        self.bare(*self.sweep("--before-run", "env > env"), env={**self.environment(), **hush})
        env = (self.tmp / "plan" / "env").read_text()
        self.assertNotIn("HUSH", env)
        self.assertNotIn(self.environment()["S3LOAD_SECRET_KEY"], env)
        self.assertIn("DEPLOY_TO=root@host=KEY\n", env)
        self.assertNotIn("before-run", (self.tmp / "plan" / "plan.json").read_text())

    def test_a_failure_ends_the_plan(self):
        """With the last lines that the command wrote. The same command, perhaps with a better hook, goes on with the next run."""
        self.start()
        numbered = "for i in 1 2 3 4 5 6 7 8 9; do printf '%149s %d\\n' . $i; done; printf '\\033[0m' >&2; exit 7"
        for option, n_runs in ("before-run", 1), ("after-run", 2):
            with self.subTest(option):
                note = ("--before-run", "echo before $RUN >> calls", "--after-run", "echo after $RUN >> calls")
                failing = (f"--{option}", f"test $RUN = 1 || {{ {numbered}; }}")
                r = self.bare(*self.sweep(*note, *failing), env=self.environment(), status=1)
                log = self.tmp / "plan" / next(p.name for p in (self.tmp / "plan").glob("run-002-*.log"))
                shown = "".join(f"{'.':>149} {i}\n" for i in range(4, 10))
                self.assertTrue(r.err.endswith(f"--{option}\n{shown}\\x1b[0m\ns3load: --{option} failed (status 7). Its output is in plan/"
                                               f"{log.name}. The same command goes on with the plan\n"), r.err)
                self.assertIn(". 1\n", log.read_text())
                self.assertEqual(len(list((self.tmp / "plan").glob("run-*.csv.zst"))), n_runs)
                before = self.calls()
                self.bare(*self.sweep(*note), env=self.environment())
                self.assertEqual(self.calls()[len(before):], ["before 2", "after 2"] if n_runs == 1 else [])
                self.assertEqual(len(list((self.tmp / "plan").glob("run-*.csv.zst"))), 2)
                shutil.rmtree(self.tmp / "plan")

    def pipes(self):
        """A hook whose background process never ends by itself, and a pipe that ends with that process."""
        for name in "alive", "never":
            (self.tmp / name).unlink(missing_ok=True)
            os.mkfifo(self.tmp / name)
        pipe = os.open(self.tmp / "alive", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, pipe)
        return "(echo begun; cat ../never) > ../alive & wait", pipe

    def wait_for(self, text, pipe):
        self.assertTrue(select.select([pipe], [], [], TIMEOUT_S)[0])
        self.assertEqual(os.read(pipe, 100), text)

    def test_a_signal(self):
        """It ends the hook with all that it began, and the plan. No run begins, and none is lost."""
        self.start()
        for sent in signal.SIGINT, signal.SIGTERM:
            with self.subTest(sent):
                hook, pipe = self.pipes()
                p = self.begin(*self.sweep("--before-run", hook))
                self.wait_for(b"begun\n", pipe)
                p.send_signal(sent)
                self.wait_for(b"", pipe)
                _, err = p.communicate()
                self.assertEqual(p.returncode, 128 + sent)
                self.assertTrue(err.endswith(b"--before-run\n"), err)
                self.assertEqual(list((self.tmp / "plan").glob("*.zst")), [])
        self.bare(*self.sweep(), env=self.environment())
        self.assertEqual(len(list((self.tmp / "plan").glob("*.zst"))), 2)

    def test_a_limit_of_time(self):
        self.start()
        os.mkfifo(self.tmp / "never")
        r = self.bare(*self.sweep("--hook-timeout", "1s", "--before-run", "cat ../never"), env=self.environment(), status=1)
        self.assertIn("s3load: --before-run took longer than 1s. Its output is in plan/run-001-", r.err)
        self.assertEqual(list((self.tmp / "plan").glob("*.zst")), [])

    def test_what_a_hook_leaves_behind(self):
        """A server that it started goes on."""
        self.start()
        hook, pipe = self.pipes()
        self.bare(*self.sweep("--before-run", f"test $RUN != 1 || {{ {hook.removesuffix('wait')} }}"), env=self.environment())
        self.wait_for(b"begun\n", pipe)
        with (self.tmp / "never").open("wb") as never:  # it is still there to read this
            never.write(b"more")
        self.wait_for(b"more", pipe)
        self.wait_for(b"", pipe)
