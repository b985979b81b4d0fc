"""Servers for tests of s3load: the embedded target (tests/target), and versitygw, a real one."""
import contextlib
import csv
import fcntl
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

from harness import BUILD, ROOT, wait_until

ACCESS_KEY = "s3load"
SECRET_KEY = "s3load-secret"


def key_of(target):
    return target.split("?")[0][1:].partition("/")[2]


def prefix_of(target):
    return re.search("prefix=([^&]*)", target).group(1).replace("%2F", "/")


class Server:
    """A running server; `hosts` is for --host, stop() ends it."""
    keys = (ACCESS_KEY, SECRET_KEY)

    def __init__(self, process, ports, folder):
        self.process = process
        self.ports = ports
        self.folder = folder

    @property
    def hosts(self):
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)  # not decisive: it is killed
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.folder.cleanup()

    def wait_until_up(self):
        def is_up():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.ports[0])).close()
                return True
            return False
        if wait_until(is_up, lambda: self.process.poll() is None):
            return
        self.stop()
        raise unittest.SkipTest(f"{type(self).__name__} does not start")


class Target(Server):
    """build/s3target with the options; on several ports, with n_ports."""
    has_faults = True
    # It holds every key that S3 allows.
    holds_odd_keys = True

    def __init__(self, *options, n_ports=1):
        folder = tempfile.TemporaryDirectory()
        self.log_path = pathlib.Path(folder.name) / "log"
        argv = [BUILD / "s3target", "serve", "--port", ",".join(["0"] * n_ports), "--log",
                self.log_path, *options]
        process = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        ports = [re.search(r":(\d+)$", process.stdout.readline()).group(1)
                 for _ in range(n_ports)]
        super().__init__(process, ports, folder)

    def log(self):
        """The requests so far, as dictionaries."""
        lines = self.log_path.read_text().split("\n")[:-1]
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def versitygw():
    """The program, built once with Go. Skips the test if that is not possible."""
    return go_program("github.com/versity/versitygw/cmd/versitygw")


def go_program(package):
    """The same for any program. The environment may name one that is installed (VERSITYGW=/path)."""
    name = package.rpartition("/")[2]
    path = os.environ.get(name.upper()) or shutil.which(name)
    if path and pathlib.Path(path).exists():
        return path
    if not shutil.which("go"):
        raise unittest.SkipTest(f"neither {name} nor go is installed")
    folder = ROOT / "build" / "go"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # .ci/run may be building it
        if not path.exists():
            # Without optimisation, as compiling takes longer than the tests do.
            done = subprocess.run(["go", "install", "-gcflags=all=-N -l -dwarf=false", "-ldflags=-s -w",
                                   f"{package}@latest"],
                                  env=dict(os.environ, GOBIN=str(folder)), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=1800)  # not decisive: a test is skipped
            if done.returncode != 0:
                raise unittest.SkipTest(f"{name} cannot be built: {done.stdout.decode()[-300:]}")
    return path


# The sockets of free_port().
RESERVED = []


def free_port():
    """A port that no other test gets while this process lives, though its server may restart: Linux gives it to no connection
    (ip_local_port_range), and a socket that does not listen holds it. Servers set SO_REUSEADDR, and can use it all the same."""
    for port in range(10000, 32768):
        s = socket.socket()
        with contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            RESERVED.append(s)
            return port
        s.close()
    raise AssertionError("no port is free")


class Listening:
    """Calls serve(client) in a thread for each connection; stop() ends it."""
    keys = (ACCESS_KEY, SECRET_KEY)

    def __init__(self, address="127.0.0.1", port=0):
        self.listener = socket.create_server((address, port), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.hosts = f"{address}:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Proxy(Listening):
    """An HTTP proxy that makes tunnels (CONNECT), and records their targets; with `port`, all tunnels go there."""

    def __init__(self, status="200 OK", port=None):
        self.status = status
        self.to = port
        self.asked = []
        self.logins = set()
        super().__init__()
        self.url = f"http://{self.hosts}"

    def serve(self, client):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        method, where, _ = head.decode().split("\r\n")[0].split(" ")
        self.asked.append((method, where))
        self.logins.update(re.findall(r"(?m)^Proxy-Authorization: Basic (\S+)\r$", head.decode()))
        client.sendall(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
        if not self.status.startswith("200"):
            client.close()
            return
        host, port = where.rsplit(":", 1)
        server = socket.create_connection(("127.0.0.1", self.to) if self.to else (host, int(port)))
        threading.Thread(target=self.copy, args=(server, client), daemon=True).start()
        self.copy(client, server)

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # one of the two has gone
        source.close()


class Request:
    """A request to a Scripted server; names of headers are in lower case."""

    def __init__(self, head, body):
        lines = head.decode("latin1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ")
        self.headers = {name.lower(): value.strip() for name, value in
                        (line.split(":", 1) for line in lines[1:])}
        self.body = body


class Held(bytes):
    """The beginning of an answer that never ends; then() is called when the client's machine has it."""

    def __new__(cls, data=b"", then=lambda: None):
        self = super().__new__(cls, data)
        self.then = then
        return self


def is_received(connection):
    """Whether the other side's kernel has all that was sent (SIOCOUTQ)."""
    return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder) == 0


class Scripted(Listening):
    """A server that asks a function for each answer: (status, body), (status, body, {name: value}), the bytes of an answer
    after which the connection is closed, or Held."""

    def __init__(self, answer):
        self.answer = answer
        super().__init__()

    def serve(self, client):
        with client, client.makefile("rb") as stream:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                while self.exchange(client, stream):
                    pass
            except OSError:
                pass  # the client has gone

    def exchange(self, client, stream):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return False
            head += line
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        request = Request(head[:-4], stream.read(int(length.group(1))) if length else b"")
        answer = self.answer(request)
        if isinstance(answer, bytes):
            client.sendall(answer)
            if isinstance(answer, Held):
                wait_until(lambda: is_received(client))
                answer.then()
                while client.recv(1):
                    pass
            return False
        status, body, headers = (*answer, {})[:3]
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
        client.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if request.method == "HEAD" else body))
        return True


class VersityGw(Server):
    """versitygw with a folder of its own."""
    has_faults = False
    # Its file system has no names over 255 bytes.
    holds_odd_keys = False

    def __init__(self, *options, more=()):
        if options:
            raise unittest.SkipTest("versitygw has no faults")
        program = versitygw()
        folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(folder.name)
        for name in ("objects", "old"):
            (root / name).mkdir()
        port = free_port()
        env = dict(os.environ, ROOT_ACCESS_KEY=ACCESS_KEY, ROOT_SECRET_KEY=SECRET_KEY)
        self.begin = lambda: subprocess.Popen(
            [program, "--port", f"127.0.0.1:{port}", "--keep-alive", "--quiet", *more, "posix",
             "--versioning-dir", root / "old", root / "objects"],
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        super().__init__(self.begin(), [port], folder)
        self.wait_until_up()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.process = self.begin()
        self.wait_until_up()
