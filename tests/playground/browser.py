#!/usr/bin/env python3
"""Opens the playground in a real browser, from a file: it trains, draws, compares, shares, refuses; no request, no error.

   browser.py PAGE [FOLDER]

FOLDER gets the screenshots."""
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
from webdriver import Browser

OUTSIDE = "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('blob:') && !n.startsWith('data:'))"
WIDER = "return document.documentElement.scrollWidth - innerWidth"
STATUS = "return document.getElementById('status').textContent"
ATLAS = "document.querySelector('#atlases .large .cells').innerHTML"
READY = "return !state.making && document.querySelectorAll('#atlases .large').length > 0 && document.querySelectorAll('#predicted td').length > 0"


def step(browser):
    return int(browser.js(STATUS).split()[1])


def address(page, config, run=False):
    return f"file://{page}#config={urllib.parse.quote(config)}{'&run=1' if run else ''}"


def fresh(browser, url):
    """Opens an address as a new page: one that differs in its fragment only would not load again."""
    browser.open("about:blank")
    browser.open(url)


def check_training(browser, page):
    fresh(browser, f"file://{page}")
    browser.wait(READY)
    before = browser.js(f"return {ATLAS}")
    browser.js("document.getElementById('train').click()")
    browser.wait(STATUS + ".endsWith('exact match 100.0 %')", 300)
    browser.js("document.getElementById('train').click()")
    browser.wait("return document.getElementById('train').textContent === 'Train'")
    at = step(browser)
    assert at > 20, at
    browser.wait("return !drawing")
    assert browser.js(f"return {ATLAS}") != before, "training does not change the attention"
    browser.js("document.getElementById('one').click()")
    browser.wait(f"return Number(document.getElementById('status').textContent.split(' ')[1]) === {at + 1}")
    browser.wait("return !drawing")
    last = browser.js(f"return {ATLAS}")
    browser.js("const p = document.getElementById('past'); p.value = 0; p.dispatchEvent(new Event('input'))")
    browser.wait(f"return !drawing && {ATLAS} !== arguments[0]".replace("arguments[0]", repr(last)))
    assert browser.js(f"return {ATLAS}") == before, "step 0 looks otherwise than before training"
    text = browser.js("""const cells = document.querySelector('#atlases .large .ground').getBoundingClientRect();
      document.querySelector('#atlases .large').dispatchEvent(new PointerEvent('pointermove',
        {clientX: cells.left + 2, clientY: cells.top + 2, bubbles: true}));
      return document.querySelector('#atlases .readout').textContent""")
    assert "→" in text, text
    browser.js("""document.querySelector('#atlases .large').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))""")
    assert browser.js("return document.querySelector('#atlases .readout').textContent") != text, "the arrow keys read nothing"
    browser.js("const t = document.getElementById('typed'); t.value = '2 2 2 9 0 0'; t.dispatchEvent(new Event('change'))")
    browser.wait("return document.getElementById('example-error').textContent.includes('9')")
    browser.js("const t = document.getElementById('typed'); t.value = '2 2 2 1 0 0'; t.dispatchEvent(new Event('change'))")
    browser.wait("return document.getElementById('example-error').hidden && !drawing")
    assert browser.js("return document.querySelector('#atlases .mono').textContent").startswith("2 2 2 1 0 0")
    browser.js("document.getElementById('reset').click()")
    browser.wait(STATUS + ".startsWith('step 0 ')")


def check_pattern(browser, page):
    """What the text of recall names: values attend to the key before them, then the last key to its value."""
    fresh(browser, f"file://{page}")
    browser.wait(READY)
    browser.js("const t = document.getElementById('tasks'); t.value = 'recall'; t.dispatchEvent(new Event('change'))")
    browser.wait("return first.summary.config.includes('recall') && !state.making")
    weights = """return first.call('attention', stepShown(), 'k2 v0 k5 v1 k3 v5 k0 v4 k3').then(({target, maps}) => {
      const most = (layer, row, column) => Math.max(...[0, 1].map((head) => (maps[layer].weights[(head * 9 + row) * 9 + column] / 255) ** 2));
      return [target, Math.min(...[1, 3, 5, 7].map((row) => most(0, row, row - 1))), most(1, 8, 5)]; })"""
    before = browser.js(weights)
    browser.js("document.getElementById('train').click()")
    browser.wait(STATUS + ".endsWith('exact match 100.0 %')", 300)
    browser.js("document.getElementById('train').click()")
    browser.wait("return document.getElementById('train').textContent === 'Train' && !drawing")
    target, key_before, value = browser.js(weights)
    assert target == "v5" and key_before > 0.5 and value > 0.5, (target, key_before, value)
    assert before[2] < 0.5, before


def check_knobs(browser):
    set_knob = ("const k = document.querySelector(`#knob-list [data-key='${arguments[0]}']`); k.value = arguments[1];"
                "k.dispatchEvent(new Event('change'))")
    error = "return !document.getElementById('error').hidden && document.getElementById('error').textContent"
    browser.js(set_knob, "model.dim", "7")
    assert "heads" in browser.wait(error)
    browser.js(set_knob, "model.dim", "4096")
    assert "too large for a page" in browser.wait(error + ".includes('4096') && document.getElementById('error').textContent")
    browser.js(set_knob, "model.dim", "16")
    browser.wait("return document.getElementById('error').hidden && document.getElementById('toml').value.includes('dim = 16')")
    assert "model.dim" in urllib.parse.unquote(browser.js("return location.hash"))
    browser.js("document.getElementById('toml').value = 'nonsense'; document.getElementById('use').click()")
    assert "config:1:" in browser.wait(error)


def check_break(browser):
    browser.js("[...document.querySelectorAll('#breaks button')].find((b) => b.textContent === 'Hard attention').click()")
    browser.wait("return document.getElementById('status-b').textContent.startsWith('B: step') && Number(document.getElementById('status-b').textContent.split(' ')[2]) > 10", 60)
    browser.js("document.getElementById('train').click()")
    browser.wait("return document.getElementById('train').textContent === 'Train' && !drawing")
    a, b = browser.js("return state.sides.map((side) => side.step)")
    assert a == b > 10, (a, b)
    assert len(browser.js("return [...document.querySelectorAll('#atlases .large')].map((s) => s.outerHTML)")) == 2
    assert "hardmax" in browser.js("return document.getElementById('break-look').textContent")


def check_address(browser, page):
    fresh(browser, f"file://{page}#run=1")
    browser.wait(STATUS + ".match(/^step [1-9]/)", 60)
    fresh(browser, address(page, 'model.kind = "classifier"\ndata.kind = "set"\ndata.lengths = [6, 10]\nmodel.dim = 16\n', run=True))
    browser.wait(STATUS + ".match(/^step [1-9]/)", 60)
    for config, message in (('data.kind = "text"\ndata.path = "/etc/passwd"', "reads files"),
                            ('train.load = "/etc/passwd"', "reads no files"),
                            ('data.kind = "<img src=x onerror=window.hostile=1>"', "expected one of"),
                            ("model.layers = 100000", "model.layers")):
        fresh(browser, address(page, config, run=True))
        browser.wait("return !document.getElementById('error').hidden")
        assert message in browser.js("return document.getElementById('error').textContent"), config
    assert not browser.js("return window.hostile")


def check_tasks(browser, page):
    fresh(browser, f"file://{page}")
    browser.wait(READY)
    for task in browser.js("return tasks.map((task) => task.name)"):
        browser.js("const t = document.getElementById('tasks'); t.value = arguments[0]; t.dispatchEvent(new Event('change'))", task)
        browser.wait("return !state.making && first.step === 0")
        assert task in browser.js("return first.summary.config") or task == "reverse"  # the default
        browser.js("document.getElementById('one').click()")
        browser.wait("return first.step === 1 && !drawing && document.querySelectorAll('#atlases .large').length === 1")


def main():
    page = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    browser = Browser()
    try:
        check_training(browser, page)
        check_pattern(browser, page)
        fresh(browser, f"file://{page}")
        browser.wait(READY)
        check_knobs(browser)
        check_break(browser)
        for width, scheme in ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")):
            browser.show(width, scheme)
            browser.wait("return !drawing")
            wider = browser.js(WIDER)
            if folder:
                browser.screenshot(os.path.join(folder, f"playground-{width}-{scheme}.png"))
            assert wider <= 0, f"{wider} pixels wider than {width}"
        check_address(browser, page)
        check_tasks(browser, page)
        assert not browser.js(OUTSIDE), browser.js(OUTSIDE)
        messages = browser.messages()
        assert not messages, [message[:300] for message in messages]
    finally:
        browser.close()
    print("the playground trains, draws, compares and refuses; it loads nothing")


main()
