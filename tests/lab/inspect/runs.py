#!/usr/bin/python3
"""Compares `heed inspect --json` with a second computation, on trained runs of three kinds: lines, pairs and a task.

    runs.py HEED

The second computation reads the weights of a run and computes in double precision with NumPy, one example after the
other, without padding. It shares no code with heed. The definitions are those of TransformerLens 2 (its names in
brackets), of the papers that docs/inspect.md names, and for intervals of SciPy:
    heads      head_detector.py: detect_head with error_measure "mul" and the three detection patterns;
               HookedTransformer.OV_copying_score and all_composition_scores
    lens       ActivationCache.accumulated_resid with apply_ln, unembedded
    attribute  ActivationCache.stack_head_results, apply_ln_to_stack, logit_attrs
    ablate     hooks that replace z, attn_out and mlp_out: by 0, by the mean over the examples at the position, or by
               what the whole model computes for the next example
Only what examples a run reads is taken from heed (`heed inspect RUN trace`). The numbers of repeated random tokens
(prefix matching, induction loss) have other random tokens here, so they are compared within five standard errors.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy import special, stats
except ImportError as error:
    sys.exit(print(f"skipped: {error}: apt-get install python3-scipy"))

HEED = os.path.abspath(sys.argv[1])
EXAMPLES = 12
TOLERANCE = 5e-5  # heed computes in single precision
HEADER = """
[train]
steps = 150
samples = 0
[optim]
lr = 5e-3
"""
RUNS = {
    "lines": """
[model]
kind = "language_model"
layers = 2
dim = 24
heads = 3
feed_forward = 32
[model.positional]
kind = "learned"
max_length = 20
[data]
kind = "lines"
path = "lines.txt"
level = "character"
""",
    "task": """
[model]
kind = "language_model"
layers = 2
dim = 24
heads = 2
feed_forward = 32
activation = "swiglu"
bias = false
norm = "rms"
tie_weights = false
[model.positional]
kind = "rotary"
[data]
kind = "copy"
symbols = 8
lengths = [3, 6]
val_size = 100
""",
    "pairs": """
[model]
kind = "seq2seq"
layers = 2
dim = 24
heads = 3
feed_forward = 32
activation = "gelu"
[data]
kind = "pairs"
path = "pairs.tsv"
level = "word"
"""}
LAYERS, HIDDEN = 2, 24

checks = 0


def check_near(value, expected, what, tolerance=TOLERANCE):
    """None is a number that a model cannot have."""
    global checks
    checks += 1
    same = value is None if expected is None else (
        value is not None and abs(value - expected) <= tolerance * (1 + abs(expected)))
    if not same:
        sys.exit(f"{what}: {value}, expected {expected}")


def heed(*arguments):
    done = subprocess.run([HEED, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heed {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def inspect(run, view, *more):
    return json.loads(heed("inspect", run, view, "--examples", str(EXAMPLES), "--json", *more))


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        start = file.tell()
        arrays = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            file.seek(start + first)
            arrays[name] = np.frombuffer(file.read(last - first), np.float32).reshape(entry["shape"]).astype(float)
    return arrays


class Model:
    """The model of a run. run(example, replace) returns logits (T, V) and fills `seen` with what each part computes;
    replace(name, value) returns what continues instead."""

    def __init__(self, name, folder):
        self.kind = name
        self.p = read_safetensors(f"{folder}/checkpoints/best/model.safetensors")
        self.heads = 2 if name == "task" else 3
        self.width = HIDDEN // self.heads
        self.head = self.p.get("head.weight", self.p["embedding.token.weight"])

    def linear(self, name, x):
        return x @ self.p[name + ".weight"].T + self.p.get(name + ".bias", 0)

    def norm(self, name, x):
        if self.kind == "task":
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.p[name + ".weight"]
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.p[name + ".weight"] + self.p[name + ".bias"]

    def rotate(self, x):
        """Su et al. 2021, eq. 34."""
        t = np.arange(len(x))[:, None]
        angle = t * 10000.0 ** (-np.arange(0, self.width, 2) / self.width)
        first, second = x[:, 0::2], x[:, 1::2]
        y = np.empty_like(x)
        y[:, 0::2] = first * np.cos(angle) - second * np.sin(angle)
        y[:, 1::2] = second * np.cos(angle) + first * np.sin(angle)
        return y

    def attention(self, name, x, memory, causal):
        q, k, v = self.linear(name + ".query", x), self.linear(name + ".key", memory), self.linear(name + ".value", memory)
        z, patterns = [], []
        for h in range(self.heads):
            columns = slice(h * self.width, (h + 1) * self.width)
            a, b = q[:, columns], k[:, columns]
            if self.kind == "task":
                a, b = self.rotate(a), self.rotate(b)
            scores = a @ b.T / np.sqrt(self.width)
            if causal:
                scores = np.where(np.tri(*scores.shape, dtype=bool), scores, -np.inf)
            patterns.append(special.softmax(scores, axis=-1))
            z.append(patterns[-1] @ v[:, columns])
        self.seen[name + ".pattern"] = np.stack(patterns)
        z = self.at(name + ".z", np.concatenate(z, -1))
        return self.linear(name + ".output", z)

    def feed_forward(self, name, x):
        up = self.seen[name + ".up"] = self.linear(name + ".up", x)
        hidden = {"lines": lambda: np.maximum(up, 0), "pairs": lambda: up * special.ndtr(up),
                  "task": lambda: up * special.expit(up) * self.linear(name + ".gate", x)}[self.kind]()
        return self.linear(name + ".down", hidden)

    def at(self, name, value):
        self.seen[name] = value
        other = self.replace(name, value)
        return value if other is None else other

    def embed(self, name, ids):
        token = self.p[name + ".token.weight"][ids]
        position = np.zeros_like(token)
        if self.kind == "lines":
            position = self.p[name + ".position.weight"][:len(ids)]
        if self.kind == "pairs":  # Vaswani et al. 2017, sections 3.4 and 3.5
            token = token * np.sqrt(HIDDEN)
            angle = np.arange(len(ids))[:, None] * 10000.0 ** (-np.arange(0, HIDDEN, 2) / HIDDEN)
            position[:, 0::2], position[:, 1::2] = np.sin(angle), np.cos(angle)
        self.seen[name + ".tokens"], self.seen[name + ".positions"] = token, position
        return self.at(name, token + position)

    def stack(self, name, x, memory=None):
        streams = [x]
        for layer in range(LAYERS):
            at = f"{name}.layers.{layer}."
            for part in ("attention", "cross_attention", "feed_forward"):
                if part == "cross_attention" and memory is None:
                    continue
                y = self.norm(at + part + "_norm", x)
                if part == "feed_forward":
                    y = self.feed_forward(at + part, y)
                else:
                    y = self.attention(at + part, y, memory if part == "cross_attention" else y,
                                       name == "decoder" and part == "attention")
                x = x + self.at(at + part, y)
                self.seen[at + part + ".stream"] = x
            streams.append(x)
        self.seen[name + ".streams"] = streams
        return self.norm(name + ".norm", x)

    def run(self, example, replace=lambda name, value: None):
        self.seen, self.replace = {}, replace
        memory = None
        if "source" in example:
            memory = self.stack("encoder", self.embed("source_embedding", example["source"]))
        y = self.stack("decoder", self.embed("embedding", example["inputs"]), memory)
        return y @ self.head.T


def losses(logits, targets):
    """The loss of each target, and whether it is the most likely token; NaN where there is none."""
    log_p = special.log_softmax(logits, axis=-1)
    return (np.array([np.nan if t is None else -log_p[i, t] for i, t in enumerate(targets)]),
            np.array([np.nan if t is None else float(logits[i].argmax() == t) for i, t in enumerate(targets)]))


def interval(differences):
    """SciPy's, of a mean."""
    return stats.t.interval(0.95, len(differences) - 1, np.mean(differences), stats.sem(differences))


def examples_of(run, symbols):
    """The tokens of the examples, as ids."""
    found = []
    for i in range(EXAMPLES):
        seen = inspect(run, "trace", "--example", str(i))
        example = {}
        for side, names in (("source", symbols[0]), ("inputs", symbols[1]), ("targets", symbols[1])):
            if seen[side] is not None:
                example[side] = [None if t is None else names.index(t) for t in seen[side]]
        found.append(example)
    return found


def compare_heads(model, examples, run, symbols):
    found = inspect(run, "heads")
    modules = [f"{stack}.layers.{layer}.{part}"
               for stack in ("encoder", "decoder") for layer in range(LAYERS) for part in ("attention", "cross_attention")
               if f"{stack}.layers.{layer}.{part}.query.weight" in model.p]
    sums = {}
    for example in examples:
        model.run(example)
        for module in modules:
            patterns = model.seen[module + ".pattern"]
            tokens = np.array(example["source" if module.startswith("encoder") else "inputs"])
            for h, a in enumerate(patterns):
                s = sums.setdefault((module, h), dict.fromkeys(
                    ("weight", "queries", "previous", "duplicate", "induction", "entropy", "distance", "first"), 0.0))
                s["weight"] += a.sum()
                s["queries"] += len(a)
                s["entropy"] += special.entr(a).sum()
                s["first"] += a[:, 0].sum()
                if "cross" in module:
                    continue
                same = np.tril(tokens[:, None] == tokens[None, :], -1)
                s["duplicate"] += a[same].sum()
                # TransformerLens moves the pattern of duplicates, the token itself included, to the right by one.
                shifted = np.zeros_like(a)
                shifted[:, 1:] = (tokens[:, None] == tokens[None, :])[:, :-1]
                s["induction"] += (a * np.tril(shifted)).sum()
                s["previous"] += np.trace(a, -1)
                s["distance"] += (a * np.abs(np.subtract.outer(np.arange(len(a)), np.arange(len(a))))).sum()
    assert [(m, h) for m in modules for h in range(model.heads)] == [(h["module"], h["head"]) for h in found["heads"]]
    for head in found["heads"]:
        module, h = head["module"], head["head"]
        s, rows = sums[module, h], slice(h * model.width, (h + 1) * model.width)
        for name in ("previous", "duplicate", "induction"):
            check_near(head[name], None if "cross" in module else s[name] / s["weight"], f"{run} {module} {h} {name}")
        for name in ("entropy", "distance", "first"):
            absent = "cross" in module and name == "distance"
            check_near(head[name], None if absent else s[name] / s["queries"], f"{run} {module} {h} {name}")
        copying = None
        if module.startswith("decoder") and "cross" not in module:
            ov = model.p[module + ".output.weight"][:, rows] @ model.p[module + ".value.weight"][rows]
            values = np.linalg.eigvals(model.head @ ov @ model.p["embedding.token.weight"].T)
            copying = values.sum().real / np.abs(values).sum()
        check_near(head["copying"], copying, f"{run} {module} {h} copying", 1e-3)

    def matrices(stack, layer, h):
        at, rows = f"{stack}.layers.{layer}.attention.", slice(h * model.width, (h + 1) * model.width)
        w = {x: model.p[at + x + ".weight"] for x in ("query", "key", "value", "output")}
        return w["query"][rows].T @ w["key"][rows], w["output"][:, rows] @ w["value"][rows]

    baselines = []
    for pair in found["composition"]:
        _, earlier = matrices(pair["stack"], *pair["from"])
        qk, ov = matrices(pair["stack"], *pair["to"])
        for name, reads in (("q", qk.T), ("k", qk), ("v", ov)):
            norm = np.linalg.norm(reads @ earlier) / np.linalg.norm(reads) / np.linalg.norm(earlier)
            baselines.append(norm - pair[name])
    stacks = len({pair["stack"] for pair in found["composition"]})
    assert len(baselines) == 3 * stacks * model.heads**2
    draw = np.random.default_rng(0)
    ratios = []
    for _ in range(400):
        a, b = (draw.normal(size=(HIDDEN, model.width)) @ draw.normal(size=(model.width, HIDDEN)) for _ in "ab")
        ratios.append(np.linalg.norm(b @ a) / np.linalg.norm(b) / np.linalg.norm(a))
    for baseline in baselines:
        check_near(baseline, baselines[0], f"{run} composition")
        check_near(baseline, np.mean(ratios), f"{run} random composition", 5 * np.std(ratios) / 4)  # of 16 draws

    if model.kind == "pairs":
        return check_near(found["in_context_score"], None, "in-context score of pairs")
    differences = []
    for example in examples:
        each, _ = losses(model.run(example), example["targets"])
        differences.append(each[9 * len(each) // 10] - each[len(each) // 10])
    differences = [x for x in differences if not np.isnan(x)]
    check_near(found["in_context_score"], np.mean(differences) if differences else None, f"{run} in-context score")

    ordinary = range(8)
    before = [symbols.index("<bos>")] if model.kind == "lines" else []
    between = [] if model.kind == "lines" else [symbols.index("<sep>")]
    scores = {head: [] for head in sums}
    loss_by_period = []
    for period in found["periods"]:
        matching, loss = {head: [] for head in sums}, []
        for _ in range(400):
            s = list(draw.permutation(ordinary)[:period])
            tokens = before + s + between + s
            logits = model.run({"inputs": tokens})
            queries = np.arange(len(tokens) - period, len(tokens))
            for module, h in sums:
                a = model.seen[module + ".pattern"][h]
                matching[module, h].append(np.mean([a[q, tokens.index(tokens[q]) + 1] for q in queries]))
            loss.append(np.mean(losses(logits[queries[:-1]], [tokens[q + 1] for q in queries[:-1]])[0]))
        for head in sums:
            scores[head].append(matching[head])
        loss_by_period.append(loss)

    def check_drawn(value, draws, what):
        check_near(value, np.mean(draws), what, 5 * np.std(draws) * np.sqrt(1 / 32 + 1 / 400) + TOLERANCE)

    for i, loss in enumerate(loss_by_period):
        check_drawn(found["induction_loss_by_period"][i], loss, f"{run} induction loss {i}")
    assert found["induction_loss"] == max(found["induction_loss_by_period"])
    for head in found["heads"]:
        by_period = head["prefix_matching_by_period"]
        for i, draws in enumerate(scores[head["module"], head["head"]]):
            check_drawn(by_period[i], draws, f"{run} {head['module']} {head['head']} prefix matching {i}")
        assert head["prefix_matching"] == min(by_period)


def compare_lens(model, examples, run):
    found = inspect(run, "lens", "--example", "3")
    rows = [{name: [] for name in ("loss", "accuracy", "entropy", "kl")} for _ in range(LAYERS + 1)]
    for i, example in enumerate(examples):
        final = special.log_softmax(model.run(example), axis=-1)
        real = [t is not None for t in example["targets"]]
        read = lambda x: model.norm("decoder.norm", x) @ model.head.T
        for row, stream in zip(rows, model.seen["decoder.streams"]):
            logits = read(stream)
            log_p = special.log_softmax(logits, axis=-1)
            for name, values in zip(("loss", "accuracy"), losses(logits, example["targets"])):
                row[name].extend(values[real])
            row["entropy"].extend(special.entr(np.exp(log_p)).sum(-1)[real])
            row["kl"].extend((np.exp(final) * (final - log_p)).sum(-1)[real])
        if i != 3:
            continue
        last = max(t for t, is_real in enumerate(real) if is_real)
        assert found["position"] == last
        for stage in found["stages"]:
            x = model.seen["embedding"] if stage["stage"] == "embedding" else model.seen[stage["stage"] + ".stream"]
            log_p = special.log_softmax(read(x)[last])
            check_near(stage["loss"], -log_p[example["targets"][last]], f"{run} {stage['stage']} loss")
            check_near(stage["kl"], (np.exp(final[last]) * (final[last] - log_p)).sum(), f"{run} {stage['stage']} kl")
            for token, p in zip(stage["top"], sorted(np.exp(log_p), reverse=True)):
                check_near(token["probability"], p, f"{run} {stage['stage']} probability")
    assert [row["layer"] for row in found["layers"]] == [None, *range(LAYERS)]
    for row, expected in zip(found["layers"], rows):
        for name, values in expected.items():
            check_near(row[name], np.mean(values), f"{run} lens {row['layer']} {name}")


def compare_attribute(model, examples, run):
    found = inspect(run, "attribute", "--example", "2")
    example = examples[2]
    logits = model.run(example)
    at = max(i for i, t in enumerate(example["targets"]) if t is not None)
    t = example["targets"][at]
    u = max((i for i in range(len(model.head)) if i != t), key=lambda i: logits[at, i])
    assert found["ids"] == [t, u] and found["position"] == at
    direction, p, seen = model.head[t] - model.head[u], model.p, model.seen
    stream = seen["decoder.streams"][-1][at]
    centred = (lambda x: x) if model.kind == "task" else (lambda x: x - x.mean())
    scale = np.sqrt((centred(stream) ** 2).mean() + 1e-5)
    value = lambda c: (centred(c) * p["decoder.norm.weight"] / scale) @ direction
    rows = {"embedding": value(seen["embedding.tokens"][at]), "biases": direction @ p.get("decoder.norm.bias", 0 * direction)}
    rows["positions"] = value(seen["embedding.positions"][at])
    for layer in range(LAYERS):
        for part in ("attention", "cross_attention"):
            name = f"decoder.layers.{layer}.{part}"
            if name + ".output.weight" not in p:
                continue
            for h in range(model.heads):
                columns = slice(h * model.width, (h + 1) * model.width)
                rows[f"{name}.head.{h}"] = value(p[name + ".output.weight"][:, columns] @ seen[name + ".z"][at, columns])
            rows["biases"] += value(p.get(name + ".output.bias", np.zeros(HIDDEN)))
        rows[f"decoder.layers.{layer}.feed_forward"] = value(seen[f"decoder.layers.{layer}.feed_forward"][at])
    parts = {row["part"]: row["value"] for row in found["rows"]}
    for name, expected in rows.items():
        check_near(parts.pop(name), expected, f"{run} attribute {name}")
    assert not parts, parts
    check_near(found["difference"], logits[at, t] - logits[at, u], f"{run} difference")
    check_near(sum(rows.values()), logits[at, t] - logits[at, u], f"{run} sum of parts", 1e-9)


def compare_trace(model, examples, run):
    found = inspect(run, "trace", "--example", "4")
    example = examples[4]
    logits = model.run(example)

    def check_lists(values, expected, what):
        assert (values is None) == (expected is None), what
        for i, (value, other) in enumerate(zip(values or [], () if expected is None else expected)):
            check_near(value, other, f"{run} trace {what} {i}")

    def check_top(lists, logits, what):
        assert len(lists) == len(logits), what
        for top, row in zip(lists, logits):
            for token, i in zip(top, np.argsort(-row)):
                check_near(token["logit"], row[i], f"{run} trace {what} logit")
                check_near(token["probability"], special.softmax(row)[i], f"{run} trace {what} probability")

    for stage in found["stages"]:
        name = stage["stage"]
        embeds = name.endswith("embedding")
        stream = model.seen[name if embeds else name + ".stream"]
        check_lists(stage["norm"], np.linalg.norm(stream, axis=-1), name)
        check_lists(stage["written"], None if embeds else np.linalg.norm(model.seen[name], axis=-1), name)
        up = model.seen.get(name + ".up")
        check_lists(stage["active"], None if up is None else (up > 0).mean(-1), name)
        if name.startswith(("source", "encoder")):
            assert stage["logits"] is None
        else:
            check_top(stage["logits"], model.norm("decoder.norm", stream) @ model.head.T, name)
    check_top(found["logits"], logits, "model")
    each, _ = losses(logits, example["targets"])
    check_lists(found["losses"], [None if np.isnan(x) else x for x in each], "loss")


def compare_ablate(model, examples, run):
    def score(replace_for=lambda i: lambda name, value: None):
        """By example: the sums of losses and of right predictions, and the number of targets."""
        sums = []
        for i, example in enumerate(examples):
            each, right = losses(model.run(example, replace_for(i)), example["targets"])
            sums.append((np.nansum(each), np.nansum(right), np.sum(~np.isnan(each))))
        return np.array(sums)

    whole = score()
    clean = []
    for example in examples:
        model.run(example)
        clean.append(dict(model.seen))
    targets = whole[:, 2].sum()

    def mean(name, t):
        return np.mean([each[name][t] for each in clean if len(each[name]) > t], axis=0)

    def replacement(how, name, value, i):
        if how == "zero":
            return np.zeros_like(value)
        if how == "mean":
            return np.stack([mean(name, t) for t in range(len(value))])
        other = clean[(i + 1) % len(clean)][name]
        return np.stack([other[min(t, len(other) - 1)] for t in range(len(value))])

    def cut(how, part):
        """What replaces the sites of a part: a head, sublayer, layer, or position of the embedding."""
        columns, positions = slice(None), slice(None)
        names = [part]
        if ".head." in part:
            module, h = part.split(".head.")
            names, columns = [module + ".z"], slice(int(h) * model.width, (int(h) + 1) * model.width)
        elif ".position." in part:
            embedding, t = part.split(".position.")
            names, positions = [embedding], slice(int(t), int(t) + 1)
        elif part.count(".") == 2:
            names = [f"{part}.{each}" for each in ("attention", "cross_attention", "feed_forward")]

        def replace_for(i):
            def replace(name, value):
                if name not in names:
                    return None
                changed = value.copy()
                changed[positions, columns] = replacement(how, name, value, i)[positions, columns]
                return changed
            return replace
        return replace_for

    for how in ("mean", "zero", "resample"):
        found = inspect(run, "ablate", "--with", how)
        check_near(found["baseline"]["loss"], whole[:, 0].sum() / targets, f"{run} loss")
        check_near(found["baseline"]["accuracy"], whole[:, 1].sum() / targets, f"{run} accuracy")
        for part in found["parts"]:
            without = score(cut(how, part["part"]))
            what = f"{run} ablate {how} {part['part']}"
            check_near(part["loss"], without[:, 0].sum() / targets, what)
            for column, name in ((0, "delta"), (1, "accuracy_delta")):
                each = (without[:, column] - whole[:, column]) * len(examples) / targets
                check_near(part[name], each.mean(), f"{what} {name}")
                if each.any():
                    for limit, expected in zip(part["interval" if column == 0 else "accuracy_interval"], interval(each)):
                        check_near(limit, expected, f"{what} interval of {name}")
        names = {part["part"] for part in found["parts"]}
        assert len(names) == len(found["parts"]) > 20
        # Two parts of different layers at once.
        both = [f"decoder.layers.{layer}.attention.head.1" for layer in range(LAYERS)]
        found = inspect(run, "ablate", "--with", how, "--parts", ",".join(both))
        without = score(lambda i: lambda name, value: next(
            (y for part in both for y in [cut(how, part)(i)(name, value)] if y is not None), None))
        check_near(found["parts"][0]["loss"], without[:, 0].sum() / targets, f"{run} ablate {how} {both}")


def write_data():
    draw = random.Random(3)
    letters = lambda low, high: [draw.choice("abcdefgh") for _ in range(draw.randint(low, high))]
    with open("lines.txt", "w") as file:
        for _ in range(400):
            line = "".join(letters(3, 6))
            file.write(line + line + line[:draw.randint(0, 2)] + "\n")
    with open("pairs.tsv", "w") as file:
        for _ in range(400):
            line = letters(2, 7)
            file.write(" ".join(line) + "\t" + " ".join(reversed(line)) + "\n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_data()
    for name, config in RUNS.items():
        with open(name + ".toml", "w") as file:
            file.write(HEADER + config)
        heed("train", name + ".toml", "--run", name)
        with open(name + "/vocabulary.json") as file:
            vocabulary = json.load(file)
        symbols = [vocabulary.get(side, vocabulary)["symbols"] for side in ("source", "target")]
        model, examples = Model(name, name), examples_of(name, symbols)
        before = checks
        compare_heads(model, examples, name, symbols[1])
        compare_lens(model, examples, name)
        compare_attribute(model, examples, name)
        compare_trace(model, examples, name)
        compare_ablate(model, examples, name)
        print(f"{name}: {checks - before} numbers agree")
