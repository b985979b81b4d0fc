"""Options of s3load: credentials and where they must not show, TLS, virtual hosts, names of files."""
import contextlib
import datetime
import os
import pathlib
import pty
import resource
import signal
import subprocess
import threading

from harness import BUILD, TIMEOUT_S
from loadcase import Capture, LoadTest, apart_from_speed, has_rows
from servers import ACCESS_KEY, SECRET_KEY, Proxy

SMALL = ("--obj.size", "1KiB", "--concurrent", "2", "--requests", "20")
COMMANDS = ("get", "put", "delete", "list", "stat", "mixed", "versioned", "retention", "multipart")


class Secrets(LoadTest):
    TOKEN = "token-FQoGZXIvYXdzEXAMPLE"

    def assert_hidden(self, text):
        for secret in (SECRET_KEY, self.TOKEN):
            self.assertNotIn(secret, text)

    def looked_at(self, what, path, env, *options):
        """A file of /proc on a run that has begun to record, and what it writes to the terminal."""
        p = subprocess.Popen([str(BUILD / "s3load"), "put", "--host", self.server.hosts, *options, "--obj.size",
                              "1KiB", "--benchdata", str(path)], cwd=self.tmp, env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.kill)
        self.wait_until(lambda: has_rows(path), p)
        seen = pathlib.Path(f"/proc/{p.pid}/{what}").read_bytes().decode()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=TIMEOUT_S)
        self.assertEqual(p.returncode, 130, err)
        return seen, out.decode(), err.decode()

    def test_command_line(self):
        """No secret in the capture, in messages, or in the process title after start-up."""
        self.start("--session-token", self.TOKEN, "--fault", "latency=1ms")
        path = self.tmp / "c.csv.zst"
        for form in ([f"--secret-key={SECRET_KEY}", f"--session-token={self.TOKEN}"],
                     ["--secret-key", SECRET_KEY, "--session-token", self.TOKEN]):
            title, out, err = self.looked_at("cmdline", path, os.environ, "--access-key", ACCESS_KEY, *form)
            self.assertIn("--obj.size\0001KiB", title)
            c = Capture(path)
            self.assert_hidden(title + out + err + c.text)
            self.assertIn("REDACTED", c.start["command_line"])
            self.assertIn("--obj.size 1KiB", c.start["command_line"])
            path.unlink()

    def test_environment_is_hidden(self):
        self.start("--session-token", self.TOKEN, "--fault", "latency=1ms")
        env = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
               "AWS_SESSION_TOKEN": self.TOKEN}
        environ, _, _ = self.looked_at("environ", self.tmp / "c.csv.zst", {**os.environ, **env})
        self.assertIn("PATH=", environ)
        self.assert_hidden(environ)

    def test_misspelt_option(self):
        for form in ([f"--secretkey={SECRET_KEY}"], [f"--secret_key={SECRET_KEY}"],
                     [f"--secret-keys={SECRET_KEY}"]):
            r = self.bare("put", *form, status=2)
            self.assert_hidden(r.err + r.out)
            self.assertIn("unknown option", r.err)

    def test_userinfo(self):
        r = self.bare("put", "--host", f"http://user:{SECRET_KEY}@127.0.0.1:9000", status=2)
        self.assert_hidden(r.err)
        r = self.bare("put", status=2, env={
            "AWS_ENDPOINT_URL_S3": f"http://user:{SECRET_KEY}@127.0.0.1:9000"})
        self.assert_hidden(r.err)

    def test_where_they_come_from(self):
        """S3LOAD_*, then WARP_*, then AWS_*, then the profile; the command line before all."""
        self.start()
        right = {"ACCESS_KEY": ACCESS_KEY, "SECRET_KEY": SECRET_KEY}
        aws = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        wrong_aws = {k: "wrong" for k in aws}
        host = {"AWS_ENDPOINT_URL_S3": f"http://{self.server.hosts}/"}
        credentials = self.tmp / ".aws" / "credentials"
        credentials.parent.mkdir()
        credentials.write_text(
            f"[default]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n\n"
            "; comment\n[other]\naws_access_key_id = other\naws_secret_access_key = wrong\n")
        for env in ({f"S3LOAD_{k}": v for k, v in right.items()} | wrong_aws,
                    {f"WARP_{k}": v for k, v in right.items()} | wrong_aws, aws, {}):
            self.bare("put", *SMALL, env={**host, **env})
            self.bare("put", *SMALL, env={"WARP_HOST": self.server.hosts, **env})
        r = self.bare("put", *SMALL, "--profile", "other", env=host, status=1)
        self.assertIn("InvalidAccessKeyId", r.err)
        r = self.bare("put", *SMALL, "--profile", "none", env=host, status=2)
        self.assertIn("no profile 'none'", r.err)
        self.bare("put", *SMALL, "--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY,
                  env={**host, **wrong_aws})
        # https of a variable that counts less than S3LOAD_TLS.
        self.bare("put", *SMALL, env={**aws, "AWS_ENDPOINT_URL_S3": f"https://{self.server.hosts}",
                                      "S3LOAD_TLS": "false"})

    def test_token_belongs_to_its_keys(self):
        self.start("--session-token", self.TOKEN)
        host = {"S3LOAD_HOST": self.server.hosts}
        ours = {"S3LOAD_ACCESS_KEY": ACCESS_KEY, "S3LOAD_SECRET_KEY": SECRET_KEY}
        others = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                  "AWS_SESSION_TOKEN": self.TOKEN}
        credentials = self.tmp / ".aws" / "credentials"
        credentials.parent.mkdir()
        credentials.write_text(f"[default]\naws_access_key_id = {ACCESS_KEY}\n"
                               f"aws_secret_access_key = {SECRET_KEY}\n")
        with_token = {**ours, "S3LOAD_SESSION_TOKEN": self.TOKEN}
        for env, status in ((others, 0), (with_token, 0), ({**others, **with_token}, 0),
                            ({**others, **ours}, 1), ({"AWS_SESSION_TOKEN": self.TOKEN}, 1)):
            with self.subTest(env=env):
                r = self.bare("put", *SMALL, env={**host, **env}, status=status)
                self.assertEqual("InvalidToken" in r.err, status == 1, r.err)


class Connections(LoadTest):
    def test_tls(self):
        certificate = self.tmp / "cert.pem"
        self.start("--tls", "--cert-out", certificate)
        r = self.s3load("put", "--tls", *SMALL, status=1)
        self.assertIn("certificate", r.err)
        for how in (["--insecure"], ["--cacert", certificate]):
            for command, own in (("put", []), ("get", ["--objects", "3", "--verify", "1"]),
                                 ("mixed", ["--objects", "5"])):
                _, c = self.load(command, *own, "--tls", *how, "--obj.size", "700KiB",
                                 "--concurrent", "4", "--requests", "20")
                self.assertEqual(c.errors(), [])
                self.assertTrue(all(r.endpoint.startswith("https://") for r in c.rows))

    def test_encrypt(self):
        """SSE-C, over TLS only."""
        self.start("--tls")
        for command, own in (("get", ["--objects", "3"]), ("mixed", ["--objects", "5"])):
            _, c = self.load(command, *own, "--tls", "--insecure", "--encrypt", *SMALL)
            self.assertEqual(c.errors(), [])
            self.assertNotIn("customer", c.text)
        r = self.s3load("put", "--encrypt", *SMALL, status=2)
        self.assertIn("--tls", r.err)

    def test_virtual_hosts(self):
        self.start("--domain", "localhost")
        host = f"localhost:{self.server.ports[0]}"
        _, c = self.load("mixed", "--host", host, "--lookup", "host", "--objects", "5", *SMALL)
        self.assertEqual(c.errors(), [])
        self.assertEqual({r.endpoint for r in c.rows}, {f"http://{host}"})
        self.assertEqual({line["bucket"] for line in self.server.log()},
                         {"s3load-benchmark-bucket"})

    def test_proxy(self):
        """As http_proxy, HTTPS_PROXY and no_proxy say, by tunnels."""
        proxy = Proxy()
        self.addCleanup(proxy.stop)
        for options, name in (([], "http_proxy"), (["--tls", "--insecure"], "HTTPS_PROXY")):
            with self.subTest(variable=name):
                self.start(*options[:1])
                here = f"127.0.0.1:{self.server.ports[0]}"
                proxy.asked.clear()
                _, c = self.load("mixed", "--objects", "5", *options, *SMALL,
                                 env={name: proxy.url})
                self.assertEqual(c.errors(), [])
                self.assertEqual(set(proxy.asked), {("CONNECT", here)})
                # Not a tunnel for each request.
                self.assertLess(len(proxy.asked), 10)
                self.assertEqual({r.endpoint.split("//")[1] for r in c.rows}, {here})
                proxy.asked.clear()
                self.load("put", *options, *SMALL, env={name: proxy.url, "no_proxy": "127.0.0.1"})
                self.assertEqual(proxy.asked, [])

    def test_a_proxy_that_cannot_be_used(self):
        """libcurl quotes it, with its password."""
        self.start()
        for url in 'http://me:SEC"RET@/@127.0.0.1:1', "http://me:SECRET/@127.0.0.1:1", "me:SECRET@[::1:1", "nonsense://me:SECRET@h":
            r = self.s3load("put", *SMALL, env={"http_proxy": url}, status=1)
            self.assertNotIn("RET", r.err)
            self.assertIn("requests go through the proxy", r.err)

    def test_proxy_refuses(self):
        self.start()
        proxy = Proxy("403 Forbidden")
        self.addCleanup(proxy.stop)
        r = self.s3load("put", *SMALL, env={"http_proxy": proxy.url}, status=1)
        self.assertRegex(r.err, "curl: .*403")

    def test_server_side_options(self):
        self.start()
        _, c = self.load("get", "--objects", "3", "--sse-s3", "--storage-class", "STANDARD_IA",
                         "--md5", "--disable-sha256-payload", *SMALL)
        self.assertEqual(c.errors(), [])

    def test_bodies_of_all_sizes(self):
        """Around the sizes in which bodies are digested and sent."""
        self.start()
        for size in ("262143", "262144", "262145", "3MiB"):
            for digest in ([], ["--md5"], ["--disable-sha256-payload"]):
                _, c = self.load("get", "--objects", "2", "--obj.size", size, "--verify", "1",
                                 "--concurrent", "2", "--requests", "6", *digest)
                self.assertEqual(c.errors(), [])


class Options(LoadTest):
    def test_help(self):
        for command in (*COMMANDS, "clean", "repeat"):
            r = self.check_run("s3load", command, "--help")
            self.assertLessEqual(r.out.count("\n"), 40, command)
            self.assertTrue(all(len(line) <= 80 for line in r.out.split("\n")), command)
            self.check_run("s3load", command, "--help", "all")
        r = self.check_run("s3load", "--version")
        for library in ("libcurl", "OpenSSL", "expat", "libzip", "zstd"):
            self.assertIn(library, r.out)

    def test_defaults(self):
        """As the specification has them."""
        defaults = {"get": ("2500", "10MiB"), "mixed": ("2500", "10MiB"), "put": (None, "10MiB"),
                    "delete": ("25000", "1KiB"), "list": ("10000", "1KiB"),
                    "stat": ("10000", "1KiB"), "versioned": ("250", "10MiB"),
                    "retention": ("25000", "1KiB")}
        for command, (objects, size) in defaults.items():
            text = self.check_run("s3load", command, "--help", "all").out
            self.assertIn(f"[{size}]", text)
            if objects:
                self.assertIn(f"[{objects}]", text)
            for default in ("[20]", "[5m]", "[127.0.0.1:9000]", "[s3load-benchmark-bucket]",
                            "[us-east-1]", "[weighed]", "[auto]", "[10s]", "[7.5]", "[1m]"):
                self.assertIn(default, text)

    def test_capture_is_never_overwritten(self):
        self.start()
        path = self.tmp / "mine.csv.zst"
        self.s3load("put", "--benchdata", self.tmp / "mine", *SMALL)
        before = path.read_bytes()
        r = self.s3load("get", "--benchdata", path, "--obj.size", "1KiB", status=1)
        self.assertRegex(r.err, r"^s3load: .*there already.*\n$", "before anything is uploaded")
        self.assertEqual(path.read_bytes(), before)

    def test_part_of_the_suffix(self):
        self.start()
        for given, made in ("a.csv", "a.csv.zst"), ("b.zst", "b.csv.zst"), ("c.csv.zst", "c.csv.zst"), ("d.x", "d.x.csv.zst"):
            self.s3load("put", "--benchdata", given, *SMALL)
            self.assertEqual([p.name for p in self.tmp.glob(f"{given[0]}.*")], [made])

    def test_names_without_room_for_a_suffix(self):
        """No hidden file comes of them, and none beside a device."""
        folder = self.tmp / "runs"
        folder.mkdir()
        for name in ("", ".", "..", f"{folder}/", f"{folder}/.."):
            self.assertIn("names no file", self.bare("put", "--anonymous", f"--benchdata={name}", status=2).err)
        self.assertIn("is no regular file", self.bare("put", "--anonymous", "--benchdata", "/dev/null", status=2).err)
        self.assertEqual([*self.tmp.rglob("*")], [folder])

    def test_default_name_and_analysis(self):
        self.start("--fault", "latency=5ms")
        r = self.s3load("put", "--label", "a \"label\"", *SMALL, "--threads", "1")
        name = next(self.tmp.glob("*.csv.zst")).name
        self.assertRegex(name, r"^s3load-put-\d{8}T\d{6}Z-\w{4}\.csv\.zst$")
        self.assertIn(f"Capture: {name}", r.out)
        self.assertRegex(r.out, r"\nPUT +20 +0 ")
        self.assertEqual(apart_from_speed(r.err), "")
        self.assertEqual(Capture(self.tmp / name).start["label"], "a \"label\"")

    def test_parent_that_ignores_its_children(self):
        """Whoever starts s3load may not want to know how children end: s3load does."""
        self.start()
        r = self.s3load("put", *SMALL, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertIn("Capture: ", r.out)
        self.assertNotIn("To analyse it", r.out)  # that is done

    def test_stress(self):
        self.start()
        r = self.s3load("put", "--stress", "--json", *SMALL)
        self.assertGreater(r.json()["requests"], 0)
        self.assertIsNone(r.json()["capture"])
        self.assertEqual(list(self.tmp.glob("*.zst")), [])

    def test_syncstart(self):
        self.start()
        # not decisive: it must not have passed when s3load reads its options.
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
        begin = at.replace(microsecond=0) + datetime.timedelta(seconds=1)
        _, c = self.load("get", "--objects", "3", "--syncstart", begin.isoformat(), *SMALL)
        first = min(r.start for r in c.of("GET"))
        self.assertGreaterEqual(first, begin.timestamp() * 1e9)
        self.assertTrue(all(r.end < first for r in c.of("PUT")))
        for bad in ("25:00", "12", "2020-01-01T00:00:00Z", "noon"):
            self.s3load("put", "--syncstart", bad, *SMALL, status=2)

    def test_clear_bucket_asks(self):
        """Only "yes" deletes; an interrupt ends the question."""
        self.start()
        self.s3load("get", "--objects", "5", *SMALL, "--noclear", "--benchdata", "kept")
        n = self.keys()
        self.assertEqual(n, 5)
        for answer, status in ((b"no\n", 1), (b"\x03", 130), (b"yes\n", 0)):
            with self.subTest(answer=answer):
                self.assertEqual(self.keys(), n)
                pid, fd = pty.fork()
                if pid == 0:
                    os.chdir(self.tmp)
                    os.execve(BUILD / "s3load",
                              ["s3load", *self.argv("put", *SMALL, "--clear-bucket")],
                              {**os.environ, **self.environment()})
                late = threading.Timer(TIMEOUT_S, os.kill, (pid, signal.SIGKILL))
                late.start()
                said = b""
                while b"Type yes:" not in said:
                    said += os.read(fd, 4096)
                os.write(fd, answer)
                with contextlib.suppress(OSError):  # the end of a terminal
                    while os.read(fd, 4096):
                        pass
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), status)
                late.cancel()
                os.close(fd)
        self.assertEqual(self.keys(), 0)

    def test_descriptors(self):
        """More connections than may be open at once are refused, not errors of the server."""
        self.start()
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))}
        r = self.s3load("put", *SMALL, "--concurrent", "64", status=1, **limit)
        self.assertRegex(r.err, "allows 64 .ulimit -n.")
        self.s3load("put", *SMALL, "--concurrent", "8", **limit)

    def test_wrong_usage(self):
        no_share = [f"--{op}-distrib=0" for op in ("get", "stat", "put", "delete")]
        for options in (["--put-distrib", "1", "--delete-distrib", "2"], ["--concurrent", "0"], [*no_share, "--anonymous"],
                        ["--bucket", "a/b"], ["--verify", "-1"], ["operand"],
                        ["--access-key", "only"]):
            self.check_run("s3load", "mixed", *options, status=2, cwd=self.tmp,
                           env={"HOME": str(self.tmp)})
        self.check_run("s3load", "get", "--list-existing", "--verify", "1", status=2)
        r = self.check_run("s3load", "put", "--host", "a{1...", status=2, cwd=self.tmp,
                           env={"HOME": str(self.tmp)})
        self.assertIn("range", r.err)
