# %% [markdown]
# # heed in a notebook
#
# Train a small Transformer, look inside, take it apart, compare two of its kind, and give it a task of your own. Nothing is
# downloaded. `docs/notebook.py` makes this notebook from `docs/first.py`; [Python](python.md) describes each function.

# %%
from pathlib import Path

import heed  # first: see heed.__doc__
import matplotlib.pyplot as plt

# %% [markdown]
# ## Train
#
# The model reads six digits and continues with the same digits in ascending order. The keys are those of a config of
# `heed train`, and the run is the same folder, with the same bits.

# %%
config = {
    "train": {"steps": 500, "batch_size": 64, "evaluate_every": 100, "log_every": 10},
    "model": {"kind": "language_model", "layers": 2, "heads": 2, "dim": 32},
    "model.positional": {"kind": "learned", "max_length": 11},
    "optim": {"lr": 3e-3},
    "data": {"kind": "sort", "symbols": 3, "lengths": [6, 6], "val_fraction": 0.05, "test_fraction": 0.25},
}
run = heed.train(config)
run.evaluate("test")

# %%
metrics = run.metrics
plt.plot(metrics["steps"]["step"], metrics["steps"]["loss"], label="training")
plt.plot(metrics["val"]["step"], metrics["val"]["val.loss"], label="validation")
plt.xlabel("step")
plt.ylabel("loss")
plt.legend()
plt.show()

# %%
run.generate("2 0 1 2 2 0")

# %% [markdown]
# ## Look inside
#
# `forward` computes the model once. With `cache=True` it returns the value at every tap of a layer, by name.

# %%
out = run.forward("2 0 1 2 2 0", "0 0 1 2 2 2", cache=True)
print(len(out), "arrays, such as", *list(out)[:3])
figure, panels = plt.subplots(1, 4, figsize=(12, 3))
weights = [out[f"decoder.layers.{layer}.attention.weights"][0, head] for layer in range(2) for head in range(2)]
for i, (panel, weight) in enumerate(zip(panels, weights)):
    panel.imshow(weight)
    panel.set_title(f"layer {i // 2}, head {i % 2}")
plt.show()

# %% [markdown]
# ## Take it apart
#
# How much does the loss rise without a head? The output of the head becomes its mean over the examples.

# %%
for layer in range(2):
    for head in range(2):
        lost = run.ablate(f"decoder.layers.{layer}.attention", head=head, examples=200)
        print(f"layer {layer}, head {head}: loss {lost['delta']:+.3f}")

# %% [markdown]
# A run shows its report: scores, curves, attention, samples.

# %%
run

# %% [markdown]
# ## Compare
#
# A sweep trains a config with several values and several seeds. The runs are processes, and finished ones are kept.

# %%
compared = heed.sweep(config=f"{run.path}/config.toml", axis=["model.layers=1,2"], seeds=2, set=["train.steps=200"])
compared

# %%
for record in sorted(Path("runs/config-sweep").glob("**/run.json")):
    one = heed.open(record.parent)
    curve = one.metrics["val"]
    plt.plot(curve["step"], curve["val.loss"], label=str(record.parent.relative_to("runs/config-sweep")))
plt.xlabel("step")
plt.ylabel("validation loss")
plt.legend()
plt.show()

# %% [markdown]
# ## A task of your own
#
# A function makes one example from a generator of random numbers. Here the model has to recall the value that followed a key.


# %%
@heed.task
def recall(rng, split):
    keys = rng.permutation(4)[:3]
    values = rng.integers(0, 4, 3)
    pairs = " ".join(f"k{key} v{value}" for key, value in zip(keys, values))
    asked = rng.integers(0, 3)
    return f"{pairs} k{keys[asked]}", f"v{values[asked]}"


own = heed.train(
    {
        "train": {"steps": 800, "batch_size": 32},
        "model": {"kind": "language_model", "layers": 2, "heads": 2, "dim": 32},
        "optim": {"lr": 3e-3},
        "data": {"kind": "examples", "level": "word", "command": recall, "val_size": 200, "test_size": 200},
    }
)
own.evaluate("val")
