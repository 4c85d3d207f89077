// What pages say of their facts: sentences, tables, and that a text of a run stays text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { markup } from "./dom.js";
import { insidePage } from "../../lab/report/page/inside_sections.js";
import { entriesOf, listPage, listedRun } from "../../lab/report/page/list.js";
import { problemPage, viewPage } from "../../lab/report/page/lists.js";
import { timeByKind } from "../../lab/report/page/run.js";
import { markedOutput, runPage, scoresTable } from "../../lab/report/page/run_sections.js";
import { inWords, questionOf, sweepPage } from "../../lab/report/page/sweep_sections.js";
import { duration, headlineOf, leadOf, ordinal, splitWords } from "../../lab/report/page/words.js";

const hostile = "</script><img src=x onerror=alert(1)>";
const contains = (page, ...parts) => {
  for (const part of parts) assert.ok(page.includes(part), `${part}\nis not in\n${page}`);
};
const bodyOf = ({ heading = [], main }) => markup([...heading, ...main]);

const score = (name, value, fraction = name !== "loss") => ({ name, value, fraction });
const exact = (split, value, interval, loss, examples = 500) => ({
  split,
  examples,
  interval,
  scores: [score("loss", loss), score("exact_match", value)],
});
const run = (more) => ({
  name: "runs/a",
  state: "done",
  step: 0,
  steps: 20,
  scores: [],
  changed: [],
  notes: [],
  ...more,
});
const pageOf = (more) => ({
  run: run(),
  task: "reverse",
  seed: 1,
  started: "",
  best_by: "loss",
  trained: {},
  model: [],
  machine: [["precision", "highest"]],
  record: [],
  commands: {},
  keys: "seed = 1\n",
  curves: [],
  statistics: [],
  ...more,
});

test("a headline is the result in words, and the sentence below it what does not work", () => {
  const said = (scores, trained, more) => {
    const data = pageOf({ run: run({ scores, ...more }), trained });
    return `${headlineOf(data)} | ${leadOf(data)}`;
  };
  const scores = [
    exact("test", 0.998, [0.9888, 0.9996], 0.1),
    exact("test_longer", 0.012, [0.0056, 0.0259], 4),
  ];
  assert.equal(
    said(scores, { steps: 5000, seconds: 22, best_step: 5000 }),
    "reverse: 99.8 % of 500 test outputs are exactly right after 5\u202f000 steps, 22 s | Of the " +
      "split test_longer only 1.2 % are. The best step by validation loss is the last one: it " +
      "was still improving.",
  );
  // What is surely worse stands out.
  contains(
    markup(scoresTable(scores)),
    '<b>99.8 %</b></td><td class="n q">98.9 … 100.0</td>',
    '<td class="n bad">1.2 %</td>',
    '<td class="n q">500</td>',
  );
  const tokens = { split: "val", examples: null, interval: null };
  assert.equal(
    said([{ ...tokens, scores: [score("token_accuracy", 0.5), score("loss", 2)] }], {
      steps: 100,
      best_step: 50,
    }),
    "reverse: 50.0 % of the validation tokens are predicted right after 100 steps | The best " +
      "step by validation loss is 50.",
  );
  assert.equal(
    said([{ ...tokens, scores: [score("loss", 2.5)] }], {}),
    "reverse: validation loss 2.500 | ",
  );
  assert.equal(said([], {}), "reverse: step 0 of 20 | ");
  assert.equal(
    said([], {}, { state: "failed", step: 3 }),
    "reverse: the run failed after 3 steps | ",
  );
});

test("scores are a row for each split, the main one first, without what the loss says", () => {
  const of = (split, value) => ({
    split,
    examples: null,
    interval: null,
    scores: [score("loss", 1.25), score("perplexity", 3.5, false), score("exact_match", value)],
  });
  const table = markup(scoresTable([of("val", 0.25), of("test", 0.5)]));
  contains(
    table,
    '<th></th><th class="n">exact match</th><th class="n">95 % interval</th>',
    '<th class="n">loss</th>',
    '<td>test</td><td class="n"><b>50.0 %</b></td><td class="n q">–</td><td class="n">1.250</td>',
    '<td>validation</td><td class="n">25.0 %</td>',
  );
  assert.ok(!table.includes("perplexity"));
  assert.equal(scoresTable([]), null);
});

test("the first wrong token of an output is struck out, what should stand there follows", () => {
  const marked = (...texts) => markup(markedOutput(...texts));
  assert.equal(marked("1 2 3", "1 2 3"), "1 2 3");
  assert.equal(
    marked("1 22 3", "1 2 3"),
    '1 <s class="w">22</s> <ins class="t">2</ins> <span class="q">3</span>',
  );
  assert.equal(marked("1 2", "1 2 3"), '1 2 <ins class="t">3</ins> <span class="q"></span>');
  assert.equal(
    marked("1 2 3", "1 2"),
    '1 2 <s class="w">3</s> <ins class="t">end</ins> <span class="q"></span>',
  );
  assert.equal(
    marked("käse", "kase"),
    'k<s class="w">ä</s> <ins class="t">a</ins> <span class="q">se</span>',
  );
  contains(marked("<b>", "x"), "&lt;");
});

test("the kinds of operations add up to a step", () => {
  const kinds = timeByKind([
    ["linear", 1, 2],
    ["add", 0.25, 0],
    ["scaled_dot_product_attention", 0, 0.5],
    ["linear_cross_entropy", 0, 0.125],
    ["optimizer", 0, 0.75],
    ["batch preparation", 0, 0.375],
  ]);
  assert.deepEqual(
    kinds.map(({ name, forward, backward }) => `${name} ${forward} ${backward}`),
    [
      "matrix products 1 2",
      "attention 0 0.5",
      "norms, sums, activations 0.25 0",
      "loss 0 0.125",
      "optimizer 0 0.75",
      "rest 0 0.375",
    ],
  );
});

test("the page of a run has its samples, errors, keys and commands", () => {
  const page = runPage(
    pageOf({
      run: run({ changed: [["optim.lr", "0.01", "0.001", "--set"]], left: 36, notes: ["A note."] }),
      trained: { parameters: 1234 },
      model: [["model.dim", "16", "64"]],
      commands: { trained: "heed train a.toml", use: "heed evaluate runs/a" },
      curves: [{}],
      samples: [
        {
          split: "test",
          wrong: 1,
          examples: 1000,
          first_error: 2,
          shown: 2,
          rows: [
            ["3 1", "3 1", "1 3"],
            ["5", "5", "5"],
            ["7", "7", "7"],
          ],
        },
        {
          split: "test_longer",
          wrong: null,
          examples: 2,
          first_error: 0,
          shown: 2,
          rows: [["", "<b>", ""]],
        },
      ],
      step: 1000,
      errors: [["1", "2", 3000]],
      confusion: { labels: ["1", "2"], counts: [] },
      split: "test",
      attention: {},
      time: { seconds: 0.00125, layers: [], operations: [] },
    }),
  );
  const body = bodyOf(page);
  contains(
    body,
    '<span class="state done">done</span><span class="q s">about 36 s left</span>',
    '<p class="note">A note.</p>',
    "<dt>optim.lr</dt><dd>0.01 <i>(0.001)</i></dd>",
    "<dt>model.dim</dt><dd>16 <i>(64)</i></dd>",
    '<span class="q">1\u202f234 parameters</span>',
    '<p class="m">5 → 5</p>',
    '<td colspan="3">test: 1 of 1\u202f000 is wrong. The first wrong token is the 2nd</td>',
    '<td class="no">✗</td><td>3 1</td><td><s class="w">3</s> <ins class="t">1</ins>',
    '<td class="ok">✓</td><td>5</td><td>5</td>',
    "<pre>&lt;b></pre>",
    '<td>1</td><td>2</td><td class="n">3\u202f000</td>',
    "1 key with another value than the default",
    "<td>optim.lr</td><td>0.01</td><td>0.001</td><td>--set</td>",
    "<code>heed evaluate runs/a</code>",
    "<b>1.25 ms</b>",
    ...["curves", "samples", "attention", "confusion", "time"].map((name) => `data-draw="${name}"`),
  );
  assert.ok(!body.includes("<td>7</td>"), "more samples than are shown");
  assert.deepEqual(
    page.links.map(([id]) => id),
    ["top", "curves", "samples", "attention", "errors", "time", "reproduce"],
  );
  // What a run lacks is left out.
  const bare = runPage(pageOf({ details_of: "a/b&c" }));
  assert.deepEqual(
    bare.links.map(([, text]) => text),
    ["Result", "Reproduce"],
  );
  contains(bodyOf(bare), '<a href="/report?run=a%2Fb%26c&amp;details=1">');
});

const row = (more) => ({
  pairs: 3,
  size: 2,
  low: 0.5,
  high: 8,
  p: 0.25,
  flipped_p: 0.5,
  verdict: "open",
  text: "no difference shown: between 0.5 and 8 times (3 pairs)",
  ...more,
});
const differences = { log: true, none: 1, points: false, lower: true, shown: true, tables: [] };

test("the pairs of seeds are an answer in words", () => {
  const said = (verdict, size, of = differences) => inWords(of, row({ verdict, size }));
  assert.equal(said("difference", 0.34), "lower, which is better");
  assert.equal(said("alike", 2), "higher, which is worse");
  assert.equal(said("alike", 1), "no difference");
  assert.equal(said("none", 1.01), "no difference");
  assert.equal(said("open", 2), "no difference shown");
  assert.equal(said("few", 2), "too few seeds");
  const points = { ...differences, log: false, none: 0, points: true, lower: false };
  assert.equal(said("difference", -0.026, points), "lower, which is worse");
});

test("a page asks what its keys change", () => {
  assert.equal(questionOf([], "val.loss"), "How far does val.loss vary from seed to seed?");
  assert.equal(questionOf(["optim.lr"], "val.loss"), "Does optim.lr change val.loss?");
  assert.equal(
    questionOf(["model.dim", "optim.lr"], "val.loss"),
    "Do model.dim and optim.lr change val.loss?",
  );
});

const group = (name, values, more) => ({
  name,
  values,
  colour: 0,
  dash: 0,
  count: "3",
  n: 3,
  mean: 0.75,
  low: 0.657,
  high: 0.825,
  seeds: [],
  others: [null, 0.5, 2],
  ...more,
});
const sweepOf = (more) => ({
  planned: 3,
  runs: [],
  score: "val.exact_match",
  lower: false,
  fraction: true,
  chosen_by: "val.loss",
  chosen_lower: true,
  log: false,
  interval: "95 % interval (Wilson)",
  repeats_over_seeds: true,
  repeats: [],
  failures: [],
  keys: [{ key: "optim.lr", name: "lr", values: ["0.002", "0.01"] }],
  columns: [
    { name: "test.exact_match", fraction: true },
    { name: "val.token_accuracy", fraction: true },
    { name: "val.loss", fraction: false },
  ],
  groups: [
    group("lr=0.002", ["0.002"]),
    group("lr=0.01", ["0.01"], { count: "2 of 3 (1 failed)" }),
  ],
  differences: { ...differences, tables: [] },
  warnings: [],
  curves: [],
  ...more,
});

test("the page of a sweep has groups, differences, what is missing, and all runs", () => {
  const groups = [
    {
      of: "keys",
      rows: [row({ keys: ["lr"], values: ["0.01"], instead: ["0.002"] })],
    },
    {
      of: "interaction",
      rows: [
        row({
          keys: ["dim", "lr"],
          values: ["16", "0.01"],
          instead: ["8", "0.002"],
          size: 1,
        }),
      ],
    },
    { of: "groups", first: "lr=0.002", rows: [row({ name: "lr=0.01" }), row({ name: "lr=0.1" })] },
  ];
  const page = sweepPage(
    sweepOf({
      runs: [
        run({ name: "s/1", value: 0.5, seconds: 40, state: "running", left: 40, step: 10 }),
        run({ name: "s/2", value: null, state: "failed", notes: ["The run failed: step 3: NaN"] }),
        run({ name: "s/3", value: 0.75, seconds: 200 }),
      ],
      plan: { question: "<b>Which?", folder: "s", command: "heed sweep s" },
      left: 160,
      repeats: ["s/4"],
      failures: ["1 of 3 runs failed"],
      differences: { ...differences, tables: groups },
      warnings: ["with 3 pairs"],
      more: { seeds: 4, runs: 8, command: "heed sweep s --seeds 7" },
    }),
  );
  const body = bodyOf(page);
  contains(
    body,
    '<span class="state running">1 of 3 runs done, 1 running, 1 failed</span>',
    '<span class="q s">about 2:40 left</span>',
    '<p class="say">&lt;b>Which?</p>',
    "<b>lr=0.01 instead of 0.002: no difference shown: between 0.5 and 8 times " +
      "(3 pairs)</b>, p = 0.25. ",
    "<summary>Without the assumption of a bell curve</summary>",
    '<p class="note">1 of 3 runs failed</p>',
    '<span class="m">val.loss</span>, lower is better',
    '<th>0.002</th><td class="n">3</td><td class="plotted"></td><td class="n"><b>75.0 %</b></td>' +
      '<td class="n q">65.7 … 82.5</td><td class="n other">–</td>' +
      '<td class="n other">50.0 %</td></tr>',
    '<td class="n"><b>2 of 3 (1 failed)</b></td>',
    ">95 % interval (Wilson)<",
    "<summary>All scores</summary>",
    "Left out: s/4, which repeats another run.",
    "lr=0.01, not 0.002</td>",
    "interaction: the effect of dim at one value of lr, over that at another one",
    'dim=16, not 8, at lr=0.01 over 0.002</td><td class="n">3</td><td class="n"><b>1.00</b>',
    "each group against lr=0.002; p corrected for 2 comparisons (Holm)",
    "<p>with 3 pairs.</p>",
    '<p class="q s">Add 4 seeds (8 runs)</p>',
    'data-draw="groups"',
    'data-draw="effects"',
    // failed ones first, with the step at which they failed
    '<tbody><tr class="failed"><td class="m">2</td>',
    "width:15.0%",
    '<td class="n">40 s</td><td class="last">about 40 s left</td>',
    '<td class="n">75.0 %</td><td class="n">3:20</td>',
    '<p class="q s">Continue, and resume the runs that failed</p>',
    "heed sweep s --retry-failed",
  );
  const waiting = (state, planned) =>
    bodyOf(
      sweepPage(sweepOf({ runs: [run({ state, value: null })], planned, plan: { command: "c" } })),
    );
  contains(waiting("resumable", 1), ">Continue<");
  assert.ok(!waiting("running", 1).includes(">Continue"), "it goes on by itself");
  assert.ok(!waiting("done", 1).includes(">Continue"));
});

test("an infinite median of a target is later than the last step", () => {
  const of = (more) => ({
    reached: 2,
    of: 2,
    median: 15,
    seconds: 15,
    last_step: 40,
    last_seconds: 40,
    steps: [],
    ...more,
  });
  const target = {
    score: "val.loss",
    value: 0.5,
    lower: true,
    last: 40,
    left_out: 1,
    groups: [of(), of({ reached: 0, of: 3, median: null, seconds: null })],
  };
  contains(
    bodyOf(sweepPage(sweepOf({ target }))),
    "</span> ≤ 0.5; ▷ had not reached it",
    '<td>lr=0.002</td><td class="n">2 of 2</td><td class="n">15</td><td class="n">15.0</td>',
    '<td>lr=0.01</td><td class="n">0 of 3</td><td class="n">> 40</td><td class="n">> 40.0</td>',
    "Left out: 1 run that failed, or trains",
  );
});

test("runs that are not grouped are a table, or only curves", () => {
  const page = sweepPage({
    planned: 1,
    runs: [run({ value: null })],
    score: "val.loss",
    curves: [],
    table: [
      ["run", "seed"],
      ["s/3", "3"],
    ],
  });
  contains(
    bodyOf(page),
    "1 run, each by itself",
    '<th>run</th><th class="n">seed</th>',
    '<td>s/3</td><td class="n">3</td>',
  );
  assert.deepEqual(
    page.links.map(([id]) => id),
    ["result", "runs"],
  );
});

test("the page of inspect has what the model has", () => {
  const data = {
    checkpoints: [{ step: 3000, heads: [{}] }],
    shown: [1, 7].map((example) => ({
      example,
      why: "median loss",
      maps: [],
      views: [{ lens: [], parts: [1] }],
    })),
    first: 0,
    model: {
      kind: "encoder-decoder",
      layers: 1,
      decoder_layers: 2,
      heads: 2,
      width: 16,
      parameters: 4321,
    },
    examples: 1000,
    split: "val",
    with: "zero",
    notes: ["The lens is left out"],
  };
  const page = insidePage(data);
  contains(
    bodyOf(page),
    "encoder-decoder · 1 + 2 layers × 2 heads · width 16 · 4\u202f321 parameters",
    "The page shows step 3\u202f000, because the run has the weights of no other. train.snapshots",
    "show one example of the validation split; scores and ablation read 1\u202f000 of its examples",
    "when 0 replaces its output",
    '<p class="note">The lens is left out</p>',
    '<section id="head" aria-label="The chosen head">',
  );
  assert.equal(data.example, 1);
  const [, chooser] = page.heading;
  contains(markup(chooser), "<option>example 7: median loss</option>");
  assert.deepEqual(page.links, [
    ["heads", "Heads"],
    ["parts", "Attribution"],
    ["reading", "Reading"],
  ]);
  data.checkpoints.push({ step: 4000, heads: [{}] });
  for (const each of data.shown) each.views.push({ lens: [], parts: [2] });
  contains(bodyOf(insidePage(data)), "The slider moves everything");
});

test("a run of the list has links, what differs, its loss, state and time left", () => {
  const one = { name: '<i>&"x', state: "running", step: 500, steps: 2000, left: 90, loss: 0.0005 };
  const state = { chosen: new Set() };
  contains(
    markup(listedRun({ ...one, changed: [["lr", "0.1"]], x: [1, 2], y: [2, 1] }, state)),
    'name="run" value="&lt;i>&amp;&quot;x"',
    '<a href="/report?run=%3Ci%3E%26%22x">&lt;i>&amp;"x</a><small>lr=0.1</small>',
    'd="M2.0 3.0L108.0 27.0"',
    "0.000500<small>training</small>",
    '<span class="state running">running 25 %</span><small>about 90 s left</small>',
    '<a href="/inside?run=%3Ci%3E%26%22x"',
  );
  const short = listedRun(
    { name: "s/a", state: "done", config: "c.toml", val_loss: 2 },
    state,
    "s/",
  );
  contains(markup(short), ">a</a><small></small>", "2.00<small>validation</small>");
  contains(bodyOf(listPage({ runs: [] })), "There is no run here yet.");
});

test("the list groups runs by sweep, filters by words and sorts", () => {
  const made = (name, more) => ({ name, state: "done", ...more });
  const data = {
    runs: [
      made("a", {
        date: "2026-01-01T00:00:00Z",
        val_loss: 3,
        seconds: 5,
        changed: [["lr", "0.1"]],
      }),
      made("b", { date: "2026-01-03T00:00:00Z", loss: 2, state: "failed" }),
      made("s/1", { date: "2026-01-02T00:00:00Z", val_loss: 1, seconds: 9 }),
      made("s/2", { date: "2026-01-01T00:00:00Z", val_loss: 4, seconds: 1 }),
      made("sx", { date: "2026-01-01T00:00:00Z", val_loss: 9 }),
    ],
    sweeps: [{ name: "s", question: "Does Width help?" }],
  };
  const names = (words, sort) =>
    entriesOf(data, words, sort).map(({ sweep, runs }) =>
      [sweep ? `${sweep.name}:` : "", ...runs.map(({ name }) => name)].join(""),
    );
  assert.deepEqual(names("", "newest"), ["b", "s:s/1s/2", "a", "sx"]);
  assert.deepEqual(names("", "loss"), ["s:s/1s/2", "b", "a", "sx"]);
  assert.deepEqual(names("", "name"), ["a", "b", "s:s/1s/2", "sx"]);
  assert.deepEqual(names("", "time"), ["s:s/1s/2", "a", "b", "sx"]);
  assert.deepEqual(names("lr=0.1 done", "name"), ["a"]);
  assert.deepEqual(names("FAILED", "name"), ["b"]);
  assert.deepEqual(names("width 2", "name"), ["s:s/2"]);
  assert.deepEqual(names("nothing", "name"), []);
  data.sweeps = [{ name: "." }];
  assert.deepEqual(names("", "name"), [".:abs/1s/2sx"]);
});

test("numbers of a view have bars", () => {
  const rows = [
    ["head", "loss", "words"],
    ["1", "+0.50", "a"],
    ["2", "-0.25", "b"],
  ];
  const view = bodyOf(viewPage({ view: "ablate", shows: "The effect.", rows, notes: ["n"] }));
  contains(view, "<h2>The effect.</h2>", '<th class="n">loss</th><th>words</th>', "var(--bad) 30%");
  contains(view, 'transparent) 50.0%,transparent 0)">-0.25</span>', '<p class="note">n</p>');
});

test("nothing of a run becomes HTML", () => {
  const bad = run({
    name: hostile,
    scores: [{ split: hostile, examples: 1, interval: null, scores: [score(hostile, 1)] }],
    changed: [["train.load", hostile, hostile, hostile]],
    notes: [hostile],
    value: null,
  });
  const samples = [
    {
      split: hostile,
      wrong: 1,
      examples: 1,
      first_error: 1,
      shown: 1,
      rows: [[hostile, hostile, "x"]],
    },
  ];
  const texts = { record: [[hostile, hostile]], commands: { use: hostile }, keys: hostile };
  const pages = [
    runPage(
      pageOf({ run: bad, samples, ...texts, task: hostile, layers: hostile, data: [hostile] }),
    ),
    sweepPage(sweepOf({ runs: [bad], failures: [hostile], groups: [group(hostile, [hostile])] })),
    { main: [listedRun(bad, { chosen: new Set() })] },
    problemPage({ problem: hostile }),
    viewPage({ view: "x", shows: hostile, rows: [[hostile], [hostile]], notes: [hostile] }),
  ];
  for (const page of pages) {
    const body = bodyOf(page);
    contains(body, "&lt;/script>&lt;img");
    assert.ok(!body.includes("<img"), body);
  }
});

test("durations, splits and ordinals are words", () => {
  assert.deepEqual([22, 185, 3725].map(duration), ["22 s", "3:05", "1:02:05"]);
  assert.deepEqual(["val", "test", "test_longer"].map(splitWords), [
    "validation",
    "test",
    "test, longer",
  ]);
  assert.deepEqual([1, 2.2, 3, 4.7, 11, 12, 21, 113].map(ordinal), [
    "1st",
    "2nd",
    "3rd",
    "5th",
    "11th",
    "12th",
    "21st",
    "113th",
  ]);
});
