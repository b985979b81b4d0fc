"""What s3load says to who is not quite right: each message names the way on."""
from loadcase import LoadTest

SMALL = ("--obj.size", "1KiB", "--concurrent", "2", "--duration", "100ms", "--quiet")


class CommandLine(LoadTest):
    def test_durations_need_a_unit(self):
        """A run of 3 s ago was deleted by `clean --older-than 1`."""
        for options in (["clean", "--older-than", "1"], ["put", "--duration", "1"], ["get", "--give-up-after=1"]):
            r = self.bare(*options, status=2)
            self.assertIn("'1': expected a duration with a unit: 1s for seconds, 1m for minutes, 1d for days", r.err)
        self.start()
        for good in ("7d", "1w", "1d12h", "0"):
            r = self.s3load("clean", "--dry-run", "--bucket", "none", "--older-than", good, status=1)
            self.assertIn("NoSuchBucket", r.err)
