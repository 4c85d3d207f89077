#!/usr/bin/env python3
"""Checks the site: links and anchors of every page; in a browser, from the disk: formulas, search, keys, widths, contrast.

   browser.py SITE [FOLDER]

FOLDER gets screenshots."""
import os
import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

from webdriver import Browser

SHOWN = ["index.html", "course/index.html", "course/04_attention.html", "course/exercises/heads.html", "docs/data.html",
         "docs/commands.html", "configs/reverse.html", "api/index.html", "api/linear.html", "api/Tensor.html", "docs/reading.html"]
# Text whose contrast with its ground is below WCAG's AA: 4.5, or 3 for large text.
CONTRAST = """
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const c = parse(getComputedStyle(element).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
const bad = [];
for (const element of document.querySelectorAll('body *')) {
  if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
  if (!element.getClientRects().length || element.closest('.skip')) continue;
  const style = getComputedStyle(element), size = parseFloat(style.fontSize);
  const a = light(parse(style.color)), b = light(ground(element));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < (size >= 24 || (size >= 18.5 && style.fontWeight >= 700) ? 3 : 4.5)) bad.push(`${element.tagName} ${element.className}: ${ratio.toFixed(2)}`);
}
return [...new Set(bad)];"""
OUTSIDE = "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('file:'))"
WIDER = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.modules = set(), [], False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        self.links += [values[key] for key in ("href", "src") if values.get(key)]
        self.modules |= values.get("type") == "module"


def check_links(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "playground.html"}
    bad = []
    for path, page in pages.items():
        assert not page.modules, f"{path}: a page from the disk cannot load a module"
        for link in page.links:
            if re.match(r"(https?|mailto|data):", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.is_file():
                bad.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif anchor and target in pages and unquote(anchor) not in pages[target].ids:
                bad.append(f"{path.relative_to(site)}: {link} has no such anchor")
    assert not bad, "\n".join(bad[:40])
    return len(pages)


def check_page(browser, site, name, folder):
    browser.open(f"file://{site / name}")
    for width, scheme in ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")):
        browser.show(width, scheme, 900 if width == 1280 else 850)
        assert not browser.js(WIDER), f"{name}: wider than {width} pixels"
        bad = browser.js(CONTRAST)
        assert not bad, f"{name}, {scheme}: low contrast: {bad}"
        if folder:
            browser.screenshot(os.path.join(folder, f"{name.replace('/', '-')[:-5]}-{width}-{scheme}.png"))
    assert not browser.js(OUTSIDE), browser.js(OUTSIDE)
    assert not browser.js("return document.body.innerText.includes('$$')"), f"{name}: a formula is not rendered"
    messages = browser.messages()
    assert not messages, f"{name}: {messages}"


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
        browser.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key if len(key) > 1 else "", **text)


def check_search(browser, site):
    """The keyboard alone finds a page: /, a word, Enter."""
    browser.open(f"file://{site / 'docs/data.html'}")
    browser.show(1280)
    press(browser, "/")
    assert browser.js("return document.activeElement.id") == "find"
    browser.wait("return document.querySelector('script[src$=\"search_index.js\"]')")
    browser.wait("return typeof MiniSearch === 'function'")
    for letter in "softmax":
        press(browser, letter)
    found = browser.wait("return [...document.querySelectorAll('#found a')].map((a) => a.textContent)")
    assert any("softmax" in text for text in found), found
    press(browser, "ArrowDown")
    assert browser.js("return document.activeElement.closest('#found') !== null"), "the arrow does not enter the list"
    press(browser, "Escape")
    assert browser.js("return document.getElementById('found').hidden")
    assert not browser.messages()


def check_try(browser, site):
    """A chapter embeds the playground where it says "Try it", and loads it only when it is opened."""
    browser.open(f"file://{site / 'course/04_attention.html'}")
    browser.show(1280)
    assert browser.js("return document.querySelectorAll('p.try + details.play > iframe').length") == 1
    browser.js("window.loads = 0; document.querySelector('.play iframe').addEventListener('load', () => ++window.loads)")
    assert browser.js("return window.loads") == 0, "the playground loads before anybody opens it"
    browser.js("document.querySelector('details.play').open = true")
    browser.wait("return window.loads === 1")
    assert not browser.messages()


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    count = check_links(site)
    browser = Browser()
    try:
        for name in SHOWN:
            check_page(browser, site, name, folder)
        for page in sorted(site.glob("course/*.html")):
            browser.open(f"file://{page}")
            assert browser.js("return document.querySelectorAll('.katex-error').length") == 0, page
            assert not browser.js("return document.body.innerText.includes('$$')"), f"{page}: a formula is not rendered"
            messages = browser.messages()
            assert not messages, f"{page}: {messages}"
        browser.open(f"file://{site / 'course/04_attention.html'}")
        formulas = browser.js("return document.querySelectorAll('math').length")
        assert formulas > 20, f"{formulas} formulas in chapter 4"
        check_search(browser, site)
        check_try(browser, site)
    finally:
        browser.close()
    print(f"{count} pages: every link leads somewhere")


main()
