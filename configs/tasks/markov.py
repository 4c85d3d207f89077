"""Markov chains in context (Edelman, Edelman, Goel, Malach & Tsilivis 2024, "The Evolution of Statistical Induction
Heads", section 2): every sequence has a chain of its own. Its rows are drawn from a Dirichlet distribution with α = 1,
its first state uniformly.

    a c c b a c c c b …    the target at each state is the next state

Chance: the loss ln(states). Oracle, `reference` of val and test: the bigram posterior, (count of the transition + 1) /
(count of the state + states); with 3 states and length 100 its loss is 0.885. Between them: how often each state
occurred, (its count + 1) / (count of all + states), with the loss 1.004."""
from itertools import accumulate

from stream import write


def example(random, o):
    states = [chr(ord("a") + i) for i in range(o.states)]
    chain = [list(accumulate(random.expovariate(1) for _ in states)) for _ in states]  # sums of rows, times a factor
    text = [random.randrange(o.states)]
    while len(text) <= o.length:
        row = chain[text[-1]]
        drawn = random.random() * row[-1]
        text.append(next(i for i, upper in enumerate(row) if drawn <= upper))
    counts = [[1] * o.states for _ in states]
    reference = []
    for state, following in zip(text, text[1:] if o.split != "train" else []):
        total = sum(counts[state])
        reference.append([count / total for count in counts[state]])
        counts[state][following] += 1
    names = [states[i] for i in text]
    best = {"reference": reference} if reference else {}
    return {"input": names[:-1], "target": names[1:], **best}


if __name__ == "__main__":
    write(example, states=3, length=100)
