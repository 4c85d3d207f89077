"""Regression from labelled points: what is y at x? A smooth random function of its own in each example, a sum of 6
sinusoids, is known at `points` random x in [-1, 1], where y has noise of standard deviation 0.1.

    (x, 0, 1) (x1, y1, 0) (x2, y2, 0) …    the target of the whole is the function at x, without noise

`reference` of val and test: the squared error of Nadaraya & Watson (1964), Σ K(x - xi) yi / Σ K(x - xi), with the
Gaussian K(d) = exp(-d² / 2h²) of the best bandwidth, h = 0.05: 0.043 on average. This is attention with x as query, xi
as keys and yi as values (scores -(x - xi)² / 2h², softmax). Chance: the answer 0 has the mean squared error 1, the mean
of all yi 0.94."""
from math import exp, pi, sin

from stream import write

BANDWIDTH = 0.05


def nadaraya_watson(x, points, bandwidth=BANDWIDTH):
    nearest = min((x - xi) ** 2 for xi, _ in points)  # else all weights may round to 0
    weights = [exp((nearest - (x - xi) ** 2) / (2 * bandwidth ** 2)) for xi, _ in points]
    return sum(w * y for w, (_, y) in zip(weights, points)) / sum(weights)


def example(random, o):
    waves = [(random.gauss(0, 1), random.uniform(1, 8), random.uniform(0, 2 * pi)) for _ in range(6)]

    def f(x):
        return sum(a * sin(w * x + phase) for a, w, phase in waves) / 3 ** 0.5

    xs = [random.uniform(-1, 1) for _ in range(o.points)]
    points = [(round(x, 4), round(f(x) + random.gauss(0, 0.1), 4)) for x in xs]
    x = round(random.uniform(-1, 1), 4)
    best = {} if o.split == "train" else {"reference": (f(x) - nadaraya_watson(x, points)) ** 2}
    return {"input": [[x, 0, 1]] + [[xi, y, 0] for xi, y in points], "target": f(x), **best}


if __name__ == "__main__":
    write(example, points=32)
