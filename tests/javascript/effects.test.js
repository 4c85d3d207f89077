// Tests what is computed from the groups of a sweep before it is drawn.
import assert from "node:assert/strict";
import test from "node:test";
import { stepAxis } from "../../lab/report/page/run.js";
import { effectOf, interactionOf, meanOf, panelNames } from "../../lab/report/page/effects.js";

const group = (heads, rate, colour, dash, scores) => ({
  values: [heads, rate],
  colour,
  dash,
  mean: meanOf(Object.values(scores), true),
  seeds: Object.entries(scores).map(([seed, value]) => ({ seed: Number(seed), value })),
});
const data = {
  log: true,
  keys: [
    { key: "model.heads", name: "heads", values: ["1", "4"] },
    { key: "optim.lr", name: "lr", values: ["0.001", "0.002"] },
  ],
  groups: [
    group("4", "0.001", 1, 0, { 1: 1, 2: 4 }),
    group("1", "0.001", 0, 0, { 1: 2, 2: 8 }),
    group("1", "0.002", 0, 1, { 1: 3 }),
  ],
  differences: { tables: [{ of: "interaction", rows: [{ keys: ["heads", "lr"] }] }] },
};

test("a mean is arithmetic, or geometric on a logarithmic axis", () => {
  assert.equal(meanOf([1, 4], false), 2.5);
  assert.ok(Math.abs(meanOf([1, 4], true) - 2) < 1e-12);
  assert.equal(meanOf([], true), null);
});

test("panels are named by all keys but the first", () => {
  assert.deepEqual(panelNames(data), ["lr=0.001", "lr=0.002"]);
  assert.deepEqual(panelNames({ curves: [] }), []);
});

test("the effect of a key has a line for each seed and setting of the others", () => {
  const { columns, seeds, means } = effectOf(data, 0);
  assert.deepEqual(columns, ["1", "4"]);
  const lines = Object.fromEntries(seeds.map(({ name, values }) => [name, values]));
  assert.deepEqual(lines, {
    "lr=0.001, seed 1": [2, 1],
    "lr=0.001, seed 2": [8, 4],
    "lr=0.002, seed 1": [3, null],
  });
  assert.ok(Math.abs(means[0] - 48 ** (1 / 3)) < 1e-12);
  assert.ok(Math.abs(means[1] - 2) < 1e-12);
  const rates = effectOf(data, 1);
  assert.deepEqual(
    rates.seeds.map(({ colour }) => colour),
    [1, 1, 0, 0],
  );
  assert.deepEqual(rates.seeds.find(({ name }) => name === "heads=1, seed 1").values, [2, 3]);
});

test("an interaction has a line for each value of the first key", () => {
  const { key, columns, lines } = interactionOf(data);
  assert.equal(key, "lr");
  assert.deepEqual(columns, ["0.001", "0.002"]);
  assert.deepEqual(
    lines.map(({ name, colour, points }) => [name, colour, points.map(({ mean }) => mean)]),
    [
      ["heads=1", 0, [data.groups[1].mean, data.groups[2].mean]],
      ["heads=4", 1, [data.groups[0].mean, undefined]],
    ],
  );
});

test("an axis of steps reaches to the last step of any seed", () => {
  const spec = {
    lines: [{ x: [10, 20], seeds: [{ x: [10, 20] }, { x: [10, 20, 30] }] }, { x: [5] }],
  };
  assert.deepEqual(stepAxis([spec], false).ends, [0, 30]);
  assert.deepEqual(stepAxis([spec], true), { kind: "log", ends: [5, 30] });
});
