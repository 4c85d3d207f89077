#!/usr/bin/env python3
"""Computes every number of the running example "dog bites man" and of the drawings from its definition (standard library only).

    python3 by_hand.py          # prints them
"""
from math import exp, sqrt, tanh, log

words = ["dog", "bites", "man"]
X = [[2, 1, 0], [0, 0, 1], [1, 2, 0]]            # (T, D): teeth, skin, action
WQ = [[0, 0], [0, 0], [1, 0]]                    # (D, K): an action asks for teeth
WQ_both = [[0, 0], [0, 0], [1, 1]]               # chapter 6: ... and for skin
WK = [[1, 0], [0, 1], [0, 0]]                    # (D, K): a word is found by teeth and skin
WV = [[2, -1], [-1, 2], [0, 0]]                  # (D, V): (dog, man), three of what a word is


def mul(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def T(a):
    return [list(c) for c in zip(*a)]


def softmax(row, tau=1.0):
    m = max(row)
    e = [exp((s - m) / tau) for s in row]
    return [x / sum(e) for x in e]


def mean(w, values):
    return mul([w], values)[0]


def fmt(row, n=3):
    return "(" + ", ".join(f"{x + 0.0:.{n}f}".replace("-0.000", "0.000") for x in row) + ")"


K, V = mul(X, WK), mul(X, WV)
Q4 = [[1, 0], [1, 1]]                            # chapter 4: two questions from outside
S4 = mul(Q4, T(K))
W4 = [softmax(r) for r in S4]
O4 = mul(W4, V)
Q5 = mul(X, WQ)
S5 = mul(Q5, T(K))
heads_q = mul(X, WQ_both)
head = [[[heads_q[i][h] * K[j][h] for j in range(3)] for i in range(3)] for h in range(2)]
head_w = [[softmax(r) for r in s] for s in head]
head_z = [mul(w, V) for w in head_w]
WO = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]  # (H·V, D): z1 − z2, into the first two columns
y6 = [[0.0 if abs(v) < 1e-12 else v for v in r] for r in mul([p + q for p, q in zip(*head_z)], WO)]

a, b, c = 2.0, -1.0, 2.5                         # chapter 2
m = a * b
u = m + c
y = tanh(u)
du = 1 - y * y
x, w, t, lr, decay, limit = [3.0, 4.0], [1.0, -2.0], -6.0, 0.01, 0.1, 1.0   # chapter 11
p = sum(i * j for i, j in zip(w, x))
g = [(p - t) * i for i in x]
norm = sqrt(sum(i * i for i in g))
clipped = [i * limit / norm for i in g]
first_m, first_v = [0.1 * i for i in clipped], [0.001 * i * i for i in clipped]
step = [(mm / 0.1) / sqrt(vv / 0.001) for mm, vv in zip(first_m, first_v)]
new = [(1 - lr * decay) * i - lr * s for i, s in zip(w, step)]
p_new = sum(i * j for i, j in zip(new, x))

if __name__ == "__main__":
    print("K", K, "V", V)
    print("4: scores", S4, "e^s", [[round(exp(s), 3) for s in r] for r in S4], "sums",
          [round(sum(map(exp, r)), 3) for r in S4])
    for q, w_, o in zip(Q4, W4, O4):
        print("   q", q, "weights", fmt(w_, 4), "output", fmt(o, 4))
    for tau in (0.25, 0.5, 1, 2, 5, 100):
        w_ = softmax(S4[0], tau)
        print("   tau", tau, fmt(w_), "output", fmt(mean(w_, V)), "entropy %.3f" % -sum(i * log(i) for i in w_ if i))
    print("   ln 3 = %.3f" % log(3), " gradient dw/ds of row 1:",
          [fmt([W4[0][i] * ((i == j) - W4[0][j]) for j in range(3)], 3) for i in range(3)])
    print("   dot product as weights:", mean(S4[0], V))
    print("5: Q", Q5, "S", S5, "without projections", mul(X, T(X)),
          "its row of bites", fmt(softmax(mul(X, T(X))[1])))
    for tau in (1, sqrt(2)):
        print("   tau %.3f" % tau, [fmt(softmax(r, tau)) for r in S5], "Y", [fmt(r) for r in mul([softmax(r, tau) for r in S5], V)])
    print("   M = WQ WK^T", mul(WQ, T(WK)))
    print("   man bites dog: row of bites", fmt(softmax([S5[1][2], S5[1][1], S5[1][0]])))
    for n in (4, 16, 64, 256):
        print("   one score of K = %d at 1 sd against 15 at 0: unscaled %.2f, scaled %.2f" %
              (n, exp(sqrt(n)) / (exp(sqrt(n)) + 15), exp(1) / (exp(1) + 15)))
    print("6: Q", heads_q, "one head", mul(heads_q, T(K))[1], fmt(softmax(mul(heads_q, T(K))[1])),
          fmt(mean(softmax(mul(heads_q, T(K))[1]), V)))
    for h in range(2):
        print("   head", h + 1, "scores", head[h][1], "weights", fmt(head_w[h][1]), "z", fmt(head_z[h][1]), "all", [fmt(r) for r in head_z[h]])
    print("   one head, tau sqrt 2", fmt(softmax([3, 0, 3], sqrt(2))), fmt(mean(softmax([3, 0, 3], sqrt(2)), V)))
    print("   y", [fmt(r) for r in y6], "x + y of bites", fmt([p + q for p, q in zip(X[1], y6[1])]))
    causal = [softmax(S5[0][:1]) + [0, 0], softmax(S5[1][:2]) + [0], softmax(S5[2])]
    print("7: causal", [fmt(r) for r in causal], "Y", [fmt(r) for r in mul(causal, V)])
    print("   0 instead of -inf", fmt(softmax([2, 0, 0])), " after the softmax", fmt(softmax([2, 0, 1])[:2]))
    for k in (2, 8, 24):
        print("10: %d sublayers, each writing 1 at a right angle: pre-norm size %.2f, share of x %.3f; post-norm size 1, share %.5f" % (
            k, sqrt(1 + k), 1 / sqrt(1 + k), 2 ** (-k / 2)))
    print("2: m %.3f u %.3f y %.4f; dy/du %.4f; da %.4f db %.4f dc %.4f" % (m, u, y, du, du * b, du * a, du))
    h = 1e-5
    print("   differences", [round((tanh((a + h * i) * (b + h * j) + c + h * k) - tanh((a - h * i) * (b - h * j) + c - h * k)) / (2 * h), 4)
                             for i, j, k in ((1, 0, 0), (0, 1, 0), (0, 0, 1))])
    print("11: prediction %.1f loss %.2f g %s norm %.1f clipped %s m %s v %s step %s new %s; prediction %.3f loss %.3f" % (
        p, (p - t) ** 2 / 2, g, norm, clipped, fmt(first_m, 4), fmt(first_v, 6), fmt(step), fmt(new, 4), p_new, (p_new - t) ** 2 / 2))
