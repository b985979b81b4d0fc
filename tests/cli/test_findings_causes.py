"""One cause, one finding."""
import json
import unittest

from test_findings import FindingsCase, Load, seconds, span, with_clock_set


class Causes(FindingsCase):
    def test_operations_one_after_the_other(self):
        """Threads begin the next operation each by itself, which makes no mix."""
        lines = []
        for i, op in enumerate(("PUT", "GET", "STAT")):
            load = Load(80 + i, mix=((op, 1),), length_s=8 * i + 8)
            load.begins = lambda client, i=i: 8 * i
            head, *rows = load.rows().splitlines()
            lines += rows
        path = self.tmp / "run.csv"
        path.write_text("\n".join([head] + lines) + "\n")
        report = json.loads(self.s3analyze("analyze", "--json", path).out)
        self.assertEqual([o["op"] for o in report["operations"]], ["PUT", "GET", "STAT"])
        self.assertLess(report["operations"][1]["start"], report["operations"][0]["end"], "they overlap")
        self.assertFalse(report["mixed"])
        self.assertEqual([f["sentence"] for f in report["findings"] if f["severity"] == "problem"], [])

    def phases(self, *ends, **settings):
        """The report of PUT, GET and DELETE, which end at these times, one after another."""
        lines, begin = [], 0
        for i, (op, end) in enumerate(zip(("PUT", "GET", "DELETE"), ends)):
            load = Load(93 + i, mix=((op, 1),), length_s=end)
            load.begins = lambda client, at=begin: at
            if op == settings.get("op"):
                load.factor = settings.get("factor", load.factor)
                load.fails = settings.get("fails", load.fails)
                load.thread_ends = settings.get("thread_ends", load.thread_ends)
            head, *rows = load.rows().splitlines()
            lines += rows
            begin = end + .02
        path = self.tmp / "run.csv"
        path.write_text("\n".join([head] + lines) + "\n")
        said = json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
        sums = self.tmp / "run.sums.zst"
        self.s3analyze("aggregate", "--force", "--output", sums, path)
        of_sums = json.loads(self.s3analyze("analyze", "--json", sums).out)["findings"]
        alike = [[(f["kind"], f["op"], f["severity"]) for f in all_ if f["kind"] not in ("from-sums", "short-range")]
                 for all_ in (said, of_sums)]
        self.assertEqual(*alike)
        return said, self.s3analyze("analyze", path).out

    def test_each_of_several_phases_is_looked_at(self):
        said, text = self.phases(6, 30, 40, op="GET", factor=lambda s, *where: 2 if s >= 18 else 1)
        self.assertEqual([(f["kind"], f["op"]) for f in said if f["severity"] == "problem"], [("drop", "GET")])
        self.assertRegex(said[0]["sentence"], r"^GET: Throughput fell by 5\d %")
        self.assertRegex(text, r"^PUT [0-9.]+ obj/s, then GET [0-9.]+ obj/s, then DELETE [0-9.]+ obj/s")

    def test_threads_of_a_phase_explain_its_levels(self):
        said, _ = self.phases(6, 30, 40, op="GET", thread_ends=lambda t: 18 if t < 6 else 30)
        self.assertNotIn("problem", [f["severity"] for f in said])
        self.assertRegex(" ".join(f["sentence"] for f in said), "GET: From .* 6 threads are at work, not 12: requests/s fell by 5")

    def test_a_host_that_comes_back_slow(self):
        """Its slowness costs more, but follows from what made it fail."""
        load = Load(97, hosts=6, threads=24, length_s=40)
        load.fails = lambda s, h, *where: "connection refused" if h == 2 and 18 <= s < 21 else ""
        load.factor = lambda s, h, *where: 6 if h == 2 and 21 <= s < 25 else 1
        first, all_ = self.check_first(load, "errors", {"host": "http://10.0.0.2:9000"}, 18, 21)
        slow, = [f for f in all_ if f["kind"] == "slow-host"]
        self.assertEqual(slow["because"], [0])

    def drop_near_a_burst(self, begin, factor):
        """The kinds of problems, and of the causes of a drop, of a load with a burst of errors of 1 s."""
        load = Load(98, hosts=8, threads=24, length_s=60)
        load.factor = factor
        load.fails = lambda s, *where: "HTTP 503" if begin < s < begin + 1 and int(s * 1e5) % 2 else ""
        all_ = self.findings(load)
        drop, = [f for f in all_ if f["kind"] == "drop"]
        return [f["kind"] for f in all_ if f["severity"] == "problem"], [all_[k]["kind"] for k in drop["because"]]

    def test_a_short_burst_of_errors_is_no_cause_of_a_long_drop(self):
        found = self.drop_near_a_burst(21, lambda s, *where: 3 if 20 < s < 35 else 1)
        self.assertEqual(found, (["drop", "errors"], []))

    def test_a_slow_host_is_the_cause_of_the_drop_in_its_time(self):
        def factor(s, h, *where):
            return 15 if h == 7 and 24.6 < s < 39 else 2 if 20 < s < 24.6 else 1

        found = self.drop_near_a_burst(20, factor)
        self.assertEqual(found, (["slow-host", "errors"], ["slow-host"]))

    def check_one_cause(self, rows, kind):
        """All problems are of that kind. Returns the kinds of the findings that they explain."""
        path = self.tmp / "run.csv"
        path.write_text(rows)
        all_ = json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
        self.assertEqual({f["kind"] for f in all_ if f["severity"] == "problem"}, {kind}, [f["sentence"] for f in all_])
        return {f["kind"] for f in all_ if any(all_[k]["kind"] == kind for k in f["because"])}

    def test_many_hosts_that_cost_little_each(self):
        """None of them is a problem. What they cost together is one."""
        load = Load(101, hosts=32, threads=96, length_s=40)
        load.factor = lambda s, h, *where: 2 if h % 4 == 0 and 15 < s < 25 else 1
        first, all_ = self.check_first(load, "drop", None, 15, 25)
        self.assertEqual({all_[k]["kind"] for k in first["because"]}, {"slow-host"})

    def test_a_host_that_is_added_and_slow(self):
        load = Load(102, threads=16, length_s=40)
        load.factor = lambda s, h, *where: 2 if h == 3 and s > 20 else 1
        head, *rows = load.rows().splitlines()
        rows = [row if seconds(row.split("\t")[9]) > 20 else row.replace("10.0.0.3", "10.0.0.0") for row in rows]
        self.assertIn("drop", self.check_one_cause("\n".join([head] + rows) + "\n", "slow-host"))

    def test_a_host_that_is_slow_again_and_again(self):
        load = Load(103, threads=24, length_s=60)
        load.slots, load.noise_sd = 8, .01
        load.factor = lambda s, h, *where: 4 if h == 1 and 10 < s % 20 < 15 else 1
        self.assertEqual(self.check_one_cause(load.rows(), "slow-host"), {"swings"})

    def errors_around_a_stall(self, stalled_s):
        """Of a load that fails from 7.99 s to 10.2 s, and stalls at second 8: whether the errors are a problem."""
        load = Load(99, threads=24)
        load.hangs = span(8, 8 + stalled_s)
        load.fails = lambda s, *where: "HTTP 503" if 7.99 < s < 10.2 and int(s * 1e5) % 2 else ""
        errors, = [f for f in self.findings(load) if f["kind"] == "errors"]
        return errors["severity"] == "problem"

    def test_a_short_stall_is_no_cause_of_errors_that_go_on(self):
        self.assertTrue(self.errors_around_a_stall(.3))
        self.assertFalse(self.errors_around_a_stall(1.5))

    def test_a_host_that_stays_slow_after_errors(self):
        load = Load(98, hosts=6, threads=24, length_s=40)
        load.fails = lambda s, h, *where: "connection refused" if h == 2 and 18 <= s < 21 else ""
        load.factor = lambda s, h, *where: 6 if h == 2 and 21 <= s else 1
        self.assertEqual({f["kind"] for f in self.findings(load) if f["severity"] == "problem"}, {"errors", "slow-host"})

    def test_a_short_deletion_at_the_end_is_a_clean_up(self):
        """It fails without harm to the benchmark, which the headline is about."""
        said, text = self.phases(6, 30, 31, op="DELETE", fails=lambda s, *where: "denied" if int(s * 1000) % 3 == 0 else "")
        self.assertEqual([(f["kind"], f["severity"], f["op"]) for f in said], [("errors", "notice", "DELETE")])
        self.assertRegex(said[0]["sentence"], r"^In the clean-up \d+ DELETE requests failed \([0-9.]+ % of all DELETE requests\)")
        self.assertRegex(text, "^GET of 64KiB")

    def test_a_hosts_failures_are_judged_by_its_own_requests(self):
        load = Load(96, hosts=16, threads=32)
        load.fails = lambda s, h, c, op, t: "503" if h == 3 and load.random.random() < .14 else ""
        first, _ = self.check_first(load, "errors", {"host": "http://10.0.0.3:9000"})
        self.assertLess(first["evidence"]["share"], .01)
        self.assertEqual(first["severity"], "problem")
        self.assertRegex(first["sentence"], r"% of all, 1[3-5]\.[0-9]+ % of its own\)")

    def test_a_minute_in_half_an_hour(self):
        """Its times and its size are those of the requests, not of wide points."""
        load = Load(89, length_s=1800, threads=2, hosts=1)
        load.factor = lambda s, *where: 20 if 900 <= s < 960 else 5
        drop, = self.findings(load)
        self.assertEqual(drop["kind"], "drop")
        for key, wanted in (("start", 900), ("end", 960)):
            self.assertAlmostEqual(seconds(drop[key]), wanted, delta=1.5)
        self.assertAlmostEqual(drop["ratio"], .25, delta=.025)
        self.assertEqual(drop["severity"], "problem")

    def test_one_of_many_hosts_for_a_while(self):
        """It costs the run next to nothing, and is told all the same."""
        load = Load(91, length_s=60, threads=24, hosts=12)
        load.factor = lambda s, h, *where: 2.3 if h == 5 and 20 <= s < 28 else 1
        first, = self.findings(load)
        self.assertEqual((first["kind"], first["severity"]), ("slow-host", "notice"))
        self.assertEqual(first["scope"], {"host": "http://10.0.0.5:9000"})
        for key, wanted in (("start", 20), ("end", 28)):
            self.assertAlmostEqual(seconds(first[key]), wanted, delta=1)

    def test_a_clock_that_jumps(self):
        """It has one problem, and all that wrong times make is a consequence."""
        for by in (4, -4):
            load = Load(90, clients=4, threads=24, length_s=24)
            path = self.tmp / "run.csv"
            path.write_text(with_clock_set(load.rows(), "client-2", 9, by))
            first, *others = json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]
            self.assertEqual((first["kind"], first["scope"]), ("clock-jump", {"client": "client-2"}))
            self.assertAlmostEqual(first["evidence"]["by_ns"] / 1e9, by, delta=.3)
            self.assertAlmostEqual(seconds(first["start"]), min(9, 9 + by), delta=1)
            self.assertEqual([f["sentence"] for f in others if f["severity"] == "problem"], [])

    def prepared(self, get_fails=0):
        """PUT with errors, then GET of the same kind, perhaps."""
        put, get = Load(83, mix=(("PUT", 1),), length_s=6), Load(84, length_s=20)
        put.fails = lambda *where: "InternalError" if put.random.random() < .05 else ""
        get.fails = lambda *where: "InternalError" if get.random.random() < get_fails else ""
        get.begins = lambda client: 7
        path = self.tmp / "run.csv"
        path.write_text(put.rows() + get.rows().partition("\n")[2])
        return json.loads(self.s3analyze("analyze", "--json", path).out)["findings"]

    def test_errors_of_the_preparation(self):
        said, = self.prepared()
        self.assertEqual((said["kind"], said["severity"], said["op"]), ("errors", "notice", "PUT"))
        self.assertRegex(said["sentence"], "^In the preparation [0-9]+ PUT requests failed")
        benchmark, preparation = self.prepared(get_fails=.03)
        self.assertEqual((benchmark["severity"], preparation["severity"]), ("problem", "notice"))
        self.assertRegex(preparation["sentence"], "^In the preparation")

    def test_phases_do_not_explain_each_other(self):
        """Each has findings of its own, which do not explain those of another."""
        get, delete = Load(85, length_s=20), Load(86, mix=(("DELETE", 1),), length_s=31)
        get.factor = lambda s, *where: 10 if s >= 10 else 5
        delete.begins = lambda client: 21
        delete.fails = lambda *where: "AccessDenied" if delete.random.random() < .3 else ""
        path = self.tmp / "run.csv"
        path.write_text(get.rows() + delete.rows().partition("\n")[2])
        report = json.loads(self.s3analyze("analyze", "--json", path).out)
        problems = sorted((f["op"], f["kind"]) for f in report["findings"] if f["severity"] == "problem")
        self.assertEqual(problems, [("DELETE", "errors"), ("GET", "drop")])

    def test_steady_errors_and_a_burst(self):
        """The first finding counts all failures with the message."""
        load = Load(85)
        load.fails = lambda s, h, c, op, t: "SlowDown" if load.random.random() < (.97 if 8 <= s < 8.3 else .14) else ""
        all_, burst = self.findings(load)
        rows = [line.split("\t") for line in (self.tmp / "run.csv").read_text().splitlines()[1:]]
        self.assertEqual(all_["evidence"]["n_errors"], sum(row[8] != "" for row in rows))
        self.assertNotIn("start", all_)
        self.assertRegex(all_["sentence"], r"throughout the run, [0-9.]+ % of them from 12:00:0[78]\.\d to 12:00:08\.\d: SlowDown$")
        self.assertEqual((all_["severity"], burst["severity"]), ("problem", "notice"))

    def test_several_bursts(self):
        """A host that refuses requests again and again: the first finding counts all of them."""
        load = Load(91, length_s=40)
        load.fails = lambda s, h, c, op, t: "refused" if h == 1 and int(s) in (4, 18, 32) else ""
        first, all_ = self.check_first(load, "errors", {"host": "http://10.0.0.1:9000"}, 4, 33)
        self.assertEqual(first["evidence"]["n_errors"], sum(f["evidence"]["n_errors"] for f in all_[1:]))
        self.assertIn("failed in 3 bursts from", first["sentence"])

    def test_errors_to_the_end(self):
        """They are counted once, wherever the search found a part of them."""
        load = Load(92, length_s=30)
        load.fails = lambda s, h, c, op, t: "503" if s >= 16 else ""
        said = [f["evidence"]["n_errors"] for f in self.findings(load) if f["kind"] == "errors"]
        rows = [line.split("\t") for line in (self.tmp / "run.csv").read_text().splitlines()[1:]]
        self.assertEqual(said, [sum(row[8] != "" for row in rows)])

    def test_two_messages_in_one_second(self):
        load = Load(86, mix=(("GET", .6), ("STAT", .4)))
        load.fails = lambda s, h, c, op, t: f"{op}: 503" if 8 <= s < 9 and load.random.random() < .9 else ""
        first, all_ = self.check_first(load, "errors", start=8, end=9)
        self.assertEqual(len(all_), 1)
        self.assertIn("2 kinds of errors, such as: GET: 503", first["sentence"])

    def test_a_client_cannot_reach_a_host(self):
        load = Load(87, clients=4, threads=24)
        load.fails = lambda s, h, c, op, t: "no route" if c == 1 and h == 2 and 8 <= s < 12 else ""
        first, _ = self.check_first(load, "errors", {"client": "client-1", "host": "http://10.0.0.2:9000"}, 8, 12)
        self.assertRegex(first["sentence"], "^[0-9]+ requests of client client-1 to http://10.0.0.2:9000 failed from")

    def test_a_client_whose_key_is_wrong(self):
        """Its requests fail so fast that they are nearly all; chance would give it none of the others."""
        load = Load(103, clients=3, length_s=10)
        load.fails = lambda s, h, c, op, t: "403" if c == 1 else ""
        load.failed_s = .0005
        first, _ = self.check_first(load, "errors", {"client": "client-1"})
        self.assertGreater(first["evidence"]["share"], .9)

    def test_a_request_that_hangs_until_it_times_out(self):
        load = Load(88)
        load.hangs = lambda s, h, c, op, t, length: 15 if t == 4 and 5 <= s < 5.1 else None
        load.time_out_s = 6
        _, (hung, failed) = self.check_first(load, "stuck-thread", {"thread": 4}, 5, 11, near_s=1)
        self.assertEqual((failed["kind"], failed["because"]), ("errors", [0]))

    def test_requests_that_hang_at_the_end(self):
        """They fail together, long after the last start: because of the stall, and none began after the last success."""
        load = Load(99, length_s=20)
        load.hangs = span(14, 100)
        load.time_out_s = 30
        _, (stalled, failed) = self.check_first(load, "stall", start=14, end=44)
        self.assertEqual((failed["kind"], failed["because"]), ("errors", [0]))
        self.assertAlmostEqual(seconds(failed["start"]), 14, delta=.6)

    def test_a_host_that_is_gone(self):
        """All threads come to wait for it, time out together, and wait again: one problem, which began before they failed."""
        load = Load(102, hosts=6, threads=24, length_s=40)
        load.hangs = span(13, 1000, lambda h, c, op, t: h == 1)
        load.time_out_s = 5
        self.check_first(load, "errors", {"host": "http://10.0.0.1:9000"}, 18)

    def test_a_host_that_only_times_out(self):
        """Next to all threads wait for it until the end of the run, and nobody succeeds: one problem."""
        for hosts in 2, 3:
            load = Load(105, hosts=hosts, threads=8, length_s=40)
            load.hangs = span(15, 1000, lambda h, c, op, t: h == 1)
            load.time_out_s = 1
            _, found = self.check_first(load, "errors", {"host": "http://10.0.0.1:9000"}, 16)
            self.assertEqual([f["kind"] for f in found if f["severity"] == "problem"], ["errors"])
            self.assertIn("stall", [f["kind"] for f in found])
            self.assertNotIn("load-change", [f["kind"] for f in found])  # the host is in use

    def test_time_outs_that_take_all_threads_of_an_open_loop(self):
        """Half of the requests hang, and when all threads wait for these, nothing goes on."""
        load = Load(170, length_s=40, threads=24, rate=100)
        load.time_out_s = 4
        load.hangs = lambda s, h, c, op, t, length: 100 if 12 <= s < 30 and load.random.random() < .5 else None
        all_ = self.findings(load)
        stood = [f for f in all_ if f["kind"] in ("stall", "pauses")]
        self.assertTrue(stood)
        for f in stood:
            self.assertEqual((f["severity"], {all_[i]["kind"] for i in f["because"]}), ("notice", {"errors"}), f["sentence"])

    def test_a_slow_host_of_an_open_loop(self):
        """All threads wait for it, so that requests begin late: it is to blame, not the rate."""
        load = Load(104, threads=24, rate=600)
        load.factor = lambda s, h, *where: 8 if h == 1 else 1
        _, all_ = self.check_first(load, "slow-host", {"host": "http://10.0.0.1:9000"})
        self.assertEqual([f["because"] for f in all_ if f["kind"] == "backlog"], [[0]])

    def test_all_are_refused_at_once(self):
        """That is many times faster than answers: the time before is no stall."""
        load = Load(100)
        load.fails = lambda s, *where: "507" if s >= 8 else ""
        load.failed_s = .0005
        first, _ = self.check_first(load, "no-success", start=8)
        self.assertGreater(first["evidence"]["n_failed"], 100 * load.threads)

    def test_nothing_succeeds_in_an_overloaded_open_loop(self):
        """There are no durations of successes in which to look for the first wait."""
        load = Load(105, threads=8, rate=600)
        load.fails = lambda *where: "HTTP 500"
        load.failed_s = .02
        self.assertIn("backlog", [f["kind"] for f in self.findings(load)])


if __name__ == "__main__":
    unittest.main()
