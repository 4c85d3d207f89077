"""Prints docs/python.md, made of the docstrings of the package heed, which must be importable."""

import inspect
import textwrap

import heed


def text_of(item):
    """Returns a docstring as Markdown: indented lines become code."""
    return inspect.getdoc(item).replace("\n\n    ", "\n\n    ")


def heading(name, item):
    if isinstance(item, property):
        return f"`{name}`"
    signature = str(inspect.signature(item)).replace("(self, ", "(").replace("(self)", "()")
    return f"`{name}{signature}`"


def main():
    print("# Python\n\n<!-- Made by docs/python_page.py of the docstrings. -->\n")
    print(text_of(heed).partition("\n\n")[2])
    for name in ("train", "open", "sweep", "compare", "task"):
        print(f"\n## {heading('heed.' + name, getattr(heed, name))}\n\n{text_of(getattr(heed, name))}")
    for name in ("Run", "Activations", "Comparison"):
        item = getattr(heed, name)
        print(f"\n## `heed.{name}`\n\n{text_of(item)}")
        for key, member in vars(item).items():
            if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                print(f"\n### {heading(key, member)}\n\n{text_of(member)}")
    print("\n## Errors\n")
    for error in (heed.InputError, heed.Error):
        base = error.__bases__[0].__name__
        print(textwrap.fill(f"`heed.{error.__name__}`, a {base}: {inspect.getdoc(error)}", 10**6) + "\n")


main()
