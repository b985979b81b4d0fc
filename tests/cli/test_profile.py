"""s3analyze profile: prints what `go tool pprof` does, digit for digit; reads archives, folders and perf
script; tells the cost of requests; says what is wrong with damaged files."""
import ctypes
import gzip
import io
import os
import random
import re
import struct
import unittest
import warnings
import xml.etree.ElementTree as xml
import zipfile
import zlib

from browser import FAULTS, Browser
from capgen import START, row, text
from harness import TESTDATA, CliTest, run
from oracle import SECOND
from pprof import UTC, go_pprof

PROFILES = TESTDATA / "profiles"


def profile(name):
    return PROFILES / f"{name}.pprof"


# ---- profile.proto, written ----

def varint(x):
    x &= (1 << 64) - 1
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    return bytes(out) + bytes([x])


def field(number, value):
    """A number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Proto:
    """A profile of stacks: {("leaf", "root"): value}; those in `labelled` have the label of what is
    subtracted."""

    def __init__(self, stacks, kind=("cpu", "nanoseconds"), time_ns=0, duration_ns=0, labelled=()):
        self.strings = [""]
        body = field(1, field(1, self.string("samples")) + field(2, self.string("count")))
        body += field(1, field(1, self.string(kind[0])) + field(2, self.string(kind[1])))
        names = sorted({name for stack in stacks for name in stack})
        for i, name in enumerate(names, 1):
            body += field(4, field(1, i) + field(4, field(1, i)))
            body += field(5, field(1, i) + field(2, self.string(name)) + field(3, self.string(name)))
        for stack, value in stacks.items():
            places = b"".join(varint(names.index(name) + 1) for name in stack)
            pair = field(3, field(1, self.string("pprof::base")) + field(2, self.string("true")))
            body += field(2, field(1, places) + field(2, varint(1 + abs(value) // 10_000_000) + varint(value)) +
                          (pair if stack in labelled else b""))
        self.bytes = body + b"".join(field(6, s.encode()) for s in self.strings)
        self.bytes += field(9, time_ns) + field(10, duration_ns)

    def with_notes(self, comments, doc_url):
        """The same profile with comments and a link to a document."""
        first = len(self.strings)
        texts = b"".join(field(6, s.encode()) for s in (*comments, doc_url))
        numbers = b"".join(varint(first + i) for i in range(len(comments)))
        return self.bytes + texts + field(13, numbers) + field(15, first + len(comments))

    def string(self, s):
        if s not in self.strings:
            self.strings.append(s)
        return self.strings.index(s)


class Unseekable(io.RawIOBase):
    """Makes zipfile write data descriptors, as MinIO's archives have them."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def writable(self):
        return True

    def write(self, b):
        return self.f.write(b)


def archive(path, entries):
    with open(path, "wb") as f, zipfile.ZipFile(Unseekable(f), "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in entries.items():
            z.writestr(name, data)
    return path


class Profile(CliTest):
    def profile(self, *args, **kwargs):
        return self.s3analyze("profile", *args, env=UTC, **kwargs)

    def check_same(self, expected, *args):
        self.assertEqual(self.profile(*args).out.splitlines(), (PROFILES / f"{expected}.txt").read_text().splitlines())


class SameAsPprof(Profile):
    def test_each_expected_output(self):
        how = {"top": [], "cum-15": ["--cum", "--nodecount", "15"]}
        n = 0
        for path in sorted(PROFILES.glob("*.txt")):
            name, what = path.stem.split(".")
            if what in ("diff", "sum"):
                continue
            with self.subTest(name=path.stem):
                self.check_same(path.stem, "top", *how.get(what, ["--sample-index", what]), profile(name))
            n += 1
        self.assertGreater(n, 15)

    def test_difference_and_sum(self):
        for name in "cpu", "heap":
            two = profile(f"{name}-1"), profile(f"{name}-2")
            self.check_same(f"{name}.diff", "diff", *two)
            self.check_same(f"{name}.diff", "top", "--diff-base", *two)
        self.check_same("cpu.sum", "top", profile("cpu-1"), profile("cpu-2"))

    def test_saved_difference(self):
        """As `go tool pprof -proto -diff_base` writes it: shares of the base."""
        file = self.tmp / "a.pprof"
        file.write_bytes(Proto({("a",): 30, ("b",): -20}, labelled=[("b",)]).bytes)
        self.assertIn("accounting for 10ns, 50.00% of 20ns total\n", self.profile("top", file).out)

    def test_sum_of_saved_differences(self):
        """A total adds up absolute values, so equal samples would have to be added first."""
        one, other = (self.put(f"{i}.pprof", Proto({("b",): 5 - 25 * i}).bytes) for i in range(2))
        for paths in (one, other), (other, one), ("--diff-base", one, other):
            r = self.profile("top", *paths, status=1)
            self.assertRegex(r.err, r"\.pprof: a saved difference cannot be added to other profiles\n")

    def test_with_the_tool_itself(self):
        """If Go is installed: more options than the stored outputs cover."""
        cases = [["-top", "-nodefraction=0.03", "-nodecount=7"], ["-top", "-cum"]]
        for name in "cpu-1", "heap-1", "mutex", "block":
            for case in cases:
                words = [f"-{w}" if w[0] == "-" else w for w in case if w != "-top"]
                with self.subTest(name=name, case=case):
                    self.assertEqual(self.profile("top", *words, profile(name)).out, go_pprof(*case, profile(name)))

    def test_what_a_profile_says_of_itself(self):
        """Comments but those that begin with "#", each once, and a link."""
        file = self.tmp / "a.pprof"
        file.write_bytes(Proto({("a",): 30}).with_notes(("made by hand", "#for tools", "\x1b[31m", "made by hand"), "http://h/x"))
        head = self.profile("top", file).out.splitlines()
        self.assertEqual(head[:4], ["made by hand", r"\x1b[31m", "Type: cpu", "Doc: http://h/x"])

    def test_uncompressed(self):
        plain = self.tmp / "plain"
        plain.write_bytes(gzip.decompress(profile("cpu-1").read_bytes()))
        self.check_same("cpu-1.top", "top", plain)

    def test_names_are_simplified_and_made_safe(self):
        file = self.tmp / "a.pprof"
        file.write_bytes(Proto({("ns::f<int>(char)", "go.(*T[...]).m"): 7, ("evil\x1b[31m\u202e",): 3}).bytes)
        out = self.profile("top", file).out
        self.assertIn(" ns::f\n", out)
        self.assertIn(" go.(*T[...]).m\n", out)
        self.assertNotIn("\x1b", out)
        self.assertIn(r"evil\x1b[31m", out)

    def test_folded(self):
        file = self.tmp / "a.pprof"
        file.write_bytes(Proto({("leaf;x", "mid", "root"): 5, ("root",): 2}).bytes)
        self.assertEqual(self.profile("top", "--folded", file).out, "root;mid;leaf:x 5\nroot 2\n")

    def test_unknown_sample_type(self):
        r = self.profile("top", "--sample-index", "bananas", profile("heap-1"), status=1)
        self.assertIn("alloc_objects, alloc_space, inuse_objects, inuse_space", r.err)


class Sources(Profile):
    def cluster(self, *values):
        entries = {"cluster.info": b"{}", "goroutines-before,debug=2.txt": b"x"}
        for i, value in enumerate(values):
            entries[f"profile-10.0.0.{i}:9000-cpu.pprof"] = Proto({("f", "main.main"): value}).bytes
        return entries

    def test_archive(self):
        entries = self.cluster()
        for name in "cpu-1", "mutex", "block":
            entries[f"profile-10.0.0.1:9000-{name.split('-')[0]}.pprof"] = profile(name).read_bytes()
        entries["profile-10.0.0.1:9000-mem-before.pprof"] = profile("heap-1").read_bytes()
        entries["profile-10.0.0.1:9000-mem.pprof"] = profile("heap-2").read_bytes()
        path = archive(self.tmp / "run.profiles.zip", entries)
        self.check_same("cpu-1.top", "top", path)
        self.check_same("mutex.top", "top", "--type", "mutex", path)
        self.check_same("heap-2.top", "top", "--type", "heap", path)
        self.check_same("heap.diff", "diff", "--type", "mem", path)
        r = self.profile("top", "--type", "trace", path, status=1)
        self.assertRegex(r.err, "no profile of trace; there is block, cpu, mem, mutex|there is .*cpu")
        r = self.profile("diff", "--type", "cpu", path, status=1)
        self.assertIn("from before the load; there is mem\n", r.err)

    def test_nodes_add_up_in_archives_and_folders(self):
        path = archive(self.tmp / "run.zip", self.cluster(10**9, 2 * 10**9, 3 * 10**9))
        folder = self.tmp / "folder"
        folder.mkdir()
        for name, data in self.cluster(10**9, 2 * 10**9, 3 * 10**9).items():
            (folder / name.replace("/", "")).write_bytes(data)
        for source in path, folder:
            self.assertRegex(self.profile("top", source).out, r"(?m)^ +6s +100% +100% +6s +100%  f$")

    def test_node_that_stands_out(self):
        path = archive(self.tmp / "run.zip", self.cluster(10**9, 10**9, 2 * 10**9, 10**9))
        self.assertRegex(self.profile("info", path).out, r"10\.0\.0\.2:9000 stands out: 2s of cpu, 2\.00 times")
        r = self.profile("top", path)
        self.assertIn("stands out", r.err)
        self.assertNotIn("stands out", r.out)
        path = archive(self.tmp / "even.zip", self.cluster(10**9, 11 * 10**8, 10**9))
        self.assertNotIn("stands out", self.profile("info", path).out)

    def test_names_of_entries_are_no_paths(self):
        path = archive(self.tmp / "run.zip", {"../../profile-h:1-cpu.pprof": profile("cpu-1").read_bytes(),
                                              "/etc/x.txt": b""})
        self.check_same("cpu-1.top", "top", path)
        self.assertEqual([p.name for p in self.tmp.iterdir()], ["run.zip"])
        self.assertFalse((self.tmp.parent.parent / "profile-h:1-cpu.pprof").exists())

    def test_perf_script(self):
        file = self.tmp / "perf.txt"
        file.write_text("""# ========
minio  4242 [001] 12345.600000:   1000000 cpu-clock:pppH:
\t    55d0c0a1b2c3 crc64_update+0x43 (/usr/bin/server)
\t    55d0c0a1b2c4 operator new(unsigned long)+0x1 (/usr/bin/server)
\t    55d0c0a1b000 main+0x10 (/usr/bin/server)

tokio worker 4242/4243 12345.700000:   2000000 cpu-clock:pppH:
\t    55d0c0a1b2c5 helper (inlined)
\t    55d0c0a1b2c5 main+0x20 (/usr/bin/server)
\t    ffffffff8100 [unknown] ([kernel.kallsyms])
""")
        out = self.profile("top", file).out
        self.assertIn("Type: cpu\nDuration: 100ms, Total samples = 3ms ( 3.00%)\n", out)
        self.assertRegex(out, r"(?m)^ +2ms 66\.67% 66\.67% +2ms 66\.67%  helper \(inline\)$")
        self.assertRegex(out, r"(?m)^ +0 +0% +100% +3ms +100%  main$")
        self.assertIn("[[kernel.kallsyms]]", out)
        self.assertIn("main;operator new(unsigned long);crc64_update 1000000\n",
                      self.profile("top", "--folded", file).out)
        file.write_text(file.read_text() + "\nno sample\n")
        self.assertIn("perf.txt:12: no sample", self.profile("top", file, status=1).err)

    def perf(self, text, status=0):
        file = self.tmp / "perf.txt"
        file.write_text(text)
        r = self.profile("top", file, status=status)
        rows = re.findall(r"(?m)^ *(\S+) +\S+% +\S+ +(\S+) +\S+%  (.+)$", r.out)
        return {name: (flat, cum) for flat, cum, name in rows} if status == 0 else r.err

    def test_perf_script_forms(self):
        """Without stacks or periods, with sources, with brackets in names (Linux, tools/perf/builtin-script.c)."""
        flat = "".join(f"{comm:>16} 42 [00{i % 4}] 12345.{i:06d}:   1000000 cpu-clock:pppH:      55d0 {name} (/b/o d (x))\n"
                       for i, (comm, name) in enumerate([("objd", "f+0x4"), ("tokio 1.5", "g(int (*)(int))+0x1"),
                                                         ("objd", "[unknown]")] * 2))
        self.assertEqual(self.perf(flat), {"f": ("2ms", "2ms"), "g(int (*)(int))": ("2ms", "2ms"), "[o d (x)]": ("2ms", "2ms")})
        head = "# cmdline : perf record -g\n" * 400
        sample = "objd 42/43 12345.5: %scpu-clock:\n%s\n"
        stack = "\t  55d0 std::function<void (int)>::operator()(int) const%s\n\t  55d1 main+0x10%s\n"
        name = "std::function<void (int)>::operator()(int) const"
        for program in "", " (/usr/bin/objd)", " (/usr/bin/objd (deleted))", " ([kernel.kallsyms])", " (/srv/a (b)/c)":
            for offset in "", "+0x1f":
                for period, value in ("1000000 ", "3ms"), ("", "3"):
                    text = head + 3 * (sample % (period, stack % (offset + program, program)))
                    if program or not offset:  # without a program "const" may be one
                        self.assertEqual(self.perf(text), {name: (value, value), "main": ("0", value)}, text[-400:])
        lines = stack.replace("%s", " (/b/o)").splitlines()
        sources = "\n  f.c:12\n".join([*lines, ""])
        self.assertEqual(self.perf(sample % ("1000000 ", sources)), self.perf(sample % ("1000000 ", stack % ("", ""))))
        self.assertEqual(self.perf(sample % ("", " add (/b/o)\n main (/b/o)\n")), {"add": ("1", "1"), "main": ("0", "1")})
        self.assertEqual(self.perf(sample % ("", "\t 55d0 operator new(unsigned long)\n")),
                         {"operator new(unsigned long)": ("1", "1")})
        deleted = sample % ("", "\t 55d0 [unknown] (/usr/bin/objd (deleted))\n")
        self.assertEqual(self.perf(deleted), {"[objd]": ("1", "1")})
        switch = "objd 42 [001] 1.5: sched:sched_switch: prev_comm=a ==> next_comm=b\n\t 55d0 f (/b/o)\n\n"
        self.assertEqual(self.perf("objd 1 1.4: PERF_RECORD_COMM: objd:1/1\n" + 2 * switch), {"f": ("2", "2")})

    def test_perf_script_of_several_events(self):
        sample = "objd 42 12345.5: 1000000 %s:\n\t 55d0 f (/b/o)\n\n"
        for a, b in ("cpu-clock:pppH", "cycles"), ("sched:sched_switch", "sched:sched_wakeup"):
            self.assertIn(f"perf.txt:4: samples of {a.replace(':pppH', '')} and of {b} do not add up",
                          self.perf(sample % a + sample % b, status=1))
        self.assertEqual(self.perf(sample % "cycles:u" + sample % "cycles"), {"f": ("2000000", "2000000")})


class Cost(Profile):
    def run_of(self, name, stacks, n, op="GET"):
        """An archive and its capture: n requests in the time of the profile, and one after it."""
        rows = [row(i * 10**6, i * 10**6 + 10**5, op=op, size=1 << 20) for i in range(n)]
        rows.append(row(20 * SECOND, 21 * SECOND, op=op))
        (self.tmp / f"{name}.csv.zst").write_bytes(text(rows))
        return archive(self.tmp / f"{name}.profiles.zip", {
            "profile-h:1-cpu.pprof": Proto(stacks, time_ns=START, duration_ns=10 * SECOND).bytes})

    def test_of_a_request_and_a_gib(self):
        path = self.run_of("a", {("hash/crc64.update", "main.get"): 10**9, ("x.com/y.f",): 10**9}, 1024)
        out = self.profile("info", path).out
        self.assertIn("GET costs 1.95ms of server CPU, a GiB 2s (1,024 requests)\n", out)
        self.assertRegex(out, r"(?m)^crc64 +50\.00% +977us$")
        self.assertRegex(out, r"(?m)^x\.com/y +50\.00% +977us$")

    def test_a_stack_of_helpers(self):
        """A part is named after the package of its innermost function."""
        path = self.run_of("a", {("sync.(*Mutex).Lock", "runtime.goexit"): 10**9}, 1000)
        self.assertRegex(self.profile("info", path).out, r"(?m)^sync +100\.0%")

    def test_before_against_after(self):
        tls = ("runtime.x", "crypto/tls.(*Conn).Write", "main.get")
        rest = ("x.com/y.f",)
        old = self.run_of("old", {rest: 30 * 10**9, ("hash/crc64.update",): 5 * 10**9, tls: 5 * 10**9}, 1000)
        new = self.run_of("new", {rest: 60 * 10**9, ("hash/crc64.update",): 20 * 10**9, tls: 18 * 10**9}, 2000)
        said = r"GET costs 49ms of server CPU, was 40ms: \+22.5 %, in crc64 and TLS\n"
        r = self.profile("diff", old, new)
        self.assertRegex(r.err, said)
        self.assertNotIn("costs", r.out)
        self.assertRegex(self.profile("info", "--diff-base", old, new).out, said)

    def test_noise_is_no_change(self):
        old = self.run_of("old", {("f",): 10**9}, 1000)
        new = self.run_of("new", {("f",): 10**9 + 10**8}, 1000)
        self.assertIn("+10.0 %, less than the noise of", self.profile("diff", old, new).err)

    def test_given_capture_and_mixed_run(self):
        path = self.run_of("a", {("f",): 10**9}, 1000)
        other = self.tmp / "mixed.csv"
        other.write_bytes(text([row(i, i + 9, op=op) for i in range(5)
                                for op in ("GET", "PUT")]))
        said = "The average request of all operations costs 100ms of server CPU"
        self.assertIn(said, self.profile("info", "--capture", other, path).out)
        self.assertIn(said, self.profile("top", "--capture", other, path).err.replace("\n  ", " "))
        self.assertIn("GET costs 1ms of server CPU; the base has other operations, at 100ms a request\n",
                      self.profile("info", "--capture", other, "--capture", self.tmp / "a.csv.zst", "--diff-base",
                                   path, path).out)

    def test_capture_that_cannot_be_read(self):
        path = self.run_of("a", {("f",): 10**9}, 1000)
        (self.tmp / "a.csv.zst").write_bytes(b"(\xb5/\xfd no capture")
        r = self.profile("info", path)
        self.assertIn("no cost of requests: ", r.err)
        self.assertIn("Parts of the server", r.out)
        self.profile("info", "--capture", self.tmp / "a.csv.zst", path, status=1)

    def test_page_of_the_capture(self):
        self.run_of("a", {("hash/crc64.update", "main.get"): 10**9}, 1000)
        page = self.tmp / "a.html"
        self.s3analyze("analyze", "--quiet", "--html", page, self.tmp / "a.csv.zst")
        html = page.read_text()
        for words in ("Where the server spent its CPU", "GET costs 1ms of server CPU",
                      "<title>hash/crc64.update: 1s, 100% of all</title>"):
            self.assertTrue(words in html, words)


class Flame(Profile):
    def boxes(self, path):
        """Of a picture: {title: (x, y, width)}."""
        root = xml.parse(path).getroot()
        ns = "{http://www.w3.org/2000/svg}"
        return {g.find(f"{ns}title").text: tuple(float(g.find(f"{ns}rect").get(k)) for k in ("x", "y", "width"))
                for g in root.iter(f"{ns}g")}

    def test_boxes_are_as_wide_as_their_share(self):
        file, out = self.tmp / "a.pprof", self.tmp / "a.svg"
        file.write_bytes(Proto({("a", "main"): 3 * 10**9, ("b & c", "main"): 10**9}).bytes)
        self.profile("flame", "--out", out, file)
        boxes = self.boxes(out)
        self.assertEqual(boxes["all: 4s, 100% of all"], (0, 0, 1199.5))
        self.assertEqual(boxes["a: 3s, 75.00% of all"], (0, 34, 899.5))
        self.assertEqual(boxes["b & c: 1s, 25.00% of all"], (900, 34, 299.5))

    def test_difference(self):
        old, new, out = self.tmp / "old", self.tmp / "new", self.tmp / "d.svg"
        old.write_bytes(Proto({("a", "main"): 10**9, ("gone", "main"): 10**9}).bytes)
        new.write_bytes(Proto({("a", "main"): 2 * 10**9}).bytes)
        self.profile("flame", "--diff-base", old, "--out", out, new)
        self.assertIn("a: 2s, 100% of all; was 1s: +1s", self.boxes(out))
        self.assertIn("gone: 0, 0% of all; was 1s: -1s", self.boxes(out))

    def test_a_narrow_box_has_the_end_of_a_name(self):
        """Folders and package go first, as all functions of a package share them; types are no end."""
        file = self.tmp / "a.pprof"
        file.write_bytes(Proto({("example.org/store/erasure.Encode[go.shape.int]", "main"): 10**9, ("b", "main"): 9 * 10**9}).bytes)
        for name in "a.svg", "a.html":
            self.profile("flame", "--out", self.tmp / name, file)
            self.assertRegex((self.tmp / name).read_text(), r">Encode\[[^<]*\.\.</text>")
        with Browser() as browser:
            opened = browser.open(self.tmp / "a.html", width=800)
            texts = opened.evaluate("[...document.querySelectorAll('svg.flame text')].map(t => t.textContent)")
            self.assertTrue([t for t in texts if re.fullmatch(r"Encode\[?.*\.\.|Enc.*\.\.", t)], texts)

    def test_zoom_and_search(self):
        """Of 4 s main, a has 3 s, of which its own b has 1 s."""
        file, page = self.tmp / "a.pprof", self.tmp / "a.html"
        file.write_bytes(Proto({("b", "a", "main"): 10**9, ("a", "main"): 2 * 10**9, ("other", "main"): 10**9}).bytes)
        self.profile("flame", "--out", page, file)
        shown = ("[...document.querySelectorAll('svg.flame g')].filter(g => g.style.display !== 'none')"
                 ".map(g => g.querySelector('title').textContent.split(':')[0])")
        says = "document.querySelector('.flame-tools span').textContent"
        with Browser() as browser:
            for width in 1280, 390:
                opened = browser.open(page, width=width)
                self.assertEqual(opened.evaluate(FAULTS), [])
                self.assertEqual(sorted(opened.evaluate(shown)), ["a", "all", "b", "main", "other"])
                opened.evaluate("(() => { const i = document.querySelector('input[type=search]'); i.value = 'B'; "
                                "i.dispatchEvent(new Event('input')); })()")
                self.assertEqual(opened.evaluate(says), " 1 boxes, 25 % of the width")
                opened.evaluate("document.querySelector('input[type=search]').dispatchEvent("
                                "new KeyboardEvent('keydown', {key: 'Enter'}))")
                self.assertEqual(sorted(opened.evaluate(shown)), ["a", "all", "b", "main"])
                self.assertEqual(opened.evaluate(says), " b: 1s, 25.00% of all")
                opened.evaluate("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
                self.assertEqual(len(opened.evaluate(shown)), 5)
                self.assertEqual(opened.messages, [])

    def test_page_needs_nothing_else(self):
        page = self.tmp / "a.html"
        for _ in range(2):  # our own page may be replaced
            self.profile("flame", "--out", page, profile("cpu-1"))
        html = page.read_text()
        self.assertIn('<svg xmlns="http://www.w3.org/2000/svg" class="flame"', html)
        self.assertNotRegex(html, r'(src|href)="(?!data:|#)')
        self.assertIn("Flame graph of cpu: ", html)
        other = self.tmp / "mine.html"
        other.write_text("mine")
        self.profile("flame", "--out", other, profile("cpu-1"), status=1)
        self.assertEqual(other.read_text(), "mine")


class Damage(Profile):
    def check_told(self, data, name="x.pprof", words=""):
        """A one-line error or a report, never a crash."""
        file = self.tmp / name
        file.write_bytes(data)
        r = run("s3analyze", "profile", "top", file, env=UTC)
        self.assertIn(r.status, (0, 1), r.err)
        if r.status == 1:
            self.assertRegex(r.err, r"\As3analyze: [^\n]+\n\Z")
        self.assertIn(words, r.err)
        return r.status

    def test_cut_and_flipped(self):
        whole = gzip.decompress(profile("block").read_bytes())
        rng = random.Random(1)
        n_errors = 0
        for i in range(40):
            self.assertEqual(self.check_told(whole[:rng.randrange(1, len(whole) - 700)]), 1)
            flipped = bytearray(whole)
            flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            n_errors += self.check_told(bytes(flipped))
        self.assertGreater(n_errors, 5)

    def test_archives(self):
        path = archive(self.tmp / "a.zip", {"profile-h:1-cpu.pprof": profile("cpu-1").read_bytes() * 1})
        whole = path.read_bytes()
        rng = random.Random(2)
        for i in range(25):
            self.assertEqual(self.check_told(whole[:rng.randrange(4, len(whole) - 1)]), 1)
            flipped = bytearray(whole)
            flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            self.check_told(bytes(flipped))
        flipped = bytearray(whole)
        flipped[1000] ^= 1  # of the data: the checksum tells
        self.assertEqual(self.check_told(bytes(flipped)), 1)
        archive(path, {"cluster.info": b"{}"})
        self.assertIn("no profile in it", self.profile("top", path, status=1).err)

    def test_what_is_wrong_is_said(self):
        types = field(1, field(1, 1) + field(2, 2)) + field(6, b"") + field(6, b"cpu") + field(6, b"ns")
        location = field(4, field(1, 1))
        sample = field(2, field(1, 1) + field(2, 5))
        cases = {
            "it is empty": b"", "as captures are": b"\x28\xb5\x2f\xfd rest", "no profile": b"hello world, this is text",
            "its compressed data are damaged": profile("cpu-1").read_bytes()[:500],
            "does not say what it counts": field(6, b""),
            "names a location that is not there": types + sample,
            "names a string": types + field(3, field(1, 1) + field(5, 99)),
            "two locations have the same id": types + location + location,
            "has 2 values, but there are 1": types + location + field(2, field(1, 1) + field(2, b"\1\1")),
            "its first string is not empty": field(6, b"x"),
            "names a function": types + field(4, field(1, 1) + field(4, field(1, 7))),
            "add up to more than 64 bits": types + location + field(2, field(1, 1) + field(2, 1 << 62)) * 2,
            "two profiles follow": types + field(9, 1) + types + field(9, 1),
            "more than 128 MiB": gzip.compress(bytes(130 << 20), 1),
        }
        for words, data in cases.items():
            with self.subTest(words=words):
                self.assertEqual(self.check_told(data, words=words), 1)
        self.assertEqual(self.check_told(types + location + sample), 0)

    def test_many_functions_inlined_in_one_place(self):
        """A small file with long stacks: 100,000 functions in each of 400 samples."""
        body = field(1, field(1, 1) + field(2, 2)) + field(4, field(1, 1) + field(4, field(1, 1)) * 100_000)
        body += field(5, field(1, 1) + field(2, 3)) + field(2, field(1, b"\1") + field(2, b"\1")) * 400
        body += b"".join(field(6, s) for s in (b"", b"cpu", b"nanoseconds", b"f"))
        self.check_told(body, words="more than 32000000 functions in its stacks")

    def test_bomb(self):
        """An entry that says it is small and unpacks to more than a profile may have."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = packer.compress(bytes(200 << 20)) + packer.flush()
        name = b"profile-h:1-cpu.pprof"
        header = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, zlib.crc32(b""), len(data), 100, len(name), 0)
        central = b"PK\1\2" + struct.pack("<H", 20) + header + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
        body = b"PK\3\4" + header + name + data
        end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(body), 0)
        self.assertEqual(self.check_told(body + central + end), 1)

    def test_brackets(self):
        """Parameters of functions and templates are left out, up to brackets that do not match; a name of 16 MB, too."""
        many = 1 << 22
        for name, shown in (("a::f(int, b<c>)", "a::f"), ("a::b<c<d>>::f(int)", "a::b::f"), ("a::f<(g)>()x", "a::fx"),
                            ("a::f)x<y>", "a::f)x"), ("a::f<x", "a::f<x"), ("a::f>x<y>", "a::f>x<y>"), ("a::<><b><", "a::<"),
                            ("a::" + "<>" * many, "a::"), ("a::" + "<" * many + ">" * many, "a::"), ("a::" + "()" * many, "a::")):
            file = self.tmp / "x.pprof"
            body = field(1, field(1, 1) + field(2, 2)) + field(4, field(1, 1) + field(4, field(1, 1)))
            body += field(5, field(1, 1) + field(3, 3)) + field(2, field(1, b"\1") + field(2, b"\1"))
            file.write_bytes(body + b"".join(field(6, s) for s in (b"", b"cpu", b"nanoseconds", name.encode())))
            self.assertRegex(self.profile("top", file).out, rf"(?m) 100%  {re.escape(shown)}$")

    def test_a_profile_that_is_there_twice(self):
        """It would count twice."""
        one = Proto({("f",): 30}).bytes
        for names in (("profile-h:1-cpu.pprof",) * 2, ("a/profile-h:1-cpu.pprof", "profile-h:1-cpu.pb.gz")):
            path = self.tmp / "a.zip"
            with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as z:
                warnings.simplefilter("ignore")
                for name in names:
                    z.writestr(name, one)
            for command in "info", "top":
                r = self.profile(command, path, status=1)
                self.assertIn(f"a.zip: {names[1].split('/')[-1]}: the profile is there twice", r.err)
        folder = self.tmp / "folder"
        folder.mkdir()
        for name in "h-cpu.pprof", "h-cpu.pb":
            (folder / name).write_bytes(one)
        self.assertIn("is there twice", self.profile("top", folder, status=1).err)
        others = [f"profile-h:{i}-{kind}.pprof" for i in range(2) for kind in ("cpu", "cpu-before", "mem")]
        self.assertIn("60ns", self.profile("top", archive(path, dict.fromkeys(others, one))).out)

    def zip_of(self, names, data, shared):
        """An archive of entries with the same content; `shared`: they share its bytes."""
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        body, central = b"", b""
        for i, name in enumerate(names):
            head = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, zlib.crc32(data), len(packed), len(data), len(name), 0)
            at = 0 if shared else len(body)
            body += b"" if shared and i else b"PK\3\4" + head + name.encode() + packed
            central += b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, at) + name.encode()
        path = self.tmp / "a.zip"
        path.write_bytes(body + central + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, len(names), len(names), len(central),
                                                      len(body), 0))
        return path

    def test_limits_of_an_archive(self):
        """Entries must not share their bytes, and all of them have one limit."""
        names = [f"profile-h:{i}-cpu.pprof" for i in range(5)]
        large = Proto({("f",): 30}).bytes + field(100, bytes(110 << 20))
        r = self.profile("top", self.zip_of(names[:2], large, True), status=1)
        self.assertIn("a.zip: profile-h:1-cpu.pprof: overlaps other entries", r.err)
        self.assertIn("120ns", self.profile("top", self.zip_of(names[:4], large, False)).out)
        r = self.profile("top", self.zip_of(names, large, False), status=1)
        self.assertIn("a.zip: profile-h:4-cpu.pprof: with the profiles before it more than 512 MiB when unpacked", r.err)

    def test_an_archive_is_not_opened_for_each_profile(self):
        path = archive(self.tmp / "a.zip", {f"profile-h:{i}-cpu.pprof": Proto({("f",): 30}).bytes for i in range(50)})
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.assertGreaterEqual(libc.inotify_add_watch(watch, bytes(path), 0x20 | 0x10), 0)  # IN_OPEN, IN_CLOSE_NOWRITE
        self.assertIn("50 ", self.profile("top", "--sample-index", "samples", path).out)
        opens, events = 0, os.read(watch, 1 << 20)
        while events:
            _, mask, _, n = struct.unpack_from("<iIII", events)
            opens += bool(mask & 0x20)
            events = events[16 + n:]
        os.close(watch)
        self.assertIn(opens, range(1, 5))

    def test_different_kinds_do_not_add_up(self):
        r = self.profile("top", profile("cpu-1"), profile("heap-1"), status=1)
        self.assertRegex(r.err, r"heap-1\.pprof: it counts ")

    def test_usage(self):
        for words, said in ((["bananas", "x"], "write top, diff, info or flame"), (["top"], "top needs profiles"),
                            (["diff", "a", "b", "c"], "diff takes BEFORE and AFTER"),
                            (["info", "--folded", "a"], "--folded is for top, diff and flame")):
            self.assertIn(said, self.profile(*words, status=2).err)
        self.assertIn("No such file", self.profile("top", self.tmp / "none", status=1).err)
        self.assertTrue(re.search("neither a file nor", self.profile("top", "/dev/null", status=1).err))


if __name__ == "__main__":
    unittest.main()
