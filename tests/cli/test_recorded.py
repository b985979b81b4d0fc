"""What s3load says in its comments reaches the reader: a run that was cut off, one that an error ended, a
generator that was the limit, requests that were never begun, connections that were not kept."""

import json
import re
import unittest

from capgen import steady, text
from harness import CliTest, unwrapped

START = {"event": "start", "run_id": "r", "command": "get", "version": "9.9", "host": "bench1",
         "command_line": "s3load get --duration 2s", "seed": 7, "start": "2026-11-21T05:45:58Z",
         "bucket": "b", "clock": []}
END = {"event": "end", "end": "duration", "error": None, "requests": 400, "errors": 0, "connects": 4,
       "prepared": 20, "not_prepared": 0, "prepare_ns": 5000000, "bench_ns": 2000000000,
       "cpu_user_ns": 1, "cpu_system_ns": 1, "max_thread_cpu_pct": 12.5, "client_bound": False,
       "clock": [{"endpoint": "http://h0:9000", "ahead_min_ns": 1000, "ahead_max_ns": 2000}]}

# Code: what the closing comment says, what the sentence holds.
CASES = {
    "cut-off": (None, "closing comment is missing"),
    "ended-by-error": ({"end": None, "error": "no host can be connected to"},
                       "ended by an error: no host can be connected to"),
    "interrupted": ({"end": "signal"}, "the run was interrupted: a signal ended it before its time"),
    "generator-bound": ({"client_bound": True, "max_thread_cpu_pct": 97.2}, "busy for 97 %"),
    "not-begun": ({"requests": 22449, "not_begun": 77551}, "77,551 of 100,000 due requests"),
    "resent": ({"resent": 17}, "sent 17 requests twice"),
    "reconnects": ({"connects": 400}, "connected 400 times for 400 requests"),
}


def comment(told):
    return f"# s3load/1 {json.dumps(told)}\n"


class Recorded(CliTest):
    def put(self, name, *ends):
        """A capture of one run for each end; None: without one."""
        header, body = text(steady(100, threads=4, every=20_000_000)).decode().split("\n", 1)
        runs = "".join(comment(START) + (comment({**END, **e}) if e is not None else "") for e in ends)
        path = self.tmp / name
        path.write_text(f"{header}\n{body}{runs}")
        return path

    def codes(self, path):
        return {w["code"]: w for w in self.s3analyze("analyze", "--json", path).json()["warnings"]}

    def test_a_usual_run_has_no_note(self):
        path = self.put("ok.csv", {})
        self.assertEqual(set(self.codes(path)) & set(CASES), set())
        recorded = self.s3analyze("analyze", "--json", path).json()["inputs"][0]["recorded"]
        self.assertEqual((recorded["n_runs"], recorded["n_closed"], recorded["n_connects"],
                          recorded["error"]), (1, 1, 4, None))

    def test_each_is_said_in_every_format(self):
        usual = self.put("usual.csv", {"requests": 401})
        for code, (end, sentence) in CASES.items():
            with self.subTest(code):
                path = self.put(f"{code}.csv", end)
                codes = self.codes(path)
                self.assertEqual(set(codes) & set(CASES), {code})
                self.assertIn(sentence, codes[code]["message"])
                self.assertIn(sentence, unwrapped(self.s3analyze("analyze", path).out))
                page = self.tmp / "page.html"
                self.s3analyze("analyze", "--html", page, path)
                self.assertIn(sentence, page.read_text())
                for before, after in (path, usual), (usual, path):
                    told = [w for w in self.s3analyze("cmp", "--json", before, after).json()["warnings"]
                            if w["code"] == code]
                    self.assertEqual(len(told), 1)
                    self.assertIn(sentence, told[0]["message"])
                self.assertIn(sentence, unwrapped(self.s3analyze("cmp", path, usual).out))
                self.assertIn(sentence, unwrapped(self.s3analyze("cmp", "--markdown", path, usual).out))

    def test_figures(self):
        figures = self.codes(self.put("a.csv", CASES["not-begun"][0]))["not-begun"]["figures"]
        self.assertEqual(figures, {"n_not_begun": 77551, "n_due": 100000})

    def test_several_runs_in_one_file(self):
        self.assertIn("1 of 3 runs have no closing", self.codes(self.put("a.csv", {}, None, {}))
                      ["cut-off"]["message"])

    def test_threads_may_connect_once(self):
        self.assertNotIn("reconnects", self.codes(self.put("a.csv", {"connects": 4, "requests": 4})))

    def test_odd_comments(self):
        header, body = text(steady(30)).decode().split("\n", 1)
        path = self.tmp / "odd.csv"
        odd = ('# s3load/1 {"event":"end","connects":9223372036854775807,"not_begun":9223372036854775807,"resent":9223372036854775807,'
               '"requests":9223372036854775807}\n' * 2 + "# s3load/1\n# s3load/1 [\n# s3load/1 7\n"
               '# s3load/1 {"event":7,"clock":{}}\n')
        path.write_text(f"{header}\n{odd}{body}")
        self.assertIn("not-begun", self.codes(path))
        self.s3analyze("info", path)

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
        for said in ("3, as the server had closed the kept connection", "the disk is full", "12 requests that were due", "it was the limit"):
            self.assertIn(said, out)
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
                     "the configurations differ"):
            self.assertIn(said, lines)
            self.assertIn(said.replace('"', "&quot;").replace(">", "&gt;"), page.read_text())
        md = self.s3analyze("cmp", "--markdown", a, b).out
        self.assertIn("- Option tls: false -> true", md)
        self.assertNotIn("Option host", md)

    def test_options_that_are_equal_are_not(self):
        c = self.s3analyze("cmp", "--json", self.put("a", {"tls": True}), self.put("b", {"tls": True})).json()
        self.assertEqual((c["differing_options"], c["n_limits"]), ([], 0))

    def test_options_of_several_runs(self):
        """A side whose runs differ says so; where a run does not say, nothing is compared."""
        one, two, none = (self.put(n, s) for n, s in (("a", {"tls": True}), ("b", {"tls": False}), ("c", {})))
        c = self.s3analyze("cmp", "--json", "--before", one, "--before", two, "--after", one, status=None)
        self.assertEqual(c.json()["differing_options"][0]["before"], "true, ...")
        c = self.s3analyze("cmp", "--json", one, none).json()
        self.assertEqual(c["differing_options"], [])


if __name__ == "__main__":
    unittest.main()
