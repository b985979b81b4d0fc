"""A core dump of s3load holds no key: searches the memory that would be dumped during a request."""
import base64
import hashlib
import hmac
import json
import os
import re
import ssl
import subprocess
import threading
import unittest

from harness import BUILD, TIMEOUT_S, without_sanitizers
from loadcase import LoadTest
from servers import Proxy, Scripted

# Each piece is recognisable by itself, so a copy of a part, as in saved registers, is found too.
SECRET = "".join(f"S{i:04}" for i in range(8))
TOKEN = "".join(f"T{i:05}" for i in range(180))
PASSWORD = "".join(f"P{i:05}" for i in range(8))
LOGIN = base64.b64encode(f"user:{PASSWORD}".encode())
# Each pattern begins with plain bytes, so re searches at the speed of memchr.
PIECES = {"proxy password": re.compile(rb"P0000\d(?:P0000\d){2}"), "proxy login": re.compile(re.escape(LOGIN[8:32])),
          "secret key": re.compile(rb"S000\d(?:S000\d){2}"), "token": re.compile(rb"T00\d{3}(?:T00\d{3}){3}")}
SSE_C = "x-amz-server-side-encryption-customer-key"


def dumped(pid):
    """The memory of a process that a core dump has: all that can be written, except what is marked."""
    with open(f"/proc/{pid}/smaps", encoding="ascii") as smaps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in smaps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) (r?.)", line)
            if m:
                start, end, access = int(m[1], 16), int(m[2], 16), m[3]
            elif line.startswith("VmFlags:") and access == "rw" and "dd" not in line.split():
                mem.seek(start)
                yield mem.read(end - start)


def signing_key(date):
    key = ("AWS4" + SECRET).encode()
    for part in (date, "us-east-1", "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    return key


class TlsScripted(Scripted):
    def __init__(self, answer, certificate, key):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        super().__init__(answer)

    def serve(self, client):
        super().serve(self.context.wrap_socket(client, server_side=True))


@without_sanitizers("they have memory of their own, and keep what was freed")
class CoreDumps(LoadTest):
    def found(self, argv, env):
        """The secrets in dumped memory while the only request waits for its answer. (While TLS encrypts a request, its text
        is in OpenSSL's buffer.)"""
        found = []
        first = threading.Lock()
        certificate, key = self.tmp / "cert.pem", self.tmp / "key.pem"
        self.start("--tls", "--cert-out", certificate, "--key-out", key)

        def answer(request):
            if SSE_C in request.headers and first.acquire(blocking=False):
                sse_c = request.headers[SSE_C]
                secrets = {"SSE-C": sse_c.encode(), "SSE-C, binary": base64.b64decode(sse_c),
                           "signing key": signing_key(request.headers["x-amz-date"][:8])}
                memory = list(dumped(process.pid))
                found.append(sum(map(len, memory)))
                found.extend(name for name, s in secrets.items() if any(s in m for m in memory))
                found.extend(name for name, s in PIECES.items() if any(map(s.search, memory)))
            return 200, b""

        server = TlsScripted(answer, certificate, key)
        self.addCleanup(server.stop)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "S3LOAD_", "WARP_"))}
        with subprocess.Popen([BUILD / "s3load", "put", *argv, "--host", server.hosts, "--tls", "--cacert", certificate,
                               "--encrypt", "--obj.size", "1KiB", "--concurrent", "1", "--requests", "1",
                               "--noclear", "--quiet", "--benchdata", self.tmp / "c.csv.zst"], cwd=self.tmp,
                              env={**clean, "HOME": str(self.tmp), **env}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            err = process.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(process.returncode, 0, err)
        self.assertGreater(found.pop(0), 1 << 20)
        return found

    def write(self, name, text):
        path = self.tmp / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
        return path

    def test_symbols_are_bound_at_start(self):
        # With lazy binding the first call of a function saves all vector registers, and a copy of a key may be in them.
        dynamic = subprocess.run(["readelf", "-dW", BUILD / "s3load"], check=True, capture_output=True, text=True).stdout
        self.assertRegex(dynamic, r"FLAGS_1.* NOW\b")

    def test_environment(self):
        env = {"S3LOAD_ACCESS_KEY": "AK", "S3LOAD_SECRET_KEY": SECRET, "S3LOAD_SESSION_TOKEN": TOKEN}
        self.assertEqual(self.found([], env), [])

    def test_command_line(self):
        argv = ["--access-key", "AK", "--secret-key", SECRET, "--session-token=" + TOKEN]
        self.assertEqual(self.found(argv, {}), [])

    def test_proxy(self):
        proxy = Proxy()
        self.addCleanup(proxy.stop)
        env = {"https_proxy": proxy.url.replace("http://", f"http://user:{PASSWORD}@")}
        self.assertEqual(self.found(["--access-key", "AK", "--secret-key", SECRET], env), [])
        self.assertIn(LOGIN.decode(), proxy.logins)

    def test_file_of_options(self):
        path = self.write("options", f"access-key AK\nsecret-key = {SECRET}\nsession-token {TOKEN}\n")
        self.assertEqual(self.found([f"@{path}"], {}), [])

    def test_profile(self):
        self.write(".aws/credentials", f"[default]\naws_access_key_id = AK\naws_secret_access_key = {SECRET}\n"
                                       f"aws_session_token = {TOKEN}\n")
        self.assertEqual(self.found([], {}), [])

    def test_process(self):
        keys = self.write("keys.json", json.dumps({"Version": 1, "AccessKeyId": "AK", "SecretAccessKey": SECRET,
                                                   "SessionToken": TOKEN}))
        self.write(".aws/config", f"[default]\ncredential_process = cat {keys}\n")
        self.assertEqual(self.found([], {}), [])


if __name__ == "__main__":
    unittest.main()
