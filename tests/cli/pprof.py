"""Runs `go tool pprof`, to compare our figures with its."""
import os
import re
import shutil
import subprocess
import unittest

from harness import TIMEOUT_S

UTC = {"TZ": "UTC"}  # in which both print times


def go_pprof(*args):
    """Returns what it prints. Skips the test without Go 1.26 or newer: older versions print fewer lines."""
    go = shutil.which("go")
    version = go and subprocess.run([go, "version"], text=True, stdout=subprocess.PIPE, check=False).stdout
    minor = re.search(r"go1\.(\d+)", version or "")
    if minor is None or int(minor.group(1)) < 26:
        raise unittest.SkipTest("no Go 1.26 or newer")
    done = subprocess.run([go, "tool", "pprof", *args], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=TIMEOUT_S, env={**os.environ, **UTC}, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest("go tool pprof does not run")
    return done.stdout
