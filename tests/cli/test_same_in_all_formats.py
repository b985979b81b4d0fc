"""Every format holds the same figures, notes and verdicts.

The tables of a comparison are taken from its Markdown, those of a run from its page; each cell and each
sentence is looked for in the other formats. Formats of values, CSV and JSON, must have a number that is
written so."""

import csv
import html.parser
import io
import json
import math
import re
import unittest

from harness import CliTest, capture

PROSE = {"Message", "Verdict"}  # columns whose cells text breaks over lines, and writes without a heading
UNITS = {"": 1, "B": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, " points": 0.01, " obj": 1}
UNITS |= {prefix + "iB": 1024 ** (i + 1) for i, prefix in enumerate("KMGTPE")}
NUMBER = re.compile(r"(?<![\w.:])([-+]?\d[\d,]*(?:\.\d+)?)((?:[KMGTPE]i)?B(?![a-z])|ns|us|ms|s(?![a-z])|%| points| obj|)"
                    r"(?:/s)?(?![\w.:])")


class Page(html.parser.HTMLParser):
    """Rows of tables by the section in their id, and all text but scripts' and charts'."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.words, self.skipped, self.cell = [], [], 0, None
        self.feed(text)
        self.text = squeezed(" ".join(self.words))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("script", "style", "svg", "title"):
            self.skipped += 1
        elif tag == "table":
            self.tables.append((attrs.get("id", ""), []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.cell = []

    def handle_endtag(self, tag):
        if tag in ("script", "style", "svg", "title"):
            self.skipped -= 1
        elif tag in ("td", "th") and self.cell is not None:
            self.tables[-1][1][-1].append(squeezed("".join(self.cell)))
            self.cell = None

    def handle_data(self, data):
        if not self.skipped:
            self.words.append(data)
            if self.cell is not None:
                self.cell.append(data)


def squeezed(text):
    """In one line, with the signs of plain text."""
    return " ".join(text.split()).replace("\u2192", "->").replace("\u00b1", "+-")


def numbers_of(text):
    """(value, half a unit of its last digit, whether it is in percent) of each number shown."""
    for m in NUMBER.finditer(text):
        number, unit = m.group(1).replace(",", ""), m.group(2)
        digits = len(number.split(".")[1]) if "." in number else 0
        yield float(number) * UNITS[unit], 0.501 * 10 ** -digits * UNITS[unit], unit == "%"


def values_in(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list):
        for x in tree:
            yield from values_in(x)
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield float(tree)
    elif isinstance(tree, str) and re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", tree):
        yield float(tree)


class Markdown:
    """Cells; figures among them, by operation ("": none); sentences without their last character. `ops`: the operations
    whose names are in the first column, above their rows."""

    def __init__(self, text, ops=()):
        self.cells, self.figures, self.notes, op, head = [], [], [], "", False
        for line in text.splitlines():
            if line.startswith("### "):
                op = self.plain(line).removeprefix("### Operation: ")
            elif line.startswith("|--"):
                head = True
            elif line.startswith("|"):
                cells = [self.plain(c) for c in re.split(r"(?<!\\)\|", line)[1:-1]]
                op = cells[0] if cells[0] in ops else op
                self.cells += [(op, c) for c in cells if c]
                self.figures += [(op, c) for c in cells[1:] if c]
            elif line.strip():
                op = "" if line.startswith("**Geometric") else op
                self.notes.append(self.plain(line.removeprefix("- ")).rstrip(".:"))
        assert head

    @staticmethod
    def plain(text):
        text = re.sub(r"(?<!\\)\*\*", "", text)
        text = re.sub(r"\\([|\\`*_\[\]~])", r"\1", text)
        return squeezed(text.replace("&lt;", "<").replace("&amp;", "&"))


class Same(CliTest):
    def assert_shown(self, what, texts, where):
        lacking = [x for x in what if x not in texts and x not in PROSE]
        self.assertEqual(lacking, [], where)

    def assert_written(self, cells, values, where):
        """Checks that each number in the cells is one of `values`, as it is rounded there."""
        values = list(values)
        lacking = [c for c in cells for n, slack, percent in numbers_of(c)
                   if not any(abs(abs(n) - abs(v)) <= slack + 1e-9 * abs(n) or
                              percent and abs(n - (v - 1)) <= slack for v in values)]
        self.assertEqual(lacking, [], where)


class Comparisons(Same):
    def check(self, *args):
        without_folders = lambda text: text.replace(f"{args[-1].parent}/", "")  # as in Markdown
        out = {form: without_folders(self.s3analyze("cmp", "-q", "-v", form, *args, status=None).out)
               for form in ("--markdown", "--csv", "--json")}
        page = self.tmp / "page.html"
        text = without_folders(self.s3analyze("cmp", "-q", "-v", "--html", page, "--force", *args, status=None).out)
        ops = [o["op"] for o in json.loads(out["--json"])["operations"]]
        shown, folded = out["--markdown"].split("<details><summary>Details</summary>\n")
        folded = shown.split("\n|")[0] + "\n" + folded.replace("</details>\n", "")  # without the row a cell
        model = Markdown(folded, ops)
        everything = [c for _, c in model.cells] + model.notes
        self.assertGreater(len(everything), 30)
        self.assert_shown(everything, squeezed(text), "text")
        self.assert_shown(everything, Page(without_folders(page.read_text())).text, "page")

        report = json.loads(out["--json"])
        rows = list(csv.DictReader(io.StringIO(out["--csv"])))
        said = {squeezed(x["note"]).rstrip(".:") for x in report["notes"]}
        titles = {"Other figures of the runs' reports", "Geometric mean over the operations"}
        told = {squeezed(r["verdict_text"]).rstrip(".:") for r in rows if r["metric"] == "note"} | titles
        self.assert_shown(model.notes[1:], said | titles, "JSON")
        self.assertEqual(squeezed(report["answer"]).rstrip("."), model.notes[0])
        self.assert_shown(model.notes, told, "CSV")
        verdicts = {squeezed(m["verdict_text"]) for o in report["operations"] for m in o["metrics"]}
        words = re.compile("|".join(map(re.escape, sorted(verdicts | {"95 % CI"}, key=len, reverse=True))))
        for op in {op for op, _ in model.cells}:
            cells = [words.sub("", c) for o, c in model.figures if o == op]
            of_json = [o for o in report["operations"] if o["op"] == op] if op else report["geomeans"]
            values = list(values_in(of_json))
            for o in of_json if op else ():  # the change of these JSON leaves to who reads it
                values += [b / a for a, b in zip(values_in(o["before"]), values_in(o["after"])) if a]
            self.assert_written(cells, values, f"JSON, {op}")
            self.assert_written(cells, values_in([r for r in rows if r["op"] == op]), f"CSV, {op}")
        self.assertEqual(verdicts, {squeezed(r["verdict_text"]) for r in rows if r["verdict"]})
        self.assertTrue(all(any(v in c for _, c in model.cells) for v in verdicts), verdicts)

    def test_single_runs(self):
        self.check(capture("merge-in-1"), capture("merge-in-2"))
        self.check("--run-cv", "5", "--gate", "throughput:5%", capture("edge-errors"), capture("edge-sizes"))

    def test_several_runs(self):
        builds = capture("get-g4").parent / "builds"
        self.check("--before", *sorted(builds.glob("old-*"))[:5], "--after", *sorted(builds.glob("new-*"))[:3])


class Verdicts(Same):
    """One figure has one verdict, and no interval contradicts it."""

    def check(self, *args):
        run = lambda *form: self.s3analyze("cmp", "-q", *form, *args, status=None).out
        report, rows = json.loads(run("--json")), list(csv.DictReader(io.StringIO(run("--csv"))))
        page, table = self.tmp / "page.html", Markdown(run("--markdown"), [o["op"] for o in report["operations"]]).cells
        run("--html", page, "--force")
        cards = {squeezed(name): squeezed(said) for name, said in
                 re.findall(r'<div class="card"><span>(.*?)</span><b class="[a-z]*">(.*?)</b>', page.read_text())}
        seen, n_cards = set(), 0
        for o in report["operations"]:
            for m in o["metrics"]:
                where = (o["op"], m["metric"], m["verdict"], m["verdict_text"])
                kind, (lo, hi) = ("difference", (0, 0)) if m["unit"] == "frac" else ("ratio", (1, 1))
                row, = [r for r in rows if (r["op"], r["metric"], r["part"]) == (o["op"], m["metric"], "") and r["verdict"]]
                self.assertEqual((row["verdict"], row["verdict_text"]), where[2:])
                for end in "lo", "hi":
                    if m[f"{kind}_{end}"] is not None:
                        self.assertAlmostEqual(float(row[f"{kind}_{end}"]) / (m[f"{kind}_{end}"] or 1), 1 if m[f"{kind}_{end}"] else 0)
                low = -math.inf if m[f"{kind}_lo"] is None else m[f"{kind}_lo"]
                high = math.inf if m[f"{kind}_hi"] is None else m[f"{kind}_hi"]
                seen.add(m["verdict"])
                if m["verdict"] not in ("not-enough-data", "not-judged"):
                    self.assertTrue(low <= m["change"] <= high, where)
                    changed = m["verdict"] in ("faster", "slower", "fewer", "more", "differs")
                    if m["verdict"].startswith("same"):
                        self.assertTrue(1 - m["delta_frac"] <= m["ratio_lo90"] <= m["ratio_hi90"] <= 1 + m["delta_frac"], where)
                    else:
                        self.assertEqual(changed, low > hi or high < lo, where)
                    p = m["p"] if m["exploratory"] else m["p_holm"]
                    shown = f"(p={p:.3f} " if p >= .001 else "(p<0.001 "
                    self.assertTrue(any(cell.startswith(("" if changed else "~ ") + shown) for op, cell in table if op in ("", o["op"])),
                                    where)
                    says = ("the same" if m["verdict"].startswith("same") else "no change shown") if not changed else r"[-+][\d.]+ %"
                else:
                    says = "not judged"
                for name, card in cards.items():
                    if not m["exploratory"] and name in (f"{o['op']} {m['metric']}", f"{o['op']} {m['metric'].capitalize()}",
                                                         f"{o['op']} Objects/s" if m["metric"] == "objects" else None):
                        n_cards += 1
                        self.assertRegex(card, f"^{says}$", where)
        self.assertEqual(n_cards, len(cards))
        for said in re.findall(r"no change shown: [^(;]*\(95 % CI ([-+\d.]+) to ([-+\d.]+)\)", report["answer"]):
            self.assertTrue(float(said[0]) <= 0 <= float(said[1]), report["answer"])
        return seen

    def test_verdicts(self):
        builds = capture("get-g4").parent / "builds"
        old, new = sorted(builds.glob("old-*")), sorted(builds.glob("new-*"))
        seen = set()
        for args in ((capture("mixed-3hosts"), capture("s3load-open-loop")), (capture("merge-in-1"), capture("merge-in-2")),
                     (capture("mixed-3hosts"), self.lossy()), (capture("mixed-3hosts"), self.lossy(), "--run-cv", "3"),
                     (capture("edge-sizes"), capture("get-g4")), ("--before", *old, "--after", *new),
                     ("--before", *old[:3], "--after", *old[3:]), ("--before", *old[:2], "--after", *new[:3]),
                     ("--before", old[0], "--after", *new), (old[0], new[0], f"--history={builds}/old-[2-6]*")):
            with self.subTest(args=args):
                seen |= self.check(*args)
        self.assertLessEqual({"slower", "same", "inconclusive", "differs", "not-judged", "not-enough-data"}, seen)

    def lossy(self):
        """mixed-3hosts with gaps: p is below 5 %, but not if it is adjusted."""
        path = self.tmp / "lossy.csv"
        if not path.exists():
            head, *lines = self.s3analyze("cat", capture("mixed-3hosts")).out.splitlines(keepends=True)
            path.write_text(head + "".join(x for i, x in enumerate(lines) if i % 3000 >= 300))
        return path


class Runs(Same):
    def test_runs(self):
        for name in "edge-errors", "mixed-3hosts", "get-randsize", "s3load-open-loop":
            with self.subTest(capture=name):
                self.check(capture(name))

    def check(self, path):
        file = self.tmp / "page.html"
        text = squeezed(self.s3analyze("analyze", "-q", "-v", "--html", file, "--force", path).out)
        report = self.s3analyze("analyze", "-q", "--json", path).json()
        page = Page(file.read_text())
        figures = [word for word in re.findall(r"\S*\d\S*", text.replace(str(path), ""))]
        self.assert_shown([word.rstrip(".,;:)") for word in figures if not re.fullmatch(r"\d+\.", word)],
                          page.text, "page")
        for i, op in enumerate(report["operations"]):
            rows = [row for name, rows in page.tables if re.match(rf"op{i}-", name) for row in rows]
            self.assertGreater(len(rows), 3)
            self.assert_shown([c for row in rows for c in row if c], text, "text")
            cells = [c for row in rows for c in row[1:] if not re.search(r"\d:\d|^[\d.]+%$|[a-z] [a-z]+ ", c)]
            self.assert_written(cells, values_in(op), f"JSON, {op['op']}")


if __name__ == "__main__":
    unittest.main()
