"""Captions of pictures: `size` × `size` pixels, black but for one figure of random kind, size, colour and place, with noise
on red, green and blue. The sentence says what is where:

    a large red T , top left

The five figures are those of a 3 × 3 or 5 × 5 square: +, X, O, L, T. "top" and "left" mean that the middle of the figure
is in the first third of the rows and of the columns, "middle" and "centre" in the second, "bottom" and "right" in the
last. Chance: exact_match 1/270. Oracle: 1."""
from stream import write

COLOURS = ["red", "green", "blue"]


def lit(figure, row, column, side):
    last, half = side - 1, side // 2
    return {"+": row == half or column == half, "X": row in (column, last - column),
            "O": row in (0, last) or column in (0, last), "L": column == 0 or row == last,
            "T": row == 0 or column == half}[figure]


def example(random, o):
    figure, colour, side = random.choice("+XOLT"), random.randrange(3), random.choice((3, 5))
    top, left = random.randrange(o.size - side + 1), random.randrange(o.size - side + 1)
    source = [[random.gauss(0, o.noise) for _ in COLOURS] for _ in range(o.size ** 2)]
    for row in range(side):
        for column in range(side):
            if lit(figure, row, column, side):
                source[o.size * (top + row) + left + column][colour] += 1
    down, right = [3 * (2 * corner + side) // (2 * o.size) for corner in (top, left)]
    words = ["a", "small" if side == 3 else "large", COLOURS[colour], figure, ",", ["top", "middle", "bottom"][down],
             ["left", "centre", "right"][right]]
    return {"source": [[round(x, 3) for x in pixel] for pixel in source], "grid": [o.size, o.size],
            "target": " ".join(words)}


if __name__ == "__main__":
    write(example, size=9, noise=0.1)
