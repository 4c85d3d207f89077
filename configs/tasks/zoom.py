"""A small picture in, a larger one out: `size` × `size` samples of a smooth random function on a square, a sum of 4 waves,
and the function at `out` × `out` points. Corners lie on corners.

    input  6 × 6 numbers    target  9 × 9 numbers, row by row

`reference` of val and test: the squared error of bilinear interpolation at each point, 0.019 on average. Chance, 0: 1. The
nearest sample: 0.095."""
from math import cos, pi

from stream import write


def grid(f, n):
    return [round(f(i / (n - 1), j / (n - 1)), 4) for i in range(n) for j in range(n)]


def bilinear(samples, n, y, x):
    i, j = min(int(y * (n - 1)), n - 2), min(int(x * (n - 1)), n - 2)
    v, u = y * (n - 1) - i, x * (n - 1) - j
    a, b, c, d = (samples[n * (i + di) + j + dj] for di in (0, 1) for dj in (0, 1))
    return (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d)


def example(random, o):
    waves = [(random.gauss(0, 1), random.gauss(0, 4), random.gauss(0, 4), random.uniform(0, 2 * pi)) for _ in range(4)]

    def f(y, x):
        return sum(a * cos(p * y + q * x + phase) for a, p, q, phase in waves) / 2 ** 0.5

    samples, target = grid(f, o.size), grid(f, o.out)
    best = {} if o.split == "train" else {"reference": [
        (t - s) ** 2 for t, s in zip(target, grid(lambda y, x: bilinear(samples, o.size, y, x), o.out))]}
    return {"input": samples, "grid": [o.size, o.size], "target": target, **best}


if __name__ == "__main__":
    write(example, size=6, out=9)
