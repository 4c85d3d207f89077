#!/usr/bin/env python3
"""Draws docs/hero.svg, the picture of README.md, from a run of configs/reverse.toml:

    ./heed train configs/reverse.toml --set train.log_every=20 --run runs/hero
    docs/hero.py build/release/bin/heed runs/hero docs/hero.svg

The config's keys come from the file, the curves from metrics.jsonl, the attention weights and the output of the first
test example from `heed attend`, the scores and the time from result.json. Needs nothing but Python.
"""
import csv, json, math, pathlib, subprocess, sys, tempfile, tomllib
from html import escape

LAYER = "decoder.layers.1.cross_attention"
KEYS = {"model": ["kind", "layers", "heads", "dim"], "optim": ["lr"], "data": ["kind", "symbols"]}
CONFIG = pathlib.Path(__file__).parent.parent / "configs/reverse.toml"

STYLE = """
.r{fill:#fff}
text{font:13px "Segoe UI",-apple-system,Roboto,"Noto Sans","Liberation Sans",sans-serif;fill:#1b1f24}
.c{font:600 17px Charter,"Noto Serif",Georgia,"Liberation Serif",serif}
.q{fill:#5b6470;font-size:12px}.s{font-size:11px}.b{font-size:12px}
.m,.k,.n{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Noto Sans Mono","Liberation Mono",monospace}
.k{font-size:10px;fill:#5b6470}.n{font-size:14px;font-weight:600}.m.h{fill:#5b6470}.v{fill:#0b62a8}
.g{stroke:#dfe3e8}.x{stroke:#858e99}.ar{fill:none;stroke:#858e99;stroke-width:1.6}
.tr{fill:none;stroke:#7f8a97}.va{fill:none;stroke:#0072b2;stroke-width:2.2}
.d{fill:#0072b2;stroke:#fff;stroke-width:1.5}
.lv{fill:#0072b2;font-weight:600;font-size:12px}.lt{fill:#5b6470;font-size:12px}
.e{fill:#f0f2f5}.ok{fill:#fff;stroke:#00734f;stroke-width:1.5}.bad{fill:#fff;stroke:#b34700;stroke-width:1.5}
.li{fill:none;stroke:#0072b2;stroke-width:3;stroke-opacity:.75}
.h1{fill:#0072b2}.h2{fill:#c05200}.h3{fill:#00805e}.h4{fill:#a8508a}.good{fill:#00734f;font-weight:600}
rect[class^=h]{shape-rendering:crispEdges}
@media(prefers-color-scheme:dark){
.r{fill:#14171b}text{fill:#e4e7eb}.q,.k,.m.h,.lt{fill:#9aa4b0}.v{fill:#6cb6f2}
.g{stroke:#2f353d}.x,.ar{stroke:#727d89}.tr{stroke:#7c8794}.va{stroke:#56b4e9}.d{fill:#56b4e9;stroke:#14171b}
.lv{fill:#56b4e9}.e{fill:#22272e}.ok{fill:#14171b;stroke:#4fd1a5}.bad{fill:#14171b;stroke:#ff9d5c}
.li{stroke:#56b4e9}.h1{fill:#56b4e9}.h2{fill:#ff8b3d}.h3{fill:#2fc89b}.h4{fill:#e29ac4}.good{fill:#4fd1a5}}
"""


def text(x, y, words, style="", anchor=""):
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}" class="{style}"{anchor}>{escape(words)}</text>'


def config(keys):
    """The keys of the config that decide most, as they are written in it."""
    lines, y = [], 86
    for table, names in keys.items():
        lines.append(text(28, y, f"[{table}]", "m h"))
        for name in names:
            y += 17.6
            value = tomllib.loads(CONFIG.read_text())[table][name]
            value = f'"{value}"' if isinstance(value, str) else f"{value:g}"
            lines.append(f'<text x="28" y="{y:g}" class="m">{name} <tspan class="q">=</tspan> '
                         f'<tspan class="v">{escape(value)}</tspan></text>')
        y += 35.2
    return lines


def curves(rows):
    """Training and validation loss on a logarithmic axis."""
    training = [(row["step"], row["loss"]) for row in rows if "loss" in row]
    validation = [(row["step"], row["val"]["loss"]) for row in rows if "val" in row]
    last = max(step for step, _ in training)
    top = max(math.log10(loss) for _, loss in training)
    bottom = math.floor(min(math.log10(loss) for _, loss in training + validation))

    def point(step, loss):
        return 262 + 194 * step / last, 80 + (264 - 80) * (top - math.log10(loss)) / (top - bottom)

    out = []
    for power in range(bottom, math.floor(top) + 1):
        y = point(0, 10**power)[1]
        out += [f'<path class="g" d="M262 {y:.1f}H456"/>', text(256, y + 4, f"{10.0**power:g}", "q s", "end")]
    out += ['<path class="x" d="M262 272H462"/>', text(262, 288, "0", "q s", "middle"),
            text(456, 288, f"{last:,}", "q s", "middle")]
    for style, points in (("tr", training), ("va", validation)):
        path = "L".join("{:.1f} {:.1f}".format(*point(*p)) for p in points)
        out.append(f'<path class="{style}" d="M{path}"/>')
    out += ['<circle class="d" cx="{:.1f}" cy="{:.1f}" r="4"/>'.format(*point(*p)) for p in validation]
    x, y = point(*validation[1])
    out.append(text(x + 8, y - 6, "validation", "lv"))
    x, y = point(*training[len(training) // 6])
    out.append(text(x + 14, y - 6, "training", "lt"))
    return out


def attention(rows):
    """One map for each head: row i shows what the decoder read to generate output i, darker for a larger weight."""
    rows = [r for r in rows if int(r["query"]) < max(int(r["query"]) for r in rows)]  # the last row generates <eos>
    source = {int(r["key"]): r["key_token"] for r in rows}
    target = {int(r["query"]): r["query_token"] for r in rows}
    size = 80 / max(len(source), len(target))
    out = []
    for head in range(4):
        x, y = 516 + 100 * (head % 2), 88 + 106 * (head // 2)
        out.append(f'<rect class="e" x="{x}" y="{y}" width="{len(source) * size:g}" height="{len(target) * size:g}"/>')
        for r in rows:
            if int(r["head"]) == head and float(r["weight"]) >= 0.02:
                out.append(f'<rect class="h{head + 1}" x="{x + size * int(r["key"]):.2f}" '
                           f'y="{y + size * int(r["query"]):.2f}" width="{size:.2f}" height="{size:.2f}" '
                           f'fill-opacity="{float(r["weight"]):.2f}"/>')
        if head < 2:
            out += [text(x + size * (k + 0.5), 83, token, "k", "middle") for k, token in source.items()]
        if head % 2 == 0:
            out += [text(512, y + size * (q + 0.5) + 4, "▸" if token.startswith("<") else token, "k", "end")
                    for q, token in target.items()]
        out.append(text(x, y + 94, f"head {head + 1}", f"s h{head + 1}"))
    return out


def output(source, generated, result):
    """The example, what the model made of it, and how often that is right."""
    width = 160 / len(source)

    def boxes(tokens, y, style):
        return [f'<rect class="{style}" x="{712 + width * i:.1f}" y="{y}" width="{width - 3:.1f}" height="30" rx="3"/>' +
                text(712 + width * (i + 0.5) - 1.5, y + 20, token, "n", "middle") for i, token in enumerate(tokens)]

    right = generated == source[::-1]
    out = boxes(source, 92, "e") + boxes(generated, 182, "ok" if right else "bad")
    for i in range(len(source)):
        a, b = 712 + width * (i + 0.5) - 1.5, 712 + width * (len(source) - i - 0.5) - 1.5
        out.append(f'<path class="li" d="M{a:.1f} 124C{a:.1f} 152 {b:.1f} 152 {b:.1f} 180"/>')
    test = result["test"]
    count = round(test["exact_match"] * test["examples"])
    out += [text(712, 236, "✓ right" if right else "wrong", "b good"),
            text(712, 256, f"{count} of {test['examples']} test outputs", "b"),
            text(712, 273, f"are exactly right, in {result['seconds']:.0f} s", "b")]
    return out


def main():
    program, run, target = sys.argv[1:]
    run = pathlib.Path(run)
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    result = json.loads((run / "result.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "weights.csv"
        subprocess.run([program, "attend", run, "--only", LAYER, "--csv", table, "-o", table.with_suffix(".svg")],
                       check=True, stdout=subprocess.PIPE)
        weights = list(csv.DictReader(table.open()))
    source = list({int(r["key"]): r["key_token"] for r in weights}.values())
    answer = subprocess.run([program, "generate", run], input=" ".join(source) + "\n", text=True, check=True,
                            stdout=subprocess.PIPE).stdout.split()

    titles = [(28, "config", "configs/reverse.toml", 88, 222), (234, "training", "loss by step, log axis", 309, 488),
              (500, "attention", "the decoder reads the input", 586, 704), (712, "output", "of a test input never seen", 0, 0)]
    out = []
    for x, title, below, start, end in titles:
        out += [text(x, 34, title, "c"), text(x, 52, below, "q")]
        if end:
            out.append(f'<path class="ar" d="M{start} 29H{end}M{end - 7} 24L{end} 29L{end - 7} 34"/>')
    out += config(KEYS) + curves(metrics) + attention(weights) + output(source, answer, result)
    description = (f"Left to right: a config; the loss falling during {result['steps']:,} steps; four attention heads that "
                   f"read the input from its end; the output {' '.join(answer)} for the input {' '.join(source)}.")
    pathlib.Path(target).write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="316" viewBox="0 0 900 316" role="img" '
        'aria-labelledby="t d">\n<title id="t">heed: from a config to a trained model</title>\n'
        f'<desc id="d">{escape(description)}</desc>\n<style>{STYLE}</style>\n'
        '<rect class="r" width="900" height="316" rx="6"/>\n' + "\n".join(out) + "\n</svg>\n")


main()
