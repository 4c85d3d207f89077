"""Segmentation of pictures: which figure does each pixel belong to? A picture of `size` × `size` pixels has two figures of
3 × 3 pixels, each turned at random, that do not touch. Pixels are 0, or 1 on a figure, plus noise.

    cross  . # .    saltire  # . #    ring  # # #    angle  # . .    tee  # # #
           # # #             . # .          # . #           # . .         . # .
           . # .             # . #          # # #           # # #         . # .

A picture that is turned or mirrored has the same labels, turned or mirrored with it. Chance, all pixels "background":
token_accuracy 0.835, exact_match 0. Oracle: exact_match near 1; a single pixel is on the wrong side of 1/2 with
probability 0.6 % at noise 0.2, and the shape of the figure says which."""
from stream import write

FIGURES = {"cross": " # ### # ", "saltire": "# # # # #", "ring": "#### ####", "angle": "#  #  ###", "tee": "### #  # "}


def turned(cells):
    return "".join(cells[3 * (2 - column) + row] for row in range(3) for column in range(3))


def example(random, o):
    first = second = (0, 0)
    while max(abs(first[0] - second[0]), abs(first[1] - second[1])) < 4:
        first, second = [(random.randrange(o.size - 2), random.randrange(o.size - 2)) for _ in range(2)]
    labels = ["background"] * o.size ** 2
    for top, left in (first, second):
        name = random.choice(sorted(FIGURES))
        figure = FIGURES[name]
        for _ in range(random.randrange(4)):
            figure = turned(figure)
        for i, cell in enumerate(figure):
            if cell == "#":
                labels[o.size * (top + i // 3) + left + i % 3] = name
    pixels = [round((label != "background") + random.gauss(0, o.noise), 3) for label in labels]
    return {"input": pixels, "grid": [o.size, o.size], "target": labels}


if __name__ == "__main__":
    write(example, size=8, noise=0.2)
