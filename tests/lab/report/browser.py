#!/usr/bin/env python3
"""Opens reports and live pages in a real browser: what is drawn, slider, hover, keyboard, contrast, what menus save,
live points, no request, no error.

   browser.py PROGRAM [FOLDER]

configs/sort.toml is trained, for some steps. FOLDER gets the screenshots."""
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from chromium import CONTRAST, Browser

HOSTILE = "</script><img src=x onerror=window.hostile=1>"
# Drawings that stand in the page, and whether each of them has marks.
DRAWN = """return [...document.querySelectorAll('figure.drawing .plot')].filter((plot) => plot.offsetParent).map((plot) =>
  plot.querySelectorAll('svg path.line, svg circle, svg rect, svg .cells path, svg .token').length > 0)"""
# Lines, dots and labels that reach out of their drawing, which cuts nothing but would cover its neighbours.
CUT = """return [...document.querySelectorAll('figure.drawing svg')].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('path.line, path.band, circle, path.mark, text')].filter((part) => {
    const box = part.getBoundingClientRect();
    return box.width && (box.left < whole.left - 2 || box.right > whole.right + 2 || box.top < whole.top - 2
      || box.bottom > whole.bottom + 2); }).map((part) => svg.getAttribute('aria-label') + ': ' + part.outerHTML.slice(0, 120)); })"""
# Tables whose columns do not all stand in sight.
CUT_TABLES = """[...document.querySelectorAll('#top .scroll')].filter((part) => part.scrollWidth > part.clientWidth)
  .map((part) => part.scrollWidth)"""
# Boxes whose content is wider than they are, apart from those that scroll.
CLIPPED = """return [...document.querySelectorAll('body *')].filter((part) => part.clientWidth && part.scrollWidth > part.clientWidth + 1
  && !part.closest('svg, .menu') && getComputedStyle(part).display !== 'inline' && !/auto|scroll/.test(getComputedStyle(part).overflowX))
  .map((part) => `${part.scrollWidth} > ${part.clientWidth}: ${part.outerHTML.slice(0, 160)}`)"""
# Where the parts of a page stand.
PLACES = """return [...document.querySelectorAll('main :is(section, figure, table, li, h2, p, button)')].filter((part) => part.checkVisibility())
  .map((part) => { const box = part.getBoundingClientRect(); return [box.left, box.top + scrollY, box.width, box.height].map(Math.round).join(); })"""
HOVERED = "a, button:not(.menu *), figure.drawing, tbody tr, svg[tabindex], summary, li"
# What one can act on and see.
CONTROLS = """[...document.querySelectorAll('button, a[href], input, select, summary, svg[tabindex]')]
  .filter((part) => part.checkVisibility({visibilityProperty: true}))"""


def check(browser, name, folder, drawings=True):
    """What holds for every page, in all widths and both colour schemes."""
    for width, scheme in ((1280, "light"), (1280, "dark"), (1920, "light"), (1000, "light"), (400, "light"), (400, "dark")):
        browser.show(width, scheme, 850 if width == 400 else 900)
        drawn = drawings and browser.wait(f"const drawn = (() => {{ {DRAWN} }})(); return drawn.length && drawn.every(Boolean) && drawn")
        browser.fits(width)
        for what, script in ("cut", CUT), ("clipped", CLIPPED), ("contrast", CONTRAST), ("too wide", f"return {CUT_TABLES}"):
            assert not (found := browser.js(script)), f"{name}, {width}, {scheme}: {what}: {found[:3]}"
        if folder:
            browser.screenshot(os.path.join(folder, f"{name}-{width}-{scheme}.png"))
    check_hover(browser, name)
    assert not browser.outside(), browser.outside()
    assert not browser.js("return window.hostile"), f"{name}: foreign text ran as a script"
    assert browser.js("return document.querySelector('main img') === null"), f"{name}: foreign text became HTML"
    messages = browser.messages()
    assert not messages, messages
    return drawings and len(drawn)


def check_hover(browser, name):
    """The pointer over any part moves nothing; a few of each kind are tried."""
    browser.show(1280)
    for kind in HOVERED.split(", "):
        for i in range(3):
            part = f"[...document.querySelectorAll({'main ' + kind!r})].filter((each) => each.checkVisibility())[{i}]"
            place = browser.js(f"""const part = {part}; if (!part) return null; part.scrollIntoView({{block: 'center'}});
              const box = part.getBoundingClientRect(); return [box.left + Math.min(60, box.width / 2), box.top + Math.min(40, box.height / 2)]""")
            if place is None:
                continue
            browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
            before = browser.js(PLACES)
            browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
            assert browser.js(PLACES) == before, f"{name}: pointing at {kind} {i} moves the page"


def check_keyboard(browser, name):
    """The Tab key reaches every control, in the order of the page and with a ring; Enter and Space act on it."""
    browser.show(1280)
    browser.js("""for (const fold of document.querySelectorAll('details')) fold.open = true;
      document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); scrollTo(0, 0);""")
    count = browser.js(f"""window.reached = []; window.ringless = [];
      document.addEventListener('focusin', window.onfocusin_ = (event) => {{ window.reached.push(event.target);
        if (getComputedStyle(event.target).outlineStyle === 'none') window.ringless.push(event.target.outerHTML.slice(0, 120)); }});
      const controls = {CONTROLS}; window.controls = controls; return controls.length""")
    most = count + browser.js("return document.querySelectorAll('pre, code, .scroll').length")  # what scrolls takes a Tab, too
    for begin in range(0, most, 50):  # a few at a time: a call has a time limit
        browser.press(*["Tab"] * min(50, most - begin))
    missed = browser.js("return window.controls.filter((part) => !window.reached.includes(part)).map((part) => part.outerHTML.slice(0, 160))")
    assert not missed, f"{name}: {len(missed)} of {count} controls are out of reach of the Tab key: {missed[:3]}"
    assert not (found := browser.js("return window.ringless")), f"{name}: focused without a ring: {found[:3]}"
    assert browser.js("""const order = window.reached.filter((part, i, all) => all.indexOf(part) === i && window.controls.includes(part));
      return order.every((part, i) => i === 0 || order[i - 1].compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING)"""), \
        f"{name}: Tab jumps"
    browser.js("document.removeEventListener('focusin', window.onfocusin_); for (const fold of document.querySelectorAll('details')) fold.open = false")
    for i in range(browser.js("return document.querySelectorAll('details').length")):
        fold = f"document.querySelectorAll('details')[{i}]"
        if not browser.js(f"return {fold}.checkVisibility()"):
            continue  # inside another one
        for key, opens in ("Enter", True), (" ", False):
            browser.js(f"{fold}.querySelector('summary').focus()")
            browser.press(key)
            assert browser.js(f"return {fold}.open") == opens, f"{name}: {key!r} on the summary of fold {i}"
    browser.js("document.querySelector('.menu summary').focus()")
    browser.press("Enter", "Tab")
    assert browser.js("return document.activeElement.textContent") == "SVG", f"{name}: Tab does not lead into a menu"
    browser.press("Escape")
    closed = "return document.activeElement.matches('.menu > summary') && !document.querySelector('.menu').open"
    assert browser.js(closed), f"{name}: Escape does not close a menu"
    for group in range(browser.js("return document.querySelectorAll('.seg').length")):
        for key in "Enter", " ":
            pressed = f"document.querySelectorAll('.seg')[{group}].querySelector('[aria-pressed={{}}]')"
            other = browser.js(f"const other = {pressed.format('false')}; other.focus(); return other.textContent")
            browser.press(key)
            assert browser.js(f"return {pressed.format('true')}.textContent") == other, f"{name}: {key!r} on {other}"


def check_atlas_keys(browser):
    """Arrow keys move through the large map and the checkpoints; Enter chooses a head, which keeps the focus."""
    readout = "return document.querySelector('.focus .readout').textContent"
    browser.js("document.querySelector('.focus svg[tabindex]').focus()")
    read = [browser.js(readout)]
    for key in "ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp":
        browser.press(key)
        read.append(browser.js(readout))
        assert read[-1] != read[-2] and "→" in read[-1], f"{key}: {read}"
    assert read[2].split(" → ")[0] != read[1].split(" → ")[0], read  # another row
    browser.js("document.getElementById('checkpoint').focus()")
    for key, step in ("ArrowRight", 1), ("ArrowLeft", -1):
        before = browser.js("return document.getElementById('checkpoint').valueAsNumber")
        browser.press(key)
        assert browser.js("return document.getElementById('checkpoint').valueAsNumber") == before + step, key
    browser.js("[...document.querySelectorAll('.four button')].at(-1).focus()")
    browser.press("Enter")
    assert browser.js("return document.activeElement === [...document.querySelectorAll('.four button')].at(-1) "
                      "&& document.activeElement.ariaPressed === 'true'"), "Enter on a head"


def check_first_screen(browser, name, parts):
    """These parts stand in the first screen of 1280 x 900."""
    browser.show(1280)
    browser.js("scrollTo(0, 0)")
    for part in parts:
        bottom = browser.js(f"return document.querySelector({part!r}).getBoundingClientRect().bottom")
        assert 0 < bottom <= 900, f"{name}: {part} ends at {bottom}"


def check_report(browser, path, folder):
    browser.get("file://" + path)
    assert check(browser, "report", folder) >= 6
    check_first_screen(browser, "report", (".say", "#top table", "#curves figure .plot"))
    atlas = "document.querySelector('.focus .cells').innerHTML"
    last = browser.js(f"return {atlas}")
    browser.js("const s = document.getElementById('checkpoint'); s.value = 0; s.dispatchEvent(new Event('input'))")
    assert browser.js(f"return {atlas}") != last, "the slider changes nothing"
    assert browser.js("return document.querySelectorAll('.four button').length") > 1
    browser.js("[...document.querySelectorAll('.four button')].at(-1).click()")
    assert browser.js("return document.querySelectorAll('.four button[aria-pressed=true]').length") == 1
    text = browser.js("""const cells = document.querySelector('.focus .cells .empty').getBoundingClientRect();
      document.querySelector('.focus svg').dispatchEvent(new PointerEvent('pointermove',
        {clientX: cells.left + 2, clientY: cells.top + 2, bubbles: true}));
      return document.querySelector('.focus .readout').textContent""")
    assert "→" in text and ":" in text, text
    moved = browser.js("""const map = document.querySelector('.focus svg'); map.focus();
      map.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}));
      return document.querySelector('.focus .readout').textContent""")
    assert moved != text and "→" in moved, moved
    weights = browser.js("return [...document.querySelectorAll('.focus .bar text')].map((t) => t.textContent)")
    assert weights == ["0", "0.25", "0.5", "0.75", "1", "weight"], weights  # linear
    line = "document.querySelector('#curves path.line').getAttribute('d')"
    before = browser.js(f"return {line}")
    browser.js("const s = document.getElementById('smoothing'); s.value = 9; s.dispatchEvent(new Event('input'))")
    assert browser.js(f"return {line}") != before, "smoothing changes no line"
    # A link has what is chosen; one of another page is as none.
    browser.js("document.querySelector('[data-copy=link]').click()")
    for link, smoothing in ((browser.js("return location.href"), "9"),
                            (f"file://{path}#chosen=%7B%22attention%22%3A%7B%22map%22%3A-3%7D%7D", "0")):
        browser.get("about:blank")
        browser.get(link)
        assert browser.wait("return document.getElementById('smoothing')?.value") == smoothing, link
        assert browser.js("return document.querySelectorAll('.four button[aria-pressed=true]').length") == 1, link
    browser.js("const s = document.getElementById('checkpoint'); s.value = 0; s.dispatchEvent(new Event('input'))")
    height = "return document.documentElement.scrollHeight"
    for width in 1280, 400:
        browser.show(width)
        before = browser.js(height)
        said = browser.js("""const figure = document.querySelector('#curves figure'), box = figure.getBoundingClientRect();
          figure.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 200, clientY: box.top + 60, bubbles: true}));
          return document.querySelector('#curves .read').textContent""")
        assert said.startswith("step ") and "·" in said, said
        assert browser.js(height) == before, f"{width}: pointing at a curve moves the page"
    check_saving(browser)
    assert any(file.startswith("samples-") for file in check_menus(browser, "report"))
    check_keyboard(browser, "report")
    check_atlas_keys(browser)
    # What the run is and its scores are there without scripts.
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    browser.get("file://" + path)
    browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    shown = browser.js("return document.body.innerText")
    for text in ("seed-1", "done, sort, step 150", "test", "exact_match ", "needs scripts"):
        assert text in shown, f"without scripts there is no {text}"


def check_inside(browser, path, folder):
    """The page of inspect: the slider moves everything, a head is chosen by Enter, a sheet shows it on a narrow screen."""
    browser.get("file://" + path)
    assert check(browser, "inside", folder) >= 2
    check_first_screen(browser, "inside", ("#steps input", ".card", "#head dl:last-child"))
    parts = {name: f"document.querySelector({selector!r}).innerHTML" for name, selector in (
        ("curves", "#steps .plot"), ("sentence", ".said"), ("maps", ".card .pictures"), ("head", "#head .cells"),
        ("lens", "#lens tbody"), ("parts", "#parts .plot"))}
    slider = "document.getElementById('checkpoint')"
    seen = {name: browser.js(f"return {script}") for name, script in parts.items()}
    data = browser.js("return JSON.parse(document.getElementById('data').textContent)")
    steps = [checkpoint["step"] for checkpoint in data["checkpoints"]]
    at = data["first"]
    for key, by in ("ArrowLeft", -1), ("ArrowLeft", -1), ("ArrowRight", 1):
        browser.js(f"{slider}.focus()")
        browser.press(key)
        at += by
        assert browser.js(f"return {slider}.ariaValueText") == f"step {steps[at]}", key
        for name, script in parts.items():
            now = browser.js(f"return {script}")
            assert now != seen[name], f"{key} changes nothing of {name}"
            seen[name] = now
    # The thumb stands below the cursor of the curves.
    off = browser.js(f"""const box = {slider}.getBoundingClientRect(), share = {slider}.valueAsNumber / {slider}.max;
      const cursor = document.querySelector('#steps .cursor').getBoundingClientRect();
      return box.left + 8 + share * (box.width - 16) - (cursor.left + cursor.right) / 2""")
    assert abs(off) < 1, f"the thumb is {off} pixels beside the cursor"
    browser.js("[...document.querySelectorAll('.card')].at(-1).focus()")
    browser.press("Enter")
    chosen = "return document.activeElement.ariaPressed === 'true' && document.querySelectorAll('.card[aria-pressed=true]').length"
    assert browser.js(chosen) == 1, "Enter on a head"
    browser.js("document.querySelector('#head svg[tabindex]').focus()")
    browser.press("ArrowRight")
    assert "→" in browser.js("return document.querySelector('#head .readout').textContent"), "an arrow key reads no weight"
    # The bars end at the difference, which is ln p / p' of the tokens in the last row of the lens.
    for i, shown in enumerate(data["shown"]):
        if i > 0:
            lens = browser.js("return document.getElementById('lens').innerText")
            browser.js(f"""const select = document.querySelector('header select'); select.selectedIndex = {i};
              select.dispatchEvent(new Event('change'))""")
            assert browser.js("return document.getElementById('lens').innerText") != lens, "another example changes no lens"
        drawn = browser.js("return document.querySelector('#parts svg').textContent")
        assert f"logit {shown['token']} − logit {shown['other']}= " in drawn, drawn
        for view in shown["views"]:
            end = dict(view["lens"][-1]["top"])
            assert abs(sum(value for _, value in view["parts"]) - view["difference"]) < 1e-3
            if shown["token"] in end and shown["other"] in end:
                ratio = math.log(end[shown["token"]] / end[shown["other"]])
                assert abs(ratio - view["difference"]) < 1e-2 * (1 + abs(ratio)), (ratio, view["difference"])
    bars = "return [...document.querySelectorAll('.card > svg:last-child')].map((bar) => bar.textContent).join()"
    of_all = browser.js(bars)
    browser.js("""const select = document.querySelector('#heads select'); select.selectedIndex = 2;
      select.dispatchEvent(new Event('change'))""")
    assert browser.js(bars) != of_all, "the loss at one position changes no bar"
    assert browser.js("return document.querySelectorAll('#embeddings .token').length") == len(data["tokens"]) > 2
    files = check_menus(browser, "inside")
    assert {"heads.csv", "lens.csv", "training.svg"} <= files, files
    check_keyboard(browser, "inside")
    browser.show(400)
    shown = "return document.getElementById('head').checkVisibility()"
    assert not browser.js(shown), "the sheet is open from the start"
    browser.js("document.querySelector('.card').focus()")
    browser.press("Enter")
    assert browser.js(shown), "Enter opens no sheet"
    browser.fits(400)
    assert not (found := browser.js(CONTRAST)), found
    if folder:
        browser.screenshot(os.path.join(folder, "inside-sheet.png"))
    browser.press("Escape")
    assert not browser.js(shown) and browser.js("return document.activeElement.matches('.card')"), "Escape closes no sheet"
    assert not browser.messages()
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    browser.get("file://" + path)
    browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    shown = browser.js("return document.body.innerText")
    for text in ("seed-2", "split", "step", "loss", "accuracy", "needs scripts"):
        assert text in shown, f"without scripts there is no {text}"


def check_saving(browser):
    """What the menu of a drawing saves: SVG that needs nothing of the page, PNG, CSV."""
    saved = browser.execute_async_script("""
      const done = arguments[arguments.length - 1], files = {};
      URL.createObjectURL = (blob) => { files.blob = blob; return '#'; };
      HTMLAnchorElement.prototype.click = function () { files[this.download] = files.blob; };
      document.querySelectorAll('#curves .menu')[0].querySelectorAll('button').forEach((button) => button.click());
      const wait = async () => {
        if (Object.keys(files).length < 4) return setTimeout(wait, 50);
        const png = new Uint8Array(await files['loss.png'].arrayBuffer());
        done({svg: await files['loss.svg'].text(), csv: await files['loss.csv'].text(), png: [...png.slice(0, 8)]}); };
      wait();""")
    assert saved["svg"].startswith("<svg") and "<text" in saved["svg"] and "var(" not in saved["svg"], saved["svg"][:500]
    assert saved["csv"].startswith("line,step,loss\nTraining loss,10,"), saved["csv"][:100]
    assert bytes(saved["png"]) == b"\x89PNG\r\n\x1a\n", saved["png"]


def check_menus(browser, name):
    """Every menu saves a picture with marks that needs nothing of the page, and at least one row of data."""
    saved = browser.execute_async_script("""
      const done = arguments[arguments.length - 1], files = [], create = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
      let blob; URL.createObjectURL = (made) => { blob = made; return '#'; };
      HTMLAnchorElement.prototype.click = function () { files.push([this.download, blob]); };
      for (const button of document.querySelectorAll('.menu button')) if (button.textContent !== 'PNG') button.click();
      URL.createObjectURL = create; HTMLAnchorElement.prototype.click = click;
      Promise.all(files.map(async ([file, made]) => [file, await made.text()])).then(done);""")
    menus = browser.js("return document.querySelectorAll('.menu').length")
    only_data = browser.js("return [...document.querySelectorAll('.menu')].filter((menu) => menu.textContent === '⋯CSV').length")
    assert len(saved) == 2 * menus - only_data, f"{name}: {len(saved)} files of {menus} menus"
    for file, text in saved:
        if file.endswith(".svg"):
            assert text.startswith("<svg") and "var(" not in text and ("<path" in text or "<rect" in text), (file, text[:300])
        else:
            assert text.count("\n") > 1, (file, text[:300])
    return {file for file, text in saved}


def check_list(browser, url, folder):
    """The list of runs: a sweep is a group with its question, what it shows and dots; filter, order, curves of what is chosen."""
    browser.wait("return document.querySelector('.strip svg')")
    check(browser, "list", folder, drawings=False)
    said = browser.js("return document.querySelector('.sweep').innerText")
    for text in ("Do two keys matter?", "8 of 8 runs done", "heads=4 instead of 1: val.loss is 2 times as high", "heads=1"):
        assert text in said, f"the sweep does not say {text}: {said}"
    assert browser.js("return document.querySelectorAll('.strip circle').length") == 8
    names = "return [...document.querySelectorAll('.run .names > a')].map((a) => a.textContent)"
    all_runs = browser.js(names)
    browser.js("document.querySelector('.sweep summary').click()")
    browser.wait(f"return document.querySelectorAll('.run').length == {len(all_runs) + 8}")
    browser.js("document.getElementById('filter').focus()")
    browser.press(*"failed")
    assert browser.js(names) == ["failed"], browser.js(names)
    assert browser.js("return document.activeElement.id") == "filter"
    browser.js("""const filter = document.getElementById('filter'); filter.value = ''; filter.dispatchEvent(new Event('input'));
      const sort = document.getElementById('sort'); sort.value = 'name'; sort.dispatchEvent(new Event('change'))""")
    single = "return [...document.querySelectorAll('#entries > .run .names > a')].map((a) => a.textContent)"
    assert browser.js(single) == sorted(browser.js(single)), browser.js(single)
    for box, lines in ("two", 4), ("seed-2", 6):
        browser.js(f"document.querySelector('input[value=\"{box}\"]').click()")
        browser.wait(f"return document.querySelector('#chosen a')?.href.includes('{box}')")  # not the curves before
        browser.wait(f"return document.querySelectorAll('#chosen path.line[stroke-width=\"1.6\"], #chosen path.line[stroke-width=\"2.2\"]').length >= {min(lines, 4)}")
    check(browser, "list-chosen", folder)
    check_keyboard(browser, "list")
    for box in "two", "seed-2":
        browser.js(f"document.querySelector('input[value=\"{box}\"]').click()")
    # The page of a sweep by its name, and the page of inspect, made when asked for.
    browser.get(url + "report?run=two")
    browser.wait("return document.querySelector('.say')?.textContent == 'Do two keys matter?'")
    browser.get(url + "inside?run=seed-2")
    browser.wait("return document.querySelectorAll('.card').length", 120)
    check(browser, "inside-served", folder)
    for headers, code in ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200):
        try:
            got = urllib.request.urlopen(urllib.request.Request(url + "report?run=two&file=1", headers=headers))
            assert (got.status, got.headers["Content-Disposition"]) == (code, 'attachment; filename="report.html"')
            assert b'src="/page.js"' not in got.read(), "the file loads a script"
        except urllib.error.HTTPError as error:
            assert error.code == code, error.code
    browser.get(url)
    browser.wait("return document.querySelector('.strip svg')")


def check_live(browser, heed, config, runs, folder):
    """Trains while the pages are open."""
    view = subprocess.Popen([heed, "view", runs], stdout=subprocess.PIPE, text=True)
    try:
        url = view.stdout.readline().split()[0]
        for host in ("evil.example", "127.0.0.1", "evil.example:" + url.split(":")[2].strip("/")):
            try:
                urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host}))
                raise AssertionError(f"answered the host {host}")
            except urllib.error.HTTPError as error:
                assert error.code == 403, error.code
        browser.show(1280)
        browser.get(url)
        browser.wait("return document.getElementById('live').textContent == 'live'")
        check_list(browser, url, folder)
        rows = browser.js("return document.querySelectorAll('.run').length")
        browser.js("document.querySelectorAll('input[name=run]')[1].click()")
        ticked = browser.js("return document.querySelectorAll('input[name=run]')[1].value")
        training = subprocess.Popen([heed, "train", config, "--run", runs + "/live", "--set", "train.steps=100000",
                                     "--set", "train.log_every=20", "--set", "train.checkpoint_every=40"],
                                    stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            browser.wait(f"return document.querySelectorAll('.run').length > {rows}")
            browser.wait("return [...document.querySelectorAll('#entries .state')].some((s) => /^running( \\d+ %)?$/.test(s.textContent))")
            kept = "return [...document.querySelectorAll('input[name=run]:checked')].map((box) => box.value)"
            assert browser.js(kept) == [ticked], "the ticked run is lost"
            browser.get(url + "report?run=live")
            points = "(JSON.parse(document.getElementById('data').textContent).curves[0]?.lines[0].x.length ?? 0)"
            browser.wait(f"return {points} > 0")
            first = browser.js(f"return {points}")
            browser.js("""document.getElementById('smoothing').value = 5;
              document.getElementById('smoothing').dispatchEvent(new Event('input'));
              document.querySelector('#reproduce details').open = true;
              [...document.querySelectorAll('[aria-label=Steps] button')].at(-1).click();
              document.getElementById('smoothing').focus(); scrollTo(0, 120);""")
            kept = """return [document.getElementById('smoothing').value, document.querySelector('#reproduce details').open,
              document.querySelector('[aria-label=Steps] [aria-pressed=true]').textContent, document.activeElement.id, scrollY]"""
            chosen = browser.js(kept)
            assert chosen == ["5", True, "log", "smoothing", 120], chosen
            browser.wait(f"return {points} > {first}")
            assert browser.js(kept) == chosen, f"what was chosen is lost: {browser.js(kept)}"
            end = browser.js("scrollTo(0, 1e6); return scrollY")
            assert end > 120, end
            first = browser.js(f"return {points}")
            browser.wait(f"return {points} > {first}")
            # Where a note appears above, the browser keeps what is read in its place: at the end.
            now, left = browser.js("return [scrollY, document.documentElement.scrollHeight - innerHeight - scrollY]")
            assert abs(now - end) < 2 or abs(left) < 2, f"the page has scrolled from {end} to {now}, {left} before its end"
            said = browser.js("return document.querySelector('body > header').textContent")
            assert "running" in said and "left" in said, said
            training.send_signal(signal.SIGSTOP)  # so that nothing but the pointer moves the page
            drawn = None
            while drawn != (drawn := browser.js(f"return {points}")):
                time.sleep(2)
            check(browser, "live", folder)
            training.send_signal(signal.SIGCONT)
            browser.get(url + "report?run=live&run=seed-2")
            browser.wait("return document.getElementById('thin')")
            browser.js("document.getElementById('thin').click(); document.querySelector('#runs details').open = true")
            first = browser.js(f"return {points}")
            browser.wait(f"return {points} > {first}")
            kept = "return [document.getElementById('thin').checked, document.querySelector('#runs details').open]"
            assert browser.js(kept) == [False, True], "what was chosen of two runs is lost"
            browser.get(url + "report?run=live")
        finally:
            training.send_signal(signal.SIGKILL)
            training.wait()
        browser.wait("return document.querySelector('h1 + .state').textContent == 'resumable'")
        subprocess.run(["rm", "-r", runs + "/live"], check=True)
        browser.wait("return document.querySelector('main').textContent.includes('no such run')")
        browser.messages()  # the page of a removed run is an error 404, as it should be
    finally:
        view.send_signal(signal.SIGINT)
        assert view.wait(timeout=20) == 0, view.returncode


def write_two_keys(work):
    """Writes runs of two keys and two seeds, without training. The effect of one key depends on the other one."""
    for heads, rate, factor in ((1, 0.001, 1), (4, 0.001, 1), (1, 0.002, 1), (4, 0.002, 4)):
        for seed in 1, 2:
            run = f"{work}/two/{heads}-{rate}-{seed}"
            os.makedirs(run, exist_ok=True)
            with open(run + "/config.toml", "w") as file:
                file.write(f"seed = {seed}\n[model]\nheads = {heads}\n[optim]\nlr = {rate}\n")
            with open(run + "/run.json", "w") as file:
                file.write('{"sessions": [{"format": 1, "heed": "0.2.0", "command": ["heed"], "set_in": {}, "from_step": 0, '
                           '"start": "2026-01-01T00:00:00Z", "processor": "", "threads": 1}]}')
            with open(run + "/metrics.jsonl", "w") as file:
                file.writelines(f'{{"step":{step},"val":{{"loss":{factor * seed * 10 / step}}}}}\n' for step in (10, 20, 30))
            with open(run + "/result.json", "w") as file:
                file.write(f'{{"val": {{"loss": {factor * seed}}}}}')
    return work + "/two"


def train_on_hostile_words(heed, work):
    """Trains for two steps on words that are HTML. Returns the folder of the run, whose name is HTML, too."""
    word = HOSTILE.replace(" ", "\u00a0")
    with open(f"{work}/pairs.tsv", "w") as file:
        file.writelines(f"{word} {a} {b}\t{b} {word}\n" for a in "abcdef" for b in "abcdef")
    with open(f"{work}/hostile.toml", "w") as file:
        file.write('[train]\nsteps = 2\n[data]\nkind = "pairs"\npath = "pairs.tsv"\nlevel = "word"\nval_fraction = 0.3\n')
    run = f"{work}/<img src=x onerror=window.hostile=1>"
    subprocess.run([heed, "train", f"{work}/hostile.toml", "--run", run, "--set", "model.dim=16"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run


def main():
    heed = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../configs/sort.toml")
    with tempfile.TemporaryDirectory() as work:
        runs = os.path.join(work, "runs")
        for name, seed, rate in (("seed-1", 1, 1e-3), ("seed-2", 2, 1e-3), ("other", 2, 5e-4), ("failed", 1, 1e8)):
            subprocess.run([heed, "train", config, "--run", f"{runs}/{name}", "--set", f"seed={seed}", "--set",
                            f"optim.lr={rate}", "--set", "train.steps=150", "--set", "train.evaluate_every=50", "--set",
                            "train.checkpoint_every=50", "--set", "train.keep_checkpoints=3", "--set", "train.snapshots=0",
                            "--set", "train.log_every=10"],
                           check=name != "failed", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{runs}/seed-1/result.json") as file:
            result = file.read()
        with open(f"{runs}/seed-1/result.json", "w") as file:
            file.write(result.replace('"val"', '"' + HOSTILE + '"', 1))
        subprocess.run([heed, "report", f"{runs}/seed-1", "-o", f"{work}/report.html"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([heed, "report", runs, "-o", f"{work}/runs.html", "--target", "val.loss=100"], check=True,
                       stdout=subprocess.DEVNULL)
        browser = Browser()
        try:
            check_report(browser, f"{work}/report.html", folder)
            subprocess.run([heed, "inspect", f"{runs}/seed-2", "-o", f"{work}/inside.html", "--examples", "100"], check=True,
                           stdout=subprocess.DEVNULL)
            check_inside(browser, f"{work}/inside.html", folder)
            subprocess.run([heed, "inspect", train_on_hostile_words(heed, work), "-o", f"{work}/inside.html"], check=True,
                           stdout=subprocess.DEVNULL)
            browser.get(f"file://{work}/inside.html")
            check(browser, "hostile", folder)
            assert "onerror" in browser.js("return document.querySelector('#lens').textContent"), "no hostile token is shown"
            browser.get(f"file://{work}/runs.html")
            check(browser, "runs", folder)
            check_first_screen(browser, "runs", (".say", ".lead", "table.groups"))
            check_keyboard(browser, "runs")
            files = check_menus(browser, "runs")
            assert {"differences-in-val-loss.svg", "steps-to-the-target.csv", "val-loss-of-each-seed.csv"} <= files, files
            text = browser.js("return document.body.innerText")
            assert "too few seeds" in text and "the loss is NaN" in text, text
            dots = browser.js("return document.querySelectorAll('table.groups circle.seed').length")
            assert dots == 2, f"{dots} dots: one of seed 2 at each rate, as seed 1 has no val"
            arrived = browser.js("return document.querySelectorAll('#target circle.seed').length")
            assert arrived == 3, f"{arrived} dots of runs that reached any loss"
            for way in [], ["--runs"]:  # two keys in groups, and each run by itself
                subprocess.run([heed, "report", write_two_keys(work), "-o", f"{work}/two.html", *way], check=True,
                               stdout=subprocess.DEVNULL)
                browser.get(f"file://{work}/two.html")
                check(browser, "two" + "".join(way), folder)
                check_menus(browser, "two")
                lines = browser.js("return document.querySelectorAll('#curves path.line').length")
                assert lines == (4 + 4 * 2 if not way else 8), lines
                if not way:
                    means = "[...document.querySelectorAll('#effects figure:last-child circle.seed title')].map((t) => t.textContent)"
                    assert browser.js(f"return {means}") == ["heads=1, 0.001: 1.41421", "heads=1, 0.002: 1.41421",
                                                             "heads=4, 0.001: 1.41421", "heads=4, 0.002: 5.65685"]
            if "built without" not in subprocess.run([heed, "view", work + "/none"], capture_output=True, text=True).stderr:
                os.rename(write_two_keys(work), f"{runs}/two")
                with open(f"{runs}/two/sweep.toml", "w") as file:
                    file.write(f'config = "{work}/two.toml"\nquestion = "Do two keys matter?"\nseeds = [1, 2]\n[axes]\n'
                               '"model.heads" = [1, 4]\n"optim.lr" = [0.001, 0.002]\n')
                with open(f"{work}/two.toml", "w") as file:
                    file.write("[model]\nheads = 1\n")
                check_live(browser, heed, config, runs, folder)
        finally:
            browser.quit()
    print("the pages draw, follow and load nothing")


main()
