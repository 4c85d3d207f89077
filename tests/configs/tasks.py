#!/usr/bin/env python3
"""tasks.py: what the comments of configs/tasks/*.py say, chance levels, oracles and examples; that a script writes the
same example N from any start, and ends quietly when its reader does."""
import json
import math
import os
import random
import subprocess
import sys
import unittest
from types import SimpleNamespace as Options

TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../configs/tasks")
sys.dont_write_bytecode = True
sys.path.insert(0, TASKS)
import dyck  # noqa: E402
import markov  # noqa: E402
import modular  # noqa: E402
import mqar  # noqa: E402
import parity  # noqa: E402
import regression  # noqa: E402
import repeat  # noqa: E402
import scan  # noqa: E402

SCRIPTS = ["dyck", "markov", "mirror", "modular", "mqar", "parity", "regression", "repeat", "scan", "twins"]


def written(script, count, *words, split="train", seed=1, start=0):
    command = [sys.executable, "-B", os.path.join(TASKS, script + ".py"), "--split", split, "--seed", str(seed),
               "--start", str(start), *words]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [program.stdout.readline() for _ in range(count)]
    program.stdout.close()
    error = program.stderr.read()
    program.stderr.close()
    assert program.wait() == 0 and error == "", (script, program.returncode, error)
    return lines


def drawn(task, count=2000, **options):
    return [task.example(random.Random(n), Options(split="val", seed=1, start=n, **options)) for n in range(count)]


def targets(example):
    return [(i, t) for i, t in enumerate(example["target"]) if t is not None]


class Protocol(unittest.TestCase):
    def test_there_is_no_other_script(self):
        names = sorted(name[:-3] for name in os.listdir(TASKS) if name.endswith(".py"))
        self.assertEqual(names, sorted(SCRIPTS + ["stream"]))

    def test_example_n_depends_on_seed_split_and_n_alone(self):
        for script in SCRIPTS:
            with self.subTest(script):
                lines = written(script, 40)
                self.assertEqual(written(script, 10, start=30), lines[30:])
                self.assertNotEqual(written(script, 10, seed=2), lines[:10])
                self.assertNotEqual(written(script, 10, split="val"), lines[:10])

    def test_a_target_for_each_position(self):
        for script in SCRIPTS:
            for line in written(script, 50, split="test"):
                example = json.loads(line)
                if "source" in example or isinstance(example["target"], str):
                    continue
                self.assertEqual(len(example["input"]), len(example["target"]), script)
                self.assertTrue(targets(example))
                self.assertEqual("reference" in example, script in ("markov", "regression"))
                if "reference" in example:
                    self.assertEqual(len(example["reference"]), len(example["input"]))

    def test_a_wrong_option_is_an_error(self):
        for words in (["--split", "dev", "--seed", "1", "--start", "0"], ["--split", "val", "--seed", "1"]):
            command = [sys.executable, "-B", os.path.join(TASKS, "mqar.py"), *words]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))


class Tasks(unittest.TestCase):
    def test_mqar(self):
        gaps = []
        for example in drawn(mqar, pairs=4, length=32, tokens=64, power=0.01):
            text = example["input"]
            pairs = dict(zip(text[:8:2], text[1:8:2]))
            self.assertEqual((len(text), len(pairs), len(set(pairs.values()))), (32, 4, 4))
            found = targets(example)
            self.assertEqual({text[i]: value for i, value in found}, pairs)
            gaps += [(i - 8) // 2 for i, _ in found]
        # Gap i has the weight (i + 1)^(power - 1), so small gaps are the most frequent ones.
        share = [gaps.count(i) / 2000 for i in range(12)]
        self.assertAlmostEqual(share[0], 0.83, delta=0.03)
        self.assertTrue(all(a > b for a, b in zip(share[:6], share[1:6])))

    def test_markov(self):
        best = unigram = count = 0
        for example in drawn(markov, states=3, length=100):
            seen = [1] * 3
            for state, following, row in zip(example["input"], example["target"], example["reference"]):
                self.assertAlmostEqual(sum(row), 1)
                seen["abc".index(state)] += 1
                best -= math.log(row["abc".index(following)])
                unigram -= math.log(seen["abc".index(following)] / sum(seen))
                count += 1
        self.assertAlmostEqual(best / count, 0.885, delta=0.01)
        self.assertAlmostEqual(unigram / count, 1.004, delta=0.01)

    def test_markov_the_posterior_is_that_of_its_chains(self):
        # Of all sequences that begin with a b a, the next state is b as often as the posterior says: (1 + 1) / (1 + 3).
        begun = [e for e in drawn(markov, 20000, states=3, length=3) if e["input"] == ["a", "b", "a"]]
        self.assertEqual(begun[0]["reference"][2], [0.25, 0.5, 0.25])
        self.assertAlmostEqual(sum(e["target"][2] == "b" for e in begun) / len(begun), 0.5, delta=0.05)

    def test_repeat(self):
        periods = set()
        for example in drawn(repeat, tokens=64, shortest=4, longest=16, length=40):
            text = example["input"]
            period = text.index(text[0], 1)
            periods.add(period)
            self.assertEqual((len(text), len(set(text))), (40, period))
            for i, target in enumerate(example["target"]):
                self.assertEqual(target, None if i < period else text[i - period + 1])
        self.assertEqual(periods, set(range(4, 17)))

    def test_parity(self):
        examples = drawn(parity, bits=16, k=3)
        ones = [[i for i in range(16) if e["input"][i] == "1"] for e in examples]
        odd = [e["target"][16] == "1" for e in examples]
        self.assertAlmostEqual(sum(odd) / len(odd), 0.5, delta=0.04)
        fits = [s for s in subsets(16, 3) if all(len(s & set(o)) % 2 == t for o, t in zip(ones, odd))]
        self.assertEqual(len(fits), 1)
        for i in range(16):  # no bit alone says anything
            self.assertAlmostEqual(sum((i in o) == t for o, t in zip(ones, odd)) / len(odd), 0.5, delta=0.05)

    def test_dyck(self):
        closing = dict(zip("([{<", ")]}>"))
        right = count = 0
        for example in drawn(dyck, kinds=4, depth=6, length=40):
            stack, deepest = [], 0
            for i, bracket in enumerate(example["input"]):
                if bracket in closing:
                    stack.append(closing[bracket])
                else:
                    self.assertEqual(stack.pop(), bracket)
                    self.assertEqual(example["target"][i - 1], bracket)
                deepest = max(deepest, len(stack))
            self.assertEqual((stack, deepest <= 6, len(targets(example))), ([], True, 20))
            for i, bracket in targets(example):
                last = example["input"][i]
                right += closing[last] == bracket if last in closing else 0.25
                count += 1
        self.assertAlmostEqual(right / count, 0.68, delta=0.01)

    def test_modular(self):
        found = {}
        for split, size in (("train", 3764), ("val", 2822), ("test", 2823)):
            o = Options(split=split, seed=1, modulus=97, fraction=0.4)
            found[split] = set()
            for n in range(size):
                o.start = n
                example = modular.example(random.Random(n), o)
                a, b, _ = example["input"]
                self.assertEqual(int(example["target"][2]), (int(a) + int(b)) % 97)
                found[split].add((a, b))
            all_pairs = {(str(a), str(b)) for a, b in modular.pairs((split, 1, 97, 0.4))}
            self.assertEqual(len(all_pairs), size)
            if split == "train":  # it draws with replacement
                self.assertTrue(found[split] < all_pairs)
                found[split] = all_pairs
            self.assertEqual(found[split], all_pairs)
        self.assertEqual(len(found["train"] | found["val"] | found["test"]), 97 ** 2)

    def test_regression(self):
        errors, chance = [0] * 11, 0
        for example in drawn(regression, dim=5, points=11):
            self.assertEqual({len(x) for x in example["input"]}, {6})
            self.assertEqual(example["input"][1], [0] * 5 + [example["target"][0]])
            self.assertEqual(example["target"][1::2] + example["reference"][1::2], [None] * 22)
            for i in range(11):
                errors[i] += example["reference"][2 * i] / 2000
            chance += sum(y * y for y in example["target"][::2]) / 11 / 2000
        self.assertAlmostEqual(chance, 5, delta=0.3)
        for i in range(11):
            self.assertAlmostEqual(errors[i], max(0, 5 - i), delta=0.4 if i < 5 else 1e-9)

    def test_scan(self):
        self.assertEqual(meaning("jump opposite left after walk around left"),  # of the paper's figure 1
                         "LTURN WALK LTURN WALK LTURN WALK LTURN WALK LTURN LTURN JUMP")
        self.assertEqual(meaning("turn left twice and jump thrice"), "LTURN LTURN JUMP JUMP JUMP")
        sources = {}
        for split in ("train", "val", "test"):
            examples = [scan.example(random.Random(n), Options(split=split)) for n in range(3000)]
            for example in examples:
                self.assertEqual(example["target"], meaning(example["source"]))
                self.assertEqual(example["group"], f"{len(example['target'].split())} actions")
            sources[split] = {example["source"] for example in examples}
            self.assertGreater(len(sources[split]), 1000)
        self.assertEqual(len(set.union(*sources.values())), sum(map(len, sources.values())))  # no command in two splits
        phrases = {" ".join(scan.phrase(random.Random(n))[0]) for n in range(5000)}
        self.assertEqual(len(phrases) + 2 * len(phrases) ** 2, 20910)


def meaning(command):
    """The actions of a SCAN command, by the interpretation function of the paper's figure 7."""
    for joint, order in ((" and ", 1), (" after ", -1)):
        if joint in command:
            return " ".join([meaning(part) for part in command.split(joint)][::order])
    for word, times in ((" twice", 2), (" thrice", 3)):
        if command.endswith(word):
            return " ".join([meaning(command[:-len(word)])] * times)
    verb, *way = command.split()
    action = [] if verb == "turn" else [verb.upper()]
    if not way:
        return " ".join(action)
    turn = [{"left": "LTURN", "right": "RTURN"}[way[-1]]]
    return " ".join({"opposite": turn * 2 + action, "around": (turn + action) * 4}.get(way[0], turn + action))


def subsets(n, k):
    if k == 0:
        return [frozenset()]
    return [s | {i} for i in range(n) for s in subsets(i, k - 1)]


if __name__ == "__main__":
    unittest.main()
