// The page: settings, training, and what is drawn when. Each model lives in a Side.
import { html, makeButton, replace, withCode } from "../../../lab/page/dom.js";
import { percent, whole } from "../../../lab/page/text.js";
import { breaks } from "./breaks.js";
import { drawCurves, endOfLearning, endOfSteps } from "./curves.js";
import { eventsOf } from "./events.js";
import { drawModel, textOfExact, textOfLoss } from "./model.js";
import { configPanel, headPanel, keysPanel, logitPanel, partPanel } from "./panel.js";
import { imageOf } from "./picture.js";
import { firstPosition, isPool } from "./plan.js";
import { Side } from "./side.js";
import { moreKeys, ownTask, taskTexts } from "./tasks.js";
import { tourPanel, tours, tourSteps } from "./tours.js";

const byId = (id) => document.getElementById(id);
const tasks = JSON.parse(byId("task-list").textContent); // [{name, toml, text}, …]
const arrival = tasks.find(({ name }) => name === "recall"); // measured to succeed within seconds
const redrawMs = 350; // at most three drawings a second
const chunkMs = 60; // of training without an answer
const tomlOf = (values) =>
  Object.entries(values)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join("");
// Lengths as one reads them, "4" or "1 to 8", and back.
const readableLengths = (value) =>
  value.replace(/^\[(\d+), (\d+)\]$/, (_, a, b) => (a === b ? a : `${a} to ${b}`));
const lengthsOf = (text) =>
  text.replace(/^(\d+)(?:\s*(?:to|…|-|–)\s*(\d+))?$/, (_, a, b = a) => `[${a}, ${b}]`);
// The page wrote the config of a knob's value: where in it an error is says nothing.
const withoutPlace = ({ message }) => new Error(message.replace(/^config:\d+:\d+: /, ""));
const differenceOf = ({ key, value, name }) => (key ? `${key} = ${value}` : name);
// Lets the browser show a frame.
const breathe = () => new Promise((done) => setTimeout(done));

function complain(id, error) {
  const where = byId(id);
  where.replaceChildren(...(error ? withCode(error.message ?? String(error)) : []));
  where.hidden = !error;
}

// The widths of the columns of predictions, in pixels; the input gets what is left (null). An early
// model may predict long texts: their column is only as wide as that of the targets.
function predictionColumns(list, names) {
  const longest = (key) => Math.max(...list.map((each) => each[key].length));
  const target = Math.max(5, longest("expected"));
  const predicted = Math.max(names.length > 3 ? 0 : 8, longest("expected") + 2);
  const letters = names.slice(1).map((name) => (name === "target" ? target : predicted));
  const all = letters.reduce((sum, count) => sum + count, 0);
  const isLong = longest("source") + all > 39; // then letters are smaller
  const most = 37 / Math.max(37, all); // the rest is for the input
  const widths = letters.map((count) => Math.round(count * most * (isLong ? 6.7 : 7.3)) + 10);
  return { widths: [null, ...widths], isLong };
}

function startPage() {
  const keys = new Map(); // key → {type, value (its default), allowed, help}
  const first = new Side("A");
  const state = {
    task: null, // of tasks; null: a config of one's own
    values: {}, // key → value as TOML, of model A; without those that keep their default
    solved: null, // the step at which training stopped because nothing is left to learn
    other: null, // what model B has otherwise: {key, value} or {mistake, name}; with `look`
    sides: [first],
    running: false,
    loop: null,
    making: 0,
    shown: null, // the step that is shown; null: the newest
    example: 0,
    typed: "",
    position: null, // null: chosen by the example
    panel: null, // {kind: "head" | "part" | "logit" | "keys" | "config" | "tour", …}
    off: new Set(),
    ablated: null, // {part, step, loss, …}, or {part, step, error}
    cells: new Map(), // the cell that is read, by what the map says it is
    predictions: [],
    open: null,
    filter: "",
    focus: null, // the data-key that the next drawing focuses
    trace: null,
    otherTrace: null,
    matrices: null,
    tour: null,
    moreBreaks: false,
  };
  const narrowQuery = matchMedia("(max-width: 720px)");
  const wideQuery = matchMedia("(min-width: 1640px)");
  const sheetQuery = matchMedia("(max-width: 1055px)"); // panels are sheets at the bottom

  // --- values of keys

  // What was typed or chosen, as TOML.
  function typedValue(key, text) {
    if (keys.get(key).type === "choice") return `"${text}"`;
    return key === "data.lengths" ? lengthsOf(text.trim()) : text.trim();
  }

  function field(key, value, change, id) {
    const { type, allowed, help } = keys.get(key);
    const isChoice = type === "choice" || type === "true or false";
    const title = `${key}: ${help}${allowed ? ` (${allowed})` : ""}`;
    const read = (text) => typedValue(key, text);
    const shared = { title, "data-key": `${id ?? "field"} ${key}`, "data-of": key, id };
    if (isChoice) {
      const words = type === "choice" ? allowed.split(", ") : ["true", "false"];
      const chosen = value.replaceAll('"', "");
      const option = (word) => html("option", { selected: word === chosen }, word);
      const input = html("select", shared, ...words.map(option));
      input.addEventListener("change", () => change(read(input.value), input));
      return input;
    }
    const text = key === "data.lengths" ? readableLengths(value) : value;
    const input = html("input", { ...shared, type: "text", value: text, spellcheck: "false" });
    input.addEventListener("change", () => change(read(input.value), input));
    return input;
  }

  const valueOf = (key) => state.values[key] ?? keys.get(key).value;
  const poolOf = () => valueOf("model.pool").replaceAll('"', "");
  const textsOfTask = () => taskTexts[state.task?.name] ?? ownTask;

  const setKey = (key) => (value, from) => setValues({ ...state.values, [key]: value }, from);

  function drawKnobs() {
    const rows = textsOfTask().knobs.flatMap(([key, name]) => {
      const changed = state.values[key] !== undefined;
      const id = `k-${key.replaceAll(".", "-")}`;
      const label = html("label", { for: id, class: changed ? "c" : "" }, name);
      return [label, field(key, valueOf(key), setKey(key), id)];
    });
    replace(byId("knobs"), ...rows);
  }

  function drawTasks() {
    const own = !state.task && first.summary ? { name: "own config" } : null;
    const list = own ? [...tasks, own] : tasks;
    const buttons = list.map((task, i) => {
      const chosen = task === (own ?? state.task);
      return makeButton(
        {
          role: "radio",
          "aria-checked": `${chosen}`,
          tabindex: chosen ? 0 : -1,
          "data-key": `task ${task.name}`,
          "data-task": task.name,
          title: task.text,
          onclick: () => task.toml && chooseTask(task),
          onkeydown: (event) => {
            const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (!move) return;
            event.preventDefault();
            const next = byId("tasks").children[(i + move + list.length) % list.length];
            next.focus();
          },
        },
        task.name,
        html("span", { class: "m" }, taskTexts[task.name]?.example ?? ""),
      );
    });
    replace(byId("tasks"), ...buttons);
  }

  // Which keys B can have otherwise: the knobs of the task, and some more.
  function drawOther(key = byId("other-key").value) {
    const list = [...textsOfTask().knobs, ...moreKeys].filter(([each]) => isUsed(each));
    const select = byId("other-key");
    const has = (each) => list.some(([name]) => name === each);
    const chosen = [key, "model.positional.kind"].find(has) ?? list[0][0];
    const options = list.map(([each, name]) =>
      html("option", { value: each, selected: each === chosen }, name),
    );
    replace(select, ...options);
    const value = state.other?.key === chosen ? state.other.value : anotherValue(chosen);
    replace(
      byId("other-value"),
      field(chosen, value, () => {}, "other"),
    );
  }

  // A value that A does not have.
  function anotherValue(key) {
    const { type, allowed } = keys.get(key);
    const value = valueOf(key);
    if (type === "choice")
      return allowed
        .split(", ")
        .map((word) => `"${word}"`)
        .find((word) => word !== value && word !== '"learned"');
    if (type === "true or false") return value === "true" ? "false" : "true";
    const number = Number(value);
    if (!Number.isFinite(number)) return value.replace(/\d+/g, (digits) => `${Number(digits) + 1}`);
    if (key === "optim.lr") return `${number / 10}`;
    return number === 0 ? "1" : /[.e]/.test(value) ? `${number * 2}` : `${Math.round(number * 2)}`;
  }

  // --- making models

  function showState() {
    const now = state.making ? "making" : state.running ? "training" : "ready";
    document.body.dataset.state = now;
    const noModel = state.making > 0 || !first.summary;
    for (const id of ["train", "one", "again"]) byId(id).disabled = noModel;
    byId("train").dataset.on = `${state.running}`;
    byId("train").textContent = state.running ? "Pause" : "Train";
  }

  // Runs an action that makes models, and then trains them. Nothing can be trained meanwhile.
  async function making(action, isTrained = true) {
    let done = false;
    ++state.making;
    showState();
    try {
      await pause();
      await drawing;
      await action();
      done = true;
    } catch (error) {
      complain("error", error);
    } finally {
      --state.making;
      showState();
    }
    if (done && isTrained) start();
    return done;
  }

  // Makes new models from these values. Values that the parser refuses change nothing but the
  // message.
  const setValues = (values, from) =>
    making(async () => {
      try {
        await make(tomlOf(values));
      } catch (error) {
        from?.setAttribute("aria-invalid", "true");
        throw withoutPlace(error);
      }
    });

  async function make(toml) {
    await first.make(toml);
    state.values = first.summary.values;
    complain("error", null);
    if (state.other) await makeOther(state.other);
    Object.assign(state, { shown: null, position: null, ablated: null, solved: null });
    state.off.clear();
    if (["head", "part", "logit"].includes(state.panel?.kind)) state.panel = null;
    if (state.example >= first.summary.validation) state.example = 0;
    if (!first.summary.reads_text) state.typed = "";
    drawTasks();
    drawKnobs();
    drawOther();
    drawWhich();
    drawBreaks();
    share();
    await drawAll(true);
  }

  // Starts model B. Without `other`, ends it.
  async function makeOther(other) {
    const old = state.sides[1];
    state.other = other;
    if (!other) {
      old?.stop();
      state.sides = [first];
      state.otherTrace = null;
      return;
    }
    if (!old) state.sides = [first, new Side("B")];
    try {
      const values = other.key ? { ...state.values, [other.key]: other.value } : state.values;
      await state.sides[1].make(tomlOf(values), other.mistake);
      if (other.key && state.sides[1].summary.config === first.summary.config)
        throw new Error(
          `${differenceOf(other)}: model A has this value too; choose a different one`,
        );
    } catch (error) {
      await makeOther(null);
      throw new Error(`model B: ${withoutPlace(error).message}`);
    }
  }

  // Both models from step 0, so that they have seen the same.
  async function compare(other) {
    const done = await making(async () => {
      await makeOther(null);
      state.other = other;
      await make(tomlOf(state.values));
    });
    if (!done) await drawAll();
  }

  const chooseTask = (task) =>
    making(async () => {
      await makeOther(null);
      Object.assign(state, { task, typed: "", example: 0, open: null, panel: null, tour: null });
      await make(task.toml);
    });

  // --- the address

  function share() {
    try {
      history.replaceState(null, "", `#config=${encodeURIComponent(tomlOf(state.values))}`);
    } catch {
      // not from a file, in some browsers
    }
  }

  // --- training

  const total = () => first.summary.steps;
  const advance = (count) => Promise.all(state.sides.map((side) => side.train(count)));
  const keepFrame = () => Promise.all(state.sides.map((side) => side.frame()));

  async function train() {
    let count = 1;
    let since = 0; // steps since the last drawing
    let drawn = 0;
    while (state.running && first.step < total() && !stopsSolved()) {
      const most = [1, 10, 50, Infinity, Infinity][byId("speed").valueAsNumber];
      const wait = byId("speed").valueAsNumber === 4 ? 1000 : redrawMs;
      const now = Math.max(1, Math.min(count, total() - first.step, most - since));
      const began = performance.now();
      await advance(now);
      since += now;
      const took = performance.now() - began;
      count = Math.max(1, Math.min(2 * now, Math.round((now * chunkMs) / took)));
      if (first.frameMs < chunkMs / 3) await keepFrame(); // cheap, and makes the curves finer
      drawBar();
      if (since < most && performance.now() - drawn < wait) continue;
      const rest = redrawMs - (performance.now() - drawn);
      if (since >= most && rest > 0) await new Promise((done) => setTimeout(done, rest));
      await keepFrame();
      drawAll();
      drawn = performance.now();
      since = 0;
    }
    await keepFrame();
    await drawAll();
  }

  // Training stops once when the validation examples are right three times in a row.
  function stopsSolved() {
    const isRight = ({ scores }) => scores.exact_match >= 0.99;
    const { history } = first;
    if (state.solved !== null || state.other || history.length < 4) return false;
    if (!history.slice(-3).every(isRight)) return false;
    state.solved = first.step;
    return true;
  }

  function start() {
    if (state.running || state.making || !first.summary) return;
    if (first.step >= total()) {
      const words = `all ${total()} steps are done: start again, or raise \`train.steps\``;
      complain("error", new Error(words));
      return;
    }
    Object.assign(state, { running: true, shown: null });
    complain("error", null);
    showState();
    state.loop = train()
      .catch((error) => complain("error", error))
      .finally(() => {
        state.running = false;
        showState();
        drawBar();
      });
  }

  async function pause() {
    state.running = false;
    await state.loop;
  }

  async function oneStep() {
    await pause();
    if (!first.summary || first.step >= total()) return;
    try {
      await advance(1);
      await keepFrame();
      state.shown = null;
      await drawAll();
    } catch (error) {
      complain("error", error);
    }
  }

  // --- what is shown

  const stepShown = () => {
    if (state.shown !== null && !first.frames.includes(state.shown))
      state.shown = first.frames.findLast((step) => step <= state.shown) ?? null;
    return state.shown ?? first.frames.at(-1);
  };
  const measuredAt = (side, step) => side.history.findLast((each) => each.step <= step);

  function drawBar() {
    const step = state.shown ?? first.step;
    const measured = measuredAt(first, step);
    if (!measured) return;
    const cut = state.ablated && state.off.size ? state.ablated : null;
    const { loss, exact_match: exact } = cut ?? measured.scores;
    const cell = (value, words) =>
      html("div", {}, html("b", {}, value), html("span", {}, ` ${words}`));
    replace(
      byId("status"),
      cell(whole(step), `of ${whole(total())} steps`),
      cell(textOfLoss(loss), cut ? "loss, ablated" : "loss"),
      cell(textOfExact(exact), "exact match"),
    );
    document.body.dataset.step = `${first.step}`;
    document.body.dataset.exact = `${measured.scores.exact_match}`;
  }

  function drawWhich() {
    const { validation, reads_text: reads } = first.summary;
    const count = Math.min(validation, 20);
    const options = Array.from({ length: count }, (_, i) =>
      html(
        "option",
        { value: i, selected: !state.typed && i === state.example },
        `example ${i + 1} of ${validation}`,
      ),
    );
    if (reads)
      options.push(html("option", { value: "type", selected: Boolean(state.typed) }, "type one …"));
    byId("which").replaceChildren(...options);
    byId("typed").hidden = !state.typed;
    byId("typed").value = state.typed;
  }

  function drawAsk() {
    const { trace, position } = state;
    const prompt = trace.losses.findIndex((loss) => loss !== null) + 1;
    const texts = textsOfTask().ask({
      inputs: trace.inputs ?? [],
      source: trace.source ?? [],
      position,
      prompt: trace.typed ? first.prompt : prompt,
    });
    if (!trace.typed) first.prompt = prompt;
    const nodes = texts.map((each) =>
      each.strong === undefined ? each : html("b", {}, each.strong),
    );
    byId("ask").replaceChildren(...nodes);
  }

  function room() {
    const bar = 57;
    return innerHeight - bar - 14 - 34 - 10;
  }

  const choosePosition = (position) => {
    Object.assign(state, { position, focus: null });
    return drawAll();
  };

  const on = {
    head(module, head) {
      const { panel } = state;
      const same = panel?.kind === "head" && panel.module === module && panel.head === head;
      openPanel(same ? null : { kind: "head", module, head });
    },
    part: (part) => openPanel({ kind: "part", part }),
    logit: (logit) => openPanel({ kind: "logit", logit }),
    position: choosePosition,
    // The arrow keys choose another position; on an image also the one above or below.
    move(event, from, count, width = 0) {
      const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width };
      const to = from + (steps[event.key] ?? 0);
      if (to === from || to < 0 || to >= count) return;
      event.preventDefault();
      const key = document.activeElement?.dataset.key ?? "";
      Object.assign(state, { position: to, focus: key.replace(/(position \d+) \d+/, `$1 ${to}`) });
      drawAll();
    },
    open(key) {
      state.open = key;
      drawAll();
    },
    close: () => openPanel(null),
    async ablate(part, isOff) {
      state.off.clear();
      if (isOff) state.off.add(part);
      await drawAll();
    },
    filter(text) {
      state.filter = text;
      drawPanel();
    },
    use: (toml) =>
      making(async () => {
        await makeOther(null);
        const { task } = state;
        state.task = null;
        try {
          await make(toml);
        } catch (error) {
          state.task = task;
          throw error;
        }
      }),
    link: () => `${location.href.split("#")[0]}#config=${encodeURIComponent(tomlOf(state.values))}`,
  };

  function openPanel(panel) {
    const had = state.panel;
    const opener = document.activeElement?.dataset.key;
    state.panel = panel && { ...panel, opener: had?.opener ?? opener };
    state.off.clear();
    state.cells.clear();
    Object.assign(state, { ablated: null, matrices: null });
    if (!panel && had) state.focus = had.opener;
    if (panel && !had) state.focus = "close";
    return drawAll();
  }

  function viewOf() {
    const step = stepShown();
    const { trace, panel } = state;
    return {
      trace,
      other: state.otherTrace,
      position: state.position,
      scores: measuredAt(first, step).heads,
      now: measuredAt(first, step).scores,
      head: panel?.kind === "head" ? panel : null,
      part: panel?.part,
      logit: panel?.logit,
      off: state.off,
      ablated: state.ablated,
      cells: state.cells,
      open: state.open,
      outputs: first.summary.outputs,
      isPair: trace.source !== null,
      narrow: narrowQuery.matches,
      height: room(),
      labels: trace.inputs ?? trace.source,
      count: trace.stages.at(-1).norm.length,
      matrices: state.matrices,
      width: Number(valueOf("model.dim")),
      pool: poolOf(),
      keys: shownKeys(),
      filter: state.filter,
      field: (key) => field(key, valueOf(key), setKey(key), "all"),
      config: first.summary.config,
      on,
    };
  }

  // The keys that may change this model, its data or its training.
  const isUsed = (key) => !first.summary.unused.includes(key);
  const shownKeys = () =>
    [...keys].filter(
      ([key, { type }]) => !type.includes("path") && key !== "threads" && isUsed(key),
    );

  function drawPanel() {
    const { panel } = state;
    const box = byId("panel");
    const makers = {
      head: headPanel,
      part: partPanel,
      logit: logitPanel,
      keys: keysPanel,
      config: configPanel,
      tour: tourPanel,
    };
    box.hidden = !panel;
    byId("lower").hidden = Boolean(panel) && !sheetQuery.matches;
    if (!panel) {
      delete box.dataset.kind;
      box.replaceChildren();
      return;
    }
    // What one types is not drawn away.
    const same = box.dataset.kind === panel.kind;
    if (panel.kind === "config" && same) return;
    const typing = panel.kind === "keys" && box.contains(document.activeElement);
    if (typing && same && box.dataset.filter === state.filter) return;
    const { tour, sides, predictions } = state;
    const view = { ...viewOf(), tour, tourOn, sides, predictions };
    const { nodes, colour } = makers[panel.kind](view);
    box.style.setProperty("--c", colour);
    Object.assign(box.dataset, { kind: panel.kind, filter: state.filter });
    replace(box, ...nodes);
  }

  function drawNow(events) {
    const step = stepShown();
    const past = events.filter((event) => event.step <= step);
    const last = past.at(-1);
    let texts;
    if (state.other) {
      const [a, b] = state.sides.map((side) => measuredAt(side, step).scores);
      const name = state.other.name ?? differenceOf(state.other);
      const losses = `: its loss is ${textOfLoss(b.loss)}, and A’s is ${textOfLoss(a.loss)}.`;
      texts = { strong: `B, ${name}`, after: losses, look: state.other.look };
      const tour = tours.find(({ other }) => other.name === name);
      if (tour) texts.nodes = () => [chip(`tour ${tour.name}`, "Guided tour", tourOn.begin, tour)];
      texts.note = texts.look
        ? ""
        : "Both have the same seed and the same examples; one key differs.";
    } else if (state.solved !== null && step >= state.solved) {
      const { exact_match: exact } = measuredAt(first, step).scores;
      texts = {
        strong: "Solved",
        after: `: ${percent(exact)} are right.`,
        nodes: nextOnes,
      };
    } else if (last) {
      texts = {
        text: `${last.text} `,
        strong: last.strong,
        after: ` at step ${whole(last.step)}.`,
        note: `${past.length} · ${last.note}`,
      };
    } else if (step === 0) {
      texts = { text: "The model guesses.", note: "Nothing has been learned so far." };
    } else {
      const { loss } = measuredAt(first, step).scores;
      const { guess } = first.summary;
      texts = {
        text:
          loss < 0.98 * guess ? "The model does better than guessing." : "The model still guesses.",
        note:
          `Its loss is ${textOfLoss(loss)}; guessing by how often each token occurs gives ` +
          `${textOfLoss(guess)}.`,
      };
    }
    for (const box of [byId("now"), document.querySelector(".nb")]) {
      const isOpen = box.querySelector("details")?.open;
      replace(
        box,
        texts.text ?? "",
        texts.strong ? html("b", {}, texts.strong) : "",
        texts.after ?? "",
        texts.note ? html("small", {}, texts.note) : "",
        texts.nodes ? html("div", { class: "chips" }, ...texts.nodes()) : "",
        texts.look
          ? html(
              "details",
              { open: isOpen },
              html("summary", { "data-key": "look" }, "what to look for"),
              texts.look,
            )
          : "",
      );
    }
  }

  const chip = (key, words, action, ...of) =>
    makeButton({ "data-key": key, onclick: () => action(...of) }, words);

  // What to do with a model that has learned its task.
  function nextOnes() {
    const next = tasks[(tasks.indexOf(state.task) + 1) % tasks.length];
    const longer = [
      ["data.lengths", 2],
      ["data.digits", 1],
      ["data.size", 2],
    ].find(([key]) => textsOfTask().knobs.some(([name]) => name === key));
    const harder = (key, by) =>
      setKey(key)(valueOf(key).replace(/\d+/g, (digits) => `${Number(digits) + by}`));
    const [strongest] = [...(measuredAt(first, stepShown()).heads ?? [])].sort(
      (a, b) => scoreOf(b) - scoreOf(a),
    );
    const tour = tours.find(({ task }) => task === state.task?.name) ?? tours[0];
    const copy = ({ target }) =>
      navigator.clipboard?.writeText(on.link()).then(() => (target.textContent = "copied"));
    return [
      longer ? chip("next harder", "harder", harder, ...longer) : null,
      chip("next task", `task ${next.name}`, chooseTask, next),
      chip("next mistake", "a mistake", tourOn.begin, tour),
      strongest
        ? chip("next head", "ablate a head", on.head, strongest.module, strongest.head)
        : null,
      makeButton({ "data-key": "next link", onclick: copy }, "copy link"),
      chip("next toml", "as TOML", openPanel, { kind: "config" }),
      chip("next heed", "train it with ./heed", openPanel, { kind: "config" }),
    ];
  }
  const scoreOf = ({ previous = 0, induction = 0, duplicate = 0 }) =>
    Math.max(previous, induction, duplicate);

  function drawPredictions() {
    const most = state.trace.pixels ? 6 : 5;
    const lists = state.predictions.map((each) => each.slice(0, most));
    const [list] = lists;
    const choose = (i) => {
      Object.assign(state, { example: i, typed: "", position: null });
      drawWhich();
      return drawAll();
    };
    const isAt = (i) => !state.typed && i === state.example;
    const said = ({ predicted, expected }) => {
      const right = predicted === expected;
      return html("span", { class: right ? "ok" : "no" }, `${right ? "✓" : "✗"} ${predicted}`);
    };
    const opener = (i, child) =>
      makeButton(
        {
          class: "plain",
          "data-key": `prediction ${i}`,
          "aria-label": `Example ${i + 1} flows`,
          onclick: () => choose(i),
        },
        child,
      );
    if (list[0]?.pixels) {
      const { grid } = state.trace;
      const images = list.map((each, i) => {
        const drawn = imageOf({ pixels: each.pixels, grid }, 46, { label: `image ${i + 1}` });
        return html(
          "div",
          { class: isAt(i) ? "at" : "" },
          opener(i, drawn),
          ...lists.map((one) => said(one[i])),
          each.predicted === each.expected
            ? null
            : html("span", { class: "q" }, `is ${each.expected}`),
        );
      });
      replace(byId("predictions"), html("div", { class: "imgs" }, ...images));
      return;
    }
    const names = ["input", ...(lists.length > 1 ? ["A", "B"] : ["predicted"]), "target"];
    const rows = list.map((each, i) =>
      html(
        "tr",
        { class: isAt(i) ? "at" : "" },
        html("td", { title: each.source }, opener(i, each.source)),
        ...lists.map((one) => html("td", { title: one[i].predicted }, said(one[i]))),
        html("td", { title: each.expected }, each.expected),
      ),
    );
    const { widths, isLong } = predictionColumns(list, names);
    const columns = widths.map((width) => html("col", { style: width && `width: ${width}px` }));
    replace(
      byId("predictions"),
      html(
        "table",
        { class: isLong ? "long-rows" : "" },
        html("colgroup", {}, ...columns),
        html("tr", {}, ...names.map((name) => html("th", {}, name))),
        ...rows,
      ),
    );
  }

  function drawBreaks() {
    const shown = state.moreBreaks ? breaks : breaks.slice(0, 5);
    const chips = shown.map(({ name, look, ...other }) =>
      makeButton(
        {
          "data-key": `break ${name}`,
          "aria-pressed": `${state.other?.name === name}`,
          title: other.key ? differenceOf(other) : name.toLowerCase(),
          onclick: () =>
            state.other?.name === name ? endOther() : compare({ ...other, name, look }),
        },
        name,
      ),
    );
    const more = state.moreBreaks ? "fewer" : "more …";
    chips.push(
      makeButton(
        {
          "data-key": "break more",
          onclick: () => {
            state.moreBreaks = !state.moreBreaks;
            drawBreaks();
          },
        },
        more,
      ),
    );
    replace(byId("breaks"), ...chips);
    byId("both").textContent = state.other ? "Only A" : "Train both";
  }

  async function endOther() {
    await pause();
    await makeOther(null);
    drawBreaks();
    drawOther();
    await drawAll();
    start();
  }

  function drawPast() {
    const past = byId("past");
    const step = stepShown();
    past.max = first.frames.length - 1;
    past.value = first.frames.indexOf(step);
    past.setAttribute("aria-valuetext", `step ${step}`);
    byId("past-step").textContent = `step ${whole(step)}`;
  }

  function drawRight(events) {
    const step = stepShown();
    const { matches: narrow } = narrowQuery;
    const width = Math.max(280, byId("curves").clientWidth || 328);
    const heights = narrow ? [210, 150] : wideQuery.matches ? [300, 220] : [150, 122];
    const steps = endOfSteps(first.step);
    const end = Math.min(steps, endOfLearning(first.history));
    const nodes = drawCurves({
      sides: state.sides,
      step,
      events,
      guess: first.summary.guess,
      ablated: state.off.size ? state.ablated : null,
      examples: first.summary.validation,
      width,
      heights: end < steps ? heights.map((height) => height - 26) : heights,
      end,
      whole: steps,
      choose: (chosen) => goTo(chosen),
    });
    replace(byId("plots"), ...nodes);
    drawPast();
  }

  function goTo(step) {
    const found = first.frames.findLast((each) => each <= step) ?? first.frames[0];
    state.shown = found === first.frames.at(-1) ? null : found;
    return drawAll();
  }

  async function measure() {
    const step = stepShown();
    const ask = (side, off, at) =>
      side.call("trace", at, state.typed, state.example, state.position ?? -1, off);
    const off = [...state.off][0] ?? "";
    let trace;
    try {
      trace = await ask(first, off, step);
      if (state.position === null || state.position >= trace.stages.at(-1).norm.length) {
        state.position = firstPosition(trace, poolOf());
        trace = await ask(first, off, step);
      }
      complain("example-error", null);
    } catch (error) {
      complain("example-error", new Error(error.message.replace(/^--text: /, "")));
      if (!state.typed) throw error;
      state.typed = "";
      trace = await ask(first, off, step);
    }
    state.trace = trace;
    const [, second] = state.sides;
    const of = second?.frames.findLast((each) => each <= step);
    state.otherTrace = second ? await ask(second, "", of) : null;
    await measureAblation(step);
    // A tour counts them; the list shows the first.
    const count = state.panel?.kind === "tour" ? 20 : trace.pixels ? 6 : 5;
    state.predictions = [await first.call("predictions", step, count, off)];
    if (second) state.predictions.push(await second.call("predictions", of, count, ""));
    if (state.panel?.part === "embedding") state.matrices = await matricesOf(step);
  }

  // What the part of the panel is worth: a head's always, that of others once they are left out.
  async function measureAblation(step) {
    const { panel } = state;
    const head = panel?.kind === "head" && !isPool(panel.module);
    const part = head ? `${panel.module}.head.${panel.head}` : [...state.off][0];
    if (!part || (state.ablated?.part === part && state.ablated.step === step)) return;
    const found = await first.call("ablate", step, part).catch(({ message: error }) => ({ error }));
    state.ablated = { part, step, ...found };
  }

  // The matrices behind the embedding: its table, and what the model knows of positions.
  async function matricesOf(step) {
    const list = [];
    let from = 0;
    for (const { name, shape } of first.summary.parameters) {
      const size = shape.reduce((a, b) => a * b, 1);
      if (name.endsWith("token.weight")) {
        const values = [...(await first.call("weights", step, from, size))];
        list.push({
          label: name,
          rows: shape[0],
          columns: size / shape[0],
          values,
          names: first.summary.tokens,
        });
      }
      from += size;
    }
    for (const picture of (await first.call("positions", step)).slice(0, 2))
      list.push({ ...picture, label: picture.name, names: picture.row_names });
    return list;
  }

  function focusOn() {
    const found = state.focus && document.querySelector(`[data-key="${CSS.escape(state.focus)}"]`);
    if (!found) return;
    found.focus({ preventScroll: true });
    state.focus = null;
  }

  // In three parts, so that none takes longer than a frame.
  async function render() {
    const events = eventsOf(first.history);
    drawBar();
    drawAsk();
    replace(byId("flow"), ...drawModel(viewOf()));
    focusOn();
    await breathe();
    drawRight(events);
    await breathe();
    drawNow(events);
    drawPredictions();
    drawPanel();
    focusOn();
    document.body.dataset.drawn = `${Number(document.body.dataset.drawn ?? 0) + 1}`;
  }

  // Drawings follow one another; of those that were asked for meanwhile only the last is made.
  let drawing = null;
  let again = false;
  function drawAll(isMade = false) {
    if (!first.summary || (state.making && !isMade)) return drawing ?? Promise.resolve();
    again = true;
    document.body.dataset.drawing = "true";
    drawing ??= (async () => {
      await null; // so that `drawing` is set before it can be cleared
      try {
        while (again) {
          again = false;
          await measure();
          await render();
        }
      } finally {
        drawing = null;
        document.body.dataset.drawing = "false";
      }
    })();
    return drawing;
  }

  // --- tours

  const tourOn = {
    begin(of) {
      if (state.tour?.of !== of) state.tour = { of, step: 0, answer: null };
      return openPanel({ kind: "tour" });
    },
    answer(index) {
      state.tour.answer = index;
      state.focus = `answer ${index}`;
      drawPanel();
      focusOn();
    },
    back() {
      --state.tour.step;
      drawPanel();
    },
    next() {
      const { tour } = state;
      if (++tour.step === 1) return trainTour(tour.of);
      if (tour.step < tourSteps) return drawPanel();
      state.tour = null;
      return openPanel(null);
    },
  };

  // Both models of a tour, from step 0.
  function trainTour({ task, other }) {
    if (state.other === other) return start(); // they exist already
    return making(async () => {
      await makeOther(null);
      const own = tasks.find(({ name }) => name === task);
      Object.assign(state, { task: own, typed: "", example: 0, position: null, other });
      await make(own.toml);
    });
  }

  // --- the controls

  function showTab(tab) {
    document.body.dataset.tab = tab;
    scrollTo(0, 0);
    for (const each of byId("tabs").children) {
      const chosen = each.dataset.tab === tab;
      each.setAttribute("aria-selected", `${chosen}`);
      each.tabIndex = chosen ? 0 : -1;
    }
    drawAll();
  }

  function listen() {
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("train", () => (state.running ? pause() : start()));
    click("one", oneStep);
    click("again", () => setValues(state.values));
    click("all-keys", () => openPanel({ kind: "keys" }));
    click("config", () => openPanel({ kind: "config" }));
    click("both", () => {
      if (state.other) return endOther();
      const input = byId("other-value").firstChild;
      const key = byId("other-key").value;
      return compare({ key, value: typedValue(key, input.value) });
    });
    click("drawer", () => {
      const isOpen = document.body.toggleAttribute("data-drawer");
      byId("drawer").setAttribute("aria-expanded", `${isOpen}`);
    });
    byId("other-key").addEventListener("change", () => drawOther());
    byId("past").addEventListener("input", () => goTo(first.frames[byId("past").valueAsNumber]));
    byId("which").addEventListener("change", () => {
      const { value } = byId("which");
      byId("typed").hidden = value !== "type";
      if (value === "type") {
        byId("typed").value = state.trace?.inputs?.join(" ") ?? "";
        byId("typed").focus();
        byId("typed").select();
        return;
      }
      Object.assign(state, { example: Number(value), typed: "", position: null });
      drawAll();
    });
    byId("typed").addEventListener("change", () => {
      Object.assign(state, { typed: byId("typed").value.trim(), position: null });
      drawAll();
    });
    for (const tab of byId("tabs").children) {
      tab.addEventListener("click", () => showTab(tab.dataset.tab));
      tab.addEventListener("keydown", ({ key }) => {
        const next = { ArrowRight: tab.nextElementSibling, ArrowLeft: tab.previousElementSibling }[
          key
        ];
        if (!next) return;
        showTab(next.dataset.tab);
        next.focus();
      });
    }
    addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && state.panel) openPanel(null);
    });
    addEventListener("hashchange", open);
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === width) return;
      width = innerWidth;
      drawAll();
    });
    narrowQuery.addEventListener("change", () => drawAll());
  }

  // Loads the config of the address, or a task.
  function open() {
    const parts = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const config = parts.get("config");
    const task = tasks.find(({ name }) => name === parts.get("task")) ?? arrival;
    return making(
      async () => {
        await makeOther(null);
        if (config === null) {
          state.task = task;
          await make(task.toml);
          return;
        }
        try {
          state.task = null;
          await make(config);
        } catch (error) {
          if (!first.summary) {
            state.task = arrival;
            await make(arrival.toml);
          }
          throw error;
        }
      },
      parts.get("run") !== "0",
    );
  }

  (async () => {
    drawTasks();
    try {
      for (const { key, ...rest } of await first.call("keys")) keys.set(key, rest);
    } catch (error) {
      complain("error", error);
      return;
    }
    listen();
    await open();
  })();
  return state;
}

// For the console and for tests.
document.documentElement.playground = startPage();
