"""What s3load says to who is not quite right: each message names the way on."""
import datetime
import re
import shlex
import signal

from harness import BUILD, TIMEOUT_S, CliTest, on_terminal, unwrapped
from loadcase import Capture, LoadTest, apart_from_speed, has_rows
from s3client import RUN, S3Client
from servers import ACCESS_KEY, SECRET_KEY, Scripted

SMALL = ("--obj.size", "1KiB", "--concurrent", "2", "--requests", "20", "--quiet")


ANALYZE = ("analyze", "info", "cat", "cmp", "merge", "autoterm", "plot", "aggregate")
LOAD = ("get", "put", "delete", "list", "stat", "mixed", "versioned", "retention", "multipart", "clean")


class BothPrograms(CliTest):
    def assert_refused(self, argv, message):
        r = self.check_run(*argv, status=2, cwd=self.tmp)
        self.assertEqual((r.err.splitlines()[0], r.out), (f"{argv[0]}: {message}", ""))

    def test_words_of_other_tools(self):
        ranks = "several machines are one run with mpirun and s3load-mpi"
        version = "did you mean --version, without a command?"
        for program, command in (("s3load", "get"), ("s3analyze", "analyze")):
            for word, hint in (("compare", "did you mean 's3analyze cmp'?"), ("diff", "did you mean 's3analyze cmp'?"),
                               ("client", ranks), ("run", "a command such as get reads its options from a file with "
                                                   "@FILE")):
                self.assert_refused([program, word, "x"], f"unknown command '{word}': {hint}")
            self.assert_refused([program, "-V"], f"unknown option '-V': {version}")
            for word, hint in (("--md", "'s3analyze cmp --markdown' prints Markdown"), ("-V", version),
                               ("--version", version), ("--warp-client", ranks), ("--full=x", "a capture always holds every "
                                                                                  "request"),
                               ("--sse-s3-encrypt", "did you mean --sse-s3?")):
                self.assert_refused([program, command, word], f"unknown option {word.split('=')[0]}: {hint}")
        self.assert_refused(["s3load", "get", "--no-color"],
                            "unknown option --no-color: NO_COLOR=1 in the environment switches colours off")

    def test_names_of_other_tools(self):
        """And capitals. Each suggestion is what the command has."""
        for argv, ours in (("s3load PUT", "put"), ("s3load Get", "get"), ("s3load upload", "put"), ("s3load head", "stat"),
                           ("s3analyze report", "analyze"), ("s3analyze CMP", "cmp")):
            self.assert_refused(argv.split(), f"unknown command '{argv.split()[1]}': did you mean '{ours}'?")
        for argv, ours in (("s3load get --endpoint", "host"), ("s3load get --url", "host"), ("s3load get --size", "obj.size"),
                           ("s3load put --objects", "requests"), ("s3analyze analyze --verbose", "analyze.v"),
                           ("s3load get --HOST", "host"), ("s3load get --hosts", "host"), ("s3load get --time", "duration"),
                           ("s3analyze autoterm --pct", "autoterm.pct"), ("s3analyze autoterm --duration", "autoterm.dur")):
            self.assert_refused(argv.split(), f"unknown option {argv.split()[2]}: did you mean --{ours}?")
        for argv in "s3load get --verbose", "s3analyze merge --url":
            self.assert_refused(argv.split(), f"unknown option {argv.split()[2]}")
        for command in "analyze", "plot":  # its neighbour --force overwrites files
            self.assert_refused(["s3analyze", command, "--format", "json"], "unknown option --format: --json prints JSON; a "
                                "picture has the format that --out ends with: run.png")

    def test_options_that_exclude_each_other(self):
        for words, message in ((["--tls", "--encrypt", "--sse-s3"], "--encrypt and --sse-s3 exclude each other"),
                               (["--range-size", "11MiB"], "--range-size is larger than the objects (--obj.size)"),
                               (["--clear-bucket", "--list-existing"], "--clear-bucket and --list-existing exclude each other"),
                               *((["--bucket", b], f"'{b}' is no name of a bucket (3 to 63 of a-z, 0-9, - and .)")
                                 for b in ("a/b", "a&b", "b\u00e4", ".", "..", "")),
                               (["--slo", "p99<50ms;errors=0"], "--slo 'p99<50ms;errors=0': separate assertions by commas; "
                                                                 "compare with <, <=, > or >=")):
            self.assert_refused(["s3load", "get", "--host", "127.0.0.1:1", *words], message)

    def test_options_before_the_command(self):
        for argv in ("s3load --host h get", "s3load --tls --host=h:1 get", "s3analyze --json cmp a b"):
            program, option, *_ = argv.split()
            command = "cmp" if "cmp" in argv else "get"
            self.assert_refused(argv.split(), f"options follow the command: {program} {command} {option} ...")

    def test_help_topics(self):
        for program, command in (("s3load", "get"), ("s3analyze", "analyze")):
            for argv in ([command, "--help", "nosuch"], [command, "--help=nosuch"], ["help", command, "nosuch"],
                         ["--help", command, "nosuch"], [command, "-h", "nosuch"]):
                self.assert_refused([program, *argv], "no help on 'nosuch': --help alone names the topics")
            self.assertEqual(self.check_run(program, "help", command, "all").out,
                             self.check_run(program, command, "--help", "all").out)

    def test_help_all_has_each_heading_once(self):
        """And options below each, in the man page too."""
        for program, commands in (("s3load", LOAD), ("s3analyze", ANALYZE)):
            for command in commands:
                with self.subTest(command=command):
                    for text, heading, option in (
                            (self.check_run(program, command, "--help", "all").out, r"(?m)^(\w.*):$", "  -"),
                            (self.check_run(program, "--dump-man", f"{program}-{command}").out, r"(?m)^\.SS (.*)$",
                             ".TP")):
                        parts = re.split(heading, text)
                        self.assertEqual(len(set(parts[1::2])), len(parts[1::2]), parts[1::2])
                        self.assertEqual([p for p in parts[2::2] if not p.strip().startswith(option.strip())], [])


class CommandLine(LoadTest):
    def test_operand(self):
        """It may be a secret, and is not shown."""
        for command in LOAD:
            r = self.bare(command, "127.0.0.1:9000", status=2)
            self.assertEqual(r.err.splitlines()[0], f"s3load: {command} takes only options; to name a server use --host")

    def test_durations_need_a_unit(self):
        """A run of 3 s ago was deleted by `clean --older-than 1`."""
        for options in (["clean", "--older-than", "1"], ["put", "--duration", "1"], ["get", "--give-up-after=1"]):
            r = self.bare(*options, status=2)
            self.assertIn("'1': expected a unit: 1ms, 1s, 1m, 1h or 1d", r.err)
        self.start()
        for good in ("7d", "1w", "1d12h", "0"):
            r = self.s3load("clean", "--dry-run", "--bucket", "none", "--older-than", good, status=1)
            self.assertIn("NoSuchBucket", r.err)

    def test_half_of_the_keys(self):
        tail = ": give both as options, in the environment or in a profile"
        aws = self.tmp / ".aws"
        aws.mkdir()
        for argv, env, text, sentence in (
                (["--access-key", "a"], {}, "", "--access-key needs --secret-key"),
                (["--secret-key", "a"], {}, "", "--secret-key needs --access-key"),
                ([], {"S3LOAD_ACCESS_KEY": "a"}, "", "S3LOAD_ACCESS_KEY needs S3LOAD_SECRET_KEY"),
                ([], {"AWS_SECRET_ACCESS_KEY": "a"}, "", "AWS_SECRET_ACCESS_KEY needs AWS_ACCESS_KEY_ID"),
                ([], {}, "[default]\naws_access_key_id = a\n", "aws_access_key_id needs aws_secret_access_key")):
            (aws / "credentials").write_text(text)
            self.assertEqual(self.bare("get", *argv, env=env, status=2).err.splitlines()[0], f"s3load: {sentence}{tail}")


class Servers(LoadTest):
    def refused(self, *options, command="put"):
        r = self.s3load(command, *SMALL, "--stress", *options, status=1)
        self.assertEqual(r.err.count("\n"), 1, r.err)
        return r.err.removeprefix("s3load: ").rstrip("\n")

    def test_tls(self):
        bucket = "no server answers a request for bucket 's3load-benchmark-bucket': "
        self.start()
        self.assertRegex(self.refused("--tls"), rf"^{bucket}TLS: .* \(is --tls right for this port\?\)$")
        self.start("--tls")
        self.assertRegex(self.refused("--give-up-after", "1h"), rf"^{bucket}(.*(closed before a response|reset by peer) \(is --tls missing\?\)|"
                                         "the server speaks TLS: --tls is missing)$")
        self.assertRegex(self.refused("--tls"), bucket + "TLS: the server's certificate: self.signed certificate "
                                                         r"\(--cacert FILE trusts its authority\)")
        self.assertEqual(self.refused("--tls", "--cacert", "nosuch.pem"),
                         "--cacert, AWS_CA_BUNDLE or ca_bundle of the profile: cannot use 'nosuch.pem': No such file or directory")
        self.assertRegex(self.refused("--tls", "--cacert", BUILD / "flags"), "^--cacert, AWS_CA_BUNDLE or ca_bundle of the profile: cannot use '.*': no certificate")

    def test_wrong_secret_key(self):
        self.start()
        sentence = "the server refuses the signature (HTTP 403): is the secret key right, and the region? Or " \
                   "does a proxy change the Host header?"
        for command, begin in (("put", "cannot use"), ("get", "cannot use")):
            self.assertEqual(self.refused("--access-key", ACCESS_KEY, "--secret-key", "wrong", command=command),
                             f"{begin} bucket 's3load-benchmark-bucket': {sentence}")
        r = self.s3load("clean", "--access-key", ACCESS_KEY, "--secret-key", "wrong", status=1)
        self.assertIn(sentence, r.err)

    def cannot_use(self, answer):
        server = Scripted(lambda request: answer)
        self.addCleanup(server.stop)
        return self.refused("--host", server.hosts)

    def test_host_without_a_port(self):
        """Which one is taken is said where no server answers; here a library refuses all connections."""
        env = self.preload("int connect(int fd, const struct sockaddr *to, socklen_t n)\n"
                           "{\n    errno = ECONNREFUSED;\n    return -1;\n}\n")
        for options, port in (([], 80), (["--tls"], 443)):
            r = self.s3load("put", *SMALL, "--stress", "--host", "127.0.0.1", *options, env=env, status=1)
            self.assertRegex(r.err, rf"; --host names no port: it is {port}\n\Z")

    def test_clean_without_a_server(self):
        self.start()
        self.server.stop()
        r = self.s3load("clean", status=1)
        self.assertRegex(r.err, r"\As3load: no server answers a request for bucket 's3load-benchmark-bucket': curl: [^;]*\n\Z")

    def test_answers_of_proxies(self):
        bucket = "cannot use bucket 's3load-benchmark-bucket': HTTP "
        nginx = b"<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n"
        for answer, text in (
                ((400, nginx), "400: the server speaks TLS: --tls is missing"),
                ((307, b"", {"Location": "https://other:9000/bucket"}), "307 (the server sends on to https://other:9000, which "
                 "s3load does not follow: name it with --host)"),
                ((307, b"", {"Location": "/bucket"}), "307"),
                ((400, b"<Error><Code>AuthorizationHeaderMalformed</Code><Message>no</Message></Error>"),
                 "400 AuthorizationHeaderMalformed: no (is --region right?)")):
            self.assertEqual(self.cannot_use(answer), bucket + text)

    def test_too_large(self):
        """A proxy before the server takes small bodies only."""
        server = Scripted(lambda request: (413, b"") if request.method == "PUT" and len(request.body) > 1000 else
                          (200, b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
                          if request.target.endswith("?uploads=") else
                          (200, b"<ListBucketResult/>") if request.method == "GET" else (200, b"<DeleteResult/>"))
        self.addCleanup(server.stop)
        for command, size in (("put", "obj"), ("get", "obj"), ("multipart", "part")):
            argv = [] if command == "put" else ["--objects", "1"] if command == "get" else ["--parts", "1", "--part.size", "1KiB"]
            r = self.s3load(command, *(SMALL if command != "multipart" else SMALL[2:]), "--stress", "--noclear", *argv,
                            "--host", server.hosts, status=1)
            self.assertRegex(r.err, rf"HTTP 413 \(too much for the server, or for a proxy\): try a smaller --{size}\.size\n")

    def test_no_object_lock(self):
        """Only a server that has it can say that a bucket was made without."""
        self.start()
        S3Client(self.server).make("plain")
        argv = ["retention", *SMALL, "--objects", "1", "--stress"]
        self.assertIn("bucket 'plain' was made without object lock, which cannot be added (HTTP 404 ",
                      self.s3load(*argv, "--bucket", "plain", status=1).err)
        for answer in (501, b""), (404, b"<Error><Code>ObjectLockConfigurationNotFoundError</Code></Error>"):
            server = Scripted(lambda request, answer=answer: answer if "object-lock" in request.target else
                              (404, b"") if request.method == "HEAD" else (200, b"<ListBucketResult/>"))
            self.addCleanup(server.stop)
            r = self.s3load(*argv, "--host", server.hosts, status=1)
            self.assertRegex(r.err, rf"the server shows no object lock of bucket '.*' \(HTTP {answer[0]}.*\), and retention "
                                    "needs it")

    def test_objects_of_others_below_a_run(self):
        self.start()
        client = S3Client(self.server)
        client.make("bucket")
        client.put("bucket", f"{RUN}/theirs")
        client.put("bucket", f"{RUN}/0000/0123456789abcdef")
        for how in (["--older-than", "0"], ["--run", RUN.removeprefix("s3load-")]):
            r = self.s3load("clean", "--bucket", "bucket", *how)
            self.assertEqual(r.err, f"s3load: {RUN}/ stays: s3load did not write '{RUN}/theirs' in it (1 object in "
                                    "all); delete that, and s3load clean deletes the rest\n")
            self.assertIn(" kept\n", r.out)


class Runs(LoadTest):
    def setUp(self):
        super().setUp()
        self.start()

    def interrupted(self, done, *argv, **kwargs):
        """What a run says that SIGINT ends once done() says so: to standard output and error."""
        p = self.begin(*argv, **kwargs)
        self.wait_until(done, p)
        p.send_signal(signal.SIGINT)
        out, err = (text.decode() for text in p.communicate(timeout=TIMEOUT_S))
        self.assertEqual(p.returncode, 130, err)
        return out, err

    def test_what_is_uploaded_first(self):
        for options, sentence in (([], "Preparing 7 objects of 1KiB, 7KiB in all"),
                                  (["--obj.randsize"], "Preparing 7 objects of up to 1KiB, up to 7KiB in all")):
            argv = ["get", *SMALL[:-1], "--objects", "7", "--stress", *options]
            self.assertEqual(apart_from_speed(self.s3load(*argv).err), sentence + "\n")
            self.assertEqual(apart_from_speed(self.s3load(*argv, "--quiet").err), "")
        path = self.tmp / "defaults.csv.zst"
        _, err = self.interrupted(lambda: has_rows(path), "get", "--benchdata", path)
        self.assertEqual(err.splitlines()[0], "Preparing 2,500 objects of 10MiB, 24.4GiB in all")
        # Nothing is prepared for a capture that cannot be written.
        r = self.s3load("get", *SMALL[:-1], "--objects", "7", "--benchdata", "/nodir/x", status=1)
        self.assertEqual(apart_from_speed(r.err), "s3load: cannot make '/nodir/x.csv.zst': No such file or directory\n")

    def test_time_that_has_passed(self):
        """It is one of tomorrow."""
        now = datetime.datetime.now(datetime.timezone.utc)
        path = self.tmp / "late.csv.zst"
        for at, rest in ((now - datetime.timedelta(hours=13), "1[01]h"), (now + datetime.timedelta(hours=2), "(1h[0-9ms]+|2h)")):
            out, err = self.interrupted(lambda: has_rows(path), "get", "--objects", "2", "--obj.size", "1KiB",
                                        "--benchdata", path, "--syncstart", at.strftime("%H:%M"), env={"TZ": "UTC"})
            self.assertRegex(err, rf"(?m)^The run starts in {rest}.*, at 20..-..-..T{at.strftime('%H:%M')}:00Z "
                                  r"\(--syncstart\)$")
            self.assertRegex(out, r"^get: interrupted before the benchmark: 2 objects prepared, 0 failed\s\(run ")
            path.unlink()

    def test_interrupted(self):
        path = self.tmp / "run.csv.zst"
        out, _ = self.interrupted(lambda: has_rows(path), "put", "--obj.size", "1KiB", "--benchdata", path)
        self.assertRegex(out.splitlines()[0], r"^put: .* failed, in .*; interrupted")
        said = self.check_run("s3analyze", "analyze", "-v", path).out  # the short report may have room for other findings only
        self.assertIn("The run was interrupted: a signal ended it before its time", unwrapped(said))

    def test_sums_alone(self):
        """The report is headed by the capture. That this does not stay is said before."""
        r = self.s3load("get", *SMALL, "--objects", "5", "--aggregate-only", "--benchdata", "run")
        self.assertIn("Capture: run.csv.zst (deleted after this report: --aggregate-only)\n", r.out)
        self.assertIn("Sums, in place of the capture: run.sums.zst", r.out)

    def test_failed_preparation(self):
        self.start("--fault", "op=PUT,fail=503:0.5")
        r = self.s3load("get", *SMALL, "--objects", "400")
        n = re.search(r"get: .* requests, 0 failed, in .*; (\d+) uploads of the preparation failed", r.out)[1]
        self.assertIn(f"s3load: {n} of 400 uploads of the preparation failed, the first with: HTTP 503", r.err)

    def test_no_batches(self):
        self.start("--refuse-batches")
        r = self.s3load("delete", *SMALL, "--objects", "200", status=1)
        self.assertRegex(r.err, r"none of [0-9,]+ requests? succeeded, the first failed with: HTTP 501.*; try --batch 1\n")
        self.s3load("delete", *SMALL, "--objects", "200", "--batch", "1")

    def test_end_of_a_failed_run(self):
        """Three lines at most, and the same on a terminal and in a log."""
        self.start("--fault", "op=GET,fail=500:1", "--fault", "op=DELETE,fail=403:1", "--refuse-batches")
        argv = ["get", *SMALL[:-1], "--objects", "5", "--stress", "--prefix", "it's", "--bucket", "bkt", "--host-select",
                "roundrobin", "--no-proxy", "--lookup", "path", "--connect-timeout", "9s"]
        left = r"\As3load: none of 20 requests succeeded, the first failed with: HTTP 500 .*\n" \
               r"s3load: objects of this run may be left under it'ss3load-\w+/ in bucket '.*' \(HTTP 403 .*\)\n" \
               r"To delete them, as far as the server lists them: (s3load clean --run \w+ .*)\n\Z"
        log = apart_from_speed(self.s3load(*argv, status=1).err).removeprefix("Preparing 5 objects of 1KiB, 5KiB in all\n")
        self.assertRegex(log, left)
        status, shown = on_terminal(BUILD / "s3load", *self.argv(*argv), stream="stderr", env=self.environment(), cwd=self.tmp)
        last = apart_from_speed(shown.decode().rpartition("\x1b[K")[2].replace("\r", ""))
        self.assertEqual(status, 1)
        self.assertRegex(last, left)
        # The command is whole.
        command = shlex.split(re.search(left, last)[1])
        self.assertEqual(command[4:], ["--host", self.server.hosts, "--bucket", "bkt", "--host-select", "roundrobin", "--no-proxy",
                                       "--lookup", "path", "--prefix", "it's"])
        n = self.keys("bkt")
        self.assertIn("to delete", self.check_run(*command, "--dry-run", env=self.environment(), cwd=self.tmp).out)
        self.assertEqual((n, self.keys("bkt")), (10, 10))
        # All that failed is in one line, and a run that ended early says how far it came.
        self.start("--fault", "op=PUT,fail=500:1")
        r = self.s3load("get", *SMALL, "--objects", "5", "--benchdata", "early", status=1)
        self.assertRegex(r.out, r"\Aget: ended before the benchmark: 0 objects prepared, 5 failed\s\(run")
        self.assertRegex(apart_from_speed(r.err), r"\As3load: none of the first 5 uploads succeeded: HTTP 500 .*\n\Z")


class Lookup(LoadTest):
    """A server does not look for the bucket in the host's name."""

    def test_a_server_without_a_domain(self):
        self.start()
        host = f"localhost:{self.server.ports[0]}"
        said = unwrapped(self.s3load("get", "--host", host, "--lookup", "host", "--objects", "5", *SMALL, "--json",
                                     status=1).err)
        self.assertIn("the server must know its own domain", said)
        self.assertIn("--lookup path needs neither", said)
        # Nothing is said of it where it is not the cause.
        said = self.s3load("get", "--host", host, "--lookup", "path", "--bucket", "A", "--objects", "5", *SMALL, "--json",
                           status=None).err
        self.assertNotIn("--lookup", said)
