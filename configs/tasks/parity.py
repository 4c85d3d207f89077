"""Sparse parity (Barak, Edelman, Goel, Kakade, Malach & Zhang 2022, "Hidden Progress in Deep Learning", section 2): the
parity of `k` of `bits` random bits. Which bits count is drawn from the seed, and the same in all examples.

    0 1 1 0 1 0 0 1 ?    target at the ?: whether an odd number of the bits that count is 1

Chance: 1/2. Oracle: exact_match 1."""
from random import Random

from stream import write


def example(random, o):
    bits = [random.randint(0, 1) for _ in range(o.bits)]
    odd = sum(bits[i] for i in Random(o.seed).sample(range(o.bits), o.k)) % 2
    return {"input": [*map(str, bits), "?"], "target": [None] * o.bits + [str(odd)]}


if __name__ == "__main__":
    write(example, bits=16, k=3)
