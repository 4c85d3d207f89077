"""A browser without a window: Chromium, driven by chromedriver through WebDriver (W3C) with JSON over HTTP."""
import base64
import json
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.root = "http://127.0.0.1:" + line.rsplit("port", 1)[1].strip(" .\n")
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        self.session = ""
        self.session = "/session/" + self.call("/session", capabilities=capabilities)["sessionId"]

    def call(self, path, **body):
        request = urllib.request.Request(
            self.root + self.session + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:2000]) from None

    def call_get(self, path):
        with urllib.request.urlopen(self.root + self.session + path, timeout=60) as response:
            return json.load(response)["value"]

    def cdp(self, command, **parameters):
        return self.call("/goog/cdp/execute", cmd=command, params=parameters)

    def open(self, url):
        self.call("/url", url=url)

    def js(self, script, *arguments):
        return self.call("/execute/sync", script=script, args=list(arguments))

    def wait(self, script, seconds=30):
        """Waits until the script returns something true, and returns it."""
        end = time.monotonic() + seconds
        while not (found := self.js(script)):
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.1)
        return found

    def show(self, width, scheme="light", height=900):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, *keys):
        """Presses and releases real keys, one after the other: "Tab", "Enter", "ArrowLeft", " ", …"""
        codes = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
                 "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
        actions = [{"type": kind, "value": codes.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def screenshot(self, path):
        """A picture of the whole page."""
        picture = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def messages(self):
        """What the console said since the last call, apart from hints about reading pixels, which the test does."""
        return [entry["message"] for entry in self.call("/se/log", type="browser") if entry["source"] != "rendering"]

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.root + self.session, method="DELETE"), timeout=30)
        finally:
            self.driver.terminate()
            self.driver.wait()
