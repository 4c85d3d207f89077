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
import caption  # noqa: E402
import dyck  # noqa: E402
import fill  # noqa: E402
import frames  # noqa: E402
import kernel  # noqa: E402
import markov  # noqa: E402
import modular  # noqa: E402
import molecules  # noqa: E402
import mqar  # noqa: E402
import parity  # noqa: E402
import regression  # noqa: E402
import repeat  # noqa: E402
import scan  # noqa: E402
import segment  # noqa: E402
import zoom  # noqa: E402

SCRIPTS = ["caption", "dyck", "fill", "frames", "kernel", "markov", "mirror", "modular", "molecules", "mqar", "parity",
           "regression", "repeat", "scan", "segment", "twins", "zoom"]
WHOLE = ["caption", "fill", "kernel", "molecules", "scan", "twins", "zoom"]  # not a target for each position of the input


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
                self.assertEqual("reference" in example, script in ("kernel", "markov", "regression", "zoom"))
                if script in WHOLE:
                    continue
                self.assertEqual(len(example["input"]), len(example["target"]), script)
                self.assertTrue(targets(example))
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

    def test_segment(self):
        sides = background = count = 0
        turns = {}
        for name, cells in segment.FIGURES.items():
            for _ in range(4):
                cells = segment.turned(cells)
                turns.setdefault(cells, set()).add(name)
        self.assertTrue(all(len(names) == 1 for names in turns.values()))  # a turned figure is no other figure
        for example in drawn(segment, 1000, size=8, noise=0.2):
            pixels, labels = example["input"], example["target"]
            self.assertEqual((len(pixels), example["grid"]), (64, [8, 8]))
            sides += sum((pixel > 0.5) != (label != "background") for pixel, label in zip(pixels, labels))
            background += labels.count("background")
            count += 64
            shown = [labels[8 * i:8 * i + 8] for i in range(8)]
            found = []  # every figure is one of the five, in one of four turns
            for i in range(6):
                for j in range(6):
                    box = "".join("# "[label == "background"] for row in shown[i:i + 3] for label in row[j:j + 3])
                    if box in turns and shown[i + 1][j + 1] in turns[box] | {"background"}:
                        names = {label for row in shown[i:i + 3] for label in row[j:j + 3]} - {"background"}
                        found += [name for name in names if names == turns[box]]
            self.assertGreaterEqual(len(found), 2)
        self.assertAlmostEqual(background / count, 0.825, delta=0.01)
        self.assertAlmostEqual(sides / count, 0.006, delta=0.002)

    def test_kernel(self):
        examples = drawn(kernel, 1500, points=32)

        def error(h):
            return mean((e["target"] - kernel.nadaraya_watson(e["input"][0][0], [p[:2] for p in e["input"][1:]], h)) ** 2
                        for e in examples)
        self.assertAlmostEqual(mean(e["reference"] for e in examples), error(kernel.BANDWIDTH), places=9)
        self.assertAlmostEqual(error(kernel.BANDWIDTH), 0.043, delta=0.01)
        self.assertLess(error(kernel.BANDWIDTH), min(error(0.03), error(0.08)))
        self.assertAlmostEqual(mean(e["target"] ** 2 for e in examples), 1, delta=0.1)
        self.assertEqual([p[2] for p in examples[0]["input"]], [1] + [0] * 32)

    def test_molecules(self):
        counts = {}
        for example in drawn(molecules, atoms=8, edges="distances", limit=2):
            kinds = ["CNO"[node.index(1)] for node in example["nodes"]]
            self.assertEqual(sorted(kinds), ["C"] * 6 + ["N", "O"])
            distances = {(i, j): d for i, j, d in example["edges"]}
            self.assertEqual(len(distances), 56)
            for (i, j), d in distances.items():
                self.assertEqual(d, distances[j, i])
                self.assertGreaterEqual(d, 0.8)
            bonds = [pair for pair, d in distances.items() if abs(d - 1) < 1e-3]
            self.assertGreaterEqual(len(bonds), 14)
            ends = kinds.index("N"), kinds.index("O")
            if abs(distances[ends] - 2) > 1e-4:
                self.assertEqual(example["target"], "bound" if distances[ends] < 2 else "free")
            self.assertGreaterEqual(int(example["group"][0]), 3)
            key = example["group"], example["target"]
            counts[key] = counts.get(key, 0) + 1
        free = sum(n for (_, target), n in counts.items() if target == "free") / 2000
        by_bonds = sum(max(counts.get((f"{b} bonds", t), 0) for t in ("free", "bound")) for b in range(3, 8)) / 2000
        self.assertAlmostEqual(free, 0.56, delta=0.03)
        self.assertAlmostEqual(by_bonds, 0.60, delta=0.03)
        for tree in drawn(molecules, 100, atoms=8, edges="bonds", limit=2):
            self.assertEqual([edge[2] for edge in tree["edges"]], [1] * 14)
            neighbours = {i: {b for a, b, _ in tree["edges"] if a == i} for i in range(8)}
            at = [["CNO"[node.index(1)] for node in tree["nodes"]].index(kind) for kind in "NO"]
            reached, steps = {at[0]}, 0
            while at[1] not in reached:
                reached, steps = reached.union(*(neighbours[i] for i in reached)), steps + 1
            self.assertEqual(tree["group"], f"{steps} bonds")
        bound = blind = 0
        for example in drawn(molecules, atoms=8, edges="distances", limit=0):
            (limit,) = example["global"]
            self.assertTrue(1 <= limit <= 3.5)
            ends = ["CNO"[node.index(1)] for node in example["nodes"]]
            distance = {(i, j): d for i, j, d in example["edges"]}[ends.index("N"), ends.index("O")]
            self.assertEqual(example["target"], "bound" if distance < limit else "free")
            bound += distance < limit
            blind += (distance < limit) == (distance < 2.25)
        self.assertAlmostEqual(bound / 2000, 0.56, delta=0.03)
        self.assertAlmostEqual(blind / 2000, 0.69, delta=0.03)

    def test_caption(self):
        sentences = {example["target"]: example for example in drawn(caption, 3000, size=9, noise=0)}
        self.assertTrue(260 < len(sentences) <= 270)
        for sentence, example in sentences.items():
            _, size, colour, figure, _, down, right = sentence.split()
            channel = caption.COLOURS.index(colour)
            cells = [divmod(i, 9) for i, pixel in enumerate(example["source"]) if pixel[channel]]
            self.assertEqual(sum(map(sum, example["source"])), len(cells))
            for axis, word, words in ((0, down, ["top", "middle", "bottom"]), (1, right, ["left", "centre", "right"])):
                low, high = min(c[axis] for c in cells), max(c[axis] for c in cells)
                self.assertEqual(high - low + 1, 3 if size == "small" else 5)
                self.assertEqual(words[int((low + high + 1) / 2 // 3)], word)
        large = sentences["a large red T , middle centre"]["source"]
        self.assertEqual(sum(pixel[0] for pixel in large), 9)

    def test_frames(self):
        silent = count = 0
        for example in drawn(frames, 1000, noise=0):
            target, text = example["target"], example["source"]
            spoken = [t for i, t in enumerate(target) if t != "-" and (i == 0 or target[i - 1] == "-")]
            self.assertEqual(spoken, text)
            for frame, letter in zip(example["input"], target):
                self.assertEqual(frame, [int(letter != "-" and frames.LETTERS.index(letter) % 4 == k) for k in range(4)])
            silent += target.count("-")
            count += len(target)
        self.assertAlmostEqual(silent / count, 0.33, delta=0.01)

    def test_fill(self):
        for example in drawn(fill, 500, size=6, noise=0):
            *words, colour, figure = example["target"].split()
            self.assertEqual(example["source"].split(), [*words, "?", "?"])
            channel = caption.COLOURS.index(colour)
            cells = [divmod(i, 6) for i, pixel in enumerate(example["input"]) if pixel[channel]]
            self.assertEqual(sum(map(sum, example["input"])), len(cells))
            top, left = min(i for i, _ in cells), min(j for _, j in cells)
            self.assertEqual({(i - top, j - left) for i, j in cells},
                             {(i, j) for i in range(3) for j in range(3) if caption.lit(figure, i, j, 3)})
        self.assertEqual(len(fill.NAMES) * len(fill.VERBS) * 15, 960)

    def test_zoom(self):
        examples = drawn(zoom, 500, size=6, out=9)
        nearest = []
        for example in examples:
            samples, target = example["input"], example["target"]
            self.assertEqual((len(samples), len(target), example["grid"]), (36, 81, [6, 6]))
            for i, j in ((0, 0), (5, 0), (0, 5), (5, 5)):  # corners lie on corners
                self.assertEqual(samples[6 * i + j], target[9 * (8 * i // 5) + 8 * j // 5])
            nearest += [(target[9 * i + j] - samples[6 * round(i * 5 / 8) + round(j * 5 / 8)]) ** 2
                        for i in range(9) for j in range(9)]
        self.assertAlmostEqual(mean(y * y for e in examples for y in e["target"]), 1, delta=0.15)
        self.assertAlmostEqual(mean(r for e in examples for r in e["reference"]), 0.019, delta=0.004)
        self.assertAlmostEqual(mean(nearest), 0.095, delta=0.015)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


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
