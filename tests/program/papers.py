#!/usr/bin/env python3
"""papers.py PROGRAM [NAME...]: trains the sweeps of configs/papers and checks the claims of docs/papers.md about each.
Prints the numbers that the page shows. NAME: only these sweeps (positions, grokking, ...). HEED_RUNS: a folder that
keeps the sweeps. A second call with it goes on after an interruption, and trains no finished run again."""
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


class Run:
    def __init__(self, folder):
        with open(os.path.join(folder, "result.json")) as file:
            self.result = json.load(file)
        with open(os.path.join(folder, "metrics.jsonl")) as file:
            self.lines = [json.loads(line) for line in file]

    def score(self, path):
        split, name = path.split(".")
        return self.result[split][name]

    def curve(self, path):
        """[(step, value)] of a score such as val.loss."""
        part, name = path.split(".")
        return [(line["step"], line[part][name]) for line in self.lines if name in line.get(part, {})]

    def first(self, path, holds):
        """The first step at which holds(value) of a curve, or infinity."""
        return next((step for step, value in self.curve(path) if holds(value)), float("inf"))

    def at(self, path, step):
        return dict(self.curve(path))[step]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def claim(text, holds):
    print(("holds:  " if holds else "FAILS:  ") + text)
    return holds


def positions(runs):
    longer = {kind: mean(run.score("test_longer.exact_match") for run in runs["kind=" + kind])
              for kind in ("none", "relative", "alibi", "rotary", "sinusoidal", "learned")}
    for kind, score in longer.items():
        print(f"  {kind}: test_longer.exact_match {score:.3f}")
    order = list(longer.values())
    return [claim("every encoding sorts the lengths of training",
                  all(mean(run.score("test.exact_match") for run in group) >= 0.95 for group in runs.values())),
            claim("none, relative and ALiBi carry over to longer lists", min(order[:3]) >= 0.85),
            claim("rotary and sinusoidal positions do so in part", 0.05 <= order[4] < order[3] <= 0.8),
            claim("learned positions do not", order[5] <= 0.01),
            claim("the order is that of the paper", order == sorted(order, reverse=True))]


def grokking(runs):
    decay, none = runs["weight_decay=1.0"], runs["weight_decay=0.0"]
    by_heart = [run.first("train.exact_match", lambda x: x >= 0.99) for run in decay]
    adds = [run.first("val.exact_match", lambda x: x >= 0.99) for run in decay]
    print("  steps until train.exact_match 0.99:", by_heart, "and val.exact_match 0.99:", adds)
    last = [run.curve("val.exact_match")[-1][1] for run in none]
    print("  val.exact_match without weight decay at the end:", [round(x, 3) for x in last])
    know, never = max(by_heart), float("inf")
    return [claim("with weight decay all seeds know the training pairs, when at most a tenth of the others is right",
                  know < never and all(run.at("val.exact_match", step) <= 0.1 for run, step in zip(decay, by_heart))),
            claim("at least half of these seeds add, after at least three times as many steps",
                  sum(3 * b <= a < never for a, b in zip(adds, by_heart)) >= 3),
            claim("without weight decay all seeds know the training pairs, and none adds",
                  max(run.first("train.exact_match", lambda x: x >= 0.99) for run in none) < never and
                  max(last) <= 0.6)]


def induction(runs):
    one, two = runs["layers=1"], runs["layers=2"]
    drop = [run.first("val.loss", lambda x: x <= 2) for run in two]
    heads = [run.first("heads.prefix_matching", lambda x: x >= 0.3) for run in two]
    print("  two layers: steps until val.loss 2:", drop, "and until prefix matching 0.3:", heads)
    print("  one layer: val.loss", [round(run.curve("val.loss")[-1][1], 2) for run in one], "prefix matching",
          [round(max(x for _, x in run.curve("heads.prefix_matching")), 2) for run in one])
    return [claim("with two layers the loss drops and an induction head forms within 150 steps of one another",
                  all(abs(a - b) <= 150 for a, b in zip(drop, heads))),
            claim("with one layer no head forms, and the loss stays above 2",
                  all(run.first("heads.prefix_matching", lambda x: x >= 0.3) == float("inf") and
                      run.first("val.loss", lambda x: x <= 2) == float("inf") for run in one))]


def markov(runs):
    one, two = runs["layers=1"], runs["layers=2"]
    ends = {name: [run.score("test.loss") for run in group] for name, group in (("one", one), ("two", two))}
    for name, losses in ends.items():
        print(f"  {name}: test.loss", [round(x, 3) for x in losses])
    unigram = [sum(1 for _, x in run.curve("val.loss") if 0.99 <= x <= 1.04) for run in two]
    print("  two layers: evaluations with a loss between 0.99 and 1.04:", unigram)
    return [claim("two layers come within 0.04 of the bigram posterior (0.885)", max(ends["two"]) <= 0.925),
            claim("one layer stays at the frequencies of the states (1.004)",
                  0.99 <= min(ends["one"]) and max(ends["one"]) <= 1.04),
            claim("on their way two layers rest at the frequencies", min(unigram) >= 2)]


def mqar(runs):
    right = {name: [run.score("test.token_accuracy") for run in group] for name, group in runs.items()}
    for name, scores in right.items():
        print(f"  {name}: test.token_accuracy", [round(x, 3) for x in scores])
    gru = [x for name, scores in right.items() if "gru" in name for x in scores]
    return [claim("attention recalls at every width",
                  min(min(x) for name, x in right.items() if "attention" in name) >= 0.99),
            claim("a GRU guesses among the four values of the example, at every width", 0.2 <= min(gru) and max(gru) <= 0.3)]


def regression(runs):
    (group,) = runs.values()
    ends = [run.score("test.loss") for run in group]
    print("  test.loss", [round(x, 3) for x in ends])
    return [claim("the squared error is nearer to least squares (1.36) than to that of the answer 0 (5)",
                  max(ends) <= 2.2),
            claim("and above that of least squares", min(ends) > 1.36)]


PAPERS = [positions, grokking, induction, markov, mqar, regression]


def main():
    program, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or [paper.__name__ for paper in PAPERS]
    held = []
    with tempfile.TemporaryDirectory() as work:
        for paper in PAPERS:
            name = paper.__name__
            if name not in names:
                continue
            folder = os.path.join(os.environ.get("HEED_RUNS", work), name)
            print(name, flush=True)
            sweep = os.path.join(ROOT, "configs/papers", name + ".toml")
            done = subprocess.run([program, "sweep", sweep, "--run", folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(done.stdout)
            runs = {}
            for result in sorted(glob.glob(os.path.join(folder, "**/result.json"), recursive=True)):
                run = os.path.dirname(result)
                runs.setdefault(os.path.basename(os.path.dirname(run)), []).append(Run(run))
            for group, of_group in runs.items():
                assert len(of_group) == 6, (name, group, len(of_group))
            held += paper(runs)
    print(f"{sum(held)} of {len(held)} claims hold")
    return 0 if held and all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
