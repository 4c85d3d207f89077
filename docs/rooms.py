#!/usr/bin/env python3
"""Draws docs/rooms.svg, the rooms of docs/reading.md: who includes whom is read from tests/includes/run.sh, and the chapters from
apps/minimal/files.txt. Without a name it writes to standard output. tests/docs/run.sh compares.

    docs/rooms.py [docs/rooms.svg]
"""
import pathlib, re, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "course/drawings"))
sys.dont_write_bytecode = True
from svg import Drawing

# What a room is for.
WORDS = {"course": "chapters, exercises and their grader, museum, playground", "lab": "sweeps, reports, measurements, claims",
         "apps": "the program heed: configs, training, generation", "nn": "layers and models", "optim": "optimizers, schedules",
         "data": "tasks, files, batches", "core": "tensors, gradients, operations and their loops"}
OPTION = {"course": "left out by -DHEED_COURSE=OFF", "lab": "left out, with the course, by -DHEED_LAB=OFF"}


def table():
    """folder: the folders that it may include, besides tests."""
    script = (root / "tests/includes/run.sh").read_text()
    part = script[script.index('libraries="'):script.index("\n)\n", script.index("declare -A")) + 3]
    listed = subprocess.run(["bash", "-c", part + 'for f in "${!may_include[@]}"; do echo "$f ${may_include[$f]}"; done'],
                            capture_output=True, text=True, check=True).stdout
    return {folder: set(others) - {"tests"} for folder, *others in map(str.split, listed.splitlines())}


def levels(uses):
    """0 for what uses nothing, and one more than the highest that it uses for others."""
    level = {}
    while len(level) < len(uses):
        ready = [x for x in uses if x not in level and all(y in level for y in uses[x])]
        if not ready:
            sys.exit(f"a circle among {sorted(set(uses) - set(level))}")
        level.update({x: 1 + max((level[y] for y in uses[x]), default=-1) for x in ready})
    return level


def chapters():
    """room: the chapters that have files in it."""
    found, name, number = {}, "", 0
    for line in (root / "apps/minimal/files.txt").read_text().splitlines():
        if line.startswith("chapter "):
            name, number = line[8:], number + 1
        elif re.match(r"[a-z]+/", line):
            own = found.setdefault(line.split("/")[0], [])
            if f"{number} {name}" not in own:
                own.append(f"{number} {name}")
    return found


def draw():
    uses, read = table(), chapters()
    of = lambda folder: folder.split("/")[0]
    rooms = levels({r: {of(y) for x in uses if of(x) == r for y in uses[x]} - {r} for r in map(of, uses)})
    rows = [sorted((r for r in rooms if rooms[r] == n), key=list(WORDS).index) for n in range(max(rooms.values()), -1, -1)]
    d = Drawing(0, "The rooms of heed", "From above: " + "; ".join(
        " beside ".join(f"{r} ({WORDS[r]})" for r in row) for row in rows) + ". Each room includes only rooms below it.")
    d.text(12, 24, "A room includes only rooms below it; a folder, in its own room, only those to its right", "t", 14, bold=True)
    y, width = 40, 676
    for n, row in enumerate(rows):
        inner = {r: {x: {z for z in uses[x] if of(z) == r} for x in uses if x.startswith(r + "/")} for r in row}
        height = max(58, *(30 + 24 * max(list(levels(i).values()).count(k) for k in levels(i).values()) + 10 if i else 0 for i in inner.values()))
        w = (width - 12 * (len(row) - 1)) / len(row)
        for c, room in enumerate(row):
            x = 12 + c * (w + 12)
            d.rect(x, y, w, height, "n", dash=room in OPTION)
            d.text(x + 10, y + 20, room, "t", 14, bold=True)
            d.text(x + 18 + 9 * len(room), y + 20, WORDS[room], "m", 12)
            if room in OPTION:
                d.text(x + w - 10, y + 20, OPTION[room], "m", 12, "end")
            columns = levels(inner[room]) if inner[room] else {}
            pitch = (w - 16) / (1 + max(columns.values(), default=0))
            for k in sorted(set(columns.values())):
                for i, folder in enumerate(sorted(f for f in columns if columns[f] == k)):
                    bx, by, name = x + w - 8 - (k + 1) * pitch, y + 30 + 24 * i, folder.split("/")[1]
                    minimal = name == "minimal"
                    d.rect(bx + 2, by, pitch - 4, 20, "q" if minimal else "n", sw=1)
                    d.text(bx + pitch / 2, by + 14, f"{name} · {read[room][0].split()[0]}" if minimal else name, "tq" if minimal else "t", 12, "middle")
            if room in read and not columns:
                d.rect(x + 8, y + 30, w - 16, 20, "q", sw=1)
                d.text(x + w / 2, y + 44, " · ".join(read[room]), "tq", 12, "middle")
            if n + 1 < len(rows):  # to each room of the next row
                under = len(rows[n + 1])
                for k in range(under) if len(row) == 1 else [c]:
                    px = 12 + (k + 0.5) * (width + 12) / max(under, len(row)) - 6
                    d.arrow([(px, y + height), (px, y + height + 18)], sw=1.6)
        y += height + 20
    d.rect(12, y - 2, 14, 14, "q", sw=1)
    d.text(32, y + 10, "chapters of the reading order, which the program minimal consists of", "m", 12)
    d.h = y + 22
    d.save(sys.argv[1] if len(sys.argv) > 1 else "/dev/stdout")


draw()
