"""A server that answers badly, for tests of s3load, with a table of misbehaviours (MODES).

A mode answers some kinds of requests in its way, and all others as S3 would. An answer is a function of the request that
yields steps: bytes are sent; a number is a pause in seconds, which ends early if the client hangs up; CLOSE, RESET and
HOLD end the connection in order, by a reset, or when the client hangs up."""
import contextlib
import re
import select
import socket
import struct
import threading
import urllib.parse

CLOSE, RESET, HOLD = "close", "reset", "hold"
OBJECT_BYTES = 1024
BUCKET = "hostile"
# Objects of others in the bucket, if a mode says so. Nobody may touch them.
FOREIGN = (b"precious/data.db", b"other")
# A pause after good answers: this process serves several clients, and must not be kept busy by one.
PACE_S = 0.02

XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'


# Answers

def answer(status=200, body=b"", *headers, length=None, version=b"HTTP/1.1", date=None):
    """An answer with a Content-Length, which may differ from the length of the body."""
    lines = [version + b" %d Answer" % status]
    if date:
        lines.append(b"Date: " + date)
    lines.append(b"Content-Length: %d" % (len(body) if length is None else length))
    return b"\r\n".join([*lines, *headers, b"", body])


def head(*lines):
    """The lines as they stand, and a blank one."""
    return b"\r\n".join([*lines, b"", b""])


# Text that XML can hold and a terminal would obey: line ends, U+009B, U+202E, U+2028.
ESCAPES = b'a"b\r\nc\td &#10;&#13; &#9; \xc2\x9b31m \xe2\x80\xae \xe2\x80\xa8 \xc3\xbc'
OK = b"HTTP/1.1 200 OK"
CHUNKED = head(OK, b"Transfer-Encoding: chunked")


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def error(status, code, message=b"for a test", *headers):
    return answer(status, XML + b"<Error><Code>%s</Code><Message>%s</Message></Error>" % (code, message),
                  *headers)


def listing(keys, more=b"", token=b"", root=b"ListBucketResult"):
    """A page of a listing; `more` are further elements."""
    truncated = b"true" if token else b"false"
    next_token = b"<NextContinuationToken>%s</NextContinuationToken>" % token if token else b""
    return XML + b"<%s><Name>b</Name><IsTruncated>%s</IsTruncated>%s%s%s</%s>" % (
        root, truncated, next_token, more,
        b"".join(b"<Contents><Key>%s</Key><Size>%d</Size></Contents>" % (k, OBJECT_BYTES) for k in keys), root)


def bomb(root, *path):
    """Ten entities, each ten times the one before, as the text of the element at the path."""
    entities = b"".join(b'<!ENTITY a%d "%s">' % (i, (b"&a%d;" % (i - 1) if i else b"lol") * 10)
                        for i in range(10))
    text = b"&a9;"
    for name in reversed((root, *path)):
        text = b"<%s>%s</%s>" % (name, text, name)
    return XML + b"<!DOCTYPE x [%s]>" % entities + text


# Requests

class Request:
    def __init__(self, server, method, target, headers, body):
        self.server = server
        self.method = method
        self.headers = headers
        self.body = body
        path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.key = urllib.parse.unquote_to_bytes(path).split(b"/", 2)[2] if path.count("/") > 1 else b""
        self.kind = self.kind_of()

    def kind_of(self):
        q = self.query
        if not self.key:
            for name in ("versioning", "object-lock", "location", "policy", "lifecycle", "uploads", "versions",
                         "delete"):
                if name in q:
                    return f"{self.method} ?{name}"
            return "LIST" if self.method == "GET" else f"{self.method} bucket"
        if "uploadId" in q:
            return {"PUT": "PART", "POST": "COMPLETE", "DELETE": "ABORT"}[self.method]
        return "INITIATE" if "uploads" in q else self.method

    def data(self):
        """The bytes of the object: all, or the range that was asked for."""
        data = self.server.objects.get(self.key, b"")
        m = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        return data[int(m[1]):int(m[2]) + 1] if m else data


class Hostile:
    """The server of one mode, at `port`; stop() ends it. It keeps what it saw: `requests` (kind and key of each), `broken`
    (what it could not read), and what is left in it: `objects`, `uploads`."""

    def __init__(self, mode):
        self.mode = mode
        self.objects = {key: b"not ours" for key in mode.foreign}
        self.uploads = set()
        self.planted = set()  # objects and uploads of others that appear below the root of a run
        self.requests = []
        self.removed = []  # keys that clients asked us to delete or to write
        self.n_lists = 0
        self.lock = threading.Lock()
        self.stopped = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.connections = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        self.stopped = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for c in self.connections:
                with contextlib.suppress(OSError):
                    c.shutdown(socket.SHUT_RDWR)

    def accept(self):
        while not self.stopped:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.connections.add(c)
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        try:
            with contextlib.suppress(OSError):
                if self.mode.greeting:
                    c.sendall(self.mode.greeting)
                self.serve_requests(c)
        finally:
            with self.lock:
                self.connections.discard(c)
            c.close()

    def serve_requests(self, c):
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                data = c.recv(1 << 16)
                if not data:
                    return
                buffer += data
            top, buffer = buffer.split(b"\r\n\r\n", 1)
            first, *rest = top.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
            n = int(headers.get("content-length", 0))
            r = Request(self, method, target, headers, b"")
            act = self.mode.answers.get(r.kind)
            with self.lock:
                self.requests.append((r.kind, r.key))
            if act is None or not self.mode.early:
                while len(buffer) < n:
                    data = c.recv(1 << 20)
                    if not data:
                        return
                    buffer += data
                r.body, buffer = buffer[:n], buffer[n:]
                self.note(r)
            if not self.play(c, act(r) if act else self.usual(r)):
                return

    def play(self, c, steps):
        """Returns whether the connection can go on."""
        if isinstance(steps, bytes):
            steps = [steps]
        for step in steps:
            if step == CLOSE:
                return False
            if step == RESET:
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            if step == HOLD:
                while c.recv(1 << 16):
                    pass
                return False
            if isinstance(step, bytes):
                c.sendall(step)
            elif select.select([c], [], [], step)[0] and not c.recv(1, socket.MSG_PEEK):
                return False
        return True

    # What S3 answers

    def note(self, r):
        """Keeps account of what a client may change."""
        with self.lock:
            if r.kind in ("PUT", "DELETE"):
                self.removed.append(r.key)
            elif r.kind == "POST ?delete":
                self.removed += self.keys_of(r)

    @staticmethod
    def keys_of(r):
        return re.findall(rb"<Key>([^<]*)</Key>", r.body)

    def good(self, r):
        """The answer of a server that works, as one piece."""
        with self.lock:
            return self.good_locked(r)

    def usual(self, r):
        yield PACE_S
        yield self.good(r)

    def good_locked(self, r):
        if r.kind == "PUT":
            self.objects[r.key] = r.body
            return answer(200, b"", b'ETag: "e"')
        if r.kind == "PART":
            return answer(200, b"", b'ETag: "e"')
        if r.kind == "GET":
            if r.key not in self.objects:
                return error(404, b"NoSuchKey")
            data = r.data()
            if "range" in r.headers:
                first = int(re.match(r"bytes=(\d+)-", r.headers["range"])[1])
                return answer(206, data, b"Content-Range: bytes %d-%d/%d" % (
                    first, first + len(data) - 1, len(self.objects[r.key])))
            return answer(200, data)
        if r.kind == "HEAD":
            return answer(200 if r.key in self.objects else 404, length=len(self.objects.get(r.key, b"")))
        if r.kind == "DELETE":
            self.objects.pop(r.key, None)
            return head(b"HTTP/1.1 204 No Content")
        if r.kind == "POST ?delete":
            for key in self.keys_of(r):
                self.objects.pop(key, None)
            return answer(200, XML + b"<DeleteResult></DeleteResult>")
        return self.good_of_bucket(r)

    def good_of_bucket(self, r):
        if r.kind == "LIST":
            self.n_lists += 1
            prefix = r.query.get("prefix", "").encode()
            return answer(200, listing(sorted(k for k in self.objects if k.startswith(prefix))[:1000]))
        if r.kind == "GET ?versions":
            prefix = r.query.get("prefix", "").encode()
            keys = sorted(k for k in self.objects if k.startswith(prefix))[:1000]
            return answer(200, XML + b"<ListVersionsResult><IsTruncated>false</IsTruncated>%s</ListVersionsResult>"
                          % b"".join(b"<%s><Key>%s</Key><VersionId>null</VersionId><IsLatest>true</IsLatest></%s>" % (
                              kind, k, kind) for k in keys
                              for kind in (b"Version", b"DeleteMarker")[:1 + (k in self.planted)]))
        if r.kind == "GET ?uploads":
            return answer(200, XML + b"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>%s"
                          b"</ListMultipartUploadsResult>" % b"".join(
                              b"<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>" % u
                              for u in sorted(self.uploads)))
        if r.kind == "INITIATE":
            self.uploads.add((r.key, b"upload-%d" % len(self.requests)))
            return answer(200, XML + b"<InitiateMultipartUploadResult><UploadId>upload-%d</UploadId>"
                          b"</InitiateMultipartUploadResult>" % len(self.requests))
        if r.kind in ("COMPLETE", "ABORT"):
            self.uploads.discard((r.key, r.query["uploadId"].encode()))
            if r.kind == "ABORT":
                return head(b"HTTP/1.1 204 No Content")
            self.objects[r.key] = b""
            return answer(200, XML + b"<CompleteMultipartUploadResult/>")
        if r.kind == "GET ?versioning":
            return answer(200, XML + b"<VersioningConfiguration/>")
        if r.kind == "GET ?object-lock":
            return error(404, b"ObjectLockConfigurationNotFoundError")
        if r.kind == "GET ?location":
            return answer(200, XML + b"<LocationConstraint/>")
        return answer(200)


# The table

TIMED_OUT = "timeout: no complete answer within"
NONE_SUCCEEDED = r"none of [0-9,]+ requests? succeeded, the first failed with: .*(%s)"


class Mode:
    """One way to answer badly, and what s3load must make of it.

    command      with its options; COMMON comes after it
    answers      kind of request to what answers it
    errors       of the rows of `op`: a pattern that the error of every row holds; "" if all succeed; a
                 pair (how many at least hold it, pattern) if others may succeed
    status       of s3load
    says         a pattern of what it writes to standard error; None: that no request succeeded, and why
    leaves       True if objects or uploads stay behind, and it says so
    rows         False if the run does not come to the benchmark
    bytes        of each row of `op`
    early        the answer does not wait for the body of the request
    greeting     what is sent before any request
    foreign      objects of others that the bucket holds"""

    def __init__(self, command, answers, errors=None, *, op=None, status=1, says=None, options=(), leaves=False,
                 early=False, greeting=b"", foreign=(), rows=True, bytes=None):
        self.command = command
        self.op = op or {"delete": "DELETE", "multipart": "PUTPART"}.get(command, command.upper())
        self.answers = answers
        self.errors = errors
        self.status = status
        self.says = NONE_SUCCEEDED % errors.lstrip("^") if says is None else says
        self.options = options
        self.leaves = leaves
        self.early = early
        self.greeting = greeting
        self.foreign = foreign
        self.rows = rows
        self.bytes = bytes
        # Only modes that end by a time-out have a short one: all others may have to wait for a CPU.
        self.timeout = "5s" if TIMED_OUT in f"{errors} {self.says}" else "30s"


MODES = {}
X = b"x" * OBJECT_BYTES


def steps(*items):
    """An answer that is the same for all requests."""
    return lambda r: items


def get(name, *items, errors, status=None, **kwargs):
    """A mode that answers every GET with the items."""
    good = errors == ""
    MODES[name] = Mode("get", {"GET": steps(PACE_S, *items)}, errors,
                       status=(0 if good else 1) if status is None else status,
                       **{"says": "" if good else None, **kwargs})


def mode(name, *args, **kwargs):
    MODES[name] = Mode(*args, **kwargs)


def endless(piece):
    def act(_):
        while True:
            yield piece
    return act


def drip(data, every_s=0.05):
    def act(_):
        for byte in data:
            yield bytes([byte])
            yield every_s
        yield HOLD
    return act


NO_STATUS_LINE = "does not begin with an HTTP/1.1 status line"

# The status line

get("status-bytes", b"HTTP/1.1 \xff\xff OK\r\n\r\n", errors=NO_STATUS_LINE)
get("status-five-digits", head(b"HTTP/1.1 20000 OK", b"Content-Length: 0"), errors=NO_STATUS_LINE)
get("status-negative", head(b"HTTP/1.1 -20 OK", b"Content-Length: 0"), errors=NO_STATUS_LINE)
get("status-below-100", head(b"HTTP/1.1 099 Low", b"Content-Length: 0"), errors="HTTP status 099")
get("status-999", answer(999), errors="^HTTP 999$")
get("http-0.9", X, CLOSE, errors="more than 8192|closed|status line|without CR")
get("http-0.9-line", b"hello world\r\n", CLOSE, errors=NO_STATUS_LINE)
get("http-2", head(b"HTTP/2.0 200 OK", b"Content-Length: 0"), errors=NO_STATUS_LINE)
get("http-1.0-until-close", b"HTTP/1.0 200 OK\r\n\r\n" + X, CLOSE, errors="")
get("http-1.0-with-length", answer(200, X, version=b"HTTP/1.0"), errors="")
get("http-1.0-chunked", head(b"HTTP/1.0 200 OK", b"Transfer-Encoding: chunked") + chunk(X) + b"0\r\n\r\n",
    errors="Transfer-Encoding in an HTTP/1.0 response")
get("garbage-before-status", b"\0\1\2junk\r\n" + answer(200, X), errors="control character|status line")
get("blank-line-before-status", b"\r\n" + answer(200, X), errors=NO_STATUS_LINE)
get("random-bytes", bytes((i * 7919 + i * i) % 251 for i in range(5000)), CLOSE, errors="\\S")
get("tls-alert", b"\x15\x03\x01\x00\x02\x02\x46", CLOSE, errors="speaks TLS: --tls is missing")
get("tls-hello-answer", b"\x16\x03\x03\x00\x7a\x02" + b"\n" + b"\0" * 120, CLOSE, errors="speaks TLS: --tls is missing")
get("half-status-then-close", b"HTTP/1.1 20", CLOSE, errors="closed within the response headers")
get("half-status-then-silence", b"HTTP/1.1 20", HOLD, errors=TIMED_OUT)

# Headers

get("header-too-long", head(OK, b"X: " + b"a" * 9000, b"Content-Length: 1024") + X, errors="more than 8192 bytes")
MODES["header-endless-line"] = Mode("get", {"GET": lambda r: iter([OK + b"\r\nX: "] + [b"a" * 65536] * 400)},
                                    "more than 8192 bytes")
MODES["headers-endless"] = Mode("get", {"GET": lambda r: iter([OK + b"\r\n"] + [b"X: y\r\n" * 5000] * 400)},
                                "more than 65536 bytes of headers")
get("header-without-colon", head(OK, b"nonsense", b"Content-Length: 1024") + X, errors="without a name and a colon")
get("header-blank-before-colon", head(OK, b"Content-Length : 1024") + X, errors="without a name and a colon")
get("header-without-name", head(OK, b": x", b"Content-Length: 1024") + X, errors="without a name and a colon")
get("header-folded", head(OK, b"X: a", b" b", b"Content-Length: 1024") + X, errors="folded header line")
get("header-nul", head(OK, b"X: a\0b", b"Content-Length: 1024") + X, errors="control character")
get("header-bare-lf", b"HTTP/1.1 200 OK\nContent-Length: 1024\n\n" + X, errors="without CR")
MODES["header-drip"] = Mode("get", {"GET": drip(OK + b"\r\nX: " + b"a" * 500)}, TIMED_OUT)
get("date-nonsense", answer(200, X, date=b"Foo, 99 Zzz 99999 99:99:99 GMT"), errors="")
get("etag-of-8-kib", answer(200, X, b'ETag: "%s"' % (b"e" * 8000)), errors="")

# When

get("silence", HOLD, errors=TIMED_OUT)
get("close", CLOSE, errors="closed before a response|reset by peer")
get("reset", RESET, errors="reset by peer|closed before a response")
get("reset-in-body", answer(200, X[:500], length=1024), RESET, errors="reset by peer|closed after")
get("close-after-each", answer(200, X, b"Connection: close"), CLOSE, errors="")
get("close-after-each-unsaid", answer(200, X), CLOSE, errors="")
get("three-answers", answer(200, X) * 3, errors="")
get("junk-behind-answer", answer(200, X) + b"junk", errors="")
get("interim", head(b"HTTP/1.1 100 Continue") + head(b"HTTP/1.1 103 Early Hints", b"Link: a") + answer(200, X),
    errors="")
MODES["interim-endless"] = Mode("get", {"GET": lambda r: iter([head(b"HTTP/1.1 100 Continue") * 500] * 400)},
                                "more than 16 interim responses")
get("interim-then-close", head(b"HTTP/1.1 100 Continue"), CLOSE, errors="closed")
get("switching-protocols", head(b"HTTP/1.1 101 Switching", b"Upgrade: x"), errors="switches protocols")

# Content-Length

get("length-negative", head(OK, b"Content-Length: -5") + b"hello", errors="bad Content-Length")
get("length-plus", head(OK, b"Content-Length: +1024") + X, errors="bad Content-Length")
get("length-hex", head(OK, b"Content-Length: 0x400") + X, errors="bad Content-Length")
get("length-empty", head(OK, b"Content-Length:") + X, errors="bad Content-Length")
get("length-huge", head(OK, b"Content-Length: 99999999999999999999999") + X, errors="bad Content-Length")
get("length-of-63-bits", head(OK, b"Content-Length: 9223372036854775807") + X, CLOSE, errors="bad Content-Length|closed")
get("length-of-18-digits", head(OK, b"Content-Length: 999999999999999999") + X, CLOSE,
    errors="after 1024 of 999999999999999999")
get("length-list", head(OK, b"Content-Length: 1024, 1024") + X, errors="bad Content-Length")
get("length-twice", head(OK, b"Content-Length: 1024", b"Content-Length: 1024") + X, errors="")
get("length-twice-differing", head(OK, b"Content-Length: 5", b"Content-Length: 1024") + X, errors="two different Content-Length")
get("length-and-chunked", head(OK, b"Content-Length: 5", b"Transfer-Encoding: chunked") + chunk(X) + b"0\r\n\r\n", errors="")
get("length-too-large", answer(200, X[:500], length=1024), CLOSE, errors="closed after 500 of 1024", bytes=500)
get("length-too-small", answer(200, X * 5, length=1024), errors="")
get("length-none", head(OK) + X, CLOSE, errors="")
get("length-none-short", head(OK) + X[:77], CLOSE, errors="77 bytes came, 1024 were expected", bytes=77)
get("length-none-held", head(OK) + X, HOLD, errors=TIMED_OUT)
get("object-shorter", answer(200, X[:77]), errors="77 bytes came, 1024 were expected", bytes=77)
get("object-longer", answer(200, X * 9), errors="9216 bytes came, 1024 were expected", bytes=9216)
get("object-empty", answer(200), errors="0 bytes came, 1024 were expected", bytes=0)
get("body-stalls", answer(200, X[:500], length=1024), HOLD, errors=TIMED_OUT)
MODES["body-drip"] = Mode("get", {"GET": drip(answer(200, X))}, TIMED_OUT)

# Chunks

get("chunks-odd-but-right", CHUNKED + b"200;a=b\r\n" + X[:512] + b"\r\n" + b"200 \r\n" + X[:512] + b"\r\n0\r\nx-t: 1\r\n\r\n",
    errors="")
get("chunks-of-a-byte", CHUNKED + chunk(b"x") * 1024 + b"0\r\n\r\n", errors="")
get("chunk-size-letters", CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n", errors="bad chunk size")
get("chunk-size-negative", CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n", errors="bad chunk size")
get("chunk-size-empty", CHUNKED + b"\r\nhello\r\n0\r\n\r\n", errors="bad chunk size")
get("chunk-size-huge", CHUNKED + b"f" * 20 + b"\r\nhello\r\n", errors="more than 15 digits")
get("chunk-size-wraps", CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n", errors="more than 15 digits")
get("chunk-size-of-60-bits", CHUNKED + b"f" * 15 + b"\r\n" + X, CLOSE, errors="within a chunked body")
get("chunk-longer-than-size", CHUNKED + b"5\r\nhello world\r\n0\r\n\r\n", errors="chunk is longer than its size|without CR")
get("chunk-extension-endless", CHUNKED + b"5;" + b"a" * 100000, CLOSE, errors="more than 8192")
get("chunk-cut", CHUNKED + b"400\r\n" + X[:10], CLOSE, errors="within a chunked body, after 10 bytes")
get("chunk-last-missing", CHUNKED + chunk(X), HOLD, errors=TIMED_OUT)
get("chunk-last-missing-close", CHUNKED + chunk(X), CLOSE, errors="within a chunked body")
MODES["trailers-endless"] = Mode(
    "get", {"GET": lambda r: iter([CHUNKED + chunk(X) + b"0\r\n"] + [b"X: y\r\n" * 5000] * 400)},
    "more than 65536 bytes of headers")
get("trailer-bad", CHUNKED + chunk(X) + b"0\r\nnonsense\r\n\r\n", errors="without a name and a colon")
get("coding-gzip-chunked", head(OK, b"Transfer-Encoding: gzip, chunked") + chunk(X) + b"0\r\n\r\n",
    errors="other than chunked")
get("coding-twice", head(OK, b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + chunk(X) + b"0\r\n\r\n",
    errors="other than chunked")
get("content-gzip", answer(200, X, b"Content-Encoding: gzip"), errors="the body is not what was uploaded",
    options=("--verify", "1"))

# What a status says

get("status-204-with-body", head(b"HTTP/1.1 204 No Content", b"Content-Length: 5") + b"hello", errors="0 bytes came")
get("status-304", head(b"HTTP/1.1 304 Not Modified"), errors="^HTTP 304")
get("status-206-unasked", answer(206, X, b"Content-Range: bytes 0-1023/1024"), errors="206")
get("status-200-with-error", answer(200, b"<Error><Code>InternalError</Code></Error>"), errors="41 bytes came|InternalError")
get("status-307", answer(307, b"", b"Location: http://127.0.0.1:1/"), errors="HTTP 307")
get("status-301-with-region", error(301, b"PermanentRedirect", b"elsewhere", b"x-amz-bucket-region: eu-central-1"),
    errors="HTTP 301 PermanentRedirect")
get("status-503-cut", answer(503, b"<Error><Code>SlowDown</Code><Message>Reduce", length=500), CLOSE,
    errors="HTTP 503.*closed after")
get("status-500-html", answer(500, b"<html><body><p>oops<br></body></html>"), errors="^HTTP 500")
get("status-500-text", answer(500, b"something broke\n"), errors="^HTTP 500: something broke$")
get("error-code-of-10-mb", error(500, b"A" * 10_000_000), errors="^HTTP 500")
get("error-message-of-1-mb", error(500, b"SlowDown", b"B" * 1_000_000), errors="^HTTP 500 SlowDown")
get("error-escapes", error(500, b"Slow&#9;Down", ESCAPES),
    errors="^HTTP 500 Slow")
get("error-escape-byte", error(500, b"Slow\x1b[31mDown"), errors="^HTTP 500")
get("error-text-with-escapes", answer(500, b"\x1b]0;title\x07\x1b[31mred\n"), errors="^HTTP 500")
get("error-bomb", answer(500, bomb(b"Error", b"Code")), errors="^HTTP 500")
get("clock-far-off", answer(200, X, date=b"Sat, 01 Jan 2000 00:00:00 GMT"), errors="", says="clock")
get("clock-refused", error(403, b"RequestTimeTooSkewed"), errors="HTTP 403 RequestTimeTooSkewed")

RANGE = ("--range-size", "100")
get("range-ignored", answer(200, X), errors="HTTP 200 to a request for a range", options=RANGE)
get("range-wrong", answer(206, X[:100], b"Content-Range: bytes 900000-900099/1000000"), errors="another range than asked for",
    options=RANGE)
get("range-nonsense", answer(206, X[:100], b"Content-Range: bytes 99-5/7"), errors="another range than asked for", options=RANGE)
get("range-not-said", answer(206, X[:100]), errors="another range than asked for", options=RANGE)
get("range-short", answer(206, X[:50], b"Content-Range: bytes 0-49/1024"), errors="another range than asked for", options=RANGE)
get("range-multipart", answer(206, b"--b\r\n\r\n" + X[:100] + b"\r\n--b--", b"Content-Type: multipart/byteranges; boundary=b"),
    errors="bytes came|another range than asked for", options=RANGE)

# Before any request

mode("answer-first", "get", {}, says="before|no server answers|answer", greeting=answer(200, X) * 3, rows=False)
mode("greeting-of-another-protocol", "get", {}, says=NO_STATUS_LINE + "|220|before",
     greeting=b"220 mail.example ESMTP\r\n", rows=False)

# Over TLS

TLS = ("--tls",)
mode("tls-asked-of-http", "get", {}, says="no server answers.*(TLS|SSL)", rows=False, options=TLS,
     greeting=answer(400, b"This is HTTP"))
mode("tls-garbage", "get", {}, says="no server answers.*(TLS|SSL)", rows=False, options=TLS, greeting=b"\x16\x03\x03\xff\xff" +
     bytes(i * 7919 % 251 for i in range(70000)))
mode("tls-alert-at-once", "get", {}, says="no server answers.*(TLS|SSL)", rows=False, options=TLS,
     greeting=b"\x15\x03\x03\x00\x02\x02\x28")
mode("tls-silence", "get", {}, says="no server answers.*([Tt]ime|timed)", rows=False, options=TLS)

# PUT

def put(name, *items, errors, **kwargs):
    good = errors == ""
    MODES[name] = Mode("put", {"PUT": steps(PACE_S, *items)}, errors, **{
        "status": 0 if good else 1, "says": "" if good else None, **kwargs})


LARGE = ("--obj.size", "8MiB")
put("put-refused-early", error(403, b"AccessDenied"), CLOSE, errors="HTTP 403|reset|pipe|closed", early=True,
    options=LARGE)
put("put-answered-early", answer(200), HOLD, errors="before the request was sent|reset|pipe|closed", early=True,
    options=LARGE)
put("put-never-read", HOLD, errors=TIMED_OUT)
put("put-body-never-read", 30, errors=TIMED_OUT, early=True, options=LARGE)
put("put-reset-in-body", RESET, errors="reset|pipe|closed", early=True, options=LARGE)
put("put-quota", error(507, b"QuotaExceeded", b"full"), errors="HTTP 507 QuotaExceeded: full")
put("put-200-with-error", error(200, b"InternalError"), errors="^HTTP 200 InternalError: for a test")
NOT_KEPT = {"status": 1, "says": r"may be left .*\(([0-9,]+) of \1 objects? were not listed\)"}
put("put-200-with-page", answer(200, b"<html><body><p>hello<br></body></html>"), errors="", **NOT_KEPT)
put("put-interim", head(b"HTTP/1.1 100 Continue") + answer(200), errors="", **NOT_KEPT)
put("put-304", head(b"HTTP/1.1 304 Not Modified"), errors="^HTTP 304")
mode("upload-refused", "get", {"PUT": steps(error(507, b"QuotaExceeded", b"full"))}, says="QuotaExceeded", rows=False)
mode("upload-error-escapes", "get", {"PUT": steps(error(507, b"Quota", ESCAPES))}, says="HTTP 507 Quota", rows=False)
mode("upload-silent", "get", {"PUT": steps(HOLD)}, says=TIMED_OUT, rows=False)

# STAT

def stat(name, *items, errors, **kwargs):
    good = errors == ""
    MODES[name] = Mode("stat", {"HEAD": steps(PACE_S, *items)}, errors, **{
        "status": 0 if good else 1, "says": "" if good else None, **kwargs})


stat("stat-with-body", answer(200, X), errors="")
stat("stat-chunked", CHUNKED, errors="")
stat("stat-404", head(b"HTTP/1.1 404 Not Found", b"Content-Length: 0"), errors="^HTTP 404")
stat("stat-half", b"HTTP/1.1 200 OK\r\nContent-", CLOSE, errors="closed within the response headers")
stat("stat-500-with-body", error(500, b"InternalError"), errors="^HTTP 500")

# LIST

def in_bench(act):
    """An answer to listings below the prefix of a worker while its objects are there; others are usual."""
    def choose(r):
        own = re.fullmatch(r"s3load-[^/]*/[0-9a-f]{4}/", r.query.get("prefix", ""))
        with r.server.lock:
            cleans = any(kind == "POST ?delete" for kind, _ in r.server.requests)
        if not own or cleans:
            return r.server.usual(r)
        done = act(r)
        return [PACE_S, *(done if isinstance(done, (list, tuple)) else [done])]
    return choose


def lists(name, body, errors, **kwargs):
    """A mode that answers listings with this body."""
    act = body if callable(body) else lambda r: answer(200, body)
    good = errors == ""
    # Cleaning lists too, and gets the same answer.
    MODES[name] = Mode("list", {"LIST": in_bench(act)}, errors, **{
        "status": 0 if good else 1, "says": "" if good else None, "leaves": True, **kwargs})


def own_keys(r):
    prefix = r.query.get("prefix", "").encode()
    with r.server.lock:
        return sorted(k for k in r.server.objects if k.startswith(prefix))


lists("list-html", b"<html><body><p>hello<br></body></html>", "XML|another document")
lists("list-html-well-formed", b"<html><body><p>hello</p></body></html>", "another document than asked for: <html>")
lists("list-no-body", b"", "XML")
lists("list-cut", lambda r: answer(200, listing(own_keys(r))[:-30]), "XML")
lists("list-error", XML + b"<Error><Code>InternalError</Code><Message>oh</Message></Error>", "InternalError")
lists("list-of-versions", listing([], root=b"ListVersionsResult"), "another document than asked for: <ListVersionsResult>")
lists("list-bomb", bomb(b"ListBucketResult", b"Contents", b"Key"), "document type")
lists("list-external-entity",
      XML + b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><ListBucketResult><Contents><Key>&x;</Key>'
      b"</Contents></ListBucketResult>", "document type")
lists("list-deep", b"<a>" * 100000, "nested too deeply")
lists("list-key-of-5-mb", listing([b"k" * 5_000_000]), "longer than")
lists("list-token-of-5-mb", listing([], token=b"t" * 5_000_000), "longer than")
lists("list-nul", listing([b"a\0b"]), "XML")
lists("list-not-utf-8", listing([b"a\xff\xfeb"]), "XML")
lists("list-utf-16", listing([b"a"]).decode().encode("utf-16"), "XML|object|prefix")
lists("list-size-letters", XML + b"<ListBucketResult><Contents><Key>k</Key><Size>many</Size></Contents></ListBucketResult>",
      "Size in the answer's XML is not a number")
lists("list-size-negative", XML + b"<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>",
      "Size in the answer's XML is not a number")
lists("list-twice", lambda r: answer(200, listing(own_keys(r)) * 2), "XML")
lists("list-empty", listing([]), "object")
lists("list-truncated-without-token", lambda r: answer(
    200, listing(own_keys(r)).replace(b"<IsTruncated>false", b"<IsTruncated>true")), "token: does the server know ListObjectsV2|the same page")
lists("list-same-token", lambda r: answer(200, listing([], token=b"again")), "token")
lists("list-endless-pages", lambda r: answer(200, listing(own_keys(r), token=b"t%d" % len(r.server.requests))), "goes back to")
lists("list-silent", lambda r: [HOLD], TIMED_OUT)
lists("list-of-others", listing(FOREIGN), "prefix|object")
lists("list-keys-up", listing([b"../x", b"s3load-abc/x", b""]), "prefix|object")

lists("list-key-of-escapes", listing([ESCAPES]), "prefix|object")

# Cleaning

def cleans(name, act, says="may be left", **kwargs):
    """A mode that answers requests to delete in this way, and deletes nothing."""
    MODES[name] = Mode("get", {"POST ?delete": act, "DELETE": act}, "", status=1, says=says, leaves=True, **kwargs)


cleans("delete-bomb", steps(answer(200, bomb(b"DeleteResult", b"Deleted", b"Key"))), says="may be left.*document type")
cleans("delete-html", steps(answer(200, b"<html>ok</html>")), says="may be left.*another document")
cleans("delete-no-body", steps(answer(200)), says="may be left.*XML")
cleans("delete-not-done", steps(answer(200, b"<DeleteResult/>")), says="may be left.*after it was deleted")
cleans("delete-refused-by-key", steps(answer(200, b"<DeleteResult>" + b"<Error><Key>x</Key><Code>AccessDenied</Code>"
                                             b"<Message>no</Message></Error>" * 100 + b"</DeleteResult>")),
       says="may be left.*more objects were not deleted than the 4 asked for: AccessDenied: no")
cleans("delete-refused", steps(error(403, b"AccessDenied")), says="may be left.*AccessDenied")
cleans("delete-of-too-many", steps(answer(200, b"<DeleteResult>" + b"<Deleted><Key>x</Key></Deleted>" * 100000 +
                                          b"</DeleteResult>")), says="may be left.*after it was deleted")
cleans("delete-silent", steps(HOLD), says="may be left.*(" + TIMED_OUT + ")")
cleans("delete-closed", steps(CLOSE), says="may be left.*closed")


def of_others(r):
    """Each listing names objects of others as well."""
    if not r.query.get("prefix"):
        return r.server.usual(r)
    return [answer(200, listing(own_keys(r) + list(FOREIGN)))]


mode("clean-lists-others", "get", {"LIST": of_others}, "", says="may be left.*not below the prefix", leaves=True)
mode("clean-lists-escapes", "get", {"LIST": lambda r: r.server.usual(r) if not r.query.get("prefix") else [
    answer(200, listing(own_keys(r) + [ESCAPES]))]}, "", says="may be left.*not below the prefix", leaves=True)
mode("clean-list-html", "get", {"LIST": lambda r: r.server.usual(r) if not r.query.get("prefix") else
                                [answer(200, b"<html>")]}, "", says="may be left.*XML", leaves=True)
mode("clean-list-same-token", "get", {"LIST": lambda r: r.server.usual(r) if not r.query.get("prefix") else
                                      [answer(200, listing(own_keys(r), token=b"again"))]}, "",
     says="may be left.*the same continuation token twice")


def behind_empty_page(r):
    """The first page of each listing is empty, and not the last."""
    return r.server.usual(r) if "continuation-token" in r.query else [answer(200, listing([], token=b"on"))]


mode("clean-list-empty-page", "get", {"LIST": behind_empty_page}, "", status=0, says="")


def endless_below(r):
    """Each listing below the run shows ten further objects."""
    prefix = r.query.get("prefix", "").encode()
    if not prefix:
        return r.server.usual(r)
    first = len(r.server.requests) * 10
    return [answer(200, listing([b"%s%016x" % (prefix, first + i) for i in range(10)], token=b"on"))]


# Names below the root of a run that no run gives.
BELOW = (b"../precious", b"0001/mine.txt", b"0001/012345678", b"0123456789ABCDEF", b"00001/0123456789abcdef", b"precious.db")


def plant(server, root):
    for name in BELOW:
        server.objects.setdefault(root + name, b"theirs")
        server.planted.add(root + name)


def others_appear(r):
    """As soon as the run lists what it has stored, there are objects of others below its root."""
    with r.server.lock:
        for key in [k for k in r.server.objects if k.startswith(b"s3load-") and k not in r.server.planted]:
            plant(r.server, key.split(b"/")[0] + b"/")
    return r.server.usual(r)


def uploads_appear(r):
    with r.server.lock:
        r.server.planted |= {(r.query["prefix"].encode() + name, b"theirs") for name in BELOW}
        r.server.uploads |= r.server.planted
    return r.server.usual(r)


def behind_others(r):
    """A whole page of others comes before the objects of the run."""
    prefix = r.query.get("prefix", "").encode()
    if not prefix or "continuation-token" in r.query:
        return r.server.usual(r)
    return [answer(200, listing([b"%s-%03d" % (prefix, i) for i in range(1000)], token=b"on"))]


def all_vanish(r):
    """Before the run cleans, someone else has deleted all."""
    with r.server.lock:
        r.server.objects.clear()
    return r.server.usual(r)


KEEPS = r"s3load did not write 's3load-\w+/%s', and keeps it"
mode("clean-others-below", "get", {"LIST": others_appear}, "", status=0, says=KEEPS % r"\.\./precious")
mode("clean-others-below-with-versions", "get", {"GET ?versioning": steps(error(403, b"AccessDenied")),
                                                 "GET ?versions": others_appear}, "", status=0, says=KEEPS % r"\.\./precious")
mode("clean-others-before", "get", {"LIST": behind_others}, "", status=0, says=KEEPS % "-000")
mode("clean-gone-already", "get", {"GET ?versioning": all_vanish, "DELETE": steps(error(403, b"AccessDenied"))}, "",
     status=0, says=r"\A\Z")
mode("clean-gone-perhaps", "get", {"GET ?versioning": all_vanish, "HEAD": steps(answer(503))}, "", status=1,
     says="may be left .*4 of 4 objects were not listed")
mode("clean-list-endless", "get", {"LIST": endless_below}, "", says="may be left.*ever more than this run", leaves=True)
mode("clean-list-silent", "get", {"LIST": lambda r: r.server.usual(r) if not r.query.get("prefix") else [HOLD]}, "",
     says="may be left.*" + TIMED_OUT, leaves=True)

# delete

mode("batch-refused-by-key", "delete", {"POST ?delete": lambda r: [answer(
    200, b"<DeleteResult>" + b"".join(b"<Error><Key>%s</Key><Code>AccessDenied</Code><Message>no</Message></Error>" % k
                                      for k in r.server.keys_of(r)) + b"</DeleteResult>")]},
     "not deleted: AccessDenied", leaves=True)
mode("batch-more-errors-than-keys", "delete", {"POST ?delete": steps(answer(
    200, b"<DeleteResult>" + b"<Error><Key>x</Key><Code>AccessDenied</Code></Error>" * 500 + b"</DeleteResult>"))},
     "more objects were not deleted than the 4 asked for: AccessDenied", leaves=True)

# multipart

PARTS = ("--parts", "2", "--part.size", "1KiB")


def multipart(name, answers, *args, **kwargs):
    MODES[name] = Mode("multipart", answers, *args, options=PARTS, **kwargs)


multipart("uploads-of-others-below", {"GET ?uploads": uploads_appear}, "", op="COMPLETE", status=0,
          says=KEEPS % r"\.\./precious")
multipart("initiate-without-id", {"INITIATE": steps(PACE_S, answer(
    200, b"<InitiateMultipartUploadResult/>"))}, "upload id|UploadId", op="INITIATE")
multipart("initiate-html", {"INITIATE": steps(PACE_S, answer(200, b"<html></html>"))}, "another document",
          op="INITIATE")
multipart("part-500", {"PART": steps(PACE_S, error(500, b"InternalError"))}, "HTTP 500 InternalError",
          says="no part was uploaded.* HTTP 500")
multipart("part-without-etag", {"PART": steps(PACE_S, answer(200))}, "ETag", says="no part was uploaded.*ETag")
multipart("complete-200-with-error", {"COMPLETE": steps(answer(
    200, XML + b" " * 1000 + b"<Error><Code>InternalError</Code><Message>oh</Message></Error>"))},
          "HTTP 200 InternalError: oh", op="COMPLETE", status=0, says="")
multipart("complete-white-space-first", {"COMPLETE": steps(answer(
    200, b" \r\n" * 1000 + XML + b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"))},
          "", op="COMPLETE", status=1, says=r"\d of \d objects? (was|were) not listed")
multipart("complete-cut", {"COMPLETE": steps(answer(200, XML + b"<CompleteMultipartUploadResult>", length=500), CLOSE)},
          "closed after", op="COMPLETE", status=0, says="")
multipart("abort-refused", {"PART": steps(PACE_S, error(500, b"InternalError")), "ABORT": steps(error(403, b"AccessDenied"))},
          "HTTP 500 InternalError", leaves=True, says="upload|may be left")

# The bucket

def bucket(name, answers, says, command="get", **kwargs):
    MODES[name] = Mode(command, answers, says=says, rows=False, **kwargs)


HEAD_404 = steps(head(b"HTTP/1.1 404 Not Found", b"Content-Length: 0"))
bucket("bucket-403", {"HEAD bucket": steps(answer(403)), "LIST": steps(error(403, b"AccessDenied"))}, "AccessDenied")
bucket("bucket-error-escapes", {"HEAD bucket": steps(answer(403)), "LIST": steps(error(403, b"Denied", ESCAPES))},
       "HTTP 403 Denied")
MODES["bucket-403-but-prefix"] = Mode("get", {"HEAD bucket": steps(answer(403)), "LIST": lambda r: (
    r.server.usual(r) if r.query.get("prefix", "").startswith("s3load-team/") else [error(403, b"AccessDenied")])}, "", status=0, says="",
                                      options=("--prefix", "s3load-team/"))
bucket("bucket-500", {"HEAD bucket": steps(answer(500))}, "HTTP 500")
bucket("bucket-silent", {"HEAD bucket": steps(HOLD)}, "no server answers.*(" + TIMED_OUT + ")")
bucket("bucket-garbage", {"HEAD bucket": steps(b"nonsense\r\n\r\n", CLOSE)}, NO_STATUS_LINE)
bucket("bucket-301", {"HEAD bucket": steps(head(b"HTTP/1.1 301 Moved", b"x-amz-bucket-region: eu-central-1",
                                                b"Content-Length: 0")),
                      "LIST": steps(error(301, b"PermanentRedirect", b"elsewhere", b"x-amz-bucket-region: eu-central-1"))},
       "eu-central-1")
bucket("bucket-taken", {"HEAD bucket": HEAD_404, "PUT bucket": steps(error(409, b"BucketAlreadyExists"))}, "BucketAlreadyExists")
bucket("bucket-not-made", {"HEAD bucket": HEAD_404, "PUT bucket": steps(CLOSE)}, "cannot make bucket.*closed")
bucket("bucket-made-and-gone", {"HEAD bucket": HEAD_404, "LIST": steps(error(404, b"NoSuchBucket"))}, "NoSuchBucket")
bucket("bucket-list-html", {"LIST": steps(answer(200, b"<html></html>"))}, "cannot list bucket.*another document")
bucket("bucket-list-bomb", {"LIST": steps(answer(200, bomb(b"ListBucketResult", b"Contents", b"Key")))}, "document type")
bucket("bucket-list-endless", {"LIST": lambda r: [answer(200, listing(
    [b"k%09d" % len(r.server.requests)], token=b"t%d" % len(r.server.requests)))]}, "objects? of others", foreign=(b"k",))
bucket("bucket-of-others", {}, "2 objects of others", foreign=FOREIGN)
bucket("bucket-of-others-behind-empty-page", {"LIST": behind_empty_page}, "2 objects of others", foreign=FOREIGN)
bucket("existing-endless-same-token", {"LIST": lambda r: [answer(200, listing([], token=b"t"))]},
       "the same continuation token twice", options=("--list-existing",))
bucket("existing-endless-repeats", {"LIST": lambda r: [answer(200, listing([b"k"], token=b"t%d" % len(r.server.requests)))]},
       "goes back to", options=("--list-existing",))
# Of an endless list only as many as asked for are read; these cannot be read.
bucket("existing-endless-pages", {"LIST": lambda r: [answer(200, listing(
    [b"k%09d" % len(r.server.requests)], token=b"t%d" % len(r.server.requests)))]}, "NoSuchKey",
       options=("--list-existing", "--objects", "20"))
bucket("existing-none", {}, "holds no object", options=("--list-existing",))
bucket("versioning-refused", {"PUT ?versioning": steps(error(501, b"NotImplemented"))}, "NotImplemented|version",
       command="versioned")
bucket("versioning-html", {"GET ?versioning": steps(answer(200, b"<html>")),
                           "PUT ?versioning": steps(answer(200, b"<html>"))}, "version|XML", command="versioned")
bucket("versioning-without-ids", {}, "no version ids|version", command="versioned")
bucket("lock-not-there", {}, "object lock", command="retention")
bucket("lock-html", {"GET ?object-lock": steps(answer(200, b"<html></html>"))}, "lock|document", command="retention")
