"""Reports as pages: what they hold, that they need nothing else, and how a browser shows them."""
import base64
import hashlib
import html.parser
import json
import os
import re
import shutil
import unittest

import capgen
from browser import FAULTS, Browser
from capgen import SECOND
from harness import ROOT, CliTest, capture, tool

class Reader(html.parser.HTMLParser):
    """Collects tags, ids, references and text; reports tags that are not closed."""
    VOID = {"meta", "link", "br", "hr", "img"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.references, self.text = [], set(), [], [], []
        self.scripts, self.metas = {}, {}  # by type, by name
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        values = dict(attrs)
        if tag == "script":
            kind = values.get("type", "")
            assert kind not in self.scripts, "two scripts of a type"
            self.scripts[kind] = ""
            self.script = kind
        elif tag == "meta":
            name = values.get("http-equiv", values.get("name", values.get("property")))
            self.metas[name] = values.get("content")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src", "action"):
                self.references.append(value)
            assert not name.startswith("on"), (tag, name)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:], self.getpos())
        self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.scripts[self.script] += data
        elif self.open[-1:] != ["style"]:
            self.text.append(data)


class Html(CliTest):
    def page(self, *args, command="analyze", charts=True, **kwargs):
        """charts=False: without gnuplot, for tests that are not about charts."""
        path = self.tmp / "report.html"
        if not charts:
            kwargs["env"] = {"PATH": str(self.tmp)}
        self.s3analyze(command, "-q", "--html", path, *args, **kwargs)
        text = path.read_text()
        reader = Reader(text)
        self.assertEqual(reader.open, [])
        self.assertEqual(len(set(reader.ids)), len(reader.ids))
        for reference in reader.references:
            if reference.startswith("#"):
                self.assertIn(reference[1:], reader.ids)
            else:
                self.assertTrue(reference.startswith("data:"), reference)
        # One script, which the policy allows, and data.
        self.assertLessEqual(set(reader.scripts), {"", "application/json"})
        digest = base64.b64encode(hashlib.sha256(reader.scripts[""].encode()).digest()).decode()
        policy = dict(p.split(" ", 1) for p in reader.metas["Content-Security-Policy"].split("; "))
        flame = base64.b64encode(hashlib.sha256((ROOT / "analyze/render/page/flame.js").read_bytes()).digest()).decode()
        self.assertEqual(policy["script-src"], f"'sha256-{digest}' 'sha256-{flame}'")
        self.assertEqual(policy["default-src"], "'none'")
        self.assertNotIn("@import", text)
        return text, reader, " ".join(" ".join(reader.text).split())

    def test_figures_of_the_report(self):
        path = capture("get-errors")
        _, _, said = self.page(path)
        report = self.s3analyze("analyze", "-q", "--json", path).json()
        get = next(o for o in report["operations"] if o["op"] == "GET")
        for wanted in (f"{get['n_requests']:,}", f"{get['n_errors']:,}", "95 % confidence intervals",
                       hashlib.sha256(path.read_bytes()).hexdigest(), "Active range",
                       f"{get['throughput']['bytes_per_s'] / 2**20:.1f}MiB/s",
                       "What the recorder wrote"):
            self.assertIn(wanted, said)
        # An interval that may not hold is marked.
        self.assertRegex(said, r"95 % CI \S+ to \S+, unreliable\)")
        self.assertGreater(len(report["findings"]), 0)
        for finding in report["findings"]:
            self.assertIn(" ".join(finding["sentence"].split()), said)
        for group in get["errors"]:
            self.assertIn(" ".join(group["message"].split()), said)
        for host in get["hosts"]:
            self.assertIn(host["host"], said)

    def test_unreliable_interval(self):
        """If throughput wanders slowly, every format marks the interval, and the page does not call the run good."""
        path = capture("put-g4")
        report = self.s3analyze("analyze", "-q", "--json", path).json()
        self.assertEqual(report["findings"], [])
        rate = report["operations"][0]["statistics"]["bytes_per_s"]
        self.assertLess(rate["n_stretches"], 13)
        text, _, said = self.page(path)
        self.assertNotIn('class="badge good"', text)
        self.assertIn('class="badge doubt"', text)
        for words in said, self.s3analyze("analyze", "-q", "-v", path).out:
            words = " ".join(words.split())
            self.assertIn(", unreliable)", words)
            self.assertIn(rate["unreliable"], words)
        report = self.s3analyze("analyze", "-q", "--json", capture("mixed-3hosts")).json()
        get = next(o for o in report["operations"] if o["op"] == "GET")
        self.assertIsNone(get["statistics"]["bytes_per_s"]["unreliable"])

    def test_filters_and_label(self):
        args = ["--op", "GET", "--host", "*:7071", "--skip", "1s"]
        words = "Analysed with: operations GET; hosts *:7071; without the first 1s of each operation"
        text, _, said = self.page(capture("get-errors"), *args, "--label", "night <run>")
        self.assertIn("night <run>", said)
        self.assertIn("<title>night &lt;run&gt;</title>", text)
        self.assertIn(words, said)
        _, _, said = self.page(capture("get-errors"), capture("get-errors"), *args, command="cmp")
        self.assertIn(words, said)
        args = ["--from", "1s", "--to", "2026-11-21T05:50:10Z", "--dur", "500ms", "--range", "single",
                "--steady", "--co-interval", "2ms"]
        _, _, said = self.page(capture("get-errors"), *args)
        for wanted in ("from 1s into the run; to 2026-11-21T05:50:10", "segments of 500ms", "last but one end",
                       "without the warm-up", "one request every 2ms"):
            self.assertIn(wanted, said)
        self.assertNotIn("Analysed with", self.page(capture("get-errors"))[2])

    def test_every_table(self):
        """The page has what the JSON has of clients, sizes, threads, and requests outside of the segments."""
        def clock(time):
            return time[11:23]

        for name in (["merge-in-1", "merge-in-2"], ["edge-sizes"], ["edge-errors"], ["list"],
                     ["s3load-open-loop"], ["mixed-3hosts"]):
            paths = [capture(n) for n in name]
            _, _, said = self.page(*paths)
            report = self.s3analyze("analyze", "-q", "--json", *paths).json()
            for op in report["operations"]:
                if op["n_requests"] == 0:
                    self.assertTrue(f"Skipped: {op['skipped']}" in said, op["op"])
                    continue
                with self.subTest(capture=name, op=op["op"]):
                    wanted = [f"{op['n_requests']:,} request", f" by {op['concurrency']} thread"]
                    if op["throughput"]:
                        t = op["throughput"]
                        wanted += [f"Successful requests: {t['full_ops']:,} lie wholly in the range, {t['partial_ops']:,} in "
                                   f"part.", f"Ended in the range: {t['ops_ended']:,} (",
                                   f"Failed, in the range or not: {t['errors']:,}." if t["errors"] else "No request failed."]
                    if op["outside"] and op["outside"]["n"]:
                        o = op["outside"]
                        noun = "request" if o["n"] == 1 else "requests"
                        wanted.append(f"Outside all segments: {o['n']:,} {noun} ({o['n_before']:,} before the first, "
                                      f"{o['n_after']:,} after the last)")
                    if op["objects_per_op"] > 1:
                        wanted.append(f"Each of {op['objects_per_op']} objects")
                    for client in op.get("clients", []):
                        wanted += [client["client"], clock(client["first_start"]),
                                   clock(client["last_end"])]
                    for host in op["hosts"]:
                        wanted += [host["host"], f"{host['n_requests']:,}"]
                    for thread in (op["single_range"] or {}).get("threads", []):
                        wanted += [clock(thread["first_end"]), clock(thread["last_start"])]
                    requests = op["requests"] or {}
                    if requests.get("response_time"):
                        wanted.append(f"Response time {requests['response_time']['n']:,}")
                    for size in requests.get("sizes", []):
                        if size["ttfb"]:
                            wanted.append("TTFB by size")
                    for text in wanted:
                        self.assertTrue(" ".join(text.split()) in said, text)

    def test_charts_are_in_the_page(self):
        tool("gnuplot")
        text, reader, _ = self.page(capture("mixed-3hosts"))
        self.assertGreater(text.count("<svg"), 20)
        self.assertIn("var(--c_1)", text)
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertNotIn("There are no charts", text)
        # All colours follow the theme.
        for names in (["get-errors"], ["merge-in-1", "merge-in-2"], ["edge-sizes"]):
            text += self.page(*map(capture, names))[0]
        body = text.replace("<style>", "</style>").split("</style>")
        self.assertEqual(set(re.findall(r"rgb\([^)]*\)", "".join(body[0::2]))), set())

    def test_comparison(self):
        _, _, said = self.page(capture("get-g4"), capture("get-randsize"), command="cmp")
        for wanted in ("after against before", "Verdict", "Throughput", "Run noise",
                       hashlib.sha256(capture("get-g4").read_bytes()).hexdigest()):
            self.assertIn(wanted, said)

    def test_comparison_says_the_answer_first(self):
        _, reader, said = self.page(capture("get-g4"), capture("get-errors"), command="cmp", charts=False)
        answer = reader.metas["og:description"]
        self.assertRegex(answer, r"^GET: differs: .* median duration .* p99 .* 1 of 2 runs had a problem")
        shown = answer.replace("->", "\u2192")
        self.assertIn(shown, said)
        self.assertLess(said.index(shown), said.index("1 of 2 runs had a problem"))
        report = self.s3analyze("cmp", "-q", "--json", capture("get-g4"), capture("get-errors")).json()
        self.assertEqual(json.loads(reader.scripts["application/json"]), report)

    def test_comparison_has_its_figures_before_its_runs(self):
        text, _, _ = self.page(capture("get-g4"), capture("get-randsize"), command="cmp", charts=False)
        order = [text.index(x) for x in ('class="headline"', 'class="badge', '<table', 'class="warn"',
                                         "What was compared", "Methods and other figures")]
        self.assertEqual(order, sorted(order))

    def test_few_requests(self):
        """They cannot show that nothing happened."""
        path = self.tmp / "run.csv"
        for n, sure in ((150, False), (300, True)):
            path.write_bytes(capgen.text(capgen.steady(n)))
            _, _, said = self.page(path, "-f", charts=False)
            self.assertEqual("No finding: steady, even, no errors." in said, sure, n)
            self.assertEqual("but too few requests to show if throughput is steady." in said, not sure, n)

    def test_a_warm_up_has_one_colour(self):
        """A warm-up has the colour of its finding, if there is one."""
        text, _, said = self.page(capture("get-g4"), charts=False)
        self.assertIn("(warm-up; s3analyze analyze --steady leaves it out)", said)
        self.assertIn('class="noticed"', text)
        self.assertNotIn('class="warm"', text)
        self.assertNotIn("Amber: warm-up", said)

    def test_the_command(self):
        """The page shows no folders of its maker, and no user names in addresses."""
        _, _, said = self.page(capture("get-g4"), "--host", "*", "--label=it's http://me:p@w@host/", charts=False)
        self.assertIn("s3analyze analyze -q --html report.html get-g4.csv.zst --host '*' "
                      "'--label=it'\\''s http://*REDACTED*@host/'", said)

    def test_no_success(self):
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(capgen.steady(100, error="refused")))
        _, _, said = self.page(path, charts=False)
        self.assertIn("There are no figures: no request succeeded.", said)
        self.assertIn("100 \u00d7 refused", said)

    def test_page_of_sums(self):
        """Sums have no requests, but their page has the first screen and the tables."""
        path = self.tmp / "x.sums.zst"
        self.s3analyze("aggregate", "--quiet", "-o", path, capture("get-errors"))
        text, reader, said = self.page(path)
        self.assertIn('id="timeline"', text)
        self.assertIn("The specified key does not exist.", said)
        self.assertEqual(json.loads(reader.scripts["application/json"])["analysis"]["operations"][1]["op"], "GET")
        self.assertNotIn("The slowest requests", said)

    def test_very_many_operations(self):
        """All operations have a row; only those with the most requests have sections, charts and data, and the page says so."""
        rows = [row for k in range(30) for row in
                capgen.steady(40, op=f"OP{k:02}", threads=4 if k % 5 == 4 else 2)]
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(rows))
        text, reader, said = self.page(path)
        self.assertIn("This page shows 6 of the 30 operations in full: those with the most requests. For another one: "
                      "s3analyze analyze --op NAME --html FILE.", said)
        most = {f"OP{k:02}" for k in range(4, 30, 5)}
        self.assertEqual(set(re.findall(r'id="op\d+">(?:<summary>Operation: )?(OP\d+)', text)), most)
        self.assertEqual(set(re.findall(r"<a href=\"#op\d+\">(OP\d+)</a>", text)), most)
        charts = {re.search(f'id="op{k}">(?:<summary>Operation: )?(OP\\d+)', text)[1]: int(series)
                  for k, series in re.findall(r'<figure id="op(\d+)-\S+" data-series="(\d+)"', text)}
        data = json.loads(reader.scripts["application/json"])
        self.assertEqual({data["course"]["series"][n]["op"]: n for n in charts.values()}, charts)
        self.assertEqual({o["op"] for o in data["analysis"]["operations"]}, most)
        self.assertEqual(set(charts), most)
        for k in range(30):
            self.assertIn(f"OP{k:02}", said)

    def test_a_thousand_operations(self):
        rows = [row for k in range(1000) for row in capgen.steady(20, op=f"OP{k:03}", threads=2, host=f"h{k % 3}")]
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(rows))
        self.assertLess(len(self.page(path)[0].encode()), 2_000_000)

    def test_twelve_operations(self):
        rows = [row for k in range(12) for row in capgen.steady(300, op=f"OP{k:02}", threads=2, host=f"h{k % 3}")]
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(rows))
        text, _, said = self.page(path)
        self.assertLess(len(text.encode()), 2_000_000)
        self.assertIn("OP00, OP01, OP02, OP03 and 8 more mixed", said)

    def test_without_gnuplot(self):
        for command, args in (("analyze", [capture("get-g4")]),
                              ("cmp", [capture("get-g4"), capture("get-randsize")])):
            text, _, said = self.page(*args, command=command, env={"PATH": str(self.tmp)})
            self.assertIn("gnuplot-nox", said)
            self.assertNotIn("gnuplot_canvas", text)
            # The timeline of the first screen is our own drawing.
            self.assertEqual('id="timeline"' in text, command == "analyze")

    def test_gnuplot_that_warns(self):
        """A warning drops no chart; a chart whose picture is absent or half is dropped, with its reason; the others stay."""
        tool("gnuplot")
        fake = self.tmp / "gnuplot"
        fake.write_text(f"""#!/bin/sh
case $3 in
*/spectrum.gp) echo 'no such font' >&2; exit 1;;
*/host-latency.gp) {shutil.which("gnuplot")} "$@"; truncate -s -9 "$5"; exit 0;;
esac
{shutil.which("gnuplot")} "$@"; status=$?
echo 'warning: Skipping data file with no valid points' >&2; exit $status
""")
        fake.chmod(0o755)
        charts = [[x for x in self.page(capture("mixed-3hosts"), env=env)[1].ids if "-chart-" in x]
                  for env in ({}, {"PATH": f"{self.tmp}:{os.environ['PATH']}"})]
        self.assertEqual(charts[1], [x for x in charts[0] if not x.endswith(("-spectrum", "-host-latency"))])
        self.assertTrue(0 < len(charts[1]) < len(charts[0]))
        said = (self.tmp / "report.html").read_text()
        self.assertRegex(said, r"A chart is missing: GET[^:]*: [^<]*spectrum-GET.svg: gnuplot failed: no such font")
        self.assertRegex(said, r"A chart is missing: GET[^:]*: [^<]*host-latency-GET.svg: gnuplot failed: no whole picture")

    def test_data_is_the_report(self):
        path = capture("get-errors")
        _, reader, _ = self.page(path, charts=False)
        report = self.s3analyze("analyze", "-q", "--json", path).json()
        data = json.loads(reader.scripts["application/json"])
        self.assertEqual(data["analysis"], report)
        get = data["course"]["series"][0]
        self.assertEqual((get["op"], sum(get["failed"])), ("GET", report["operations"][1]["n_errors"]))

    def test_bins_up_to_the_last_moment_that_can_be(self):
        """The last bin would end after 2262, where times in nanoseconds end."""
        path = self.tmp / "far.csv"
        path.write_bytes(capgen.text([capgen.row(0, SECOND), capgen.row(7 * 10**18, 7 * 10**18 + SECOND)]))
        _, reader, _ = self.page(path, charts=False)
        get = json.loads(reader.scripts["application/json"])["course"]["series"][0]
        self.assertEqual(get["throughput"], [1.1111e-06] + [0] * 6 + [1.4286e-06])

    def test_latency_of_operations_is_not_pooled(self):
        _, reader, said = self.page(capture("mixed-3hosts"), charts=False)
        for wanted in ("Median latency", "p99 latency, ms"):
            self.assertIn(wanted, said)
        series = json.loads(reader.scripts["application/json"])["course"]["series"]
        self.assertEqual(set(series[0]["p50_ms"] + series[0]["p99_ms"]), {None})
        for own in series[1:]:
            self.assertGreater(sum(v is not None for v in own["p50_ms"]), 10)

    def test_slowest_requests(self):
        """By name, slowest first, from the whole run, failed ones included."""
        rows = []
        for i in range(3000):
            ms = 500 - i // 20 if i % 20 == 7 and i < 500 else 10 + i % 3
            rows.append(capgen.row(i * SECOND // 200, i * SECOND // 200 + ms * SECOND // 1000,
                                   thread=i % 8, host=f"h{i % 3}", file=f"key-{i}.bin", size=1000,
                                   error="no" if i == 27 else ""))
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(rows))
        for args, first in ((("--threads", "1"), 0), (("--threads", "4"), 0), (("--from", "1s"), 10)):
            text, _, _ = self.page(path, *args, charts=False)
            table = text.split('id="slowest-')[1].split("</table>")[0]
            cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in table.split("<tr>")[2:]]
            self.assertEqual(len(cells), 20)
            wanted = [i for i in range(7, 500, 20)][first:][:20]
            n = len(wanted)
            self.assertEqual([c[4] for c in cells[:n]], [f"key-{i}.bin" for i in wanted])
            self.assertEqual([c[0] for c in cells[:n]], [f"{500 - i // 20}ms" for i in wanted])
            self.assertEqual([c[3] for c in cells[:n]], [f"h{i % 3}" for i in wanted])
            self.assertEqual([c[7] for c in cells[:n]], ["no" if i == 27 else "done" for i in wanted])

    def test_slowest_requests_of_equal_length(self):
        """The order of the rows in the file does not matter."""
        rows = [capgen.row(i * SECOND, i * SECOND + 1000, thread=thread) for i in range(30) for thread in (7, 3, 5)]
        tables = []
        for order in (rows, sorted(rows, key=lambda row: (row.start, row.thread))):
            path = self.tmp / "run.csv"
            path.write_bytes(capgen.text(order))
            text, _, _ = self.page(path, charts=False)
            tables.append(text.split('id="slowest-')[1].split("</table>")[0])
        self.assertEqual(*tables)

    def test_nothing_is_left_behind(self):
        self.page(capture("get-g4"), env={"TMPDIR": str(self.tmp)})
        self.assertEqual([p.name for p in self.tmp.iterdir()], ["report.html"])

    def test_outputs_do_not_meet(self):
        for args in (["--html", "-"], ["--html", capture("get-g4")],
                     ["--html", self.tmp / "x", "--out", self.tmp / "x"]):
            self.s3analyze("analyze", capture("get-g4"), *args, status=2)

    def hostile(self):
        evil = "<script>alert(1)</script><img src=x onerror=alert(1)> \"q\" 'a' @x _y {z} \\n `ls` $(ls) &amp; \u202e"
        rows = []
        for i in range(400):
            rows.append(capgen.row(i * SECOND // 20, (i + 2) * SECOND // 20, thread=i % 2,
                                   host=(evil, "</td></table>" + evil, "#h")[i % 3],
                                   client=f"<u>{i % 2}", file=evil, size=1000 + i % 3,
                                   error=evil if i % 10 == 0 else ""))
        path = self.tmp / "<img src=x onerror=alert(1)>.csv"
        path.write_bytes(capgen.text(rows) + f"# {evil}\n".encode())
        return path

    def test_text_of_a_capture_is_inert(self):
        path = self.hostile()
        text, reader, said = self.page(path)
        self.assertFalse({"img", "u"} & reader.tags)
        self.assertIn("<script>alert(1)</script>", said)
        hosts = json.loads(reader.scripts["application/json"])["analysis"]["operations"][0]["hosts"]
        self.assertIn("<script>alert(1)</script>", hosts[-1]["host"] + hosts[-2]["host"])
        self.assertNotIn("\u202e", text)
        text, reader, _ = self.page(path, capture("get-g4"), "--before-name", "<script>x</script>",
                                    "--after-name", "<i>", command="cmp")
        self.assertFalse({"img", "i"} & reader.tags)

    def test_in_a_browser(self):
        tool("gnuplot")
        pages = [("get", "analyze", ["get-g4"]), ("mixed", "analyze", ["mixed-3hosts"]),
                 ("errors", "analyze", ["edge-errors"]), ("sizes", "analyze", ["edge-sizes"]),
                 ("clients", "analyze", ["merge-in-1", "merge-in-2"]),
                 ("cmp", "cmp", ["get-g4", "get-randsize"])]
        with Browser() as browser:
            self.look(browser, self.hostile(), "analyze")
            for name, command, of in pages:
                with self.subTest(page=name):
                    self.look(browser, *map(capture, of), command)

    def test_a_table_of_runs_begins_below_its_title(self):
        self.s3analyze("table", "-q", "--html", self.tmp / "report.html", capture("get-g4"))
        with Browser() as browser:
            page = browser.open(self.tmp / "report.html", width=1600)
            left = page.evaluate("['h1', 'table'].map(s => document.querySelector(s).getBoundingClientRect().left)")
        self.assertEqual(left, [20, 20])

    def test_a_table_of_runs_fits(self):
        """Its figures are seen on a phone; the other columns are there once they are asked for."""
        self.s3analyze("table", "-q", "--html", self.tmp / "report.html", *map(capture, ("edge-errors", "mixed-3hosts", "put-g4")))
        head = "[...document.querySelectorAll('thead th')].filter(x => x.checkVisibility()).map(x => x.innerText)"
        with Browser() as browser:
            for width in 1280, 390:
                page = browser.open(self.tmp / "report.html", width=width)
                right = page.evaluate("[...document.querySelectorAll('thead th')].find(x => x.innerText == 'p99')"
                                      ".getBoundingClientRect().right")
                self.assertLessEqual(right, page.evaluate("document.querySelector('.scroll').getBoundingClientRect().right"))
                shown = page.evaluate(head)
                self.assertEqual(shown[:2] + shown[-2:], ["Run", "Op", "p99", "Worst finding"])
                page.evaluate("document.querySelector('.broad input[type=checkbox]').click()")
                self.assertLessEqual({"Start, UTC", "Threads", "p90"}, set(page.evaluate(head)) - set(shown))

    def look(self, browser, *args):
        *of, command = args
        self.page(*of, command=command)
        for width, dark in ((1280, False), (1280, True), (800, False), (390, False), (390, True)):
            page = browser.open(self.tmp / "report.html", width=width, dark=dark)
            self.assertEqual(page.messages, [])
            self.assertEqual(page.requests, [])
            self.assertEqual(page.evaluate(FAULTS), [], f"{of} {width}")
            page.evaluate("document.querySelectorAll('details').forEach(x => x.open = true)")
            self.assertEqual(page.evaluate(FAULTS), [], f"{of} {width}, unfolded")
            self.assertEqual(page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"), dark)
        page = browser.open(self.tmp / "report.html", width=720)
        browser.call("Emulation.setEmulatedMedia", media="print")
        # What is folded is on paper, without the script.
        self.assertTrue(page.evaluate("[...document.querySelectorAll('main dd')].every(x => x.getBoundingClientRect().height > 0)"))
        root = "document.documentElement"
        self.assertLessEqual(*page.evaluate(f"[{root}.scrollWidth, {root}.clientWidth]"), f"{of} on paper")
        browser.call("Emulation.setEmulatedMedia", media="")


if __name__ == "__main__":
    unittest.main()
