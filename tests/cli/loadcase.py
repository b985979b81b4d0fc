"""For tests of s3load: runs it, and reads what it recorded."""
import collections
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess

import zstd
from harness import BUILD, TIMEOUT_S, CliTest, run, wait_until
from servers import ACCESS_KEY, SECRET_KEY, Target

FRAME_MAGIC = b"\x28\xb5\x2f\xfd"


def ns(text):
    """A timestamp of a capture as ns since the epoch, None if it is empty."""
    if not text:
        return None
    m = re.fullmatch(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.(\d{9})Z", text)
    if m is None:
        raise AssertionError(f"{text!r} is no timestamp")
    year, month, day, hour, minute, second, fraction = (int(g) for g in m.groups())
    # Days since the epoch of a date (proleptic Gregorian).
    y = year - (month <= 2)
    days = 365 * y + y // 4 - y // 100 + y // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    return ((days * 24 + hour) * 3600 + minute * 60 + second) * 10**9 + fraction


class Row:
    """A row of a capture; `seq` is its place among those of its thread."""

    def __init__(self, fields, seq):
        self.seq = seq
        self.thread = int(fields["thread"])
        self.op = fields["op"]
        self.client = fields["client_id"]
        self.n_objects = int(fields["n_objects"])
        self.bytes = int(fields["bytes"])
        self.endpoint = fields["endpoint"]
        self.file = fields["file"]
        self.error = fields["error"]
        self.start = ns(fields["start"])
        self.first_byte = ns(fields["first_byte"])
        self.last_byte = ns(fields["last_byte"])
        self.end = ns(fields["end"])
        self.duration = int(fields["duration_ns"])
        self.intended = ns(fields.get("intended"))


class Capture:
    """What s3load wrote: rows, the JSON of both comments (end: None if it is missing), and text."""

    def __init__(self, path):
        self.path = path
        self.data = path.read_bytes()
        text = b"".join(zstd.decodable(f) for f in self.frames()).decode(errors="surrogateescape")
        text = text[:text.rfind("\n") + 1]  # what follows is the beginning of a line that is being written
        self.text = text
        lines = text.split("\n")
        comments = [line for line in lines if line.startswith("# s3load/1 ")]
        self.start = json.loads(comments[0][len("# s3load/1 "):])
        self.end = json.loads(comments[-1][len("# s3load/1 "):]) if len(comments) > 1 else None
        table = "\n".join(line for line in lines if not line.startswith("#"))
        seen = collections.Counter()
        self.rows = []
        for fields in csv.DictReader(io.StringIO(table, newline=""), delimiter="\t"):
            if fields["cat"] is None:
                continue  # cut off within an error of several lines
            self.rows.append(Row(fields, seen[fields["thread"]]))
            seen[fields["thread"]] += 1

    def frames(self):
        """The frames; a damaged one, or one that is cut off, ends at the next magic number."""
        frames = []
        at = 0
        while at < len(self.data):
            n = zstd.whole_frame(self.data[at:])
            end = at + n if n else self.data.find(FRAME_MAGIC, at + 1)
            end = end if end > 0 else len(self.data)
            frames.append(self.data[at:end])
            at = end
        return frames

    def of(self, op):
        return [r for r in self.rows if r.op == op]

    def ops(self):
        return collections.Counter(r.op for r in self.rows)

    def errors(self):
        return [r for r in self.rows if r.error]


def recorded(path):
    """The part of a capture that has been written so far; None before its first comment."""
    with contextlib.suppress(OSError, IndexError):
        return Capture(path)
    return None


def has_rows(path, n=1, op=None, host=None):
    """Whether there are so many rows of an operation, or of a host (the end of its name is enough)."""
    c = recorded(path)
    return c is not None and sum(op in (None, r.op) and r.endpoint.endswith(host or "") for r in c.rows) >= n


def has_ops(path, *ops):
    c = recorded(path)
    return c is not None and c.ops().keys() >= set(ops)


def n_hosts(path):
    c = recorded(path)
    return len({r.endpoint for r in c.rows}) if c is not None else 0


def apart_from_speed(err):
    """What a run says, without what it says of how busy it was: that depends on the machine."""
    return re.sub(r"(?m)^s3load: (a thread of s3load was busy|workers waited .* (to be written|for an object)).*\n", "", err)


class LoadTest(CliTest):
    """Runs s3load on self.server, which make_server makes (by default the target)."""
    server_class = Target

    def start(self, *options, **kwargs):
        """Replaces the server by another one."""
        self.server = self.server_class(*options, **kwargs)
        self.addCleanup(self.server.stop)
        return self.server

    def environment(self):
        return {"S3LOAD_ACCESS_KEY": ACCESS_KEY, "S3LOAD_SECRET_KEY": SECRET_KEY,
                "HOME": str(self.tmp)}

    def argv(self, command, *options):
        argv = [command, *options]
        if "--host" not in options:
            argv += ["--host", self.server.hosts]
        return argv

    def s3load(self, command, *options, status=0, env=None, **kwargs):
        return self.check_run("s3load", *self.argv(command, *options), status=status,
                              env={**self.environment(), **(env or {})}, cwd=self.tmp, **kwargs)

    def bare(self, *argv, status=0, env=None):
        """Runs s3load without adding server and keys to its options."""
        return self.check_run("s3load", *argv, status=status, cwd=self.tmp, env={"HOME": str(self.tmp), **(env or {})})

    def begin(self, command, *options, env=None, **kwargs):
        """Starts s3load and returns its process, which does not outlive the test."""
        argv = [str(a) for a in (BUILD / "s3load", *self.argv(command, *options))]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        p = subprocess.Popen(argv, env={**os.environ, **self.environment(), **(env or {})}, cwd=self.tmp,
                             **streams | kwargs)
        self.addCleanup(p.kill)
        return p

    def preload(self, text):
        """A library that replaces calls of the C library."""
        source, library = self.tmp / "shim.c", self.tmp / "shim.so"
        source.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n"
                          "#include <stdatomic.h>\n#include <sys/socket.h>\n" + text)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def movable_clock(self, more=""):
        """Returns variables for the environment of s3load, and move(seconds), which puts its monotonic clock ahead. So a deadline
        passes when the test says so, however busy the machine is. `more` is C source that replaces further calls."""
        ahead = self.tmp / "ahead"
        ahead.touch()
        env = self.preload("#include <sys/stat.h>\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
                           "int clock_gettime(clockid_t clock, struct timespec *t) {\n"
                           "    struct stat s;\n"
                           "    int failed = (int)syscall(SYS_clock_gettime, clock, t);\n"
                           f"    if (clock == CLOCK_MONOTONIC && stat(\"{ahead}\", &s) == 0) t->tv_sec += s.st_size;\n"
                           "    return failed;\n}\n" + more)

        def move(seconds):
            os.truncate(ahead, ahead.stat().st_size + seconds)
        return env, move

    def wait_until(self, done, p):
        """Waits until done() is true or the process has ended."""
        wait_until(done, lambda: p.poll() is None)

    def send_signal(self, p, sent):
        """Sends a signal that the process waits for, and returns once the process has acted on it: it is not pending, and
        all threads sleep."""
        folder = pathlib.Path(f"/proc/{p.pid}")

        def has_acted():
            with contextlib.suppress(OSError):  # it has ended
                pending = re.search(r"(?m)^ShdPnd:\s*(\w+)$", (folder / "status").read_text())[1]
                return not int(pending, 16) >> (sent - 1) & 1 and all(
                    (task / "stat").read_text().rpartition(")")[2].split()[0] == "S" for task in (folder / "task").iterdir())
            return True
        p.send_signal(sent)
        self.wait_until(has_acted, p)

    def stop_process(self, pid):
        """Stops a process, and returns once all of its threads stand still."""
        os.kill(pid, signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{pid}/task")
        wait_until(lambda: all((t / "stat").read_text().rpartition(")")[2].split()[0] == "T" for t in tasks.iterdir()))

    def load_until(self, done, command, *options, **kwargs):
        """Runs s3load until done(path of its capture) is true, however long that takes; returns the capture, with the
        final state in `state`."""
        path = self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
        p = self.begin(command, "--benchdata", path, "--duration", "1h", "--json", *options, **kwargs)
        self.wait_until(lambda: done(path), p)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=TIMEOUT_S)
        self.assertEqual(p.returncode, 128 + signal.SIGINT, err)
        c = Capture(path)
        c.state = json.loads(out)
        return c

    def load(self, command, *options, **kwargs):
        """Runs s3load to its end and returns its final state and capture."""
        path = self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
        r = self.s3load(command, "--benchdata", path, "--json", *options, **kwargs)
        state = r.json() if r.raw else None
        return state, Capture(path)

    def keys(self, bucket="s3load-benchmark-bucket"):
        """How many objects a bucket of the server holds, by a listing of s3load."""
        path = self.tmp / f"keys{len(os.listdir(self.tmp))}.csv.zst"
        r = run("s3load", *self.argv("list", "--list-existing", "--requests", "1", "--concurrent", "1", "--bucket", bucket,
                                     "--benchdata", path, "--json"), env=self.environment(), cwd=self.tmp)
        if r.status == 1 and "holds no object" in r.err:
            return 0
        self.assertEqual(r.status, 0, r.err)
        row, = Capture(path).rows
        return row.n_objects
