#!/usr/bin/env python3
"""Opens reports and live pages in a real browser: what is drawn, slider, hover, live points, no request, no error.

   browser.py PROGRAM CONFIG [FOLDER]

CONFIG is trained, for some steps. FOLDER gets the screenshots."""
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from webdriver import Browser

HOSTILE = "</script><img src=x onerror=window.hostile=1>"
# Canvases with at least two colours of pixels.
DRAWN = """return [...document.querySelectorAll('figure.chart canvas')].map((canvas) => {
  const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(pixels).size > 1; })"""
# Requests of the page to anywhere but where it came from.
OUTSIDE = "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin))"
WIDER = "return document.documentElement.scrollWidth > innerWidth"


def check(browser, name, folder):
    """What holds for every page, in both widths and colour schemes."""
    for width, scheme in ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")):
        browser.show(width, scheme)
        drawn = browser.wait(f"const drawn = (() => {{ {DRAWN} }})(); return drawn.length && drawn.every(Boolean) && drawn")
        assert not browser.js(WIDER), f"{name}: wider than {width} pixels"
        if folder:
            browser.screenshot(os.path.join(folder, f"{name}-{width}-{scheme}.png"))
    assert not browser.js(OUTSIDE), browser.js(OUTSIDE)
    assert not browser.js("return window.hostile"), f"{name}: foreign text ran as a script"
    assert browser.js("return document.querySelector('main img') === null"), f"{name}: foreign text became HTML"
    messages = browser.messages()
    assert not messages, messages
    return len(drawn)


def check_report(browser, path, folder):
    browser.open("file://" + path)
    assert check(browser, "report", folder) >= 6
    browser.show(1280)
    atlas = "document.querySelector('#atlas .large .cells').innerHTML"
    last = browser.js(f"return {atlas}")
    browser.js("const s = document.getElementById('checkpoint'); s.value = 0; s.dispatchEvent(new Event('input'))")
    assert browser.js(f"return {atlas}") != last, "the slider changes nothing"
    assert browser.js("return document.querySelectorAll('#atlas .choose').length") > 1
    browser.js("[...document.querySelectorAll('#atlas .choose')].at(-1).click()")
    assert browser.js("return document.querySelectorAll('#atlas .choose[aria-pressed=true]').length") == 1
    text = browser.js("""const cells = document.querySelector('#atlas .large .ground').getBoundingClientRect();
      document.querySelector('#atlas .large').dispatchEvent(new PointerEvent('pointermove',
        {clientX: cells.left + 2, clientY: cells.top + 2, bubbles: true}));
      return document.querySelector('.readout').textContent""")
    assert "→" in text and ":" in text, text
    points = "Chart.getChart(document.querySelector('[data-chart=loss] canvas')).data.datasets"
    before = browser.js(f"return {points}.length")
    browser.js("const s = document.getElementById('smoothing'); s.value = 0.9; s.dispatchEvent(new Event('input'))")
    assert browser.js(f"return {points}.length") > before, "smoothing adds no line"
    # The tables and drawings are there without scripts.
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    browser.open("file://" + path)
    page = browser.call_get("/source")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert "<polyline" in page and "<td>test</td>" in page and 'class="head"' in page


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
        browser.open(url)
        browser.wait("return document.getElementById('live').textContent == 'live'")
        rows = browser.js("return document.querySelectorAll('.list tbody tr, .list tr').length")
        training = subprocess.Popen([heed, "train", config, "--run", runs + "/live", "--set", "train.steps=100000",
                                     "--set", "train.log_every=20", "--set", "train.checkpoint_every=40"],
                                    stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            browser.wait(f"return document.querySelectorAll('.list tbody tr, .list tr').length > {rows}")
            browser.wait("return [...document.querySelectorAll('.list .state')].some((s) => s.textContent == 'running')")
            browser.open(url + "report?run=live")
            points = "(Chart.getChart(document.querySelector('[data-chart=loss] canvas'))?.data.datasets[0].data.length ?? 0)"
            browser.wait(f"return {points} > 0")
            first = browser.js(f"return {points}")
            browser.wait(f"return {points} > {first}")
            check(browser, "live", folder)
        finally:
            training.send_signal(signal.SIGKILL)
            training.wait()
        browser.wait("return document.querySelector('h1 .state').textContent == 'resumable'")
        subprocess.run(["rm", "-r", runs + "/live"], check=True)
        browser.wait("return document.querySelector('main').textContent.includes('no such run')")
        browser.messages()  # the page of a removed run is an error 404, as it should be
    finally:
        view.send_signal(signal.SIGINT)
        assert view.wait(timeout=20) == 0, view.returncode


def main():
    heed, config = sys.argv[1:3]
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as work:
        runs = os.path.join(work, "runs")
        for seed in (1, 2):
            subprocess.run([heed, "train", config, "--run", f"{runs}/seed-{seed}", "--set", f"seed={seed}", "--set",
                            "train.steps=150", "--set", "train.evaluate_every=50", "--set", "train.checkpoint_every=50",
                            "--set", "train.keep_checkpoints=3", "--set", "train.log_every=10"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{runs}/seed-1/result.json") as file:
            result = file.read()
        with open(f"{runs}/seed-1/result.json", "w") as file:
            file.write(result.replace('"val"', '"' + HOSTILE + '"', 1))
        subprocess.run([heed, "report", f"{runs}/seed-1", "-o", f"{work}/report.html"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([heed, "report", runs, "-o", f"{work}/runs.html"], check=True, stdout=subprocess.DEVNULL)
        browser = Browser()
        try:
            check_report(browser, f"{work}/report.html", folder)
            browser.open(f"file://{work}/runs.html")
            check(browser, "runs", folder)
            if "built without" not in subprocess.run([heed, "view", work + "/none"], capture_output=True, text=True).stderr:
                check_live(browser, heed, config, runs, folder)
        finally:
            browser.close()
    print("the pages draw, follow and load nothing")


main()
