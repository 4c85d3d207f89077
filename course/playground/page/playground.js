// The page: settings, alternate training, and what is drawn. Each model lives in a Side.
"use strict";

const byId = (id) => document.getElementById(id);
const tasks = JSON.parse(byId("task-list").textContent);  // [{name, toml, text}, …]
// The keys that are knobs, with the names of what they set.
const knobs = [["model.layers", "Layers"], ["model.dim", "Width"], ["model.heads", "Heads"], ["model.block.mixing", "Mixing"],
  ["model.positional.kind", "Positions"], ["model.attention.similarity", "Similarity"], ["model.attention.scale", "Scale of scores"],
  ["model.attention.normaliser", "Normaliser"], ["model.attention.temperature", "Temperature"], ["model.activation", "Activation"],
  ["model.norm_first", "Norm first"], ["model.dropout", "Dropout"], ["optim.kind", "Optimizer"], ["optim.lr", "Learning rate"],
  ["optim.weight_decay", "Weight decay"], ["schedule.kind", "Schedule"], ["schedule.warmup_steps", "Warmup steps"],
  ["train.batch_size", "Batch size"], ["train.steps", "Steps"], ["seed", "Seed"]];
const keys = new Map();  // key → {type, value (its default), allowed, help}

const state = {
  values: {},        // key → value as TOML, of model A; without those that keep their default
  other: null,       // what model B has otherwise: {key, value}, or {mistake, name}
  sides: [new Side("A")],
  running: false, loop: null, making: 0,
  shown: null,       // the step that is shown; null: the newest
  layer: null, head: 0, own: false,
};
const [first] = state.sides;

const tomlOf = (values) => Object.entries(values).map(([key, value]) => `${key} = ${value}\n`).join("");
const differenceOf = ({ key, value, name }) => (key ? `${key} = ${value}` : name);

function complain(where, error) {
  where.textContent = error ? error.message ?? String(error) : "";
  where.hidden = !error;
}

// Replaces what a container shows. Focus stays where it was, and so does the cell that the pointer reads.
let pointer = null;
function replace(container, children) {
  const reachable = () => [...container.querySelectorAll("[tabindex], button, input, select")];
  const at = reachable().indexOf(document.activeElement);
  container.replaceChildren(...children);
  if (at >= 0) reachable()[at]?.focus({ preventScroll: true });
  const under = pointer && document.elementFromPoint(pointer.clientX, pointer.clientY)?.closest(".large, .matrix");
  if (under && container.contains(under)) under.dispatchEvent(new PointerEvent("pointermove", { ...pointer, bubbles: true }));
}

// --- settings

// A field for the value of a key, as TOML.
function field(key, value, change) {
  const { type, allowed, help } = keys.get(key);
  let input;
  if (type === "choice" || type === "true or false") {
    const words = type === "choice" ? allowed.split(", ") : ["true", "false"];
    input = element("select", {}, ...words.map((word) => element("option", { textContent: word })));
    input.value = value.replaceAll('"', "");
  } else {
    input = element("input", { type: "text", inputMode: "decimal", value, size: 10 });
  }
  input.title = `${help}${allowed ? ` (${allowed})` : ""}`;
  input.addEventListener("focus", () => { byId("help").textContent = `${key}: ${input.title}`; });
  input.addEventListener("change", () => change(type === "choice" ? `"${input.value}"` : input.value.trim(), input));
  return input;
}

function drawKnobs() {
  replace(byId("knob-list"), knobs.map(([key, name]) => {
    const value = state.values[key] ?? keys.get(key).value;
    const input = field(key, value, (changed, from) => setValues({ ...state.values, [key]: changed }, from));
    input.dataset.key = key;
    return element("label", { className: state.values[key] === undefined ? "" : "changed" },
      element("span", { className: "name", textContent: name }), element("code", { textContent: key }), input);
  }));
}

function drawOther() {
  const key = byId("other-key").value;
  const value = state.other?.key === key ? state.other.value : state.values[key] ?? keys.get(key).value;
  byId("other-value").replaceChildren(field(key, value, () => {}));
}

// Does what makes models. Until it is done, nothing can be trained.
async function making(action) {
  const buttons = (disabled) => ["train", "one", "reset"].forEach((id) => { byId(id).disabled = disabled; });
  ++state.making;
  buttons(true);
  try {
    await pause();
    return await action();
  } catch (error) {
    complain(byId("error"), error);
    return false;
  } finally {
    buttons(--state.making > 0);
  }
}

// Makes new models from these values. Values that the parser refuses change nothing but the message.
const setValues = (values, from) => making(async () => {
  try {
    await make(tomlOf(values));
  } catch (error) {
    from?.setAttribute("aria-invalid", "true");
    throw error;
  }
});

async function make(toml) {
  await first.make(toml);
  state.values = first.summary.values;
  complain(byId("error"), null);
  if (state.other) await makeOther(state.other);
  state.shown = null;
  byId("toml").value = first.summary.config;
  const typed = byId("typed");
  typed.disabled = !first.summary.reads_text;
  if (typed.disabled) typed.value = "";
  drawKnobs();
  share();
  listParameters();
  await drawAll();
}

// Starts model B. Without `other`, ends it.
async function makeOther(other) {
  const old = state.sides[1];
  state.other = other;
  if (!other) {
    old?.stop();
    state.sides = [first];
  } else {
    if (!old) state.sides = [first, new Side("B")];
    try {
      const values = other.key ? { ...state.values, [other.key]: other.value } : state.values;
      await state.sides[1].make(tomlOf(values), other.mistake);
      if (other.key && state.sides[1].summary.config === first.summary.config)
        throw new Error(`${differenceOf(other)}: model A has this, too; choose another value`);
    } catch (error) {
      await makeOther(null);
      throw new Error(`model B: ${error.message}`);
    }
  }
  byId("compare-stop").hidden = !other;
  if (other?.key) byId("other-key").value = other.key;
  drawOther();
}

// Both models from step 0, so that they have seen the same.
const compare = (other) => making(async () => {
  state.other = other;
  try {
    await make(tomlOf(state.values));
  } catch (error) {
    await drawAll();
    throw error;
  }
  return true;
});

// --- the address

function share() {
  const hash = `#config=${encodeURIComponent(tomlOf(state.values))}`;
  try { history.replaceState(null, "", hash); } catch { /* not from a file, in some browsers */ }
}

function addressed() {
  const parts = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  return { config: parts.get("config"), run: parts.get("run") === "1" };
}

// --- training

async function advance(count) {
  await Promise.all(state.sides.map((side) => side.train(count)));
}

async function keepFrame() {
  await Promise.all(state.sides.map((side) => side.frame()));
}

const total = () => first.summary.steps;

async function train() {
  let count = 1, lastFrame = 0;
  while (state.running && first.step < total()) {
    const began = performance.now();
    await advance(Math.min(count, total() - first.step));
    const took = performance.now() - began;
    count = Math.max(1, Math.min(2 * count, Math.round(count * 100 / took)));
    drawStatus();
    if (performance.now() - lastFrame < 350 && first.step < total()) continue;
    await keepFrame();
    await drawAll();
    lastFrame = performance.now();
  }
  await keepFrame();
  await drawAll();
}

function start() {
  if (state.running || state.making || !first.summary) return;
  if (first.step >= total())
    return complain(byId("error"), new Error(`all ${total()} steps of train.steps are done: reset, or raise train.steps`));
  state.running = true;
  byId("train").textContent = "Pause";
  complain(byId("error"), null);
  state.loop = train().catch((error) => complain(byId("error"), error)).finally(() => {
    state.running = false;
    byId("train").textContent = "Train";
    drawStatus();
  });
}

async function pause() {
  state.running = false;
  await state.loop;
}

async function oneStep() {
  await pause();
  if (!first.summary) return;
  try {
    await advance(1);
    await keepFrame();
    state.shown = null;
    await drawAll();
  } catch (error) {
    complain(byId("error"), error);
  }
}

// --- drawing

function statusOf(side) {
  const frame = side.frames.at(-1);
  const loss = side.losses.length ? side.losses.at(-1) : frame?.scores.loss;
  return `step ${side.step} loss ${loss === undefined ? "–" : loss.toPrecision(4)} exact match ` +
    `${frame ? (100 * frame.scores.exact_match).toFixed(1) : "–"} %`;
}

function drawStatus() {
  byId("status").textContent = statusOf(first);
  byId("status-b").textContent = state.other ? `B: ${statusOf(state.sides[1])}` : "";
}

// The means of at most 300 groups of consecutive losses.
function thinned(losses) {
  const size = Math.ceil(losses.length / 300) || 1, x = [], y = [];
  for (let i = 0; i < losses.length; i += size) {
    const group = losses.slice(i, i + size);
    x.push(i + group.length);
    y.push(group.reduce((a, b) => a + b, 0) / group.length);
  }
  return { x, y };
}

// Lets the browser show a frame, so that not all drawings fall into one.
const breathe = () => new Promise((done) => { setTimeout(done); });

async function drawCurves() {
  const label = (side) => side === first ? (state.other ? "A" : "model")
    : `B: ${differenceOf(state.other)}`;
  const lines = (points) => state.sides.map((side, i) => ({ ...points(side), label: label(side), colour: i ? 9 : 0 }));
  const score = (name) => (side) => ({ x: side.frames.map((f) => f.step), y: side.frames.map((f) => f.scores[name]) });
  const charts = [
    { name: "loss", title: "Loss of each training step", lines: lines((side) => thinned(side.losses)) },
    { name: "exact", title: "Exact match", lines: lines(score("exact_match")), fraction: true },
    { name: "val", title: "Validation loss", lines: lines(score("loss")) }];
  for (const chart of charts) {
    drawCharts({ charts: [chart] });
    await breathe();
  }
}

const stepShown = () => state.shown ?? first.frames.at(-1).step;

function drawPast() {
  const past = byId("past"), steps = first.frames.map((frame) => frame.step);
  past.max = steps.length - 1;
  let index = steps.indexOf(stepShown());
  if (index < 0) { state.shown = null; index = steps.length - 1; }
  past.value = index;
  past.setAttribute("aria-valuetext", `step ${steps[index]}`);
  byId("past-step").textContent = `${steps[index]}${state.shown === null ? " (newest)" : ""}`;
}

function drawAtlasOf(side, read) {
  const maps = read.maps.map((map) => ({ ...map, weights: [Uint8Array.from(map.weights)] }));
  const box = element("div");
  if (state.other) box.append(element("h3", { textContent: `Model ${side.label}` }));
  const source = byId("typed").value.trim() ? read.source : "The first validation example";
  box.append(element("p", { className: "mono", textContent: read.target ? `${source} → ${read.target}` : source }));
  if (!maps.length) {
    box.append(element("p", { className: "note", textContent: "This model has no attention." }));
    return box;
  }
  const layer = Math.min(state.layer ?? maps.length - 1, maps.length - 1), map = maps[layer];
  const head = Math.min(state.head, map.heads - 1);
  const view = { step: 0, own: state.own, layer, head,
    choose: (chosen, of) => { Object.assign(state, { layer: chosen, head: of }); drawAtlases(); } };
  box.append(element("div", { className: "atlas" },
    element("div", { className: "focus" }, element("h3", { textContent: `${map.name}, head ${head}` }), ...largeHead(view, map)),
    element("div", { className: "layers" }, ...maps.flatMap((each, at) => [
      element("h3", { textContent: each.name }),
      element("div", { className: "heads" }, ...Array.from({ length: each.heads }, (_, h) => smallHead(view, each, at, h)))]))));
  return box;
}

async function drawAtlases() {
  const step = stepShown(), typed = byId("typed").value.trim();
  const boxes = [];
  try {
    for (const side of state.sides) boxes.push(drawAtlasOf(side, await side.call("attention", step, typed)));
    complain(byId("example-error"), null);
  } catch (error) {
    complain(byId("example-error"), new Error(error.message.replace(/^--input: /, "")));
    return;
  }
  byId("atlases").classList.toggle("two", boxes.length > 1);
  replace(byId("atlases"), boxes);
}

async function drawPredictions() {
  const step = stepShown();
  const all = [];
  for (const side of state.sides) all.push(await side.call("predictions", step, 8));
  const cell = (prediction) => {
    const right = prediction.predicted === prediction.expected;
    return element("td", { className: right ? "" : "wrong", textContent: `${right ? "✓" : "✗"} ${prediction.predicted}` });
  };
  byId("predicted").replaceChildren(
    element("tr", {}, ...["Input", ...state.sides.map((side) => (state.other ? `Model ${side.label}` : "Predicted")), "Expected"]
      .map((name) => element("th", { textContent: name }))),
    ...all[0].map((prediction, i) => element("tr", {}, element("td", { textContent: prediction.source }),
      ...all.map((list) => cell(list[i])), element("td", { textContent: prediction.expected }))));
}

function listParameters() {
  const select = byId("parameter"), old = select.value;
  const matrices = first.summary.parameters.filter((p) => p.shape.length >= 2);
  select.replaceChildren(...matrices.map((p) => element("option", { value: p.name, textContent: `${p.name} (${p.shape.join(" × ")})` })));
  if (matrices.some((p) => p.name === old)) select.value = old;
}

// A matrix as a picture: blue below zero, orange above, the stronger the larger. Where cells are large enough, those below
// zero have a bar, so that colour does not carry the sign alone. `names`: {rows, columns}, for the text that reads a cell;
// `power`: of a value in the strength of its colour.
function matrixPicture(values, rows, columns, names, title, power = 0.5) {
  const scale = values.reduce((most, v) => Math.max(most, Math.abs(v)), 1e-12);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [ground, high, low] = dark ? [[20, 23, 27], [255, 139, 61], [86, 180, 233]] : [[255, 255, 255], [190, 76, 0], [0, 90, 160]];
  const small = element("canvas", { width: columns, height: rows });
  const image = small.getContext("2d").createImageData(columns, rows);
  values.forEach((value, i) => {
    const strength = (Math.abs(value) / scale) ** power, colour = value > 0 ? high : low;
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = ground[c] + strength * (colour[c] - ground[c]);
    image.data[4 * i + 3] = 255;
  });
  small.getContext("2d").putImageData(image, 0, 0);
  const cell = Math.max(2, Math.min(14, Math.floor(480 / Math.max(rows, columns))));
  const canvas = element("canvas", { className: "matrix", width: columns * cell, height: rows * cell, tabIndex: 0 });
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, columns * cell, rows * cell);
  context.fillStyle = css("--ground");
  values.forEach((value, i) => {
    if (cell >= 6 && value < -0.02 * scale)
      context.fillRect(i % columns * cell + 2, (Math.floor(i / columns) + 0.5) * cell - 0.5, cell - 4, 1);
  });
  const range = `${(-scale).toPrecision(3)} (blue${cell >= 6 ? ", with a bar" : ""}) to ${scale.toPrecision(3)} (orange)`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}: ${rows} rows, ${columns} columns, values from ${range}. The arrow keys read a value.`);
  const readout = element("p", { className: "readout", textContent: `From ${range}. Point at a cell to read it.` });
  readout.setAttribute("aria-live", "polite");
  let row = 0, column = 0;
  const named = (labels, at) => (labels?.[at] !== undefined && labels[at] !== String(at) ? ` (${labels[at]})` : "");
  const read = () => {
    readout.textContent = `row ${row}${named(names.rows, row)}, column ${column}${named(names.columns, column)}: ` +
      values[row * columns + column].toPrecision(4);
  };
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    row = Math.min(rows - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * rows)));
    column = Math.min(columns - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * columns)));
    read();
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("keydown", (event) => {
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    if (!down && !right) return;
    event.preventDefault();
    row = Math.min(rows - 1, Math.max(0, row + down));
    column = Math.min(columns - 1, Math.max(0, column + right));
    read();
  });
  return element("div", {}, element("h3", { textContent: title }), canvas, readout);
}

const ofModel = (side, title) => (state.other ? `Model ${side.label}: ${title}` : title);

const positionTexts = {
  vectors: "A row is the vector that stands for a position; the model adds it to the token's, or sets it beside it. Positions that are alike have similar rows.",
  rotation: "Attention rotates queries and keys, pair by pair of dimensions, by angles that grow with the position: the cosine and the sine of each angle. The first pairs turn fast, the last ones slowly, so that a score depends on the distance.",
  bias: "What is added to the score of a query (row) for a key (column) before the softmax. A negative number means less attention.",
  none: "This model adds no positions. Its attention sees a set: without a mask it cannot tell one order of the tokens from another.",
};

// The cosine of the angle between the vectors of every two positions.
function alike({ rows, columns, values }) {
  const dot = (a, b) => {
    let sum = 0;
    for (let c = 0; c < columns; ++c) sum += values[a * columns + c] * values[b * columns + c];
    return sum;
  };
  const lengths = Array.from({ length: rows }, (_, row) => Math.sqrt(dot(row, row)) || 1);
  return Array.from({ length: rows * rows }, (_, i) => {
    const [a, b] = [Math.floor(i / rows), i % rows];
    return dot(a, b) / (lengths[a] * lengths[b]);
  });
}

async function drawPositions() {
  const step = stepShown(), all = [];
  for (const side of state.sides) all.push(await side.call("positions", step));
  const names = [...new Set(all.flat().map((picture) => picture.name))], select = byId("position-picture"), old = select.value;
  if (names.join() !== [...select.options].map((option) => option.value).join()) {
    select.replaceChildren(...names.map((name) => element("option", { textContent: name })));
    if (names.includes(old)) select.value = old;
  }
  select.parentElement.hidden = names.length < 2;
  const drawings = [], texts = new Set();
  all.forEach((pictures, i) => {
    const side = state.sides[i], picture = pictures.find(({ name }) => name === select.value);
    texts.add(positionTexts[pictures[0]?.what ?? "none"]);
    if (!picture) return;
    const labels = { rows: picture.row_names, columns: picture.column_names };
    drawings.push(matrixPicture(picture.values, picture.rows, picture.columns, labels, ofModel(side, picture.name)));
    if (picture.what !== "bias")
      drawings.push(matrixPicture(alike(picture), picture.rows, picture.rows, { rows: picture.row_names, columns: picture.row_names },
        ofModel(side, "how alike two positions are (cosine)"), 2));
  });
  byId("position-note").textContent = [...texts].join(" ");
  replace(byId("position-pictures"), drawings);
}

async function drawWeights() {
  const name = byId("parameter").value, step = stepShown(), pictures = [];
  for (const side of state.sides) {
    let from = 0;
    for (const p of side.summary.parameters) {
      const size = p.shape.reduce((a, b) => a * b, 1);
      if (p.name === name) {
        const rows = p.shape[0], columns = size / rows;
        const names = { rows: name.endsWith("token.weight") ? side.summary.tokens : [] };
        pictures.push(matrixPicture(await side.call("weights", step, from, size), rows, columns, names, ofModel(side, name)));
      }
      from += size;
    }
  }
  replace(byId("pictures"), pictures);
}

// Drawings follow one another; of those that were asked for meanwhile only the last is made.
let drawing = null, again = false;
function drawAll() {
  again = true;
  drawing ??= (async () => {
    await null;  // so that `drawing` is set before it can be cleared
    try {
      while (again) {
        again = false;
        drawStatus();
        await drawCurves();
        drawPast();
        await drawAtlases();
        await drawPredictions();
        await drawPositions();
        await drawWeights();
      }
    } finally {
      drawing = null;
    }
  })();
  return drawing;
}

// --- the controls

function chooseTask(task) {
  byId("look").textContent = task?.text ?? "A config of your own.";
  byId("tasks").value = task?.name ?? "own";
}

function copy(text, what) {
  const done = () => { byId("copied").textContent = `${what} copied.`; };
  navigator.clipboard?.writeText(text).then(done, () => { byId("copied").textContent = "This browser does not let a page copy."; });
}

function listen() {
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  on("tasks", "change", () => making(async () => {
    const task = tasks.find((each) => each.name === byId("tasks").value);
    await makeOther(null);
    chooseTask(task);
    byId("typed").value = "";
    byId("break-look").textContent = "";
    await make(task.toml);
  }));
  on("train", "click", () => (state.running ? pause() : start()));
  on("one", "click", oneStep);
  on("reset", "click", () => setValues(state.values));
  on("other-key", "change", drawOther);
  on("compare-start", "click", () => {
    const input = byId("other-value").firstChild, key = byId("other-key").value;
    const value = keys.get(key).type === "choice" ? `"${input.value}"` : input.value.trim();
    byId("break-look").textContent = "";
    return compare({ key, value });
  });
  on("compare-stop", "click", async () => {
    await pause();
    await makeOther(null);
    byId("break-look").textContent = "";
    await drawAll();
  });
  on("past", "input", () => {
    const index = byId("past").valueAsNumber;
    state.shown = index + 1 === first.frames.length ? null : first.frames[index].step;
    drawAll();
  });
  on("typed", "change", drawAll);
  on("own", "change", () => { state.own = byId("own").checked; drawAll(); });
  on("position-picture", "change", drawAll);
  on("parameter", "change", drawAll);
  on("use", "click", () => making(async () => {
    await make(byId("toml").value);
    chooseTask(null);
  }));
  on("copy", "click", () => copy(byId("toml").value, "Config"));
  on("link", "click", () => copy(`${location.href.split("#")[0]}#config=${encodeURIComponent(tomlOf(state.values))}&run=1`, "Link"));
  addEventListener("pointermove", ({ isTrusted, clientX, clientY }) => { if (isTrusted) pointer = { clientX, clientY }; });
  addEventListener("scroll", () => { pointer = null; }, { passive: true });
  addEventListener("hashchange", open);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  byId("breaks").replaceChildren(...breaks.map((mistake) => {
    const { name, look, ...other } = mistake;
    if (!other.key) other.name = name.toLowerCase();
    const button = element("button", { type: "button", textContent: name, title: differenceOf(other) });
    button.addEventListener("click", async () => {
      byId("break-look").textContent = "";
      if (!await compare(other)) return;
      byId("break-look").textContent = `Model B: ${differenceOf(other)}. ${look}`;
      start();
    });
    return button;
  }));
}

// Loads the config of the address, or the first task.
async function open() {
  const { config, run } = addressed();
  const done = await making(async () => {
    if (config !== null) {
      try {
        await make(config);
        chooseTask(null);
        return true;
      } catch (error) {
        if (first.summary) throw error;
        chooseTask(tasks[0]);
        await make(tasks[0].toml);
        throw error;
      }
    }
    chooseTask(tasks[0]);
    await make(tasks[0].toml);
    return true;
  });
  if (done && run) start();
}

(async () => {
  byId("tasks").replaceChildren(...tasks.map((task) => element("option", { value: task.name, textContent: task.name })),
    element("option", { value: "own", textContent: "own config", disabled: true }));
  try {
    for (const { key, ...rest } of await first.call("keys")) keys.set(key, rest);
  } catch (error) {
    complain(byId("error"), error);
    return;
  }
  const others = [...keys].filter(([key, { type }]) => !type.includes("path") && !type.includes("list") && key !== "threads");
  byId("other-key").replaceChildren(...others.map(([key]) => element("option", { value: key, textContent: key })));
  byId("other-key").value = "model.attention.scale";
  drawOther();
  listen();
  await open();
})();
