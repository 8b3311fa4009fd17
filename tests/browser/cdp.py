"""A page in a real Chromium, driven over its DevTools pipe: Python's standard library only.

    with Browser("chromium") as browser:
        page = browser.page()
        page.call("Page.navigate", url="file:///...")

Messages are JSON, each ended by a NUL, on descriptors 3 (to the browser) and 4 (from it).
"""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    pass


class Browser:
    def __init__(self, command):
        self.folder = tempfile.mkdtemp(prefix="allocbench-browser.")
        to_browser, self.to = os.pipe()
        self.of, from_browser = os.pipe()
        self.waiting = b""
        self.number = 0
        self.answers = {}
        self.pages = {}

        def give():  # in the child, between fork and exec
            os.setsid()
            high = [os.dup(to_browser), os.dup(from_browser)]
            while min(high) < 5:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [command, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + self.folder, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=give)
        os.close(to_browser)
        os.close(from_browser)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.number

    def pump(self, seconds):
        """Takes what the browser has said; waits for at most so long. False: it said nothing."""
        if not select.select([self.of], [], [], seconds)[0]:
            return False
        data = os.read(self.of, 1 << 20)
        if not data:
            raise Failed("the browser has ended")
        *messages, self.waiting = (self.waiting + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].events.append(message)
        return True

    def call(self, method, session=None, **params):
        number = self.send(method, session, **params)
        end = time.monotonic() + 60
        while number not in self.answers:
            self.pump(max(0, end - time.monotonic()))
            if time.monotonic() > end:
                raise Failed("no answer to " + method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Failed("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.pages[session] = page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(domain + ".enable")
        return page


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session
        self.events = []
        self.has_scripts = True

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def wait_for(self, event):
        end = time.monotonic() + 60
        while not self.seen(event):
            self.browser.pump(max(0, end - time.monotonic()))
            if time.monotonic() > end:
                raise Failed("no " + event)

    def seen(self, event):
        return [e["params"] for e in self.events if e["method"] == event]

    def frame(self):
        """Until what was done can be seen."""
        if self.has_scripts:  # else nobody would call back
            self.evaluate("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def settle(self):
        """Until the page has said all that it has to say."""
        self.frame()
        while self.browser.pump(0.1):
            pass

    def evaluate(self, code):
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed("%s\n%s" % (code, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def size(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def scripts(self, on):
        self.has_scripts = on
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
