#!/usr/bin/env python3
"""Writes recording.json, the data of the front page's drawings, from finished runs:

    ./heed train course/playground/tasks/recall.toml --run runs/front --set train.steps=600 --set data.val_size=1000 \\
      --set train.evaluate_every=20 --set train.checkpoint_every=20 --set train.keep_checkpoints=30
    ./heed train configs/pairs.toml --run runs/dates --set data.path=pairs.tsv --set train.log_every=5 \\
      --set train.evaluate_every=100     # configs/pairs.toml says how pairs.tsv is made
    ./heed sweep configs/sweeps/course_scale.toml --run runs/scale
    course/site/record.py build/release/bin/heed runs/front runs/dates runs/scale course/site/recording.json

The loss and the scores come from metrics.jsonl and result.json, the attention weights of a test example at every
checkpoint from `heed attend`, its predictions from `heed inspect trace`, the lookup from ../drawings/by_hand.py.
Needs nothing but Python.
"""
import csv, json, pathlib, subprocess, sys, tempfile, tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "drawings"))
import by_hand

RATE = 2e-3  # of the sweep's learning rates, the one that is drawn


def metrics(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def traced(program, run, example, step):
    return json.loads(subprocess.run([program, "inspect", run, "trace", "--json", "--split", "test", "--example",
                                      str(example), "--checkpoint", str(step)], check=True, stdout=subprocess.PIPE).stdout)


def weights(program, run, example, step):
    """The attention weights in percent, for each layer and head the rows of the lower triangle, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "weights.csv"
        subprocess.run([program, "attend", run, "--example", str(example), "--split", "test", "--checkpoint", str(step),
                        "--csv", table, "-o", table.with_suffix(".svg")], check=True, stdout=subprocess.PIPE)
        rows = list(csv.DictReader(table.open()))
    maps = {}
    for row in rows:
        if int(row["key"]) <= int(row["query"]):
            maps.setdefault((row["name"], int(row["head"])), []).append(round(100 * float(row["weight"])))
    names = list(dict.fromkeys(row["name"] for row in rows))
    heads = 1 + max(head for _, head in maps)
    return [[maps[name, head] for head in range(heads)] for name in names]


def recall(program, run):
    rows = [row for row in metrics(run) if "val" in row]
    # The first test example whose key is that of the second pair, so that the answer is neither first nor last.
    for example in range(100):
        trace = traced(program, run, example, rows[-1]["step"])
        tokens = trace["inputs"]
        if tokens[2] == tokens[-1]:
            break
    frames = []
    for row in rows:
        last = traced(program, run, example, row["step"])["stages"][-1]["logits"][-1][0]
        frames.append({"step": row["step"], "loss": round(row["val"]["loss"], 4),
                       "exact": round(100 * row["val"]["exact_match"], 1), "token": last["token"],
                       "probability": round(last["probability"], 3),
                       "weights": weights(program, run, example, row["step"])})
    result = json.loads((run / "result.json").read_text())
    return {"tokens": tokens, "target": trace["targets"][-1], "frames": frames, "seconds": round(result["seconds"])}


def curve(run):
    rows = metrics(run)
    test = json.loads((run / "result.json").read_text())["test"]
    return {"training": [[row["step"], float(f"{row['loss']:.4g}")] for row in rows if "loss" in row],
            "validation": [[row["step"], float(f"{row['val']['loss']:.4g}")] for row in rows if "val" in row],
            "exact": test["exact_match"], "examples": test["examples"]}


def seeds(sweep):
    """The validation exact match of every seed, by the scale of the scores."""
    groups = {}
    for file in sorted(sweep.glob("**/seed-*/result.json")):
        config = tomllib.loads((file.parent / "config.toml").read_text())
        if config["optim"]["lr"] == RATE:
            groups.setdefault(config["model"]["attention"]["scale"], []).append(
                json.loads(file.read_text())["val"]["exact_match"])
    return {"rate": RATE, "exact_match": groups}


def lookup():
    queries = {"who bites?": [1, 0], "who is bitten?": [0, 1], "both": [1, 1]}
    scores = by_hand.mul(list(queries.values()), by_hand.T(by_hand.K))
    return {"words": by_hand.words, "rows": [[name, [round(w, 3) for w in by_hand.softmax(row)]]
                                             for name, row in zip(queries, scores)]}


def main():
    program, *runs, target = sys.argv[1:]
    front, dates, scale = map(pathlib.Path, runs)
    data = {"recall": recall(program, front), "curve": curve(dates), "seeds": seeds(scale), "lookup": lookup()}
    frames = data["recall"].pop("frames")
    text = json.dumps(data, ensure_ascii=False)
    lines = ",\n".join(json.dumps(frame, separators=(",", ":")) for frame in frames)
    pathlib.Path(target).write_text(text[:-1] + ', "frames": [\n' + lines + "\n]}\n")


main()
