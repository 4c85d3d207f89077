"""Twin features: which column of the example is a noisy copy of the first? All values are drawn from N(0, 1), and the copy
is (first + noise · N(0, 1)) / √(1 + noise²). No single vector shows it, only a product of two columns over all vectors.

    [x1, x2, x3, …], …    the label is the number of the column, 2 to `dim`

Chance: 1 / (dim - 1). Oracle: the column with the largest product with the first, 0.993 of 2,000 examples."""
from stream import write


def example(random, o):
    twin = random.randrange(1, o.dim)
    vectors = []
    for _ in range(o.points):
        x = [random.gauss(0, 1) for _ in range(o.dim)]
        x[twin] = (x[0] + o.noise * random.gauss(0, 1)) / (1 + o.noise ** 2) ** 0.5
        vectors.append([round(v, 4) for v in x])
    return {"input": vectors, "target": str(twin + 1)}


if __name__ == "__main__":
    write(example, dim=9, points=24, noise=0.7)
