"""Makes a notebook of a script with cells, or runs the cells of a notebook as a kernel would.

    notebook.py SCRIPT NOTEBOOK    "-": standard output. "# %%" begins a cell, "# %% [markdown]" one of text
    notebook.py --run NOTEBOOK     in the current folder; prints what a cell shows
"""

import ast
import json
import pathlib
import sys


def cells_of(script):
    for part in ("\n" + script).split("\n# %%")[1:]:
        head, _, body = part.partition("\n")
        body = body.strip("\n")
        if head.strip() == "[markdown]":
            yield "markdown", "\n".join(line.removeprefix("#").removeprefix(" ") for line in body.split("\n"))
        else:
            yield "code", body


def notebook_of(script):
    cells = []
    for i, (kind, text) in enumerate(cells_of(script)):
        cell = {"cell_type": kind, "id": f"cell{i}", "metadata": {}, "source": text.splitlines(keepends=True)}
        cells.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def run(notebook):
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if shown:
            value = eval(compile(ast.Expression(shown.value), cell["id"], "eval"), names)
            print(value)
            if hasattr(value, "_repr_html_"):
                print(f"({len(value._repr_html_())} characters of HTML)")


if sys.argv[1] == "--run":
    run(json.loads(pathlib.Path(sys.argv[2]).read_text()))
else:
    notebook = notebook_of(pathlib.Path(sys.argv[1]).read_text())
    with sys.stdout if sys.argv[2] == "-" else open(sys.argv[2], "w") as file:
        file.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
