"""Mirror: the label of each position is the token at the same distance from the other end.

    a c b b    the labels are b b c a

Chance: 1 / `symbols`. Oracle: 1."""
from stream import write


def example(random, o):
    tokens = [random.choice("abcdefghijklmnopqrstuvwxyz"[:o.symbols]) for _ in range(o.length)]
    return {"input": tokens, "target": tokens[::-1]}


if __name__ == "__main__":
    write(example, symbols=8, length=48)
