"""Names of hosts and operations that could be taken for something else."""
import gzip
import unittest
import zipfile
import xml.etree.ElementTree as ElementTree

from capgen import SECOND, order, row, steady, text
from harness import TESTDATA, CliTest, capture
from test_profile import Proto


class OddNames(CliTest):
    def put(self, rows):
        path = self.tmp / "run.csv"
        path.write_bytes(text(rows))
        return path

    def test_host_that_reads_as_a_pattern(self):
        """A name that matches exactly is preferred to a pattern, wherever it first occurs."""
        rows = [row(i * SECOND, i * SECOND + SECOND // 2, thread=0, host=h, client=h)
                for i, h in enumerate(["h1", "h2", "h?", "h1", "h?"])]
        path = self.put(rows)
        for option in "--host", "--client":
            for name, n in ("h?", 2), ("h*", 5), ("h1", 2), ("h[12]", 3):
                with self.subTest(option=option, name=name):
                    out = self.s3analyze("cat", option, name, path).out
                    self.assertEqual(len(out.splitlines()) - 1, n)
                    report = self.s3analyze("analyze", "--json", option, name, path).json()
                    self.assertEqual(report["n_rows"], n, "analyze takes the same")

    def test_host_that_is_a_part_of_another(self):
        """A name without a scheme stands for that host with one, unless it is there itself."""
        path = self.put([row(i * SECOND, i * SECOND + SECOND // 2, host=h) for i, h in enumerate(["https://h1", "h1"])])
        out = self.s3analyze("cat", "--host", "h1", path).out.splitlines()
        self.assertEqual([line.split("\t")[6] for line in out[1:]], ["h1"])
        self.assertEqual(self.s3analyze("analyze", "--json", "--host", "h1", path).json()["n_rows"], 1)

    def test_operation_like_a_comment(self):
        path = self.put([row(i * SECOND // 10, i * SECOND // 10 + SECOND // 20, thread=i % 2, op="#c") for i in range(200)])
        self.s3analyze("plot", "--out", self.tmp / "charts", path)
        self.assertTrue((self.tmp / "charts" / "throughput-_c.svg").exists())
        self.s3analyze("plot", "--out", self.tmp / "x.svg", "--label", "# label", path)

    def test_pictures_are_xml(self):
        """Whatever hosts, operations and functions are called."""
        names = ["]]>", "]]><script xlink:href='data:,alert(1)'/>", "<b>&amp;", "a\ufffeb", "a\uffffb", "\x85\x9f\x7f", "-->",
                 "<![CDATA[", "&#0;", "^2_3@&~{/Symbol a}", "'\\\"", "]]\u200b>", "\U0001fffe"]
        rows = [row(i * SECOND // 50, (i + 1 + i % 3) * SECOND // 50 - 1000, thread=i % 3, host=names[i % len(names)],
                    client=names[-i % len(names)], op=names[i // 200]) for i in range(600)]
        path, folder = self.put(sorted(rows, key=order)), self.tmp / "charts"
        self.s3analyze("plot", "--out", folder, path)
        self.s3analyze("plot", "--out", folder / "label.svg", "--label", "a]]>b", path)
        file = self.tmp / "x.pprof"
        file.write_bytes(Proto({(name, "main"): 5 * 10**9 for name in names}).bytes)
        self.s3analyze("profile", "flame", "--out", folder / "flame.svg", file)
        pictures = sorted(folder.glob("*.svg"))
        self.assertGreater(len(pictures), 8)
        for picture in pictures:
            with self.subTest(picture.name):
                self.assertIn("svg", ElementTree.parse(picture).getroot().tag)

    def test_empty_names(self):
        """A host or client without a name is "(unnamed)" in every sentence that names one."""
        one = [r._replace(host="", client="") for r in steady(400, threads=2)]
        cases = {
            "absent-client": [r._replace(client=f"c{r.thread}" if r.thread else "")
                              for i, r in enumerate(steady(200, threads=4)) if r.thread or i > 300],
            "uneven-hosts": one + [r._replace(thread=r.thread + 5, host="h") for r in steady(400, threads=2)[::3]],
            "errors": [r._replace(error="no") if r.thread == 0 and i % 20 == 0 else r._replace(host="h", client="b")
                       if r.thread else r for i, r in enumerate(one)],
            "slow-host": steady(100, threads=3, host="", every=SECOND * 4 // 10) + [
                r._replace(thread=r.thread + 5) for r in steady(400, threads=3, host="h")],
            "stall": [row(i * SECOND // 50, (i + (199 if t < 4 and i == 500 else 1)) * SECOND // 50 - 1000, thread=t,
                          host="" if t < 4 else "h") for i in range(2000) for t in range(12) if t > 3 or not 500 < i < 699]}
        for kind, rows in cases.items():
            path = self.put(sorted(rows, key=order))
            found = [f for f in self.s3analyze("analyze", "--json", path).json()["findings"] if f["kind"] == kind]
            with self.subTest(kind=kind):
                self.assertIn("(unnamed)", " ".join(f["sentence"] for f in found))
        self.assertIn("(unnamed)  ", self.s3analyze("info", path).out)

    def test_what_is_no_capture_is_named(self):
        """Formats of other tools, options with which the capture was made."""
        tar, xlsx, k6 = self.tmp / "a.tar", self.tmp / "b.xlsx", self.tmp / "k6.json"
        tar.write_bytes(b"run.csv".ljust(257, b"\0") + b"ustar  \0" + bytes(300))
        xlsx.write_bytes(b"PK\x03\x04" + bytes(300))
        k6.write_text('{"type":"Metric","data":{}}\n')
        mine = self.tmp / "c.csv.zst"
        for args, said in (([tar], "a tar archive: unpack it first"), ([xlsx], "a spreadsheet (.xlsx)"),
                           ([k6, capture("list")], "neither an aggregated capture nor sums"),
                           (["--html", mine], "option --html:"), (["--html", mine, capture("list")], "cannot be a .zst file"),
                           (["--out", self.tmp / "n.xlsx", capture("list")], "cannot be a .xlsx file; use .csv")):
            r = self.s3analyze("analyze", *args, status=None)
            self.assertIn(said, r.err)
            self.assertGreater(r.status, 0)
        self.assertFalse(mine.exists())

    def test_what_another_command_reads_is_named(self):
        """By all commands that read captures."""
        folder = self.tmp
        imports, profile = TESTDATA / "import", TESTDATA / "profiles" / "cpu-1.pprof"
        (folder / "plain.pprof").write_bytes(gzip.decompress(profile.read_bytes()))
        with zipfile.ZipFile(folder / "run.profiles.zip", "w") as z:
            z.write(profile, "profile-h:1-cpu.pprof")
        (folder / "plan.json").write_text('{\n  "schema": "s3analyze/plan/1",\n  "plan": "ab"\n}\n')
        (folder / "perf.txt").write_text("objd 42 [001] 12345.600000:   1000000 cpu-clock:pppH:\n\t 55d0 f (/b/o)\n\n")
        (folder / "run.csv.gz").write_bytes(gzip.compress(text(steady(20))))
        (folder / "mark.csv").write_bytes(b"\xef\xbb\xbf" + (imports / "hey.csv").read_bytes())
        files = {profile: "s3analyze profile", folder / "plain.pprof": "s3analyze profile", folder / "perf.txt": "s3analyze profile",
                 folder / "run.profiles.zip": "s3analyze profile", folder / "plan.json": "s3analyze plan FOLDER",
                 folder / "run.csv.gz": "gzip -dc FILE | s3analyze", folder / "mark.csv": "s3analyze import hey FILE",
                 **{imports / f: f"s3analyze import {form} FILE" for form, f in (
                     ("hey", "hey.csv"), ("ab", "ab.tsv"), ("s3-log", "s3.log"), ("mc-trace", "mc-trace.json"),
                     ("mc-trace", "minio.json"), ("mc-trace", "minio-verbose.json"))}}
        commands = (["analyze", "F"], ["info", "F"], ["cmp", "F", "F"], ["cat", "F"], ["plot", "--out", folder / "p", "F"],
                    ["merge", "-o", folder / "m.csv", "F"], ["aggregate", "-o", folder / "a.sums", "F"], ["autoterm", "F"],
                    ["export", "--format", "influx", "F"])
        for file, said in files.items():
            for command in commands:
                with self.subTest(file=file.name, command=command[0]):
                    r = self.s3analyze(*(file if word == "F" else word for word in command), status=1)
                    self.assertIn(said, r.err)

    def test_no_text_in_a_row_makes_a_capture_another_file(self):
        for name in "x cpu-clock:y", "[01/Jan/2026:00:00:00 +0000] x", "{\"api\"", "starttime seconds":
            path = self.put([r._replace(file=name, error=name if i == 0 else "") for i, r in enumerate(steady(20))])
            with self.subTest(name=name):
                self.assertEqual(len(self.s3analyze("cat", path).out.splitlines()), 21)

    def test_reports_have_the_ending_of_their_form(self):
        path = capture("get-g4")
        for command in "analyze", "info", "cmp", "table", "autoterm", "trend":
            for name, options, said in (("r.html", [], "--html FILE writes a page"), ("r.HTM", ["--json"], "--html FILE"),
                                        ("r.pdf", [], "s3analyze plot --out FILE"), ("r.png", [], "s3analyze plot"),
                                        ("r.json", [], "add --json"), ("r.csv", [], "--csv"), ("r.csv", ["--json"], "--csv"),
                                        ("r.json", ["--json"], None), ("r.txt", [], None)):
                with self.subTest(command=command, name=name, options=options):
                    out = self.tmp / name
                    r = self.s3analyze(command, *options, "-o", out, path, *[path] * (command == "cmp"),
                                       status=None)
                    self.assertIn(said, r.err) if said else self.assertEqual(r.err, "")
                    self.assertEqual(out.exists(), said is None)
                    self.assertEqual(r.status, 0 if said is None else 1 if command in ("table", "trend") else 2)
                    out.unlink(missing_ok=True)
        self.s3analyze("cmp", "--csv", "-o", self.tmp / "r.csv", path, path)
        profile = TESTDATA / "profiles" / "cpu-1.pprof"
        for words, said in ((["flame", "-o", "f.png"], "flame draws .svg and .html"), (["top", "-o", "f.html"], "top writes text"),
                            (["flame", "--folded", "-o", "f.svg"], "writes text")):
            self.assertIn(said, self.s3analyze("profile", *words, profile, status=2).err)
            self.assertFalse((self.tmp / words[-1]).exists())


if __name__ == "__main__":
    unittest.main()
