"""The commands of docs/ci.md, one after another in one folder, on short runs of the server of the tests."""
import os
import re
import shlex
import subprocess

from harness import BUILD, ROOT, TIMEOUT_S, CliTest
from servers import Target
from test_docs import blocks

# Real runs decide nothing here: test_cmp_turns.py and test_repeat.py compare what is simulated.
SHORT = (("--objects 100", "--objects 10 --concurrent 2"), ("--duration 30s", "--requests 100"),
         ("repeat ab", "repeat ab --quiet --max-runs 4"))
# What a test cannot do: install packages, and wait for the night.
NOT_RUN = ("sh .ci/deps", 'cd "$(mktemp')


class Page(CliTest):
    def test_page(self):
        page = "\n".join("\n".join(block) for _, block in blocks(ROOT / "docs" / "ci.md")
                         if not block[0].startswith(NOT_RUN))
        for port, options in re.findall(r"(?m)^s3target serve --port (\d+) (.*) >.*&$", page):
            server = Target(*shlex.split(options))
            self.addCleanup(server.stop)
            page = page.replace(port, str(server.ports[0]))
        page = re.sub(r"(?m)^s3target .*\n", "", page)
        for long, short in SHORT:
            self.assertIn(long, page)
            page = page.replace(long, short)
        forge = self.tmp / "bin" / "gh"
        forge.parent.mkdir()
        forge.write_text('#!/bin/sh\necho "$@" >"posted to"\ncp "$5" posted.md\n')
        forge.chmod(0o755)
        deploy = forge.with_name("deploy")
        deploy.write_text('#!/bin/sh\necho "$1" >>sides\n')
        deploy.chmod(0o755)
        done = subprocess.run(["bash", "-c", f'set -u\n{page}\nexit "$status"'], cwd=self.tmp, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S,
                              env={**os.environ, "PATH": f"{forge.parent}:{BUILD}:{os.environ['PATH']}", "PR": "7"})
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        self.assertNotRegex(done.stderr, "bash: |Usage|wrong|unknown")
        self.assertEqual(len([*self.tmp.glob("ab/run-*.csv.zst")]), 8, done.stderr)
        self.assertEqual(sorted((self.tmp / "same" / "sides").read_text().split()), 4 * ["after"] + 4 * ["before"])
        for side in "main", "pr":
            self.assertEqual(len([*self.tmp.glob(f"{side}/*.csv.zst")]), 16)
        self.assertEqual((self.tmp / "posted to").read_text(), "pr comment 7 --body-file comment.md\n")
        self.assertIn("| GET 64KiB |", (self.tmp / "posted.md").read_text())
