"""Modular addition (Power et al. 2022, "Grokking", section 3; Nanda et al. 2023, section 3): a prompt of two numbers
and "=", and their sum modulo `modulus`. A fraction of all pairs, drawn from the seed, is for training; half of the
others is for validation, half for the test.

    17 90 =    target 10 at the = (modulus 97)

Chance: 1 / modulus. Oracle: exact_match 1."""
from functools import lru_cache
from random import Random

from stream import write


@lru_cache(maxsize=1)
def pairs(o):
    split, seed, modulus, fraction = o
    all_pairs = [(a, b) for a in range(modulus) for b in range(modulus)]
    Random(seed).shuffle(all_pairs)
    first = round(fraction * len(all_pairs))
    middle = (first + len(all_pairs)) // 2
    return {"train": all_pairs[:first], "val": all_pairs[first:middle], "test": all_pairs[middle:]}[split]


def example(random, o):
    of_split = pairs((o.split, o.seed, o.modulus, o.fraction))
    a, b = of_split[o.start % len(of_split)] if o.split != "train" else random.choice(of_split)
    return {"input": [str(a), str(b), "="], "target": [None, None, str((a + b) % o.modulus)]}


if __name__ == "__main__":
    write(example, modulus=97, fraction=0.4)
