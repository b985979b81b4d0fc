"""Makes testdata/faults, which test_real_faults.py reads: s3load loads servers that are slow, stop or fail, and truth.json says
what they did.

  python3 tests/cli/record_faults.py
"""
import json
import signal
import socket
import subprocess
import threading
import time

from harness import BUILD, TESTDATA
from servers import ACCESS_KEY, SECRET_KEY, Target

FOLDER = TESTDATA / "faults"
# The time of an answer without a fault.
USUAL = "op=GET,latency=lognormal:40ms:0.3"


def record_one(name, server, *options):
    (FOLDER / f"{name}.csv.zst").unlink(missing_ok=True)
    subprocess.run(["s3load", "get", "--objects", "20", "--obj.size", "4KiB", "--concurrent", "16", "--host", server.hosts,
                    "--benchdata", name, "-q", *options], executable=BUILD / "s3load", cwd=FOLDER, check=True,
                   env={"S3LOAD_ACCESS_KEY": ACCESS_KEY, "S3LOAD_SECRET_KEY": SECRET_KEY})
    server.stop()


def record():
    FOLDER.mkdir(exist_ok=True)
    truth = {}

    def host(port):
        return f"http://127.0.0.1:{port}"
    server = Target("--fault", "op=GET,latency=lognormal:50ms:0.3", "--fault", "server=1,op=GET,latency=lognormal:100ms:0.3", n_ports=3)
    truth["slow-host"] = {"host": host(server.ports[1])}
    record_one("slow-host", server, "--duration", "4s")

    server = Target("--fault", USUAL)
    sent = []

    def send(what):
        server.process.send_signal(what)
        sent.append(time.monotonic())
    for at, what in ((1.5, signal.SIGSTOP), (4.5, signal.SIGCONT)):
        threading.Timer(at, send, [what]).start()
    record_one("stop", server, "--duration", "6s")
    truth["stop"] = {"stopped_s": round(sent[1] - sent[0], 3)}

    record_one("errors", Target("--fault", USUAL, "--fault", "op=GET,fail=503:0.3,during=1s:2s"), "--duration", "4s")
    truth["errors"] = {"during_s": 2, "share": .3}

    server = Target("--fault", USUAL, n_ports=2)
    with socket.socket() as bound:  # and does not listen
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        truth["refused"] = {"host": host(port)}
        record_one("refused", server, "--duration", "4s", "--host", f"{server.hosts},127.0.0.1:{port}")
    (FOLDER / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    record()
