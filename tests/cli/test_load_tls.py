"""TLS of s3load: authorities are read once for the run, sessions are resumed, handshakes have an end."""
import contextlib
import re
import socket
import ssl
import unittest

from loadcase import LoadTest
from servers import Listening, Proxy, Target

ENDLESS = ("--obj.size", "1KiB", "--concurrent", "1", "--noclear")
SMALL = (*ENDLESS, "--requests", "10")


class Closer(Listening):
    """Says 200 to anything over TLS, and closes; on_request is called at each request. From the
    connection `mute_from` on, it gives no more sessions to resume."""

    def __init__(self, certificate, key, on_request, address):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.on_request = on_request
        self.resumed = []
        self.names = set()  # those of Server Name Indication and of Host headers
        self.context.sni_callback = lambda _, name, __: self.names.add(("SNI", name))
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
        self.names.add(("Host", re.search(rb"(?i)\nhost: (\S+)", head)[1].decode()))
        length = [int(line[15:]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length:")]
        while length and len(body) < length[0]:
            body += c.recv(1 << 16)
        self.resumed.append(c.session_reused)
        self.on_request()
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        c.unwrap()


class Rude(Listening):
    """Says the same to the first request of each connection, at once with the goodbye of TLS or without
    one; with it, the connection itself stands until the client closes it."""

    def __init__(self, certificate, key, answer, goodbye):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.answer = answer
        self.goodbye = goodbye
        super().__init__()

    def serve(self, client):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = self.context.wrap_bio(incoming, outgoing, server_side=True)

        def until_done(step):
            """Of what TLS wants to read, gives it more; None if the client has gone."""
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    client.sendall(outgoing.read())
                    data = client.recv(1 << 16)
                    if not data:
                        return None
                    incoming.write(data)

        with client, contextlib.suppress(OSError):
            until_done(tls.do_handshake)
            head, _, body = until_done(lambda: tls.read(1 << 16)).partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            while length and len(body) < int(length[1]):
                body += until_done(lambda: tls.read(1 << 16))
            tls.write(self.answer)
            if self.goodbye:
                with contextlib.suppress(ssl.SSLWantReadError):
                    tls.unwrap()
            client.sendall(outgoing.read())
            while self.goodbye and client.recv(1 << 16):
                pass


class Tls(LoadTest):
    def closer(self, address="127.0.0.1", *options):
        """A server, and the file with its certificate, which is gone from the first request on."""
        certificate, key, copy = (self.tmp / name for name in ("cert.pem", "key.pem", "copy.pem"))
        self.start("--tls", "--cert-out", certificate, "--key-out", key, *options)
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

    def test_names_in_requests(self):
        """A Host header has neither a zone nor the standard port; it keeps the last dot of a name. SNI has the name without that
        dot. An address has no SNI."""
        server, copy = self.closer("127.0.0.1", "--domain", "s3.test")
        proxy = Proxy(port=server.port)
        self.addCleanup(proxy.stop)
        for host, named, sni in (("s3.test.", "s3.test.", "s3.test"), ("s3.test.:443", "s3.test.", "s3.test"),
                                 ("a.s3.test.:80", "a.s3.test.:80", "a.s3.test"), ("[::1%lo]:443", "[::1]", None),
                                 ("[::1%lo]:9000", "[::1]:9000", None), ("127.0.0.1:443", "127.0.0.1", None)):
            with self.subTest(host):
                server.names.clear()
                copy.write_bytes((self.tmp / "cert.pem").read_bytes())
                _, c = self.load("put", *SMALL[:-2], "--requests", "2", "--tls", "--cacert", copy, "--host", host,
                                 env={"https_proxy": proxy.url})
                self.assertEqual(c.errors(), [])
                self.assertEqual(server.names, {("Host", named), ("SNI", sni)})
        self.start()
        proxy.to = int(self.server.ports[0])  # it checks signatures
        for host in "[::1%lo]:80", "s3.test.:80", "127.0.0.1:443":
            self.s3load("put", *SMALL[:-2], "--requests", "2", "--host", host, env={"http_proxy": proxy.url})

    def test_common_name_alone(self):
        """A common name that is an address does not make the certificate valid for it."""
        certificate = self.tmp / "cert.pem"
        other = Target("--tls", "--cn", "127.0.0.1", "--cert-out", certificate)
        self.addCleanup(other.stop)
        r = self.s3load("put", *SMALL, "--tls", "--cacert", certificate, "--host", other.hosts, status=1)
        self.assertIn("IP address mismatch", r.err)

    def test_bad_authorities(self):
        """Are told before anything is sent."""
        bad = self.tmp / "bad.pem"
        bad.write_text("no certificate\n")
        for path in (bad, self.tmp / "none.pem"):
            r = self.s3load("put", *SMALL, "--tls", "--cacert", path, "--host", "127.0.0.1:9",
                            status=1)
            self.assertRegex(r.err, rf"\As3load: --cacert, AWS_CA_BUNDLE or ca_bundle of the profile: cannot use '{path}': [^\n]+\n\Z")

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

    def test_cut_off_without_verification(self):
        """What ends a connection is told, not what the certificate would be worth."""
        certificate, key = self.tmp / "cert.pem", self.tmp / "key.pem"
        self.start("--tls", "--cert-out", certificate, "--key-out", key)
        server = Rude(certificate, key, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", goodbye=False)
        self.addCleanup(server.stop)
        r = self.s3load("put", *SMALL, "--tls", "--insecure", "--host", server.hosts, status=1)
        self.assertRegex(r.err, "TLS: unexpected eof")

    def test_goodbye_with_the_answer(self):
        """A connection over which no more will come is not used again, though it stands."""
        certificate, key = self.tmp / "cert.pem", self.tmp / "key.pem"
        self.start("--tls", "--cert-out", certificate, "--key-out", key)
        server = Rude(certificate, key, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", goodbye=True)
        self.addCleanup(server.stop)
        state, c = self.load("put", *SMALL, "--tls", "--insecure", "--host", server.hosts)
        self.assertEqual(c.errors(), [])
        self.assertEqual(state["connects"], state["requests"])

    def test_proxy_over_tls(self):
        r = self.s3load("put", *SMALL, "--host", "127.0.0.1:9", status=1,
                        env={"http_proxy": "https://127.0.0.1:9"})
        self.assertIn("name one with http://", r.err)


if __name__ == "__main__":
    unittest.main()
