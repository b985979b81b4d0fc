"""Objects of a run that no listing shows: the run deletes by name those that it knows, and counts all others."""
import collections
import re

from loadcase import LoadTest, apart_from_speed
from s3client import S3Client
from test_ranks import MPIS, RankedTest

ALL = "0123456789abcdef"
HALF = ALL[::2]
BUCKET = "s3load-benchmark-bucket"
SMALL = ("--obj.size", "1KiB", "--concurrent", "3", "--duration", "1h", "--quiet")
NOT_LISTED = re.compile(r"may be left under s3load-\w+/ .*\(([\d,]+) of ([\d,]+) objects? were not listed\)\nTo delete them, .*: s3load clean --run")


def ends(keys, hidden):
    return {key for key in keys if key[-1] in hidden}


class Unlisted(LoadTest):
    def hide(self, chars, *faults):
        rules = [("LIST", f"hide={chars}"), ("LISTVERSIONS", f"hide={chars}"), *faults]
        self.start(*(f"--fault=op={op},{rule}" for op, rule in rules))

    def stored(self, op="PUT"):
        """The names that the server says it has stored."""
        return {line["key"] for line in self.server.log() if line["op"] == op and line["status"] == "200"}

    def requests(self, op):
        """The statuses of the requests of a kind, by object."""
        found = collections.defaultdict(list)
        for line in self.server.log():
            if line["op"] == op:
                found[line["key"]].append(line["status"])
        return found

    def assert_left(self, r, n_left, n):
        self.assertEqual([tuple(int(x.replace(",", "")) for x in m) for m in NOT_LISTED.findall(r.err)], [(n_left, n)], r.err)

    def assert_gone(self, keys):
        """All are gone, as the server knows."""
        client = S3Client(self.server)
        self.assertEqual({client.request("HEAD", f"/{BUCKET}/{key}")[0] for key in keys}, {404})

    def test_put(self):
        """Uploads without a good answer do not count."""
        for options in ((), ("--noprefix",), ("--warmup", "100ms")):
            self.hide(HALF, ("PUT", "fail=503:0.3"))
            r = self.s3load("put", *SMALL, "--requests", "60", *options, status=1)
            keys = self.stored()
            self.assertTrue(0 < len(ends(keys, HALF)) < len(keys))
            self.assert_left(r, len(ends(keys, HALF)), len(keys))
            self.assertEqual(self.requests("STAT"), {})

    def test_multipart(self):
        self.hide(ALL)
        r = self.s3load("multipart", "--parts", "1", "--part.size", "5MiB", "--concurrent", "2", "--duration", "1h",
                        "--requests", "20", "--quiet", status=1)
        self.assert_left(r, len(self.stored("COMPLETE")), len(self.stored("COMPLETE")))

    def test_by_name(self):
        """What is in the pool at the end is deleted, each version of it."""
        for command, *options in (("get", "--requests", "5"), ("stat", "--requests", "5", "--noprefix"),
                                  ("mixed", "--requests", "90"), ("delete", "--batch", "1", "--requests", "5"),
                                  ("versioned", "--versions", "3", "--requests", "50"),
                                  ("retention", "--versions", "2", "--requests", "9")):
            with self.subTest(command):
                self.hide(HALF)
                r = self.s3load(command, *SMALL, "--objects", "20", *options)
                self.assertEqual(apart_from_speed(r.err), "")
                keys = self.stored()
                # Of those that are listed none is asked for by name.
                if command in ("get", "delete", "retention"):
                    self.assertLessEqual(set(self.requests("STAT")), ends(keys, HALF))
                self.assert_gone(keys)

    def test_cannot_be_deleted(self):
        """Versions of an object count as one."""
        for command, *options in (("get",), ("versioned", "--versions", "3", "--delete-distrib", "0")):
            self.hide(ALL, ("DELETE", "fail=500:1"))
            r = self.s3load(command, *SMALL, "--objects", "7", "--requests", "9", *options, status=1)
            self.assert_left(r, len(self.stored()), len(self.stored()))

    def test_refused_deletions(self):
        """An object is there until the server says that it has deleted it."""
        for fault in "fail=500:1", "fail=403:1", "fail=503:1":
            for command, *options in (("delete", "--batch", "1", "--stress"), ("delete", "--batch", "7", "--stress"),
                                      ("mixed", "--requests", "90"), ("versioned", "--versions", "1", "--requests", "90")):
                with self.subTest(command, fault=fault, options=options):
                    self.hide(ALL, ("DELETE", fault))
                    r = self.s3load(command, *SMALL, "--objects", "40", *options, status=1)
                    self.assert_left(r, len(self.stored()), len(self.stored()))
        self.hide(ALL, ("DELETE", "fail=500:0.5"))
        r = self.s3load("delete", *SMALL, "--objects", "80", "--batch", "1", "--stress", status=1)
        statuses = self.requests("DELETE").values()
        self.assertEqual({len(s) for s in statuses}, {1, 2})  # what was not deleted is deleted by name
        self.assert_left(r, sum(s[-1] != "204" for s in statuses), sum(s[0] != "204" for s in statuses))

    def test_only_a_name_in_a_bucket_with_versions(self):
        """A deletion without the version would only hide the object."""
        self.hide(HALF)
        S3Client(self.server).make(BUCKET)
        S3Client(self.server).versioning(BUCKET, "Enabled")
        r = self.s3load("get", *SMALL, "--objects", "30", "--requests", "3", status=1)
        keys = self.stored()
        self.assert_left(r, len(ends(keys, HALF)), len(keys))
        self.assertEqual(self.requests("STAT"), {})

    def test_all_is_listed(self):
        """Nothing is asked for by name."""
        self.start()
        for command, *options in (("put", "--requests", "50"), ("get", "--objects", "50", "--requests", "5")):
            r = self.s3load(command, *SMALL, *options)
            self.assertEqual(apart_from_speed(r.err), "")
        self.assertEqual(self.requests("STAT"), {})
        self.assertEqual(self.keys(), 0)

    def test_kept(self):
        self.hide(ALL)
        r = self.s3load("put", *SMALL, "--requests", "9", "--noclear")
        self.assertEqual(apart_from_speed(r.err), "")

    def test_prefixes(self):
        """Some servers would store the objects elsewhere."""
        self.start()
        for prefix in ("/", "/lead/", "a//b/", "./", "a/./b", "../", "a/../b/", "a//", "a/../"):
            r = self.s3load("put", *SMALL, "--requests", "9", "--prefix", prefix, status=2)
            self.assertIn(f"--prefix '{prefix}': some servers change keys", r.err)
        self.assertEqual(self.server.log(), [])
        for prefix in ("a/.b/", "..a/", "a../", "a/..", ".", ".../", "a b/"):
            self.s3load("put", *SMALL, "--requests", "9", "--prefix", prefix)
        # What is only read or deleted may have any name.
        client = S3Client(self.server)
        client.put(BUCKET, "a//b")
        self.s3load("get", *SMALL, "--requests", "9", "--list-existing", "--prefix", "a//")
        self.s3load("clean", "--prefix", "a//")


class Ranked(RankedTest, Unlisted):
    """The same with several ranks: any of them may list what another one has stored."""

    def test_ranks(self):
        for mpi in MPIS:
            for options in ((), ("--noprefix",)):
                self.hide(HALF)
                r = self.ranks(mpi, 3, "put", *SMALL, "--requests", "90", *options, status=1)
                self.assert_left(r, len(ends(self.stored(), HALF)), len(self.stored()))
            for hidden in ("", HALF):
                for options in ((), ("--noprefix",)):
                    self.hide(hidden or "x")
                    r = self.ranks(mpi, 3, "get", *SMALL, "--objects", "40", "--requests", "9", *options)
                    self.assertNotIn("left", r.err)
                    self.assertEqual(set(self.requests("STAT")), ends(self.stored(), hidden))
                    self.assert_gone(self.stored())


for name in [n for n in vars(Unlisted) if n.startswith("test_")]:
    setattr(Ranked, name, None)
