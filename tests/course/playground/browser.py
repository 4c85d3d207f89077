#!/usr/bin/env python3
"""Opens the playground in a real browser, from a file: it trains, draws, answers, compares, refuses; no request, no error.

   browser.py PAGE PROGRAM [FOLDER]

FOLDER gets the screenshots."""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lab", "report"))
from chromium import CONTRAST, Browser

STATE = "document.documentElement.playground"
QUIET = "document.body.dataset.drawing === 'false' && document.body.dataset.state === 'ready'"
STEP = f"{STATE}.sides[0].step"
EXACT = f"{STATE}.sides[0].history.at(-1).scores.exact_match"
FLOW = "document.getElementById('flow').innerHTML"
ERROR = "return !document.getElementById('error').hidden && document.getElementById('error').textContent"

# Elements that are wider than their boxes, apart from those that scroll or end in "…".
CLIPPED = """return [...document.querySelectorAll('body *')].filter((part) => part.checkVisibility() && part.clientWidth
  && !part.closest('svg') && part.scrollWidth > part.clientWidth + 1).filter((part) => {
    const {display, overflowX, textOverflow} = getComputedStyle(part);
    return display !== 'inline' && !/auto|scroll/.test(overflowX) && textOverflow !== 'ellipsis'; }).map((part) => part.outerHTML.slice(0, 140))"""


def address(page, config=None, task=None, run=False):
    parts = [f"config={urllib.parse.quote(config)}"] if config is not None else []
    parts += [f"task={task}"] if task else []
    return f"file://{page}#{'&'.join(parts + ([] if run else ['run=0']))}"


def fresh(browser, url):
    """Opens an address as a new page: one that differs in its fragment only would not load again."""
    browser.get("about:blank")
    browser.get(url)


def still(browser, seconds=60):
    browser.wait(f"return {QUIET}", seconds)


def opened(browser, page, task):
    fresh(browser, address(page, task=task))
    browser.wait("return Number(document.body.dataset.drawn) > 0", 120)
    still(browser)


def click(browser, selector):
    browser.js("const found = document.querySelector(arguments[0]); if (!found) throw new Error(arguments[0]); found.focus();"
               "found.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))", selector)


def key_of(name):
    return f"[data-key=\"{name}\"]"


def stop(browser):
    browser.js(f"if ({STATE}.running) document.getElementById('train').click()")
    still(browser)


def press(browser, key, **more):
    codes = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Escape": 27, "Enter": 13, "Tab": 9}
    for kind in ("rawKeyDown" if key != "Enter" else "keyDown", "keyUp"):
        browser.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key],
                    **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}), **more)


def check_arrival(browser, page):
    """It trains on arrival, learns its task, and everything is on one screen."""
    browser.show(1280)
    fresh(browser, f"file://{page}")
    browser.wait(f"return {STATE}?.sides[0].history.length && {EXACT} >= 0.95", 300)
    stop(browser)
    assert browser.js(f"return {STEP}") > 20
    height = browser.js("return document.documentElement.scrollHeight")
    assert height <= 900, f"the page is {height} pixels high"
    text = browser.js("return document.getElementById('now').textContent")
    assert text.startswith("Exact match passed") or text.startswith("Head "), text
    assert browser.js("return document.querySelectorAll('.event').length") >= 1


def check_solved(browser, page):
    """Training stops when the task is learned, and says what is next; the curves keep to the time of learning."""
    browser.show(1280)
    fresh(browser, address(page, task="recall", run=True))
    browser.wait(f"return {STATE}?.solved > 0 && !{STATE}.running", 300)
    still(browser)
    assert browser.js("return document.getElementById('now').textContent").startswith("Solved")
    offers = browser.js("return [...document.querySelectorAll('#now .chips button')].map((b) => b.dataset.key)")
    assert [f"next {name}" for name in ("harder", "task", "mistake", "head", "link", "toml", "heed")] == offers, offers
    loss = browser.js("return document.querySelector('#status div:nth-child(2) b').textContent")  # of the step that this machine stops at
    assert re.fullmatch(r"< 0\.01|0\.0\d", loss), loss
    solved, learned = browser.js(f"return [{STATE}.solved, {STATE}.sides[0].history.find((e) => e.scores.exact_match >= 0.95).step]")
    click(browser, "#train")  # goes on, and does not stop again
    browser.wait(f"return {STEP} > {max(solved + 100, 3 * learned + 200)}", 120)
    stop(browser)
    assert browser.js("return document.querySelectorAll('#plots svg').length") == 3
    ends = browser.js("return [...document.querySelectorAll('#plots figure:last-child svg')].map((s) => s.scales.x.domain[1])")
    assert learned < ends[0] < 2 * learned + 100 < ends[1], (learned, ends)
    assert browser.js("return document.documentElement.scrollHeight") <= 900
    click(browser, f"#now {key_of('next head')}")
    browser.wait("return document.querySelector('#panel .map')")
    still(browser)
    press(browser, "Escape")
    still(browser)
    click(browser, f"#now {key_of('next harder')}")
    browser.wait(f"return {STATE}.running && {STATE}.values['data.lengths'] === '[6, 6]' && {STATE}.solved === null", 60)
    stop(browser)


def check_shapes(browser, page):
    """Shapes is learned in a few seconds of training."""
    fresh(browser, address(page, task="shapes", run=True))
    browser.wait(f"return {STATE}?.sides[0].history.length && {EXACT} >= 0.9", 300)
    stop(browser)
    assert browser.js(f"return {STEP}") < 400


def check_clipped(browser, page):
    """No text is cut off at any width, with a panel and without; pointing at a curve moves nothing."""
    places = "return [...document.querySelectorAll('main *')].map((part) => Object.values(part.getBoundingClientRect().toJSON()).join())"
    opened(browser, page, "recall")
    for width in (1920, 1280, 1000, 400):
        browser.show(width, height=850 if width == 400 else 900)
        still(browser)
        for opens in ("head decoder.layers.1.attention.head.0", "part decoder.layers.0.feed_forward", None):
            if opens:
                click(browser, key_of(opens))
                browser.wait("return !document.getElementById('panel').hidden")
                still(browser)
            cut = browser.js(CLIPPED)
            assert not cut, (width, opens, cut[:5])
            press(browser, "Escape")
            still(browser)
        before = browser.js(places)
        for x in (0.3, 0.6, 0.9):
            browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=width * x, y=200)
            assert browser.js(places) == before, (width, x)
    # A tab begins at the top.
    browser.js("scrollTo(0, 400)")
    click(browser, "#tabs [data-tab=curves]")
    assert browser.js("return scrollY") == 0
    browser.show(1280)


def check_slider(browser, page):
    opened(browser, page, "recall")
    before = browser.js(f"return {FLOW}")
    click(browser, "#one")
    browser.wait("return document.getElementById('past-step').textContent === 'step 1'")
    still(browser)
    assert browser.js(f"return {FLOW}") != before, "training does not change the drawing"
    browser.js("const p = document.getElementById('past'); p.value = 0; p.dispatchEvent(new Event('input'))")
    browser.wait(f"return document.getElementById('past-step').textContent === 'step 0' && {FLOW} === arguments[0]"
                 .replace("arguments[0]", json.dumps(before)))
    click(browser, "#one")  # training goes on from the newest step, and shows it
    browser.wait(f"return {STEP} === 2 && document.getElementById('past-step').textContent === 'step 2'")
    click(browser, "#again")
    browser.wait(f"return {STATE}.running && {STEP} > 0", 60)
    stop(browser)


def check_head(browser, page):
    """A head's panel opens, its ablation answers everywhere, and closing puts it back."""
    fresh(browser, address(page, task="recall", run=True))
    browser.wait(f"return {STATE}?.sides[0].history.length && {EXACT} >= 0.95", 300)
    stop(browser)
    # What the text of the task names: values attend to the key before them, then the last key to its value.
    weights = browser.js(f"""const {{maps, inputs}} = {STATE}.trace, key = inputs.at(-1), at = inputs.indexOf(key);
      const most = (map, row, column) => Math.max(...[0, 1].map((head) =>
        (map.weights[(head * map.rows + row) * map.columns + column] / 255) ** 2));
      return [most(maps[0], at + 1, at), most(maps[1], inputs.length - 1, at + 1)];""")
    assert min(weights) > 0.5, weights
    answers = []
    for layer in (0, 1):
        for head in (0, 1):
            click(browser, key_of(f"head decoder.layers.{layer}.attention.head.{head}"))
            browser.wait("return !document.getElementById('panel').hidden && document.querySelector('#panel .scores')")
            still(browser)
            assert browser.js("return document.activeElement.dataset.key") == "close"
            assert "95 %" in browser.js("return document.querySelector('#panel .ablate').textContent")  # what it is worth
            assert "ablated" not in browser.js("return document.getElementById('status').textContent")
            click(browser, "#panel .switch")
            browser.wait("return document.querySelector('.head .off')")
            still(browser)
            assert browser.js("return document.querySelectorAll('circle.dropped').length") == 2
            assert "ablated" in browser.js("return document.getElementById('status').textContent")
            assert browser.js("return document.querySelector('.head .off') !== null")
            answers.append(browser.js(f"return {STATE}.ablated.delta"))
            press(browser, "Escape")
            browser.wait("return document.getElementById('panel').hidden")
            still(browser)
            assert "ablated" not in browser.js("return document.getElementById('status').textContent")
            assert browser.js("return document.activeElement.dataset.key").startswith("head "), "focus is lost"
    assert max(answers) > 0.3, answers


def check_parts(browser, page):
    """Every part of the drawing opens a panel; a part that is left out adds nothing."""
    opened(browser, page, "reverse")
    parts = browser.js("return [...document.querySelectorAll('#flow .name button, #flow .rs')].map((b) => b.dataset.key)")
    assert len(parts) == 8, parts
    for part in parts:
        click(browser, key_of(part))
        browser.wait("return !document.getElementById('panel').hidden && document.body.dataset.drawing === 'false'")
        assert len(browser.js("return document.getElementById('panel').textContent")) > 60, part
    name = "decoder.layers.0.feed_forward"
    click(browser, key_of(f"part {name}"))
    still(browser)
    click(browser, "#panel .switch")
    browser.wait(f"return {STATE}.ablated && {STATE}.trace.stages.find((s) => s.stage === '{name}').written[0] === 0")
    click(browser, "#panel .close")
    still(browser)
    click(browser, key_of("logit 3"))
    browser.wait("return document.getElementById('panel').textContent.startsWith('Token 3')")


def check_keyboard(browser, page):
    opened(browser, page, "recall")
    at = browser.js(f"return {STATE}.position")
    browser.js("document.querySelector('.tokens .at').focus()")
    press(browser, "ArrowLeft")
    browser.wait(f"return {STATE}.position === {at - 1}")
    still(browser)
    assert browser.js("return document.activeElement.getAttribute('aria-label')").endswith("chosen")
    browser.js(f"document.querySelector('{key_of('head decoder.layers.0.attention.head.0')}').focus()")
    press(browser, "Enter")
    browser.wait("return document.querySelector('#panel .map')")
    still(browser)
    browser.js("document.querySelector('#panel .map').focus()")
    press(browser, "ArrowRight")
    first = browser.js("return document.querySelector('#panel .readout').textContent")
    assert "reads" in first, first
    press(browser, "ArrowDown")
    second = browser.js("return document.querySelector('#panel .readout').textContent")
    assert second.split(":")[0] != first.split(":")[0]
    # Training redraws the map; what was read of it, and the focus, stay.
    drawn = browser.js("return Number(document.body.dataset.drawn)")
    browser.js("document.getElementById('train').click()")
    browser.wait(f"return Number(document.body.dataset.drawn) > {drawn} + 2", 60)
    stop(browser)
    assert browser.js("return document.activeElement.dataset.key") == "large map"
    assert browser.js("return document.querySelector('#panel .readout').textContent").split(":")[0] == second.split(":")[0]
    press(browser, "ArrowUp")
    assert browser.js("return document.querySelector('#panel .readout').textContent").split(":")[0] == first.split(":")[0]
    press(browser, "Escape")
    still(browser)
    # The tabulator reaches every control, or one of the group that the arrow keys go through.
    browser.js("document.activeElement.blur(); window.scrollTo(0, 0)")
    reached = set()
    for _ in range(150):
        press(browser, "Tab")
        found = browser.js("const e = document.activeElement; return e === document.body ? '' : "
                           "e.dataset.key ?? e.id ?? e.textContent")
        if found and found in reached and len(reached) > 40:
            break
        reached.add(found)
    for control in ("train", "one", "again", "speed", "which", "past", "all-keys", "config", "both", "other-key",
                    "head decoder.layers.1.attention.head.1", "part logits", "break No scale", "prediction 4",
                    "break No causal mask", "part stream"):
        assert control in reached, (control, sorted(reached))
    browser.show(1280, height=800)
    opened(browser, page, "shapes")
    at = browser.js(f"return {STATE}.position")
    move, to = ("ArrowDown", at + 4) if at < 12 else ("ArrowUp", at - 4)
    browser.js(f"document.querySelector('{key_of('image')}').focus()")
    press(browser, move)
    browser.wait(f"return {STATE}.position === {to}")
    browser.show(1280)


def check_sheet(browser, page):
    """A panel is on the screen at every width."""
    opened(browser, page, "recall")
    for width, height in ((1280, 900), (1000, 900), (800, 900), (600, 900), (400, 850)):
        browser.show(width, height=height)
        still(browser)
        click(browser, key_of("head decoder.layers.1.attention.head.0"))
        browser.wait("return document.querySelector('#panel .map')")
        still(browser)
        box = browser.js("const b = document.getElementById('panel').getBoundingClientRect(); return [b.top, b.bottom]")
        assert 100 < box[0] < box[1] <= height, (width, box)
        browser.fits(width)
        press(browser, "Escape")
        still(browser)
    browser.show(1280)


def check_looks(browser, page, folder):
    """At every width nothing is cut off, and text can be read, light and dark."""
    for task in ("recall", "shapes", "reverse"):
        for width, height in ((1280, 900), (1024, 900), (800, 900), (600, 900), (400, 850)):
            for scheme in ("light", "dark"):
                browser.show(width, scheme, height)
                opened(browser, page, task)
                for tab in ("model", "curves", "settings") if width <= 720 else ("model",):
                    if width <= 720:
                        click(browser, f"#tabs [data-tab={tab}]")
                        still(browser)
                    if folder:
                        browser.screenshot(os.path.join(folder, f"playground-{task}-{tab}-{width}-{scheme}.png"))
                    browser.fits(width)
                    faint = browser.js(CONTRAST)
                    assert not faint, (task, tab, width, scheme, faint[:5])
                if width == 1280:
                    height_of = browser.js("return document.documentElement.scrollHeight")
                    assert height_of <= height, f"{task}: {height_of} pixels high"
                    cut = browser.js("const m = document.getElementById('mid'); return m.scrollHeight - m.clientHeight")
                    assert cut <= 1, f"{task}: {cut} pixels of the drawing are cut off"
    small = browser.js("""return [...document.querySelectorAll('button, select, input')].filter((e) => e.checkVisibility()
      && !e.closest('#flow') && e.getBoundingClientRect().height < 40).map((e) => e.id || e.textContent)""")
    assert not small, f"too small for a finger: {small}"
    browser.show(1280)


def set_knob(browser, key, value):
    browser.js("const k = document.querySelector(`#knobs [data-of='${arguments[0]}']`); k.value = arguments[1];"
               "k.dispatchEvent(new Event('change'))", key, value)


def check_knobs(browser, page):
    opened(browser, page, "sort")
    assert browser.js("return document.querySelectorAll('#knobs [data-of]').length") >= 9
    set_knob(browser, "model.dim", "7")
    assert "heads" in browser.wait(ERROR)
    set_knob(browser, "model.dim", "99999999")
    assert "1 … 65536" in browser.wait(ERROR + ".includes('99999999') && document.getElementById('error').textContent")
    set_knob(browser, "model.dim", "4096")
    error = browser.wait(ERROR + ".includes('4096') && document.getElementById('error').textContent")
    assert error.startswith("model.dim = 4096 is too large for a page"), error
    assert browser.js("return document.querySelector('#error code').textContent") == "heed train"
    assert browser.js("return document.querySelector(`#knobs [data-of='data.lengths']`).value") == "6"
    set_knob(browser, "data.lengths", "4 to 5")
    browser.wait(f"return {STATE}.running && {STATE}.values['data.lengths'] === '[4, 5]'", 60)
    stop(browser)
    set_knob(browser, "model.dim", "16")
    browser.wait(f"return document.getElementById('error').hidden && {STATE}.running && {STATE}.values['model.dim'] === '16'", 60)
    stop(browser)
    assert "model.dim" in urllib.parse.unquote(browser.js("return location.hash"))
    click(browser, "#config")
    browser.wait("return document.querySelector('#panel textarea')")
    assert "dim = 16" in browser.js("return document.querySelector('#panel textarea').value")
    browser.js("document.querySelector('#panel textarea').value = 'nonsense'")
    click(browser, key_of("Use this config"))
    assert "config:1:" in browser.wait(ERROR)
    click(browser, "#all-keys")
    browser.wait("return document.querySelectorAll('#panel .row').length > 50")
    shown = browser.js("return [...document.querySelectorAll('#panel .row code')].map((c) => c.textContent)")
    assert "model.block.mixing" in shown and "data.frames" not in shown and "data.symbols" in shown
    assert "model.pool" not in shown and "model.block.kernel_size" not in shown  # they change nothing
    mixings = browser.js("return [...document.querySelector(`#panel [data-of='model.block.mixing']`).options].map((o) => o.value)")
    assert {"attention", "convolution", "gru", "dense"} <= set(mixings), mixings


def check_examples(browser, page):
    """A text of one's own; one that the model cannot read; a row of the predictions."""
    opened(browser, page, "sort")
    type_one = ("const w = document.getElementById('which'); w.value = 'type'; w.dispatchEvent(new Event('change'));"
                "const t = document.getElementById('typed'); t.value = arguments[0]; t.dispatchEvent(new Event('change'))")
    browser.js(type_one, "2 2 2 9 0 0")
    browser.wait("return document.getElementById('example-error').textContent.includes('9')")
    browser.js(type_one, "2 2 2 1 0 0")
    browser.wait(f"return document.getElementById('example-error').hidden && {STATE}.trace.typed")
    still(browser)
    assert browser.js(f"return {STATE}.trace.inputs.slice(0, 6).join(' ')") == "2 2 2 1 0 0"
    browser.js(type_one, "<img src=x onerror=window.hostile=1>")
    browser.wait("return !document.getElementById('example-error').hidden")
    assert not browser.js("return window.hostile")
    click(browser, key_of("prediction 3"))
    browser.wait(f"return !{STATE}.trace.typed && {STATE}.example === 3 && document.body.dataset.drawing === 'false'")


def press_break(browser, name):
    browser.js("if (![...document.querySelectorAll('#breaks button')].some((b) => b.textContent === arguments[0]))"
               f" document.querySelector('{key_of('break more')}').click();"
               "[...document.querySelectorAll('#breaks button')].find((b) => b.textContent === arguments[0]).click()", name)


def check_breaks(browser, page):
    """Every button makes a model B that trains with A from step 0; mistakes show in its weights."""
    opened(browser, page, "sort")
    click(browser, key_of("break more"))
    names = browser.js("return [...document.querySelectorAll('#breaks button')].map((b) => b.textContent)")[:-1]
    assert len(names) == 12, names
    weights = f"""const {{rows, columns, weights, scale}} = {STATE}.otherTrace.maps[0], n = columns;
      const at = (i, j) => (weights[i * n + j] / 255) ** 2 * scale, all = Array.from({{length: rows}}, (_, i) => i);
      return [Math.max(...all.map((j) => Math.abs(1 - all.reduce((sum, i) => sum + at(i, j), 0)))),
        Math.max(...all.map((i) => all.reduce((most, j) => (j > i ? Math.max(most, at(i, j)) : most), 0)))];"""
    for name in names:
        press_break(browser, name)
        browser.wait(f"return {STATE}.running && {STATE}.other && {STEP} > 0", 60)
        stop(browser)
        text = browser.js("return document.getElementById('now').textContent")
        assert text.startswith(f"B, {name}: its loss is ") and len(text) > 60, text
        a, b = browser.js(f"return {STATE}.sides.map((side) => side.step)")
        assert a == b > 0, (name, a, b)
        assert browser.js("return document.querySelector('[data-line=\"B\"]') !== null")
        columns, later = browser.js(weights)
        if name == "No causal mask":
            assert later > 0.02 and columns > 0.1, (name, columns, later)
        if name == "Softmax on the wrong axis":
            assert later == 0 and columns < 0.1, (name, columns, later)
    press_break(browser, names[-1])  # again: ends it
    browser.wait(f"return !{STATE}.other", 60)
    stop(browser)
    opened(browser, page, "set")  # has no mask
    press_break(browser, "No causal mask")
    assert "no causal mask" in browser.wait(ERROR)
    assert not browser.js(f"return {STATE}.other")


def check_compare(browser, page):
    opened(browser, page, "sort")
    keys = browser.js("return [...document.getElementById('other-key').options].map((o) => o.value)")
    for key in keys:  # what B has stands otherwise than A's at the start
        value = browser.js("""const s = document.getElementById('other-key'); s.value = arguments[0];
          s.dispatchEvent(new Event('change')); return document.getElementById('other-value').firstChild.value""", key)
        ours = browser.js("const k = document.querySelector(`#knobs [data-of='${arguments[0]}']`); return k ? k.value : null", key)
        assert value != ours, (key, value)
    browser.js("const k = document.getElementById('other-key'); k.value = 'model.layers'; k.dispatchEvent(new Event('change'));"
               "document.getElementById('other-value').firstChild.value = '2'; document.getElementById('both').click()")
    assert "model A has this value too" in browser.wait(ERROR)


def check_tours(browser, page):
    """Five steps: an answer, both models, what was measured, the reason, the museum."""
    opened(browser, page, "recall")
    tours = {"Scores without a scale": "No scale", "Softmax on the wrong axis": "Softmax on the wrong axis", "No causal mask": "No causal mask"}
    said = "return document.getElementById('panel').textContent"

    def begin(tour):
        press_break(browser, tours[tour])  # its only button
        browser.wait(f"return {STATE}.running && {STATE}.other", 60)
        stop(browser)
        click(browser, f"#now {key_of(f'tour {tour}')}")

    for tour in tours:
        begin(tour)
        browser.wait("return document.querySelectorAll('#panel .choice').length === 3")
        still(browser)
        assert browser.js(f"return document.querySelector('{key_of('tour next')}').disabled")
        browser.js(f"document.querySelector('{key_of('answer 0')}').focus()")
        press(browser, "ArrowDown")
        browser.wait(f"return document.activeElement.dataset.key === 'answer 1' && {STATE}.tour.answer === 1")
        click(browser, key_of("tour next"))
        browser.wait(f"return {STATE}.running && {STATE}.other && {STEP} > 10", 120)
        browser.wait("return document.querySelectorAll('#panel .versus svg').length === 2")
        assert "generated right" in browser.js(said)
        for words in ("passed 50 %", "Why", "./heed course museum"):
            click(browser, key_of("tour next"))
            browser.wait(f"{said}.includes({json.dumps(words)})")
        link = browser.js("return document.querySelector('#panel a').href")
        assert os.path.exists(urllib.parse.unquote(link.removeprefix("file://"))), link
        stop(browser)
        press(browser, "Escape")
        still(browser)
    # The last of them until it shows what it teaches.
    click(browser, f"#now {key_of('tour No causal mask')}")
    browser.wait(f"return document.querySelector('{key_of('tour back')}') !== null")
    for _ in range(2):
        click(browser, key_of("tour back"))
    click(browser, "#train")
    browser.wait(f"{said}.includes('✓ You expected it.')", 300)
    stop(browser)


def check_tasks(browser, page):
    """Every task has a drawing of its own."""
    shapes = {"shapes": "#flow .side svg rect[fill^=rgb]", "video": "#flow .side svg rect[fill^=rgb]", "graph": "#flow .node"}
    opened(browser, page, "recall")
    tasks = browser.js("return [...document.querySelectorAll('#tasks button')].map((b) => b.dataset.task)")
    assert len(tasks) == 10, tasks
    for task in tasks:
        opened(browser, page, task)
        click(browser, "#one")
        browser.wait(f"return {STEP} === 1")
        still(browser)
        assert browser.js("return document.querySelectorAll('#flow .lines path').length") > 0, task
        assert len(browser.js("return document.getElementById('ask').textContent")) > 20, task
        if task in shapes:
            assert browser.js(f"return document.querySelectorAll('{shapes[task]}').length") > 8, task
        plus = browser.js("return document.querySelectorAll('#flow path.and').length")
        assert (plus > 0) == (task not in ("set", "graph")), f"{task}: {plus} signs that add positions"
        if task == "set":
            assert browser.js(f"return document.querySelector('{key_of('part pool')}') !== null")
        if task == "video":  # frames side by side
            wide, high = browser.js("const b = document.querySelector('#flow .head svg').viewBox.baseVal; return [b.width, b.height]")
            assert wide > 2.5 * high, (wide, high)
        for width, height in ((400, 850), (1280, 900)):
            browser.show(width, height=height)
            browser.wait(f"return document.querySelector('#flow .cv svg').clientWidth === {216 if width == 400 else 360}")
            still(browser)
            broken = browser.js("""return [...document.querySelectorAll('.stage')].slice(0, -1).flatMap((stage) => {
              const drawn = stage.querySelector('.cv > *').getBoundingClientRect().height, all = stage.getBoundingClientRect().height;
              return all - drawn > 0.6 ? [[stage.textContent.slice(0, 20), all, drawn]] : []; })""")
            assert not broken, f"{task}, {width}: strands that break: {broken}"
            browser.fits(width)
        bands = browser.js("return document.querySelectorAll('.band').length")
        assert bands == (2 if task in ("reverse", "copy") else 1), (task, bands)


def check_deep(browser, page):
    """Of many layers one is open; models without attention and with many heads are drawn, too."""
    for more, rows in (("model.layers = 6", 6), ("model.layers = 3", 0), ("model.heads = 8", 0),
                       ("model.block.mixing = \"gru\"", 0), ("model.norm_first = false", 0)):
        config = ("model.kind = \"language_model\"\nmodel.dim = 32\nmodel.tie_weights = false\ndata.kind = \"sort\"\n"
                  "data.symbols = 3\ndata.lengths = [6, 6]\ndata.val_fraction = 0.25\n" + more + "\n")
        if "layers" not in more:
            config += "model.layers = 2\n"
        fresh(browser, address(page, config))
        browser.wait("return Number(document.body.dataset.drawn) > 0")
        still(browser)
        assert browser.js("return document.getElementById('error').textContent") == "", more
        closed = browser.js("return document.querySelectorAll('#flow .closed').length")
        assert closed == max(0, rows - 1), (more, closed)
        if rows:
            click(browser, key_of("open 1"))
            browser.wait(f"return {STATE}.open === '1' && {QUIET} && document.querySelector("
                         "'[data-key=\"head decoder.layers.1.attention.head.0\"]')")
        assert browser.js("return document.documentElement.scrollHeight") <= 900, more


def check_long(browser, page):
    """Of many positions some are drawn; the ends say how many there are, and move on to them."""
    config = ("model.kind = \"language_model\"\nmodel.dim = 16\nmodel.layers = 1\nmodel.heads = 2\ndata.kind = \"sort\"\n"
              "data.symbols = 3\ndata.lengths = [32, 32]\ndata.train_size = 300\ndata.val_size = 40\nmodel.positional.max_length = 64\n")
    fresh(browser, address(page, config))
    browser.wait("return Number(document.body.dataset.drawn) > 0")
    still(browser)
    ends = "return [...document.querySelectorAll('.tokens .end')].map((e) => e.textContent)"
    assert browser.js(ends) == [f"{63 - 36} …"]
    click(browser, ".tokens .end")
    browser.wait(f"return {QUIET} && {STATE}.position === 26 && document.querySelectorAll('.tokens .end').length === 2")
    assert browser.js(ends) == ["8 …", "… 19"]
    assert browser.js("return document.querySelectorAll('.tokens button:not(.end)').length") == 36
    browser.fits(1280)


def check_positions(browser, page):
    """What the panel of the embedding shows of positions has the values that their formulas give."""
    for kind, formula in (
            ("sinusoidal", "(t, c, n) => (c % 2 ? Math.cos : Math.sin)(t * 10000 ** (-2 * Math.floor(c / 2) / n))"),
            ("integer", "(t) => t"),
            ("rotary", "(t, c, n) => (c % 2 ? Math.sin : Math.cos)(t * 10000 ** (-2 * Math.floor(c / 2) / n))"),
            ("alibi", "(i, j) => -(2 ** -4) * Math.abs(i - j)")):
        with open(os.path.join(os.path.dirname(page), "../../course/playground/tasks/reverse.toml")) as file:
            fresh(browser, address(page, file.read() + f"\n[model.positional]\nkind = \"{kind}\"\n"))
        browser.wait("return Number(document.body.dataset.drawn) > 0")
        still(browser)
        click(browser, key_of("part embedding"))
        browser.wait(f"return {STATE}.matrices?.length > 1 && document.querySelectorAll('#panel h3').length > 1")
        worst, count = browser.js(f"""const {{rows, columns, values}} = {STATE}.matrices[1], formula = {formula};
          return [Math.max(...values.map((v, i) => Math.abs(v - formula(Math.floor(i / columns), i % columns, columns)))),
            values.length]""")
        assert worst < 1e-4 and count > 60, (kind, worst, count)


def check_terminal(browser, page, program):
    """The config of the page, in a terminal, trains to the same losses; one from a file, in the page, does too."""
    def losses_in_terminal(config, steps):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "config.toml")
            with open(path, "w") as file:
                file.write(config)
            subprocess.run([program, "train", path, "--run", os.path.join(work, "run"), "--until", str(steps),
                            "--set", "train.log_every=1"], check=True, capture_output=True)
            with open(os.path.join(work, "run", "metrics.jsonl")) as file:
                rows = [json.loads(line) for line in file]
            return [row["loss"] for row in rows if "loss" in row]

    def compare(config):
        for step in range(1, 6):
            click(browser, "#one")
            browser.wait(f"return {STEP} === {step}")
            still(browser)
        ours, theirs = browser.js(f"return {STATE}.sides[0].losses"), losses_in_terminal(config, 5)
        assert len(ours) == len(theirs) == 5 and max(abs(a - b) for a, b in zip(ours, theirs)) < 1e-4, (ours, theirs)

    with open(os.path.join(os.path.dirname(page), "../../course/playground/tasks/recall.toml")) as file:
        own = file.read().replace("dim = 32", "dim = 24").replace("seed = 1", "seed = 7")
    fresh(browser, address(page, own + "\n[model.attention]\nsimilarity = \"cosine\"\n"))
    browser.wait("return Number(document.body.dataset.drawn) > 0")
    still(browser)
    compare(browser.js(f"return {STATE}.sides[0].summary.config"))
    with open(os.path.join(os.path.dirname(page), "../../configs/reverse.toml")) as file:
        shipped = file.read()
    fresh(browser, address(page, shipped))
    browser.wait("return Number(document.body.dataset.drawn) > 0")
    still(browser)
    compare(shipped)


def check_address(browser, page):
    config = 'model.kind = "classifier"\ndata.kind = "set"\ndata.lengths = [6, 10]\nmodel.dim = 16\n'
    fresh(browser, address(page, config, run=True))
    browser.wait(f"return {STATE}?.sides[0].step > 0", 60)
    stop(browser)
    for config, message in (('data.kind = "text"\ndata.path = "/etc/passwd"', "reads files"),
                            ('train.load = "/etc/passwd"', "reads no files"),
                            ('data.kind = "<img src=x onerror=window.hostile=1>"', "expected one of"),
                            ("model.layers = 100000", "model.layers")):
        fresh(browser, address(page, config, run=True))
        browser.wait("return !document.getElementById('error').hidden")
        assert message in browser.js("return document.getElementById('error').textContent"), config
    assert not browser.js("return window.hostile")


def main():
    page = os.path.abspath(sys.argv[1])
    program = os.path.abspath(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    browser = Browser()
    try:
        browser.show(1280)
        for check in (check_arrival, check_solved, check_shapes, check_clipped, check_slider, check_head, check_parts, check_keyboard, check_knobs, check_examples,
                      check_breaks, check_compare, check_tours, check_tasks, check_deep, check_long, check_positions, check_sheet, check_address):
            check(browser, page)
        check_looks(browser, page, folder)
        check_terminal(browser, page, program)
        assert not browser.requests(), browser.requests()
        messages = browser.messages()
        assert not messages, [message[:300] for message in messages]
    finally:
        browser.quit()
    print("the playground trains, draws, answers, compares and refuses; it loads nothing")


if __name__ == "__main__":
    main()
