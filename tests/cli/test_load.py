"""Every command of s3load, against the embedded target and against versitygw."""
import collections
import signal

from harness import TIMEOUT_S
from loadcase import Capture, LoadTest, has_ops, has_rows, recorded
from s3client import S3Client
from servers import Target, VersityGw

SMALL = ("--obj.size", "10KiB", "--concurrent", "4", "--requests", "200")


class Suite:
    def setUp(self):
        super().setUp()
        self.start()

    def assert_clean(self, capture):
        self.assertGreater(len(capture.rows), 0)
        self.assertEqual([r.error for r in capture.errors()], [])
        self.assertEqual(self.keys(), 0)
        r = self.s3analyze("info", capture.path)
        self.assertNotIn("arning", r.err + r.out)

    def test_get(self):
        state, c = self.load("get", "--objects", "20", *SMALL)
        self.assert_clean(c)
        self.assertEqual(c.ops()["PUT"], 20)
        self.assertEqual(state["requests"], c.ops()["GET"])
        self.assertEqual({r.bytes for r in c.rows}, {10240})
        self.assertLessEqual({r.thread for r in c.rows}, {0, 1, 2, 3})
        self.assertEqual(len({r.file for r in c.of("PUT")}), 20)
        self.assertLessEqual({r.file for r in c.of("GET")}, {r.file for r in c.of("PUT")})
        self.assertEqual((state["requests"], state["end"]), (200, "done"))
        for r in c.of("GET"):
            self.assertTrue(r.start < r.first_byte <= r.end)
            self.assertEqual(r.duration, r.end - r.start)

    def test_get_range(self):
        _, c = self.load("get", "--objects", "5", "--range-size", "1KiB", "--verify", "1", *SMALL)
        self.assert_clean(c)
        self.assertEqual({r.bytes for r in c.of("GET")}, {1024})
        c = self.load_until(lambda path: has_rows(path, 100, "GET"), "get", "--objects", "5", "--range",
                            "--obj.randsize", "--verify", "1", *SMALL[:-2])
        self.assert_clean(c)
        self.assertGreater(len({r.bytes for r in c.of("GET")}), 10)

    def test_get_existing(self):
        self.load("stat", "--objects", "20", "--noclear", *SMALL)
        n = self.keys()
        self.assertEqual(n, 20)
        state, c = self.load("get", "--list-existing", *SMALL)
        self.assertEqual(c.ops().keys(), {"GET"})
        self.assertEqual(c.errors(), [])
        self.assertEqual(self.keys(), n)
        c = self.load_until(lambda path: has_rows(path, 100), "stat", "--list-existing", "--objects", "3", *SMALL[:-2])
        self.assertEqual(len({r.file for r in c.rows}), 3)

    def test_put(self):
        state, c = self.load("put", "--md5", *SMALL)
        self.assert_clean(c)
        self.assertEqual(len({r.file for r in c.rows}), len(c.rows))
        for r in c.rows:
            self.assertTrue(r.start < r.last_byte <= r.end)
            # A prefix for each worker.
            self.assertEqual(r.file.split("/")[1], f"{r.thread:04x}")

    def test_put_noprefix(self):
        _, c = self.load("put", "--noprefix", *SMALL)
        self.assert_clean(c)
        self.assertEqual({r.file.count("/") for r in c.rows}, {1})

    def test_stat(self):
        _, c = self.load("stat", "--objects", "20", *SMALL)
        self.assert_clean(c)
        self.assertEqual({r.bytes for r in c.of("STAT")}, {0})

    def test_list(self):
        _, c = self.load("list", "--objects", "40", *SMALL)
        self.assert_clean(c)
        self.assertEqual({r.n_objects for r in c.of("LIST")}, {10})
        for r in c.of("LIST"):
            self.assertTrue(r.start < r.first_byte <= r.end)

    def test_list_of_several_pages(self):
        _, c = self.load("list", "--objects", "2500", "--concurrent", "1", "--obj.size", "1",
                         "--requests", "3")
        self.assert_clean(c)
        self.assertEqual({r.n_objects for r in c.of("LIST")}, {2500})

    def test_delete(self):
        state, c = self.load("delete", "--objects", "205", "--batch", "10", *SMALL)
        self.assert_clean(c)
        self.assertEqual(sum(r.n_objects for r in c.of("DELETE")), 205)
        self.assertEqual(c.ops()["DELETE"], 21)
        self.assertEqual(state["end"], "done")

    def test_mixed(self):
        state, c = self.load("mixed", "--objects", "50", *SMALL[:-1], "1000")
        self.assert_clean(c)
        self.assertEqual(state["prepared"], 50)
        ops = c.ops()
        n = sum(ops.values())
        self.assertEqual(n, 1000)
        # Dealt from decks of 1000: shares are exact but for what found no object.
        for op, share in (("GET", 0.45), ("STAT", 0.3), ("PUT", 0.15), ("DELETE", 0.1)):
            self.assertLess(abs(ops[op] - share * n), 60, ops)

    def test_mixed_without_deletions(self):
        _, c = self.load("mixed", "--objects", "5", "--delete-distrib", "0", "--get-distrib", "0",
                         *SMALL)
        self.assert_clean(c)
        self.assertEqual(c.ops().keys(), {"PUT", "STAT"})

    def test_versioned(self):
        # versitygw moves files when a version is added: one request at a time.
        ops = {"GET", "STAT", "PUT", "DELETE"}
        c = self.load_until(lambda path: has_ops(path, *ops), "versioned", "--objects", "5", "--versions", "3",
                            "--bucket", "versions", "--obj.size", "1KiB", "--concurrent", "1")
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertEqual(c.ops().keys(), ops)
        self.assertEqual(self.keys("versions"), 0)

    def test_retention(self):
        c = self.load_until(lambda path: has_rows(path, 3, "RETENTION"), "retention", "--objects", "10", "--versions",
                            "3", "--bucket", "locked", *SMALL[:-2])
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertEqual(c.ops()["PUT"], 30)
        self.assertEqual(self.keys("locked"), 0)

    def test_retention_needs_object_lock(self):
        self.load("put", *SMALL)
        r = self.s3load("retention", "--objects", "1", *SMALL, status=1)
        self.assertIn("object lock", r.err)

    def test_multipart(self):
        ops = {"INITIATE", "PUTPART", "COMPLETE"}
        c = self.load_until(lambda path: has_ops(path, *ops), "multipart", "--parts", "3", "--part.size", "5MiB",
                            "--concurrent", "2")
        self.assert_clean(c)
        self.assertEqual(c.ops().keys(), ops)
        self.assertEqual({r.bytes for r in c.of("PUTPART")}, {5 << 20})

    def test_open_loop(self):
        state, c = self.load("put", "--rate", "200", "--obj.size", "1KiB", "--concurrent", "8", "--requests", "100")
        self.assert_clean(c)
        self.assertEqual((len(c.rows), state["not_begun"]), (100, 0))
        due = sorted(r.intended for r in c.rows)
        self.assertEqual([round(at - due[0], -3) for at in due], [i * 5000000 for i in range(100)])
        for r in c.rows:
            self.assertGreaterEqual(r.start, r.intended)

    def test_wrong_keys(self):
        r = self.s3load("put", *SMALL, status=1, env={"S3LOAD_SECRET_KEY": "wrong"})
        self.assertIn("HTTP 403", r.err)
        self.assertNotIn("wrong", r.err)

    def test_foreign_objects(self):
        """A bucket with data of others is refused and untouched."""
        self.load("put", "--noclear", *SMALL[:-1], "5")
        n_ours = self.keys()
        for i in range(3):
            S3Client(self.server).put("s3load-benchmark-bucket", f"theirs/{i}")
        n = n_ours + 3
        r = self.s3load("put", *SMALL, status=1)
        self.assertIn("3 objects of others", r.err)
        self.assertIn("--prefix", r.err)
        self.assertEqual(self.keys(), n)
        # Beside them, where that is meant.
        _, c = self.load("get", "--objects", "4", "--prefix", "ours/", *SMALL)
        self.assertEqual(self.keys(), n)
        # Runs of s3load are no others.
        r = self.s3load("put", "--clear-bucket", *SMALL, status=1)
        self.assertIn("--yes", r.err)
        self.load("put", "--clear-bucket", "--yes", *SMALL)
        self.assertEqual(self.keys(), 0)
        self.load("put", "--noclear", *SMALL)
        self.load("put", *SMALL)

    def test_odd_keys(self):
        """Keys with all that must be encoded, by way of --prefix."""
        odd = ["with space/", "plus+percent%25/", "ümläut-日本/", "q?a=b&c#d/", "a'b\"(c)*/"]
        if self.server.holds_odd_keys:
            odd += ["x" * 982 + "/", "control\x01\x1f\t\n\r\x7f/"]
        short = (*SMALL[:-1], "20")
        for prefix in odd:
            with self.subTest(prefix=prefix[:20]):
                # versitygw removes a folder with its last object, while another comes: one request at a time.
                _, c = self.load("mixed", "--objects", "5", "--prefix", prefix, *SMALL, "--concurrent", "1")
                self.assertEqual([r.error for r in c.errors()], [])
                self.assertEqual({len(r.file) for r in c.rows},
                                 {len(prefix.replace("\n", "%0A")) + 41})
                _, c = self.load("list", "--objects", "5", "--prefix", prefix, *SMALL)
                self.assertEqual([r.error for r in c.errors()], [])
                self.assertLessEqual({r.n_objects for r in c.of("LIST")}, {1, 2})
                self.assertEqual(self.keys(), 0)
                self.load("get", "--objects", "4", "--prefix", prefix, "--noclear", *short)
                _, c = self.load("get", "--list-existing", *short)
                self.assertEqual([r.error for r in c.errors()], [])
                # A row is a line.
                self.assertTrue(all(r.file.startswith(prefix.replace("\n", "%0A"))
                                    for r in c.rows))
                self.load("put", "--clear-bucket", "--yes", *short)
                self.assertEqual(self.keys(), 0)

    def test_keys_that_xml_cannot_hold(self):
        """They cannot be deleted in batches; cleaning up deletes them one by one."""
        r = self.s3load("delete", "--prefix", "a\x01/", *SMALL, status=1)
        self.assertIn("XML cannot hold", r.err)

    def test_sizes_of_nothing_and_little(self):
        for size in ("0", "1", "2"):
            _, c = self.load("get", "--objects", "3", "--obj.size", size, "--concurrent", "2",
                             "--verify", "1", "--requests", "10")
            self.assert_clean(c)
            self.assertEqual({r.bytes for r in c.rows}, {int(size)})

    def test_interrupted(self):
        """SIGINT: a complete capture and a clean bucket."""
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            path = self.tmp / f"{sent.name}.csv.zst"
            p = self.begin("put", "--obj.size", "1KiB", "--benchdata", path,
                           preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL))
            self.wait_until(lambda: has_rows(path), p)
            p.send_signal(sent)
            p.communicate(timeout=TIMEOUT_S)
            self.assertEqual(p.returncode, 128 + sent)
            c = Capture(path)
            self.assertEqual(c.end["end"], "signal")
            self.assertEqual(c.end["requests"], len(c.rows))
            self.assertEqual(collections.Counter(bool(r.error) for r in c.rows).keys(), {False})
            self.assertEqual(self.keys(), 0)

    def test_nohup(self):
        """A hangup that is ignored ends nothing."""
        path = self.tmp / "n.csv.zst"
        p = self.begin("put", "--obj.size", "1KiB", "--rate", "100", "--requests", "100", "--benchdata", path,
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_until(lambda: recorded(path), p)
        p.send_signal(signal.SIGHUP)
        p.communicate(timeout=TIMEOUT_S)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(Capture(path).end["end"], "done")


class OnTarget(Suite, LoadTest):
    server_class = Target


class OnVersityGw(Suite, LoadTest):
    server_class = VersityGw


del Suite
