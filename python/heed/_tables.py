"""Tables as record arrays of numpy."""

import csv
import io
import json

import numpy


class Records(numpy.recarray):
    """A record array: records["val.loss"] is a column, records[0] a row. No value: NaN."""

    def to_pandas(self):
        """Returns the table as a DataFrame of pandas, which must be installed."""
        import pandas

        columns = {name: numpy.asarray(self[name]) for name in self.dtype.names or ()}
        return pandas.DataFrame({name: list(each) if each.ndim > 1 else each for name, each in columns.items()})


def column(values):
    """Returns a list as an array: of integers or numbers, or of lists of them, if all are, else of objects."""
    values = [float("nan") if value in (None, "") else value for value in values]
    try:
        return numpy.array(values, dtype="int64" if all(isinstance(value, int) for value in values) else "float64")
    except (TypeError, ValueError):
        array = numpy.empty(len(values), dtype=object)
        array[:] = values
        return array


def records(columns):
    """Returns a dictionary of lists of one length as Records."""
    arrays = {name: column(values) for name, values in columns.items()}
    table = numpy.empty(
        len(next(iter(arrays.values()), ())), [(name, array.dtype, array.shape[1:]) for name, array in arrays.items()]
    )
    for name, array in arrays.items():
        table[name] = array
    return table.view(Records)


def flattened(row, prefix=""):
    """Yields the members of nested dictionaries as ("val.loss", value)."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def kind_of(row):
    """Returns the kind of a row of metrics.jsonl: its first member that is an object, but train of train.measures."""
    objects = [name for name, value in row.items() if isinstance(value, dict)]
    return next((name for name in objects if name != "train"), "train" if objects else "steps")


def read_metrics(path):
    """Returns the rows of metrics.jsonl, by kind. A last row without an end is still being written."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    rows = {}
    for row in map(json.loads, lines):
        rows.setdefault(kind_of(row), []).append(dict(flattened(row)))
    tables = {}
    for kind, all_rows in rows.items():
        names = dict.fromkeys(name for row in all_rows for name in row)
        tables[kind] = records({name: [row.get(name) for row in all_rows] for name in names})
    return tables


def read_csv(text):
    """Returns a table in CSV as Records."""
    head, *rows = csv.reader(io.StringIO(text))
    return records({name: [row[i] for row in rows] for i, name in enumerate(head)})
