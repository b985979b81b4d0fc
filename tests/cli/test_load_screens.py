"""What s3load says when a server does not look for the bucket in the host's name."""
from harness import unwrapped
from loadcase import LoadTest

SMALL = ("--obj.size", "1KiB", "--concurrent", "2", "--duration", "100ms", "--json")


class Lookup(LoadTest):
    def test_a_server_without_a_domain(self):
        self.start()
        host = f"localhost:{self.server.ports[0]}"
        said = unwrapped(self.s3load("get", "--host", host, "--lookup", "host", "--objects", "5", *SMALL,
                                     status=1).err)
        self.assertIn("the server must know its own domain", said)
        self.assertIn("--lookup path needs neither", said)
        # Nothing is said of it where it is not the cause.
        said = self.s3load("get", "--host", host, "--lookup", "path", "--bucket", "A", "--objects", "5", *SMALL,
                           status=None).err
        self.assertNotIn("--lookup", said)
