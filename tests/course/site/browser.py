#!/usr/bin/env python3
"""Checks the site: links and anchors of every page; in a browser, from the disk: formulas, search, keys, widths, contrast.

   browser.py SITE [FOLDER]

FOLDER gets screenshots."""
import json
import os
import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

from chromium import CONTRAST, Browser

SHOWN = ["index.html", "course/index.html", "course/04_attention.html", "course/exercises/heads.html", "docs/data.html",
         "docs/commands.html", "configs/pairs.html", "course/museum/no-scale.html", "api/index.html", "api/scaled_dot_product_attention.html",
         "api/MultiHeadAttention-class.html", "api/Tensor-class.html", "course/06_heads.html", "api/core.scope.h.html", "docs/reading.html", "docs/classes.html"]
# Formulas that reach out of the text, which has no box that scrolls around those of a line.
FORMULAS = """return [...document.querySelectorAll('article .piece, article p math, article li math')].filter((part) =>
  part.getClientRects().length && !part.closest('.katex-block, .katex-display, .wide') &&
  part.getBoundingClientRect().right > part.closest('article').getBoundingClientRect().right + 1).map((part) => part.textContent)"""

# What is wider than its box, apart from boxes that scroll and have a shade at the edge that says so.
CLIPPED = """return [...document.querySelectorAll('.top *, main *')].filter((part) => part.clientWidth && !part.closest('svg, math, iframe')
  && part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display !== 'inline' && !(/auto|scroll/.test(getComputedStyle(part).overflowX)
  && getComputedStyle(part).backgroundImage.includes('gradient'))).map((part) => part.outerHTML.slice(0, 120))"""


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
    browser.get(f"file://{site / name}")
    for width, scheme in ((1280, "light"), (1280, "dark"), (1920, "light"), (1000, "light"), (400, "light"), (400, "dark")):
        browser.show(width, scheme, 850 if width == 400 else 900)
        browser.fits(width)
        cut = browser.js(CLIPPED)
        assert not cut, f"{name}, {width}: cut off without a sign: {cut[:5]}"
        bad = browser.js(CONTRAST)
        assert not bad, f"{name}, {scheme}: low contrast: {bad}"
        if folder:
            browser.screenshot(os.path.join(folder, f"{name.replace('/', '-')[:-5]}-{width}-{scheme}.png"))
    assert not browser.outside(), browser.outside()
    assert not browser.js("return document.body.innerText.includes('$$')"), f"{name}: a formula is not rendered"
    messages = browser.messages()
    assert not messages, f"{name}: {messages}"


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
        browser.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key if len(key) > 1 else "", **text)


def check_search(browser, site):
    """The keyboard alone finds a page: /, a word, Enter."""
    browser.get(f"file://{site / 'docs/data.html'}")
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


def found(browser, query):
    """What the search lists for a query: addresses within the site."""
    browser.js("const i = document.getElementById('find'); i.focus(); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", query)
    return browser.wait("return document.querySelector('#found a') && [...document.querySelectorAll('#found a')].map((a) => a.getAttribute('href'))")


def check_mask(browser, site):
    """How attention's mask is given is found by search and by menu."""
    browser.get(f"file://{site / 'index.html'}")
    browser.show(1280)
    for query, page in (("mask", "api/KeepMask-class.html"), ("attention mask", "api/AttentionOptions-class.html#mask"),
                        ("linear", "api/linear.html"), ("backward", "api/core.autograd.h.html#backward")):
        assert page in (urls := found(browser, query)), f"{query}: {urls}"
    assert found(browser, "linear")[0] == "api/linear.html"
    browser.get(f"file://{site / 'index.html'}")
    for link in ("API", "scaled_dot_product_attention", "AttentionOptions", "KeepMask"):
        browser.js("[...document.querySelectorAll('a')].find((a) => a.textContent === arguments[0] && a.getClientRects().length).click()", link)
        browser.wait(f"return document.title.startsWith({json.dumps('All names' if link == 'API' else link)})")
    assert "causal" in browser.js("return document.querySelector('article').innerText")


def check_pytorch(browser, site):
    """PyTorch's names are found, and the search says what they are here."""
    browser.get(f"file://{site / 'index.html'}")
    browser.show(1280)
    for query, page in (("F.scaled_dot_product_attention", "scaled_dot_product_attention.html"), ("nn.MultiheadAttention", "MultiHeadAttention-class.html"),
                        ("view", "Tensor-class.html#reshape"), ("unsqueeze", "Tensor-class.html#reshape"), ("torch.cat", "concat.html")):
        assert f"api/{page}" in found(browser, query)[:3], f"{query}: {found(browser, query)}"
    found(browser, "unsqueeze")
    assert "here reshape" in browser.js("return document.getElementById('found').textContent")


def check_api(browser, site):
    """A page begins with its formula, then has the header's declaration, the test of its gradients and its chapters."""
    for name, formula, declaration in (
            ("MultiHeadAttention-class", "Q = x Wq", "Tensor operator()(const Tensor& x, const SequenceContext& sequence) const override;"),
            ("softmax", "exp(x) / Σ exp(x)", "Tensor softmax(const Tensor& x, int axis = -1);"),
            ("linear", "y[…, o] = Σᵢ x[…, i] w[o, i] + b[o]", "Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {});")):
        browser.get(f"file://{site / 'api' / name}.html")
        parts = browser.js("return [...document.querySelectorAll('article > pre')].map((pre) => pre.textContent.trim())")
        assert parts[0].startswith(formula), parts[0]
        assert any(declaration in part for part in parts), parts
        foot = browser.js("return [...document.querySelectorAll('article > p.q')].at(-1).textContent")
        assert "gradients tested in tests/" in foot and "chapter" in foot, foot


def check_predict(browser, site):
    """An answer is hidden until one has predicted, and the prediction stays beside it; without scripts a click shows it."""
    url = f"file://{site / 'course/04_attention.html'}"
    browser.get(url)
    browser.show(1280)
    assert browser.js("return document.querySelectorAll('.predict').length === document.querySelectorAll('details.answer:not([open])').length")
    assert not browser.js("return document.querySelector('details.answer pre.o').checkVisibility()")
    browser.js("document.querySelector('.guess input').focus()")
    for letter in "2 0 1":
        press(browser, letter)
    browser.press("Enter")
    for _ in range(2):
        assert browser.js("return document.querySelector('details.answer pre.o').checkVisibility()")
        assert browser.js("return document.querySelector('details.answer .mine').textContent") == "You predicted: 2 0 1"
        assert browser.js("return document.querySelectorAll('details.answer[open]').length") == 1
        browser.get(url)  # it stays
    browser.js("localStorage.clear()")


def check_hover(browser, site):
    """Pointing at links, buttons and code moves nothing."""
    browser.get(f"file://{site / 'api/softmax.html'}")
    browser.show(1280)
    places = "return [...document.querySelectorAll('main *')].map((part) => Object.values(part.getBoundingClientRect().toJSON()).join())"
    before = browser.js(places)
    for x, y in browser.js("""return [...document.querySelectorAll('main a, main button, main pre')].map((part) => part.getBoundingClientRect())
            .filter((box) => box.top < 890).slice(0, 30).map((box) => [box.left + 4, box.top + 4])"""):
        browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        assert browser.js(places) == before, (x, y)


def check_panel(browser, site):
    """The recorded training plays, stops, and is there without scripts."""
    step = "document.querySelector('[data-part=step]').textContent"
    browser.get(f"file://{site / 'index.html'}")
    browser.show(1280)
    browser.wait(f"return Number({step}) < 600 && Number({step}) > 20")
    browser.js("document.querySelector('#panel button').click()")
    stopped = browser.js(f"return {step}")
    browser.wait("return document.querySelector('#panel button').textContent === 'Go on'")
    flow = browser.js("return document.querySelector('[data-part=flow]').innerHTML")
    browser.js("document.querySelector('#panel button').click()")
    browser.wait(f"return {step} !== '{stopped}'")
    assert browser.js("return document.querySelector('[data-part=flow]').innerHTML") != flow, "training changes nothing"
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.get(f"file://{site / 'index.html'}")
    assert browser.js(f"return {step}") == "600", "it moves although less motion is preferred"
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    browser.get(f"file://{site / 'index.html'}")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    text = browser.js("return document.getElementById('panel').innerText")
    assert "✓ right" in browser.js("return document.getElementById('panel').textContent") and "600" in text and "Replay" not in text, text


def check_live(browser, site):
    """A button of the front page trains the recorded model in the browser; nothing is loaded before."""
    browser.get(f"file://{site / 'index.html'}")
    browser.show(1280)
    assert not any("trainer.js" in name for name in browser.requests())
    browser.js("document.querySelector('#panel .live').click()")
    browser.wait("return document.querySelector('[data-part=note]').textContent.startsWith('Trained here')", 180)
    shown = browser.js("return document.getElementById('panel').textContent")
    assert "✓ right" in shown and "finds the value of the same key" in shown, shown
    exact = browser.js("return parseFloat(document.querySelector('[data-part=exact]').textContent)")
    assert exact > 90, exact
    assert not browser.outside() and not browser.messages()


def check_try(browser, site):
    """A chapter embeds the playground where it says "Try it", and loads it only when it is opened."""
    browser.get(f"file://{site / 'course/04_attention.html'}")
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
        browser.show(400, height=850)
        for page in sorted([*site.glob("course/**/*.html"), *site.glob("docs/*.html")]):
            browser.get(f"file://{page}")
            browser.fits(400)
            assert browser.js("return document.querySelectorAll('.katex-error').length") == 0, page
            assert not browser.js("return document.body.innerText.includes('$$')"), f"{page}: a formula is not rendered"
            wide = browser.js(FORMULAS)
            assert not wide, f"{page}: formulas are cut at 400 pixels: {wide}"
            messages = browser.messages()
            assert not messages, f"{page}: {messages}"
        browser.get(f"file://{site / 'course/04_attention.html'}")
        formulas = browser.js("return document.querySelectorAll('math').length")
        assert formulas > 20, f"{formulas} formulas in chapter 4"
        check_search(browser, site)
        check_mask(browser, site)
        check_pytorch(browser, site)
        check_api(browser, site)
        check_predict(browser, site)
        check_hover(browser, site)
        check_panel(browser, site)
        check_try(browser, site)
        if (site / "trainer.js").exists():
            check_live(browser, site)
    finally:
        browser.quit()
    print(f"{count} pages: every link leads somewhere")


main()
