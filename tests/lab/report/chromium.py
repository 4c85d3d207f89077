"""A browser without a window: Chromium, driven by Selenium."""
import base64
import os
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


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


class Browser(webdriver.Chrome):
    js = webdriver.Chrome.execute_script

    def __init__(self):
        options = webdriver.ChromeOptions()
        for argument in "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars":
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(options=options, service=Service(shutil.which("chromedriver")))

    def cdp(self, command, **parameters):
        return self.execute_cdp_cmd(command, parameters)

    def wait(self, script, seconds=30):
        """Waits until the script returns something true, and returns it."""
        return WebDriverWait(self, seconds, 0.1).until(lambda _: self.js(script), f"not within {seconds} s: {script}")

    def show(self, width, scheme="light", height=900):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, *keys):
        """Presses and releases real keys, one after the other: "Tab", "Enter", "ArrowLeft", " ", …"""
        codes = {"Tab": Keys.TAB, "Enter": Keys.ENTER, "Escape": Keys.ESCAPE, "ArrowLeft": Keys.ARROW_LEFT,
                 "ArrowUp": Keys.ARROW_UP, "ArrowRight": Keys.ARROW_RIGHT, "ArrowDown": Keys.ARROW_DOWN}
        webdriver.ActionChains(self).send_keys(*(codes.get(key, key) for key in keys)).perform()

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
        return [entry["message"] for entry in self.get_log("browser") if entry["source"] != "rendering"]
