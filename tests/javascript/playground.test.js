import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfSteps, groupedLosses } from "../../course/playground/page/curves.js";
import { eventsOf } from "../../course/playground/page/events.js";
import { columnsOf, sharesOfPixels } from "../../course/playground/page/model.js";
import { placeOfPixel } from "../../course/playground/page/picture.js";
import {
  firstPosition,
  isPool,
  logitsAt,
  nameOfHead,
  planOf,
  useOf,
  weightOf,
} from "../../course/playground/page/plan.js";
import { taskTexts } from "../../course/playground/page/tasks.js";
import { measures, outcomeOf, recordOf, tours } from "../../course/playground/page/tours.js";

const byteOf = (weight) => Math.round(255 * Math.sqrt(weight));

// A map with one head whose weights are these rows.
const mapOf = (name, rows) => ({
  name,
  heads: 1,
  rows: rows.length,
  columns: rows[0].length,
  scale: 1,
  weights: rows.flat().map(byteOf),
});
const stageOf = (stage, count) => ({ stage, norm: Array(count).fill(1) });

const chain = {
  source: null,
  maps: [
    mapOf("decoder.layers.0.attention", [
      [1, 0, 0],
      [0.75, 0.25, 0],
      [0, 0, 1],
    ]),
    mapOf("decoder.layers.1.attention", [
      [1, 0, 0],
      [0, 1, 0],
      [0, 1, 0],
    ]),
  ],
  stages: [
    "embedding",
    "decoder.layers.0.attention",
    "decoder.layers.0.feed_forward",
    "decoder.layers.1.attention",
    "decoder.layers.1.feed_forward",
  ].map((name) => stageOf(name, 3)),
};

test("the bytes of a map are roots of its weights", () => {
  assert.ok(Math.abs(weightOf(chain.maps[0], 0, 1, 0) - 0.75) < 0.01);
  assert.ok(Math.abs(weightOf({ ...chain.maps[0], scale: 2 }, 0, 1, 0) - 1.5) < 0.02);
});

test("the plan of one stack has a row for each sublayer, in order", () => {
  const { isPair, rows, embeddings } = planOf(chain);
  assert.equal(isPair, false);
  assert.deepEqual(
    rows.map(({ kind, layer }) => [kind, layer]),
    [
      ["attention", 0],
      ["local", 0],
      ["attention", 1],
      ["local", 1],
    ],
  );
  assert.equal(embeddings[0].stage, "embedding");
});

test("what a position uses is the weight times the use of its query above", () => {
  const plan = planOf(chain);
  const use = useOf(plan, 2).map(({ left }) => left.map((value) => Number(value.toFixed(2))));
  assert.deepEqual(use.at(-1), [0, 0, 1]);
  assert.deepEqual(use[2], [0, 1, 1]); // below the second attention: position 2 read position 1
  assert.deepEqual(use[0], [0.75, 1, 1]); // which had read position 0
  const off = useOf(plan, 2, new Set(["decoder.layers.1.attention.head.0"]));
  assert.deepEqual(off[0].left, [0, 0, 1]);
});

test("in a chain of attention layers a position uses only what the layers read", () => {
  const isAttention = ({ stage }) => !stage.endsWith("feed_forward");
  const stages = chain.stages.filter(isAttention);
  const plan = planOf({ ...chain, stages, residual: false });
  assert.equal(plan.rows.length, 2);
  const use = useOf(plan, 2).map(({ left }) => left.map((value) => Number(value.toFixed(2))));
  assert.deepEqual(use, [
    [0.75, 0.25, 0],
    [0, 1, 0],
    [0, 0, 1],
  ]);
});

test("the plan of a pair puts cross-attention where the encoder ends", () => {
  const pair = {
    source: ["1", "2"],
    maps: [
      mapOf("encoder.layers.0.attention", [
        [1, 0],
        [0, 1],
      ]),
      mapOf("decoder.layers.0.attention", [
        [1, 0],
        [0, 1],
      ]),
      mapOf("decoder.layers.0.cross_attention", [
        [0, 1],
        [1, 0],
      ]),
    ],
    stages: [
      "source_embedding",
      "encoder.layers.0.attention",
      "encoder.layers.0.feed_forward",
      "embedding",
      "decoder.layers.0.attention",
      "decoder.layers.0.cross_attention",
      "decoder.layers.0.feed_forward",
    ].map((name) => stageOf(name, 2)),
  };
  const plan = planOf(pair);
  assert.deepEqual(
    plan.rows.map(({ title, kind }) => [title, kind]),
    [
      ["Self-attention", "attention"],
      ["Feed-forward", "local"],
      ["Cross-attention", "cross"],
      ["Feed-forward", "local"],
    ],
  );
  assert.deepEqual(
    plan.rows.map(({ encoderEnds }) => encoderEnds),
    [false, false, true, false],
  );
  const use = useOf(plan, 0);
  assert.deepEqual(use[0], { left: [0, 1], right: [1, 0] });
  assert.equal(
    nameOfHead("decoder.layers.0.cross_attention", 1, true),
    "Cross-attention, layer 1, head 2",
  );
  assert.equal(nameOfHead("encoder.layers.2.attention", 0, true), "Encoder, layer 3, head 1");
  assert.equal(nameOfHead("decoder.layers.1.attention", 0, false), "Layer 2, head 1");
});

test("bars are in the order of the vocabulary, and have the target", () => {
  const logit = (token, value, probability) => ({ token, logit: value, probability });
  const trace = {
    typed: false,
    logits: [[logit("b", 2, 0.6), logit("a", 1, 0.22), logit("c", 0, 0.08)]],
    targets: ["a"],
    losses: [-Math.log(0.22)],
  };
  const whole = logitsAt(trace, 0, ["a", "b", "c"]);
  assert.deepEqual(
    whole.bars.map(({ token }) => token),
    ["a", "b", "c"],
  );
  assert.equal(whole.top.token, "b");
  const rare = { ...trace, targets: ["z"], losses: [-Math.log(0.06)] };
  const some = logitsAt(rare, 0, ["a", "b", "c", "z"]);
  assert.equal(some.bars.at(-1).token, "z");
  assert.ok(Math.abs(some.bars.at(-1).probability - 0.06) < 1e-12);
  assert.ok(Math.abs(some.bars.at(-1).logit - (2 + Math.log(0.1))) < 1e-12);
  assert.equal(logitsAt({ ...trace, typed: true }, 0, ["a", "b", "c"]).target, null);
});

test("the first position is one that is predicted, or a lit pixel", () => {
  const stages = [stageOf("embedding", 5)];
  const predicts = { stages, logits: Array(5).fill([]), losses: [null, null, 1, 1, 1] };
  assert.equal(firstPosition(predicts), 3);
  assert.equal(firstPosition({ stages, logits: [{}], losses: [1] }, "mean"), 2);
  assert.equal(firstPosition({ stages, logits: [{}], losses: [1] }, "first"), 0);
  const pixels = [
    [0, 0, 9],
    [0, 250, 0],
  ];
  assert.equal(firstPosition({ pixels, stages, logits: [{}], losses: [1] }), 1);
});

const head = (previous) => ({ module: "decoder.layers.0.attention", head: 1, previous });
const at = (step, exact, previous) => ({
  step,
  scores: { exact_match: exact, loss: 1 - exact },
  heads: [head(previous)],
});

test("events are the first frames in which a measured score passes a level", () => {
  const events = eventsOf([
    at(0, 0, 0.1),
    at(10, 0.3, 0.45),
    at(20, 0.4, 0.62),
    at(30, 0.6, 0.48), // not below 0.4: the same event
    at(40, 0.96, 0.55),
    at(50, 0.97, 0.2),
    at(60, 0.4, 0.7), // a second time
  ]);
  assert.deepEqual(
    events.map(({ step, text, strong }) => [step, `${text} ${strong}`]),
    [
      [20, "Head 2 of layer 1 began to look one position back"],
      [30, "Exact match passed 50 %"],
      [40, "Exact match passed 95 %"],
      [60, "Head 2 of layer 1 began to look one position back"],
    ],
  );
  assert.match(events[0].note, /0\.62/);
});

test("what stands at step 0 is no event, nor is a score that a model cannot have", () => {
  assert.deepEqual(eventsOf([at(0, 1, 0.9), at(10, 1, 0.9)]), []);
  assert.deepEqual(eventsOf([at(0, 0, null), at(10, 0, null)]), []);
});

test("curves: groups of losses keep their mean, and the axis ends at the next 200", () => {
  const losses = Array.from({ length: 1000 }, (_, i) => i);
  const { x, y } = groupedLosses(losses);
  assert.equal(x.length, 250);
  assert.equal(x.at(-1), 1000);
  assert.equal(y[0], 1.5);
  assert.deepEqual([0, 1, 200, 201].map(endOfSteps), [200, 200, 200, 400]);
});

test("every task asks about what stands before the chosen position", () => {
  const view = { inputs: ["<bos>", "1", "4"], source: ["4", "1"], position: 2, prompt: 1 };
  const text = (name) =>
    taskTexts[name]
      .ask(view)
      .map((each) => each.strong ?? each)
      .join("");
  assert.equal(text("reverse"), "Read 4 1 and write it backwards. Which token follows 1 4?");
  for (const name of Object.keys(taskTexts)) assert.ok(text(name).length > 20, name);
});

test("of many positions those around one have a place, and the ends have room", () => {
  const few = columnsOf(9, 10, 360, 3);
  assert.deepEqual([few.first, few.behind, few.pitch, few.x(0)], [0, 0, 40, 30]);
  const middle = columnsOf(100, 0, 360, 50);
  assert.deepEqual([middle.first, middle.drawn, middle.behind], [32, 36, 32]);
  assert.equal(middle.x(31), null);
  assert.equal(middle.x(68), null);
  assert.ok(middle.x(32) >= 30 && middle.x(67) <= 330);
  const start = columnsOf(100, 0, 360, 4);
  assert.deepEqual([start.first, start.behind], [0, 64]);
  assert.ok(start.x(0) < 10);
  const end = columnsOf(100, 0, 360, 99);
  assert.deepEqual([end.first, end.behind], [64, 0]);
  assert.ok(end.x(99) > 350);
});

test("the plan finds the queries of a pool", () => {
  const pooled = { ...chain, maps: [...chain.maps, mapOf("pool.attention", [[0.5, 0.25, 0.25]])] };
  assert.equal(planOf(pooled).pool.rows, 1);
  assert.equal(planOf(chain).pool, null);
  assert.ok(!isPool("encoder.layers.0.attention"));
});

test("what a tour measures of a map", () => {
  const right = mapOf("a", [
    [1, 0],
    [0.25, 0.75],
  ]);
  const wrong = mapOf("a", [
    [0.5, 0.5],
    [0, 1],
  ]);
  assert.equal(measures.largest(right, 0), "0.75");
  assert.equal(measures.sums(right, 0), "1.00 … 1.00");
  assert.equal(measures.ahead(right, 0), "0.00");
  assert.equal(measures.ahead(wrong, 0), "0.25");
});

test("a tour says what was measured, and when it is too early to say", () => {
  const sideOf = (...exact) => ({
    step: 10 * (exact.length - 1),
    history: exact.map((match, i) => ({ step: 10 * i, scores: { exact_match: match, loss: 1 } })),
  });
  const said = (right) =>
    [0, 1, 2, 3].map((i) => ({ predicted: "1", expected: i < right ? "1" : "2" }));
  const good = recordOf(sideOf(0, 0.6, 0.97), said(4));
  assert.deepEqual([good.half, good.most, good.right, good.generated], [10, 20, 4, 4]);
  const late = recordOf(sideOf(0, 0.2, 0.3), said(1));
  const leaks = recordOf(sideOf(0.6, 0.99, 1), said(0));
  const [scale, axis, mask] = tours;
  assert.equal(outcomeOf(scale, 1, late, late)[0], "q"); // too early
  assert.deepEqual(outcomeOf(scale, 1, good, late), ["ok", "✓ You expected it."]);
  assert.equal(outcomeOf(scale, 2, good, late)[0], "no");
  assert.equal(outcomeOf(scale, 1, good, good)[0], "q"); // this run does not show it
  assert.equal(outcomeOf(axis, 1, good, leaks)[0], "ok");
  assert.equal(outcomeOf(axis, 1, good, good)[0], "q");
  assert.equal(outcomeOf(mask, 0, late, leaks)[0], "no");
  assert.equal(outcomeOf(mask, 1, good, late)[0], "q");
  const leaksFirst = recordOf(sideOf(0.6, 0.9, 0.9, 0.96), said(0)); // to 50 %, though not to 95 %
  assert.equal(outcomeOf(mask, 1, good, leaksFirst)[0], "ok");
  for (const { other, answers, exhibit } of tours) {
    assert.ok(other && exhibit.length === 2);
    assert.equal(answers.filter(([, isRight]) => isRight).length, 1);
  }
});

test("a pixel has a row and a column, and of a video a frame", () => {
  assert.equal(placeOfPixel(5, [2, 3]), "row 2, column 3");
  assert.equal(placeOfPixel(10, [2, 2, 3]), "frame 2, row 2, column 2");
});

test("the weights of pixels lie in a row, in a column, or on lit pixels", () => {
  const map = mapOf("a", [
    [0, 1, 0, 0],
    [1, 0, 0, 0],
    [0, 0, 0, 1],
    [0, 1, 0, 0],
  ]);
  const pixels = [0, 200, 0, 0].map((red) => [red, 0, 0]);
  const shares = (grid) => sharesOfPixels(map, 0, { pixels, grid }).map(({ share }) => share);
  assert.deepEqual(shares([2, 2]), [0.75, 0.25, 0.5]);
  assert.deepEqual(shares([1, 2, 2]), [0.5]);
  assert.deepEqual(sharesOfPixels(map, 0, { grid: null }), []);
});
