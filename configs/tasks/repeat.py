"""Repeated random sequences (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; Olsson et al.
2022, "In-context Learning and Induction Heads"): a segment of random tokens, all different, over and over. What follows
a repeated token is what followed it before.

    7 2 9 7 2 9 7 2    targets 2 9 7 2 9 from the second 7 on

Each example has a segment of its own, of `shortest` to `longest` tokens. Chance: 1 / tokens. Oracle: exact_match 1."""
from stream import write


def example(random, o):
    period = random.randint(o.shortest, o.longest)
    segment = [str(token) for token in random.sample(range(o.tokens), period)]
    text = [segment[i % period] for i in range(o.length + 1)]
    return {"input": text[:-1], "target": [None] * period + text[period + 1:]}


if __name__ == "__main__":
    write(example, tokens=64, shortest=4, longest=16, length=40)
