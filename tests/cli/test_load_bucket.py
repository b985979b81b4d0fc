"""Buckets and s3load: what is others' stays as it is, what is ours goes; listings and their ends."""
import contextlib
import http.client
import os
import pathlib
import re
import signal
import threading
import urllib.parse

from harness import BUILD, TIMEOUT_S, on_terminal, wait_until
from loadcase import Capture, LoadTest, apart_from_speed, has_ops, has_rows
from s3client import RUN, S3Client
from servers import Scripted, Target, VersityGw

SHORT = ("--concurrent", "2", "--requests", "40", "--quiet")
SMALL = (*SHORT, "--obj.size", "1KiB")
NAME = "0000/0123456789abcdef"
# States of /proc/net/tcp.
LISTEN, TIME_WAIT = "0A", "06"
COMMANDS = {  # with what makes them short
    **{command: ("--obj.size", "1KiB", "--objects", "8")
       for command in ("get", "delete", "list", "stat", "mixed")},
    "put": ("--obj.size", "1KiB"), "multipart": ("--parts", "2", "--part.size", "5MiB", "--requests", "9"),
}
UPLOAD = ("--parts", "4", "--part.size", "5MiB", "--concurrent", "2")


class Suite:
    maxDiff = 2000

    def setUp(self):
        super().setUp()
        self.start()
        self.client = S3Client(self.server)

    def assert_state(self, bucket, state):
        self.assertEqual(self.client.state(bucket), state)

    def settled(self, bucket):
        """The state of a bucket once the server has ended what a killed run had begun: it has closed all connections."""
        port = f":{int(self.server.ports[0]):04X}"
        wait_until(lambda: not any(line.split()[1].endswith(port) and line.split()[3] not in (LISTEN, TIME_WAIT)
                                   for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]))
        return self.client.state(bucket)

    def killed(self, command, op, *options):
        """Starts a run and kills it once it has rows of `op`; returns its RUNID."""
        path = self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
        p = self.begin(command, "--quiet", "--benchdata", path, *options)
        self.wait_until(lambda: has_rows(path, 9, op), p)
        p.kill()
        _, err = p.communicate()
        self.assertEqual(p.returncode, -signal.SIGKILL, err)
        return Capture(path).start["run_id"]

    def on_terminal(self, *argv):
        """What a run shows on a terminal."""
        status, shown = on_terminal(BUILD / "s3load", *self.argv(*argv), stream="stderr", env=self.environment(),
                                    cwd=self.tmp)
        self.assertEqual(status, 0, shown)
        return shown.decode()

    def test_settings_of_others(self):
        """versioned and retention look before they change, and change nothing of others."""
        state = self.client.make_theirs("theirs")
        for options in ((), ("--prefix", "ours/"), ("--noclear",)):
            r = self.s3load("versioned", "--bucket", "theirs", *options, *SMALL, status=1)
            self.assertIn("--enable-versioning" if options else "objects of others", r.err)
            self.assert_state("theirs", state)
            r = self.s3load("retention", "--bucket", "theirs", *options, *SMALL, status=1)
            self.assert_state("theirs", state)
        # Empty, but someone chose that nothing is versioned any more.
        self.client.make("suspended")
        self.client.versioning("suspended", "Suspended")
        state = self.client.state("suspended")
        r = self.s3load("versioned", "--bucket", "suspended", *SMALL, status=1)
        self.assertIn("suspended", r.err)
        self.assert_state("suspended", state)
        # It is refused for its objects: then nothing is switched on either.
        state = self.client.state("theirs")
        self.s3load("versioned", "--bucket", "theirs", "--enable-versioning", *SMALL, status=1)
        self.assert_state("theirs", state)

    def test_versioning_where_it_is_ours(self):
        versioned = ("versioned", "--objects", "3", "--versions", "2", "--concurrent", "1",
                     "--obj.size", "1KiB", "--requests", "40")
        self.client.make("empty")
        self.load(*versioned, "--bucket", "empty")
        self.load(*versioned, "--bucket", "made-by-us")
        before = self.client.make_theirs("theirs")
        self.load(*versioned, "--bucket", "theirs", "--prefix", "ours/", "--enable-versioning")
        settings, entries, uploads = self.client.state("theirs")
        self.assertIn("Enabled", settings.pop("versioning")[1])
        before[0].pop("versioning")
        self.assertEqual((settings, uploads), (before[0], before[2]))
        self.assertEqual([e[:2] for e in entries], [e[:2] for e in before[1]])
        for bucket in ("empty", "made-by-us"):
            self.assertEqual(self.client.entries(bucket), [])

    def test_all_commands_leave_others_alone(self):
        """Settings, objects, versions, markers and uploads are as before, whatever ran beside."""
        for versioning in (None, "Enabled", "Suspended"):
            bucket = f"v-{versioning}".lower()
            state = self.client.make_theirs(bucket, versioning)
            for command, options in COMMANDS.items():
                with self.subTest(command=command, versioning=versioning):
                    _, c = self.load(command, "--bucket", bucket, "--prefix", "ours/", *SHORT,
                                     *options)
                    self.assertEqual([r.error for r in c.errors()], [])
                    self.assert_state(bucket, state)
            self.s3load("get", "--bucket", bucket, "--list-existing", *SMALL)
            self.assert_state(bucket, state)

    def test_locked_bucket_of_others(self):
        self.client.make("locked", lock=True)
        for key in ("a", "a", "b"):
            self.client.put("locked", key)
        state = self.client.state("locked")
        _, c = self.load("retention", "--bucket", "locked", "--prefix", "ours/", "--objects", "3",
                         "--versions", "2", *SMALL)
        self.assertEqual([r.error for r in c.errors()], [])
        self.assert_state("locked", state)

    def test_clean(self):
        """Killed runs leave objects, versions, markers and uploads: clean deletes them alone."""
        for versioning in (None, "Enabled", "Suspended"):
            bucket = f"v-{versioning}".lower()
            state = self.client.make_theirs(bucket, versioning)
            where = ("--bucket", bucket, "--prefix", "ours/")
            ids = [self.killed("delete", "DELETE", *where, "--batch", "2", "--objects", "99",
                               "--obj.size", "1", "--rate", "20"),
                   self.killed("multipart", "PUTPART", *where, *UPLOAD)]
            left = self.settled(bucket)
            # Mostly an upload is unfinished; a kill between two leaves none.
            self.assertGreaterEqual(len(left[2]), len(state[2]))
            with self.subTest(versioning=versioning):
                # What is young may be at work still.
                for options in ((), ("--dry-run", "--older-than", "0s")):
                    r = self.s3load("clean", *where, *options)
                    for run_id in ids:
                        self.assertRegex(r.out, f"{run_id} .* (kept|to delete)\n")
                        self.assertEqual("kept: " in r.err, not options)
                    self.assertIn(f"s3load: ours/{RUN}/ stays: s3load did not write 'ours/{RUN}/notes' in it", r.err)
                    self.assertIn("(1 object in all); delete that, and s3load clean deletes the rest", r.err)
                    self.assertRegex(r.out, f"{RUN[7:]} .* kept\n")
                    self.assertLessEqual(max(len(line) for line in r.out.split("\n")), 80)
                    self.assert_state(bucket, left)
                r = self.s3load("clean", *where, "--run", ids[0])
                self.assertRegex(r.out, f"{ids[0]} .* deleted\n")
                self.assertNotIn(ids[1], r.out)
                r = self.s3load("clean", *where, "--older-than", "0s")
                self.assertRegex(r.out, f"{ids[1]} .* deleted\n")
                self.assert_state(bucket, state)
                # Without the prefix nothing under it is looked at.
                r = self.s3load("clean", "--bucket", bucket, "--older-than", "0s")
                self.assertEqual(r.out.count("\n"), 2)
                self.assert_state(bucket, state)

    def test_clean_locked(self):
        run_id = self.killed("retention", "RETENTION", "--bucket", "locked", "--objects", "20", "--versions",
                             "2", "--obj.size", "1", "--concurrent", "2")
        self.assertNotEqual(self.settled("locked")[1], [])
        self.s3load("clean", "--bucket", "locked", "--run", run_id)
        self.assertEqual(self.client.entries("locked"), [])

    def test_clean_says_what_is_wrong(self):
        self.client.make("empty")
        r = self.s3load("clean", "--bucket", "empty")
        self.assertIn("holds nothing of s3load", r.out)
        r = self.s3load("clean", "--bucket", "empty", "--run", RUN[7:], status=1)
        self.assertIn("holds nothing of run", r.err)
        r = self.s3load("clean", "--bucket", "no-such-bucket", status=1)
        self.assertIn("cannot list bucket 'no-such-bucket': HTTP 404 NoSuchBucket", r.err)
        for run_id in ("", "abc", "../../../..a", "0123456789ab", "23456789abcd/x"):
            self.s3load("clean", "--bucket", "empty", f"--run={run_id}", status=2)
        self.s3load("clean", "--run", RUN[7:], "--older-than", "1h", status=2)

    def test_leftovers_under_a_prefix(self):
        """They are ours for a run without that prefix, too; a name alone is not enough."""
        few = ("get", "--objects", "2", "--noclear", *SMALL, "--prefix")
        for prefix in ("ours/", "a/b", ""):
            self.load(*few, prefix)
        self.load(*few, "c/", "--noprefix")
        self.assertRegex(self.on_terminal("put", "--obj.size", "1", "--requests", "10"),
                         r"4 other runs of s3load, which this shows: s3load clean --dry-run --prefix (ours/|a/b|c/)\s")
        bucket = "s3load-benchmark-bucket"
        for key in ("s3load-results/x", f"ours/{RUN}/notes", f"{RUN}/0000/0123456789abcdeg"):
            before = self.client.entries(bucket)
            self.client.put(bucket, key)
            if key.startswith(f"{RUN}/"):
                continue  # on top the prefix of a run is one
            r = self.s3load("put", *SMALL, status=1)
            self.assertIn("1 object of others", r.err)
            self.client.delete(bucket, key)
            self.assertEqual(self.client.entries(bucket), before)

    def test_multipart(self):
        """Each request is a row, and none is left open: neither by an end in the middle of an
        upload nor with --noclear."""
        for options in ((), ("--noclear",), ("--rate", "20")):
            state, c = self.load("multipart", *UPLOAD, "--requests", "20", "--quiet", *options)
            self.assertEqual([r.error for r in c.errors()], [])
            ops = c.ops()
            self.assertEqual(ops.keys(), {"INITIATE", "PUTPART", "COMPLETE"})
            # An upload has six.
            self.assertGreater(ops["INITIATE"], ops["COMPLETE"])
            self.assertEqual({r.bytes for r in c.rows if r.op != "PUTPART"}, {0})
            self.assertEqual(state["end"], "done")
            self.assertEqual((state["requests"], len(c.rows)), (20, 20))
            self.assertEqual(self.client.uploads("s3load-benchmark-bucket"), [])
            n_left = sum(kind == "Contents" for kind, _, _
                         in self.client.entries("s3load-benchmark-bucket"))
            self.assertEqual(n_left, ops["COMPLETE"] if options == ("--noclear",) else 0)
            report = self.s3analyze("analyze", c.path, "--json").json()
            # Where there were too few for figures, an operation is named alone.
            self.assertEqual({op["op"] for op in report["operations"]}, ops.keys())
            self.assertLessEqual({op["op"] for op in report["operations"] if op.get("n_bytes")},
                                 {"PUTPART"})
            if options == ("--noclear",):
                self.s3load("clean", "--older-than", "0s")

    def test_existing(self):
        """--list-existing leaves no file where nothing exists, and takes all with --objects 0."""
        self.client.make("empty")
        for command in ("get", "stat", "list"):
            r = self.s3load(command, "--list-existing", "--bucket", "empty", *SMALL, status=1)
            self.assertIn("holds no object", r.err)
            self.assertEqual(list(self.tmp.glob("*.csv.zst")), [])
            r = self.s3load(command, "--objects", "0", "--bucket", "empty", *SMALL, status=2)
            self.assertIn("--list-existing", r.err)
        for i in range(5):
            self.client.put("empty", f"k{i}")
        for n, want in (("0", 5), ("3", 3)):
            # 400 requests miss none of five.
            _, c = self.load("get", "--list-existing", "--objects", n, "--bucket", "empty", "--quiet", "--requests", "400")
            self.assertEqual(len({r.file for r in c.rows}), want)


class OnTarget(Suite, LoadTest):
    server_class = Target

    def test_bucket_of_a_tenant(self):
        """The colon is signed and sent as %3A, as other clients do."""
        _, c = self.load("put", "--bucket", "tenant:bucket", *SMALL)
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertEqual({line["bucket"] for line in self.server.log()}, {"tenant%3Abucket"})  # the log escapes it

    def test_batches_refused(self):
        """Then objects are deleted one by one; a benchmark of it says --batch 1."""
        self.start("--refuse-batches")
        self.client = S3Client(self.server)
        state = self.client.make_theirs("theirs", "Enabled")
        self.load("mixed", "--objects", "30", "--bucket", "theirs", "--prefix", "ours/", *SMALL)
        self.assert_state("theirs", state)
        self.load("delete", "--objects", "30", *SMALL, status=1)
        self.assertEqual(self.client.entries("s3load-benchmark-bucket"), [])
        _, c = self.load("delete", "--objects", "30", "--batch", "1", "--prefix", "a\x01/",
                         *SMALL)
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertEqual(c.ops()["DELETE"], 30)
        self.assertEqual(self.client.entries("s3load-benchmark-bucket"), [])

    def test_unfinished_uploads(self):
        """Uploads whose begin or end was answered badly are aborted too."""
        self.start("--fault", "op=INITIATE,reset=0.3", "--fault", "op=COMPLETE,fail=503:0.3",
                   "--fault", "op=ABORT,fail=500:0.02", "--fault", "op=PUTPART,fail=503:0.05")
        self.client = S3Client(self.server)
        for options in ((), ("--noclear",)):
            self.load_until(lambda path: has_ops(path, "ABORT") and len(Capture(path).errors()) > 3, "multipart",
                            "--parts", "3", "--part.size", "1KiB", "--concurrent", "2", "--quiet", *options)
            self.assertEqual(self.client.uploads("s3load-benchmark-bucket"), [])

    def test_names_that_a_terminal_would_obey(self):
        """What is shown of a bucket has no control characters, and quotes as a shell takes them."""
        self.load("get", "--objects", "2", "--noclear", *SMALL, "--prefix", "it's\x1b[31m/")
        shown = self.on_terminal("put", "--obj.size", "1", "--requests", "10")
        self.assertIn(r"--prefix 'it'\''s\x1b[31m/'", shown)
        self.assertNotIn("\x1b[31m", shown)

    def test_max_keys(self):
        _, c = self.load("list", "--objects", "50", "--noprefix", "--max-keys", "7", *SMALL)
        self.assertEqual({r.n_objects for r in c.of("LIST")}, {50})
        pages = [line for line in self.server.log() if line["op"] == "LIST"
                 and line["user_agent"].count("/") == 3]
        self.assertEqual(len(pages), 8 * len(c.of("LIST")))
        self.assertEqual({line["n_objects"] for line in pages}, {"7", "1"})

    def test_clean_names_all_that_failed(self):
        """An error of one does not hide that of the other."""
        self.start("--fault", "op=DELETE,fail=500:1", "--fault", "op=LISTUPLOADS,fail=500:1")
        client = S3Client(self.server)
        client.make("bucket")
        client.put("bucket", f"{RUN}/{NAME}")
        r = self.s3load("clean", "--bucket", "bucket", "--older-than", "0s", "--give-up-after", "1ms", status=1)
        self.assertEqual(r.err.count(f"objects under {RUN}/ are left"), 1, r.err)
        self.assertEqual(r.err.count("unfinished uploads are left, if there are any"), 1, r.err)


class OnVersityGw(Suite, LoadTest):
    server_class = VersityGw


del Suite


class Uploads(LoadTest):
    """A server as MinIO, which lists uploads of the object that a prefix names."""

    def setUp(self):
        super().setUp()
        self.uploads = set()  # (key, id)
        self.n_begun = 0
        self.lock = threading.Lock()
        self.server = Scripted(self.answer)
        self.addCleanup(self.server.stop)

    def answer(self, request):
        key, _, query = request.target.removeprefix("/s3load-benchmark-bucket").partition("?")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        key = urllib.parse.unquote(key.lstrip("/"))
        with self.lock:
            return self.answer_locked(request.method, key, query)

    def answer_locked(self, method, key, query):
        if method == "PUT":
            return 200, b"", {"ETag": "e"}
        if "uploadId" in query:
            if (key, query["uploadId"]) not in self.uploads:
                return 404, b""
            self.uploads.remove((key, query["uploadId"]))
            return (204, b"") if method == "DELETE" else (200, b"<CompleteMultipartUploadResult/>")
        if method == "POST":
            self.n_begun += 1
            self.uploads.add((key, f"id-{self.n_begun}"))
            return b"" if self.n_begun % 3 == 0 else (200, (
                f"<InitiateMultipartUploadResult><UploadId>id-{self.n_begun}</UploadId>"
                "</InitiateMultipartUploadResult>").encode())
        if "uploads" in query:
            return 200, ("<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>" + "".join(
                f"<Upload><Key>{k}</Key><UploadId>{i}</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>"
                for k, i in sorted(self.uploads) if query["prefix"] in ("", k)) +
                "</ListMultipartUploadsResult>").encode()
        return 200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"

    def test_prefixes_that_are_names(self):
        """clean finds uploads of runs all the same, and of the run that is asked for alone."""
        theirs = {("dir/upload", "1"), (f"x/{RUN}/{NAME}", "2")}
        ours = [(f"{RUN}/{NAME}", "3"), (f"s3load-bbbbbbbbbbbb/{NAME}", "4")]
        for options, left in (("--run", RUN.removeprefix("s3load-")), ours[1:]), (("--older-than", "0s"), []):
            self.uploads = {*theirs, *ours}
            self.s3load("clean", *options)
            self.assertEqual(self.uploads, {*theirs, *left})

    def test_lost_answers(self):
        """A run aborts uploads that it has begun without learning of it, those of a request that was sent
        twice too, and no others."""
        theirs = {("dir/upload", "1"), (f"{RUN}/{NAME}", "2")}
        self.uploads = set(theirs)
        self.load_until(lambda _: self.n_begun > 9, "multipart", "--parts", "2", "--part.size", "1KiB",
                        "--concurrent", "4")
        self.assertEqual(self.uploads, theirs)


class Pages(LoadTest):
    """A server whose listings have as many pages as `listing` says."""

    def serve(self, page):
        """page(query, k): token and keys of the k-th request for a page, None and none at the end."""
        self.n_pages = 0
        lock = threading.Lock()

        def listing(query):
            with lock:
                self.n_pages += 1
            token, keys = page(query, self.n_pages)
            return "".join([
                "<ListBucketResult>", f"<IsTruncated>{'true' if token else 'false'}</IsTruncated>",
                f"<NextContinuationToken>{token}</NextContinuationToken>" if token else "",
                *(f"<Contents><Key>{key}</Key><Size>10</Size></Contents>" for key in keys),
                "</ListBucketResult>"])

        def answer(request):
            query = dict(urllib.parse.parse_qsl(request.target.partition("?")[2], keep_blank_values=True))
            if "list-type" in query:
                return 200, listing(query).encode()
            return 200, {"GET": b"x" * 10, "POST": b"<DeleteResult></DeleteResult>"}.get(request.method, b"")

        server = Scripted(answer)
        self.addCleanup(server.stop)
        return server.hosts

    def test_existing_stops(self):
        host = self.serve(lambda q, k: (str(k), [f"k{k}-{i}" for i in range(100)]))
        for n, pages in (("3", 1), ("250", 3)):
            self.n_pages = 0
            _, c = self.load("get", "--host", host, "--list-existing", "--objects", n,
                             "--requests", "20", "--quiet")
            self.assertEqual(self.n_pages, pages)
            self.assertLessEqual(len({r.file for r in c.rows}), int(n))

    def test_goes_round(self):
        """A listing that goes round is an error, wherever one is read: by its tokens, one or several
        in turn, and by its keys, whatever its tokens."""
        same = "the listing has the same continuation token twice: it has no end"
        for page, why in ((lambda q, k: ("same", []), same),
                          (lambda q, k: (f"t{k % 2}", []), same),
                          (lambda q, k: (f"t{k % 5}", []), same),
                          (lambda q, k: (str(k), []), "100 pages of the listing in a row are empty: it has no end"),
                          (lambda q, k: (f"t{k % 2}", [q["prefix"] + "xy"[k % 2]]), "a page of the listing goes back to '"),
                          (lambda q, k: (str(k), [q["prefix"] + "x"]), "a page of the listing goes back to '")):
            host = self.serve(page)
            r = self.s3load("get", "--host", host, "--list-existing", *SMALL, status=1)
            self.assertIn(why, r.err)
            r = self.s3load("clean", "--host", host, status=1)
            self.assertIn(why, r.err)
            _, c = self.load("list", "--host", host, "--objects", "2", "--noclear", *SMALL, "--concurrent", "1",
                             "--requests", "2", status=1)
            self.assertTrue(c.of("LIST"))
            self.assertTrue(all(r.error.startswith(why) for r in c.of("LIST")), c.of("LIST")[0].error)

    def test_listed_twice(self):
        """A key that is there twice does not make up for one that is missing."""
        host = self.serve(lambda q, k: ("", [q["prefix"] + "x"] * 2))
        _, c = self.load("list", "--host", host, "--objects", "2", "--noclear", "--concurrent", "1", *SMALL,
                         status=1)
        self.assertTrue(c.of("LIST"))
        self.assertTrue(all(re.fullmatch("the server lists '.*' twice", r.error) for r in c.of("LIST")))

    def test_one_deadline(self):
        """A listing without an end fails at --request-timeout, however fast its pages come."""
        host = self.serve(lambda q, k: (str(k), [f"{q['prefix']}{k:09}"]))
        clock, move = self.movable_clock()
        path = self.tmp / "endless.csv.zst"
        p = self.begin("list", "--host", host, "--objects", "2", "--noclear", *SMALL, "--requests", "2", "--benchdata", path,
                       "--request-timeout", "1h", env=clock)
        self.wait_until(lambda: self.n_pages > 20, p)
        while p.poll() is None:
            move(3600)
            n = self.n_pages
            self.wait_until(lambda: self.n_pages > n + 20, p)
        p.communicate()
        self.assertEqual(p.returncode, 1)
        self.assertEqual([r.error for r in Capture(path).of("LIST")], 2 * ["timeout: no complete answer within 3600 s"])

    def test_interrupted(self):
        """A signal ends a listing with its page: one that is measured, and one that prepares."""
        host = self.serve(lambda q, k: (str(k), [f"{q['prefix']}{k:09}"]))
        for options in (("list", "--objects", "2", "--noclear", "--concurrent", "2"),
                        ("get", "--list-existing")):
            path = self.tmp / f"{options[0]}.csv.zst"
            self.n_pages = 0
            p = self.begin(*options, "--host", host, "--benchdata", path, "--quiet")
            self.wait_until(lambda: self.n_pages >= 20, p)
            p.send_signal(signal.SIGTERM)
            p.communicate(timeout=TIMEOUT_S)
            self.assertEqual(p.returncode, 128 + signal.SIGTERM)
            if options[0] == "list":
                self.assertEqual({r.error for r in Capture(path).of("LIST")},
                                 {"interrupted after a page of the listing"})


class Between(LoadTest):
    """A server stands before the target: of what it is asked, `amiss(request)` answers some; `change` is made to
    the bodies of the others."""
    EVERY = ("clean", "--older-than", "0s")
    DENIED = 403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    VERSIONING = r"GET .*\?versioning"
    VERSIONS = r"GET .*[?&]versions"
    UPLOADS = r"GET .*[?&]uploads"

    def setUp(self):
        super().setUp()
        self.start()
        self.client = S3Client(self.server)
        self.before = Scripted(self.answer)
        self.addCleanup(self.before.stop)
        self.rules = {}
        self.passes = ["etag", "x-amz-version-id"]
        self.change = lambda body: body

    def answer(self, request):
        for pattern, answer in self.rules.items():
            if re.match(pattern, f"{request.method} {request.target}"):
                answer = answer() if callable(answer) else answer
                if answer is not None:
                    return answer
        connection = http.client.HTTPConnection(self.server.hosts)
        with contextlib.closing(connection):
            connection.request(request.method, request.target, request.body, request.headers)
            r = connection.getresponse()
            return r.status, self.change(r.read()), {
                k: v for k, v in r.getheaders() if k.lower() in self.passes}

    def through(self, command, *options, **kwargs):
        return self.s3load(command, "--host", self.before.hosts, "--bucket", "bucket", *options, **kwargs)

    def leave(self, *options):
        """What a run leaves in a bucket."""
        self.load("get", "--objects", "3", "--noclear", "--bucket", "bucket", *SMALL, *options)
        left = self.client.entries("bucket")
        self.assertEqual(len(left), 6 if left[-1][0] == "Version" else 3)
        return left

    def versioned_bucket(self, status):
        self.client.make("bucket")
        self.client.versioning("bucket", status)

    def test_long_listing_is_deleted_by_thousands(self):
        """A page of others' objects makes s3load read all pages before it deletes."""
        def first_page_of_others(body):
            if body.count(b"<Key>") == 1000:
                self.change = lambda body: body
                return re.sub(rb"/(\w+)</Key>", rb"/!\1</Key>", body)
            return body
        self.change = first_page_of_others
        r = self.through("put", "--obj.size", "1", "--requests", "1100", "--concurrent", "1", "--duration", "1h", "--quiet")
        self.assertEqual(apart_from_speed(r.err), "")
        self.assertEqual([(line["status"], line["key"]) for line in self.server.log() if line["op"] == "DELETE"], [("200", "")] * 2)

    def test_versioning_cannot_be_read(self):
        """Then versions are listed, and nothing is taken for unversioned: by clean, after a run and when a bucket
        is emptied."""
        self.versioned_bucket("Enabled")
        for status in ("Enabled", "Suspended"):
            self.client.versioning("bucket", status)
            for answer in (self.DENIED, (200, b"<What/>"), (501, b"")):
                self.rules = {self.VERSIONING: answer}
                self.leave()
                self.assertIn("deleted", self.through(*self.EVERY).out)
                self.assertEqual(self.client.entries("bucket"), [])
                self.through("put", *SMALL)
                self.assertEqual(self.client.entries("bucket"), [])
                self.leave()
                self.through("put", "--clear-bucket", "--yes", *SMALL)
                self.assertEqual(self.client.entries("bucket"), [])

    def test_versions_cannot_be_listed_either(self):
        self.versioned_bucket("Enabled")
        self.rules = {self.VERSIONING: self.DENIED, self.VERSIONS: self.DENIED}
        left = self.leave()
        for command in (self.EVERY, ("put", "--clear-bucket", "--yes", *SMALL)):
            r = self.through(*command, status=1)
            self.assertIn("does not say whether it keeps versions (HTTP 403 AccessDenied: no), and these cannot be", r.err)
            self.assertNotIn("deleted", r.out)
            self.assertEqual(self.client.entries("bucket"), left)
        r = self.through("put", "--prefix", "a/", *SMALL, status=1)
        self.assertIn("may be left under a/", r.err)
        self.assertEqual({kind for kind, _, _ in self.client.entries("bucket")}, {"Contents", "Version"})
        # Many servers tell no upload that versions are suspended: what can be seen goes, and no one is told that
        # all did.
        self.passes.remove("x-amz-version-id")
        self.client.versioning("bucket", "Suspended")
        r = self.through("put", "--prefix", "b/", *SMALL, status=1)
        self.assertIn("may be left under b/", r.err)
        self.assertEqual([e for e in self.client.entries("bucket") if e[0] == "Contents" and e[1].startswith("b/")], [])

    def test_servers_without_versions(self):
        self.client.make("bucket")
        objects = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        for first, second in (((501, b""), (501, b"")), ((200, objects), (405, b"")), ((200, objects), (200, objects))):
            self.rules = {self.VERSIONING: first, self.VERSIONS: second}
            self.leave()
            self.through(*self.EVERY)
            self.through("put", *SMALL)
            self.assertEqual(self.client.entries("bucket"), [])

    def test_folders(self):
        """Stores on file systems list folders, ours too."""
        self.client.make("bucket")
        key = self.leave()[0][1]
        for folder in (key[:20], key[:25]):
            self.client.put("bucket", folder, b"")
        self.through(*self.EVERY)
        self.assertEqual(self.client.entries("bucket"), [])

    def test_uploads_cannot_be_listed(self):
        """All else is deleted, and what was not looked for is said."""
        self.client.make("bucket")
        objects = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        for answer, says in (((200, objects), "another document than asked for: <ListBucketResult>"),
                             (self.DENIED, "HTTP 403 AccessDenied: no")):
            self.rules = {self.UPLOADS: answer}
            self.leave()
            r = self.through(*self.EVERY, status=1)
            self.assertRegex(r.err, f"unfinished uploads are left, if there are any: .*{says}")
            self.assertIn("deleted", r.out)
            self.assertEqual(self.client.entries("bucket"), [])
            r = self.through("multipart", *UPLOAD, "--requests", "8", "--quiet", status=1)
            self.assertIn(says, r.err)
            self.assertEqual(self.client.entries("bucket"), [])
        for answer, says in (((404, b"<Error><Code>NoSuchUpload</Code></Error>"), ""),
                             ((501, b""), "does not list unfinished uploads (HTTP 501)"),
                             ((405, b""), "does not list unfinished uploads (HTTP 405)")):
            self.rules = {self.UPLOADS: answer}
            self.leave()
            err = self.through(*self.EVERY).err
            self.assertIn(says, err)
            self.assertEqual(err == "", says == "")
            self.assertEqual(self.client.entries("bucket"), [])

    def test_roots_of_other_names(self):
        """Fields tell what an answer is. That of a deletion may have none."""
        self.change = self.rename
        self.versioned_bucket("Enabled")
        for command, options in (*COMMANDS.items(), ("versioned", ("--objects", "8", "--obj.size", "1KiB"))):
            capture = self.tmp / f"{command}.csv.zst"
            self.through(command, *SHORT, *options, "--benchdata", capture)
            self.assertEqual([(r.op, r.error) for r in Capture(capture).rows if r.error], [], command)
            self.assertEqual(self.client.entries("bucket"), [], command)
        self.leave()
        self.through(*self.EVERY)
        self.assertEqual(self.client.entries("bucket"), [])

    @staticmethod
    def rename(body):
        root = re.match(rb"(?:<\?xml[^>]*>)?\s*<([A-Z]\w{5,})", body)  # no object of random bytes begins so
        if not root or root.group(1) in (b"Error", b"DeleteResult"):
            return body
        return re.sub(rb"<(/?)%s\b" % root.group(1), rb"<\1Root", body)

    def test_one_answer_amiss(self):
        """While a bucket is looked at, made and set up, each request is tried again."""
        cut = b"HTTP/1.1 200 X\r\nContent-Length: 500\r\n\r\n<List"
        slow = 503, b"<Error><Code>SlowDown</Code><Message>later</Message></Error>"
        for n, answer in enumerate((slow, (500, b""), (429, b""), b"", cut)):
            asked = set()

            def once(rule, answer=answer, asked=asked):
                first = rule not in asked
                asked.add(rule)
                # A HEAD has no body that could be cut.
                return (b"" if answer is cut and rule.startswith("HEAD") else answer) if first else None

            self.rules = {rule: lambda rule=rule: once(rule) for rule in (
                "HEAD /[^/]*$", "PUT /[^/]*$", "GET .*list-type", self.VERSIONING, self.VERSIONS, self.UPLOADS)}
            where = ("--bucket", f"bucket-{n}", "--host", self.before.hosts)
            _, c = self.load("versioned", *where, "--objects", "4", *SMALL)
            self.assertEqual([r.error for r in c.errors()], [])
            self.assertEqual(self.client.entries(f"bucket-{n}"), [])
            asked.clear()
            self.s3load("clean", *where)
            self.assertLessEqual({self.VERSIONING, self.VERSIONS, self.UPLOADS}, asked)

    def test_first_cause(self):
        """A server that stays overloaded is named for that, whatever it says later."""
        self.rules = {"HEAD": (503, b""), "GET": (404, b"<Error><Code>NoSuchBucket</Code></Error>")}
        r = self.through("put", *SMALL, "--give-up-after", "300ms", status=1)
        self.assertRegex(r.err, "cannot use bucket 'bucket': HTTP 503.* 404 NoSuchBucket")
        answers = iter([(503, b"<Error><Code>SlowDown</Code></Error>")])
        self.rules = {r"PUT /[^/]*$": lambda: next(answers, self.DENIED)}
        r = self.through("put", *SMALL, status=1)
        self.assertIn("cannot make bucket 'bucket': HTTP 503 SlowDown; tried again: HTTP 403 AccessDenied: no", r.err)
