"""heed: train small Transformers on a CPU, and look inside them.

    import heed
    run = heed.train("configs/sort.toml", {"model.layers": 1})
    run.evaluate("test")

Every function calls what the command of the same name of the program heed calls, and gives the same bits. Configs, scores
and options are described with the commands: heed train --help.

Import heed before numpy. The threads of heed then wait for one another only briefly, which matters while other programs use
the processor.
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile

if not any(name in os.environ for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")):
    os.environ["GOMP_SPINCOUNT"] = "3000"  # which libgomp reads when it is loaded: see apps/main.cpp

_package = pathlib.Path(__file__).resolve().parent


def _program():
    """Returns the program heed of this package, which trains the runs of a sweep."""
    import sysconfig

    folders = [_package.parent / "bin", _package.parent.parent / "bin", pathlib.Path(sysconfig.get_path("scripts"))]
    return next((str(folder / "heed") for folder in folders if (folder / "heed").is_file()), "heed")


def _choose_kernels():
    """Lets the import of _heed find the module for the kind of processor that the program heed chooses (HEED_KERNELS)."""
    import subprocess

    asked = subprocess.run([_program(), "--version"], capture_output=True, text=True)
    if asked.returncode != 0:
        raise ImportError(asked.stderr.strip().removeprefix("error: "))
    kind = asked.stdout.split("kernels: ")[1].split()[0]
    __path__.insert(0, str(_package / kind))


if any(_package.glob("x86-64-*")):  # a released wheel: one module for each kind
    _choose_kernels()
from . import _heed, _tasks  # noqa: E402

__all__ = ["Activations", "Comparison", "Error", "InputError", "Run", "compare", "open", "sweep", "task", "train"]
__version__ = _heed.version
_heed.use_program(_program())
_heed.use_tasks()


class Error(RuntimeError):
    """A computation failed: a loss that is not finite, a full disk. The text is that of the command."""


class InputError(ValueError):
    """A mistake in an argument, a config, data or a run. The text is that of the command, which says where and what to do."""


def _toml(value):
    """Returns a value of a config as TOML."""
    if isinstance(value, _tasks.Task):
        return _toml(["heed.task", value.name])
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    return repr(value)


def _settings(values, prefix=""):
    """Returns the options --set of nested dictionaries."""
    words = []
    for key, value in values.items():
        if isinstance(value, dict):
            words += _settings(value, f"{prefix}{key}.")
        else:
            words.append(f"--set={prefix}{key}={_toml(value)}")
    return words


def _options(options):
    """Returns keyword arguments as options: log_x=True as --log-x, axis=["a=1,2"] as --axis=a=1,2."""
    words = []
    for name, value in options.items():
        word = "--" + name.strip("_").replace("_", "-")
        if value is True:
            words.append(word)
        elif value is not None and value is not False:
            values = value if isinstance(value, (list, tuple)) else [value]
            words += [f"{word}={each}" for each in values]
    return words


def _call(words, progress=False, on_row=None):
    _tasks.errors.clear()
    try:
        called = _heed.call([os.fspath(word) for word in words], progress, on_row)
    except InputError as error:
        if _tasks.errors:
            raise error from _tasks.errors[0]
        raise
    if called.code == 130:
        raise KeyboardInterrupt(f"{called.run or words[0]}: interrupted and saved; call again with resume=True to continue")
    return called


def train(config=None, overrides=None, *, run=None, resume=False, until=None, progress=False, callback=None):
    """Trains a model, as `heed train` does, and returns its Run.

    config is the path of a config, or a dictionary of its keys: {"model": {"layers": 1}} or {"model.layers": 1}. Its key
    "base" names a config to inherit from. Without it paths are relative to the current folder. overrides is such a
    dictionary, whose values win.

    run is the folder of the run (default: runs/<config>, or runs/python for a dictionary, or the next free name).
    resume=True continues the run in the folder, or starts it if there is none; then config may be left out. until pauses
    after this step. progress=True shows the log. callback(row) is called with each row of metrics.jsonl, a dictionary: every
    train.log_every steps, and after evaluations.

    Ctrl-C ends the step at once, saves, and raises KeyboardInterrupt. Several threads may train at a time.

    Raises InputError for a mistake in the config, the data or the run, and Error if the training fails.
    """
    with contextlib.ExitStack() as stack:
        settings = []
        if isinstance(config, dict):
            config = dict(config)
            settings = _settings({key: value for key, value in config.items() if key != "base"})
            if "base" not in config:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                config["base"] = pathlib.Path(folder, "python.toml")
                config["base"].write_text("[model]\n")
            config = config["base"]
        words = ["train", *([config] if config is not None else []), *settings, *_settings(overrides or {})]
        words += _options({"run": run and os.fspath(run), "resume": resume, "until": until})
        called = _call(words, progress, callback and (lambda row: callback(json.loads(row))))
    if progress:
        sys.stdout.write(called.output)
    return Run(called.run)


def open(path, checkpoint=""):
    """Returns the Run of a folder.

    checkpoint is "best", "latest" or a step (default: the best, or the latest if there is no best). The path runs/latest is
    the run whose training started last. Raises InputError if the folder holds no run, or a damaged one.
    """
    return Run(path, checkpoint)


class Run:
    """A trained run: the folder that `heed train` makes, with the model of one checkpoint.

    Methods compute with the precision of the run. Any number of threads may call them at once. In a notebook a run shows
    its report.
    """

    def __init__(self, path, checkpoint=""):
        """See heed.open()."""
        self._run = _heed.Run(os.fspath(path), str(checkpoint))

    def __repr__(self):
        return f"heed.open({self.path!r})"

    def _repr_html_(self):
        return _frame([self.path])

    @property
    def path(self):
        """Folder of the run."""
        return self._run.path

    @property
    def step(self):
        """Step of the checkpoint."""
        return self._run.step

    @property
    def metrics(self):
        """The rows of metrics.jsonl by kind, each a Records: a record array of numpy with the method to_pandas().

        "steps" has the rows about training steps, with the columns step, loss, lr and so on; "val" those of evaluations, with
        step, val.loss and so on; "statistics" and the names of train.measures have theirs. A value that a row lacks is NaN.
        """
        from ._tables import read_metrics

        return read_metrics(pathlib.Path(self.path, "metrics.jsonl"))

    def evaluate(self, split=""):
        """Returns the scores of a split, by name, as `heed evaluate --json` prints them.

        Default: "test", else "val". Raises InputError if the data of the run are gone or have changed.
        """
        return self._run.evaluate(split)

    def predict(self, lines, *, beam=1, length_penalty=0.0, length=0):
        """Returns the output of an encoder-decoder, or the label that a classifier assigns, for each line.

        beam is the width of the search, 1: greedy. length is the maximum number of tokens, 0: that of the task, else twice
        the source and 10. Raises InputError, with the number of the line, for a line that the model cannot read.
        """
        return self._run.predict(list(lines), beam, length_penalty, length)

    def generate(self, prompt="", n=0, *, count=None, temperature=None, top_k=0, top_p=1.0, seed=None):
        """Returns the continuation of a prompt by a language model, without the prompt; with count a list of so many.

        n is the maximum number of tokens, 0: the target of a task, else 500. temperature=0 takes the most likely token
        (default: 1, of tasks 0); top_k and top_p limit the choice; seed is that of the run by default. Raises InputError for
        other models, and for a prompt that the model cannot read.
        """
        texts = self._run.generate(prompt, n, count or 1, temperature, top_k, top_p, seed)
        return texts[0] if count is None else texts

    def forward(self, inputs=None, targets=None, *, examples=None, split="", cache=False):
        """Computes the model once and returns its Activations.

        inputs is a text or a list of B texts, which `heed attend` would read; or ids of tokens: a list, a list of B lists, or
        an array of integers (B, T). targets are the same for the decoder. Without targets the model generates its own after
        texts; with ids an encoder-decoder needs them. Or examples names examples of a split of the run's data by index: the
        only way for models that read vectors. Shorter rows are padded at their end; what is after a row's end means nothing.

        cache=True adds the value at every tap. Raises InputError for inputs that the model cannot read.
        """
        if (inputs is None) == (examples is None):
            raise InputError("forward: expected either inputs or examples")
        if examples is not None:
            each = [examples] if isinstance(examples, int) else list(examples)
            return Activations(self._run.forward_examples(each, split, cache))
        if isinstance(inputs, str):
            inputs, targets = [inputs], targets if targets is None else [targets]
        rows = inputs.tolist() if hasattr(inputs, "tolist") else list(inputs)
        if rows and isinstance(rows[0], str):
            return Activations(self._run.forward_texts(rows, targets, cache))
        if rows and isinstance(rows[0], int):
            rows, targets = [rows], targets if targets is None else [targets]
        targets = targets.tolist() if hasattr(targets, "tolist") else targets
        return Activations(self._run.forward_tokens(rows, targets, cache))

    def inspect(self, view, **options):
        """Returns a view of `heed inspect --json`: "heads", "ablate", "lens", "attribute" or "trace".

        options are those of the command, such as examples=100, split="val" or with_="zero". heed inspect --help lists them.
        """
        words = ["inspect", self.path, view, "--json", f"--checkpoint={self.step}", *_options(options)]
        return json.loads(_call(words).output)

    def ablate(self, part, head=None, **options):
        """Returns how much worse the model is without a part, such as "decoder.layers.1.attention", or without one of its heads.

        The dictionary has "loss", "delta", "interval", "accuracy_delta" and so on, as `heed inspect ablate` computes them.
        with_="mean", "zero" or "resample" replaces the output of the part. A list of parts is ablated at once.
        """
        parts = [part] if isinstance(part, str) else list(part)
        if head is not None:
            parts = [f"{each}.head.{head}" for each in parts]
        return self.inspect("ablate", parts=",".join(parts), **options)["parts"][0]


class Activations(dict):
    """What a model computes for B inputs: float32 arrays by name, read-only, which own their memory.

    "logits" has the shape (B, T, vocabulary), or (B, classes) of a classifier. With cache=True every tap of a layer is there,
    by the name of the layer and of the tap, such as "decoder.layers.1.attention.weights":

        tokens, embedded         (B, T, width)   an embedding: without and with positions
        queries, keys, values    (B, T, H K)     attention, heads side by side
        scores, weights          (B, H, T, T)    attention: before the mask; after the softmax
        heads                    (B, T, H K)     attention: weighted values
        head_outputs             (B, H, T, D)    attention: what each head adds
        preactivation            (B, T, F)       feed-forward network: before the activation
        activation               (B, T, F)       feed-forward network: after it
        scale, normalised        (B, T, 1), (B, T, D)   a norm
        sublayer, stream         (B, T, D)       the norm of a sublayer: what it adds, and the stream after it
    """

    @property
    def logits(self):
        """The array "logits"."""
        return self["logits"]


def _frame(paths):
    import html

    page = html.escape(_heed.report(paths))
    return f'<iframe srcdoc="{page}" width="100%" height="600" style="border: 0"></iframe>'


class Comparison:
    """Runs compared, as `heed compare` does. str() is its table; a notebook shows the report of the runs."""

    def __init__(self, runs, options):
        """See heed.compare()."""
        self._runs = [os.fspath(getattr(run, "path", run)) for run in runs]
        self._options = _options(options)

    def _print(self, *format):
        return _call(["compare", *self._runs, *self._options, *format]).output

    def __str__(self):
        return self._print()

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return _frame(self._runs)

    @property
    def table(self):
        """A Records with a row for each group of runs, or for each run with runs=True: keys, then scores."""
        from ._tables import read_csv

        return read_csv(self._print("--csv"))


def compare(runs, /, **options):
    """Returns the Comparison of runs: Run objects, or folders of runs or sweeps.

    options are those of `heed compare`, such as score="test.loss", columns=["test.loss"] or baseline="model.layers=1".
    """
    return Comparison(runs, options)


def sweep(path=None, *, run=None, progress=False, **options):
    """Trains the runs of a sweep, as `heed sweep` does, and returns their Comparison.

    path is a file of a sweep, or the folder of one to continue. options are those of the command: without a path
    config="configs/sort.toml", axis=["model.layers=1,2"] and seeds=3 describe a sweep. run is its folder (default:
    runs/<name>). The runs are processes of the program heed. Finished runs are kept: call again after an interruption.
    Raises InputError for a mistake, and Error if a run failed.
    """
    source = path if path is not None else options.get("config")
    if run is None and source is not None and not os.path.isdir(source):
        run = os.path.join("runs", pathlib.Path(source).stem + ("" if path is not None else "-sweep"))
    words = ["sweep", *([path] if path is not None else []), *_options({"run": run and os.fspath(run)}), *_options(options)]
    called = _call(words, progress)
    if called.code != 0:
        raise Error(f"{run or path}: a run of the sweep failed or was rejected; progress=True shows why")
    return Comparison([run or path], {})


def task(function):
    """Makes a function a task, for data.command: train({"data": {"kind": "examples", "command": mqar}}).

    function(rng, split) is called once for each example. rng is a Generator of numpy that is seeded with the seed of the run,
    the split ("train", "val" or "test") and the number of the example; the example may depend on nothing else. It returns
    what a line of data.kind = "examples" has: a dictionary such as {"source": "1 2", "target": "2 1"}, or the pair
    (source, target). Texts, lists and arrays of numpy are allowed.

    A run of a task can be resumed or extended only in Python, after the function is defined: train(resume=True, run=…).
    """
    made = _tasks.Task(function)
    _tasks.tasks[made.name] = made
    return made
