"""Markov chains in context (Edelman, Edelman, Goel, Malach & Tsilivis 2024, "The Evolution of Statistical Induction
Heads", section 2): every sequence has a chain of its own. Its rows are drawn from a Dirichlet distribution with α = 1,
its first state uniformly.

    a c c b a c c c b …    the target at each state is the next state

Chance: the loss ln(states). Oracle, `reference`: the bigram posterior, (count of the transition + 1) / (count of the
state + states); with 3 states and length 100 its loss is 0.885. Between them: how often each state occurred, (its count
+ 1) / (count of all + states), with the loss 1.004."""
from stream import write


def example(random, o):
    states = [chr(ord("a") + i) for i in range(o.states)]
    chain = {s: [random.expovariate(1) for _ in states] for s in states}  # its rows, times a factor
    text = [random.choice(states)]
    while len(text) <= o.length:
        text += random.choices(states, chain[text[-1]])
    counts = {s: [1] * o.states for s in states}
    reference = []
    for state, following in zip(text, text[1:]):
        reference.append([count / sum(counts[state]) for count in counts[state]])
        counts[state][states.index(following)] += 1
    return {"input": text[:-1], "target": text[1:], "reference": reference}


if __name__ == "__main__":
    write(example, states=3, length=100)
