"""Repeated random sequences (Olsson et al. 2022, "In-context Learning and Induction Heads", section "Arguments"; Elhage
et al. 2021): random tokens, and then the same tokens again. What follows a repeated token is what followed it before.

    7 2 9 4 7 2 9 4    targets 2 9 4 at the second 7 2 9

Each example has a period of its own. Chance: 1 / tokens. Oracle: exact_match 1."""
from stream import write


def example(random, o):
    period = random.randint(o.shortest, o.longest)
    text = [str(token) for token in random.sample(range(o.tokens), period)] * 2
    target = [None] * period + text[period + 1:] + [None]
    return {"input": text, "target": target}


if __name__ == "__main__":
    write(example, tokens=64, shortest=8, longest=24)
