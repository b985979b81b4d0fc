"""A headless Chromium for tests, driven over its debugging socket with the standard library alone.

    with Browser() as browser:
        page = browser.open(path, width=390, dark=True)   # -> Page: messages, requests
        page.evaluate("document.title")
"""
import base64
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import unittest
import urllib.request

from harness import TIMEOUT_S, wait_until


# Runs in a page or picture: finds what is cut off, overlaps, or is too wide.
FAULTS = """(() => {
  const bad = [], root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) bad.push(`the page is ${root.scrollWidth} wide`);
  for (const figure of document.querySelectorAll('figure'))
    if (figure.checkVisibility() && [...figure.querySelectorAll('svg')].filter(s => s.checkVisibility()).length != 1)
      bad.push(`${figure.textContent}: not one drawing`);
  for (const svg of document.querySelectorAll('svg')) {
    if (!svg.checkVisibility()) continue;
    const box = svg.getBoundingClientRect(), seen = [];
    const name = svg.querySelector('title')?.textContent;
    if (box.width < 100) bad.push(`${name}: not to be seen`);
    for (const text of svg.querySelectorAll('text')) {
      const size = parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width;
      if (size < 9.3) bad.push(`${name}: text of ${size} pixels`);
      const r = text.getBoundingClientRect(), s = text.textContent.trim();
      if (!s) continue;
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 ||
          r.bottom > box.bottom + 1) bad.push(`${name}: "${s}" is cut off`);
      for (const [o, t] of seen)
        if (Math.min(r.right, o.right) - Math.max(r.left, o.left) > 2 &&
            Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top) > 4)
          bad.push(`${name}: "${s}" lies over "${t}"`);
      seen.push([r, s]);
    }
  }
  return bad;
})()"""


class Socket:
    """One WebSocket connection (RFC 6455), text frames only."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.buffer = b""
        key = base64.b64encode(b"any sixteen bytes"[:16]).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]

    def more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the browser has gone")
        self.buffer += data

    def take(self, n):
        while len(self.buffer) < n:
            self.more()
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def send(self, text):
        data = text.encode()
        head = b"\x81" + (struct.pack("!B", 0x80 | len(data)) if len(data) < 126
                          else struct.pack("!BH", 0x80 | 126, len(data)) if len(data) < 1 << 16
                          else struct.pack("!BQ", 0x80 | 127, len(data)))
        mask = b"mask"
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, size = self.take(2)
            size &= 0x7f
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            data = self.take(size)
            if first & 0x0f <= 1:
                text += data
                if first & 0x80:
                    return text.decode()


class Page:
    def __init__(self, browser):
        self.browser = browser
        self.messages = []  # of the console and the log
        self.requests = []  # addresses other than the page itself

    def evaluate(self, expression):
        r = self.browser.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in r:
            raise AssertionError(r["exceptionDetails"])
        return r["result"].get("value")


class Browser:
    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise unittest.SkipTest("chromium is not installed")
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.id = 0
        self.page = None
        try:
            self.connect()
        except BaseException:
            self.close()
            raise

    def connect(self):
        port_file = pathlib.Path(self.folder) / "DevToolsActivePort"
        if not wait_until(lambda: port_file.exists() and "\n" in port_file.read_text(), lambda: self.process.poll() is None):
            raise AssertionError("chromium does not start")
        port = int(port_file.read_text().splitlines()[0])
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        pages = json.load(opener.open(f"http://127.0.0.1:{port}/json/list", timeout=TIMEOUT_S))
        url = next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"]
        self.socket = Socket(port, "/" + url.split("/", 3)[3])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.id += 1
        self.socket.send(json.dumps({"id": self.id, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.id:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if self.page is None:
            return method
        if method == "Log.entryAdded":
            self.page.messages.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.page.messages.append(str(params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.page.messages.append(str(params["exceptionDetails"]))
        elif method == "Network.requestWillBeSent":
            self.page.requests.append(params["request"]["url"])
        return method

    def open(self, path, width=1280, dark=False, scripts=True):
        """Loads a file and returns its Page once it is there."""
        self.page = None
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.page = Page(self)
        url = pathlib.Path(path).resolve().as_uri()
        self.call("Page.navigate", url=url)
        while self.note(json.loads(self.socket.receive())) != "Page.loadEventFired":
            pass
        self.page.requests = [u for u in self.page.requests
                              if u != url and not u.startswith("data:")]
        return self.page

    def screenshot(self, path):
        r = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        pathlib.Path(path).write_bytes(base64.b64decode(r["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(TIMEOUT_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
