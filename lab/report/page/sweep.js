// The drawings of the page of several runs.
import { axisFor, axisKind, chart, legend } from "../../page/chart.js";
import { colourOf, dashOf } from "../../page/colours.js";
import { html, segments } from "../../page/dom.js";
import {
  arrivals,
  dotRows,
  interval,
  intervalAxis,
  intervals,
  meansOver,
  seedAxis,
  seedRow,
  slopes,
} from "../../page/dots.js";
import { drawing, headerMenu } from "../../page/save.js";
import { axisEnds, extent } from "../../page/scale.js";
import { significant, whole } from "../../page/text.js";
import { effectOf, interactionOf, panelNames, sizeOfEffect } from "./effects.js";
import {
  bestRules,
  chartRows,
  isSmall,
  joinCursors,
  runDrawings,
  stepAxis,
  valueText,
} from "./run.js";
import { nameOf } from "./sweep_sections.js";

const wide = matchMedia("(min-width: 1000px)");

export function scoreAxis(data, lists) {
  const kind = data.log ? "log" : "linear";
  const ends = axisEnds(kind, extent(...lists));
  const clamped = data.fraction ? [Math.max(0, ends[0]), Math.min(1, ends[1])] : ends;
  const title = `${data.score}${data.log ? ", log axis" : ""}`;
  return { kind, ends: clamped, fraction: data.fraction, title };
}

// The dots of each group: in the cells of the table where there is room, else above it.
function drawGroups(data, place) {
  const rows = data.groups.map((group) => ({
    ...group,
    colour: colourOf(group.colour),
    seeds: group.seeds.map(({ seed, value }) => ({
      seed,
      value,
      title: `seed ${seed}: ${valueText(data, value)}`,
    })),
  }));
  const values = rows.flatMap((row) => [
    row.seeds.map((each) => each.value),
    [row.low ?? NaN, row.high ?? NaN],
  ]);
  if (!values.some((list) => list.some(Number.isFinite))) return;
  const axis = scoreAxis(data, values);
  const spec = {
    title: `${data.score} of each seed`,
    draw: (width) =>
      dotRows({
        width,
        label: `${data.score} of every seed by group, with mean and interval`,
        rows,
        axis,
        rowHeight: 34,
        left: roomFor(rows, width),
      }),
    rows: () => [
      ["group", "seed", data.score],
      ...rows.flatMap((row) => row.seeds.map((each) => [row.name, each.seed, each.value])),
    ],
  };
  const table = document.querySelector("table.groups");
  const cells = [...table.querySelectorAll("tbody td.plotted")];
  cells.forEach((cell, i) => {
    const line = html("i", { class: "sw" });
    line.style.setProperty("--c", rows[i].colour);
    line.style.setProperty("--d", rows[i].dash % 2 ? "dashed" : "solid");
    cell.parentElement.firstElementChild.prepend(line);
  });
  const draw = () => {
    const inside = wide.matches;
    table.classList.toggle("inside", inside);
    table.querySelector("tfoot")?.remove();
    headerMenu(place, inside ? spec : null);
    place.replaceChildren(...(inside ? [] : [drawing(spec)]));
    if (!inside) return;
    const width = Math.floor(cells[0].clientWidth);
    cells.forEach((cell, i) => cell.replaceChildren(seedRow({ width, row: rows[i], axis })));
    const before = cells[0].cellIndex;
    table.append(
      html(
        "tfoot",
        {},
        html(
          "tr",
          {},
          html("td", { colspan: before }),
          html("td", { class: "plotted" }, seedAxis({ width, axis })),
          html("td", { colspan: cells[0].parentElement.cells.length - before - 1 }),
        ),
      ),
    );
  };
  wide.onchange = draw;
  draw();
}

// The room for the names of rows.
const roomFor = (rows, width) =>
  Math.min(width * 0.4, 8 + 7 * Math.max(...rows.map((row) => row.name.length)));

// Effects with their intervals, in the cells of their table.
function drawDifferences({ differences, score }, place) {
  const cells = document.querySelectorAll("table.differences td.plotted");
  const rows = differences.tables.flatMap((of) =>
    of.rows.map((each) => (each.pairs ? { ...each, name: nameOf(of, each) } : null)),
  );
  const known = rows.filter((row) => row !== null);
  if (!known.length) return;
  const kind = differences.log ? "log" : "linear";
  const inside = known.flatMap((row) => [row.size, row.low ?? row.size, row.high ?? row.size]);
  // An interval of two seeds would make all others dots.
  const far = differences.log ? [0.01, 100] : [-Infinity, Infinity];
  const kept = inside.map((value) => Math.min(far[1], Math.max(far[0], value)));
  const ends = axisEnds(kind, extent(kept, [differences.none]));
  const axis = { kind, ends, none: differences.none };
  cells.forEach((cell, i) => {
    if (rows[i]) cell.replaceChildren(interval({ width: 190, row: rows[i], axis }));
  });
  cells[cells.length - 1].append(intervalAxis({ width: 190, axis }));
  const spec = {
    title: `Differences in ${score}`,
    draw: (width) =>
      intervals({
        width,
        label: `Each difference in ${score} with its 95 % interval`,
        rows: known,
        axis,
        left: roomFor(known, width),
      }),
    rows: () => [
      ["comparison", differences.log ? "factor" : "difference", "low", "high"],
      ...known.map((row) => [row.name, row.size, row.low, row.high]),
    ],
  };
  headerMenu(place, spec);
}

// When each seed reached the target.
function drawTarget({ target, groups }, place) {
  const rows = target.groups.map((group, i) => ({
    ...group,
    name: groups[i].name,
    colour: colourOf(groups[i].colour),
    seeds: group.steps.map(({ seed, step }) => ({
      seed,
      value: step ?? Infinity,
      title: `seed ${seed}: ${step === null ? "never" : `step ${whole(step)}`}`,
    })),
  }));
  place.replaceChildren(
    drawing({
      title: "Steps to the target",
      draw: (width) =>
        arrivals({
          width,
          label: "Step at which each seed reached the target; triangles never reached it",
          rows,
          last: target.last,
          left: roomFor(rows, width),
        }),
      rows: () => [
        ["group", "seed", "step"],
        ...rows.flatMap(({ name, steps }) => steps.map(({ seed, step }) => [name, seed, step])),
      ],
    }),
  );
}

// Curves of groups: thick the mean with its band, thin each seed.
function groupLines(spec, thin) {
  return spec.lines.flatMap((line) => {
    const style = { colour: colourOf(line.colour), dash: dashOf(line.dash ?? 0) };
    const seeds = thin ? (line.seeds ?? []) : [];
    return [
      ...seeds.map((seed) => ({ ...style, ...seed, width: 0.7, opacity: 0.55 })),
      { ...line, ...style, width: line.seeds ? 2.2 : 1.6 },
    ];
  });
}

// A loss or a score has a panel for each value of the second key, all on the same axes.
const mostPanels = 6;
function panelsOf(spec, names) {
  if (isSmall(spec) || names.length < 2 || names.length > mostPanels) return [spec];
  return names.flatMap((name, dash) => {
    const lines = spec.lines.filter((line) => (line.dash ?? 0) === dash);
    const own = lines.map((line) => ({
      ...line,
      dash: 0,
      label: line.label.slice(0, -name.length - 2),
    }));
    return own.length ? [{ ...spec, title: `${spec.title}, ${name}`, lines: own, all: spec }] : [];
  });
}

function drawGroupCurves(data, place, state) {
  state.thin ??= true;
  const axis = () => stepAxis(data.curves, state.log);
  const panels = panelNames(data);
  const figures = [];
  const figure = (spec, small) => {
    const made = drawing({
      title: spec.title,
      draw: (width) => {
        const values = groupLines(spec.all ?? spec, state.thin).flatMap((line) => [
          line.y,
          line.low ?? [],
          line.high ?? [],
        ]);
        const kind = axisKind(spec);
        const rules = bestRules(spec, kind);
        return chart({
          width,
          height: small ? 130 : width < 500 ? 210 : 250,
          label: `${spec.title} by step`,
          x: axis(),
          y: axisFor([...values, rules.map((rule) => rule.y)], {
            fraction: spec.fraction,
            kind,
            zero: spec.from_zero,
          }),
          lines: groupLines(spec, state.thin),
          rules,
        });
      },
      rows: () => chartRows(spec),
    });
    figures.push({ figure: made, spec });
    return made;
  };
  const first = (spec) => (spec.name === data.score ? 0 : spec.name.startsWith("val.") ? 1 : 2);
  const large = data.curves
    .filter((spec) => !isSmall(spec))
    .sort((a, b) => first(a) - first(b))
    .flatMap((spec) => panelsOf(spec, panels));
  const small = data.curves.filter(isSmall);
  // The panels of a score stand beside each other.
  const isPaired = large[0]?.all && [2, 4].includes(panels.length);
  const grid = (specs, isLow) =>
    html(
      "div",
      {
        class: `${isPaired && !isLow ? "pair" : "three"} charts`,
      },
      ...specs.map((spec) => figure(spec, isLow)),
    );
  const grids = [grid(large, false), grid(small, true)];
  const redraw = () => figures.forEach((each) => each.figure.redraw());
  const box = html("input", {
    type: "checkbox",
    id: "thin",
    checked: state.thin,
    onchange: () => {
      state.thin = box.checked;
      redraw();
    },
  });
  const read = html("output", { class: "q s read" }, "point at a curve to read it");
  const steps = [
    [false, "linear"],
    [true, "log"],
  ];
  const choose = (log) => {
    state.log = log;
    redraw();
  };
  const keys = large.length ? large[0] : small[0];
  const dashed = large[0]?.all ? `below: solid ${panels[0]}, dashed the others` : "";
  place.replaceChildren(
    html(
      "div",
      { class: "controls noprint" },
      html("label", {}, box, " each seed"),
      html("span", {}, "Steps ", segments("Steps", steps, state.log ?? false, choose)),
      html(
        "span",
        { class: "line" },
        ...legend(groupLines(keys, false).slice(0, 12)),
        html("span", { class: "q s" }, dashed),
      ),
      read,
    ),
    ...grids,
  );
  joinCursors(figures, read);
}

// "× 0.34", or a difference with its sign.
function effectText({ log }, size) {
  if (size === null) return "";
  return log ? `× ${significant(size)}` : `${size > 0 ? "+" : ""}${significant(size)}`;
}

// The means of one key's values over those of the other one: lines that are not parallel.
function drawInteraction(data) {
  const { key, columns, lines } = interactionOf(data);
  const drawn = lines.map((line) => ({ ...line, colour: colourOf(line.colour) }));
  const values = lines.flatMap(({ points }) =>
    points.map(({ mean, low, high }) => [mean, low, high].filter(Number.isFinite)),
  );
  const axis = scoreAxis(data, values);
  return drawing({
    title: "Interaction",
    legend: legend(drawn.map(({ name, colour }) => ({ label: name, colour }))),
    note: `over ${key}`,
    draw: (width) =>
      meansOver({
        width,
        height: 260,
        label: `Mean ${data.score} at each value of ${key}, a line for each value of the other key`,
        columns,
        lines: drawn,
        axis,
      }),
    rows: () => [
      ["line", key, "mean", "low", "high"],
      ...lines.flatMap(({ name, points }) =>
        points.map(({ mean, low, high }, i) => [name, columns[i], mean, low, high]),
      ),
    ],
  });
}

function drawEffects(data, place) {
  const effects = data.keys.map((key, index) => ({
    ...key,
    size: sizeOfEffect(data, index),
    ...effectOf(data, index),
  }));
  const values = data.groups.map((group) => group.seeds.map((seed) => seed.value));
  if (!values.flat().length) return;
  const axis = scoreAxis(data, values);
  const figures = effects.map(({ name, key, size, columns, seeds, means }) =>
    drawing({
      title: name,
      draw: (width) =>
        slopes({
          width,
          height: 260,
          label: `${data.score} of each seed at each value of ${key}`,
          columns,
          seeds: seeds.map((seed) => ({ ...seed, colour: colourOf(seed.colour) })),
          means,
          size: effectText(data.differences, size),
          axis,
        }),
      rows: () => [["seed", ...columns], ...seeds.map((seed) => [seed.name, ...seed.values])],
    }),
  );
  if (data.differences.tables.some((each) => each.of === "interaction"))
    figures.push(drawInteraction(data));
  place.replaceChildren(html("div", { class: "three charts" }, ...figures));
}

export const sweepDrawings = {
  groups: drawGroups,
  differences: drawDifferences,
  effects: drawEffects,
  target: drawTarget,
  // Runs that are no groups have only curves.
  curves: (data, place, state) =>
    (data.checkpoints ? runDrawings.curves : drawGroupCurves)(data, place, state),
};
