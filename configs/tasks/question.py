"""Questions about pictures. A picture has two figures of two kinds and two colours (caption.py). The question names one of
them by its kind or colour, and asks for its colour, kind or place:

    what is red    T            what colour is the T    red            where is the red one    top left

Chance: exact_match 0.20, a kind, colour or place at random. Oracle: 1."""
from caption import COLOURS, lit
from stream import write


def example(random, o):
    corners = [(0, 0)] * 2
    while max(abs(a - b) for a, b in zip(*corners)) < 3:
        corners = [(random.randrange(o.size - 2), random.randrange(o.size - 2)) for _ in range(2)]
    figures, colours = random.sample("+XOLT", 2), random.sample(range(3), 2)
    pixels = [[random.gauss(0, o.noise) for _ in COLOURS] for _ in range(o.size ** 2)]
    for (top, left), figure, colour in zip(corners, figures, colours):
        for cell in range(9):
            if lit(figure, cell // 3, cell % 3, 3):
                pixels[o.size * (top + cell // 3) + left + cell % 3][colour] += 1
    (top, left), figure, colour = corners[0], figures[0], COLOURS[colours[0]]
    down, right = [3 * (2 * corner + 3) // (2 * o.size) for corner in (top, left)]
    place = ["top", "middle", "bottom"][down] + " " + ["left", "centre", "right"][right]
    source, target = random.choice([(f"what is {colour}", figure), (f"what colour is the {figure}", colour),
                                    (f"where is the {colour} one", place), (f"where is the {figure}", place)])
    return {"source": source, "input": [[round(x, 3) for x in pixel] for pixel in pixels], "grid": [o.size, o.size],
            "target": target}


if __name__ == "__main__":
    write(example, size=6, noise=0.1)
