"""What data.command asks for: `--split train|val|test --seed S --start N` writes the examples N, N + 1, … as JSON."""
import argparse
import json
import os
import random
import sys


def write(example, **options):
    """Writes example(random, o) without end. `random` depends only on the seed, the split and the number of the
    example. `o` has these (`o.start` is the number) and the options of the task, whose defaults are `options`."""
    parser = argparse.ArgumentParser(description=sys.modules[example.__module__].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=["train", "val", "test"], required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--start", type=int, required=True)
    for name, value in options.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    o = parser.parse_args()
    try:
        while True:
            print(json.dumps(example(random.Random(f"{o.seed} {o.split} {o.start}"), o)))
            o.start += 1
    except BrokenPipeError:  # the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
