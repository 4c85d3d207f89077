"""Complete a sentence with what a picture shows: two sources, a text and an image, and neither is enough. The picture has
one figure of 3 × 3 pixels (caption.py) on `size` × `size`, with noise.

    anna drew a ? ?    and a red T    →    anna drew a red T

Chance: exact_match 1/960, and 1/15 if a model reads only the text. Oracle: 1."""
from caption import COLOURS, lit
from stream import write

NAMES = "anna ben clara david emma frank greta hugo ida jonas karla leo mia nora otto paula".split()
VERBS = "drew saw painted found".split()


def example(random, o):
    figure, colour, words = random.choice("+XOLT"), random.randrange(3), [random.choice(NAMES), random.choice(VERBS), "a"]
    top, left = random.randrange(o.size - 2), random.randrange(o.size - 2)
    pixels = [[random.gauss(0, o.noise) for _ in COLOURS] for _ in range(o.size ** 2)]
    for cell in range(9):
        if lit(figure, cell // 3, cell % 3, 3):
            pixels[o.size * (top + cell // 3) + left + cell % 3][colour] += 1
    return {"source": " ".join([*words, "?", "?"]), "input": [[round(x, 3) for x in pixel] for pixel in pixels],
            "grid": [o.size, o.size], "target": " ".join([*words, COLOURS[colour], figure])}


if __name__ == "__main__":
    write(example, size=6, noise=0.1)
