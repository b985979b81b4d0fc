"""s3load when the server fails or goes away, and when the run is to end: what is lost, what is said."""
import collections
import hashlib
import itertools
import os
import re
import resource
import signal
import socket
import struct
import threading
import time

from harness import TIMEOUT_S
from loadcase import Capture, LoadTest, apart_from_speed, has_rows, n_hosts, recorded
from s3client import S3Client
from servers import VersityGw, free_port, key_of, prefix_of

MS = 10**6
S = 10**9
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>later</Message></Error>"


class Scripted:
    """An S3 server of which a test says what it does: answer(method, target, body) returns a status and
    a body; further elements are header lines, and CLOSE: the connection is closed after it. CLOSE or RESET
    alone end it without an answer, bytes are sent as they are before it is closed. Where the test answers nothing, it is
    a bucket that takes everything."""
    CLOSE, RESET = "close", "reset"

    def __init__(self, answer=lambda method, target, body: None, n_connections=None, port=0, keys=None):
        self.answer = answer
        self.connections = []
        self.keys = set() if keys is None else keys
        self.listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.ports = [self.listener.getsockname()[1]]
        self.hosts = f"127.0.0.1:{self.ports[0]}"
        self.n_connections = n_connections
        self.n_live = 0
        self.live = threading.Condition()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            with self.live:
                self.n_live += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
            if self.n_live == self.n_connections:
                self.listener.close()  # further ones are refused, until one of these ends
                with self.live:
                    self.live.wait_for(lambda: self.n_live < self.n_connections)
                self.listener = socket.create_server(("127.0.0.1", self.ports[0]), backlog=512)

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as f:
                while self.one(connection, f):
                    pass
        except (OSError, ValueError):
            pass  # the client has gone
        with self.live:
            self.n_live -= 1
            self.live.notify()

    def one(self, connection, f):
        line = f.readline().decode()
        if not line:
            return False
        method, target, _ = line.split(" ")
        n, digest = 0, "UNSIGNED-PAYLOAD"
        while (header := f.readline()) not in (b"\r\n", b""):
            if header.lower().startswith(b"content-length:"):
                n = int(header.split(b":")[1])
            elif header.lower().startswith(b"x-amz-content-sha256:"):
                digest = header.split()[1].decode()
        body = f.read(n)
        said = self.answer(method, target, body) or self.usual(method, target, body)
        if len(body) == n and digest not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
            said = 400, b"<Error><Code>XAmzContentSHA256Mismatch</Code></Error>"
        if method == "PUT" and isinstance(said, tuple) and said[0] == 200 and key_of(target):
            self.keys.add(key_of(target))
        if said is Scripted.RESET:  # which is what closing at once sends
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif isinstance(said, bytes):
            connection.sendall(said)
        if not isinstance(said, tuple):
            return False
        status, text = said[:2]
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(text)}", *(h for h in said[2:] if ":" in h)]
        head = "\r\n".join([*lines, "", ""]).encode()
        connection.sendall(head + (b"" if method == "HEAD" else text))
        return Scripted.CLOSE not in said[2:]

    def usual(self, method, target, body):
        if method == "GET" and "list-type" in target:
            return listing(sorted(k for k in list(self.keys) if k.startswith(prefix_of(target)))[:1000])
        if method == "POST":
            self.keys.difference_update(re.findall("<Key>(.*?)</Key>", body.decode()))
            return 200, b"<DeleteResult></DeleteResult>"
        if method == "DELETE" and "versionId" not in target:  # other versions of it may stay
            self.keys.discard(key_of(target))
        if method == "HEAD" and key_of(target) and key_of(target) not in self.keys:
            return 404, b""
        return 200, b"x" * 1024 if method in ("GET", "HEAD") and target.count("/") > 1 else b""

    def stop(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed
        self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed


def listing(keys):
    return 200, ("<ListBucketResult><IsTruncated>false</IsTruncated>" + "".join(
        f"<Contents><Key>{k}</Key><Size>1</Size></Contents>" for k in keys) + "</ListBucketResult>").encode()


def one_object(target):
    """A listing of one object below the prefix asked for; of the whole bucket it is empty."""
    prefix = prefix_of(target)
    return listing([f"{prefix}0123456789abcdef"] if prefix else [])


class Runs(LoadTest):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()

    def begin(self, command, *options, **kwargs):
        """finish() waits for it."""
        path = self.tmp / f"{next(self.numbers)}.csv.zst"
        size = () if command == "multipart" else ("--obj.size", "1KiB")
        p = super().begin(command, "--benchdata", path, *size, *options, **kwargs)
        p.path = path
        return p

    def finish(self, p):
        """Status, capture and standard error; a hang is a failure."""
        out, err = p.communicate(timeout=TIMEOUT_S)
        p.out = out.decode()
        return p.returncode, Capture(p.path), err.decode()


class Outages(Runs):
    def serve(self, *args, **kwargs):
        self.server = Scripted(*args, **kwargs)
        self.addCleanup(self.server.stop)
        return self.server

    # ---- Cleaning after the capture is closed

    def cannot_delete(self, method, target, body):
        if method == "GET" and "list-type" in target:
            return one_object(target)
        if method in ("POST", "DELETE"):
            worker = re.search(rb"/([0-9a-f]{4})/[0-9a-f]{16}", body or target.encode())
            # not decisive: answers come at different times
            time.sleep(0.05 * int(worker.group(1), 16) if worker else 0)
        if method in ("POST", "DELETE"):
            return 403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"

    def test_failing_cleaning_ends(self):
        """What fails in cleaning makes no rows: their writer has ended. Nor does autoterm wait for it.
        After some 13 s of either all loops would sleep."""
        self.serve(self.cannot_delete)
        runs = [self.begin("put", "--concurrent", "280", "--requests", "560", *own)
                for own in ([], ["--autoterm"])]
        for p in runs:
            status, c, err = self.finish(p)
            self.assertEqual(status, 1)
            self.assertRegex(err, "objects of this run may be left under .*AccessDenied")
            self.assertEqual({r.op for r in c.rows}, {"PUT"})
            self.assertEqual(c.end["requests"], len(c.rows))

    def batches(self, refuses, code):
        """Uploads, and answers each batch with this code for the keys that refuses(key) names, deletes the others. Lists
        three keys a page."""
        def answer(method, target, body):
            if method == "GET" and "list-type" in target:
                keys = sorted(k for k in list(self.server.keys) if k.startswith(prefix_of(target)))
                return listing(keys[:3])
            if method == "POST":
                keys = re.findall("<Key>(.*?)</Key>", body.decode())
                failed = [k for k in keys if refuses(k)]
                self.server.keys.difference_update(set(keys) - set(failed))
                return 200, ("<DeleteResult>" + "".join(f"<Error><Key>{k}</Key><Code>{code}</Code></Error>" for k in failed) +
                             "</DeleteResult>").encode()
        self.serve(answer)
        p = self.begin("put", "--concurrent", "2", "--requests", "40", "--quiet")
        status, _, err = self.finish(p)
        return status, apart_from_speed(err)

    def test_keys_that_are_refused_in_a_batch(self):
        """A busy server gets them again, whatever the status of its answer; what is forbidden does not stop the others."""
        for code in "SlowDown", "InternalError", "ServiceUnavailable":
            seen = collections.Counter()
            for refuses in (lambda k: seen.update([k]) or seen[k] < 3), (lambda k: seen.update("n") or seen["n"] < 9):
                with self.subTest(code):
                    self.assertEqual(self.batches(refuses, code), (0, ""))
                    self.assertEqual(self.server.keys, set())
        locked = {}
        status, err = self.batches(lambda k: k == locked.setdefault("first", k), "AccessDenied")
        self.assertEqual((status, self.server.keys), (1, set(locked.values())))
        self.assertRegex(err, r"may be left under .*\(1 of 1 objects were not deleted: AccessDenied\)")

    # ---- Signals

    def hangs(self, from_method):
        """A server that stops answering with the first request of this method after self.hung is set. It lists one object
        below each prefix."""
        self.hung, self.over, self.unanswered = threading.Event(), threading.Event(), []
        self.addCleanup(self.over.set)

        def answer(method, target, body):
            if self.hung.is_set() and (self.unanswered or method == from_method):
                self.unanswered.append(method)
                self.over.wait(TIMEOUT_S)
                return Scripted.CLOSE
            return one_object(target) if method == "GET" and "list-type" in target and self.hung.is_set() else None
        return self.serve(answer)

    def test_signal_while_the_server_hangs(self):
        self.hangs("PUT")
        clock, move = self.movable_clock()
        p = self.begin("put", "--concurrent", "2", "--duration", "9h", "--request-timeout", "1h", env=clock)
        self.wait_until(lambda: has_rows(p.path), p)
        self.hung.set()
        self.wait_until(lambda: len(self.unanswered) == 2, p)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.stderr.readline().decode(),
                         "s3load: waiting for requests in flight, up to 1h (--request-timeout): a second Ctrl-C ends them\n")
        move(3600)
        self.wait_until(lambda: len(self.unanswered) == 3, p)
        move(3600)
        status, c, err = self.finish(p)
        self.assertEqual((status, len(c.errors())), (128 + signal.SIGINT, 2))
        self.assertRegex(err, "may be left under .*no server answers a request for bucket .*timeout.*\nTo delete them.* s3load clean --run")
        # The first request of the cleaning ends it.
        self.assertEqual(self.unanswered, ["PUT", "PUT", "GET"])

    def test_server_hangs_while_cleaning(self):
        """One that fails otherwise is tried again for --give-up-after."""
        self.hangs("POST")
        clock, move = self.movable_clock()
        p = self.begin("put", "--concurrent", "2", "--requests", "2", "--request-timeout", "1h", env=clock)
        self.hung.set()
        n = 0
        while p.poll() is None:
            self.wait_until(lambda: len(self.unanswered) > n, p)
            n = len(self.unanswered)
            move(3600)
        status, _, err = self.finish(p)
        self.assertEqual(status, 1)
        self.assertRegex(err, "may be left under .*timeout: no complete answer within 3600 s")
        self.assertIn("POST", self.unanswered)
        # Each worker sends one. The worker that sent the first POST may send one more: if the other worker got an answer after
        # that POST began, its timeout does not show that the server hangs.
        self.assertLessEqual(len(self.unanswered), 3)

    def slow_cleaning(self, method, target, body):
        if method == "POST":
            self.deleting.set()
            self.deleted.wait(TIMEOUT_S)

    def begin_cleaning(self, *options):
        self.deleting, self.deleted = threading.Event(), threading.Event()
        self.addCleanup(self.deleted.set)
        self.serve(self.slow_cleaning)
        p = self.begin("put", "--concurrent", "2", "--requests", "10", *options)
        self.assertTrue(self.deleting.wait(TIMEOUT_S))
        return p

    def test_report_before_cleaning(self):
        p = self.begin_cleaning()
        # Standard output is read while the cleaning still waits.
        self.assertRegex(p.stdout.readline().decode(), "^put: .* requests")
        self.deleted.set()
        self.assertEqual(self.finish(p)[0], 0)

    def test_first_signal_lets_cleaning_finish(self):
        p = self.begin_cleaning()
        p.send_signal(signal.SIGINT)
        said = p.stderr.readline().decode()
        self.assertIn("objects are being deleted", said)
        self.deleted.set()
        status, _, err = self.finish(p)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertEqual(err, "")

    def test_signals_within_a_second_are_one(self):
        """As launchers send them; one later ends the cleaning, and says so. They come while the process is stopped, so
        that no time is between them for it. It speaks a second after them."""
        p = self.begin_cleaning()
        for sent in signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT:
            p.send_signal(sent)
        self.assertIn("objects are being deleted", p.stderr.readline().decode())
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGTERM)
        status, _, err = self.finish(p)
        self.assertIn(status, (128 + signal.SIGTERM, 128 + signal.SIGINT))
        self.assertRegex(err, "may be left under .*interrupted")

    def test_ended_in_preparation(self):
        """Uploads of a mix make no rows: who finds none learns why."""
        for sent in signal.SIGKILL, signal.SIGINT:
            self.serve()
            p = self.begin("mixed", "--concurrent", "2", "--objects", "1000000000")
            self.wait_until(lambda: recorded(p.path), p)
            p.send_signal(sent)
            p.communicate(timeout=TIMEOUT_S)
            r = self.check_run("s3analyze", "analyze", p.path, status=1)
            self.assertEqual(r.err, f"s3analyze: {p.path}: no requests: s3load was ended before it recorded one; mixed and "
                                    "versioned do not record their preparation\n")

    def test_third_signal_always_ends(self):
        """Whatever the process waits for: here, its report to be read."""
        self.serve()
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        try:
            while os.write(write, b"x" * 65536):
                pass
        except BlockingIOError:
            os.set_blocking(write, True)
        reporting = self.tmp / "reporting"
        clock, move = self.movable_clock("#include <fcntl.h>\n#include <stdio.h>\n"
                                         "int fflush(FILE *f) {\n"
                                         f"    if (f == stdout) close(open(\"{reporting}\", O_WRONLY | O_CREAT, 0600));\n"
                                         "    return ((int (*)(FILE *))dlsym(RTLD_NEXT, \"fflush\"))(f);\n}\n")
        p = LoadTest.begin(self, "put", "--requests", "1", "--stress", stdout=write, stderr=None, env=clock)
        os.close(write)
        self.wait_until(reporting.exists, p)
        for _ in range(3):
            self.assertIsNone(p.poll())
            self.send_signal(p, signal.SIGTERM)
            move(2)
        self.assertEqual(p.wait(TIMEOUT_S), 128 + signal.SIGTERM)

    # ---- Servers that go away

    def assert_tried_slowly(self, capture, tries, n_first):
        """One worker at a time tries again, each 100 ms; at first each of so many has tried."""
        self.assertLessEqual(len(tries), n_first + 1 + capture.end["bench_ns"] // (S // 10))

    def test_connection_limit(self):
        """A server that takes four connections is not down while it serves them, however slowly."""
        def slow(method, target, body):
            if method == "PUT":
                time.sleep(0.7)  # not decisive: longer than it takes to give up

        def has_served(path):
            c = recorded(path)
            return c is not None and c.errors() and len(c.rows) - len(c.errors()) > 8
        self.serve(slow, n_connections=5)  # one is s3load's own
        p = self.begin("put", "--concurrent", "16", "--duration", "1h", "--give-up-after", "300ms")
        self.wait_until(lambda: has_served(p.path), p)
        p.send_signal(signal.SIGINT)
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["end"]), (128 + signal.SIGINT, "signal"), err)
        failed = c.errors()
        self.assertTrue(all("onnect" in r.error for r in failed), failed[0].error)
        # Each success may let another worker try at once.
        self.assert_tried_slowly(c, failed, 16 + len(c.rows) - len(failed))

    def test_restarted_server(self):
        """Away for some tries, and then again while its objects are deleted: the run goes on and ends clean. Workers that
        waited for the server send their own bodies."""
        def answer(method, target, body):
            if method == "POST" and not self.again.is_set():
                self.again.set()
                return Scripted.CLOSE

        self.again = threading.Event()
        first = self.serve(answer, port=free_port())
        connects = self.tmp / "connects"
        env = self.preload(
            "#include <fcntl.h>\n#include <unistd.h>\n"
            "int connect(int fd, const struct sockaddr *a, socklen_t size) {\n"
            f"    int log = open(\"{connects}\", O_WRONLY | O_CREAT | O_APPEND, 0600);\n"
            "    if (write(log, \".\", 1) != 1) return -1;\n"
            "    close(log);\n"
            "    return ((int (*)(int, const struct sockaddr *, socklen_t))"
            "dlsym(RTLD_NEXT, \"connect\"))(fd, a, size);\n}\n")
        p = self.begin("put", "--concurrent", "4", "--duration", "1h", "--rate", "200", "--obj.size", "1KiB",
                       "--json", env=env)
        self.wait_until(lambda: has_rows(p.path), p)
        first.stop()
        down_ns = time.time_ns()
        self.wait_until(lambda: sum(down_ns < r.start for r in recorded(p.path).errors()) >= 10, p)
        up_ns = time.time_ns()
        second = Scripted(answer, port=first.ports[0], keys=first.keys)
        self.wait_until(lambda: any(not r.error and up_ns < r.end for r in recorded(p.path).rows), p)
        p.send_signal(signal.SIGINT)
        self.assertTrue(self.again.wait(TIMEOUT_S))
        second.stop()
        n_connects = connects.stat().st_size
        self.wait_until(lambda: connects.stat().st_size >= n_connects + 3, p)
        third = Scripted(answer, port=first.ports[0], keys=first.keys)
        self.addCleanup(third.stop)
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["error"]), (128 + signal.SIGINT, None), err)
        self.assertEqual(first.keys, set())
        self.assertEqual([r.error for r in c.errors() if "SHA256Mismatch" in r.error], [])
        # The pause is seen: a failed try each 100 ms at most, none successful between.
        tries = [r for r in c.errors() if down_ns < r.start and r.end < up_ns]
        self.assertTrue(10 <= len(tries) <= 4 + 1 + (up_ns - down_ns) // (S // 10), len(tries))
        self.assertEqual([r for r in c.rows if not r.error and down_ns < r.start and r.end < up_ns][:3], [])

    def test_give_up(self):
        self.serve()
        p = self.begin("put", "--concurrent", "4", "--duration", "1h", "--give-up-after", "1s")
        self.wait_until(lambda: has_rows(p.path), p)
        self.server.stop()
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["end"]), (1, "error"))
        self.assertRegex(apart_from_speed(err), r"(?s)no host can be connected to, for 1(\.00)?s now \(--give-up-after\): the run ends\n"
                         rf"s3load: objects of this run may be left under s3load-\w+/ in bucket 's3load-benchmark-bucket'\n"
                         rf"To delete them, as far as the server lists them: s3load clean --run \w+ --host {self.server.hosts}\n\Z")

    def test_timeout_while_connecting(self):
        """A request whose time is over while it connects says as much of its host as a refusal."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(listener.close)
        for _ in range(2):  # its queue is full: what connects now waits
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(listener.getsockname())
            self.addCleanup(s.close)
        self.serve()
        port = listener.getsockname()[1]
        hosts = f"{self.server.hosts},127.0.0.1:{port}"
        p = self.begin("put", "--host", hosts, "--concurrent", "4", "--duration", "1h",
                       "--request-timeout", "1s", "--host-select", "roundrobin", "--noclear")
        self.wait_until(lambda: has_rows(p.path, 3, host=f":{port}") and has_rows(p.path, 100, host=self.server.hosts), p)
        p.send_signal(signal.SIGINT)
        status, c, err = self.finish(p)
        self.assertEqual(status, 128 + signal.SIGINT, err)
        self.assert_tried_slowly(c, [r for r in c.errors() if r.endpoint.endswith(f":{port}")], 4)

    # ---- Want of our own

    def test_no_ports(self):
        """EADDRNOTAVAIL and ENOBUFS are ours: no host is down, the connections that stand go on."""
        self.serve()
        for error in ("EADDRNOTAVAIL", "ENOBUFS"):
            env = self.preload(
                "static atomic_int n;\n"
                "int connect(int fd, const struct sockaddr *a, socklen_t size) {\n"
                "    if (a->sa_family == AF_INET && atomic_fetch_add(&n, 1) > 3) {\n"
                f"        errno = {error}; return -1; }}\n"
                "    return ((int (*)(int, const struct sockaddr *, socklen_t))"
                "dlsym(RTLD_NEXT, \"connect\"))(fd, a, size);\n}\n")

            def both(path):
                c = recorded(path)
                return c is not None and len(c.errors()) > 10 and len(c.rows) - len(c.errors()) > 20
            c = self.load_until(both, "put", "--concurrent", "8", "--obj.size", "1", "--give-up-after", "100ms", "--noclear",
                                env=env)
            self.assertEqual(c.end["end"], "signal")
            self.assertTrue(all("this machine" in r.error for r in c.errors()), c.errors()[0].error)
            self.assertLess(len(c.errors()), 100 * (1 + c.end["bench_ns"] / S))

    def test_no_descriptors(self):
        """The connection that was idle for longest is closed for a new one: no request fails."""
        servers = [Scripted() for _ in range(40)]
        for server in servers:
            self.addCleanup(server.stop)
        self.server = servers[0]
        c = self.load_until(lambda path: n_hosts(path) == 40, "put", "--host", ",".join(s.hosts for s in servers),
                            "--concurrent", "4", "--obj.size", "1",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (36, 36)))
        self.assertEqual(c.errors(), [])

    def test_few_descriptors(self):
        """A connection is closed for a new one only where descriptors run out: here each worker can keep one."""
        self.server = Scripted()
        self.addCleanup(self.server.stop)
        c = self.load_until(lambda path: has_rows(path, 300), "put", "--concurrent", "25", "--obj.size", "1",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120)))
        self.assertEqual(c.errors(), [])
        self.assertLessEqual(c.end["connects"], 25)

    def test_silent_closer(self):
        """A connection that the server closed while it was idle is not used again. If the server is busy, it may close so late
        that the next request is already on its way: that one is sent twice."""
        def answer(method, target, body):
            if method == "GET" and "list-type" not in target:
                return 200, b"x" * 1024, Scripted.CLOSE
        self.serve(answer)
        c = self.load_until(lambda path: has_rows(path, 11, "GET"), "get", "--objects", "5", "--obj.size", "1KiB",
                            "--concurrent", "1", "--rate", "10")
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertGreaterEqual(c.end["connects"], len(c.of("GET")) - 1)  # the first has a connection of the preparation
        self.assertLess(c.end["resent"], len(c.of("GET")) / 2)

    # ---- Limits

    def test_preparation_gives_up(self):
        self.serve(lambda method, target, body: (507, b"full") if method == "PUT" and
                   target.count("/") > 1 else None)
        p = self.begin("get", "--objects", "100000", "--concurrent", "60")
        status, c, err = self.finish(p)
        self.assertEqual(status, 1)
        self.assertIn("none of the first", err)
        self.assertTrue(120 <= len(c.rows) < 120 + 60, len(c.rows))

    def test_max_errors(self):
        self.serve(lambda method, target, body: (503, SLOW_DOWN) if method == "PUT" and
                   target.count("/") > 1 else None)
        p = self.begin("put", "--duration", "1h", "--max-errors", "50")
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["end"]), (1, "error"))
        self.assertIn("--max-errors is 50", err)
        self.assertGreaterEqual(len(c.errors()), 50)

    def test_no_objects_left(self):
        """Uploads fail after the preparation, objects are deleted: the run ends, and says why."""
        def answer(method, target, body):
            if method == "PUT" and target.count("/") > 1:
                return (200, b"", "x-amz-version-id: 1") if next(n) < 10 else (507, b"full")
            if target.endswith("?versioning="):
                return 200, b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
            if "versions=" in target:
                return 200, b"<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>"
        for command, own in (("mixed", ["--objects", "10"]),
                             ("versioned", ["--objects", "5", "--versions", "2"])):
            n = itertools.count()
            self.serve(answer)
            p = self.begin(command, *own, "--concurrent", "4", "--duration", "1h")
            status, c, err = self.finish(p)
            self.assertEqual((status, c.end["end"]), (1, "no objects left"), err)
            self.assertRegex(err, "no objects are left, as uploads failed, the first with: HTTP 507")
            self.assertEqual(len([r for r in c.of("DELETE") if not r.error]), 10)

    def test_few_objects_are_enough(self):
        """Deletions that empty the pool for a moment do not end a run whose uploads succeed."""
        self.serve()
        p = self.begin("mixed", "--objects", "1", "--concurrent", "3", "--requests", "1000",
                       "--put-distrib", "10", "--delete-distrib", "10", "--get-distrib", "5")
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["end"]), (0, "done"), err)

    def test_deletion_put_off(self):
        """An object whose deletion was refused with 503 is there, and used again."""
        def answer(method, target, body):
            if method == "DELETE":
                return 503, SLOW_DOWN
        self.serve(answer)
        p = self.begin("mixed", "--objects", "4", "--concurrent", "2", "--requests", "200",
                       "--put-distrib", "10", "--stat-distrib", "0", "--get-distrib", "0")
        status, c, err = self.finish(p)
        self.assertEqual((status, c.end["end"]), (0, "done"), err)

    def test_fewer_objects_than_workers(self):
        """One thread begins all workers before it reads an answer."""
        self.serve()
        p = self.begin("mixed", "--objects", "2", "--concurrent", "8", "--threads", "1", "--requests", "50",
                       "--put-distrib", "0", "--delete-distrib", "0")
        status, c, err = self.finish(p)
        self.assertEqual(status, 0, err)
        self.assertIn("fewer objects (2) than workers (8)", err)
        self.assertIn("waited", err)
        self.assertGreaterEqual(c.end["object_waits"], 6)

    def test_threads(self):
        """As many threads as are asked for, beside those of the writer, of signals, of names and the main one."""
        for n in (1, 5):
            self.serve()
            p = self.begin("put", "--concurrent", "8", "--threads", n, "--duration", "1h", "--rate", "100")

            def all_work():
                c = recorded(p.path)
                return c is not None and len({r.thread for r in c.rows}) == 8
            self.wait_until(all_work, p)
            self.assertEqual(len(os.listdir(f"/proc/{p.pid}/task")), n + 4)
            p.send_signal(signal.SIGINT)
            status, _, err = self.finish(p)
            self.assertEqual(status, 128 + signal.SIGINT, err)


class OnVersityGw(Runs):
    """A real server that goes away in the middle of a command."""
    COMMANDS = {**dict.fromkeys(("get", "list", "stat", "mixed"), ("--objects", "300")),
                "put": (), "delete": ("--objects", "2000", "--batch", "1"),
                "versioned": ("--objects", "100", "--versions", "3"),
                "retention": ("--objects", "100", "--versions", "3"),
                "multipart": ("--parts", "20", "--part.size", "5MiB")}

    def begin_server(self, command, *options):
        """With a bucket of others, which the command is to be run in."""
        self.server = VersityGw(more=options)
        self.addCleanup(self.server.stop)
        self.client = S3Client(self.server)
        if command == "retention":
            self.client.make("theirs", lock=True)
            self.client.put("theirs", "a")
            self.state = self.client.state("theirs")
        else:
            self.state = self.client.make_theirs("theirs", "Enabled" if command == "versioned" else None)

    def outage(self, command, go, come, is_over=lambda errors: True, n_after=20, concurrent=8):
        """go(), and come() once is_over(requests that began after it and failed); the run goes on until so many more
        requests are served, and leaves what it found."""
        p = self.begin(command, "--bucket", "theirs", "--prefix", "ours/", "--concurrent", concurrent,
                       "--rate", 20 if command == "multipart" else 150, "--duration", "1h",
                       "--request-timeout", "3s", *self.COMMANDS[command])
        size = 2000 if command in ("put", "multipart") else 6000  # without a preparation, or with one
        self.wait_until(lambda: p.path.exists() and p.path.stat().st_size > size, p)
        if go:
            go()
        gone_ns = time.time_ns()
        self.wait_until(lambda: is_over([r for r in recorded(p.path).errors() if r.start > gone_ns]), p)
        back_ns = time.time_ns()
        come()
        self.wait_until(lambda: sum(not r.error and r.end > back_ns for r in recorded(p.path).rows) > n_after, p)
        p.send_signal(signal.SIGTERM)
        status, c, err = self.finish(p)
        # Deletions may have come to their end.
        self.assertIn((status, c.end["end"]), ((128 + signal.SIGTERM, "signal"), (0, "done")), err)
        self.assertIsNone(c.end["error"], err)
        self.assertEqual(self.client.state("theirs"), self.state)
        # Nothing that began meanwhile was served; afterwards it goes on.
        served = [r for r in c.rows if not r.error]
        if go:
            self.assertEqual([r for r in served if gone_ns < r.start and r.end < back_ns], [])
        self.assertTrue([r for r in served if r.end > back_ns])
        return c, gone_ns, back_ns

    def killed(self, command, n_tries):
        """Tries are rows: one each 100 ms, at first of each worker."""
        c, gone_ns, back_ns = self.outage(command, self.server.kill, self.server.restart,
                                          lambda errors: len(errors) >= n_tries)
        tries = [r for r in c.errors() if gone_ns < r.start and r.end < back_ns]
        self.assertTrue(n_tries <= len(tries) <= 30 + (back_ns - gone_ns) // (S // 10), len(tries))

    def stopped(self, command, n_late):
        """Until so many requests have taken too long."""
        self.outage(command, lambda: self.stop_process(self.server.process.pid),
                    lambda: self.server.process.send_signal(signal.SIGCONT),
                    lambda errors: sum("timeout" in r.error for r in errors) >= n_late)

    def limited(self, command):
        self.begin_server(command, "--max-connections", "4")
        n = 10 if command == "multipart" else 100
        self.outage(command, None, lambda: None, n_after=n, concurrent=16)

    def test_killed(self):
        self.begin_server("mixed")
        self.killed("mixed", 20)

    def all_outages(self):
        for command in self.COMMANDS:
            self.begin_server(command)
            for act, n in ((self.killed, 20), (self.killed, 80), (self.stopped, 4)):
                with self.subTest(command=command, act=act.__name__, n=n):
                    act(command, n)
            with self.subTest(command=command, act="limited"):
                self.limited(command)


# All of them take some minutes.
if os.environ.get("S3LOAD_OUTAGES"):
    OnVersityGw.test_all = OnVersityGw.all_outages
