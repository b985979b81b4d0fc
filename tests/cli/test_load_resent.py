"""Requests that are sent twice: the server closed a kept connection while they were on their way."""
import collections
import itertools
import re
import threading
import unittest

from loadcase import LoadTest, has_rows
from servers import prefix_of
from test_load_outages import Scripted

PAGE = 4


class Closing(Scripted):
    """Ends connections by `how` (as Scripted's answers) at each third request that `hits` names, and counts
    how many of these were the first of their connection, and how many were not."""

    def __init__(self, hits, how):
        self.hits, self.how = hits, how
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.at = threading.local()
        self.n = collections.Counter()
        self.stored = []
        super().__init__(self.say)

    def say(self, method, target, body):
        self.at.n = getattr(self.at, "n", 0) + 1
        key = target.split("?")[0].split("/", 2)[-1]
        if method == "PUT" and target.count("/") > 1 and key not in self.stored:
            self.stored.append(key)
        if method == "POST":
            self.stored = [k for k in self.stored if f"<Key>{k}</Key>" not in body.decode()]
        if self.hits(method, target):
            with self.lock:
                if next(self.numbers) % 3 == 0:
                    self.n["fresh" if self.at.n == 1 else "kept"] += 1
                    return self.how
        return self.page(target) if "list-type" in target else None

    def page(self, target):
        """Of what was uploaded below the prefix, which is listed as it was asked for."""
        prefix = prefix_of(target)
        token = re.search("continuation-token=t(\\d+)", target)
        at = int(token.group(1)) if token else 0
        keys = sorted(k for k in self.stored if prefix and k.startswith(prefix))
        more = f"<NextContinuationToken>t{at + PAGE}</NextContinuationToken>" if at + PAGE < len(keys) else ""
        return 200, (f"<ListBucketResult><IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}" + "".join(
            f"<Contents><Key>{k}</Key><Size>1024</Size></Contents>" for k in keys[at:at + PAGE]) +
            "</ListBucketResult>").encode()


def is_get(method, target):
    return method == "GET" and "?" not in target and target.count("/") > 1


class Resent(LoadTest):
    def serve(self, hits, how):
        self.server = Closing(hits, how)
        self.addCleanup(self.server.stop)

    def run_get(self, done):
        return self.load_until(lambda _: done(), "get", "--objects", "8", "--obj.size", "1KiB", "--concurrent", "4")

    def assert_said(self, path, n):
        """In the summary, in the comment and by s3analyze."""
        kinds = {f["kind"]: f for f in self.s3analyze("analyze", "--json", path).json()["findings"]}
        self.assertEqual(kinds["resent"]["evidence"], {"n_resent": n})

    def test_kept_and_fresh_connections(self):
        """What a kept connection lost is sent once more, and counted; what a fresh one did is an error. So the
        rows with errors and the requests sent twice account for all."""
        for how in (Scripted.CLOSE, Scripted.RESET):
            with self.subTest(how):
                self.serve(is_get, how)
                c = self.run_get(lambda: self.server.n["kept"] > 10 and self.server.n["fresh"] > 0)
                self.assertEqual((c.state["resent"], c.end["resent"]), (self.server.n["kept"],) * 2)
                self.assertEqual(len(c.errors()), self.server.n["fresh"])
                self.assertTrue(all(re.search("closed before|reset by peer", r.error) for r in c.errors()))
                self.assert_said(c.path, self.server.n["kept"])

    def test_after_a_byte(self):
        self.serve(is_get, b"H")
        c = self.run_get(lambda: sum(self.server.n.values()) > 10)
        self.assertEqual(c.end["resent"], 0)
        self.assertEqual(len(c.errors()), self.server.n["kept"] + self.server.n["fresh"])

    def test_silent_closer(self):
        """A server that closes after each answer without saying so costs no request."""
        self.serve(lambda method, target: False, None)
        usual = self.server.say
        closed = []

        def answer(method, target, body):
            said = usual(method, target, body)
            if not is_get(method, target):
                return said
            closed.append(target)
            return 200, b"x" * 1024, Scripted.CLOSE
        self.server.answer = answer
        c = self.run_get(lambda: len(closed) > 30)
        self.assertEqual([r.error for r in c.errors()], [])
        self.assertTrue(c.of("GET"))

    def test_pages_of_a_listing(self):
        """A page is asked for again as it was before, and no object counts twice."""
        self.serve(lambda method, target: "continuation-token" in target, Scripted.RESET)
        c = self.load_until(lambda _: self.server.n["kept"] > 3, "list", "--objects", "14", "--noprefix", "--obj.size",
                            "1KiB", "--concurrent", "2")
        failed = [r for r in c.errors() if "interrupted" not in r.error]  # by the signal at the end
        self.assertEqual((c.end["resent"], len(failed)), (self.server.n["kept"], self.server.n["fresh"]))
        self.assertEqual({r.n_objects for r in c.of("LIST") if not r.error}, {14})

    def assert_all_told(self, command, *options):
        """The resets in the target's log are rows with errors, and requests sent twice; the time of these counts
        from the first time on. Returns how many were sent twice."""
        c = self.load_until(lambda path: has_rows(path, 50, command.upper()), command, "--concurrent", "4", *options)
        self.assertTrue(all(re.search("closed before|reset by peer|after it had", r.error) for r in c.errors()),
                        {r.error for r in c.errors()})
        logged = collections.defaultdict(list)
        for line in self.server.log():
            parts = line["user_agent"].split("/")
            if len(parts) == 4 and parts[1].endswith(c.rows[0].client):
                logged[int(parts[2]), int(parts[3])].append(line["fault"])
        self.assertEqual(sum(faults.count("reset") for faults in logged.values()),
                         len(c.errors()) + c.end["resent"])
        for r in c.rows:
            self.assertGreaterEqual(r.duration, 20_000_000 * len(logged[r.thread, r.seq]))
        return c.end["resent"]

    def test_uploads(self):
        """The body is made again, as its signature says."""
        self.start("--fault", "latency=20ms", "--fault", "op=PUT,reset=0.3", "--seed", "3")
        self.assertGreater(self.assert_all_told("put", "--obj.size", "600KiB"), 3)

    def test_preparation_and_tls(self):
        """Without and with TLS. What is sent twice while objects are made counts too."""
        certificate = self.tmp / "cert.pem"
        for own, options in ([], []), (["--tls", "--cert-out", certificate], ["--tls", "--cacert", certificate]):
            self.start("--fault", "latency=20ms", "--fault", "op=PUT,reset=0.3", "--fault", "op=STAT,reset=0.3",
                       "--seed", "3", *own)
            self.assertGreater(self.assert_all_told("stat", "--objects", "40", "--obj.size", "1KiB", *options), 3)


if __name__ == "__main__":
    unittest.main()
