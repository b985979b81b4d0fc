"""What the script of a page adds (values under the pointer, tables that sort), and what the page has without it."""
import re
import unittest
import xml.etree.ElementTree

import capgen
from browser import FAULTS, Browser
from capgen import SECOND
from harness import CliTest, tool

# Moves the pointer to a share of the timeline; returns the text shown, and the number of cursors.
HOVER = """(part => {
  const svg = [...document.querySelectorAll('#timeline svg')].find(s => s.checkVisibility());
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  const left = +svg.dataset.left, right = +svg.dataset.right;
  svg.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientY: box.top + 40,
    clientX: box.left + (left + part * (right - left)) * scale}));
  return [document.querySelector('.reading').innerText, document.querySelectorAll('.cursor.on').length];
})"""
# Drags from one share of the timeline to another; returns the labels of its axis.
DRAG = """((from, to) => {
  const svg = [...document.querySelectorAll('#timeline svg')].find(s => s.checkVisibility());
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  const left = +svg.dataset.left, right = +svg.dataset.right;
  svg.setPointerCapture = () => {};  // of a pointer that there is
  for (const [what, part] of [['down', from], ['move', to], ['up', to]])
    svg.dispatchEvent(new PointerEvent('pointer' + what, {bubbles: true, button: 0, clientY: box.top + 40,
      clientX: box.left + (left + part * (right - left)) * scale}));
  return svg.querySelector('.bins').textContent;
})"""
TIMELINE = "[...document.querySelectorAll('#timeline svg')].find(s => s.checkVisibility())"
# Moves it along the axis of percentiles to so many nines.
PERCENTILE = """(nines => {
  const figure = document.querySelector('figure[data-readings]'), {right} = JSON.parse(figure.dataset.readings);
  const svg = [...figure.querySelectorAll('svg')].find(s => s.checkVisibility());
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  const [, left, , bottom, end] = [...svg.querySelectorAll('path')].map(
    p => /^M([\\d.]+),([\\d.]+) L\\1,([\\d.]+) L([\\d.]+),\\3 /.exec(p.getAttribute('d'))).find(m => m);
  svg.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientY: box.top + 100,
    clientX: box.left + (+left + nines / right * (end - left)) * scale}));
  return document.querySelector('.reading').innerText;
})"""
ROWS = "[...document.querySelector('[id^=slowest]').tBodies[0].rows].filter(r => r.checkVisibility())"


class Script(CliTest):
    def page(self, charts=False):
        """20 s of GET after a PUT, which fail from 10 s on for 1 s; request 30 is the slowest."""
        rows = [capgen.row(0, SECOND // 100, op="PUT", file="p")]
        for i in range(2000):
            start = SECOND + i * SECOND // 100
            rows.append(capgen.row(start, start + (i == 30) * SECOND // 50 + SECOND // 125 + i % 7 * 1000,
                                   thread=i % 2, file=f"key-{i}", error="gone" if 1000 <= i < 1100 else ""))
        path, page = self.tmp / "run.csv", self.tmp / "page.html"
        path.write_bytes(capgen.text(rows))
        # Most tests do without gnuplot, as they test the script.
        env = {} if charts else {"env": {"PATH": str(self.tmp)}}
        self.s3analyze("analyze", "-q", "--html", page, path, **env)
        return page

    def test_in_a_browser(self):
        path = self.page()
        with Browser() as browser:
            page = browser.open(path)
            said, n = page.evaluate(HOVER + "(0.25)")
            self.assertRegex(said, r"^\d\d:\d\d:\d\d\.\d{3} GET\n[\d.]+[KM]?i?B/s\nmedian 8ms, p99 8[.\d]*ms\n")
            self.assertNotIn("failed", said)
            self.assertEqual(n, 2)  # of the wide and of the narrow drawing
            self.assertIn(" failed", page.evaluate(HOVER + "(0.525)")[0])

            self.assertEqual(page.evaluate(f"{ROWS}[0].cells[4].innerText"), "key-30")
            for wanted in ("key-30", "key-30"):
                page.evaluate("document.querySelectorAll('[id^=slowest] th button')[0].click()")
                order = page.evaluate(f"{ROWS}.map(r => r.cells[4].innerText)")
                self.assertEqual(order[0 if wanted == order[0] else -1], wanted)
            self.assertEqual(order[-1], "key-30")  # the second click turns the order around
            page.evaluate("(() => { const i = document.querySelector('input[type=search]'); i.value = 'KEY-30'; "
                          "i.dispatchEvent(new Event('input')); })()")
            self.assertEqual(page.evaluate(f"{ROWS}.length"), 1)

            self.assertFalse(page.evaluate("document.getElementById('definitions').open"))
            page.evaluate("unfolded = new Promise(r => addEventListener('hashchange', () => setTimeout(r)))")
            page.evaluate("location.hash = 'definitions'")
            browser.call("Runtime.evaluate", expression="unfolded", awaitPromise=True)
            self.assertTrue(page.evaluate("document.getElementById('definitions').open"))

            saved = "document.querySelector('a[download]')"
            self.assertTrue(page.evaluate(f"{saved}.checkVisibility()"))
            self.assertEqual(page.evaluate(f"{saved}.protocol"), "blob:")
            self.assertEqual(page.evaluate(FAULTS), [])
            self.assertEqual((page.messages, page.requests), ([], []))

    def test_percentiles_under_the_pointer(self):
        tool("gnuplot")
        path = self.page(charts=True)
        with Browser() as browser:
            page = browser.open(path)
            self.assertRegex(page.evaluate(PERCENTILE + "(0.3)"), r"^(49\.9|50\.0) % took at most\nduration 8(\.00\d)?ms \(95 % CI 8")
            self.assertRegex(page.evaluate(PERCENTILE + "(2)"), r"^99\.0 % took at most\nduration 8")
            # Of 1,899 successful requests the slowest took 28 ms.
            self.assertRegex(page.evaluate(PERCENTILE + "(3.3)"), r"duration 28ms")
            self.assertEqual(page.evaluate("document.querySelectorAll('.cursor.on').length"), 2)
            self.assertEqual((page.messages, page.requests), ([], []))

    def test_a_chart_is_saved_as_svg(self):
        """The saved picture stands alone: it has its colours and its marks; the page shows the command that draws it."""
        tool("gnuplot")
        path = self.page(charts=True)
        self.assertIn("<code>s3analyze plot --chart spectrum --op GET --out FILE.pdf CAPTURE...</code>", path.read_text())
        with Browser() as browser:
            page = browser.open(path)
            page.evaluate("window.saved = []; window.Blob = class { constructor([text]) { saved.push(text); } }; "
                          "URL.createObjectURL = () => '#'; HTMLAnchorElement.prototype.click = () => {}; "
                          "document.querySelectorAll('details').forEach(d => d.open = true); "
                          "document.querySelectorAll('figure').forEach(f => f.querySelector('figcaption > button').click())")
            saved = page.evaluate("saved.filter(Boolean)")
            self.assertEqual((page.messages, page.requests), ([], []))
            self.assertGreater(len(saved), 2)
            for text in saved:
                root = xml.etree.ElementTree.fromstring(text)
                self.assertEqual(set(re.findall(r"(?:use xlink:href=.|use href=.|url\()#(\w+)", text)) - {x.get("id") for x in root.iter()}, set())
                self.assertNotIn("var(", text)
                self.assertIn("#0069b4", text)

    def test_dragging_shows_a_part_in_shorter_bins(self):
        rows = [capgen.row(i * SECOND // 200, i * SECOND // 200 + SECOND // 500, thread=i % 4)
                for i in range(24000) if not 10000 <= i < 10080]  # nothing for 0.4 s of 120 s
        path, page = self.tmp / "run.csv", self.tmp / "page.html"
        path.write_bytes(capgen.text(rows))
        self.s3analyze("analyze", "-q", "--html", page, path, env={"PATH": str(self.tmp)})
        for width in (1280, 390):
            with self.subTest(width=width), Browser() as browser:
                page_ = browser.open(page, width=width)
                whole = page_.evaluate(f"{TIMELINE}.innerHTML")
                self.assertRegex(page_.evaluate(f"{TIMELINE}.textContent"), r"bins of 500ms$")
                self.assertRegex(page_.evaluate(DRAG + "(0.405, 0.430)"), r"^05:46:4\d\.\d+ to 05:46:\d\d\.\d+; bins of 150ms$")
                self.assertRegex(page_.evaluate(HOVER + "((50.3 - 48.6) / 3)")[0], r"GET\n0B/s\n")
                self.assertRegex(page_.evaluate(HOVER + "(0.1)")[0], r"GET\n\d+[.\d]*KiB/s\nmedian 2ms")
                self.assertEqual(page_.evaluate(FAULTS), [])
                page_.evaluate("document.querySelector('#timeline button').click()")
                again = page_.evaluate(f"{TIMELINE}.innerHTML")
                self.assertTrue(again.split("<line")[0] == whole.split("<line")[0])
                self.assertEqual((page_.messages, page_.requests), ([], []))

    def test_without_script(self):
        with Browser() as browser:
            page = browser.open(self.page(), width=390, scripts=False)
            self.assertEqual((page.messages, page.requests), ([], []))
            # The debugger may still ask.
            self.assertEqual(page.evaluate(FAULTS), [])
            self.assertEqual(page.evaluate("document.querySelectorAll('.reading, button, input').length"), 0)
            self.assertFalse(page.evaluate("document.querySelector('a[download]').checkVisibility()"))
            self.assertEqual(page.evaluate(f"{ROWS}.length"), 20)
            self.assertLess(page.evaluate("document.querySelector('#timeline').getBoundingClientRect().top"), 844)


if __name__ == "__main__":
    unittest.main()
