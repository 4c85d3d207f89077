"""What bench/playground prints of the page: how soon it shows a picture and has learned its task, and how smoothly.

   python3 bench/playground_page.py PAGE"""
import os
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(root, "tests", "lab", "report"))
from chromium import Browser

# Runs in the page before its own scripts: seconds since it was opened, and the time of every frame.
WATCH = """
window.watched = {frames: []};
const watch = (now) => {
  const {dataset} = document.body ?? {dataset: {}};
  window.watched.frames.push(now);
  if (Number(dataset.drawn) > 0) window.watched.picture ??= now / 1000;
  if (Number(dataset.exact) >= 0.5) window.watched.half ??= now / 1000;
  requestAnimationFrame(watch);
};
requestAnimationFrame(watch);"""


def main():
    browser = Browser()
    try:
        browser.show(1280)
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.get("file://" + os.path.abspath(sys.argv[1]))
        browser.wait("return window.watched.half !== undefined", 120)
        browser.wait("return performance.now() > 10000")
        watched = browser.js("return window.watched")
    finally:
        browser.quit()
    training = [time for time in watched["frames"] if time > 1000 * watched["picture"]]
    gaps = sorted(b - a for a, b in zip(training, training[1:]))
    print(f"first picture: {watched['picture']:.2f} s; exact match 0.5: {watched['half']:.2f} s")
    print(f"frames while it trains: {1000 / (sum(gaps) / len(gaps)):.0f} a second, "
          f"99 % of them after at most {gaps[int(0.99 * len(gaps))]:.0f} ms")


main()
