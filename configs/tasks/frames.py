"""Which letter is being spoken in each frame of a recording, whose text is known? The frames have the strengths of four
tones, and noise. A letter sounds for 2 to 5 frames by its tone, which four of the 16 letters share, and 1 or 2 frames of
silence follow. Neither side is enough: the sound has the time of each letter, the text its name.

    source  c a n           input   ~ c c c ~ a a ~ ~ n n n n ~        target  the letter, or "-", at each frame

Chance, all "-": token_accuracy 0.33. Best without the text: 0.50. Oracle: near 1; equal tones in one text are told apart
by their order."""
from stream import write

LETTERS = "abcdefghijklmnop"


def example(random, o):
    text = [random.choice(LETTERS) for _ in range(random.randint(2, 6))]
    target = ["-"]
    for letter in text:
        target += [letter] * random.randint(2, 5) + ["-"] * random.randint(1, 2)
    frames = [[round((letter != "-" and LETTERS.index(letter) % 4 == tone) + random.gauss(0, o.noise), 3)
               for tone in range(4)] for letter in target]
    return {"source": text, "input": frames, "target": target}


if __name__ == "__main__":
    write(example, noise=0.2)
