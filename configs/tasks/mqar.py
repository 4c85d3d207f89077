"""Multi-query associative recall (Arora, Eyuboglu et al. 2023, "Zoology", section 4.1, as its code draws it): pairs of
a key and its value, then each key once more, at a gap that follows a power law. The model says the value at each query.

    k3 v1 k7 v4 v2 k3 k0 v5 k7 …    targets v1 at the second k3, v4 at the second k7

Chance: 1 / (tokens / 2), any value; 1 / pairs for a value of the context. Oracle: exact_match 1."""
from stream import write


def example(random, o):
    keys = [f"k{i}" for i in range(o.tokens // 2)]
    values = [f"v{i}" for i in range(o.tokens // 2)]
    pairs = dict(zip(random.sample(keys, o.pairs), random.sample(values, o.pairs)))
    text = [token for pair in pairs.items() for token in pair]
    space = (o.length - len(text)) // 2
    # The gap i of a query has the weight i^(power - 1); of all gaps, as many as pairs, without replacement.
    gaps = sorted(range(space), key=lambda i: random.random() ** ((i + 1) ** (1 - o.power)))[-o.pairs:]
    random.shuffle(gaps)
    queries = dict(zip(gaps, pairs))
    target = [None] * len(text)
    for i in range(space):
        text += [queries.get(i) or random.choice(keys + values), random.choice(keys + values)]
        target += [pairs.get(queries.get(i)), None]
    return {"input": text, "target": target}


if __name__ == "__main__":
    write(example, pairs=4, length=32, tokens=64, power=0.01)
