"""Rows that count twice: captures put together with cat, and rows appended to a capture that has them."""
import unittest

from harness import CliTest

HEADER = "idx\tthread\top\tbytes\tendpoint\tfile\terror\tstart\tend\n"


def rows(n=200, hosts=("h0",), idle=2):
    """Requests of 4 threads that are idle for the other part of the time."""
    lines = []
    for i in range(n):
        start = (i // 4) * 100 * idle
        end = start + 99
        stamp = [f"2026-01-01T00:{t // 60000:02d}:{t // 1000 % 60:02d}.{t % 1000:03d}000{i % 4:03d}Z"
                 for t in (start, end)]
        lines.append(f"{i}\t{i % 4}\tGET\t1000\t{hosts[i % len(hosts)]}\tk{i}\t\t{stamp[0]}\t{stamp[1]}\n")
    return lines


class Doubled(CliTest):
    def findings(self, *paths):
        r = self.s3analyze("analyze", "--json", *paths)
        return {f["kind"]: f for f in r.json()["findings"]}

    def write(self, name, *parts):
        path = self.tmp / name
        path.write_text("".join(parts))
        return path

    def test_once(self):
        found = self.findings(self.write("once", HEADER, *rows()))
        self.assertNotIn("copied-capture", found)
        self.assertNotIn("identical-rows", found)

    def test_sections_of_one_file(self):
        """In any order: the fingerprint is a sum."""
        other = rows(hosts=("h1",))[:150]
        path = self.write("twice", HEADER, *rows(), HEADER, *other, HEADER, *reversed(rows()))
        found = self.findings(path)
        self.assertIn("holds the same 200 requests 2 times", found["copied-capture"]["sentence"])
        self.assertNotIn("identical-rows", found)
        nearly = rows()
        nearly[77] = nearly[77].replace("\t1000\t", "\t1001\t")
        found = self.findings(self.write("nearly", HEADER, *rows(), HEADER, *nearly))
        self.assertNotIn("copied-capture", found)

    def test_files(self):
        paths = [self.write(name, HEADER, *rows()) for name in ("a", "b")]
        self.assertIn("seems to be a copy of", self.findings(*paths)["copied-capture"]["sentence"])

    def test_a_part_under_a_header_of_its_own(self):
        """Its threads get other numbers; otherwise its rows equal other rows."""
        for order in 1, -1:
            path = self.write("part", HEADER, *rows(), HEADER, *rows()[40:90][::order])
            self.assertEqual(self.findings(path)["identical-rows"]["evidence"]["n_identical"], 50)
        part = self.write("first", HEADER, *rows()[:50], HEADER, *rows())
        found = self.findings(part)["identical-rows"]["evidence"]
        self.assertEqual(found, {"n_identical": 50, "n_rows": 250})
        paths = [self.write("a", HEADER, *rows()), self.write("b", HEADER, *rows()[40:90])]
        self.assertEqual(self.findings(*paths)["identical-rows"]["evidence"]["n_identical"], 50)

    def test_clients_of_one_run(self):
        """Rows of several recorders that say the same by chance are no copies."""
        clients = [self.write(f"client{k}", HEADER, *rows(hosts=(f"h{k}",))) for k in range(2)]
        self.assertNotIn("identical-rows", self.findings(*clients))
        names = [self.write(f"names{k}", HEADER, *(r.replace("\tk", f"\tc{k}-") for r in rows()))
                 for k in range(2)]
        self.assertNotIn("identical-rows", self.findings(*names))
        # A clock of milliseconds and one key: a quarter of the requests take as long, too.
        chance = []
        for k in range(2):
            lines = [f"{i}\t0\tGET\t1000\th\tk\t\t2026-01-01T00:00:{i // 100:02d}.{i % 100 * 10:03d}Z"
                     f"\t2026-01-01T00:00:{i // 100:02d}.{i % 100 * 10 + (i >> 2 * k & 3) + 1:03d}Z\n"
                     for i in range(400)]
            chance.append(self.write(f"chance{k}", HEADER, *lines))
        self.assertNotIn("identical-rows", self.findings(*chance))

    def test_appended_rows(self):
        """Threads that are idle half of the time leave room for a copy: busy times do not tell it."""
        found = self.findings(self.write("whole", HEADER, *rows(), *rows()))
        self.assertEqual(found["identical-rows"]["evidence"]["n_identical"], 200)
        found = self.findings(self.write("some", HEADER, *rows(), *rows()[20:30]))
        self.assertEqual(found["identical-rows"]["evidence"]["n_identical"], 10)
        changed = [line.replace("\t1000\t", "\t1001\t") for line in rows()]
        found = self.findings(self.write("other", HEADER, *rows(), *changed))
        self.assertNotIn("identical-rows", found)


class Names(CliTest):
    def test_hosts_with_requests_considered(self):
        """If all requests of one of two hosts failed, one host is left, and there is no list of hosts."""
        lines = []
        for i in range(40):
            for h in range(2):
                lines.append(f"{i}\t{h}\tGET\t0\th{h}\tk{i}\t{'refused' if h else ''}"
                             f"\t2026-01-01T00:00:{i:02d}Z\t2026-01-01T00:00:{i + 1:02d}Z\n")
        path = self.tmp / "dead"
        path.write_text(HEADER + "".join(lines))
        op = self.s3analyze("analyze", "--json", path).json()["operations"][0]
        self.assertFalse(op["requests"].get("hosts"), op["requests"])
        self.assertEqual(len(op["hosts"]), 2)

    def test_nul(self):
        path = self.tmp / "nul"
        path.write_text(HEADER + "".join(rows(hosts=("h\0a", "h\0b"))))
        op = self.s3analyze("analyze", "--json", path).json()["operations"][0]
        self.assertEqual([h["host"] for h in op["hosts"]], ["h\\0a", "h\\0b"])

    def test_the_last_moment(self):
        """2^63-1 ns is a valid time: as an end in the full range, and as a start that --skip skips."""
        last = "2262-04-11T23:47:16.854775807Z"
        path = self.tmp / "last"
        path.write_text(HEADER + f"0\t0\tGET\t5\th\tk\t\t2262-04-11T20:00:00Z\t2262-04-11T20:00:01Z\n"
                                 f"1\t0\tGET\t5\th\tk\t\t2262-04-11T21:00:00Z\t{last}\n"
                                 f"2\t1\tGET\t5\th\tk\t\t{last}\t{last}\n")
        op = self.s3analyze("analyze", "--json", "--range", "full", path).json()["operations"][0]
        self.assertEqual(op["range"]["end"], last)
        r = self.s3analyze("analyze", "--json", "--skip", "10h", path, status=1)
        self.assertIn("no requests: --skip cuts all 3 off", r.err)


if __name__ == "__main__":
    unittest.main()
