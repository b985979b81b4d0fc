"""What s3load says in its comments reaches the reader: a run that was cut off, one that an error ended, a
generator that was the limit, requests that were never begun, connections that were not kept."""

import json
import re
import unittest

from capgen import START as START_NS
from capgen import steady, text
from harness import CliTest, unwrapped

START = {"event": "start", "run_id": "r", "command": "get", "version": "9.9", "host": "bench1",
         "command_line": "s3load get --duration 2s", "seed": 7, "start": "2026-11-21T05:45:58Z",
         "bucket": "b", "clock": []}
END = {"event": "end", "end": "duration", "error": None, "requests": 400, "errors": 0, "connects": 4,
       "prepared": 20, "not_prepared": 0, "prepare_ns": 5000000, "bench_ns": 2000000000,
       "cpu_user_ns": 1, "cpu_system_ns": 1, "max_thread_cpu_pct": 12.5, "client_bound": False,
       "clock": [{"endpoint": "http://h0:9000", "ahead_min_ns": 1000, "ahead_max_ns": 2000}]}

# Code: keys of the closing comment, words of the sentence.
CASES = {
    "cut-off": (None, "closing comment is missing"),
    "ended-by-error": ({"end": None, "error": "no host can be connected to"},
                       "ended by an error: no host can be connected to"),
    "no-benchmark": ({"bench_ns": 0}, "The run ended before its benchmark began"),
    "interrupted": ({"end": "signal"}, "The run was interrupted: a signal ended it before its time"),
    "generator-bound": ({"client_bound": True, "max_thread_cpu_pct": 97.2}, "busy for 97 %"),
    "not-begun": ({"requests": 22449, "not_begun": 77551}, "77,551 of 100,000 due requests"),
    "resent": ({"resent": 17}, "sent 17 requests twice"),
    "reconnects": ({"connects": 400}, "connected 400 times for 400 requests"),
    "clock-step": ({"clock_change_ns": -3600 * 10**9}, "machine was set back by 1h during the run"),
    "stopped": ({"stops": [{"at_ns": START_NS + 500_000_000, "length_ns": 900_000_000}]},
                "s3load itself was stopped for 900ms from 05:45:58.5"),
}


def comment(told):
    return f"# s3load/1 {json.dumps(told)}\n"


class Recorded(CliTest):
    def put(self, name, *ends):
        """A capture of one run for each end; None: without a closing comment."""
        header, body = text(steady(100, threads=4, every=20_000_000)).decode().split("\n", 1)
        runs = "".join(comment(START) + (comment({**END, **e}) if e is not None else "") for e in ends)
        path = self.tmp / name
        path.write_text(f"{header}\n{body}{runs}")
        return path

    def kinds(self, path, *options):
        return {f["kind"]: f for f in self.s3analyze("analyze", "--json", *options, path).json()["findings"]}

    def test_a_usual_run_has_no_note(self):
        path = self.put("ok.csv", {})
        self.assertEqual(set(self.kinds(path)) & set(CASES), set())
        recorded = self.s3analyze("analyze", "--json", path).json()["inputs"][0]["recorded"]
        self.assertEqual((recorded["n_runs"], recorded["n_closed"], recorded["n_connects"],
                          recorded["error"]), (1, 1, 4, None))

    def test_each_is_said_in_every_format(self):
        usual = self.put("usual.csv", {"requests": 401})
        for kind, (end, sentence) in CASES.items():
            with self.subTest(kind):
                path = self.put(f"{kind}.csv", end)
                kinds = self.kinds(path)
                self.assertEqual(set(kinds) & set(CASES), {kind})
                self.assertIn(sentence, kinds[kind]["sentence"])
                self.assertIn(sentence, unwrapped(self.s3analyze("analyze", path).out))
                page = self.tmp / "page.html"
                self.s3analyze("analyze", "--html", page, path)
                self.assertIn(sentence, page.read_text())
                sides = self.s3analyze("cmp", "--json", path, usual).json()
                told = [f["sentence"] for f in sides["before"]["runs"][0]["findings"] if f["kind"] == kind]
                self.assertEqual(len(told), 1)
                self.assertIn(sentence, told[0])
                self.assertIn(sentence, unwrapped(self.s3analyze("cmp", path, usual).out))
                self.assertIn(sentence, unwrapped(self.s3analyze("cmp", "--markdown", path, usual).out))

    def test_figures(self):
        figures = self.kinds(self.put("a.csv", CASES["not-begun"][0]))["not-begun"]["evidence"]
        self.assertEqual(figures, {"n_not_begun": 77551, "n_due": 100000})

    def test_few_requests_that_never_began_are_no_problem(self):
        for n, severity in (1, "notice"), (19, "notice"), (20, "problem"):
            path = self.put("a.csv", {"requests": 2000 - n, "not_begun": n})
            self.assertEqual(self.kinds(path)["not-begun"]["severity"], severity, n)

    def test_several_runs_in_one_file(self):
        self.assertIn("1 of 3 runs have no closing", self.kinds(self.put("a.csv", {}, None, {}))
                      ["cut-off"]["sentence"])

    def test_killed_in_its_preparation(self):
        """What is recorded is only what the run said that it would do first. Sums say so, too."""
        header, body = text(steady(100, op="PUT")).decode().split("\n", 1)
        path, sums = self.tmp / "killed.csv", self.tmp / "killed.sums.zst"
        for said, more, expected in (("PUT", "", {"cut-off", "no-benchmark"}), (None, "", {"cut-off"}),
                                     ("PUT", comment(END), set()),
                                     ("PUT", text(steady(1)).decode().split("\n", 1)[1], {"cut-off"})):
            with self.subTest(said=said, more=more[:10]):
                path.write_text(f"{header}\n{comment({**START, 'preparation': said})}{body}{more}")
                self.s3analyze("aggregate", "--force", "--output", sums, path)
                for file in path, sums:
                    self.assertEqual(set(self.kinds(file)) & set(CASES), expected)
                    self.assertEqual(set(self.kinds(file, "--op", "PUT")) & set(CASES), expected)

    def test_threads_may_connect_once(self):
        self.assertNotIn("reconnects", self.kinds(self.put("a.csv", {"connects": 4, "requests": 4})))

    def test_odd_comments(self):
        header, body = text(steady(30)).decode().split("\n", 1)
        path = self.tmp / "odd.csv"
        odd = ('# s3load/1 {"event":"end","connects":9223372036854775807,"not_begun":9223372036854775807,"resent":9223372036854775807,'
               '"requests":9223372036854775807}\n' * 2 + "# s3load/1\n# s3load/1 [\n# s3load/1 7\n"
               '# s3load/1 {"event":7,"clock":{}}\n')
        path.write_text(f"{header}\n{odd}{body}")
        self.assertIn("not-begun", self.kinds(path))
        self.s3analyze("info", path)

    def findings(self, rows, end):
        """Of a run of these rows: the problems, and what each other finding is because of, by kind."""
        path = self.tmp / "found.csv"
        path.write_text(text(rows).decode() + comment(START) + comment({**END, **end}))
        found = self.s3analyze("analyze", "--json", path).json()["findings"]
        return ([f["kind"] for f in found if f["severity"] == "problem"],
                {f["kind"]: {found[i]["kind"] for i in f["because"]} for f in found if f["severity"] != "problem"})

    def test_stop_of_s3load_is_no_stall_of_the_store(self):
        """If s3load itself was stopped, it is the cause of the stall; else the store is."""
        rows = steady(1000, threads=4, every=10_000_000)
        gap = rows[2000].start
        rows = [r._replace(start=r.start + (r.start >= gap) * 3 * 10**9, end=r.end + (r.end >= gap) * 3 * 10**9)
                for r in rows]
        for at, told in ((0, {"stall": {"stopped"}}), (-2_500_000_000, None)):
            stops = [{"at_ns": gap + at, "length_ns": 3 * 10**9}]
            problems, others = self.findings(rows, {"stops": stops})
            self.assertEqual(problems, ["stopped"] if told else ["stall", "stopped"])
            self.assertEqual(others, told or {})
        self.assertEqual(self.findings(rows, {"stops": []})[0], ["stall"])
        # A stop too short to report, many of which the longest are kept, and nonsense.
        short = {"at_ns": gap, "length_ns": 2_000_000}
        self.assertEqual(self.findings(rows, {"stops": [short]})[0], ["stall"])
        problems, others = self.findings(rows, {"stops": [short] * 20 + stops[:1] + [{"at_ns": 2**63 - 1, "length_ns": 1},
                                                          {"at_ns": gap}, 7, {"length_ns": "a"}]})
        self.assertEqual(problems, ["stall", "stopped"])

    def test_step_of_the_clock_is_one_finding(self):
        """Errors of servers that refuse the clock have it as their cause, with a code or (HEAD) without."""
        rows = steady(1000, threads=4, every=10_000_000)
        for error in ("HTTP 403 RequestTimeTooSkewed: The request is refused.", "HTTP 403"):
            failing = [r._replace(error=error) if i >= 1000 else r for i, r in enumerate(rows)]
            problems, others = self.findings(failing, {"clock_change_ns": 3600 * 10**9})
            self.assertEqual(problems, ["clock-step"])
            self.assertEqual(others["errors"], {"clock-step", "no-success"})
            self.assertEqual(others["no-success"], {"clock-step"})
        problems, others = self.findings([r._replace(error="HTTP 503") for r in rows[:1000]] + rows[1000:],
                                         {"clock_change_ns": 3600 * 10**9})
        self.assertEqual(sorted(problems), ["clock-step", "errors"])
        self.assertEqual(self.findings(rows, {"clock_change_ns": 2 * 10**9}), ([], {"clock-step": set()}))
        self.assertEqual(self.findings(rows, {"clock_change_ns": 10**9}), ([], {}))

    def test_clocks_of_servers(self):
        """Behind is not "ahead by -1s"; bounds that contradict each other say nothing; and those of one Date, which
        may be 5 s old, are as wide as that, also in captures of s3load that did not know it."""
        ms = 1_000_000
        for bounds, said, column in (((-888 * ms, -887 * ms), "887ms to 888ms behind", "888ms behind (+-500us)"),
                                     ((-3 * ms, 2 * ms), "3ms behind to 2ms ahead", "500us behind (+-2.5ms)"),
                                     ((-2 * ms, 0), "0s to 2ms behind", "1ms behind (+-1ms)"),
                                     ((-5361 * ms, -4359 * ms), "5.36s behind to 641ms ahead", "2.36s behind (+-3.00s)"),
                                     ((-5361 * ms, 641 * ms), "5.36s behind to 641ms ahead", "2.36s behind (+-3.00s)"),
                                     ((5 * ms, 4 * ms), None, None), ((-888 * ms, -889 * ms), None, None),
                                     ((-2**63, 2**63 - 1), None, None)):
            with self.subTest(bounds):
                clock = [{"endpoint": "http://h0:9000", "ahead_min_ns": bounds[0], "ahead_max_ns": bounds[1]},
                         {"endpoint": "http://h1:9000", "ahead_min_ns": 9, "ahead_max_ns": 8}]
                path = self.put("clock.csv", {"clock": clock})
                found = re.findall(r"clocks +http://h0:9000 is (.*)", self.s3analyze("info", path).out)
                self.assertEqual(found, [said] if said else [])
                out = self.s3analyze("merge", "--force", "-o", "/dev/null", path).out
                self.assertEqual(re.findall(r"[\w.]+ (?:ahead|behind) \(.*?\)", out), [column] if column else [])

    def test_info_in_words(self):
        out = self.s3analyze("info", self.put("a.csv", {})).out
        for said in ("recorded by  s3load get --duration 2s", "version      9.9", "on           bench1",
                     "seed         7", "ended        its duration was over",
                     "400 requests in 2s, 0 failed; 4 connects", "20 objects in 5ms, 0 failed",
                     "http://h0:9000 is 1us to 2us ahead"):
            self.assertIn(said, out)
        self.assertNotIn("{", out)
        out = self.s3analyze("info", self.put("b.csv", None)).out
        self.assertIn("it was killed, or the file was cut", out)
        out = self.s3analyze("info", self.put("c.csv", {"error": "the disk is full", "not_begun": 12,
                                                        "client_bound": True, "resent": 3})).out
        words = " ".join(out.split())  # lines are as long as the terminal is wide
        for said in ("3, as the server had closed the kept connection", "the disk is full", "12 requests that were due", "it was the limit"):
            self.assertIn(said, words)
        capture = self.s3analyze("info", "--json", self.put("d.csv", {})).json()["captures"][0]
        self.assertEqual(capture["s3load_end"]["connects"], 4)
        self.assertEqual(capture["s3load"]["seed"], 7)


class Options(CliTest):
    def put(self, name, settings):
        path = self.tmp / name
        header, body = text(steady(100, threads=4, every=20_000_000)).decode().split("\n", 1)
        start = {**START, "run_id": name, "settings": settings}
        path.write_text(f"{header}\n{comment(start)}{body}{comment({**END, 'n': name})}")
        return path

    def test_options_that_differ_are_said_by_cmp(self):
        """Those that rows show are compared by rows; the host is what is compared; names may be odd."""
        a = self.put("a", {"proxy": None, "host": "h1", "region": "r", "tls": False, "concurrent": 1, "new": 1})
        b = self.put("b", {"proxy": "http://p", "host": "h2", "region": "r", "tls": True, "concurrent": 2})
        page = self.tmp / "page.html"
        lines = self.s3analyze("cmp", "--html", page, a, b).out
        c = self.s3analyze("cmp", "--json", a, b).json()
        self.assertEqual([tuple(o.values()) for o in c["differing_options"]],
                         [("proxy", "null", '"http://p"', True), ("host", '"h1"', '"h2"', False),
                          ("tls", "false", "true", True)])
        self.assertEqual(c["n_limits"], 2)
        for said in ('Option proxy: null -> "http://p"', 'Option host: "h1" -> "h2"', "Option tls: false -> true",
                     "settings of the runs differ"):
            self.assertIn(said, lines)
            self.assertIn(said.replace('"', "&quot;").replace(">", "&gt;"), page.read_text())
        md = self.s3analyze("cmp", "--markdown", a, b).out
        self.assertIn("- **Option tls: false -> true (limits the comparison)**\n", md)
        self.assertIn('- Option host: "h1" -> "h2"\n', md)

    def test_options_that_are_equal_are_not(self):
        c = self.s3analyze("cmp", "--json", self.put("a", {"tls": True}), self.put("b", {"tls": True})).json()
        self.assertEqual((c["differing_options"], c["n_limits"]), ([], 0))

    def test_options_of_several_runs(self):
        """A side whose runs differ in the hosts is named; if a run does not tell its options, they are not compared."""
        one, two, none = (self.put(n, s) for n, s in (("a", {"host": "x"}), ("b", {"host": "y"}), ("c", {})))
        c = self.s3analyze("cmp", "--json", "--before", one, "--before", two, "--after", one, status=None)
        self.assertEqual(c.json()["differing_options"][0]["before"], '"x", ...')
        c = self.s3analyze("cmp", "--json", one, none).json()
        self.assertEqual(c["differing_options"], [])


if __name__ == "__main__":
    unittest.main()
