"""Profiles of MinIO, by its admin API, saved beside the capture; profiles of a Go server, shown as Go shows them."""

import contextlib
import hashlib
import hmac
import http.server
import io
import json
import re
import signal
import subprocess
import threading
import unittest
import urllib.request
import zipfile

from harness import TIMEOUT_S
from loadcase import LoadTest, has_rows
from pprof import UTC, go_pprof
from servers import SECRET_KEY, VersityGw, free_port

OK = [{"nodeName": "", "success": True, "error": ""}]
LOAD = ("put", "--noclear", "--obj.size", "1KiB", "--concurrent", "1", "--requests", "20", "--benchdata", "run")


def archive(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name in ("cluster.info", *names):
            z.writestr(name, b"some bytes " * 20)
    return out.getvalue()


def signature(method, path, query, headers, authorization):
    """AWS Signature Version 4, by its documentation."""
    scope, names = re.search(r"Credential=[^/]*/([^,]*), *SignedHeaders=([^,]*)", authorization).groups()
    lines = "".join(f"{n}:{headers[n]}\n" for n in names.split(";"))
    request = "\n".join([method, path, query, lines, names, headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    key = b"AWS4" + SECRET_KEY.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


class Stub(http.server.ThreadingHTTPServer):
    """A server that takes uploads, with an admin API that answers as the test says: answers[path] is a status
    and a body, or a function that gets the request."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.hosts = f"127.0.0.1:{self.server_address[1]}"
        self.answers = {}
        self.asked = []  # method, path and query of all but uploads
        self.stopping = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.stopping.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that went away is no error."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"e"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_any(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        if not path.startswith("/minio/"):
            self.reply(200, b"")
            return
        self.server.asked.append((self.command, path, query))
        authorization = self.headers["Authorization"]
        if not authorization.endswith(signature(self.command, path, query, self.headers, authorization)):
            self.reply(403, b"SignatureDoesNotMatch")
            return
        answer = self.server.answers.get(path, (404, b"404 page not found\n"))
        if callable(answer):
            answer(self)
        else:
            self.reply(*answer)

    do_HEAD = do_PUT = do_GET = do_POST = do_any


def hang(handler):
    """Does not answer until the test is over."""
    handler.server.stopping.wait()
    handler.close_connection = True


def drip(handler):
    """Sends a byte now and then, and never all."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.close_connection = True
    while not handler.server.stopping.wait(0.2):  # not decisive: how often a byte comes
        handler.wfile.write(b"x")


class Profiles(LoadTest):
    server_class = Stub

    def setUp(self):
        super().setUp()
        self.start()
        self.zip = self.tmp / "run.profiles.zip"

    def admin(self, start=(200, json.dumps(OK).encode()), download=(200, archive("profile-a:1-cpu.pprof")), version="v3"):
        self.server.asked.clear()
        self.server.answers = {f"/minio/admin/{version}/profiling/start": start,
                               f"/minio/admin/{version}/profiling/download": download}

    def profiled(self, *options, **kwargs):
        """Runs a load that succeeds; returns its standard error and the archive."""
        (self.tmp / "run.csv.zst").unlink(missing_ok=True)
        self.zip.unlink(missing_ok=True)
        r = self.s3load(*LOAD, *(options or ("--serverprof", "cpu,mem")), "--json", **kwargs)
        self.assertGreater(r.json()["requests"], 0)
        left = {p.name for p in self.tmp.iterdir()} - {"run.csv.zst", "run.profiles.zip"}
        self.assertEqual({n for n in left if "profiles" in n}, set())
        return r.err, self.zip.read_bytes() if self.zip.exists() else None


class MinIO(Profiles):
    def test_saved_as_received(self):
        """Names of entries are never used as paths."""
        data = archive("profile-127.0.0.1:9000-cpu.pprof", "../../evil.pprof", "/evil.pprof")
        self.admin(download=(200, data))
        err, saved = self.profiled(umask=0o027)
        self.assertEqual(self.zip.stat().st_mode & 0o777, 0o640)
        self.assertEqual(saved, data)
        self.assertIn("profiles of the servers: run.profiles.zip", err)
        self.assertEqual(self.server.asked, [("POST", "/minio/admin/v3/profiling/start", "profilerType=cpu%2Cmem"),
                                             ("GET", "/minio/admin/v3/profiling/download", "")])

    def test_errors_of_nodes(self):
        nodes = [*OK, {"nodeName": "b:9000", "success": False, "error": "profiler type unknown"},
                 {"nodeName": "c:9000", "success": False}, 7]
        self.admin(start=(200, json.dumps(nodes).encode()))
        err, saved = self.profiled()
        self.assertIn("node b:9000: profiler type unknown", err)
        self.assertIn("node c:9000: profiling failed", err)
        self.assertIsNotNone(saved)
        for odd in b"", b"{", b"[]", b"7":
            self.admin(start=(200, odd))
            err, saved = self.profiled()
            self.assertIn("no node says that it profiles", err)
            self.assertIsNotNone(saved)

    def test_many_errors_of_nodes(self):
        nodes = OK + [{"nodeName": f"n{i}", "success": False, "error": "no"} for i in range(1000)]
        self.admin(start=(200, json.dumps(nodes).encode()))
        lines = re.findall("--serverprof: .*", self.profiled()[0])
        self.assertEqual(lines, [*(f"--serverprof: node n{i}: no" for i in range(20)), "--serverprof: 980 further nodes do not profile"])

    def test_refused(self):
        for status, said in ((403, "the keys need the right admin:Profiling"), (404, "no admin API of MinIO"),
                             (405, "no admin API of MinIO"), (500, "HTTP 500"), (501, "HTTP 501")):
            with self.subTest(status):
                self.admin(start=(status, b"<Error/>"))
                err, saved = self.profiled()
                self.assertEqual(len([line for line in err.split("\n") if "--serverprof" in line]), 1, err)
                self.assertIn(said, err)
                self.assertIsNone(saved)
                self.assertEqual(len(self.server.asked), 1)

    def test_version_4(self):
        self.admin(version="v4")
        self.server.answers["/minio/admin/v3/profiling/start"] = (426, b"")
        self.assertIsNotNone(self.profiled()[1])
        self.assertEqual([path for _, path, _ in self.server.asked],
                         [f"/minio/admin/{x}" for x in ("v3/profiling/start", "v4/profiling/start", "v4/profiling/download")])

    def test_bad_downloads(self):
        whole = archive("profile-a:1-cpu.pprof")

        def cut(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(whole)))
            handler.end_headers()
            handler.wfile.write(whole[:50])
            handler.close_connection = True
        for download, said in (((500, b"x"), "HTTP 500"), ((200, b"no zip"), "the answer is no archive"), ((200, b""), "the answer is no archive"),
                               ((200, whole[:-30]), "the answer is no archive"), ((200, archive()), "the archive holds no profile"), (cut, "")):
            self.admin(download=download)
            err, saved = self.profiled()
            self.assertIsNone(saved)
            self.assertIn(f"no profiles: {said}", err)

    def test_time_out(self):
        """If the answer is lost, the server may be profiling: it is asked for the profiles. An answer that hardly arrives
        is given up, too."""
        clock, move = self.movable_clock()
        late = "timeout: no complete answer within 60 s"
        for how in hang, drip:
            def act(handler):
                move(3600)
                how(handler)
            self.admin(start=act)
            err, saved = self.profiled(env=clock)
            self.assertIn(f"cannot start profiling: {late}", err)
            self.assertIsNotNone(saved)
            self.admin(download=act)
            err, saved = self.profiled(env=clock)
            self.assertIn(f"no profiles: {late}", err)
            self.assertIsNone(saved)

    def test_first_signal_ends_the_wait(self):
        """If it comes during the fetch."""
        self.admin(download=drip)
        p = self.begin(*LOAD, "--serverprof", "cpu")
        self.wait_until(lambda: self.server.asked[1:], p)
        self.send_signal(p, signal.SIGTERM)
        err = p.communicate(timeout=TIMEOUT_S)[1].decode()
        self.assertEqual(p.returncode, 128 + signal.SIGTERM, err)
        self.assertIn("no profiles: interrupted", err)

    def begin_profiled(self):
        path = self.tmp / "run.csv.zst"
        p = self.begin(*LOAD[:-4], "--duration", "1h", "--benchdata", "run", "--serverprof", "cpu")
        self.wait_until(lambda: has_rows(path), p)
        return p

    def test_interrupted_run_fetches(self):
        data = archive("profile-a:1-cpu.pprof")
        self.admin(download=(200, data))
        p = self.begin_profiled()
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=TIMEOUT_S)[1].decode()
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        self.assertEqual(self.zip.read_bytes(), data)

    def test_second_signal_ends_the_fetch(self):
        asked = threading.Event()

        def wait(handler):
            asked.set()
            hang(handler)
        self.admin(download=wait)
        p = self.begin_profiled()
        self.send_signal(p, signal.SIGINT)
        self.wait_until(asked.is_set, p)
        while p.poll() is None:  # those within a second count as one
            p.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                err = p.communicate(timeout=0.3)[1].decode()  # not decisive: it is sent again
        self.assertNotIn("profiles of the servers", err)
        self.assertFalse(self.zip.exists())

    def test_never_replaces(self):
        self.zip.write_bytes(b"mine")
        r = self.s3load(*LOAD, "--serverprof", "cpu", status=1)
        self.assertIn("is there already", r.err)
        self.assertEqual((self.zip.read_bytes(), self.server.asked), (b"mine", []))

    def test_usage(self):
        for options, said in ((("--serverprof", ""), "a list of profiles"), (("--serverprof", "cpu;x"), "a list of"),
                              (("--serverprof", "cpu", "--lookup", "host"), "needs --lookup path")):
            self.assertIn(said, self.s3load(*LOAD, *options, status=2).err)
        self.assertIn("need a capture in a file", self.s3load(*LOAD[:-2], "--stress", "--serverprof", "cpu", status=1).err)


class OnVersityGw(LoadTest):
    """A real Go server under load: its profiles are shown with the digits of `go tool pprof`."""
    server_class = VersityGw

    def test_same_as_pprof(self):
        node = f"127.0.0.1:{free_port()}"
        self.start(more=("--pprof", node))
        folder = self.tmp / "profiles"
        folder.mkdir()

        def fetch(name, path):
            with urllib.request.urlopen(f"http://{node}/debug/pprof/{path}") as answer:
                (folder / f"profile-{node}-{name}.pprof").write_bytes(answer.read())
        for kind, path in (("mem", "heap"), ("block", "block"), ("mutex", "mutex")):
            fetch(f"{kind}-before", path)
        cpu = threading.Thread(target=fetch, args=("cpu", "profile?seconds=2"))  # not decisive: one of any length will do
        cpu.start()
        self.s3load("get", "--objects", "20", "--obj.size", "64KiB", "--concurrent", "4", "--requests", "2000", "--json")
        cpu.join()
        for kind, path in (("mem", "heap"), ("block", "block"), ("mutex", "mutex")):
            fetch(kind, path)
        self.s3analyze("profile", "info", folder)
        for kind in "cpu", "mem", "block", "mutex":
            file, before = (folder / f"profile-{node}-{kind}{when}.pprof" for when in ("", "-before"))
            cases = [["-top"], ["-top", "-cum"]]
            if before.exists():
                cases += [["-top", "-diff_base", before], ["-top", "-cum", "-diff_base", before]]
            for case in cases:
                with self.subTest(kind=kind, case=case):
                    words = [f"-{w}" if str(w)[0] == "-" else w for w in case if w != "-top"]
                    self.assertEqual(self.s3analyze("profile", "top", *words, file, env=UTC).out,
                                     go_pprof(*case, file))


if __name__ == "__main__":
    unittest.main()
