"""A browser without a window: Chromium, driven by chromedriver through WebDriver (W3C) with JSON over HTTP."""
import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.request


# Texts whose contrast with the ground behind them is below 4.5, WCAG's AA, which is 3 for large ones.
CONTRAST = """
const channel = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const ground = (element) => {
  if (!element) return [255, 255, 255];
  const [r, g, b, a = 1] = parse(getComputedStyle(element).backgroundColor);
  return a === 1 ? [r, g, b] : ground(element.parentElement).map((v, i) => a * [r, g, b][i] + (1 - a) * v);
};
const bad = [];
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode, element = text.parentElement;
  // Numbers on shades: tests/javascript/contrast.test.js.
  if (!text.data.trim() || !element.checkVisibility()
    || element.closest('script, style, [disabled], .skip, svg title, svg .number')) continue;
  const style = getComputedStyle(element);
  const ink = light(parse(element.closest('svg') ? style.fill : style.color)), behind = light(ground(element));
  const contrast = (Math.max(ink, behind) + 0.05) / (Math.min(ink, behind) + 0.05);
  if (contrast < 4.5) bad.push(`${contrast.toFixed(2)}: ${element.outerHTML.slice(0, 160)}`);
}
return [...new Set(bad)];"""
# How many pixels the page is wider than the window. The width of the layout counts: a phone's innerWidth grows with
# what sticks out.
WIDER = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Parts of the text that reach out of the window, apart from those in boxes that scroll.
CUT = """
const width = document.documentElement.clientWidth;
const scrolls = (part) => part && (/auto|scroll/.test(getComputedStyle(part).overflowX) || scrolls(part.parentElement));
return [...document.querySelectorAll('main *')].filter((part) => part.getClientRects().length && !part.closest('svg svg, details:not([open]) > :not(summary)')
  && (part.getBoundingClientRect().right > width + 1 || part.getBoundingClientRect().left < -1) && !scrolls(part.parentElement))
  .map((part) => part.outerHTML.slice(0, 160))"""


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
        """A picture of the whole page, in a folder that need not exist."""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        picture = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def requests(self):
        """What the page has requested, apart from what it made itself."""
        return self.js("""return performance.getEntriesByType('resource').map((e) => e.name)
          .filter((n) => !['blob:', 'data:'].some((start) => n.startsWith(start)))""")

    def outside(self):
        """What the page has requested from anywhere but its server, or its folder if it is a file."""
        home = self.js("return location.protocol === 'file:' ? 'file:' : location.origin")
        return [name for name in self.requests() if not name.startswith(home)]

    def fits(self, width):
        """Fails if the page is wider than the window."""
        wider = self.js(WIDER)
        assert wider <= 0, f"{wider} pixels wider than {width}: {self.js(CUT)[:3]}"

    def messages(self):
        """What the console said since the last call, apart from hints about reading pixels, which the test does."""
        return [entry["message"] for entry in self.call("/se/log", type="browser") if entry["source"] != "rendering"]

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.root + self.session, method="DELETE"), timeout=30)
        finally:
            self.driver.terminate()
            self.driver.wait()
