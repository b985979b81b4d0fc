"""A signing S3 client for tests: fills buckets with objects of others, and shows what is in a bucket."""
import base64
import contextlib
import datetime
import hashlib
import hmac
import http.client
import re
import urllib.parse

from harness import TIMEOUT_S

NS = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
# The name of a run, as s3load makes it.
RUN = "s3load-23456789abcd"
SETTINGS = ("versioning", "object-lock", "policy", "lifecycle")


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


class S3Client:
    def __init__(self, server):
        self.host = server.hosts.split(",")[0]
        self.access_key, self.secret_key = server.keys

    def signed(self, method, path, query=(), body=b"", headers=()):
        """Signs a request; returns its headers, and the path to send. `query` is a mapping."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        sent = {"host": self.host, "x-amz-date": now, "x-amz-content-sha256": digest,
                "content-md5": base64.b64encode(hashlib.md5(body).digest()).decode(),
                **dict(headers)}
        names = sorted(sent)
        query = "&".join(f"{quote(k)}={quote(v)}" for k, v in sorted(dict(query).items()))
        path = urllib.parse.quote(path, safe="/-_.~")
        canonical = "\n".join([method, path, query, *(f"{n}:{sent[n]}" for n in names), "",
                               ";".join(names), digest])
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = f"AWS4{self.secret_key}".encode()
        for part in (*scope.split("/"), to_sign):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        sent["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, "
                                 f"SignedHeaders={';'.join(names)}, Signature={key.hex()}")
        return sent, path + ("?" + query if query else "")

    def request(self, method, path, query=(), body=b"", headers=()):
        """Signs and sends. Returns status, body and headers."""
        sent, path = self.signed(method, path, query, body, headers)
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())
        finally:
            connection.close()

    def done(self, *args, **kwargs):
        status, text, headers = self.request(*args, **kwargs)
        if status >= 300:
            raise RuntimeError(f"{args}: HTTP {status} {text}")
        return text, headers

    def make(self, bucket, lock=False):
        self.done("PUT", f"/{bucket}",
                  headers={"x-amz-bucket-object-lock-enabled": "true"} if lock else {})

    def put(self, bucket, key, body=b"theirs"):
        self.done("PUT", f"/{bucket}/{key}", body=body)

    def delete(self, bucket, key):
        self.done("DELETE", f"/{bucket}/{key}")

    def versioning(self, bucket, status):
        self.done("PUT", f"/{bucket}", {"versioning": ""},
                  f"<VersioningConfiguration{NS}><Status>{status}</Status></VersioningConfiguration>"
                  .encode())

    def begin_upload(self, bucket, key):
        text, _ = self.done("POST", f"/{bucket}/{key}", {"uploads": ""})
        upload = re.search("<UploadId>(.*?)</UploadId>", text).group(1)
        self.done("PUT", f"/{bucket}/{key}", {"partNumber": "1", "uploadId": upload}, b"part")
        return upload

    def uploads(self, bucket):
        text, _ = self.done("GET", f"/{bucket}", {"uploads": ""})
        return sorted(re.findall("<Key>(.*?)</Key>", text))

    def entries(self, bucket):
        """Objects, or versions and markers where there are any: sorted (kind, key, version)."""
        found = []
        for query, kinds in (({"list-type": "2"}, "Contents"), ({"versions": ""},
                                                               "Version|DeleteMarker")):
            status, text, _ = self.request("GET", f"/{bucket}", query)
            assert status != 200 or "<IsTruncated>true" not in text
            for kind, element in re.findall(f"<({kinds})>(.*?)</(?:{kinds})>", text, re.S):
                version = re.search("<VersionId>(.*?)</VersionId>", element)
                found.append((kind, re.search("<Key>(.*?)</Key>", element).group(1),
                              version.group(1) if version else ""))
        return sorted(found)

    def state(self, bucket):
        """Everything in a bucket that a run must not change: settings, objects, versions and uploads."""
        settings = {s: self.request("GET", f"/{bucket}", {s: ""})[:2] for s in SETTINGS}
        # An answer that is an error names its request.
        return {s: (status, text if status == 200 else "") for s, (status, text)
                in settings.items()}, self.entries(bucket), self.uploads(bucket)

    def make_theirs(self, bucket, versioning=None):
        """Makes a bucket of others with one of everything that could be lost. Returns its state."""
        self.make(bucket)
        if versioning:
            self.versioning(bucket, "Enabled")
        for key in ("a", "a", "dir/b", "s3load-results/c", f"{RUN}/notes", f"ours/{RUN}/notes"):
            self.put(bucket, key)
        if versioning:
            self.delete(bucket, "a")
        if versioning == "Suspended":
            self.versioning(bucket, "Suspended")
        for key in ("dir/upload", "s3load-results/upload"):
            self.begin_upload(bucket, key)
        with contextlib.suppress(RuntimeError):  # not every server keeps both
            self.done("PUT", f"/{bucket}", {"policy": ""}, (
                '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":'
                f'"s3:GetObject","Resource":"arn:aws:s3:::{bucket}/*"}}]}}').encode())
        with contextlib.suppress(RuntimeError):
            self.done("PUT", f"/{bucket}", {"lifecycle": ""}, (
                f"<LifecycleConfiguration{NS}><Rule><ID>r</ID><Status>Enabled</Status><Filter>"
                "<Prefix>x</Prefix></Filter><Expiration><Days>9</Days></Expiration></Rule>"
                "</LifecycleConfiguration>").encode())
        state = self.state(bucket)
        assert len(state[2]) == 2, state
        return state
