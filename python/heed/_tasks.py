"""Tasks: functions that make examples, in place of the program of data.command."""

import json

splits = {"train": 0, "val": 1, "test": 2}
tasks = {}  # by name
errors = []  # that functions have raised since the last training began


class Task:
    """A function that makes examples, as a value of the key data.command. Calling it calls the function."""

    def __init__(self, function):
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, rng, split):
        return self.function(rng, split)

    def __repr__(self):
        return f"<heed.task {self.name}>"


def plain(value):
    """Returns an array or a number of numpy as a list or a number of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an example of a heed.task cannot have a {type(value).__name__}")


def line(name, split, seed, number):
    """Returns example `number` of a split as a line of JSON, from a generator seeded with all three."""
    import numpy

    try:
        if name not in tasks:
            raise LookupError(f"there is no heed.task {name} in this process: import the module that defines it")
        example = tasks[name](numpy.random.default_rng([seed, splits[split], number]), split)
        if isinstance(example, tuple):
            example = dict(zip(("source", "target"), example))
        return json.dumps(example, default=plain, ensure_ascii=False)
    except Exception as error:
        errors.append(error)
        raise
