import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../../lab/page/atlas.js";
import { axisFor, axisKind, bandPath, linePath } from "../../lab/page/chart.js";
import { habitOf, roleOf, shadeOf, telling } from "../../lab/page/heat.js";
import { csvText } from "../../lab/page/save.js";
import { makeScale } from "../../lab/page/scale.js";
import {
  headName,
  leadingHeads,
  partName,
  sentencesOf,
  signed,
  waterfall,
} from "../../lab/report/page/inside.js";
import { fileName, percent, significant, tickText, whole } from "../../lab/page/text.js";

const sx = makeScale("linear", [0, 10], [0, 100]);

test("a band stays inside the axis, whatever its limits are", () => {
  for (const [kind, domain] of [
    ["linear", [0, 1]],
    ["log", [0.01, 1]],
    ["logit", [0.001, 0.999]],
  ]) {
    const sy = makeScale(kind, domain, [50, 0]);
    const path = bandPath([0, 5, 10], [-1, 0, 0.2], [0.5, 3, Infinity], sx, sy);
    const ys = [...path.matchAll(/[\d.-]+ ([\d.-]+)/g)].map((match) => Number(match[1]));
    assert.equal(ys.length, 6);
    for (const y of ys) assert.ok(y >= 0 && y <= 50, `${kind}: ${path}`);
  }
  assert.equal(bandPath([], [], [], sx, sx), "");
});

test("a line breaks where a value cannot be drawn", () => {
  const sy = makeScale("log", [0.1, 10], [50, 0]);
  assert.equal(linePath([0, 1, 2, 3], [1, 0, 1, NaN], sx, sy), "M0.0 25.0M20.0 25.0");
});

test("losses over more than a factor of 30 are logarithmic, fractions never", () => {
  assert.equal(axisFor([[0.01, 4]]).kind, "log");
  assert.equal(axisFor([[1, 4]]).kind, "linear");
  assert.equal(axisFor([[0, 4]], { kind: "log" }).kind, "linear");
  assert.deepEqual(axisFor([[0.001, 0.9]], { fraction: true }).ends, [0, 1]);
});

test("numbers are short and have a true minus", () => {
  assert.equal(whole(1234567), "1\u202f234\u202f567");
  assert.equal(significant(0.012345), "0.0123");
  assert.equal(significant(-1.5), "−1.50");
  assert.equal(significant(98765.4), "98\u202f765");
  assert.equal(significant(NaN), "–");
  assert.equal(percent(0.512), "51.2 %");
  assert.deepEqual(
    [0, 0.02, 1000, 100000, 2e-7, -0.5].map((each) => tickText(each)),
    ["0", "0.02", "1\u202f000", "100 k", "2·10⁻⁷", "−0.5"],
  );
  assert.equal(tickText(1e-5), "10⁻⁵");
  assert.equal(tickText(0.75, true), "75 %");
  assert.equal(fileName("Validation loss, <b>"), "validation-loss-b");
});

test("cells of CSV are quoted where they need it", () => {
  assert.equal(
    csvText([
      ["a,b", 'say "x"', null],
      [1.5, "two\nlines", ""],
    ]),
    ['"a,b","say ""x""",\n1.5,"two\nlines",\n'].join(),
  );
});

test("a head is named by what its weights do", () => {
  const labels = ["a", "b", "c", "d"];
  const head = (weight) => ({ rows: labels, columns: labels, weight });
  assert.equal(habitOf(head((row, column) => (column === row - 1 ? 0.8 : 0.05))), "reads one back");
  assert.equal(
    habitOf(head((row, column) => (column === 3 - row ? 0.9 : 0))),
    "reads from the end",
  );
  assert.equal(habitOf(head(() => 0.25)), "");
  assert.equal(shadeOf(0.25, false), 0.25);
  assert.equal(shadeOf(0.25, true), 0.5);
});

test("a head is named by its largest score, if that tells", () => {
  assert.equal(
    roleOf({ previous: 0.9, induction: 0.6, entropy: 2 }).words,
    "looks one position back",
  );
  assert.equal(roleOf({ previous: 0.6, induction: 0.9 }).score, "induction");
  assert.equal(roleOf({ duplicate: telling }).value, telling);
  assert.equal(roleOf({ previous: telling - 0.01, duplicate: null }), null);
  assert.equal(roleOf({}), null);
  assert.equal(roleOf(undefined), null);
});

test("a map is named by its place in words", () => {
  const names = ["encoder.layers.0.attention", "decoder.layers.1.cross_attention"];
  assert.deepEqual(placeOf(names[0], names), { module: "encoder", layer: 0 });
  assert.deepEqual(placeOf(names[1], names), { module: "decoder reads input", layer: 1 });
  assert.equal(placeOf("decoder.layers.0.attention", names).module, "decoder, itself");
  assert.equal(placeOf("decoder.layers.0.attention", []).module, "decoder");
  assert.deepEqual(placeOf("pooled", []), { module: "pooled", layer: 0 });
});

test("parts and heads have names that people read", () => {
  const alone = [{ module: "decoder.layers.0.attention" }];
  assert.equal(partName("decoder.layers.0.attention.head.1", alone), "layer 1, head 2");
  assert.equal(partName("decoder.layers.1.cross_attention.head.0", []), "layer 2, cross head 1");
  assert.equal(partName("decoder.layers.1.cross_attention"), "layer 2, cross-attention");
  assert.equal(partName("decoder.layers.1.feed_forward"), "layer 2, feed-forward");
  assert.equal(partName("biases"), "biases");
  const name = (module, others) =>
    headName(
      { module, head: 1 },
      [module, ...others].map((each) => ({ module: each })),
    );
  assert.equal(name("decoder.layers.1.attention", []), "layer 2, head 2");
  const others = ["encoder.layers.0.attention", "decoder.layers.0.cross_attention"];
  assert.equal(name("decoder.layers.1.attention", others), "layer 2, decoder head 2");
  assert.equal(name("encoder.layers.0.attention", others), "layer 1, encoder head 2");
  assert.equal(name("decoder.layers.0.cross_attention", others), "layer 1, cross head 2");
});

test("a change has a sign, and 0 has none", () => {
  assert.deepEqual(
    [1.234, -0.0456, 0.0001, -0.0001].map((value) => signed(value)),
    ["+1.23", "−0.046", "0.000", "0.000"],
  );
});

test("a checkpoint is said in sentences that follow from its numbers", () => {
  const head = (index, more) => ({
    module: "decoder.layers.0.attention",
    head: index,
    delta: 0.1,
    low: 0.05,
    all: { delta: 0.2, low: 0.1 },
    ...more,
  });
  const said = (...heads) => sentencesOf({ heads });
  assert.equal(
    said(head(0, { previous: 0.6, delta: 0.15 }), head(1, { induction: 0.9 })),
    "Layer 1, head 2, finds what followed its token. Layer 1, head 1, looks one position back. " +
      "Without layer 1, head 1, the loss rises by 0.15.",
  );
  assert.equal(
    said(head(0, { previous: 0.4, delta: 0.001 }), head(1, { previous: 0.1, delta: -0.1 })),
    "Layer 1, head 1, often looks one position back. " +
      "The model does without any single head; without all of " +
      "layer 1 the loss rises by 0.20.",
  );
  assert.equal(said(head(0, { previous: 0.2, low: -1, all: {} })), "No head has a clear aim.");
  assert.equal(said(), "");
  const checkpoints = [
    { heads: [head(0, { previous: 0.4, copying: -1 }), head(1, { previous: 0.2 })] },
    { heads: [head(0, { previous: 0.1, copying: -1 }), head(1, { previous: 0.3 })] },
  ];
  assert.deepEqual(leadingHeads(checkpoints), [
    { score: "previous", words: "previous token", index: 0 },
  ]);
});

test("each bar begins where the one above ends", () => {
  const bars = waterfall([
    ["a", 2],
    ["b", -3],
    ["c", 0.5],
  ]);
  assert.deepEqual(bars, [
    [0, 2],
    [2, -1],
    [-1, -0.5],
  ]);
});

test("a chart of a ratio is logarithmic where it can be, fractions and schedules never", () => {
  const kind = (y, more) => axisKind({ lines: [{ y }], ...more });
  assert.equal(kind([1, 1]), "linear");
  assert.equal(kind([100, 1]), "log");
  assert.equal(kind([100, 0]), "linear");
  assert.equal(kind([100, 1], { from_zero: true }), "linear"); // a schedule is known by its shape
  assert.equal(kind([0.9, 0.01], { fraction: true }), "linear");
  assert.equal(kind([2, 1], { ratio: true }), "log"); // as its bands are
  assert.equal(kind([2, 0], { ratio: true }), "linear");
  const seeds = [{ y: [100] }, { y: [1] }];
  assert.equal(axisKind({ lines: [{ y: [10], seeds }] }), "log");
});
