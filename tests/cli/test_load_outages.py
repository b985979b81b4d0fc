"""s3load when the server fails or goes away, and when the run is to end: what is lost, what is said."""
import itertools
import os
import re
import signal
import socket
import subprocess
import threading
import time

from harness import BUILD
from loadcase import Capture, LoadTest

MS = 10**6
S = 10**9
EMPTY = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>later</Message></Error>"


class Scripted:
    """An S3 server of which a test says what it does: answer(method, target, body) returns a status and
    a body; with CLOSE as third element the connection is closed after it, with None it is closed without
    an answer. Before it answers nothing of itself, it is an empty bucket that takes everything."""
    CLOSE = "close"

    def __init__(self, answer=lambda method, target, body: None, n_connections=None, port=0):
        self.answer = answer
        self.connections = []
        self.listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.ports = [self.listener.getsockname()[1]]
        self.hosts = f"127.0.0.1:{self.ports[0]}"
        self.n_connections = n_connections
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.n_connections is None or len(self.connections) < self.n_connections:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        self.listener.close()  # further ones are refused

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as f:
                while self.one(connection, f):
                    pass
        except (OSError, ValueError):
            pass  # the client has gone

    def one(self, connection, f):
        line = f.readline().decode()
        if not line:
            return False
        method, target, _ = line.split(" ")
        n = 0
        while (header := f.readline()) not in (b"\r\n", b""):
            if header.lower().startswith(b"content-length:"):
                n = int(header.split(b":")[1])
        body = f.read(n)
        said = self.answer(method, target, body) or self.usual(method, target)
        if said is Scripted.CLOSE:
            return False
        status, text = said[:2]
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n".encode()
        connection.sendall(head + (b"" if method == "HEAD" else text))
        return Scripted.CLOSE not in said[2:]

    @staticmethod
    def usual(method, target):
        if method == "GET" and "list-type" in target:
            return 200, EMPTY
        if method == "POST":
            return 200, b"<DeleteResult></DeleteResult>"
        return 200, b"x" * 1024 if method in ("GET", "HEAD") and target.count("/") > 1 else b""

    def stop(self):
        self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed


def listing(target):
    """A listing of one object below the prefix asked for; of the whole bucket it is empty."""
    prefix = re.search("prefix=([^&]*)", target).group(1).replace("%2F", "/")
    if not prefix:
        return 200, EMPTY
    return 200, (f"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>{prefix}x</Key>"
                 "<Size>1</Size></Contents></ListBucketResult>").encode()


class Outages(LoadTest):
    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()

    def begin(self, command, *options, **kwargs):
        """Starts s3load; finish() waits for it."""
        path = self.tmp / f"{next(self.numbers)}.csv.zst"
        p = subprocess.Popen([str(BUILD / "s3load"),
                              *map(str, self.argv(command, "--benchdata", path, "--obj.size", "1KiB",
                                                  *options))],
                             env={**os.environ, **self.environment()}, cwd=self.tmp,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        p.path = path
        self.addCleanup(p.kill)
        return p

    def finish(self, p, timeout=60):
        """Status, capture and standard error; a hang is a failure."""
        out, err = p.communicate(timeout=timeout)
        p.out = out.decode()
        return p.returncode, Capture(p.path), err.decode()

    def serve(self, *args, **kwargs):
        self.server = Scripted(*args, **kwargs)
        self.addCleanup(self.server.stop)
        return self.server

    # ---- Cleaning after the capture is closed

    def cannot_delete(self, method, target, body):
        if method == "GET" and "list-type" in target:
            return listing(target)
        if method == "POST":
            worker = re.search(rb"/([0-9a-f]{4})/x", body)
            time.sleep(0.05 * int(worker.group(1), 16) if worker else 0)
            return 403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"

    def test_failing_cleaning_ends(self):
        """What fails in cleaning makes no rows: their writer has ended. Nor does autoterm wait for it.
        After some 13 s of either all loops would sleep."""
        self.serve(self.cannot_delete)
        runs = [self.begin("put", "--concurrent", "280", "--duration", "300ms", *own)
                for own in ([], ["--autoterm"])]
        for p in runs:
            status, c, err = self.finish(p)
            self.assertEqual(status, 1)
            self.assertRegex(err, "objects of this run may be left under .*AccessDenied")
            self.assertEqual({r.op for r in c.rows}, {"PUT"})
            self.assertEqual(c.end["requests"], len(c.rows))

    # ---- Signals

    def slow_cleaning(self, method, target, body):
        if method == "POST":
            self.deleting.set()
            self.deleted.wait(20)
        if method == "GET" and "list-type" in target:
            return listing(target) if not self.deleted.is_set() else (200, EMPTY)

    def begin_cleaning(self, *options):
        self.deleting, self.deleted = threading.Event(), threading.Event()
        self.addCleanup(self.deleted.set)
        self.serve(self.slow_cleaning)
        p = self.begin("put", "--concurrent", "2", "--duration", "200ms", *options)
        self.assertTrue(self.deleting.wait(20))
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
        """As timeout(1) sends them; a second one later ends the cleaning, and says so."""
        p = self.begin_cleaning()
        p.send_signal(signal.SIGTERM)
        self.assertIn("objects are being deleted", p.stderr.readline().decode())
        p.send_signal(signal.SIGTERM)
        time.sleep(1.1)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGTERM)
        status, _, err = self.finish(p)
        self.assertEqual(status, 128 + signal.SIGTERM)
        self.assertRegex(err, "may be left under .*interrupted")

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
        p = subprocess.Popen([str(BUILD / "s3load"), *self.argv("put", "--duration", "100ms", "--stress")],
                             env={**os.environ, **self.environment()}, cwd=self.tmp, stdout=write)
        os.close(write)
        self.addCleanup(p.kill)
        for _ in range(3):
            time.sleep(1.1)
            self.assertIsNone(p.poll())
            p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(20), 128 + signal.SIGTERM)
