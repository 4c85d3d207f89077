"""Dyck words of bounded depth (Hewitt et al. 2020, "RNNs Can Generate Bounded Hierarchical Languages with Optimal
Memory", section 3; Yao et al. 2021): brackets of several kinds, well nested. A bracket opens or closes with probability
1/2 where both are possible. Where a bracket closes, the model says which.

    ( [ ] { ( ) } )    targets . ] . . ) } ) .

Chance: 1 / kinds. A model that reads only the last bracket closes 68 % right. Oracle: exact_match 1."""
from stream import write


def example(random, o):
    kinds = list(zip("([{<", ")]}>"))[:o.kinds]
    text, open_brackets = [], []
    while len(text) < o.length:
        must_close = len(open_brackets) in (o.depth, o.length - len(text))
        if open_brackets and (must_close or random.random() < 0.5):
            text.append(open_brackets.pop()[1])
        else:
            open_brackets.append(random.choice(kinds))
            text.append(open_brackets[-1][0])
    closing = [pair[1] for pair in kinds]
    return {"input": text, "target": [t if t in closing else None for t in text[1:]] + [None]}


if __name__ == "__main__":
    write(example, kinds=4, depth=6, length=40)
