"""TLS of s3load: authorities are read once for the run, sessions are resumed, handshakes have an end."""
import socket
import ssl
import unittest

from loadcase import LoadTest
from servers import Listening

ENDLESS = ("--obj.size", "1KiB", "--concurrent", "1", "--noclear")
SMALL = (*ENDLESS, "--duration", "300ms")


class Closer(Listening):
    """Says 200 to anything over TLS, and closes; on_request is called at each request. From the
    connection `mute_from` on, it gives no more sessions to resume."""

    def __init__(self, certificate, key, on_request, address):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.on_request = on_request
        self.resumed = []
        self.mute_from = None
        super().__init__(address)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if len(self.resumed) == self.mute_from:
                self.context.num_tickets = 0
            try:
                with self.context.wrap_socket(client, server_side=True) as c:
                    self.serve(c)
            except OSError:
                client.close()

    def serve(self, c):
        text = b""
        while b"\r\n\r\n" not in text:
            text += c.recv(1 << 16)
        head, body = text.split(b"\r\n\r\n", 1)
        length = [int(line[15:]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length:")]
        while length and len(body) < length[0]:
            body += c.recv(1 << 16)
        self.resumed.append(c.session_reused)
        self.on_request()
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        c.unwrap()


class Tls(LoadTest):
    def closer(self, address="127.0.0.1"):
        """A server, and the file with its certificate, which is gone from the first request on."""
        certificate, key, copy = (self.tmp / name for name in ("cert.pem", "key.pem", "copy.pem"))
        self.start("--tls", "--cert-out", certificate, "--key-out", key)
        copy.write_bytes(certificate.read_bytes())
        server = Closer(certificate, key, lambda: copy.unlink(missing_ok=True), address)
        self.addCleanup(server.stop)
        return server, copy

    def test_authorities_are_read_once(self):
        """Later connections do not need the file."""
        server, copy = self.closer()
        c = self.load_until(lambda _: len(server.resumed) > 4, "put", *ENDLESS, "--tls", "--cacert", copy, "--host",
                            f"localhost:{server.port}")
        self.assertEqual(c.errors(), [])
        self.assertGreater(c.end["connects"], 2)
        self.assertFalse(copy.exists())

    def test_sessions_are_resumed(self):
        """By each connection but the first of each loop (that of the preparation is one)."""
        server, copy = self.closer()
        c = self.load_until(lambda _: len(server.resumed) > 4, "put", *ENDLESS, "--tls", "--cacert", copy, "--host",
                            f"127.0.0.1:{server.port}")
        self.assertGreater(c.end["connects"], 2)
        self.assertEqual(server.resumed.count(False), 2)

    def test_a_session_serves_again(self):
        """Though it was resumed before, and no other has come since: workers connect at the same time."""
        server, copy = self.closer()
        server.mute_from = 4
        c = self.load_until(lambda _: len(server.resumed) > 9, "put", *ENDLESS, "--tls", "--cacert", copy, "--host",
                            f"127.0.0.1:{server.port}")
        self.assertGreater(c.end["connects"], server.mute_from + 2)
        self.assertEqual(server.resumed.count(False), 2)

    def test_wrong_name(self):
        """The certificate is good, and another server's."""
        server, copy = self.closer("127.0.0.2")
        r = self.s3load("put", *SMALL, "--tls", "--cacert", copy, "--host",
                        f"127.0.0.2:{server.port}", status=1)
        self.assertIn("TLS: the server's certificate: IP address mismatch", r.err)

    def test_bad_authorities(self):
        """Are told before anything is sent."""
        bad = self.tmp / "bad.pem"
        bad.write_text("no certificate\n")
        for path in (bad, self.tmp / "none.pem"):
            r = self.s3load("put", *SMALL, "--tls", "--cacert", path, "--host", "127.0.0.1:9",
                            status=1)
            self.assertRegex(r.err, rf"\As3load: --cacert: cannot use '{path}': [^\n]+\n\Z")

    def test_handshake_without_an_end(self):
        """A server that accepts and says nothing."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            r = self.s3load("put", *SMALL, "--tls", "--insecure", "--connect-timeout", "300ms",
                            "--host", f"127.0.0.1:{silent.getsockname()[1]}", status=1)
        self.assertIn("TLS: the handshake timed out", r.err)

    def test_server_without_tls(self):
        """And one that closes at once."""
        self.start()
        r = self.s3load("put", *SMALL, "--tls", "--insecure", status=1)
        self.assertRegex(r.err, "TLS: ")

    def test_proxy_over_tls(self):
        r = self.s3load("put", *SMALL, "--host", "127.0.0.1:9", status=1,
                        env={"http_proxy": "https://127.0.0.1:9"})
        self.assertIn("name one with http://", r.err)


if __name__ == "__main__":
    unittest.main()
