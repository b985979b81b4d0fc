"""Files that are odd, damaged or no captures at all, each with how a reader must react (FILES)."""
import bz2
import gzip
import lzma
import random
import struct

import zstd
from capgen import lines, row, steady, text

SECOND = 10**9
ROWS = steady(40, threads=2, size=4096)
LINES = lines(ROWS)
GOOD = text(ROWS)
HEADER = LINES[0].encode()
MAGIC = b"\x28\xb5\x2f\xfd"
N = len(ROWS)
BOMB_BYTES = 16 << 20
# As many rows as the decoder lets through.
ANY = -1


class Odd:
    """data     of the file
    rows     how many are read; None if the file is refused
    says     a pattern: of the message that refuses it, or of a finding's kind where it is read
    salvaged rows with --salvage; None if that is refused too
    sums     a pattern: why it is read, but not added up
    without  commands that would write much of it"""

    def __init__(self, data, rows, says, salvaged, sums=None, without=()):
        self.sums = sums
        self.without = without
        self.data = data
        self.rows = rows
        self.says = says
        self.salvaged = salvaged


FILES = {}


def add(name, odd):
    assert name not in FILES, name
    FILES[name] = odd


def reads(name, data, rows=N, says="", **kwargs):
    add(name, Odd(data, rows, says, rows, **kwargs))


def refuses(name, data, says, salvaged=None):
    add(name, Odd(data, None, says, salvaged))


def block(kind, content, size=None, last=False):
    """A block of a zstd frame: raw (0), one byte repeated (1), compressed (2)."""
    size = len(content) if size is None else size
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + content


def frame_of(*blocks, descriptor=0, window=0x58):
    """A frame without a checksum and without the size of its content."""
    return MAGIC + bytes([descriptor, window]) + b"".join(blocks)


def bomb(byte, before=b"", after=b""):
    """A frame of BOMB_BYTES equal bytes, with some raw bytes before and after."""
    n, piece = BOMB_BYTES, 128 << 10
    return frame_of(*([block(0, before)] if before else []), *[block(1, byte, piece)] * (n // piece),
                    block(0, after, last=True))


def said_size(n, single=False):
    """A frame that says its content has n bytes; it has a hundred."""
    return MAGIC + (b"\xe0" if single else b"\xc0\x58") + struct.pack("<Q", n) + block(0, b"#" * 99 + b"\n", last=True)


def with_line(number, line):
    """GOOD with one line (counted from 1) replaced."""
    data = GOOD.splitlines(True)
    data[number - 1] = line
    return b"".join(data)


def changed(number, old, new):
    line = LINES[number - 1].encode()
    assert old in line, line
    return with_line(number, line.replace(old, new, 1))


def capture_of(*rows):
    return text(list(rows))


# No capture

refuses("empty", b"", "empty")
refuses("newline", b"\n", "empty|header|no capture")
refuses("blank-lines", b"\n" * 5000, "empty|header|no capture")
refuses("comments-alone", b"# one\n# two\n", "empty|header|no capture")
refuses("json", b'{"version": 2, "total": {"x": [1, 2]}}\n', "JSON|aggregated capture")
refuses("json-zst", zstd.frame(b'{"version": 2, "total": {"x": [1, 2]}}\n'), "JSON|aggregated capture")
refuses("html", b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n", "header")
refuses("prose", b"hello, world\n", "header")
refuses("gzip", gzip.compress(GOOD), "gzip")
refuses("xz", lzma.compress(GOOD), "xz")
refuses("bzip2", bz2.compress(GOOD), "bzip2")
for version in range(1, 8):
    magic = b"\xfd\x2f\xb5\x1e" if version == 1 else bytes([0x20 + version, 0xb5, 0x2f, 0xfd])
    refuses(f"zstd-0.{version}", magic + GOOD, r"zstd file of a version before 0\.8.*compress it again")
refuses("utf-16", GOOD.decode().encode("utf-16"), "UTF-16.*iconv")
refuses("utf-16-be", b"\xfe\xff" + GOOD.decode().encode("utf-16-be"), "UTF-16.*iconv")
refuses("utf-32", GOOD.decode().encode("utf-32"), "UTF-32.*iconv")
refuses("gzip-head-alone", b"\x1f\x8b", "gzip|header")
refuses("random", random.Random(8).randbytes(5000), "header|control|no capture|text")
refuses("nuls", b"\0" * 5000, "header|NUL|text|1 MiB")
refuses("elf", b"\x7fELF\x02\x01\x01" + bytes(900) + b"\n\n", "header|text")
refuses("carriage-returns-alone", GOOD.replace(b"\n", b"\r"), "header|column|line")
refuses("semicolons", GOOD.replace(b"\t", b";"), "header|column")
refuses("upper-case-header", HEADER.upper() + GOOD[len(HEADER):], "header|column")
refuses("no-header", GOOD[len(HEADER):], "header|column")
refuses("a-column-missing", b"\n".join(b"\t".join(line.split(b"\t")[:5] + line.split(b"\t")[6:])
                                       for line in GOOD.split(b"\n")), "bytes")
refuses("a-column-twice", HEADER.replace(b"cat", b"bytes") + GOOD[len(HEADER):], "twice|bytes")
refuses("header-of-tabs", b"\t" * 5000 + b"\n", "header|column")
refuses("header-of-2-mib", b"x" * (2 << 20) + b"\n" + GOOD, "1 MiB|header", N)
reads("all-cells-quoted", b"\n".join(b"\t".join(b'"' + cell + b'"' for cell in line.split(b"\t"))
                                      for line in GOOD.rstrip(b"\n").split(b"\n")) + b"\n")
reads("header-quoted-in-part", HEADER.replace(b"thread", b'"thread"') + GOOD[len(HEADER):])
refuses("header-quoted-twice", HEADER.replace(b"thread", b'""thread""') + GOOD[len(HEADER):], "header|column")
reads("header-alone", HEADER, 0)
reads("header-without-newline", HEADER[:-1], 0)

# Text

reads("one-row", HEADER + LINES[1].encode(), 1)
reads("no-newline-at-the-end", GOOD[:-1])
reads("crlf", GOOD.replace(b"\n", b"\r\n"))
reads("mixed-line-ends", b"".join(line if i % 3 else line[:-1] + b"\r\n"
                                  for i, line in enumerate(GOOD.splitlines(True))))
reads("byte-order-mark", b"\xef\xbb\xbf" + GOOD)
reads("comments-in-between", GOOD.replace(b"\n", b"\n# a comment\n"))
reads("comment-of-1-mb", GOOD + b"#" + b"c" * 1_000_000 + b"\n")
reads("unknown-columns", b"\n".join(line + b"\tx" for line in GOOD.split(b"\n")[:-1]) + b"\n")
reads("commas", text(ROWS, delimiter=","))
reads("blank-lines-in-between", GOOD.replace(b"\n", b"\n\n\n"))
reads("rows-backwards", HEADER + b"".join(reversed(GOOD.splitlines(True)[1:])))
reads("two-captures", GOOD + capture_of(*steady(40, threads=2, size=4096, file="other")), 2 * N, "several-headers")
reads("header-many-times", HEADER * 300 + GOOD[len(HEADER):], N)
refuses("nuls-at-the-end", GOOD + b"\0" * 4096, ":82: ", N)
refuses("nuls-in-the-middle", GOOD[:3000] + b"\0" * 4096 + GOOD[3000:], ":2[0-9]: ", N - 1)
refuses("field-missing", with_line(30, b"1\t2\tGET\n"), ":30: .*field", N - 1)
refuses("field-too-many", with_line(30, LINES[29].encode()[:-1] + b"\tx\n"), ":30: .*field", N - 1)
refuses("row-of-2-mib", with_line(30, b"x" * (2 << 20) + b"\n"), ":30: .*1 MiB", N - 1)
refuses("cut-in-a-row", GOOD[:-20], ":81: ", N - 1)
refuses("quote-never-closed", changed(30, b"\tk\t\t", b'\tk\t"open'), ":30: ", N - 1)
refuses("tabs", with_line(30, b"\t" * 2000 + b"\n"), ":30: ", N - 1)
refuses("html-at-the-end", GOOD + b"<html>\n", ":82: ", N)
refuses("text-behind-zstd-magic", MAGIC + GOOD, "zstd", 0)

# Values

for bad in (b"-1", b"1e3", b"9223372036854775808", b"99999999999999999999999", b"0x10", b"NaN", b"1,5"):
    refuses("bytes-" + bad.decode().replace(",", "-comma-"), changed(30, b"\t4096\t", b"\t" + bad + b"\t"), ":30: .*bytes", N - 1)
reads("bytes-of-63-bits", changed(30, b"\t4096\t", b"\t9223372036854775807\t"), sums="sum of bytes exceeds")
refuses("thread-of-33-bits", changed(30, b"28\t0\t", b"28\t4294967296\t"), ":30: .*thread", N - 1)
reads("thread-of-32-bits", changed(30, b"28\t0\t", b"28\t4294967295\t"))
refuses("end-before-start", changed(30, b"2026-11-21T05:4", b"2026-11-22T05:4"), ":30: .*end", N - 1)
refuses("time-of-1969", changed(30, b"2026-11-21T05:4", b"1969-11-21T05:4"), ":30: .*start", N - 1)
refuses("time-of-9999", changed(30, b"2026-11-21T05:4", b"9999-11-21T05:4"), ":30: .*start", N - 1)
refuses("time-in-words", changed(30, b"2026-11-21T", b"yesterday at "), ":30: .*start", N - 1)
refuses("operation-empty", changed(30, b"\tGET\t", b"\t\t"), ":30: .*op", N - 1)
reads("operation-of-100-kb", changed(30, b"\tGET\t", b"\t" + b"G" * 100_000 + b"\t"))
reads("operation-like-a-comment", changed(30, b"\tGET\t", b"\t#c\t"))
reads("operation-with-slashes", GOOD.replace(b"\tGET\t", b"\t../../x\t"))
reads("a-hundred-operations", b"".join([HEADER, *(line.encode().replace(b"\tGET\t", b"\tOP%d\t" % i)
                                                   for i, line in enumerate(lines(steady(100))[1:]))]), 100)
reads("escapes-in-names", GOOD.replace(b"\tGET\t", b"\tG\x1b[31mET\t").replace(b"http://h0", b"http://\x1b]0;x\x07")
      .replace(b"\tk\t", b"\t\xc2\x9b31m\xe2\x80\xae\t"))
reads("escapes-in-errors", GOOD.replace(b"\tk\t\t", b"\tk\tbad \x1b[2J\xc2\x9b31m\xe2\x80\xae\xe2\x80\xa8\x07\t"))
refuses("escapes-in-a-bad-field", changed(30, b"\t4096\t", b"\t\x1b]0;x\x07\x1b[31m\xc2\x9b31m\xe2\x80\xae\t"), ":30: .*bytes",
        N - 1)
reads("not-utf-8", GOOD.replace(b"\tk\t", b"\t\xff\xfe\x80\t").replace(b"http://h0", b"\xc3\x28"))
reads("nul-in-names", GOOD.replace(b"\tk\t", b"\ta\0b\t").replace(b"http://h0", b"h\0x"))
reads("formulas-in-names", GOOD.replace(b"\tk\t\t", b"\t=1+1\t=cmd|'/c calc'!A1\t").replace(b"http://h0", b"@SUM(1)"))
reads("markup-in-names", GOOD.replace(b"\tk\t\t", b"\t<script>alert(1)</script>\t</td>&amp;|`x`\t"))
reads("all-errors", GOOD.replace(b"\tk\t\t", b"\tk\tbroken\t"))
reads("error-of-500-kb", changed(30, b"\tk\t\t", b"\tk\t" + b"e" * 500_000 + b"\t"))
reads("no-time-at-all", capture_of(*(row(0, 0, thread=i) for i in range(40))), 40)
reads("one-instant-each", capture_of(*(row(i, i, thread=0) for i in range(40))), 40)
reads("one-request-of-a-day", capture_of(row(0, 86400 * SECOND)), 1)
reads("centuries-apart", HEADER + b"".join(
    b"%d\t0\tGET\tc\t1\t5\th\tk\t\t%s\t\t\t%s\t1\t0\n" % (i, t, t) for i, t in
    enumerate((b"1970-01-01T00:00:00Z", b"2262-04-11T23:47:16.854775807Z"))), 2,
      without=("analyze-series", "analyze-page"))
reads("sums-beyond-64-bits", GOOD.replace(b"\t4096\t", b"\t9223372036854775807\t"), sums="sum of bytes exceeds")
for name, times in (("first_byte is before start", {"first": -1}), ("first_byte is after end", {"first": 101}),
                    ("last_byte is before start", {"last": -1}), ("last_byte is after end", {"last": 101}),
                    ("end is before start", {"end": -1})):
    for quoted in "", '"':  # quoted fields take another path of the reader
        line = lines([row(**{"start": 0, "end": 100, "error": "x", **times})])[1].replace("\tx\t", f"\t{quoted}x{quoted}\t")
        refuses(name.replace(" ", "-") + "-quoted" * len(quoted), with_line(30, line.encode()), f":30: {name} ", N - 1)
refuses("intended-after-start", text(ROWS[:1]).replace(b"\n", b"\tintended\n", 1)[:-1] + b"\t2200-01-01T00:00:00Z\n",
        ":2: intended is after start ", 0)
reads("first-and-last-byte-at-the-ends", capture_of(*(row(i * SECOND, i * SECOND + 9, first=i * SECOND + 9 * (i % 2),
                                                          last=i * SECOND + 9 * (i % 3 > 0)) for i in range(40))), 40)
reads("no-objects", GOOD.replace(b"\tc0\t1\t", b"\tc0\t0\t"))
reads("a-comment-of-ours-that-is-no-json", GOOD + b"# s3load/1 {\n# s3load/1 [1,2]\n# s3load/1 \"x\"\n# s3load/2 {}\n")
reads("comments-of-ours-of-wrong-types",
      HEADER + b'# s3load/1 {"start": {"seed": "x", "hosts": 5, "command": {"a": []}, "version": null}}\n'
      + GOOD[len(HEADER):] + b'# s3load/1 {"end": 5, "requests": -1, "errors": "many", "max_thread_pct": 1e400}\n')
reads("a-comment-of-ours-nested-deeply", GOOD + b"# s3load/1 " + b"[" * 100_000 + b"\n")

# zstd

ZST = zstd.frame(GOOD)
HALVES = zstd.frame(GOOD[:3000]), zstd.frame(GOOD[3000:])
reads("zst", ZST)
reads("zst-without-checksum", zstd.frame(GOOD, checksum=False))
reads("zst-frame-a-line", b"".join(zstd.frame(line) for line in GOOD.splitlines(True)))
reads("zst-empty-frames", zstd.frame(b"") * 4000 + ZST + zstd.frame(b"") * 4000)
reads("zst-skippable-frames", zstd.skippable(b"x" * 100) * 4000 + ZST + zstd.skippable(b"") * 4000)
refuses("zst-magic-alone", MAGIC, "zstd|cut|ends", 0)
refuses("zst-cut", ZST[:len(ZST) // 2], "zstd|cut|ends", 0)
refuses("zst-second-frame-cut", HALVES[0] + HALVES[1][:100], "zstd frame", GOOD[:3000].count(b"\n") - 1)
refuses("zst-checksum-wrong", ZST[:-1] + bytes([ZST[-1] ^ 1]), "checksum", N)
refuses("zst-bit-flipped", ZST[:200] + bytes([ZST[200] ^ 16]) + ZST[201:], "zstd|checksum|:[0-9]+:", ANY)
refuses("zst-zeros-behind", ZST + b"\0" * 5000, "zstd|behind|bytes", N)
refuses("zst-text-behind", ZST + GOOD, "zstd|behind|bytes", N)
refuses("zst-gzip-behind", ZST + gzip.compress(GOOD), "zstd|behind|bytes", N)
refuses("zst-behind-text", GOOD + ZST, ":82: ", N)
refuses("zst-twice", zstd.frame(ZST), "zst|header")
refuses("zst-without-magic", ZST[4:], "header|text|capture")
refuses("zst-nothing-inside", zstd.frame(b""), "empty|header|no capture")
refuses("zst-skippable-alone", zstd.skippable(b"x" * 1000), "empty|header|no capture")
refuses("zst-skippable-of-4-gib", ZST + b"\x50\x2a\x4d\x18\xff\xff\xff\xffabc", "skippable|cut|ends|zstd", N)
refuses("zst-reserved-bit", frame_of(block(0, GOOD, last=True), descriptor=8), "zstd", 0)
refuses("zst-block-type-3", frame_of(block(3, GOOD, last=True)), "zstd", 0)
refuses("zst-block-too-large", frame_of(block(0, bytes(200_000), last=True)), "zstd", 0)
refuses("zst-window-of-2-tib", frame_of(block(0, GOOD, last=True), window=0xff), "window.*128 MiB.*--long=31", 0)
refuses("zst-dictionary", MAGIC + b"\x03\x58" + struct.pack("<I", 77) + block(0, GOOD, last=True), "Dictionary.*-D DICTIONARY", 0)
# The size that means "unknown" to libzstd.
reads("zst-size-of-64-bits", ZST + said_size((1 << 64) - 1))
for size in 0, 99, 101, 1 << 40, 1 << 63:
    refuses(f"zst-size-of-{size}", ZST + said_size(size), "zstd", N)
    refuses(f"zst-single-segment-of-{size}", ZST + said_size(size, True), "zstd|window|128 MiB", N)
refuses("zst-legacy-behind", ZST + b"\x25\xb5\x2f\xfd" + b"garbage" * 20, "zstd|behind|bytes", N)
refuses("zst-heads-and-zeros", ZST + (MAGIC + b"\0\x58") * 300 + bytes(3 << 20) + zstd.frame(GOOD), "zstd", 2 * N)
refuses("zst-torn-head-and-zeros", ZST + MAGIC + bytes(4 << 20), "zstd", N)

# Much out of little

reads("bomb-of-newlines", ZST + bomb(b"\n") + zstd.frame(GOOD[len(HEADER):]), 2 * N)
refuses("bomb-of-carriage-returns", ZST + bomb(b"\r"), "1 MiB|:82: ", N)
refuses("bomb-of-a-row", ZST + bomb(b"x", after=b"\n"), ":82: .*1 MiB", N)
refuses("bomb-of-nuls", ZST + bomb(b"\0"), ":82: ", N)
refuses("bomb-of-quotes", ZST + bomb(b'"', after=b"\n"), ":82: ", N)
refuses("bomb-of-an-open-quote", ZST + bomb(b"x", before=b'5\t1\tGET\tc\t1\t1000\th\tk\t"'), ":82: ", N)
refuses("bomb-of-tabs", ZST + bomb(b"\t", after=b"\n"), ":82: ", N)
refuses("bomb-of-a-header", bomb(b"x", after=b"\n"), "1 MiB|header")
refuses("bomb-of-a-comment", ZST + bomb(b"x", before=b"#", after=b"\n"), ":82: .*1 MiB", N)
reads("bomb-of-headers", ZST + zstd.frame(HEADER * 1000) * 6)
