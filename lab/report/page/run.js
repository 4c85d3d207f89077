// The drawings of the page of one run.
import { drawAtlas } from "../../page/atlas.js";
import { axisFor, axisKind, chart, drawCursor, legend } from "../../page/chart.js";
import { colourOf, dashOf } from "../../page/colours.js";
import { dotAt, html, picture, segments, svg, textAt } from "../../page/dom.js";
import { largeMap } from "../../page/heat.js";
import { drawing, headerMenu } from "../../page/save.js";
import { extent, nearest, smooth } from "../../page/scale.js";
import { percent, significant, whole } from "../../page/text.js";
import { fold, paragraph, tableRow } from "./parts.js";

// The value of a point, as the header of a chart says it.
export const valueText = (spec, value) => (spec.fraction ? percent(value) : significant(value));

// The data of a chart as rows of CSV.
export function chartRows(spec) {
  const banded = spec.lines.some((line) => line.low);
  return [
    ["line", "step", spec.name, ...(banded ? ["low", "high"] : [])],
    ...spec.lines.flatMap((line) =>
      line.x.map((x, i) =>
        [line.label, x, line.y[i], line.low?.[i], line.high?.[i]].slice(0, banded ? 5 : 3),
      ),
    ),
  ];
}

// The steps of charts that share an axis.
export function stepAxis(specs, log) {
  const lines = specs.flatMap((spec) => spec.lines);
  const steps = lines.flatMap((line) => [line, ...(line.seeds ?? [])].map((each) => each.x));
  const [first, last] = extent(...steps);
  if (log) return { kind: "log", ends: [Math.max(1, first), Math.max(2, last)] };
  return { kind: "linear", ends: [0, Math.max(1, last)] };
}

// Draws a line through charts at the step that is pointed at, and says the values there.
export function joinCursors(figures, read) {
  for (const { figure } of figures)
    figure.addEventListener("pointermove", (event) => {
      const drawn = figure.querySelector(".plot > svg");
      if (!drawn?.scales) return;
      const { x, box } = drawn.scales;
      const left = drawn.getBoundingClientRect().left;
      const pixel = Math.min(box.width - box.right, Math.max(box.left, event.clientX - left));
      const step = x.value(pixel);
      const values = figures.flatMap(({ figure: other, spec }) => {
        const svgOf = other.querySelector(".plot > svg");
        if (svgOf?.scales) drawCursor(svgOf, step);
        return spec.lines.slice(0, 4).flatMap((line) => {
          const at = nearest(line.x, step);
          return at < 0 ? [] : [`${line.label.toLowerCase()} ${valueText(spec, line.y[at])}`];
        });
      });
      read.textContent = `step ${whole(step)} · ${values.slice(0, 5).join(" · ")}`;
    });
}

// A loss with what stands beside its lines: checkpoints, the best step, what guessing gives.
function lossMarks(data, line) {
  const marks = [];
  const at = (step) => line.x.indexOf(step);
  for (const step of data.checkpoints ?? [])
    if (at(step) >= 0 && step !== data.best)
      marks.push({ kind: "checkpoint", x: step, y: line.y[at(step)], colour: line.colour });
  if (at(data.best) >= 0)
    marks.push({
      kind: "best",
      x: data.best,
      y: line.y[at(data.best)],
      colour: line.colour,
    });
  return marks;
}

// "◇ checkpoint · ◎ best: step 2 000, 0.031"
function markLegend(data, line) {
  const kinds = lossMarks(data, line).map(({ kind }) => kind);
  const value = line.y[line.x.indexOf(data.best)];
  const says = [
    kinds.includes("checkpoint") ? "◇ checkpoint" : "",
    kinds.includes("best") ? `◎ best: step ${whole(data.best)}, ${significant(value)}` : "",
  ];
  return html("span", { class: "key plain" }, says.filter(Boolean).join(" · "));
}

function styled(spec) {
  const main = { colour: "var(--h1)", points: spec.lines.at(-1).x.length <= 40 };
  if (spec.name === "loss" && spec.lines.length > 1)
    return [
      { ...spec.lines[0], colour: "var(--train)", width: 1.1 },
      { ...spec.lines[1], ...main },
    ];
  if (spec.name === "val.scores") return spec.lines;
  return spec.lines.map((line) =>
    isSmall(spec) ? { ...line, colour: "var(--path)", width: 1.4 } : { ...line, ...main },
  );
}

// The best possible value as a dashed level, where a chart has one and its axis shows it.
export const bestRules = ({ best }, kind) =>
  Number.isFinite(best) && (kind !== "log" || best > 0)
    ? [{ y: best, text: `best possible: ${significant(best)}`, isAbove: true, dash: "6 4" }]
    : [];

// A line as the legend of its chart names it: "training" of "Training loss" beside "Loss".
const shortened = (line) => ({ ...line, label: line.label.toLowerCase().replace(/ loss$/, "") });

function chartFigure(data, spec, state, { height, narrow = height, axis, note, rules = [] }) {
  const lines = styled(spec);
  const isLoss = spec.name === "loss";
  const guess = isLoss && data.guess ? data.guess : null;
  const draw = (width) => {
    const values = lines.flatMap((line) => [line.y, line.low ?? [], line.high ?? []]);
    const kind = state.logit && spec.fraction ? "logit" : axisKind(spec);
    const best = bestRules(spec, kind);
    const levels = [...(guess ? [guess] : []), ...best.map((rule) => rule.y)];
    const y = axisFor([...values, levels], {
      fraction: spec.fraction,
      kind,
      zero: spec.from_zero,
    });
    const weight = (state.smooth ?? 0) / 10;
    const shown = lines.map((line) =>
      isLoss && line.colour === "var(--train)"
        ? { ...line, y: smooth(line.y, weight, y.kind === "log") }
        : line,
    );
    return chart({
      width,
      height: width < 400 ? narrow : height,
      label: `${spec.title} by step`,
      x: axis(),
      y,
      lines: shown,
      marks: isLoss && lines.length > 1 ? lossMarks(data, lines[1]) : [],
      rules: [
        ...rules,
        ...(guess
          ? [{ y: guess, text: `guessing among ${whole(data.choices)}: ${guess.toFixed(2)}` }]
          : []),
        ...best,
      ],
    });
  };
  const marks = isLoss && lines.length > 1 ? [markLegend(data, lines[1])] : [];
  return drawing({
    title: spec.title,
    legend: lines.length > 1 ? [...legend(lines.slice(0, 12).map(shortened)), ...marks] : [],
    note,
    draw,
    rows: () => chartRows(spec),
  });
}

// Scores of one kind share a chart: those that are fractions.
function joinFractions(charts) {
  const fractions = charts
    .filter((spec) => spec.fraction && spec.name.startsWith("val."))
    .sort((a, b) => b.name.endsWith("exact_match") - a.name.endsWith("exact_match"));
  if (fractions.length < 2) return charts;
  const first = charts.find((spec) => fractions.includes(spec));
  const lines = fractions.map((spec, i) => ({
    ...spec.lines[0],
    label: spec.title.replace(/^Validation /, ""),
    dash: dashOf(i),
    points: spec.lines[0].x.length <= 40 ? (i ? "open" : true) : undefined,
  }));
  lines.forEach((line, i) => {
    line.colour = i ? "var(--h3)" : "var(--h1)";
  });
  const joined = {
    title: "Validation scores",
    name: "val.scores",
    fraction: true,
    lines,
  };
  return charts.flatMap((spec) =>
    fractions.includes(spec) ? (spec === first ? [joined] : []) : [spec],
  );
}

export const isSmall = (spec) => !spec.name.startsWith("val.") && spec.name !== "loss";

function drawCurves(data, place, state) {
  const charts = joinFractions(data.curves);
  const large = charts.filter((spec) => !isSmall(spec));
  const small = charts.filter(isSmall);
  const axis = () => stepAxis(charts, state.log);
  const figures = [];
  const figure = (spec, options) => {
    const made = chartFigure(data, spec, state, { axis, ...options });
    figures.push({ figure: made, spec });
    return made;
  };
  const clip = (spec) =>
    spec.name === "gradient_norm" && data.clip > 0 ? [{ y: data.clip, text: "" }] : [];
  const note = (spec) => (clip(spec).length ? `before clipping at ${data.clip} (dotted)` : "");
  const main = html(
    "div",
    { class: "two charts" },
    ...large.map((spec, i) => figure(spec, { height: 292, narrow: i ? 190 : 220 })),
  );
  const others = html(
    "div",
    { class: "three charts" },
    ...small.map((spec) => figure(spec, { height: 104, rules: clip(spec), note: note(spec) })),
  );
  const redraw = () => figures.forEach((each) => each.figure.redraw());
  const smoothing = html("input", {
    type: "range",
    id: "smoothing",
    min: 0,
    max: 9,
    value: state.smooth ?? 0,
    oninput: () => {
      state.smooth = smoothing.valueAsNumber;
      redraw();
    },
  });
  const read = html("output", { class: "q s read" }, "point at a curve to read it");
  const choose = (name) => (value) => {
    state[name] = value;
    redraw();
  };
  const both = [
    [false, "linear"],
    [true, "log"],
  ];
  place.replaceChildren(
    html(
      "div",
      { class: "controls noprint" },
      html("label", {}, "Smoothing ", smoothing),
      html("span", {}, "Steps ", segments("Steps", both, state.log ?? false, choose("log"))),
      charts.some((spec) => spec.fraction)
        ? html(
            "span",
            {},
            "Scores ",
            segments("Scores", [both[0], [true, "logit"]], state.logit ?? false, choose("logit")),
          )
        : null,
      read,
    ),
    main,
    others,
  );
  joinCursors(figures, read);
}

// The menu that saves examples with their outputs, more than the table below it shows.
function drawSamples({ samples }, place) {
  const all = samples.flatMap(({ split, rows }) => rows.map((row) => [split, ...row]));
  headerMenu(place, {
    title: `Samples, ${whole(all.length)} examples`,
    rows: () => [["split", "input", "output", "expected"], ...all],
  });
}

function drawLengths({ lengths }, place) {
  const { rows, longest } = lengths;
  const draw = (width) => {
    const last = rows.at(-1).length;
    const first = rows[0].length;
    const x = { kind: "linear", ends: [first - 0.6, last + 0.6], title: "length of the source" };
    const y = axisFor([[0, 1]], { fraction: true });
    const made = chart({
      width,
      height: width < 400 ? 210 : 264,
      label: "Exact match by length of the source, with 95 % intervals",
      x,
      y,
      lines: [],
    });
    const { x: sx, y: sy, box } = made.scales;
    if (longest < last) {
      const edge = sx(longest + 0.5);
      const bottom = box.height - box.bottom;
      const wide = sx(last + 0.6) - edge;
      made.prepend(
        svg("rect", {
          x: edge,
          y: box.top,
          width: wide,
          height: bottom - box.top,
          class: "beyond",
        }),
      );
      made.append(
        svg("path", {
          class: "axis",
          d: `M${edge} ${box.top}V${bottom}`,
          "stroke-dasharray": "3 3",
        }),
      );
    }
    for (const row of rows) {
      const colour = row.length > longest ? "var(--bad)" : "var(--h1)";
      made.append(
        svg("path", {
          d: `M${sx(row.length)} ${sy(row.low)}V${sy(row.high)}`,
          stroke: colour,
          "stroke-width": 1.4,
          "stroke-opacity": 0.6,
        }),
        dotAt(
          sx(row.length),
          sy(row.right / row.of),
          3.6,
          { fill: colour, stroke: "var(--ground)" },
          `${row.length}: ${row.right} of ${row.of}`,
        ),
      );
    }
    return made;
  };
  const cells = rows.map(({ length, right, of, low, high }) => [length, right, of, low, high]);
  place.replaceChildren(
    drawing({
      title: "Exact match by length of the source",
      note:
        longest < rows.at(-1).length
          ? `a line is the 95 % interval; dashed: the longest of the split (${longest})`
          : "a line is the 95 % interval",
      draw,
      rows: () => [["length", "right", "of", "low", "high"], ...cells],
    }),
  );
}

function drawPositions({ positions }, place) {
  const lines = positions.lines.map((line) => ({ ...line, colour: colourOf(line.colour) }));
  const draw = (width) =>
    chart({
      width,
      height: width < 400 ? 190 : 230,
      label: "Loss by the position of the input",
      x: {
        kind: "linear",
        ends: extent(...lines.map(({ x }) => x)),
        title: "position of the input",
      },
      y: axisFor(lines.map(({ y }) => y)),
      lines,
    });
  place.replaceChildren(
    drawing({
      title: positions.title,
      legend: lines.length > 1 ? legend(lines) : [],
      draw,
      rows: () => [
        ["split", "position", "loss"],
        ...lines.flatMap(({ label, x, y }) => x.map((each, i) => [label, each, y[i]])),
      ],
    }),
  );
}

function drawConfusion({ confusion }, place) {
  if (!confusion) return;
  const { labels, counts } = confusion;
  const totals = labels.map(() => 0);
  const cells = labels.map(() => labels.map(() => 0));
  for (const [expected, predicted, count] of counts) {
    totals[expected] += count;
    cells[expected][predicted] = count;
  }
  const share = (row, column) => cells[row][column] / Math.max(1, totals[row]);
  const readout = html("p", { class: "readout q s", "aria-live": "polite" }, "Point at a cell.");
  const draw = (width) =>
    largeMap(
      { rows: labels, columns: labels, weight: share },
      {
        width: Math.min(width, 560),
        colour: "var(--h1)",
        label: "How often each target was predicted as each one, as a fraction of its row",
        read: (row, column) => {
          const of = `${whole(cells[row][column])} of ${whole(totals[row])}`;
          readout.textContent = `expected ${labels[row]}, predicted ${labels[column]}: ${of}`;
        },
      },
    );
  place.replaceChildren(
    drawing({
      title: "Confusion",
      note: "rows are expected, columns predicted",
      draw,
      rows: () => [
        ["expected", "predicted", "count"],
        ...counts.map(([expected, predicted, count]) => [
          labels[expected],
          labels[predicted],
          count,
        ]),
      ],
    }),
    readout,
  );
}

// Small charts of a measure: one for each line, all of one measure on one scale.
function measureRow(spec, axis) {
  const y = () =>
    axisFor(
      spec.lines.map((line) => line.y),
      { kind: axisKind(spec) },
    );
  const figures = spec.lines.slice(0, 48).map((line) =>
    drawing({
      title: line.label,
      draw: (width) =>
        chart({
          width,
          height: 96,
          label: `${spec.title} of ${line.label} by step`,
          x: axis(),
          y: y(),
          lines: [{ ...line, colour: "var(--path)", width: 1.3 }],
        }),
      rows: () => chartRows({ ...spec, lines: [line] }),
    }),
  );
  return [html("h3", {}, spec.title), html("div", { class: "parts" }, ...figures)];
}

// The norms of parts; layers and heads are folded.
function drawStatistics(data, place) {
  const axis = () => stepAxis(data.statistics, false);
  const isNorm = (spec) => spec.name.startsWith("norm.");
  const norms = data.statistics.filter(isNorm);
  const others = data.statistics.filter((spec) => !isNorm(spec));
  place.replaceChildren(
    ...norms.flatMap((spec) => measureRow(spec, axis)),
    ...others.map((spec) =>
      fold(`${spec.title}, ${spec.lines.length} curves`, ...measureRow(spec, axis).slice(1)),
    ),
  );
}

// The kinds of operations. One that fits none is a norm, a sum or an activation.
const timeKinds = [
  ["matrix products", /linear|matmul|conv/],
  ["attention", /attention|softmax/],
  ["norms, sums, activations", /./],
  ["loss", /loss|cross_entropy/],
  ["optimizer", /^optimizer$/],
  ["rest", /^(outside operations|batch preparation|waiting for threads)$/],
];
function timeKind(operation) {
  return [5, 4, 3, 1, 0, 2].find((kind) => timeKinds[kind][1].test(operation));
}

// The time of a step by kind of operation, which adds up to the step.
export function timeByKind(operations) {
  const kinds = timeKinds.map(([name]) => ({ name, forward: 0, backward: 0 }));
  for (const [name, forward, backward] of operations) {
    kinds[timeKind(name)].forward += forward;
    kinds[timeKind(name)].backward += backward;
  }
  return kinds;
}

const timeColours = [...[0, 1, 2, 3].map(colourOf), "var(--control)", "var(--strand)"];

// A table with bars to the longest row; all but the ten longest are folded.
function timeTable(head, rows, step, colourFor) {
  const all = rows
    .map(([name, forward, backward]) => ({
      name,
      seconds: forward + backward,
      forward,
      colour: colourFor(name),
    }))
    .sort((a, b) => b.seconds - a.seconds);
  const rest = all.slice(10);
  const milliseconds = (seconds, digits) => (1e3 * seconds).toFixed(digits);
  const bar = ({ seconds, forward, colour }) => {
    const pale = html("u", { style: `width:${(100 * forward) / (seconds || 1)}%` });
    const wide = (100 * seconds) / (all[0].seconds || 1);
    return html("i", { style: `width:${wide}%;--c:${colour}` }, pale);
  };
  const rowOf = (each) =>
    tableRow([
      each.name,
      [milliseconds(each.seconds, 2), "n"],
      [percent(each.seconds / step), "n q"],
      [bar(each), "b"],
    ]);
  const sum = rest.reduce((total, each) => total + each.seconds, 0);
  const more = `${milliseconds(sum, 2)} ms (${percent(sum / step, 0)})`;
  const others = rest.map((each) => `${each.name} ${milliseconds(each.seconds, 3)} ms`).join(" · ");
  const heads = tableRow([head, ["ms", "n"], ["of a step", "n"], ""], undefined, 4);
  return [
    html("table", {}, heads, ...all.slice(0, 10).map(rowOf)),
    rest.length ? fold(`${rest.length} more, together ${more}`, paragraph("q s", others)) : "",
  ];
}

function drawTime({ time }, place) {
  const kinds = timeByKind(time.operations).map((kind, i) => ({
    ...kind,
    seconds: kind.forward + kind.backward,
    colour: timeColours[i],
  }));
  const sum = kinds.reduce((all, kind) => all + kind.seconds, 0);
  const words = (kind) =>
    `${significant(1e3 * kind.seconds)} ms · ${percent(kind.seconds / sum, 0)}`;
  const draw = (width) => {
    const made = picture(width, 32 + 20 * kinds.length, "A training step by kind of operation");
    let x = 0;
    kinds.forEach((kind, i) => {
      const wide = (width * kind.seconds) / sum;
      const bar = { x: x.toFixed(1), y: 0, height: 30 };
      const inner = Math.max(0, wide - 1.5);
      made.append(
        svg("rect", { ...bar, width: inner.toFixed(1), fill: kind.colour }),
        svg("rect", {
          ...bar,
          width: (kind.seconds ? (inner * kind.forward) / kind.seconds : 0).toFixed(1),
          fill: "var(--ground)",
          "fill-opacity": 0.42,
        }),
        svg("rect", { x: 0, y: 40 + 20 * i, width: 10, height: 10, fill: kind.colour }),
        textAt(18, 49 + 20 * i, kind.name, undefined, "name"),
        textAt(Math.min(width, 360), 49 + 20 * i, words(kind), "end", "title"),
      );
      x += wide;
    });
    return made;
  };
  place.replaceChildren(
    drawing({
      title: "A step by kind",
      draw,
      rows: () => [
        ["kind", "forward ms", "backward ms"],
        ...kinds.map((kind) => [kind.name, 1e3 * kind.forward, 1e3 * kind.backward]),
      ],
    }),
    html(
      "div",
      { class: "two" },
      html(
        "div",
        {},
        html("h3", {}, "The ten largest layers"),
        ...timeTable("layer", time.layers, time.seconds, () => "var(--path)"),
      ),
      html(
        "div",
        {},
        html("h3", {}, "By operation"),
        ...timeTable(
          "operation",
          time.operations,
          time.seconds,
          (name) => timeColours[timeKind(name)],
        ),
      ),
    ),
  );
}

// The page of several runs has curves, too, with groups: see sweep.js.
export const runDrawings = {
  curves: drawCurves,
  samples: drawSamples,
  lengths: drawLengths,
  positions: drawPositions,
  attention: ({ attention }, place, state) => drawAtlas(attention, state, place),
  confusion: drawConfusion,
  statistics: drawStatistics,
  time: drawTime,
};
