"""Where s3load takes its settings from: credentials, region and endpoint, a file of options, proxies;
what it says of them in the capture, and what it never shows."""
import json
import os
import re
import signal
import subprocess
import threading
import unittest

from harness import BUILD, TIMEOUT_S
from loadcase import Capture, LoadTest, apart_from_speed, has_rows
from servers import ACCESS_KEY, SECRET_KEY, Proxy, Scripted, key_of, prefix_of

SMALL = ("--obj.size", "1KiB", "--concurrent", "2", "--requests", "20")
LISTING = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"


class Settings(LoadTest):
    def write(self, name, text):
        path = self.tmp / ".aws" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path


class Credentials(Settings):
    """A server that says who asks."""

    def setUp(self):
        super().setUp()
        self.server = Scripted(self.answer)
        self.addCleanup(self.server.stop)
        self.seen, self.keys = set(), set()

    def answer(self, request):
        m = re.search(r"Credential=([^/]*)/\d+/([^/]*)/", request.headers.get("authorization", ""))
        who = m.groups() if m else (None, None)
        self.seen.add((*who, request.headers.get("x-amz-security-token")))
        key = key_of(request.target)
        if "list-type" in request.target:
            prefix = prefix_of(request.target)
            return 200, LISTING.replace(b"</L", "".join(f"<Contents><Key>{k}</Key><Size>1</Size></Contents>" for k in sorted(
                self.keys) if k.startswith(prefix)).encode() + b"</L")
        if request.method == "POST":
            self.keys.difference_update(re.findall("<Key>(.*?)</Key>", request.body.decode()))
            return 200, b"<DeleteResult></DeleteResult>"
        if request.method == "PUT" and key:
            self.keys.add(key)
        return 200, b""

    def who(self, *options, env=None, status=0):
        self.seen.clear()
        r = self.bare("put", *SMALL, "--stress", *options, env=env, status=status)
        if status == 0:
            self.assertEqual(len(self.seen), 1, self.seen)
            return self.seen.pop()
        self.assertEqual(self.seen, set())
        return r.err

    def test_one_source(self):
        """Explicit options, then --profile, then variables, then AWS_PROFILE or "default"; nothing is mixed."""
        self.write("credentials", "[default]\naws_access_key_id=d\naws_secret_access_key=s\naws_session_token=dt\n"
                                  "[b]\naws_access_key_id=b\naws_secret_access_key=s\n"
                                  "[half]\naws_access_key_id=h\n")
        host = {"S3LOAD_HOST": self.server.hosts}
        aws = {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "et"}
        key = ("--access-key", "c", "--secret-key", "s")
        for options, env, expected in (
                ((), {}, ("d", "us-east-1", "dt")),
                ((), {"AWS_PROFILE": "b"}, ("b", "us-east-1", None)),
                ((), aws, ("e", "us-east-1", "et")),
                ((), {**aws, "AWS_PROFILE": "b"}, ("e", "us-east-1", "et")),
                (("--profile", "b"), aws, ("b", "us-east-1", None)),
                (("--profile", "default"), {**aws, "AWS_PROFILE": "b"}, ("d", "us-east-1", "dt")),
                (key, aws, ("c", "us-east-1", None)),
                ((*key, "--session-token", "ct"), aws, ("c", "us-east-1", "ct")),
                (("--anonymous",), aws, (None, None, None)),
                ((), {**aws, "AWS_DEFAULT_REGION": "r1"}, ("e", "r1", "et")),
                ((), {**aws, "AWS_DEFAULT_REGION": "r1", "AWS_REGION": "r2"}, ("e", "r2", "et")),
        ):
            with self.subTest(options=options, env=env):
                self.assertEqual(self.who(*options, env={**host, **env}), expected)
        for options, env, message in (
                (("--access-key", "c"), aws, "--access-key needs --secret-key"),
                (("--session-token", "t"), aws, "belongs to --access-key"),
                ((), {**aws, "S3LOAD_ACCESS_KEY": "x"}, "S3LOAD_ACCESS_KEY needs S3LOAD_SECRET_KEY"),
                (("--profile", "half"), aws, "aws_access_key_id needs aws_secret_access_key"),
                (("--profile", "none"), aws, "there is no profile 'none'"),
                ((), {"AWS_PROFILE": "none"}, "there is no profile 'none'"),
                (("--anonymous", *key), {}, "--anonymous excludes"),
        ):
            with self.subTest(options=options, env=env):
                self.assertIn(message, self.who(*options, env={**host, **env}, status=2))

    def test_unsigned_only_with_anonymous(self):
        message = self.who("--host", self.server.hosts, status=2)
        self.assertIn("there are no credentials: ", message)
        self.assertIn("set S3LOAD_ACCESS_KEY and S3LOAD_SECRET_KEY, or use --profile or --anonymous", message)

    def test_config_file(self):
        """Region and endpoint_url, by profile; nested settings are not ours."""
        here = self.server.hosts
        self.write("credentials", "[b]\naws_access_key_id = b\naws_secret_access_key = s\n")
        self.write("config", "[default]\nregion = wrong\nendpoint_url = http://127.0.0.1:1\n\n"
                             "[profile b]\ns3 =\n    region = nested\nregion = eu-north-1\n"
                             f"endpoint_url = http://{here}/\n")
        expected = ("b", "eu-north-1", None)
        self.assertEqual(self.who("--profile", "b"), expected)
        self.assertEqual(self.who(env={"AWS_PROFILE": "b"}), expected)
        self.assertEqual(self.who("--profile", "b", env={"AWS_REGION": "x", "S3LOAD_HOST": "127.0.0.1:1"}), expected)
        self.assertEqual(self.who("--profile", "b", "--region", "y"), ("b", "y", None))
        self.assertEqual(self.who(env={"AWS_PROFILE": "b", "AWS_REGION": "x"}), ("b", "x", None))
        keys = {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "s"}
        self.assertEqual(self.who(env={**keys, "AWS_ENDPOINT_URL": f"http://{here}"}), ("e", "wrong", None))
        self.assertEqual(self.who(env={**keys, "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
                                       "AWS_ENDPOINT_URL_S3": f"http://{here}"}), ("e", "wrong", None))
        path = self.write("other", f"[profile c]\nendpoint_url=http://{here}\naws_access_key_id=c\n"
                                   "aws_secret_access_key=s\n")
        self.assertEqual(self.who("--profile", "c", env={"AWS_CONFIG_FILE": str(path)}), ("c", "us-east-1", None))

    def test_indented(self):
        """Only "name =" opens a nest, and what is indented no more is not in it."""
        keys = "aws_access_key_id = b\n  aws_secret_access_key = s=\n  aws_session_token = tok==\n"
        nested = "    region = wrong\n    aws_session_token = wrong\n"
        for text in f"[b]\n  {keys}", f"[b]\n  s3 =\n{nested}  {keys}", f"[b]\n{keys}  s3 =\n{nested}":
            self.write("credentials", text)
            self.assertEqual(self.who("--profile", "b", "--host", self.server.hosts), ("b", "us-east-1", "tok=="))

    def test_services(self):
        """The server of S3 is that of the section for services, wherever it stands."""
        self.write("credentials", "[b]\naws_access_key_id = b\naws_secret_access_key = s\n")
        wrong = "endpoint_url = http://127.0.0.1:1\n"
        profile = "[profile b]\nservices = loc\nregion = r\n" + wrong
        services = (f"[services other]\ns3 =\n  {wrong}[services loc]\n{wrong}sqs =\n  {wrong}s3 =\n  use = y\n"
                    f"  endpoint_url = http://{self.server.hosts}\nses =\n  {wrong}")
        for text in profile + services, services + profile:
            self.write("config", text)
            self.assertEqual(self.who("--profile", "b"), ("b", "r", None))
        self.write("config", profile + re.sub(r"(?m)^(?=s3 =|sqs =|ses =|  )", "  ", services))
        self.assertEqual(self.who("--profile", "b"), ("b", "r", None))
        self.write("config", profile + "[services loc2]\n")
        self.assertIn("profile 'b': there is no section [services loc]", self.who("--profile", "b", status=2))
        self.write("config", profile.replace(wrong, f"endpoint_url = http://{self.server.hosts}\n") + "[services loc]\nsqs =\n  " + wrong)
        self.assertEqual(self.who("--profile", "b"), ("b", "r", None))

    def test_keys_from_elsewhere(self):
        """What the profile has is named, and how to get keys by it."""
        for field in "role_arn", "credential_source", "sso_session", "sso_start_url":
            self.write("config", f"[profile b]\n{field} = x\n")
            self.assertIn(f"profile 'b' has {field} but no keys. s3load cannot get keys that way: add 'credential_process = aws "
                          "configure export-credentials --profile b'", self.who("--profile", "b", "--host", self.server.hosts, status=2))
        keys = {"AWS_ACCESS_KEY_ID": "e", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "b"}
        self.assertEqual(self.who("--host", self.server.hosts, env=keys), ("e", "us-east-1", None))

    def test_authorities(self):
        """AWS_CA_BUNDLE and ca_bundle are like --cacert."""
        good = self.tmp / "cert.pem"
        self.start("--tls", "--cert-out", good)
        bad = self.tmp / "none.pem"
        for option, env, profile, ok in ((None, good, None, True), (None, bad, None, False), (good, bad, bad, True), (bad, good, good, False),
                                         (None, None, good, True), (None, good, bad, True), (None, bad, good, False)):
            self.write("config", f"[default]\nca_bundle = {profile}\n" if profile else "")
            path = self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
            r = self.s3load("put", *SMALL, "--tls", "--benchdata", path, *(["--cacert", option] if option else []),
                            env={"AWS_CA_BUNDLE": str(env or "")}, status=0 if ok else 1)
            self.assertEqual(f"cannot use '{bad}': No such file" in r.err, not ok)
            if ok:
                self.assertEqual(Capture(path).start["settings"]["cacert"], str(good))
        self.start()
        _, c = self.load("put", *SMALL, env={"AWS_CA_BUNDLE": str(bad)})
        self.assertIsNone(c.start["settings"]["cacert"])

    def test_credential_process(self):
        script = self.tmp / "keys.sh"
        document = {"Version": 1, "AccessKeyId": "p", "SecretAccessKey": "very-secret", "SessionToken": "t"}
        script.write_text(f"echo '{json.dumps(document)}'\n")
        self.write("config", f"[default]\ncredential_process = sh {script}\n")
        self.assertEqual(self.who("--host", self.server.hosts), ("p", "us-east-1", "t"))
        # It gets no keys of ours, and none of its keys are mixed with those of a file.
        del document["SessionToken"]
        script.write_text(f"test -z \"$S3LOAD_SECRET_KEY$AWS_SECRET_ACCESS_KEY\" && echo '{json.dumps(document)}'\n")
        token = self.write("credentials", "[default]\naws_session_token = t\n")
        self.assertEqual(self.who("--host", self.server.hosts, "--profile", "default", env={
            "S3LOAD_SECRET_KEY": "s", "AWS_SECRET_ACCESS_KEY": "s"}), ("p", "us-east-1", None))
        token.unlink()
        for text, message in (("false", "failed (status 1)"), ("kill -9 $$", "was ended by signal 9"),
                              ("echo very-secret", "printed no JSON"), ("yes very-secret", "printed 16384 bytes or more"),
                              ("echo '{\"Version\":1,\"AccessKeyId\":\"very-secret\"}'", "printed no JSON"),
                              (f"sh {script} | sed 's/}}/,\"Expiration\":\"2001-01-01T00:00:00Z\"}}/'", "have expired")):
            with self.subTest(process=text):
                self.write("config", f"[default]\ncredential_process = {text}\n")
                err = self.who("--host", self.server.hosts, status=2)
                self.assertNotIn("very-secret", str(err))
                self.assertIn(message, str(err))


class Arguments(Settings):
    def test_what_may_be_secret_is_not_shown(self):
        secret = "wJalrXUtnFEMI/K7MDENG"
        for argv in ([f"-secret-keys={secret}"], [f"-secretkey={secret}"], [f"--secret-key{secret}"],
                     ["--secret-key=", secret], ["--access-key", "a", "b", secret], [secret],
                     [f"-x{secret}"], [f"-q{secret}"]):
            with self.subTest(argv=argv):
                r = self.bare("put", *argv, status=2)
                self.assertNotIn(secret[4:], r.err + r.out)
        r = self.bare(f"--secret-key={secret}", "put", status=2)
        self.assertNotIn(secret, r.err + r.out)

    def test_one_dash(self):
        """As users of Go programs type long options."""
        self.start()
        state, c = self.load("put", "-obj.size=2KiB", "-concurrent", "3", "-requests=20", "-q",
                             f"-access-key={ACCESS_KEY}", f"-secret-key={SECRET_KEY}")
        self.assertEqual({r.bytes for r in c.rows}, {2048})
        self.assertNotIn(SECRET_KEY, c.text)
        r = self.bare("put", "-host=127.0.0.1:1", status=2)
        self.assertIn("no credentials", r.err)
        r = self.bare("put", "-hots=127.0.0.1:1", status=2)
        self.assertIn("did you mean --host?", r.err)
        self.assertEqual(self.bare("put", "-help").out, self.bare("put", "-h").out)

    def test_aliases(self):
        self.start()
        c = self.load_until(has_rows, "put", "--obj.size", "1KiB", "--rps-limit", "50", "--keep-data", "-q")
        self.assertEqual(c.start["settings"]["rate"], 50)
        self.assertEqual(self.keys(), len(c.rows))

    def test_file_of_options(self):
        self.start()
        options = self.tmp / "options"
        options.write_text(f"# what we use\nhost = {self.server.hosts}\n--access-key {ACCESS_KEY}\n"
                           f"secret-key = {SECRET_KEY}\n\nobj.size 3KiB\nlabel a b = c\nstress\nquiet\n"
                           "requests=20\n")
        r = self.bare("put", f"@{options}", "--stress=false", "--benchdata", "c", "--json")
        c = Capture(self.tmp / "c.csv.zst")
        self.assertEqual([r.bytes for r in c.rows], 20 * [3072])
        self.assertEqual(c.start["label"], "a b = c")
        self.assertNotIn(SECRET_KEY, c.text)
        for text, message in (("obj.sise 3KiB\n", ":1: unknown option --obj.sise: did you mean --obj.size?"),
                              ("\n\nhost\n", ":3: option --host needs a value"),
                              ("md5\n" + "x" * 9000, ":2: the line is too long"), ("md5\n" * 1001, ":1001: more than"),
                              ("help", ":1: help is not given here"), ("concurrent many", ":1: option --concurrent: 'many': expected"),
                              (f"secretkey={SECRET_KEY}", ":1: unknown option --secretkey")):
            with self.subTest(text=text):
                options.write_text(text)
                r = self.bare("put", f"@{options}", "x", status=2)
                self.assertIn(f"{options}{message}", r.err)
                self.assertNotIn(SECRET_KEY, r.err)
        self.assertIn("cannot read 'none'", self.bare("put", "@none", status=2).err)


class Outputs(Settings):
    def test_names(self):
        """In UTC, and nothing that a shell expands."""
        self.start()
        self.s3load("put", *SMALL, env={"TZ": "Pacific/Kiritimati"})
        name = next(self.tmp.glob("*.csv.zst")).name
        self.assertRegex(name, r"\As3load-put-\d{8}T\d{6}Z-\w{4}\.csv\.zst\Z")
        began = Capture(self.tmp / name).start["start"]
        self.assertEqual(name[len("s3load-put-"):][:13], re.sub(r"[-:]", "", began)[:13])

    def test_standard_output(self):
        self.start()
        r = self.s3load("put", *SMALL, "--benchdata", "-")
        self.assertEqual(list(self.tmp.glob("*.zst")), [])
        (self.tmp / "c.csv.zst").write_bytes(r.raw)
        c = Capture(self.tmp / "c.csv.zst")
        self.assertEqual(c.errors(), [])
        self.assertGreater(len(c.rows), 0)
        self.assertIsNotNone(c.end)
        self.assertRegex(r.err, r"put: [\d,]+ requests")
        self.s3analyze("analyze", self.tmp / "c.csv.zst")

    def test_advice_fits(self):
        """What is to be typed where s3analyze is not there can be typed."""
        self.start()
        program = self.tmp / "s3load"
        program.symlink_to(BUILD / "s3load")
        name = "-it's $HOME.csv.zst"
        copy = self.tmp / "bin" / "s3load"
        copy.parent.mkdir()
        copy.write_bytes((BUILD / "s3load").read_bytes())
        copy.chmod(0o755)
        r = self.check_run(copy, *self.argv("put", *SMALL, "--threads", "1", f"--benchdata={name}"), env=self.environment(),
                           cwd=self.tmp)
        advice = re.search(r"To analyse it: (s3analyze .*)", r.out).group(1)
        said = subprocess.run(advice.replace("s3analyze", f"'{BUILD}/s3analyze'", 1), shell=True, cwd=self.tmp,
                              stdout=subprocess.PIPE, check=True)
        self.assertRegex(said.stdout, rb"\nPUT +20 +0 ")

    def test_settings_in_the_capture(self):
        """Those of options, variables, profiles and defaults alike."""
        self.start()
        proxy = Proxy()
        self.addCleanup(proxy.stop)
        user = proxy.url.replace("http://", "http://user:very-secret@")
        path = self.tmp / "c.csv.zst"
        r = self.s3load("get", *SMALL, "--objects", "3", "--range-size", "100", "--duration", "1h", "--benchdata", path,
                        env={"AWS_DEFAULT_REGION": "us-east-1", "http_proxy": user})
        c = Capture(path)
        self.assertNotIn("very-secret", c.text + r.err + r.out)
        self.assertIn(f"through the proxy {proxy.url}, as http_proxy says", r.err)
        self.assertIn("--no-proxy", r.err)
        settings = c.start["settings"]
        for name, value in {"host": self.server.hosts, "region": "us-east-1", "tls": False, "lookup": "auto",
                            "host-select": "weighed", "proxy": proxy.url, "obj.size_bytes": 1024, "objects": 3,
                            "range-size_bytes": 100, "concurrent": 2, "duration_ns": 3600 * 10**9, "rate": 0,
                            "request-timeout_ns": 60 * 10**9, "storage-class": None}.items():
            self.assertEqual(settings[name], value, name)
        for name in ("access-key", "secret-key", "session-token", "profile"):
            self.assertNotIn(name, settings)
        self.assertNotIn(SECRET_KEY, c.text)

    def test_no_proxy(self):
        self.start()
        proxy = Proxy("403 Forbidden")
        self.addCleanup(proxy.stop)
        r = self.s3load("put", *SMALL, "--no-proxy", "--benchdata", "c", env={"http_proxy": proxy.url})
        self.assertEqual((proxy.asked, apart_from_speed(r.err)), ([], ""))
        self.assertIsNone(Capture(self.tmp / "c.csv.zst").start["settings"]["proxy"])

    def test_hosts_without_proxy(self):
        """If no_proxy excepts all hosts, no proxy is named; the requests tell."""
        self.start()
        proxy = Proxy(port=self.server.ports[0])
        self.addCleanup(proxy.stop)
        other = f"127.0.0.2:{self.server.ports[0]}"  # which only the proxy reaches
        for hosts, no_proxy, used in (([], "127.0.0.1", False), ([], "127.0.0.0/8", False), ([], "*", False), ([], "127.0.0.2", True),
                                      (["--host", f"{self.server.hosts},{other}"], "127.0.0.1", True),
                                      (["--host", f"{self.server.hosts},{self.server.hosts}"], "127.0.0.2,127.0.0.1", False)):
            with self.subTest(hosts=hosts, no_proxy=no_proxy):
                proxy.asked.clear()
                path = self.tmp / f"{len(os.listdir(self.tmp))}.csv.zst"
                r = self.s3load("put", *SMALL, *hosts, "--host-select", "roundrobin", "--benchdata", path,
                                env={"http_proxy": proxy.url, "no_proxy": no_proxy})
                self.assertEqual(Capture(path).start["settings"]["proxy"], proxy.url if used else None)
                self.assertEqual(apart_from_speed(r.err) != "", used, r.err)
                self.assertEqual(proxy.asked != [], used)


if __name__ == "__main__":
    unittest.main()
