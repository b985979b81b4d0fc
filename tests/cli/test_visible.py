"""Nothing that a terminal would obey reaches one: not from captures, not from file and option names, on
neither stream, in no format for people. Cells that a spreadsheet would run are marked on request."""

import csv
import re
import shutil
import subprocess
import unittest

from capgen import simulate, steady, text, Shape
from harness import BUILD, TIMEOUT_S, CliTest, on_terminal

# OSC, CSI, DEL, C1 in UTF-8, a C1 byte alone, marks of direction, separators of lines and paragraphs.
HOSTILE = ("\x1b]0;pwn\x07\x1b[31m\x7f\u009b31m\u200f\u202e\u2066\u061c\u2028\u2029".encode() + b"\x9b").decode(
    "utf-8", "surrogateescape")
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Visible(CliTest):
    def check(self, *streams):
        for data in streams:
            try:
                said = data.decode()
            except UnicodeDecodeError as e:
                self.fail(f"not UTF-8: {data[max(0, e.start - 80):e.end + 20]!r}")
            found = UNSAFE.search(said)
            self.assertIsNone(found, repr(said[max(0, found.start() - 80):found.end() + 20]) if found else "")

    def run_raw(self, *argv):
        done = subprocess.run([BUILD / argv[0], *argv[1:]], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_S, cwd=self.tmp)
        self.assertGreaterEqual(done.returncode, 0)
        self.assertNotIn(b"Sanitizer", done.stderr)
        return done

    def on_terminal(self, *argv):
        """The bytes that a terminal as standard output gets."""
        status, said = on_terminal(BUILD / argv[0], *argv[1:], env={"NO_COLOR": "1"})
        return status, said.replace(b"\r\n", b"\n")

    def hostile_capture(self, name="hostile.csv"):
        rows = simulate(5, Shape(n=400, hosts=2, clients=2, ops=("GET", "PUT"), error_frac=0.1))
        bad = HOSTILE.encode("utf-8", "surrogateescape")
        data = text(rows).replace(b"http://h1", bad).replace(b"GET\t", b"GET" + bad + b"\t").replace(
            b"not found", b"no" + bad)
        path = self.tmp / name
        header, body = data.split(b"\n", 1)
        path.write_bytes(header + b"\n# " + bad + b'\n# s3load/1 {"event":"start","label":"\xc2\x9b","bucket":"'
                         b'\xe2\x80\xae"}\n' + body)
        return path

    def test_captures_in_every_report(self):
        a, b = self.hostile_capture("a.csv"), self.hostile_capture("b.csv")
        b.write_bytes(b.read_bytes().replace(b"2026-", b"2027-"))
        for argv in (["analyze", a], ["analyze", "-v", a], ["analyze", "--json", a], ["info", a],
                     ["info", "--json", a], ["cmp", a, b], ["cmp", "-v", a, b], ["cmp", "--json", "-v", a, b],
                     ["cmp", "--markdown", a, b], ["autoterm", a], ["autoterm", "--json", a],
                     ["analyze", "--json", "--analyze.out", self.tmp / "series.json", a],
                     ["merge", "--force", "--json", "-o", "merged.csv", a, b]):
            with self.subTest(argv=argv):
                done = self.run_raw("s3analyze", *argv)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check(done.stdout, done.stderr)
        self.check((self.tmp / "series.json").read_bytes())
        self.run_raw("s3analyze", "analyze", "--html", "page.html", a)
        self.check((self.tmp / "page.html").read_bytes())

    def test_messages_about_captures(self):
        header = text(steady(1)).split(b"\n")[0] + b"\n"
        bad = HOSTILE.encode("utf-8", "surrogateescape")
        good = text(steady(1)).split(b"\n")[1]
        path = self.tmp / "bad.csv"
        for column in range(len(good.split(b"\t"))):
            cells = good.split(b"\t")
            cells[column] = bad
            path.write_bytes(header + b"\t".join(cells) + b"\n" + good + b"\n")
            for argv in ["analyze", path], ["analyze", "--salvage", path], ["cat", "--salvage", "-o", "o", path]:
                done = self.run_raw("s3analyze", *argv)
                self.check(done.stderr, done.stdout)

    def test_names_of_files_and_options(self):
        good = self.tmp / "good.csv"
        good.write_bytes(text(steady(50)))
        odd = self.tmp / f"odd{HOSTILE}.csv"
        shutil.copy(good, odd)
        word = HOSTILE
        for argv in (["analyze", odd], ["info", odd], ["cmp", odd, good], ["analyze", "no" + word],
                     ["cat", "no" + word], ["analyze", "--" + word, good], ["analyze", "--host", word, good],
                     ["analyze", "--op", word, good], ["analyze", "--dur", word, good],
                     ["analyze", "--range", word, good], ["analyze", "--from", word, good],
                     ["analyze", "--skip=" + word, good], ["cmp", "--gate", word, good, odd],
                     ["cat", "-o", odd, odd], ["analyze", "--html", word + "/x", good], [word],
                     ["help", word], ["analyze", "--help", word], ["--" + word], ["autoterm", word]):
            with self.subTest(argv=argv):
                done = self.run_raw("s3analyze", *argv)
                self.check(done.stdout, done.stderr)
                self.assertGreater(len(done.stdout + done.stderr), 0)
        local = ["--host", "127.0.0.1:1"]
        for argv in ([word], ["get", "--" + word], ["get", word], ["get", "--host", word],
                     ["get", "--obj.size", word], ["get", *local, "--benchdata", word + "/x"],
                     ["get", *local, "--access-key", "a", "--secret-key", word, "--bucket", word],
                     ["get", *local, "--lookup", word], ["get", "--" + word + "=1"], ["get", "--rate=" + word]):
            with self.subTest(argv=argv):
                done = self.run_raw("s3load", *argv)
                self.assertNotEqual(done.returncode, 0)
                self.check(done.stdout, done.stderr)

    def test_tables_on_a_terminal(self):
        a, b = self.hostile_capture("a.csv"), self.hostile_capture("b.csv")
        b.write_bytes(b.read_bytes().replace(b"2026-", b"2027-"))
        for argv in ["analyze", "-o", "/dev/null", "--analyze.out", "-", a], ["cmp", "--csv", "-v", a, b]:
            with self.subTest(argv=argv):
                status, said = self.on_terminal("s3analyze", *argv)
                self.assertEqual(status, 0)
                self.assertIn(rb"\x1b]0;pwn", said)
                self.check(said)
        for argv in ["cat", a], ["merge", "--force", "-o", "-", a, b]:
            status, said = self.on_terminal("s3analyze", *argv)
            self.assertEqual((status, said), (1, b""))

    def test_files_keep_what_was_recorded(self):
        path = self.hostile_capture()
        out = self.s3analyze("analyze", "-o", "/dev/null", "--analyze.out", "-", path).raw
        self.assertIn(b"GET" + HOSTILE.encode("utf-8", "surrogateescape"), out)
        self.assertIn(HOSTILE.encode("utf-8", "surrogateescape"), self.s3analyze("cat", path).raw)

    def test_markdown_is_text(self):
        data = text(steady(300)).replace(b"GET\t", b"<b>|`*[a](x)_&amp;\t")
        paths = [self.tmp / "a.csv", self.tmp / "b.csv"]
        paths[0].write_bytes(data)
        paths[1].write_bytes(data.replace(b"2026-", b"2027-"))
        out = self.s3analyze("cmp", "--markdown", *paths).out
        self.assertIn(r"&lt;b>\|\`\*\[a\](x)\_&amp;amp;", out)

    def test_cells_for_spreadsheets(self):
        for name in "=1+2", "+1", "-1", "@A1", "plain":
            data = text(steady(300)).replace(b"GET\t", name.encode() + b"\t")
            paths = [self.tmp / "a.csv", self.tmp / "b.csv"]
            paths[0].write_bytes(data)
            paths[1].write_bytes(data.replace(b"2026-", b"2027-"))
            safe = "'" + name if name != "plain" else name
            for args, expected in ([], name), (["--csv-safe"], safe):
                series = self.tmp / "series.csv"
                self.s3analyze("analyze", *args, "--analyze.out", series, paths[0])
                self.assertEqual({row["op"] for row in csv.DictReader(series.open())}, {expected})
                series.unlink()
                out = self.s3analyze("cmp", "--csv", *args, *paths).out
                self.assertEqual({row["op"] for row in csv.DictReader(out.splitlines())}, {expected, ""})

    def test_a_nul_in_a_name(self):
        """Two hosts that differ only after such a character are two."""
        path = self.put("nul.csv", text([r for name in ("h\0one", "h\0two") for r in steady(20, host=name)]))
        names = ["h\\0one", "h\\0two"]
        info = self.s3analyze("info", "--json", path).json()
        self.assertEqual([h["host"] for h in info["captures"][0]["hosts"]], names)
        report = self.s3analyze("analyze", "--json", path).json()
        self.assertEqual([h["host"] for h in report["operations"][0]["hosts"]], names)


if __name__ == "__main__":
    unittest.main()
