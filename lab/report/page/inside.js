// The page of heed inspect: the heads of a model, what it would say after each layer, and which
// parts make the difference, at one checkpoint of a run (lab/report/inside_page.h).
import { upper, weightsOf } from "../../page/atlas.js";
import { axisFor, axisKind, chart, legend } from "../../page/chart.js";
import { colourOf, dashOf } from "../../page/colours.js";
import { dotAt, html, makeButton, picture, px, replace, svg, textAt } from "../../page/dom.js";
import { habitOf, largeMap, roleOf, short, smallMap, telling } from "../../page/heat.js";
import { drawing, headerMenu, saveMenu } from "../../page/save.js";
import { extent, makeScale, nearest, ticksOf } from "../../page/scale.js";
import { percent, significant, tickText, whole } from "../../page/text.js";
import { paragraph, tableRow } from "./parts.js";
import { splitWords } from "./words.js";

const scores = [
  ["previous", "P", "previous token"],
  ["induction", "I", "induction"],
  ["duplicate", "D", "duplicate token"],
  ["copying", "C", "copying"],
];
const partly = 0.3; // from here on a score stands out
const shortRoles = { previous: "one back", induction: "after its copy", duplicate: "at its copy" };

// What is chosen on the page: the checkpoint and the head by their index, the index of the position
// whose loss ablations change (null: the mean of all), and on a narrow screen whether the panel of
// the head is open. Everything is drawn again when it changes.
// `kept` has the same for links.
const view = { at: null, head: 0, position: null, open: false, draws: [], kept: {} };

// Shows an example: what the page says of one replaces what it said of another.
export function chooseExample(data, index) {
  const { views, ...rest } = data.shown[index];
  const absent = { input: "", target: null, position: null, token: "", other: "" };
  Object.assign(data, absent, rest);
  data.checkpoints.forEach((checkpoint, i) => Object.assign(checkpoint, views[i]));
}
export function exampleChooser(data) {
  const select = html(
    "select",
    {
      "aria-label": "Example",
      onchange: () => {
        chooseExample(data, select.selectedIndex);
        show({ example: select.selectedIndex });
      },
    },
    ...data.shown.map(({ example, why }) => html("option", {}, `example ${example}: ${why}`)),
  );
  return data.shown.length > 1 ? select : null;
}
function show(change) {
  Object.assign(view, change);
  Object.assign(view.kept, change);
  for (const draw of view.draws) draw();
}
function drawNowAndLater(draw) {
  view.draws.push(draw);
  draw();
}

const isNarrow = () => innerWidth <= 720;
const size = (value, digits = Math.abs(value) < 0.1 ? 3 : 2) => Math.abs(value).toFixed(digits);
export function signed(value, digits) {
  const text = size(value, digits);
  return `${Number(text) === 0 ? "" : value < 0 ? "−" : "+"}${text}`;
}

// "decoder.layers.0.feed_forward" → "layer 1, feed-forward"; a head as headName() has it.
export function partName(name, heads) {
  const [, module, head] = /^(.*?)(?:\.head\.(\d+))?$/.exec(name);
  if (head !== undefined) return headName({ module, head: Number(head) }, heads);
  const found = /layers\.(\d+)\.(\w+)$/.exec(name);
  if (!found) return name;
  const [, layer, part] = found;
  const words = part.replace("feed_forward", "feed-forward").replace("cross_", "cross-");
  return `layer ${Number(layer) + 1}, ${words.replaceAll("_", " ")}`;
}

// What tells the modules of a layer apart: "encoder", "decoder" or "cross" (-attention) of an
// encoder-decoder, and otherwise nothing. Outside of layers it is the module: "pool".
function kindOf(module, heads) {
  if (isCross({ module })) return "cross";
  const stackOf = (name) => name.split(".")[0];
  const inLayers = heads.filter((head) => layerOf(head.module) !== null);
  const isAlone = inLayers.every((head) => stackOf(head.module) === stackOf(module));
  return isAlone && layerOf(module) !== null ? "" : stackOf(module);
}

// "layer 1, head 2", "layer 1, encoder head 2"
export function headName({ module, head }, heads) {
  const [layer, kind] = [layerOf(module), kindOf(module, heads)];
  if (layer === null) return `${kind}, head ${head + 1}`;
  return `layer ${layer + 1}, ${kind} head ${head + 1}`.replace("  ", " ");
}
// "layer 1", "the cross heads of layer 1": all heads of a module
function moduleName({ module }, heads) {
  const [layer, kind] = [layerOf(module), kindOf(module, heads)];
  if (layer === null) return kind;
  return kind ? `the ${kind} heads of layer ${layer + 1}` : `layer ${layer + 1}`;
}

const isCross = ({ module }) => module.endsWith("cross_attention");
const layerOf = (module) => {
  const found = /layers\.(\d+)/.exec(module);
  return found && Number(found[1]);
};

// The heads at a checkpoint; their changes of the loss are those at the chosen position, which have
// no interval.
const headsAt = (data, at = view.at) => data.checkpoints[at].heads.map((head) => atPosition(head));
const atPosition = (head) =>
  view.position === null || !head.at
    ? head
    : {
        ...head,
        delta: head.at[view.position],
        low: undefined,
        high: undefined,
        all: { delta: head.all.at?.[view.position] },
      };
const stepOf = (data) => data.checkpoints[view.at].step;

// The map of a head at the chosen checkpoint, or undefined.
function mapOf(data, { module, head }) {
  const map = data.maps.find(({ name }) => name === module);
  return map && { ...weightsOf(map, view.at, head), scale: map.scale, signed: map.signed };
}

// Where the position that predicts reads most: {row, column, weight}, or null. Only maps whose rows
// are the positions of the prediction have it.
function readOf(data, { module }, map) {
  const row = data.position;
  if (!map || row === null || row === undefined || module.startsWith("encoder")) return null;
  const weights = map.columns.map((_, column) => map.weight(row, column));
  const weight = Math.max(...weights);
  return { row, column: weights.indexOf(weight), weight };
}

// The name of the largest score of a head.
const bestScore = (head) =>
  largest(
    scores.map(([name]) => name),
    (name) => head[name] ?? -1,
  );

// What a head does at the chosen checkpoint, in a few words.
function wordsOfHead(data, head) {
  const role = roleOf(head, partly);
  const aim = role && shortRoles[role.score];
  if (role) return roleOf(head) ? `looks ${aim}` : `often ${aim.replace("its ", "")}`;
  const map = mapOf(data, head);
  if (!map || map.signed) return "no clear aim";
  const read = readOf(data, head, map);
  if (read?.weight >= telling) return `${map.rows[read.row]} reads ${map.columns[read.column]}`;
  return habitOf(map).replace(/^reads (the )?/, "") || "no clear aim";
}

// --- the steps

// The heads whose scores lead: for each score that stands out the head with the largest one.
export function leadingHeads(checkpoints) {
  return scores.flatMap(([name, , words]) => {
    let best = null;
    for (const { heads } of checkpoints)
      heads.forEach((head, index) => {
        const value = head[name] ?? -1;
        if (value >= partly && (!best || value > best.value)) best = { index, value };
      });
    return best ? [{ score: name, words, index: best.index }] : [];
  });
}

// The element with the largest value of f, or null.
const largest = (list, f) =>
  list.reduce((best, each) => (best && f(best) >= f(each) ? best : each), null);

// What the heads do at a checkpoint, in sentences.
export function sentencesOf({ heads }) {
  if (!heads.length) return "";
  const named = heads.filter((head) => roleOf(head, partly));
  const best = largest(named, (head) => roleOf(head, partly).value);
  const others = named.filter((head) => roleOf(head) && roleOf(head).score !== roleOf(best)?.score);
  const second = largest(others, (head) => roleOf(head).value);
  const told = [best, second].filter(Boolean).map((head) => {
    const often = roleOf(head) ? "" : "often ";
    return `${upper(headName(head, heads))}, ${often}${roleOf(head, partly).words}.`;
  });
  if (!told.length) told.push("No head has a clear aim.");
  const needed = largest(heads, ({ delta }) => delta ?? -1);
  const layer = largest(heads, ({ all }) => all.delta ?? -1);
  if (needed.low > 0 && needed.delta > 0.2 * layer.all.delta)
    told.push(`Without ${headName(needed, heads)}, the loss rises by ${size(needed.delta)}.`);
  else if (layer.all.low > 0)
    told.push(
      "The model does without any single head; without all of " +
        `${moduleName(layer, heads)} the loss rises by ${size(layer.all.delta)}.`,
    );
  return told.join(" ");
}

// The axis of steps: logarithmic if half of them lie in the first sixth of the training.
function slidingAxis(steps) {
  const last = steps.at(-1);
  return steps[0] > 0 && 6 * steps[Math.floor(steps.length / 2)] < last
    ? { kind: "log", ends: [steps[0], last] }
    : { kind: "linear", ends: [0, last] };
}

function drawSteps(data, place, kept) {
  const { checkpoints } = data;
  const steps = checkpoints.map(({ step }) => step);
  const x = slidingAxis(steps);
  view.at ??= data.first;
  const { heads: first } = checkpoints[view.at];
  view.head = Math.max(0, first.indexOf(largest(first, ({ delta }) => delta ?? -1)));
  const { example = 0 } = kept;
  Object.assign(view, kept, { kept });
  if (example) {
    chooseExample(data, example);
    document.querySelector("header select").selectedIndex = example;
  }
  const led =
    steps.length < 2
      ? []
      : leadingHeads(checkpoints).map(({ score, words, index }, i) => ({
          label: `${words}, ${headName(checkpoints[0].heads[index], checkpoints[0].heads)}`,
          colour: colourOf(checkpoints[0].heads[index].head),
          dash: dashOf(i),
          x: steps,
          y: checkpoints.map(({ heads }) => heads[index][score]),
        }));
  // Evaluations are too rare for a logarithmic axis.
  const isMeasured = data.curve && x.kind === "linear";
  const loss = isMeasured
    ? { ...data.curve.lines[0], label: "validation loss" }
    : {
        x: steps,
        y: checkpoints.map((each) => each.loss),
        label: `loss of the ${splitWords(data.split)} split`,
      };
  loss.colour = "var(--path)";
  const draw = (width) => {
    const kind = isMeasured ? axisKind(data.curve) : axisKind({ lines: [loss] });
    const y = axisFor([loss.y], { kind, zero: true });
    const ticks = ticksOf(y.kind, y.ends, 2);
    const upperChart = chart({
      width,
      height: 78,
      label: "",
      x: led.length ? { ...x, ticks: [] } : x,
      y: { ...y, ticks: ticks.filter((_, i) => ticks.length < 5 || i % 2 === 0) },
      lines: [loss],
    });
    const charts = [upperChart];
    if (led.length) {
      const ends = { kind: "linear", ends: [0, 1], ticks: [0, 0.5, 1] };
      charts.push(chart({ width, height: 86, label: "", x, y: ends, lines: led }));
    }
    let top = 0;
    for (const each of charts) {
      each.setAttribute("y", top);
      top += each.height.baseVal.value - 16;
    }
    const { x: sx } = upperChart.scales;
    const here = px(sx(steps[view.at]));
    const label = "Validation loss and the largest scores of heads by step";
    return picture(
      width,
      top + 16,
      label,
      ...charts,
      textAt(54, 10, "loss", "start", "halo"),
      led.length ? textAt(54, 72, "scores", "start", "halo") : null,
      svg("path", { class: "axis", d: steps.map((at) => `M${px(sx(at))} ${top - 6}v3`).join("") }),
      svg("path", { class: "cursor", d: `M${here} 4V${top - 6}`, stroke: "var(--ink)" }),
      ...[loss, ...led].map((line, i) => {
        const scales = charts[i ? 1 : 0].scales;
        const value = line.y[nearest(line.x, steps[view.at])];
        const cy = px(scales.y(value) + (i ? 62 : 0));
        return dotAt(here, cy, 4, { fill: line.colour, stroke: "var(--ground)" });
      }),
    );
  };
  const figure = drawing({
    title: "Training",
    legend: legend([loss, ...led]),
    draw,
    rows: () => [
      ["line", "step", "value"],
      ...[loss, ...led].flatMap((line) => line.x.map((at, i) => [line.label, at, line.y[i]])),
    ],
  });
  const said = html("div", { class: "said", "aria-live": "polite" });
  const places = steps.map(makeScale(x.kind, x.ends, [0, 1000]));
  const slider = html("input", {
    type: "range",
    id: "checkpoint",
    min: 0,
    max: 1000,
    step: "any",
    "aria-label": "Step",
    oninput: () => show({ at: nearest(places, slider.valueAsNumber) }),
    onkeydown: (event) => {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show({ at: Math.min(steps.length - 1, Math.max(0, view.at + by)) });
    },
  });
  place.replaceChildren(html("div", {}, figure, steps.length > 1 ? slider : null), said);
  new ResizeObserver(() => {
    document.body.style.setProperty("--steps", `${place.offsetHeight}px`);
  }).observe(place);
  drawNowAndLater(() => {
    const { step, loss: now, accuracy } = checkpoints[view.at];
    slider.value = places[view.at];
    slider.setAttribute("aria-valuetext", `step ${step}`);
    figure.redraw();
    said.replaceChildren(
      html("b", {}, `step ${whole(step)}`),
      html("p", {}, sentencesOf(checkpoints[view.at])),
      html("small", {}, `loss ${significant(now, 2)} · accuracy ${percent(accuracy)}`),
    );
  });
}

// --- the heads

const knownScores = (heads) =>
  scores.filter(([name]) => heads.some((head) => head[name] !== undefined));

function scoreBars(head) {
  const best = bestScore(head);
  return picture(
    42,
    94,
    "",
    ...knownScores([head]).flatMap(([name, letter], i) => {
      const stands = best === name && head[name] >= partly;
      const value = Math.max(0, Math.min(1, head[name] ?? 0));
      const x = 2 + 10 * i;
      return [
        svg("rect", { class: "empty", x, y: 4, width: 7, height: 76 }),
        svg("rect", {
          x,
          y: px(80 - 76 * value),
          width: 7,
          height: px(76 * value),
          fill: stands ? colourOf(head.head) : "var(--control)",
        }),
        textAt(x + 3.5, 92, letter, "middle", stands ? "bold" : ""),
      ];
    }),
  );
}

// The bar of an ablation with its interval, on the scale of the whole run.
function effectBar({ delta, low, high }, [least, most]) {
  const sx = makeScale("linear", [Math.max(least, -0.12 * most), most], [1, 92]);
  const [zero, end] = [sx(0), sx(delta)];
  const matters = low > 0.01 * most;
  return picture(
    144,
    18,
    "",
    svg("path", { class: "axis", d: `M${px(zero)} 2V16` }),
    svg("rect", {
      x: px(Math.min(zero, end)),
      y: 5,
      width: px(Math.max(0.8, Math.abs(end - zero))),
      height: 8,
      fill: matters ? "var(--path)" : "var(--strand)",
    }),
    low === undefined
      ? null
      : svg("path", {
          d: `M${px(sx(low))} 9H${px(sx(high))}M${px(sx(low))} 6v6M${px(sx(high))} 6v6`,
          stroke: matters ? "var(--bad)" : "var(--quiet)",
          "stroke-width": 1.3,
        }),
    textAt(144, 13, signed(delta), "end", matters ? "bold" : ""),
  );
}

function drawHeads(data, place) {
  const endsOf = () =>
    extent(
      [0],
      ...data.checkpoints.map((_, at) =>
        headsAt(data, at).flatMap(({ delta = 0, low = delta, high = delta }) => [low, high]),
      ),
    );
  let ends = endsOf();
  const card = (head, index) => {
    const map = mapOf(data, head);
    const words = wordsOfHead(data, head);
    const name = headName(head, headsAt(data));
    const isAblated = head.delta !== undefined;
    const without = isAblated ? `; without it the loss changes by ${signed(head.delta)}` : "";
    const made = makeButton(
      {
        class: "card",
        "data-key": `head ${index}`,
        "aria-pressed": `${index === view.head}`,
        "aria-label": `${upper(name)}: ${words}${without}`,
        onclick: () => show({ head: index, open: isNarrow() }),
      },
      html(
        "span",
        { class: "pictures" },
        map ? smallMap(map, 92, colourOf(head.head), true) : null,
        scoreBars(head),
      ),
      html(
        "span",
        { class: "named" },
        html("i", {}),
        html("b", {}, `head ${head.head + 1}`),
        html("span", { class: "q" }, words),
      ),
      isAblated ? effectBar(head, ends) : null,
    );
    made.style.setProperty("--c", colourOf(head.head));
    return made;
  };
  const rowOf = (module, heads) => {
    const [layer, kind] = [layerOf(module), kindOf(module, headsAt(data))];
    const { all } = heads[0][0];
    return html(
      "div",
      { class: "row" },
      html(
        "p",
        {},
        layer === null ? null : html("b", {}, `layer ${layer + 1}`),
        html("small", {}, kind === "cross" ? "cross-attention" : kind),
        all.delta === undefined ? null : html("small", {}, `all ${signed(all.delta)}`),
      ),
      html("div", {}, ...heads.map(([head, index]) => card(head, index))),
    );
  };
  const names = headsAt(data).map(({ module }) => module);
  const rows = html("div", {});
  const about = html("span", {});
  const select = html(
    "select",
    {
      "aria-label": "Loss at",
      onchange: () => show({ position: select.selectedIndex ? select.selectedIndex - 1 : null }),
    },
    ...["the mean over all positions", ...(data.positions ?? []).map((at) => `position ${at}`)].map(
      (text) => html("option", {}, text),
    ),
  );
  select.selectedIndex = view.position === null ? 0 : view.position + 1;
  place.replaceChildren(
    rows,
    paragraph("q s", about, data.positions ? html("label", {}, "The loss is ", select, ".") : null),
  );
  place
    .closest("section")
    .querySelector("header .q")
    .replaceChildren(
      ...knownScores(headsAt(data)).map(([, letter, words]) =>
        html("span", {}, html("b", {}, letter), ` ${words}`),
      ),
    );
  headerMenu(place, {
    title: "Heads",
    rows: () => [
      ["step", "head", ...scores.map(([name]) => name), "delta", "low", "high"],
      ...data.checkpoints.flatMap(({ step, heads }) =>
        heads.map((head) => [
          step,
          `${head.module}.head.${head.head}`,
          ...[...scores.map(([name]) => name), "delta", "low", "high"].map((name) => head[name]),
        ]),
      ),
    ],
  });
  drawNowAndLater(() => {
    ends = endsOf();
    const interval = view.position === null ? "with a 95 % interval, " : "";
    about.textContent =
      `Bars: what the loss gains without a head, ${interval}up to ` +
      `${significant(ends[1], 2)} nats. “All”: without all heads of a layer. `;
    const indexed = headsAt(data).map((head, index) => [head, index]);
    const ofModule = (module) => indexed.filter(([head]) => head.module === module);
    replace(rows, ...[...new Set(names)].map((module) => rowOf(module, ofModule(module))));
  });
}

// --- the chosen head

function leadOfHead(data, head, map) {
  const most = roleOf(head, partly);
  const parts = [];
  if (most)
    parts.push(
      roleOf(head) ? "It " : "It often ",
      html("b", {}, most.words),
      `: on average ${percent(most.value, 0)} of its weight lies there. `,
    );
  else if (knownScores([head]).length)
    parts.push("On average it has ", html("b", {}, "no clear aim"), ". ");
  const read = readOf(data, head, map);
  if (read) {
    const [reader, column] = [map.rows[read.row], read.column];
    const follows = !isCross(head) && column < read.row && map.columns[column - 1] === reader;
    parts.push(
      `Here the framed ${reader} gives most weight, ${(read.weight * map.scale).toFixed(2)}, to `,
      html("b", {}, map.columns[column]),
      follows ? ", which stands after an earlier " : ` at position ${column}`,
      follows ? html("b", {}, reader) : "",
      ".",
    );
  }
  return paragraph("lead", ...parts);
}

function scoreCurves(data, width) {
  const steps = data.checkpoints.map(({ step }) => step);
  const axis = slidingAxis(steps);
  const best = bestScore(headsAt(data)[view.head]);
  const lines = scores.map(([name, , words], i) => ({
    label: words,
    colour: name === best ? colourOf(headsAt(data)[view.head].head) : "var(--control)",
    width: name === best ? 2.2 : 1.2,
    dash: dashOf(i),
    x: steps,
    y: data.checkpoints.map(({ heads }) => heads[view.head][name] ?? NaN),
  }));
  const made = chart({
    width,
    height: 104,
    label: "Scores of this head by step",
    x: { ...axis, ticks: axis.ends },
    y: { kind: "linear", ends: [0, 1], ticks: [0, 1] },
    lines,
  });
  const { x, box } = made.scales;
  made.append(
    svg("path", {
      class: "cursor",
      d: `M${px(x(stepOf(data)))} ${box.top}V${box.height - box.bottom}`,
      stroke: "var(--ink)",
    }),
  );
  return { made, lines };
}

function drawHead(data, place) {
  const section = place.closest("section");
  const close = () => {
    if (!view.open) return;
    show({ open: false });
    document.querySelector(`[data-key="head ${view.head}"]`)?.focus({ preventScroll: true });
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  const drawn = (width) => {
    const heads = headsAt(data);
    const head = heads[view.head];
    const map = mapOf(data, head);
    const colour = colourOf(head.head);
    section.style.setProperty("--c", colour);
    const readout = html("p", { class: "readout s q", "aria-live": "polite" }, "\u00a0");
    const title = upper(headName(head, heads));
    const large = (room) => {
      const read = (row, column) => {
        const cell = `${map.rows[row]} (${row}) → ${map.columns[column]} (${column})`;
        readout.textContent = `${cell}: ${(map.weight(row, column) * map.scale).toFixed(3)}`;
      };
      const made = largeMap(map, {
        width: room,
        colour,
        root: true,
        scale: map.scale,
        label: `${title}: weights. Rows read, columns are read; the arrow keys read a weight.`,
        read,
        framed: readOf(data, head, map)?.row ?? null,
        numbersFrom: 18,
      });
      made.dataset.key = "large map";
      return made;
    };
    const best = bestScore(head);
    const curves = scoreCurves(data, Math.min(204, width));
    const strong = (is, text) => (is ? html("b", {}, text) : text);
    const { accuracy } = data.checkpoints[view.at];
    const numbers = knownScores([head]).flatMap(([name, , words]) => {
      const key = legend([curves.lines[scores.findIndex(([each]) => each === name)]])[0];
      key.textContent = words;
      return [
        html("dt", {}, key),
        html("dd", {}, strong(name === best, head[name].toFixed(2).replace("-", "−"))),
      ];
    });
    const half = head.low === undefined ? "" : ` ± ${size((head.high - head.low) / 2)}`;
    const effects =
      head.delta === undefined
        ? []
        : [
            html("dt", {}, "Δ loss, ablated"),
            html("dd", {}, html("b", {}, signed(head.delta)), half),
            html("dt", {}, "accuracy"),
            html("dd", {}, `${percent(accuracy)} → ${percent(accuracy + head.accuracy_delta)}`),
          ];
    const isWide = map && width > 480;
    const rows = () => [
      ["row", "column", "weight"],
      ...map.rows.flatMap((row, i) =>
        map.columns.map((column, j) => [row, column, map.weight(i, j) * map.scale]),
      ),
    ];
    replace(
      place,
      html(
        "header",
        {},
        html("h2", {}, title),
        html("span", { class: "s q m" }, `${head.module}, head ${head.head}`),
        map ? saveMenu({ title: `${head.module} head ${head.head}`, draw: large, rows }) : null,
        makeButton({ class: "shut", "aria-label": "Close", onclick: close }, "✕"),
      ),
      leadOfHead(data, head, map),
      html(
        "div",
        { class: isWide ? "side" : "" },
        map ? html("div", {}, large(Math.min(isWide ? width - 220 : width, 368)), readout) : null,
        html(
          "div",
          {},
          ...(numbers.length && data.checkpoints.length > 1
            ? [
                paragraph("q s curves", "Scores over training"),
                html("div", { class: "curves" }, curves.made),
              ]
            : []),
          numbers.length ? html("dl", {}, ...numbers) : null,
          html("dl", {}, ...effects),
        ),
      ),
    );
  };
  const draw = () => {
    section.classList.toggle("open", view.open);
    if (place.clientWidth) drawn(place.clientWidth);
  };
  new ResizeObserver(draw).observe(section);
  drawNowAndLater(draw);
}

// --- what the model would say

const shortProbability = (p) => (p > 0.995 ? ">.99" : p < 0.005 ? "<.01" : p.toFixed(2).slice(1));

function drawLens(data, place) {
  const most = Math.max(...data.checkpoints.map(({ lens }) => lens[0]?.top.length ?? 0));
  const names = ["most likely", "2nd", "3rd", "4th", "5th"].slice(0, most);
  const cell = ([token, p]) => {
    const made = html(
      "span",
      {
        class: token === data.target ? "cell m t" : "cell m",
        title: `${token}: ${significant(p)}`,
      },
      html("span", {}, token),
      html("span", {}, shortProbability(p)),
    );
    made.style.setProperty("--p", `${(100 * p).toFixed(0)}%`);
    return made;
  };
  const head = html(
    "tr",
    {},
    ...["after", ...names].map((text) => html("th", {}, text)),
    html("th", { class: "n" }, "loss"),
    html("th", { class: "n", title: "Kullback–Leibler divergence" }, "KL to output"),
  );
  const table = html("table", { class: "said-after" });
  const about = paragraph("q s");
  place.replaceChildren(table, about);
  headerMenu(place, {
    title: "Lens",
    rows: () => [
      ["step", "after", "token", "probability", "loss", "kl"],
      ...data.checkpoints.flatMap(({ step, lens }) =>
        lens.flatMap(({ stage, top, loss, kl }) =>
          top.map(([token, p]) => [step, stage, token, p, loss, kl]),
        ),
      ),
    ],
  });
  drawNowAndLater(() => {
    about.replaceChildren(
      ...(data.input
        ? ["Input ", html("span", { class: "m" }, data.input), ", target "]
        : ["Target "]),
      html("span", { class: "m t" }, data.target),
      ". The last row is the model’s own output.",
    );
    table.replaceChildren(
      html("thead", {}, head),
      html(
        "tbody",
        {},
        ...data.checkpoints[view.at].lens.map(({ stage, top, loss, kl }) =>
          tableRow([
            partName(stage, headsAt(data)),
            ...top.map(cell),
            [(loss ?? NaN).toFixed(2), "n"],
            [Math.abs(kl ?? NaN).toFixed(2), "n"],
          ]),
        ),
      ),
    );
  });
}

// --- which parts make the difference

// The sums at which the bars of parts begin and end: [[from, to], …]
export function waterfall(parts) {
  let sum = 0;
  return parts.map(([, value]) => [sum, (sum += value)]);
}

function drawParts(data, place) {
  // Biases were added in the middle; they stand at the end.
  const partsAt = ({ parts }) => [
    ...parts.filter(([name]) => name !== "biases"),
    ...parts.filter(([name]) => name === "biases"),
  ];
  const draw = (width) => {
    const ends = extent([0], ...data.checkpoints.map((each) => waterfall(partsAt(each)).flat()));
    const digits = ends[1] - ends[0] < 0.5 ? 3 : 2;
    const words = `logit ${short(data.token, 8)} − logit ${short(data.other, 8)}`;
    const here = data.checkpoints[view.at];
    const parts = partsAt(here);
    const bars = waterfall(parts);
    const high = isNarrow() ? 20 : 16.4;
    const left = isNarrow() ? 136 : 150;
    const sx = makeScale("linear", ends, [left, width - 76]);
    const bottom = 16 + parts.length * high + 3;
    const made = picture(
      width,
      bottom + 22,
      "Contributions of the parts to the difference, each bar from the end of the one above",
      ...ticksOf("linear", ends, width < 500 ? 3 : 5).flatMap((tick) => [
        svg("path", { class: tick ? "grid" : "axis", d: `M${px(sx(tick))} 14V${bottom}` }),
        textAt(px(sx(tick)), 9, tickText(tick), "middle"),
      ]),
    );
    const chosen = headsAt(data)[view.head];
    parts.forEach(([name, value], i) => {
      const y = 16 + i * high;
      const [from, to] = bars[i].map(sx);
      const index = headsAt(data).findIndex((each) => name === `${each.module}.head.${each.head}`);
      const is = chosen && name === `${chosen.module}.head.${chosen.head}`;
      const stands = Math.abs(value) >= 0.08 * (ends[1] - ends[0]);
      const text = { class: is || stands ? "name" : "title", y: px(y + high / 2 + 4) };
      made.append(
        svg("rect", {
          class: is ? "empty" : "",
          x: 0,
          y: px(y),
          width,
          height: high,
          fill: "none",
        }),
        svg("rect", {
          x: px(Math.min(from, to)),
          y: px(y + 3),
          width: px(Math.max(1.2, Math.abs(to - from))),
          height: px(high - 6),
          fill: value < 0 ? "var(--neg)" : "var(--pos)",
        }),
        svg("path", { class: "axis", d: `M${px(to)} ${px(y + high - 3)}v6` }),
        svg(
          "text",
          {
            ...text,
            ...(index < 0
              ? {}
              : { cursor: "pointer", onclick: () => show({ head: index, open: isNarrow() }) }),
          },
          partName(name, headsAt(data)),
        ),
        svg(
          "text",
          { ...text, class: stands ? "name bold" : "title", x: width, "text-anchor": "end" },
          signed(value, digits),
        ),
      );
    });
    const end = { class: "name bold", y: px(bottom + 17) };
    made.append(
      svg("path", { d: `M0 ${px(bottom)}H${width}`, stroke: "var(--ink)" }),
      svg("rect", {
        x: px(Math.min(sx(0), sx(here.difference))),
        y: px(bottom + 6),
        width: px(Math.max(1.2, Math.abs(sx(here.difference) - sx(0)))),
        height: 12,
        fill: "var(--path)",
      }),
      svg("text", { ...end, class: "name bold halo", x: 0 }, words),
      svg(
        "text",
        { ...end, x: width, "text-anchor": "end" },
        `= ${signed(here.difference, digits)}`,
      ),
    );
    return made;
  };
  const rows = () => [
    ["step", "part", "value"],
    ...data.checkpoints.flatMap(({ step, parts }) =>
      parts.map(([name, value]) => [step, name, value]),
    ),
  ];
  const title = "Attribution";
  const figure = drawing({ title, draw, rows, menu: false });
  const about = paragraph("q s");
  place.replaceChildren(figure, about);
  headerMenu(place, { title, draw, rows });
  drawNowAndLater(() => {
    about.replaceChildren(
      "Each bar starts where the one above ends. ",
      html("span", { class: "m" }, data.token),
      " is the target, ",
      html("span", { class: "m" }, data.other),
      " the most likely other token.",
    );
    figure.redraw();
  });
}

// --- the embeddings

// Tokens whose names begin with the same letter have one colour: keys and values, digits.
const kindOfToken = (token) => (/^\d/.test(token) ? "0" : token.charAt(0).toLowerCase());

function drawEmbeddings(data, place) {
  const { tokens, checkpoints } = data;
  const kinds = [...new Set(tokens.map(kindOfToken))];
  const colour = (token) =>
    kinds.length <= 4 ? colourOf(kinds.indexOf(kindOfToken(token))) : "var(--path)";
  const of = (name) => checkpoints.map(({ embeddings }) => embeddings[name]);
  const here = () => checkpoints[view.at].embeddings;
  const ends = (name) => {
    const [low, high] = extent(...of(name));
    const room = 0.05 * (high - low) || 1;
    return [low - room, high + room];
  };
  const draw = (width) => {
    const height = Math.min(300, 0.72 * width);
    const sx = makeScale("linear", ends("x"), [24, width - 34]);
    const sy = makeScale("linear", ends("y"), [height - 22, 10]);
    const { x, y, shares } = here();
    return picture(
      width,
      height,
      "Tokens at the first two principal components of their embeddings",
      svg("path", {
        class: "grid",
        d: `M${px(sx(0))} 4V${px(height - 18)}M0 ${px(sy(0))}H${width}`,
      }),
      ...tokens.map((token, i) =>
        svg(
          "text",
          {
            class: `token${token === data.target ? " here" : ""}`,
            x: px(sx(x[i])),
            y: px(sy(y[i]) + 4),
            "text-anchor": "middle",
            style: `fill:${colour(token)}`,
          },
          short(token, 6),
        ),
      ),
      textAt(width, height - 4, `component 1: ${percent(shares[0], 0)} of the variance`, "end"),
      textAt(0, 12, `component 2: ${percent(shares[1], 0)}`, "start", "halo"),
    );
  };
  const drawShares = (width) => {
    const { shares } = here();
    const most = Math.max(...of("shares").flat());
    const one = width / shares.length;
    const sy = makeScale("linear", [0, most], [96, 4]);
    return picture(
      width,
      112,
      "Share of the variance by component",
      ...shares.map((share, i) =>
        svg("rect", {
          x: px(i * one + 1),
          y: px(sy(share)),
          width: px(one - 2),
          height: px(96 - sy(share)),
          fill: i < 2 ? "var(--path)" : "var(--strand)",
        }),
      ),
      textAt(0, 110, "1"),
      textAt(width, 110, `${shares.length}`, "end"),
    );
  };
  const rows = () => [
    ["step", "token", "component 1", "component 2"],
    ...checkpoints.flatMap(({ step, embeddings: { x, y } }) =>
      tokens.map((token, i) => [step, token, x[i], y[i]]),
    ),
  ];
  const title = "Embeddings";
  const figure = drawing({ title, draw, rows, menu: false });
  const shares = drawing({
    title: "Variance",
    draw: drawShares,
    rows: () => [
      ["step", "component", "share"],
      ...checkpoints.flatMap(({ step, embeddings }) =>
        embeddings.shares.map((share, i) => [step, i + 1, share]),
      ),
    ],
  });
  place.replaceChildren(html("div", { class: "side" }, figure, shares));
  headerMenu(place, { title, draw, rows });
  drawNowAndLater(() => {
    figure.redraw();
    shares.redraw();
  });
}

export const insideDrawings = {
  embeddings: drawEmbeddings,
  steps: drawSteps,
  heads: drawHeads,
  head: drawHead,
  lens: drawLens,
  parts: drawParts,
};
