#!/usr/bin/env python3
"""hostile.py PROGRAM [PART...]: replaces every member of vocabulary.json, state.json and result.json of trained runs by 21 values,
one at a time, and runs the commands that read the run. PART: vocabulary, state, result (default: all).

The SHA-256 in state.json stays valid. Only three of its settings are replaced, because all are compared by the same code.
vocabulary.json is tested with a checkpoint that names it as the vocabulary of its training. Expected: exit code 0, or exit code 2 with one
line of less than 600 bytes without control characters, within 3 GB of address space and 20 s. Prints the number of commands by
exit code."""
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
HEAD = "[train]\nsteps = 4\nbatch_size = 8\n[model]\nlayers = 1\ndim = 16\nkind = "
CONFIGS = {
    "copy": "'seq2seq'\n[data]\nkind = 'copy'\nsymbols = 5\nlengths = [1, 4]\ntrain_size = 100\nval_size = 20\ntest_size = 20\n",
    "sums": "'language_model'\n[data]\nkind = 'addition'\ndigits = 1\n",
    "shapes": "'classifier'\n[data]\nkind = 'shapes'\nsize = 6\n",
    "streams": "'seq2seq'\n[data]\nkind = 'streams'\nlengths = [1, 3]\n",
}
EXAMPLE = ["--example", "1"]
READ = {  # the commands that read weights, and their input
    "copy": [["evaluate"], ["generate"], ["attend", "--text", "1 2"]],
    "sums": [["evaluate"], ["generate", "--prompt", "34"], ["attend", "--text", "34"]],
    "shapes": [["evaluate"], ["generate"], ["attend"] + EXAMPLE],
    "streams": [["evaluate"], ["generate"], ["attend"] + EXAMPLE],
}
VALUES = [None, True, -1, 0, 7, 10**15, 2**63 - 1, 2**63, -2**63, 1.5, 1e308, "", "x", "\x1b[31m", "a" * 100_000, [], [1],
          ["a"], [0] * 1000, {}, {"a": 1}]


def members(value, path=()):
    if path:
        yield path
    if isinstance(value, dict):
        for name in value:
            yield from members(value[name], path + (name,))
    elif isinstance(value, list) and value:
        yield from members(value[0], path + (0,))


def replaced(value, path, by):
    copy = json.loads(json.dumps(value))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = by
    return copy


def sha256(value):
    return hashlib.sha256(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def identity(vocabulary, trained):
    """What state.json has of a vocabulary.json, of a kind of model whose state.json has `trained`."""
    codec = {name: vocabulary[name] for name in ("level", "symbols") if name in vocabulary}
    found = {name: sha256(vocabulary.get(name, codec)) for name in ("source", "target") if name in trained}
    for name in ("features", "edge_features", "grid", "prompt", "answer", "labels"):
        if name in vocabulary:
            found[name] = sha256(vocabulary[name]) if name == "labels" else vocabulary[name]
    return found


def write_state(path, state):
    state.pop("state_sha256", None)
    state["state_sha256"] = sha256(state)
    with open(path, "w") as file:
        json.dump(state, file, ensure_ascii=False)


def read_json(path):
    with open(path) as file:
        return json.load(file)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


class Trials:
    def __init__(self):
        self.codes, self.faults = {}, 0

    def run(self, label, verb, *options):
        done = subprocess.run([PROGRAM, verb, "run", *options], input=b"1 2\n", capture_output=True, timeout=120,
                              preexec_fn=limit_memory, env=dict(os.environ, OMP_NUM_THREADS="1"))
        error = done.stderr.decode(errors="replace")
        self.codes[done.returncode] = self.codes.get(done.returncode, 0) + 1
        one_line = error.startswith("error: ") and error.count("\n") == 1 and len(error) < 600 and "\x1b" not in error
        if done.returncode not in (0, 2) or (done.returncode == 2 and not one_line):
            self.faults += 1
            print(f"{label} {verb}: exit code {done.returncode}: {error[-300:]!r}")

    def copied(self, name):
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree(name, "run", symlinks=True)
        return "run/checkpoints/step-4/state.json"

    def vocabulary(self, name):
        sound = read_json(f"{name}/vocabulary.json")
        more = {"features": 7, "edge_features": 3, "grid": [2, 3], "prompt": 2, "answer": 2, "labels": ["a"]}
        for path in members({**more, "source": dict(sound), "target": dict(sound), **sound}):
            for value in VALUES:
                state_path = self.copied(name)
                changed = {**more, **sound} if path[0] in more and len(path) > 1 else dict(sound)
                if path[0] in ("source", "target") and path[0] not in changed:
                    changed[path[0]] = dict(sound)
                changed = replaced(changed, path, value)
                with open("run/vocabulary.json", "w") as file:
                    json.dump(changed, file)
                state = read_json(state_path)
                state.update(settings={}, vocabulary=identity(changed, state["vocabulary"]))
                write_state(state_path, state)
                for verb in READ[name]:
                    self.run((name, path, str(value)[:20]), *verb)

    def state(self, name):
        sound = read_json(f"{name}/checkpoints/step-4/state.json")
        sound["settings"] = {key: sound["settings"][key] for key in ("model.kind", "model.dim", "model.dropout")}
        for path in members(sound):
            for value in VALUES:
                state_path = self.copied(name)
                write_state(state_path, replaced(sound, path, value))
                for verb in READ[name] + [["train", "--resume", "--set", "train.steps=5"]]:
                    self.run((name, path, str(value)[:20]), *verb)

    def result(self, name):
        sound = read_json(f"{name}/result.json")
        for path in members(sound):
            for value in VALUES:
                self.copied(name)
                with open("run/result.json", "w") as file:
                    json.dump(replaced(sound, path, value), file)
                for form in ([], ["--json"], ["--csv"]):
                    self.run((name, path, str(value)[:20]), "compare", *form)


def main():
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, config in CONFIGS.items():
            with open(f"{name}.toml", "w") as file:
                file.write(HEAD + config)
            subprocess.run([PROGRAM, "train", f"{name}.toml", "--run", name], check=True, capture_output=True)
        for part, names in (("vocabulary", CONFIGS), ("state", ["copy"]), ("result", ["copy"])):
            if sys.argv[2:] and part not in sys.argv[2:]:
                continue
            trials = Trials()
            for name in names:
                getattr(trials, part)(name)
            faults += trials.faults
            print(f"{part}.json: {sum(trials.codes.values())} commands, by exit code: {dict(sorted(trials.codes.items()))}, "
                  f"faults: {trials.faults}", flush=True)
        os.chdir("/")
    return faults > 0


sys.exit(main())
