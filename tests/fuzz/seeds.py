"""The inputs that fuzzing of each target begins with, from testdata and by hand (tests/fuzz/NAME.c says what
an input is)."""
import gzip
import io
import pathlib
import struct
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import aggregates  # noqa: E402
import capgen  # noqa: E402  (needs the path)
import zstd  # noqa: E402

START_NS = 1795239958 * 10**9
N_ROWS = 8


def captures():
    """The first rows of the captures in testdata, and made-up ones of all generations with hostile texts."""
    for path in sorted((ROOT / "testdata").glob("*.csv.zst")):
        lines = zstd.decodable(path.read_bytes()).split(b"\n")
        yield b"\n".join(lines[:N_ROWS]) + b"\n"
    shape = capgen.Shape(n=N_ROWS, ops=("GET", "PUT"), error_frac=0.5, sizes=(1, 65536, 1 << 20))
    rows = capgen.simulate(1, shape)
    hostile = [r._replace(op="<zq>" + r.op, host='http://<zq onload="x">', file="\u202e<zq>&\n",
                          error=r.error and "<zq>\x1b[31m") for r in rows]
    yield capgen.text(hostile)
    for generation in range(5):
        yield capgen.text(rows, generation=generation)
    yield b"".join(capgen.text(rows, generation=g) for g in (4, 0))


def of_capture():
    for i, text in enumerate(captures()):
        yield bytes([i, 0]) + text
        yield bytes([i, 20 + i]) + text
        frame = zstd.frame(text[:100], text[100:])
        yield bytes([i, 0]) + frame + zstd.skippable(b"x") + frame[:-9]


def of_commands():
    for i, text in enumerate(captures()):
        yield bytes([i]) + text


def of_aggregate():
    shape = capgen.Shape(n=40, ops=("GET", "PUT"), error_frac=0.2, sizes=(4096,), hosts=2, clients=2, median=10**9)
    for rows in capgen.simulate(1, shape), capgen.steady(7, every=10**9):
        document = aggregates.aggregate(rows)
        yield zstd.frame(aggregates.text(document))
        small = {k: document[k] for k in ("v", "commandline", "total", "by_op_type")}
        yield aggregates.text(small).replace(b" ", b"").replace(b"\n", b"")


def of_profile():
    folder = ROOT / "testdata" / "profiles"
    for name in "goroutine", "block":
        packed = (folder / f"{name}.pprof").read_bytes()
        yield b"\0" + packed
        yield b"\0" + gzip.decompress(packed)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("profile-h:1-cpu.pprof", packed)
        yield b"\1" + archive.getvalue()
    yield b"\0x 1/2 [0] 1.5: 3 cpu-clock:u: \n\t ff f+0x1 (/a)\n\t fe g (inlined)\n\t fe h+0x2 (/a)\n\n"


def of_sums():
    for path in sorted((ROOT / "tests" / "fuzz" / "regress" / "sums").glob("*.json")):
        yield path.read_bytes()


def of_import():
    for form, name in enumerate(("hey.csv", "ab.tsv", "mc-trace.json", "s3.log")):
        lines = (ROOT / "testdata" / "import" / name).read_bytes().split(b"\n")
        yield bytes([form]) + b"\n".join(lines[:N_ROWS]) + b"\n"
        yield bytes([form]) + b"\n".join(lines[-N_ROWS:])


def of_record():
    for text in b"GET\0c\0http://h:1\0key\0\0", b"PUT\0\0\0\"k\n\t\0 two\nlines\0":
        numbers = struct.pack("<BIQBQQQQQ", 1, 7, 65536, 1, 3, START_NS, START_NS + 10**9, START_NS + 5, 0)
        yield numbers + struct.pack("<Q", START_NS) + text


def of_http1():
    for response in RESPONSES:
        yield b"\0\x03" + response
        yield b"\1\x00" + response


RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"x\"\r\nDate: Sat, 21 Nov 2026 05:45:58 GMT\r\n\r\n0123456789",
    b"HTTP/1.1 206 Partial Content\r\ncontent-length: 10\r\nx-amz-version-id: v\r\n\r\n0123456789",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"a;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\n0123456789",
    b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    b"HTTP/1.1 503 Slow Down\r\nContent-Length: 62\r\n\r\n"
    b"<Error><Code>SlowDown</Code><Message>Reduce it</Message></Error>",
]

DOCUMENTS = [
    b"<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>The key &lt;x&gt;\n is not there"
    b"</Message></Error>",
    b"<ListBucketResult xmlns=\"x\"><IsTruncated>true</IsTruncated><NextContinuationToken>t</Next"
    b"ContinuationToken><Contents><Key>a%2Fb+c</Key><Size>12</Size></Contents><CommonPrefixes>"
    b"<Prefix>p/</Prefix></CommonPrefixes><EncodingType>url</EncodingType></ListBucketResult>",
    b"<ListVersionsResult><Version><Key>k</Key><VersionId>v</VersionId><IsLatest>true</IsLatest>"
    b"</Version><DeleteMarker><Key>k</Key></DeleteMarker><NextKeyMarker>k</NextKeyMarker>"
    b"</ListVersionsResult>",
    b"<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>AccessDenied</Code>"
    b"<Message>no</Message></Error></DeleteResult>",
    b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>",
]


def of_xml():
    for document in DOCUMENTS:
        yield b"\0\x05" + document
        yield b"\1\x00" + document


def of_answer():
    for kind in range(16):
        for response in RESPONSES:
            yield bytes([kind, kind % 8]) + response
        for document in DOCUMENTS:
            yield bytes([kind, 1]) + b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(document) + document


def of_attribution():
    for length in 1000, 10**9:
        head = struct.pack("<IIBB", 5, length, 20, 10)
        yield head + b"".join(struct.pack("<B3s3sIBB", s, struct.pack("<I", i * 999)[:3], b"\x01\x20\0",
                                          1000 + i, 1, i % 5)
                              for i in range(40) for s in (0x22, 0x55)[:1 + (length > 1000)])


def of_values():
    yield from (b"64KiB", b"1.5 GiB", b"1m30s", b"-500ms", b"250/m", b"7.5%", b"-12", b"1e6",
                b"2026-11-21T05:41:32.369461363Z", b"2026-11-21T05:41:32+01:00",
                b"h{1...3}.x:{9000...9001},[::1]:80", b"n{08...11}", b"http://*[0-9]\nhttp://h1",
                b"[default]\naws_access_key_id = a\n# x\naws_secret_access_key=b c\n[x]\naws_session_token=t\n")


def of_options():
    words = [b"--host=h{1...3}", b"--concurrent=5", b"--obj.size=10MiB", b"--range-size", b"1KiB",
             b"--rate=100/s", b"--autoterm", b"--autoterm.pct=5%", b"--syncstart=12:00",
             b"--secret-key=0123456789abc", b"--access-key", b"fedcba9876543210", b"--duration=1m"]
    for k in range(9):
        yield bytes([k]) + b"\n".join(words)
    words = [b"command", b"--analyze.dur=1s", b"--from=10s", b"--op=GET,PUT", b"--gate", b"p99:5%", b"a", b"b",
             b"--before", b"x", b"y", b"--after", b"z", b"--shift", b"1=-5s", b"-qv", b"--level=3", b"--"]
    for k in range(9, 16):
        yield bytes([k]) + b"\n".join(words)


def of_arguments():
    filters = [b"GET,PUT", b"http://h*", b"c", b"5s", b"2026-11-21T05:41:40Z"]
    cuts = [b"250ms", b"2s", b"single", b"true", b"50ms"]
    for command, values in (
            (0, [b"throughput:5%,objects:5,p50:9%", b"7%", b"<zq>", b"x y", *filters, *cuts]),
            (0, [b"ttfb:1%,errors:0.5,p90:99.9%,p99:10%"]),
            (1, [b"3=-1.5s", b"19"]), (1, [b"1=9223372036854775807ns"]), (1, [b"2=-20000h"]),
            (2, [b"<zq>&", b"true", b"true", *filters, *cuts]), (2, [b"<zq>&"]),
            (3, [b"1", *filters]),
            (4, [b"2s", b"50%", b"true", *filters])):
        yield bytes([command]) + b"\n".join(bytes([i]) + value for i, value in enumerate(values))


def of_text():
    yield from (b"plain", "é <zq> & \"'\u202e\u20ac\U0001f600".encode(), b"\xff\xfe\x00tail",
                b'Get "http://h:9000/b/key?x=1": dial tcp 10.0.0.1:9000: refused, request id 4F6A8D0C2B1E',
                b"a/b c+d%zz")


def of_request():
    for kind in range(16):
        yield bytes([kind, 0xFF]) + b"ver/sion\nupload\ntoken=\nstart\nSTANDARD\na/b c+d%\r\nkey"
        yield bytes([kind, kind]) + b"v\nu\nt\ns\nc\nkey"


def of(name):
    return globals()[f"of_{name}"]()
