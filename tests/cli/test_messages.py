"""Messages of s3analyze and s3load about small mistakes: each says what to do."""
import re
import unittest

import capgen
from harness import CliTest, capture


class Messages(CliTest):
    def test_damage_names_salvage(self):
        whole = capgen.text(capgen.simulate(1, capgen.Shape(n=40)))
        lines = whole.split(b"\n")
        lines[20] = b"not a row"
        row = self.put("row.csv", b"\n".join(lines))
        packed = capture("get-g4").read_bytes()
        cut = self.put("cut.csv.zst", packed[:len(packed) // 2])
        damaged = bytearray(packed)
        damaged[len(packed) // 2] ^= 0x55
        frame = self.put("frame.csv.zst", bytes(damaged))
        for path in row, cut, frame:
            for args in (["analyze", path], ["info", path], ["cat", path], ["autoterm", path],
                         ["cmp", path, capture("get-g4")], ["merge", "-o", self.tmp / "x", path],
                         ["plot", "--out", self.tmp / "charts", path]):
                with self.subTest(args=args):
                    self.assertIn("(--salvage skips and counts what is damaged)", self.s3analyze(*args, status=1).err)
        self.s3analyze("analyze", "--salvage", row)
        self.assertNotIn("--salvage", self.s3analyze("info", self.put("x", b"a,b\n"), status=1).err)

    def test_damage_before_the_header(self):
        packed = bytearray(capture("get-g4").read_bytes())
        packed[20] ^= 0x55
        for data in bytes(packed), bytes(packed[:9]):
            path = self.put("head.csv.zst", data)
            for options in [], ["--salvage"]:
                said = self.s3analyze("analyze", *options, path, status=1).err
                self.assertIn(f"{path}:1: ", said)
                self.assertIn("nothing before it can be read", said)
                self.assertNotIn("--salvage", said)

    def test_files_that_are_something_else(self):
        said = self.s3analyze("info", self.put("x.zst", b"some words\n"), status=1).err
        self.assertIn("nor is it zstd, though its name ends in .zst", said)
        long = self.put("long.csv", capgen.text(capgen.steady(3)) + b"# " + b"x" * (2 << 20) + b"\n")
        self.assertIn(f"{long}:5: a row or comment of more than 1 MiB", self.s3analyze("info", long, status=1).err)

    def test_no_operation_on_both_sides(self):
        before, after = (self.put(f"{op}.csv", capgen.text(capgen.steady(300, op=op))) for op in ("PUT", "LIST"))
        said = self.s3analyze("cmp", before, after, status=1).err
        self.assertIn("no operation type is on both sides: before has PUT, after LIST", said)
        said = self.s3analyze("cmp", before, after, "--markdown", "pr.md", status=2).err
        self.assertIn("cmp needs two captures or folders, not 3", said)
        self.assertIn("--markdown takes no file: -o FILE", said)

    def test_outputs_that_are_links(self):
        path, link, hanging = self.put("a.csv", capgen.text(capgen.steady(3))), self.tmp / "link", self.tmp / "hanging"
        link.symlink_to(path)
        hanging.symlink_to("nowhere")
        said = self.s3analyze("cat", "-o", link, path, status=2).err
        self.assertIn(f"{link}, which is {path}, is to be read", said)
        for force in [], ["-f"]:
            said = self.s3analyze("aggregate", *force, "-o", hanging, path, status=1).err
            self.assertIn("a symbolic link to a file that is not there", said)

    def test_the_last_times(self):
        """Times near the end of 64 bits: what cannot be made says why."""
        last = (1 << 63) - 1 - capgen.START
        rows = [capgen.row(last - 10 ** 9 + i * 10 ** 7 // 2, last - 10 ** 9 + (i + 1) * 10 ** 7 // 2 - 1) for i in range(199)]
        path = self.put("late.csv", capgen.text(rows))
        said = self.s3analyze("analyze", "--html", self.tmp / "late.html", path, status=1).err
        self.assertIn("would end after the year 2262", said)
        said = self.s3analyze("aggregate", "-o", self.tmp / "x.sums", path, status=1).err
        self.assertIn(f"{path}: no sums can be made: ", said)

    def test_info_goes_on(self):
        broken = self.put("broken", b"")
        good = capture("get-g4"), capture("list")
        r = self.s3analyze("info", good[0], broken, good[1], status=1)
        self.assertEqual([str(p) for p in good], [line for line in r.out.splitlines() if line.startswith("/")])
        self.assertEqual(r.err.count("\n"), 1)
        self.assertIn(f"{broken}: is empty", r.err)
        r = self.s3analyze("info", "--json", good[0], broken, good[1], status=1)
        self.assertEqual([c["path"] for c in r.json()["captures"]], [str(p) for p in good])
        self.assertEqual(self.s3analyze("info", broken, status=1).out, "")

    def test_from_after_to(self):
        path = capture("get-g4")
        for args in (["analyze", path], ["cat", path], ["autoterm", path], ["cmp", path, path],
                     ["plot", "--out", self.tmp / "x", path]):
            for times in (["--from", "5s", "--to", "2s"], ["--from", "2s", "--to", "2s"],
                          ["--from", "2026-11-21T05:46:05Z", "--to", "2026-11-21T05:46:04Z"]):
                with self.subTest(args=args, times=times):
                    self.assertIn("--to is not after --from", self.s3analyze(*args, *times, status=2).err)
        self.s3analyze("analyze", "--from", "2s", "--to", "5s", path)

    def test_options_that_do_not_fit(self):
        path, out = capture("get-g4"), ["-o", self.tmp / "x"]
        begin = ["plan", "--begin", "--dir", self.tmp / "plan", "sweep"]
        for args, message in (
                (["table", "--json", "--markdown", path], "choose one of --json and --markdown"),
                (["analyze", "--json", "--markdown", path], "choose one of --json and --markdown"),
                (["plan", "--json", "--markdown", "x"], "choose one of --json and --markdown"),
                (["plan", "--html", "-", "x"], "the page and the report both want standard output"),
                (["plan", "--html", out[1], *out, "x"], f"the page and the report both want {out[1]}"),
                (["plan", "--slo", "p99<20ms", "x"], "--slo is for a new plan, with --begin"),
                (["table", "--where", "start>2026-03", path], "--where start>2026-03: expected a time such as 2026-03-14"),
                (["import", "ab", path, *out, "--op", ""], "--op is empty"),
                (["import", "ab", path, *out, "--start", "noon"], "'noon': expected a time such as 2026-11-21T05:41:32Z"),
                (["plot", "--out", self.tmp / "charts"], "no capture is given: name it, or use --before and --after"),
                (["plan", "--begin", "ab"], "--begin needs --dir DIR"),
                ([*begin, "--rate", "10,0"], "level 0: expected more than 0"),
                ([*begin, "--rate", "10,x"], "level x: expected a rate"),
                ([*begin, "--concurrent", "4,8,4"], "level 4 is given twice")):
            with self.subTest(args=args):
                self.assertIn(message, self.s3analyze(*args, status=2).err)
        self.assertEqual(list(self.tmp.iterdir()), [])

    def test_a_file_for_a_command(self):
        path = capture("get-g4")
        r = self.s3analyze(path, status=2)
        self.assertIn(f"'{path}' is a file, not a command: did you mean 's3analyze analyze {path}'?", r.err)
        self.assertIn("unknown command 'nothing-such'", self.s3analyze("nothing-such", status=2).err)

    def test_a_command_of_the_other_program(self):
        for command in ("analyze", "cmp", "merge", "plot", "info", "cat", "autoterm"):
            r = self.check_run("s3load", command, "x", status=2)
            self.assertIn(f"'{command}' is a command of s3analyze: did you mean 's3analyze {command}'?", r.err)
        for command in ("get", "put", "mixed"):
            r = self.s3analyze(command, status=2)
            self.assertIn(f"'{command}' is a command of s3load: did you mean 's3load {command}'?", r.err)


class Preparation(CliTest):
    """A run is judged and shown by what it measured. What prepared that comes behind it, with a label."""

    def runs(self, name, put_ms, get_ms):
        """Six runs, alike but for a little noise."""
        paths = []
        for i in range(6):
            rows, at = [], 0
            for op, ms in (("PUT", put_ms), ("GET", get_ms)):
                for k in range(200):
                    for thread in range(4):
                        noise = (k * 7919 + thread * 104729 + i * 1299709) % 100000
                        rows.append(capgen.row(at, at + ms * 1000000 + noise, thread, op))
                    at += ms * 1000000 + 100000
                at += capgen.SECOND
            path = self.tmp / f"{name}{i}.csv"
            path.write_bytes(capgen.text(rows))
            paths.append(path)
        return paths

    def test_text_has_it_behind_the_benchmark(self):
        path, = self.runs("a", 10, 10)[:1]
        out = self.s3analyze("analyze", "-v", path).out
        for shown in out, self.s3analyze("analyze", path).out:
            self.assertRegex(shown, r"\nOperations:\n.*\nGET .*\nBefore the benchmark:\nPUT ")
        self.assertEqual(re.findall(r"(?m)^-{20,}\n(.*)$", out), ["Operation: GET", "Before the benchmark: PUT"])

    def test_means_are_without_it(self):
        before, after = self.runs("a", 10, 10), self.runs("b", 20, 10)
        args = ["cmp", "-v", "--before", *before, "--after", *after]
        self.assertNotIn("Geometric mean", self.s3analyze(*args).out)
        self.assertEqual(self.s3analyze(*args, "--json").json()["geomeans"], [])
        self.assertIn("throughput (2)", self.s3analyze(*args, "--op", "GET,PUT").out)

    def test_table_lists_it_if_asked_for(self):
        path, = self.runs("a", 10, 10)[:1]
        def ops(*args):
            return [r["op"] for r in self.s3analyze("table", "--json", *args, path).json()["rows"]]
        self.assertEqual(ops(), ["GET"])
        self.assertEqual(ops("--where", "op=P*"), ["PUT"])
        self.assertEqual(ops("--where", "op=*"), ["PUT", "GET"])

    def test_gate(self):
        before, after = self.runs("a", 10, 10), self.runs("b", 20, 10)
        args = ["cmp", "--before", *before, "--after", *after, "--gate", "throughput:5%"]
        r = self.s3analyze(*args, status=0)
        self.assertIn("PUT: ran before what was measured, so the gate leaves it out", r.out)
        self.s3analyze(*args, "--op", "PUT,GET", status=1)
        self.s3analyze(*args, "--op", "PUT", status=1)
        self.s3analyze(*args, "--op", "GET", status=0)


if __name__ == "__main__":
    unittest.main()
