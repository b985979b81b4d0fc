"""Makes calls fail, one at a time: memory, reading, writing, syncing, renaming, opening, threads. A program then either
does all of its work nevertheless (it can do without a thread), or says in one line why not, exits with 1 and leaves no
output, no part of one and no temporary file. (tests/fault/fault.c makes the calls fail; for writes of stdio it is the
kernel's limit of file sizes.)"""
import os
import resource
import signal

from harness import FLAGS, CliTest, preload, without_sanitizers

KINDS = ("malloc", "mmap", "read", "write", "short-write", "sync", "rename", "open", "thread")
# In a build for coverage the counts must reach their files.
LIMITS_SIZES = "--coverage" not in FLAGS
# Tries of each kind in each command; FAULT_TRIES=1000000 tries every call, which takes hours.
TRIES = int(os.environ.get("FAULT_TRIES", "16"))


def spread(n, tries):
    """Up to `tries` of 1..n: the first few, the last, and between at growing distances."""
    if n <= tries:
        return range(1, n + 1)
    half = tries // 2
    ratio = (n / half) ** (1 / (tries - half))
    return sorted({*range(1, half + 1), *(round(half * ratio**k) for k in range(1, tries - half + 1)), n})


def limit_file_size(n):
    """Makes writes beyond the first n bytes of a file fail, in this process and what it runs."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))


def faults(counts, tries):
    """The faults to try in a command with these numbers of calls by kind: one call fails, or all from one on."""
    for kind in KINDS:
        for i, n in enumerate(spread(counts[kind], tries)):
            yield f"{kind}:{n}"
            if i % 2 == 0:
                yield f"{kind}:{n}+"


not_with_sanitizers = without_sanitizers("they have malloc of their own, as these tests do")


class FaultTest(CliTest):
    # Without gnuplot, which takes long, pages have no charts.
    path = "/nonexistent"

    def check_one_line(self, program, r, note):
        self.assertEqual(r.status, 1, note)
        self.assertRegex(r.err, rf"\A{program}: [^\n]+\n\Z", note)

    def env(self, fault):
        return {**preload("fault.so"), "FAULT": fault, "PATH": self.path,
                "FAULT_LOG": str(self.log), "OPENSSL_CONF": "/dev/null", "TMPDIR": str(self.out)}

    def counts(self):
        """How many calls of each kind the last run made."""
        return {kind: int(n) for kind, n in (line.split() for line in self.log.read_text().splitlines())}

    def setUp(self):
        super().setUp()
        self.log = self.tmp / "log"
        self.out = self.tmp / "out"
