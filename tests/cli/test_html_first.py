"""What a page says at first sight: the colour of its verdict, and what its first chart shows."""
import json
import re
import unittest

import capgen
from browser import Browser
from capgen import SECOND
from harness import ROOT, CliTest, capture, tool
from test_html_script import DRAG, TIMELINE

MS = SECOND // 1000
TO_MIDNIGHT = (18 * 3600 + 14 * 60 + 2) * SECOND  # from capgen.START


def hang(by=0):
    """60 s of 4 threads and 3 hosts; h1 is slow, and from 30 to 36 s no request ends."""
    rows = []
    for thread in range(4):
        t = thread * MS
        for i in range(100_000):
            took = (20 if i % 3 == 1 else 5) * MS + (i * 7919 + thread) % 1000 * MS // 1000
            end = t + took if not t < 30 * SECOND <= t + took else 36 * SECOND + took
            if end > 60 * SECOND:
                break
            rows.append(capgen.row(by + t, by + end, thread=thread, host=f"http://h{i % 3}:9000", client=f"c{thread % 2}"))
            t = end
    return rows


class First(CliTest):
    def page(self, *args, command="analyze", charts=False, status=None):
        path = self.tmp / "page.html"
        env = {} if charts else {"env": {"PATH": str(self.tmp)}}
        self.s3analyze(command, "-q", "--html", path, *args, **env, **({} if status is None else {"status": status}))
        return path.read_text()

    def made(self, rows):
        path = self.tmp / "run.csv"
        path.write_bytes(capgen.text(rows))
        return path

    def verdicts(self, text):
        return re.findall(r'<p class="badge (\w+)">(.*?)</p>', text)

    def test_colour_of_a_run(self):
        for of, css, said in ((capture("get-errors"), "bad", "1 problem"), (capture("put-g4"), "doubt", "unreliable"),
                              (capture("mixed-3hosts"), "good", "No finding: steady"),
                              (ROOT / "testdata/formats/aggregated-1.1.0.json.zst", "doubt", "what the file holds")):
            with self.subTest(of=of.name):
                (was, words), = self.verdicts(self.page(of))
                self.assertEqual(was, css)
                self.assertIn(said, words)

    def test_colour_of_a_comparison(self):
        old, new = (sorted((ROOT / "testdata/builds").glob(f"{side}-*")) for side in ("old", "new"))
        for before, after, css, said in ((old, new, "bad", "GET: slower, -9.55 %"), (new, old, "good", "Nothing became worse")):
            text = self.page("--before", *before, "--after", *after, command="cmp")
            self.assertEqual([css], [was for was, _ in self.verdicts(text)])
            self.assertIn(said, self.verdicts(text)[0][1])
        # A gate that failed is red, one that passed is not.
        for limit, css, status in (("5%", "bad", 1), ("20%", "good", 0)):
            text = self.page("--before", *old, "--after", *new, "--gate", f"throughput:{limit}", command="cmp", status=status)
            self.assertEqual(self.verdicts(text)[0][0], css)

    def test_the_benchmark_is_compared_first(self):
        """Though no operation has enough data; what prepared it has no heading of its own above its parts."""
        sums = [self.tmp / f"{name}.sums.zst" for name in ("get-g4", "get-errors")]
        for path in sums:
            self.s3analyze("aggregate", "-q", "-o", path, capture(path.name.removesuffix(".sums.zst")))
        page = self.page(*sums, command="cmp")
        self.assertRegex(page, r'<h2 id="op\d">GET</h2>')
        self.assertLess(page.index(">GET</h2>"), page.index("<summary>Before the benchmark: PUT</summary>"))

    def test_text_and_markdown_have_the_verdict_of_the_page(self):
        for of in capture("get-errors"), capture("put-g4"), capture("mixed-3hosts"):
            (_, words), = self.verdicts(self.page(of))
            words = words[2:].rstrip(".")
            self.assertIn(words, " ".join(self.s3analyze("analyze", "-q", of).out.split()))
            self.assertIn(f"**{words}", self.s3analyze("analyze", "-q", "--markdown", of).out)

    def test_the_first_chart(self):
        text = self.page(self.made(hang()))
        wide = text[text.index('<svg class="timeline wide'):].split("</svg>")[0]
        # Most bins are 3 pixels wide.
        bins = json.loads(text.split('id="data">')[1].split("</script>")[0])["course"]["series"][0]["throughput"]
        self.assertGreater(len(bins), 150)
        self.assertLessEqual(len(bins), 264)
        # No line goes through the hang, and the band shows bins that are shorter.
        p99, = re.findall(r'data-column="p99_ms" d="([^"]*)"', wide)
        self.assertEqual(p99.count("M"), 2)
        self.assertEqual(wide.count('class="band s1"'), 1)
        # Who is slow against the others.
        self.assertRegex(text, "Median by host, ms</text>.*http://h1:9000")
        panel = wide.split("Median by host")[1]
        self.assertIn('class="band s2"', panel)

    def test_a_client_that_fails_is_in_the_first_chart(self):
        rows = [capgen.row(i * 5 * MS, i * 5 * MS + 4 * MS, client=f"c{i % 4}", thread=i % 4,
                           error="refused" if i % 4 == 2 and 3000 < i < 5000 else "") for i in range(8000)]
        self.assertRegex(self.page(self.made(rows)), "Requests by client, /s</text>.*c2<")

    def test_a_size_that_is_slow_is_in_the_first_chart(self):
        """The median of that size against the others, from when it takes longer."""
        rows = []
        for thread in range(8):
            t = thread * MS
            for i in range(100_000):
                large = (i * 7919 + thread * 31) % 100 < 10
                took = (30 if large and t > 20 * SECOND else 6) * MS + (i * 7919 + thread) % 1000 * MS // 1000
                if t + took > 40 * SECOND:
                    break
                rows.append(capgen.row(t, t + took, thread=thread, size=1 << 20 if large else 4096))
                t += took
        text = self.page(self.made(rows))
        self.assertIn("Requests of 1MiB to 4MiB take", re.findall(r"<li id=.finding1.*", text)[0])
        panel = text[text.index('<svg class="timeline wide'):].split("Median by size, ms</text>")[1].split("</svg>")[0]
        self.assertIn(">the sizes of the finding<", panel)
        line = re.search(r'<path class="s2" d="([^"]*)"', panel.split('class="time"')[1])[1]
        ys = [float(y) for y in re.findall(r"[MV](?:[\d.]+ )?([\d.]+)H", line)]
        self.assertGreater(len(ys), 6)
        self.assertGreater(ys[0], ys[-1] + 20)  # pixels, downwards

    def test_the_key_on_a_phone_has_both_ends_of_a_name(self):
        """It has a row of its own if the title's row is too short, and a name that is longer loses its middle."""
        def narrow(page):
            return re.findall(r"<text [^>]*>([^<]*)</text>", page[page.index('<svg class="timeline narrow"'):])
        self.assertIn("http://127.0.0.1:9001", narrow(self.page(capture("slow-host"))))
        renamed = self.s3analyze("cat", capture("slow-host")).out.replace(
            "http://127.0.0.1", "https://storage-of-the-tenant.production.svc.cluster.example.com")
        texts = narrow(self.page(self.put("renamed.csv", renamed.encode())))
        self.assertTrue([t for t in texts if re.fullmatch(r"https://storage-.*\u2026.*:9001", t)], texts)

    def test_lines_of_operations_differ_without_colours(self):
        page = self.page(capture("mixed-3hosts"))
        panel = re.search(r"Median latency.*?</g>.*?</g></g>", page, re.S)[0]
        css = re.findall(r'<path class="(s\d(?: \w+)?)" data-series', panel)
        self.assertEqual((len(css), len({c.split()[-1] for c in css})), (4, 4), css)

    def test_the_timeline_has_its_command(self):
        tool("gnuplot")
        for name, wanted in (("get-errors", {"throughput", "latency", "errors"}), ("mixed-3hosts", {"throughput", "latency"})):
            page = self.page(capture(name), charts=True)
            told = re.search(r'<figure id="timeline".*?<code>(s3analyze plot [^<]*)</code>', page, re.S)[1]
            given = {"CAPTURE...": capture(name), "FOLDER": self.tmp / name}
            r = self.s3analyze("plot", "-q", *(given.get(word, word) for word in told.split()[2:]))
            self.assertEqual(r.err, "")
            self.assertEqual({p.name.split("-")[0] for p in (self.tmp / name).glob("*.svg")}, wanted)

    def test_dates_after_midnight(self):
        text = self.page(self.made(hang(TO_MIDNIGHT - 30 * SECOND)))
        self.assertIn(">11-22 00:00:00<", text)
        self.assertIn("the axis begins at 2026-11-21 23:59:30", text)
        self.assertRegex(text[text.index("The slowest requests"):], r"<td>2026-11-2[12] \d\d:\d\d:\d\d\.\d{3}</td>")

    def test_an_open_loop_has_response_times_first(self):
        lines = capgen.text(hang()).decode().splitlines()
        start = lines[0].split("\t").index("start")
        of = self.tmp / "open.csv"
        of.write_text("\n".join([lines[0] + "\tintended"] +
                                [f"{x}\t{x.split(chr(9))[start][:-1].split('.')[0]}Z" for x in lines[1:]]) + "\n")
        text = self.page(of)
        self.assertIn(">Response time", text)
        get = json.loads(text.split('id="data">')[1].split("</script>")[0])["course"]["series"][0]
        pairs = [(a, b) for a, b in zip(get["p50_ms"], get["service_p50_ms"]) if a is not None]
        self.assertGreater(len(pairs), 100)
        # The intended starts are whole seconds: half a second before, in the middle.
        self.assertGreater(sum(a > 4 * b for a, b in pairs), len(pairs) / 2)

    def test_zoom(self):
        """By the pointer and by keys, of all charts, and in the address."""
        tool("gnuplot")
        self.page(self.made(hang()), charts=True)
        with Browser() as browser:
            page = browser.open(self.tmp / "page.html")
            page.evaluate(DRAG + "(0.4, 0.7)")
            place = page.evaluate("location.hash")
            self.assertRegex(place, r"^#from=\d+\.\d+&to=\d+\.\d+$")
            self.assertGreater(page.evaluate("document.querySelectorAll('.part').length"), 1)
            # The same part when the address is opened.
            said = page.evaluate(f"{TIMELINE}.querySelector('.bins').textContent")
            page = browser.open(self.tmp / "page.html")
            page.evaluate(f"location.hash = '{place}'; dispatchEvent(new HashChangeEvent('hashchange'))")
            self.assertEqual(page.evaluate(f"{TIMELINE}.querySelector('.bins').textContent"), said)
            for key, shorter in ("+", True), ("-", False):
                before = page.evaluate("location.hash")
                page.evaluate(f"{TIMELINE}.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")
                span = [float(b) - float(a) for a, b in (re.findall(r"[\d.]+", x) for x in
                                                         (before, page.evaluate("location.hash")))]
                self.assertEqual(span[1] < span[0], shorter)
            page.evaluate(f"{TIMELINE}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowRight', bubbles: true}}))")
            self.assertIn("median", page.evaluate("document.querySelector('.reading').innerText"))
            page.evaluate("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
            self.assertEqual(page.evaluate("document.querySelectorAll('.part').length"), 0)
            self.assertEqual((page.messages, page.requests), ([], []))

    def test_a_tap_shows_values(self):
        self.page(self.made(hang()))
        with Browser() as browser:
            page = browser.open(self.tmp / "page.html", width=390)
            browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
            x, y = page.evaluate(f"(r => [r.left + r.width / 2, r.top + 40])({TIMELINE}.getBoundingClientRect())")
            browser.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            browser.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.assertRegex(page.evaluate("document.querySelector('.reading').innerText"), r"GET\n.*B/s")
            self.assertTrue(page.evaluate("document.querySelector('.reading').checkVisibility()"))

    def test_a_page_is_short(self):
        tool("gnuplot")
        self.page(capture("mixed-3hosts"), charts=True)
        with Browser() as browser:
            page = browser.open(self.tmp / "page.html")
            self.assertLess(page.evaluate("document.documentElement.scrollHeight"), 9000)
            self.assertEqual(page.evaluate("[...document.querySelectorAll('details')].filter(x => x.open).length"), 0)
            # The contents stay in sight.
            page.evaluate("scrollTo(0, 2000)")
            self.assertEqual(page.evaluate("document.querySelector('nav').getBoundingClientRect().top"), 0)
        # A table of one line each comes before the charts.
        text = (self.tmp / "page.html").read_text()
        self.assertLess(text.index("Mixed operations"), text.index('<figure id="timeline"'))

    def test_charts_of_a_page(self):
        """No figure is left out, and no text is drawn but what the chart has to say: findings are listed above."""
        tool("gnuplot")
        page = self.page(self.made(hang()), charts=True)
        figure = re.search(r'<figure id="op0-chart-hosts".*?</figure>', page, re.S)[0]
        texts = re.findall(r"<text>([^<]*)</text>", figure)
        self.assertTrue([t for t in texts if "stall" in t], texts)
        self.assertEqual([t for t in texts if re.fullmatch(r"[a-z]{1,4}|\d{5,}", t)], [])
        page = self.page("--before", *sorted((ROOT / "testdata/study/ab/before").glob("*")), "--after",
                         *sorted((ROOT / "testdata/study/ab/after").glob("*")), command="cmp", charts=True)
        self.assertNotIn("There are no charts", page)

    def test_pictures_break_where_nothing_ended(self):
        tool("gnuplot")
        self.s3analyze("plot", "-q", self.made(hang()), "--out", self.tmp, "--chart", "latency")
        picture = (self.tmp / "latency-GET.svg").read_text()
        lines = [d for d in re.findall(r"<path[^>]* d='([^']*)'", picture) if d.count("L") > 20]
        self.assertGreaterEqual(len(lines), 3)
        for d in lines:
            xs = [[float(x) for x in re.findall(r"[ML ](\d+\.?\d*),", part)] for part in d.split("M")[1:]]
            self.assertLess(max(b - a for part in xs for a, b in zip(part, part[1:])), 40)


if __name__ == "__main__":
    unittest.main()
