"""Linear regression in context (Garg, Tsipras, Liang & Valiant 2022, "What Can Transformers Learn In-Context?", section
3): every sequence has weights w of its own. Vectors x alternate with y = w · x; w and x are drawn from N(0, 1).

    x1 y1 x2 y2 …    the target at each x is its y; x is (x, 0), and y is (0, …, 0, y)

Chance: the answer 0 has the mean squared error `dim`. Oracle, `reference` of val and test: the squared error of least
squares, of least norm while there are fewer examples than dimensions; its mean after i examples is max(0, dim - i)."""
from stream import write


def example(random, o):
    w = [random.gauss(0, 1) for _ in range(o.dim)]
    basis = []  # of the span of the x so far, orthonormal: least squares knows w there, and nothing outside
    inputs, target, reference = [], [], []
    for _ in range(o.points):
        x = [round(random.gauss(0, 1), 5) for _ in range(o.dim)]
        y = round(dot(w, x), 5)
        inputs += [[*x, 0], [0] * o.dim + [y]]
        target += [y, None]
        if o.split == "train":
            continue
        rest = x
        for _ in range(2):  # once more for what rounding leaves
            for b in basis:
                rest = [r - dot(rest, b) * c for r, c in zip(rest, b)]
        reference += [dot(w, rest) ** 2, None]
        if len(basis) < o.dim:
            basis.append([r / dot(rest, rest) ** 0.5 for r in rest])
    best = {"reference": reference} if reference else {}
    return {"input": inputs, "target": target, **best}


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


if __name__ == "__main__":
    write(example, dim=5, points=11)
