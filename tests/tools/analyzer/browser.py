"""A page in headless Chromium, driven through its pipe of the DevTools protocol."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """Opens a page. `problems` collects what the page writes to the console as an error, and what it throws."""

    def __init__(self, url):
        self.folder = tempfile.mkdtemp()
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()
        # Chromium expects its pipe as descriptors 3 and 4.
        command = f'exec 3<&{from_us} 4>&{to_us}; exec "$@"'
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=[from_us, to_us], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.out = to_browser
        self.input = os.fdopen(from_browser, "rb")
        self.buffer = b""
        self.number = 0
        self.session = None
        self.problems = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")
        self.open(url)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.run("new Promise((done) => { const wait = () => document.readyState === 'complete' ? done() : setTimeout(wait, 20); wait(); })")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            facts = answer.get("params", {})
            if answer.get("method") == "Runtime.exceptionThrown":
                self.problems.append(facts["exceptionDetails"]["exception"].get("description", ""))
            elif answer.get("method") == "Log.entryAdded" and facts["entry"]["level"] == "error":
                self.problems.append(facts["entry"]["text"])
            elif answer.get("method") == "Runtime.consoleAPICalled" and facts["type"] == "error":
                self.problems.append(str(facts["args"]))

    def _next(self):
        while b"\0" not in self.buffer:
            part = os.read(self.input.fileno(), 1 << 20)
            if not part:
                raise RuntimeError("Chromium has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def run(self, script):
        """Returns the value of an expression of JavaScript, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def choose_files(self, *paths):
        """Gives the page files, as its button Open does, and waits until it is done with them."""
        self.run("openDone = null; undefined")
        node = self.call("DOM.querySelector", nodeId=self.call("DOM.getDocument")["root"]["nodeId"], selector="#files")["nodeId"]
        self.run("(() => { const open = openFiles; openFiles = (files) => { openFiles = open; return openDone = open(files); }; })()")
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(p) for p in paths])
        self.run("new Promise((done) => { const wait = () => openDone ? openDone.then(done) : setTimeout(wait, 5); wait(); })")

    def screenshot(self, path, width, height, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.run("new Promise((done) => setTimeout(done, 300))")
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        self.input.close()
        shutil.rmtree(self.folder, ignore_errors=True)
