"""Generated "molecules": do the nitrogen and the oxygen touch? A tree of 8 atoms, C but for one N and one O, grows at
random: bonded atoms have the distance 1, others at least 0.8. The label is "bound" if N and O are closer than 2, else
"free". They are at least 3 bonds apart, so bonds alone say little.

    nodes: C, N or O of each atom    edges: `--edges distances`: all pairs, with their distance
                                            `--edges bonds`: the bonds alone
    global: the limit of a molecule of its own, from 1 to 3.5 in place of 2, with `--limit 0`

The first kind of edges is that of White, "Deep Learning for Molecules and Materials", section 12.11: all atoms are
connected, and distances are attributes of the edges. Chance, "free": 0.56. Best by the number of bonds between N and O:
0.60. Oracle: exact_match 1. With limits that differ, chance, "bound", is 0.56, and the best that does not see
them, "bound" below 2.25, is 0.69."""
from math import dist

from stream import write


def grow(random, count):
    atoms, bonds = [(0, 0, 0)], []
    for _ in range(100 * count):
        parent = random.randrange(len(atoms))
        step = [random.gauss(0, 1) for _ in range(3)]
        atom = tuple(a + s / dist(step, (0, 0, 0)) for a, s in zip(atoms[parent], step))
        if all(dist(atom, other) > 0.8 for other in atoms):
            bonds.append((parent, len(atoms)))
            atoms.append(atom)
        if len(atoms) == count:
            return atoms, bonds
    return grow(random, count)


def hops(bonds, start):
    known = {start: 0}
    while len(known) <= len(bonds):
        for pair in bonds:
            for a, b in (pair, pair[::-1]):
                if a in known:
                    known.setdefault(b, known[a] + 1)
    return known


def example(random, o):
    far = []
    while not far:
        atoms, bonds = grow(random, o.atoms)
        nitrogen = random.randrange(o.atoms)
        away = hops(bonds, nitrogen)
        far = [i for i in range(o.atoms) if away[i] >= 3]
    oxygen = random.choice(far)
    kinds = ["N" if i == nitrogen else "O" if i == oxygen else "C" for i in range(o.atoms)]
    edges = [[i, j, round(dist(a, b), 4)] for i, a in enumerate(atoms) for j, b in enumerate(atoms)
             if i != j and (o.edges == "distances" or (i, j) in bonds or (j, i) in bonds)]
    limit = o.limit or round(random.uniform(1, 3.5), 4)
    bound = dist(atoms[nitrogen], atoms[oxygen]) < limit
    whole = {} if o.limit else {"global": [limit]}
    return whole | {"nodes": [[int(kind == each) for each in "CNO"] for kind in kinds], "edges": edges,
            "target": "bound" if bound else "free", "group": f"{away[oxygen]} bonds"}


if __name__ == "__main__":
    write(example, atoms=8, edges="distances", limit=2.0)
