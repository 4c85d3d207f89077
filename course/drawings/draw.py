#!/usr/bin/env python3
"""Draws the pictures of the course. Numbers come from by_hand.py, the style from svg.py.

    python3 draw.py [NAME …]    # writes NAME.svg into the current folder; without a name, all of them
"""
import sys
from math import exp

import by_hand as N
from svg import Drawing

words = N.words


def minus(x, digits=None):
    s = f"{x:g}" if digits is None else f"{x:.{digits}f}"
    if float(s) == 0:
        s = s.replace("-", "")
    return s.replace("-", "−")


def short(x):  # .665: three digits, so that products with them agree
    s = f"{x:.3f}"
    return s[1:] if s.startswith("0.") else s


def vector(v, digits=None):
    return "(" + ", ".join(minus(x, digits) for x in v) + ")"


def lookup():
    d = Drawing(432, "Attention as a soft lookup",
                "The query (1, 0), 'who bites?', is compared with the keys of dog (2, 1), bites (0, 0) and man (1, 2). The scores 2, 0, 1 become "
                "the weights 0.665, 0.090, 0.245, and the values (3, 0), (0, 0), (0, 3) are mixed to the output (2.00, 0.73).")
    s, w, o = N.S4[0], N.W4[0], N.O4[0]
    for x0, x1, n, name in ((152, 338, 1, "compare"), (352, 520, 2, "normalise"), (534, 688, 3, "mix")):
        d.text((x0 + x1) / 2, 24, f"{n}  {name}", "t", 14, "middle", bold=True)
        d.path(f"M{x0} 40V33H{x1}V40", "l", 1.2)
    heads = ((200, "key k_{j}", "tk"), (304, "s_{j} = q · k_{j}", "t"), (378, "e^{s}", "t"), (466, "w_{j} = e^{s} / Σ", "t"),
             (574, "value v_{j}", "tv"), (654, "w_{j} · v_{j}", "to"))
    for x, name, cls in heads:
        d.text(x, 60, name, cls, 13, "middle")
    top, pitch = 72, 58
    mid = top + pitch + 23
    d.text(64, mid - 34, "query q", "tq", 13, "middle")
    d.rect(12, mid - 26, 104, 52, "q")
    d.text(64, mid - 5, "“Who bites?”", "tq", 13, "middle")
    d.text(64, mid + 15, "(1, 0)", "tq", 14, "middle", bold=True)
    for j in range(3):
        y = top + j * pitch
        c = y + 23
        d.arrow([(116, mid), (150, c)], "q")
        d.rect(152, y, 96, 46, "k")
        d.text(200, y + 18, words[j], "tk", 12, "middle")
        d.text(200, y + 37, vector(N.K[j]), "tk", 14, "middle", bold=True)
        d.text(304, c + 5, f"{s[j]}", "t", 15, "middle", bold=True)
        d.arrow([(252, c), (286, c)])
        d.arrow([(322, c), (350, c)])
        d.text(378, c + 5, f"{exp(s[j]):.2f}", "t", 13, "middle")
        d.rect(412, c - 9, 62, 18, "n", r=2)
        d.add(f'<rect x="412" y="{c - 9}" width="{62 * w[j]:.1f}" height="18" rx="2" class="h" fill-opacity="0.6"/>')
        d.text(522, c + 5, f"{w[j]:.3f}", "t", 13.5, "end", bold=True)
        d.rect(534, y, 80, 46, "v")
        d.text(574, y + 18, words[j], "tv", 12, "middle")
        d.text(574, y + 37, vector(N.V[j]), "tv", 14, "middle", bold=True)
        d.text(654, c + 5, vector([w[j] * x for x in N.V[j]], 2), "to", 12, "middle")
    y = top + 3 * pitch + 4
    d.line(352, y, 520, y)
    d.line(622, y, 688, y, "lo")
    d.text(378, y + 22, f"{sum(map(exp, s)):.2f}", "t", 13, "middle")
    d.text(522, y + 22, "1", "t", 14, "end", bold=True)
    d.text(446, y + 22, "sum", "m", 13, "middle")
    d.rect(584, y + 8, 106, 46, "o")
    d.text(637, y + 26, "output o", "to", 12, "middle")
    d.text(637, y + 45, vector(o, 2), "to", 14, "middle", bold=True)
    # The values as points: the output lies inside their triangle.
    ox, oy, u = 62, 404, 40
    at = lambda p: (ox + u * p[0], oy - u * p[1])
    px, py = at(o)
    d.add(f'<path d="M{ox} {oy}L{ox + 3 * u} {oy}L{ox} {oy - 3 * u}Z" class="v" stroke-width="1" fill-opacity="0.6"/>')
    for j in range(3):
        x, yy = at(N.V[j])
        d.line(px, py, x, yy, "lo", 0.6 + 6 * w[j])
        d.add(f'<circle cx="{x:g}" cy="{yy:g}" r="5" class="v" stroke-width="2"/>')
    d.add(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="6" class="o" stroke-width="2.5"/>')
    d.text(ox + 3 * u + 10, oy + 5, "dog (3, 0)", "tv", 12)
    d.text(ox + 10, oy - 3 * u + 2, "man (0, 3)", "tv", 12)
    d.text(ox, oy + 21, "bites (0, 0)", "tv", 12, "middle")
    d.text(px + 8, py - 12, "o = (2.00, 0.73)", "to", 12)
    d.text(290, 350, "The output is a weighted mean: it lies inside the triangle", "t", 13)
    d.text(290, 370, "of the values, nearest to the value with the largest weight.", "t", 13)
    d.text(290, 394, "Attention selects and averages. It cannot return what", "m", 13)
    d.text(290, 414, "no value has.", "m", 13)
    return d


def matrices():
    d = Drawing(372, "Attention as two matrix products",
                "Q (2 × 2) times Kᵀ (2 × 3) gives the scores S (2 × 3); a softmax along each row gives W (2 × 3); W times V (3 × 2) gives the "
                "outputs O (2 × 2). Each product stands where its row and its column meet.")
    cw, ch = 46, 34
    y1 = 186
    yk, yv = y1 - 20 - 2 * ch, y1 - 20 - 3 * ch
    xq, xs, xw, xo = 104, 216, 428, 586
    # the row and the columns that one number is made of
    KT = [list(c) for c in zip(*N.K)]
    d.matrix(xq, y1, N.Q4, cw, ch, "q", 14)
    d.matrix(xs, yk, KT, cw, ch, "k", 14)
    d.matrix(xs, y1, N.S4, cw, ch, "n", 14)
    d.matrix(xw, y1, [[short(x) for x in r] for r in N.W4], cw, ch, "n", 14, shade=N.W4)
    d.matrix(xo, yv, N.V, cw, ch, "v", 14)
    d.matrix(xo, y1, [[f"{x:.2f}" for x in r] for r in N.O4], cw, ch, "o", 14)
    for i, name in enumerate(("“Who bites?”", "“Who, whom?”")):
        d.text(xq - 8, y1 + i * ch + 22, name, "tq", 12, "end")
    for j, name in enumerate(words):
        d.text(xs + (j + 0.5) * cw, yk - 8, name, "tk", 12, "middle")
        d.text(xo - 8, yv + j * ch + 22, name, "tv", 12, "end")
    for j, name in enumerate(("dog", "man")):
        d.text(xo + (j + 0.5) * cw, yv - 8, name, "tv", 12, "middle")
    d.outline(xq, y1, 2 * cw, ch, "lq", 0, 3)
    d.outline(xs, yk, cw, 2 * ch, "lk", 0, 3)
    d.outline(xs, y1, cw, ch, "l", 0, 3)
    d.outline(xw, y1, 3 * cw, ch, "l", 0, 3)
    d.outline(xo, yv, cw, 3 * ch, "lv", 0, 3)
    d.outline(xo, y1, cw, ch, "lo", 0, 3)
    d.text(xq + cw, yk + ch - 8, "K^{ᵀ}".replace("^{ᵀ}", "ᵀ"), "tk", 16, "middle", bold=True)
    d.text(xq + cw, yk + ch + 12, "K × Tk", "tk", 13, "middle")
    d.text(xq + cw, yk + ch + 29, "2 × 3", "m", 12, "middle")
    d.text(xw + 1.3 * cw, yv + 1.5 * ch - 4, "V", "tv", 16, "middle", bold=True)
    d.text(xw + 1.3 * cw, yv + 1.5 * ch + 16, "Tk × V", "tv", 13, "middle")
    d.text(xw + 1.3 * cw, yv + 1.5 * ch + 33, "3 × 2", "m", 12, "middle")
    yb = y1 + 2 * ch
    for x, n, name, shape, cls in ((xq, 2, "Q", "Tq × K", "tq"), (xs, 3, "S = Q Kᵀ", "Tq × Tk", "t"), (xw, 3, "W", "Tq × Tk", "t"), (xo, 2, "O = W V", "Tq × V", "to")):
        d.text(x + n * cw / 2, yb + 22, name, cls, 15, "middle", bold=True)
        d.text(x + n * cw / 2, yb + 40, shape, cls, 13, "middle")
        d.text(x + n * cw / 2, yb + 57, {"Q": "2 × 2", "S = Q Kᵀ": "2 × 3", "W": "2 × 3", "O = W V": "2 × 2"}[name], "m", 12, "middle")
    d.arrow([(xs + 3 * cw + 6, y1 + ch), (xw - 6, y1 + ch)], sw=1.8)
    d.text((xs + 3 * cw + xw) / 2, y1 + ch - 10, "softmax", "t", 13, "middle")
    d.text((xs + 3 * cw + xw) / 2, y1 + ch + 18, "each row", "m", 12, "middle")
    d.text(xq, yb + 88, "1 · 2 + 0 · 1 = 2", "t", 13)
    d.text(xq, yb + 105, "row of Q, column of Kᵀ", "m", 12)
    d.text(xo + 2 * cw, yb + 88, "0.665 · 3 + 0.090 · 0 + 0.245 · 0 = 2.00", "to", 13, "end")
    d.text(xo + 2 * cw, yb + 105, "row of W (sums to 1), column of V", "m", 12, "end")
    d.text(12, 26, "Row i: query i.", "tq", 13, bold=True)
    d.text(12, 46, "Column j: key j.", "tk", 13, bold=True)
    return d


def masks():
    d = Drawing(352, "Masks: which keys each query may see",
                "Four grids of six queries (rows) by six keys (columns): causal, a window of 2, four keys and two of padding, and all three at once, "
                "where the last query has no key left and its output is 0. Below, scores 2, 0, 1 with the third hidden: weights 0.88, 0.12, 0.")
    n, c, top = 6, 22, 78
    causal = lambda i, j: j <= i
    window = lambda i, j: abs(i - j) < 2
    padded = lambda i, j: j < 4
    names = (("causal", "no key after the query", causal), ("window = 2", "a distance below 2", window),
             ("padding", "keys 4 and 5 are filler", padded), ("all three", "kept by every part", lambda i, j: causal(i, j) and window(i, j) and padded(i, j)))
    for g, (name, why, keep) in enumerate(names):
        x = 40 + g * 168
        d.text(x + n * c / 2, 22, name, "t", 14, "middle", bold=True)
        d.text(x + n * c / 2, 40, why, "m", 12, "middle")
        for j in range(n):
            d.text(x + (j + 0.5) * c, top - 8, str(j), "tk", 12, "middle")
        for i in range(n):
            d.text(x - 7, top + (i + 0.5) * c + 4, str(i), "tq", 12, "end")
            for j in range(n):
                if keep(i, j):
                    d.rect(x + j * c, top + i * c, c, c, "n", 0, sw=1)
                    d.add(f'<rect x="{x + j * c + 3}" y="{top + i * c + 3}" width="{c - 6}" height="{c - 6}" rx="2" class="h" fill-opacity="0.72"/>')
                else:
                    d.rect(x + j * c, top + i * c, c, c, "n", 0, sw=1, opacity=0.35)
    x = 40 + 3 * 168
    d.outline(x - 2, top + 5 * c - 1, n * c + 4, c + 3, "ld", 2, 2.2)
    y = top + n * c + 22
    d.rect(40, y - 11, 13, 13, "n", 0, sw=1)
    d.add(f'<rect x="42" y="{y - 9}" width="9" height="9" rx="1" class="h" fill-opacity="0.72"/>')
    d.text(59, y, "kept", "m", 12)
    d.rect(102, y - 11, 13, 13, "n", 0, sw=1, opacity=0.35)
    d.text(121, y, "hidden", "m", 12)
    d.text(184, y, "row i: query i,  column j: key j", "m", 12)
    d.text(x + n * c + 2, y, "no key left: output 0", "td", 13, "end", bold=True)
    d.line(12, y + 16, 688, y + 16, "l", 0.8)
    # the running example: the row of "bites" under the causal mask
    y += 62
    d.text(12, y - 1, "row of “bites”,", "t", 13)
    d.text(12, y + 17, "causal mask:", "t", 13)
    cw, ch = 44, 30
    steps = (("scores", ["2", "0", "1"]), ("hide", ["2", "0", "−∞"]), ("e^{s}", ["7.39", "1", "0"]), ("weights", ["0.88", "0.12", "0"]))
    for g, (name, cells) in enumerate(steps):
        x = 112 + g * 148
        d.text(x + 1.5 * cw, y - 20, name, "t", 13, "middle", bold=name == "hide")
        d.matrix(x, y - 12, [cells], cw, ch, "n", 13)
        if name in ("hide", "e^{s}", "weights"):
            d.outline(x + 2 * cw, y - 12, cw, ch, "ld", 0, 2)
        for j, word in enumerate(words):
            d.text(x + (j + 0.5) * cw, y + 34, word, "tk", 12, "middle")
    for g, label in enumerate(("", "", "")):
        x = 112 + g * 148 + 3 * cw
        d.arrow([(x + 2, y + 3), (x + 15, y + 3)])
    return d


def heads():
    d = Drawing(640, "Heads side by side",
                "x (3 × 3) is projected to Q and K (3 × 2) and V (3 × 4). Head 1 takes the first columns and asks who bites: weights 0.665, 0.090, 0.245, "
                "output (2.00, 0.73). Head 2 takes the others and asks who is bitten: weights 0.245, 0.090, 0.665, output (0.73, 2.00). The outputs are "
                "put side by side (3 × 4) and projected to the width of x.")
    cw, ch = 34, 22
    # x
    xx, yx = 299, 18
    d.matrix(xx, yx, N.X, cw, ch, "n", 13, strong=1)
    for i, word in enumerate(words):
        d.text(xx - 8, yx + i * ch + 16, word, "t", 12, "end", bold=i == 1)
    d.text(xx + 3 * cw + 12, yx + 26, "x", "t", 15, bold=True)
    d.text(xx + 3 * cw + 12, yx + 44, "T × D = 3 × 3", "m", 13)
    # projections
    yp = 148
    V2 = [r + r for r in N.V]
    blocks = ((100, N.heads_q, "Q = x W^{Q}", "T × H·K = 3 × 2", ["x", "y"]), (290, N.K, "K = x W^{K}", "T × H·K = 3 × 2", ["x", "y"]),
              (462, V2, "V = x W^{V}", "T × H·V = 3 × 4", ["x", "x", "y", "y"]))
    bottom = yx + 3 * ch
    for x, rows, name, shape, columns in blocks:
        wide = len(columns) * cw
        d.text(x + wide + 10, yp + 28, name, "t", 14, bold=True)
        d.text(x + wide + 10, yp + 47, shape.split(" = ")[0], "m", 12)
        d.text(x + wide + 10, yp + 63, "= " + shape.split(" = ")[1], "m", 12)
        d.matrix(x, yp, rows, cw, ch, size=13, strong=1, columns=columns)
    d.text(350, bottom + 24, "1  project", "t", 14, "middle", bold=True)
    for x, wide in ((100, 2), (290, 2), (462, 4)):
        d.arrow([(350 + (x + wide * cw / 2 - 350) * 0.25, bottom + 32), (x + wide * cw / 2, yp - 4)])
    # heads
    yh, hh = 262, 172
    d.text(350, yh - 22, "2  split the columns", "t", 14, "middle", bold=True)
    d.arrow([(262, yh - 26), (176, yh - 26), (176, yh - 4)], "x")
    d.arrow([(438, yh - 26), (524, yh - 26), (524, yh - 4)], "y")
    for h, (x0, role, name) in enumerate(((12, "x", "head 1: who bites?"), (358, "y", "head 2: who is bitten?"))):
        d.rect(x0, yh, 330, hh, role, 6)
        d.text(x0 + 165, yh + 22, name, "t" + role, 14, "middle", bold=True)
        sx, wx, zx, yy = x0 + 10, x0 + 10 + 3 * 26 + 25, x0 + 330 - 8 - 80, yh + 62
        d.matrix(sx, yy, [[minus(v) for v in r] for r in N.head[h]], 26, ch, "n", 13, strong=1)
        d.matrix(wx, yy, [[short(v) for v in r] for r in N.head_w[h]], 34, ch, "n", 12, shade=N.head_w[h], strong=1)
        d.matrix(zx, yy, [[f"{v:.2f}" for v in r] for r in N.head_z[h]], 40, ch, role, 13, strong=1)
        d.arrow([(sx + 82, yy + 33), (wx - 4, yy + 33)], role)
        d.arrow([(wx + 106, yy + 33), (zx - 4, yy + 33)], role)
        sub = "₁₂"[h]
        for x, label in ((sx + 39, f"q{sub} k{sub}ᵀ"), (wx + 51, "softmax"), (zx + 40, f"z{sub}")):
            d.text(x, yy - 8, label, "t", 13, "middle")
        for x, shape in ((sx + 39, "T × T"), (wx + 51, "T × T"), (zx + 40, "T × V")):
            d.text(x, yy + 3 * ch + 18, shape, "m", 12, "middle")
        d.text(x0 + 165, yy + 3 * ch + 37, f"K = 1: column {h} of Q and K;  V = 2: {2 * h} and {2 * h + 1} of V", "m", 12, "middle")
    # merge, project
    ym = 486
    mx = 168
    d.text(mx + 80, ym - 16, "3  merge", "t", 14, "middle", bold=True)
    d.arrow([(100, yh + hh + 2), (100, ym + 33), (mx - 6, ym + 33)], "x")
    d.arrow([(400, yh + hh + 2), (400, ym - 21), (mx + 120, ym - 21), (mx + 120, ym - 3)], "y")
    rows = [[f"{v:.2f}" for v in a + b] for a, b in zip(*N.head_z)]
    d.matrix(mx, ym, rows, 40, ch, size=13, strong=1, columns=["x", "x", "y", "y"])
    d.text(mx + 80, ym + 3 * ch + 19, "[z₁; z₂]   T × H·V = 3 × 4", "m", 12, "middle")
    d.arrow([(mx + 166, ym + 33), (470, ym + 33)])
    d.text(402, ym + 24, "4  project", "t", 14, "middle", bold=True)
    d.text(402, ym + 54, "W^{O}: z₁ − z₂", "m", 12, "middle")
    d.matrix(478, ym, [[minus(v, 2) if v else "0" for v in r] for r in N.y6], 48, ch, "o", 13, strong=1)
    d.text(478 + 3 * 48 + 12, ym + 26, "y", "to", 15, bold=True)
    d.text(478 + 3 * 48 + 12, ym + 44, "T × D", "m", 12)
    d.text(478 + 72, ym + 3 * ch + 19, "added to x in chapter 10", "m", 12, "middle")
    d.line(12, ym + 99, 688, ym + 99, "l", 0.8)
    d.text(350, ym + 121, "One head of width 2 adds the two questions before the softmax: the scores of “bites” are", "t", 13, "middle")
    d.text(350, ym + 141, "3  0  3,  the weights .488  .024  .488,  the output (1.46, 1.46).  Who bit whom?", "td", 13, "middle", bold=True)
    return d


def blocks():
    d = Drawing(470, "Pre-norm and post-norm decoder layers",
                "The residual stream is a straight road, the sublayers are detours. In pre-norm each detour begins with a norm and the road is free. In "
                "post-norm a norm stands on the road after every addition. Cross-attention takes keys and values from the encoder's memory.")
    names = (("causal", "self-attention"), ("cross-", "attention"), ("feed-", "forward"))

    def road(y, x0, x1):
        d.path(f"M{x0} {y}H{x1}", "road", 12)
        d.path(f"M{x0 + 4} {y}H{x1 - 4}", "lane", 1.6, "9 7")
        d.head(x1 + 12, y, 1, 0, "a", 14)

    def plus(x, y):
        d.add(f'<circle cx="{x}" cy="{y}" r="11" class="o" stroke-width="1.6"/>')
        d.path(f"M{x - 5} {y}H{x + 5}M{x} {y - 5}V{y + 5}", "lo", 2)

    def box(x, y, w, h, lines, role):
        d.rect(x, y, w, h, role)
        for i, s in enumerate(lines):
            d.text(x + w / 2, y + h / 2 + 5 + (i - (len(lines) - 1) / 2) * 16, s, "t" + role, 12, "middle")

    # pre-norm: detours below
    y = 72
    d.text(12, 26, "Pre-norm", "t", 15, bold=True)
    d.text(110, 26, "x ← x + s(norm(x))", "t", 14)
    d.text(688, 26, "the road is free; it ends in one norm", "m", 13, "end")
    road(y, 36, 604)
    d.text(36, y - 18, "residual stream, T × D", "m", 12.5)
    d.text(14, y + 5, "x", "t", 15, bold=True)
    for i, s in enumerate((56, 242, 428)):
        yb = y + 46
        d.arrow([(s, y), (s, yb + 21), (s + 10, yb + 21)])
        box(s + 12, yb, 42, 42, ["norm"], "n")
        d.arrow([(s + 54, yb + 21), (s + 66, yb + 21)])
        box(s + 67, yb, 87, 42, names[i], "q" if i < 2 else "v")
        d.arrow([(s + 154, yb + 21), (s + 162, yb + 21), (s + 162, y + 12)])
        plus(s + 162, y)
    d.rect(618, y - 21, 44, 42, "n", dash=True)
    d.text(640, y + 4, "norm", "t", 12.5, "middle")
    d.arrow([(664, y), (690, y)], sw=1.8)
    d.text(640, y + 38, "after the", "m", 12, "middle")
    d.text(640, y + 53, "last layer", "m", 12, "middle")
    # memory
    ym = 214
    d.rect(284, ym, 136, 44, "k")
    d.text(352, ym + 18, "memory", "tk", 13, "middle", bold=True)
    d.text(352, ym + 36, "Ts × D", "tk", 12.5, "middle")
    d.rect(128, ym, 118, 44, "n")
    d.text(187, ym + 18, "encoder × n", "t", 13, "middle")
    d.text(187, ym + 36, "norm", "m", 12, "middle")
    d.arrow([(248, ym + 22), (282, ym + 22)])
    d.text(14, ym + 27, "source", "t", 13, bold=True)
    d.arrow([(66, ym + 22), (126, ym + 22)])
    d.arrow([(352, ym), (352, y + 90)], "k")
    d.text(362, ym - 18, "keys, values", "tk", 12.5)
    d.text(436, ym + 18, "queries come from the stream,", "m", 12.5)
    d.text(436, ym + 36, "keys and values from the source", "m", 12.5)
    # post-norm: detours above
    yp = 392
    yb = yp - 46 - 42
    d.arrow([(352, ym + 44), (352, yb - 2)], "k")
    d.text(362, ym + 68, "keys, values", "tk", 12.5)
    road(yp, 36, 676)
    d.text(14, yp + 5, "x", "t", 15, bold=True)
    for i, s in enumerate((56, 266, 476)):
        left = 296 + 14 if i == 1 else s + 18
        d.arrow([(s, yp), (s, yb + 21), (left - 3, yb + 21)])
        box(left - 1, yb, 87, 42, names[i], "q" if i < 2 else "v")
        p = s + 136
        d.arrow([(left + 86, yb + 21), (p, yb + 21), (p, yp - 12)])
        plus(p, yp)
        box(p + 16, yp - 21, 44, 42, ["norm"], "d")
    d.text(12, 446, "Post-norm", "t", 15, bold=True)
    d.text(110, 446, "x ← norm(x + s(x))", "t", 14)
    d.text(688, 446, "a gate after every addition divides all that came before", "td", 13, "end")
    return d


def tape():
    d = Drawing(432, "The tape of y = tanh(a · b + c)",
                "Forward: a = 2, b = −1, m = a · b = −2, c = 2.5, u = m + c = 0.5, y = tanh(u) = 0.462. Backward from dy = 1: du = 0.786, dm = dc = 0.786, "
                "da = −0.786, db = 1.573. The tape holds mul, add, tanh in this order and is run from its end.")
    du = N.du

    def value(x, y, name, number, gradient, w=86):
        d.rect(x, y, w, 48, "n")
        d.text(x + w / 2, y + 19, f"{name} = {number}", "t", 14, "middle", bold=True)
        d.text(x + w / 2, y + 40, f"d{name} = {gradient}", "td", 12.5, "middle")

    def op(x, y, name, w=46):
        d.rect(x - w / 2, y - 16, w, 32, "q", 16)
        d.text(x, y + 5, name, "tq", 13.5, "middle", bold=True)

    def pair(x1, y1, x2, y2, gap=5):
        """Forward and backward, beside each other."""
        n = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (y2 - y1) / n * gap, -(x2 - x1) / n * gap
        d.arrow([(x1 + ux, y1 + uy), (x2 + ux, y2 + uy)], "q", 1.5)
        d.arrow([(x2 - ux, y2 - uy), (x1 - ux, y1 - uy)], "d", 1.5, "5 3")

    d.text(12, 24, "forward: values →", "tq", 14, bold=True)
    d.text(688, 24, "← backward: how fast y changes with each", "td", 14, "end", bold=True)
    ya, yb, yc = 50, 138, 218
    ym, yu = 118, 180
    value(12, ya, "a", "2", minus(du * N.b, 3))
    value(12, yb, "b", "−1", minus(du * N.a, 3))
    value(12, yc, "c", "2.5", minus(du, 3))
    mx, ax, tx = 188, 366, 550
    op(mx, ym, "mul")
    pair(102, ya + 30, mx - 26, ym - 6)
    pair(102, yb + 17, mx - 26, ym + 7)
    d.text(118, ya + 18, "× b = × (−1)", "td", 12.5)
    d.text(124, yb + 36, "× a = × 2", "td", 12.5)
    value(240, ym - 24, "m", "−2", minus(du, 3))
    pair(mx + 26, ym, 237, ym)
    op(ax, yu, "add")
    pair(329, ym + 20, ax - 16, yu - 18)
    pair(102, yc + 24, ax - 28, yu + 8)
    d.text(362, ym + 28, "× 1", "td", 12.5)
    d.text(228, yc + 26, "× 1", "td", 12.5)
    value(418, yu - 24, "u", "0.5", minus(du, 3))
    pair(ax + 26, yu, 415, yu)
    op(tx, yu, "tanh", 52)
    pair(505, yu, tx - 29, yu)
    d.text(tx, yu + 38, "× (1 − y²)", "td", 12.5, "middle")
    d.text(tx, yu + 55, "= × 0.786", "td", 12.5, "middle")
    value(602, yu - 24, "y", f"{N.y:.3f}", "1")
    pair(tx + 29, yu, 600, yu)
    d.text(646, yu + 44, "starts here", "td", 12, "middle")
    # the tape
    y = 318
    d.line(12, y - 32, 688, y - 32, "l", 0.8)
    d.text(12, y - 10, "The tape", "t", 14, bold=True)
    d.text(90, y - 10, "what each operation left behind for the way back", "m", 13)
    entries = (("1  mul", "keeps a and b", "da += dm · b,  db += dm · a"), ("2  add", "keeps nothing", "dm += du,  dc += du"), ("3  tanh", "keeps y", "du += dy · (1 − y²)"))
    for i, (name, kept, formula) in enumerate(entries):
        x = 12 + i * 228
        d.rect(x, y, 220, 66, "n")
        d.text(x + 12, y + 20, name, "tq", 13.5, bold=True)
        d.text(x + 208, y + 20, kept, "m", 12.5, "end")
        d.text(x + 110, y + 48, formula, "td", 13.5, "middle")
    y += 82
    d.arrow([(12, y), (688, y)], "q", 1.6)
    d.arrow([(688, y + 14), (12, y + 14)], "d", 1.6, "6 4")
    d.add(f'<rect x="250" y="{y - 9}" width="200" height="32" class="g"/>')
    d.text(350, y + 4, "recorded from left to right,", "tq", 12, "middle")
    d.text(350, y + 19, "run from right to left", "td", 12, "middle")
    return d


def training():
    d = Drawing(470, "One training step",
                "A model of two weights (1, −2) sees x = (3, 4) with target −6: prediction −5, loss 0.5, gradient (3, 4) of length 5, clipped to "
                "(0.6, 0.8); AdamW moves each weight by the rate 0.01: (0.989, −2.008). Below, what is held in memory during each part.")
    x0, pitch, w = 104, 98, 84
    names = ("batch", "forward", "loss", "backward", "clip", "AdamW")
    lines = ((("x = (3, 4)", "t"), ("target t = −6", "m")), (("p = w · x", "m"), ("= −5", "t")), (("½ (p − t)²", "m"), ("= 0.5", "t")),
             (("g = (p − t) x", "m"), ("= (3, 4)", "td")), (("|g| = 5 > 1", "m"), ("(0.6, 0.8)", "td")), (("each weight", "m"), ("moves by lr", "t")))
    roles = "nqqdddn"
    roles = ("n", "q", "q", "d", "d", "v")
    y = 44
    d.text(12, 24, "One step of a model with two weights, by hand", "t", 14, bold=True)
    for i, name in enumerate(names):
        x = x0 + i * pitch
        d.rect(x, y, w + 4, 76, roles[i])
        d.text(x + w / 2 + 2, y + 21, name, "t" + roles[i], 14, "middle", bold=True)
        for k, (s, cls) in enumerate(lines[i]):
            d.text(x + w / 2 + 2, y + 44 + 19 * k, s, cls, 12, "middle")
        if i:
            d.arrow([(x - 9, y + 38), (x - 1, y + 38)], sw=1.6)
    right = x0 + 5 * pitch + w + 4
    # lanes: what is held
    d.text(12, 152, "What is held meanwhile", "t", 14, bold=True)
    top, lane = 166, 46
    labels = (("batch", ""), ("activations", "grow with B · T"), ("gradients", "1 a weight"), ("m and v", "2 a weight"), ("weights", ""))
    ys = [top + i * lane for i in range(5)]
    for i in range(1, 6):
        d.line(x0 + i * pitch - 5, top - 2, x0 + i * pitch - 5, ys[4] + 40, "l", 0.8, "2 4")
    for (name, note), yy in zip(labels, ys):
        d.text(12, yy + (17 if note else 24), name, "t", 13, bold=True)
        if note:
            d.text(12, yy + 32, note, "m", 12)
    c = [x0 + i * pitch for i in range(6)]
    d.rect(c[0], ys[0] + 8, c[3] + w + 4 - c[0], 22, "n")
    d.text((c[0] + c[3] + w) / 2, ys[0] + 23, "(B, T) ids and targets", "m", 12, "middle")
    a = ys[1]
    d.add(f'<path d="M{c[1]} {a + 36}L{c[3] - 5} {a + 2}L{c[3] + w + 4} {a + 36}Z" class="q" stroke-width="1.2"/>')
    d.text(c[3] - 12, a + 30, "largest at the loss", "tq", 12, "middle")
    d.text(c[1] + 43, a + 12, "kept by layers", "m", 12, "middle")
    d.text(c[4] + 43, a + 22, "freed by layers", "m", 12, "middle")
    d.rect(c[0], ys[2] + 8, c[3] - c[0] - 5, 24, "n", dash=True)
    d.text((c[0] + c[3]) / 2, ys[2] + 24, "set to 0", "m", 12, "middle")
    d.rect(c[3] - 5, ys[2] + 8, right - c[3] + 5, 24, "d")
    d.text((c[3] - 5 + right) / 2, ys[2] + 24, "added to, measured by clip, read by AdamW", "td", 12, "middle")
    d.rect(c[0], ys[3] + 8, c[5] - c[0] - 5, 24, "v")
    d.text((c[0] + c[5]) / 2, ys[3] + 24, "m = v = (0, 0) before the first step; kept from step to step", "tv", 12, "middle")
    d.rect(c[5] - 5, ys[3] + 8, right - c[5] + 5, 24, "v", sw=2.4)
    d.text((c[5] - 5 + right) / 2, ys[3] + 24, "new means", "tv", 12, "middle", bold=True)
    d.rect(c[0], ys[4] + 8, c[5] - c[0] - 5, 24, "o")
    d.text((c[0] + c[5]) / 2, ys[4] + 24, "w = (1, −2), read by forward and by backward", "to", 12, "middle")
    d.rect(c[5] - 5, ys[4] + 8, right - c[5] + 5, 24, "o", sw=2.4)
    d.text((c[5] - 5 + right) / 2, ys[4] + 24, "new weights", "to", 12, "middle", bold=True)
    y = ys[4] + 46
    d.arrow([(right - 44, y - 12), (right - 44, y + 8), (c[0] + 44, y + 8), (c[0] + 44, y - 10)], "o", 1.6)
    d.add(f'<rect x="250" y="{y - 1}" width="304" height="18" class="g"/>')
    d.text(402, y + 12, "(0.989, −2.008): now this batch costs 0.437", "to", 12.5, "middle")
    d.text(350, y + 40, "w ← w − lr · λ · w − lr · m / √v,  lr = 0.01, λ = 0.1;  in the first step m / √v, corrected, is (1, 1)", "m", 12.5, "middle")
    return d


DRAWINGS = {"attention_lookup": lookup, "attention_matrices": matrices, "masks": masks, "heads": heads, "blocks": blocks, "tape": tape, "training_step": training}

if __name__ == "__main__":
    for name in sys.argv[1:] or DRAWINGS:
        print(name, DRAWINGS[name]().save(name + ".svg"), "bytes")
