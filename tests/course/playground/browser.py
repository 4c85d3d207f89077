#!/usr/bin/env python3
"""Opens the playground in a real browser, from a file: it trains, draws, compares, shares, refuses; no request, no error.

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
    status = browser.js(STATUS)
    assert re.fullmatch(r"step \d+ loss \d[\d.e+-]* exact match \d+\.\d %", status), status
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


ERROR = "return !document.getElementById('error').hidden && document.getElementById('error').textContent"


def set_knob(browser, key, value):
    browser.js("const k = document.querySelector(`#knob-list [data-key='${arguments[0]}']`); k.value = arguments[1];"
               "k.dispatchEvent(new Event('change'))", key, value)


def choose_task(browser, name):
    browser.js("const t = document.getElementById('tasks'); t.value = arguments[0]; t.dispatchEvent(new Event('change'))", name)
    browser.wait("return !state.making && !state.running && first.step === 0 && !drawing && !state.other")


def check_knobs(browser):
    wanted = ["model.layers", "model.dim", "model.heads", "model.attention.similarity", "model.attention.normaliser",
              "model.attention.temperature", "model.attention.scale", "model.positional.kind", "model.block.mixing", "optim.kind",
              "optim.lr", "train.batch_size", "seed"]
    there = browser.js("return [...document.querySelectorAll('#knob-list [data-key]')].map((k) => k.dataset.key)")
    assert not set(wanted) - set(there), set(wanted) - set(there)
    mixings = browser.js("return [...document.querySelector(`#knob-list [data-key='model.block.mixing']`).options].map((o) => o.value)")
    assert {"attention", "convolution", "gru", "dense"} <= set(mixings), mixings
    set_knob(browser, "model.dim", "7")
    assert "heads" in browser.wait(ERROR)
    set_knob(browser, "model.dim", "99999999")
    assert "1 … 65536" in browser.wait(ERROR + ".includes('99999999') && document.getElementById('error').textContent")
    set_knob(browser, "model.dim", "4096")
    assert "too large for a page" in browser.wait(ERROR + ".includes('4096') && document.getElementById('error').textContent")
    set_knob(browser, "model.dim", "16")
    browser.wait("return document.getElementById('error').hidden && document.getElementById('toml').value.includes('dim = 16')")
    assert "model.dim" in urllib.parse.unquote(browser.js("return location.hash"))
    browser.js("document.getElementById('toml').value = 'nonsense'; document.getElementById('use').click()")
    assert "config:1:" in browser.wait(ERROR)


def press_break(browser, name):
    browser.js("[...document.querySelectorAll('#breaks button')].find((b) => b.textContent === arguments[0]).click()", name)


def stop_training(browser):
    browser.js("if (state.running) document.getElementById('train').click()")
    browser.wait("return document.getElementById('train').textContent === 'Train' && !state.making && !drawing")


def check_break(browser):
    press_break(browser, "Hard attention")
    browser.wait("return document.getElementById('status-b').textContent.startsWith('B: step') && Number(document.getElementById('status-b').textContent.split(' ')[2]) > 10", 60)
    browser.js("document.getElementById('train').click()")
    browser.wait("return document.getElementById('train').textContent === 'Train' && !drawing")
    a, b = browser.js("return state.sides.map((side) => side.step)")
    assert a == b > 10, (a, b)
    assert len(browser.js("return [...document.querySelectorAll('#atlases .large')].map((s) => s.outerHTML)")) == 2
    assert "hardmax" in browser.js("return document.getElementById('break-look').textContent")


def check_mistakes(browser, page):
    """Mistakes that no key makes: columns of weights that add up to 1, and weight on what is still to come."""
    weights = """return state.sides[1].call('attention', stepShown(), '').then(({maps}) => {
      const {rows, columns, weights, scale} = maps[0], n = columns.length;
      const at = (i, j) => (weights[i * n + j] / 255) ** 2 * scale, all = rows.map((_, i) => i);
      return [Math.max(...all.map((j) => Math.abs(1 - all.reduce((sum, i) => sum + at(i, j), 0)))),
        Math.max(...all.map((i) => all.reduce((most, j) => (j > i ? Math.max(most, at(i, j)) : most), 0)))]; })"""
    for name in ("Softmax on the wrong axis", "No causal mask"):
        choose_task(browser, "sort")
        press_break(browser, name)
        browser.wait("return first.step > 0 && !state.making", 60)
        stop_training(browser)
        columns, later = browser.js(weights)
        if name == "No causal mask":
            assert later > 0.02 and columns > 0.1, (name, columns, later)
        else:
            assert later == 0 and columns < 0.1, (name, columns, later)
    choose_task(browser, "set")  # has no mask
    press_break(browser, "No causal mask")
    assert "no causal mask" in browser.wait(ERROR)
    assert not browser.js("return state.other")


def check_breaks(browser):
    """Every button makes a model B that trains, or says why not."""
    choose_task(browser, "sort")
    for name in browser.js("return breaks.map((mistake) => mistake.name)"):
        press_break(browser, name)
        browser.wait("return state.running && state.other && first.step > 0", 60)
        stop_training(browser)
        text = browser.js("return document.getElementById('break-look').textContent")
        assert text.startswith("Model B: ") and len(text) > 60, text
        a, b = browser.js("return state.sides.map((side) => side.step)")
        assert a == b > 0, (name, a, b)
    browser.js("document.getElementById('compare-stop').click()")
    browser.wait("return !state.other && !drawing && document.querySelectorAll('#atlases .large').length === 1")
    set_other = ("const k = document.getElementById('other-key'); k.value = 'model.layers'; k.dispatchEvent(new Event('change'));"
                 "document.getElementById('compare-start').click()")
    browser.js(set_other)  # the value that A has
    assert "model A has this, too" in browser.wait(ERROR)


def check_positions(browser, page):
    """Pictures of positions: sinusoids, rotations and biases have the values that their formulas give."""
    for kind, task, formula in (
            ("sinusoidal", "reverse", "(t, c, n) => (c % 2 ? Math.cos : Math.sin)(t * 10000 ** (-2 * Math.floor(c / 2) / n))"),
            ("integer", "reverse", "(t) => t"),
            ("rotary", "reverse", "(t, c, n) => (c % 2 ? Math.sin : Math.cos)(t * 10000 ** (-2 * Math.floor(c / 2) / n))"),
            ("alibi", "reverse", "(i, j) => -(2 ** -4) * Math.abs(i - j)")):
        choose_task(browser, task)
        set_knob(browser, "model.positional.kind", kind)
        browser.wait(f"return !state.making && !drawing && first.summary.values['model.positional.kind'] === '\"{kind}\"' "
                     f"|| '{kind}' === 'sinusoidal' && !state.making && !drawing")
        worst, count = browser.js(f"""return first.call('positions', 0).then(([{{rows, columns, values}}, ...others]) => {{
          const formula = {formula};
          return [Math.max(...values.map((v, i) => Math.abs(v - formula(Math.floor(i / columns), i % columns, columns)))),
            values.length]; }})""")
        assert worst < 1e-4 and count > 60, (kind, worst, count)
        assert browser.js("return document.querySelectorAll('#position-pictures canvas').length") == (1 if kind == "alibi" else 2), kind
    for kind in ("learned", "relative"):  # change as they are trained
        set_knob(browser, "model.positional.kind", kind)
        browser.wait(f"return !state.making && !drawing && first.summary.values['model.positional.kind'] === '\"{kind}\"'")
        values = "return first.call('positions', first.frames.at(-1).step).then(([picture]) => picture.values)"
        before = browser.js(values)
        browser.js("document.getElementById('one').click()")
        browser.wait(STATUS + ".startsWith('step 1 ') && !drawing")
        assert browser.js(values) != before, kind
    set_knob(browser, "model.positional.kind", "none")
    browser.wait("return document.getElementById('position-note').textContent.startsWith('This model adds no positions')")
    assert not browser.js("return document.querySelectorAll('#position-pictures canvas').length")


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
        for _ in range(5):
            at = step(browser)
            browser.js("document.getElementById('one').click()")
            browser.wait(f"{STATUS}.startsWith('step {at + 1} ') && !drawing")
        ours, theirs = browser.js("return first.losses"), losses_in_terminal(config, 5)
        assert len(ours) == len(theirs) == 5 and max(abs(a - b) for a, b in zip(ours, theirs)) < 1e-4, (ours, theirs)

    choose_task(browser, "recall")
    for key, value in (("model.dim", "24"), ("model.attention.similarity", "cosine"), ("optim.kind", "sgd"), ("seed", "7")):
        set_knob(browser, key, value)
        browser.wait(f"return !state.making && first.summary.values['{key}']?.replaceAll('\"', '') === '{value}'")
    compare(browser.js("return document.getElementById('toml').value"))
    with open(os.path.join(os.path.dirname(page), "../../configs/reverse.toml")) as file:
        shipped = file.read()
    browser.js("document.getElementById('toml').value = arguments[0]; document.getElementById('use').click()", shipped)
    browser.wait("return !state.making && !drawing && first.step === 0 && !first.summary.config.includes('recall') || "
                 "!document.getElementById('error').hidden")
    assert browser.js("return document.getElementById('error').hidden"), browser.js("return document.getElementById('error').textContent")
    compare(shipped)


def check_hands(browser, page):
    """A key presses Train, focus and what the pointer reads outlive the drawings, and a finger reads without moving."""
    choose_task(browser, "sort")
    browser.js("document.querySelector(`#knob-list [data-key='model.dim']`).focus()")
    set_knob(browser, "model.dim", "24")
    browser.wait("return !state.making && !drawing && first.summary.values['model.dim'] === '24'")
    assert browser.js("return document.activeElement.dataset.key") == "model.dim"
    browser.js("document.getElementById('train').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.cdp("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    browser.wait("return state.running")
    large = "document.querySelector('#atlases .large')"
    browser.js(large + ".scrollIntoView({block: 'center'}); window.before = 0")
    at = browser.js(f"const box = {large}.querySelector('.ground').getBoundingClientRect(); return [box.left + 5, box.top + 5]")
    browser.wait("return new Promise((done) => setTimeout(() => done(true), 200))")  # the scrolling is over
    browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
    readout = "document.querySelector('#atlases .readout').textContent"
    browser.wait(f"return {readout}.includes('→')")
    frames = browser.js("return first.frames.length")
    browser.wait(f"return first.frames.length > {frames + 3}", 60)
    assert "→" in browser.js(f"return {readout}"), browser.js(f"return {readout}")
    stop_training(browser)
    browser.js(f"{large}.dispatchEvent(new PointerEvent('pointerdown', {{clientX: {at[0]}, clientY: {at[1]}, bubbles: true}}))")
    assert "→" in browser.js(f"return {readout}")
    picture = "document.querySelector('#position-pictures canvas')"
    browser.js(f"{picture}.focus(); {picture}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowDown', bubbles: true}}))")
    assert browser.js("return document.querySelector('#position-pictures .readout').textContent").startswith("row 1, column 0")


def check_smooth(browser, page):
    """Prints how long the page is busy in one piece while it trains, which decides the frames a second: no timed test."""
    fresh(browser, f"file://{page}#run=1")
    browser.wait(STATUS + ".match(/^step [1-9]/)", 60)
    frames = browser.js("""return new Promise((done) => {
      const times = [];
      const tick = (now) => { times.push(now); if (now - times[0] < 5000) requestAnimationFrame(tick); else done(times); };
      requestAnimationFrame(tick); })""")
    gaps = sorted(b - a for a, b in zip(frames, frames[1:]))
    print(f"while it trains: {len(gaps) / (frames[-1] - frames[0]) * 1000:.0f} frames a second, "
          f"99 % of them after at most {gaps[int(0.99 * len(gaps))]:.0f} ms")
    stop_training(browser)


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
        browser.wait(STATUS + ".startsWith('step 1 ') && !drawing && document.querySelectorAll('#atlases .large').length === 1")


def main():
    page = os.path.abspath(sys.argv[1])
    program = os.path.abspath(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None
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
        browser.show(1280)
        for check in (check_mistakes, check_positions, check_hands):
            fresh(browser, f"file://{page}")
            browser.wait(READY)
            check(browser, page)
        check_breaks(browser)
        check_terminal(browser, page, program)
        check_smooth(browser, page)
        check_address(browser, page)
        check_tasks(browser, page)
        assert not browser.js(OUTSIDE), browser.js(OUTSIDE)
        messages = browser.messages()
        assert not messages, [message[:300] for message in messages]
    finally:
        browser.close()
    print("the playground trains, draws, compares and refuses; it loads nothing")


main()
