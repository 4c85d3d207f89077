// The drawings of the page of several runs.
import { axisFor, chart, legend } from "../../page/chart.js";
import { colourOf, dashOf } from "../../page/colours.js";
import { html, segments } from "../../page/dom.js";
import { dotRows, interval, intervalAxis, seedAxis, seedRow, slopes } from "../../page/dots.js";
import { drawing, saveMenu } from "../../page/save.js";
import { axisEnds, extent } from "../../page/scale.js";
import { chartRows, joinCursors, runDrawings, stepAxis, valueText } from "./run.js";

const wide = matchMedia("(min-width: 1000px)");

function scoreAxis(data, lists) {
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
        left: Math.min(width * 0.4, 7 * Math.max(...rows.map((row) => row.name.length))),
      }),
    rows: () => [
      ["group", "seed", data.score],
      ...rows.flatMap((row) => row.seeds.map((each) => [row.name, each.seed, each.value])),
    ],
  };
  const table = document.querySelector("table.groups");
  const cells = [...table.querySelectorAll("tbody td.plotted")];
  const draw = () => {
    const inside = wide.matches;
    table.classList.toggle("inside", inside);
    if (!inside) {
      place.replaceChildren(drawing(spec));
      return;
    }
    place.replaceChildren(html("div", { class: "line" }, saveMenu(spec)));
    const width = Math.floor(cells[0].clientWidth);
    cells.forEach((cell, i) => cell.replaceChildren(seedRow({ width, row: rows[i], axis })));
    const before = cells[0].cellIndex;
    table.querySelector("tfoot")?.remove();
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
  drawDifferences(data);
}

// Effects with their intervals, in the cells of their table.
function drawDifferences({ differences }) {
  const cells = document.querySelectorAll("table.differences td.plotted");
  const rows = differences.rows;
  const known = rows.filter((row) => row !== null);
  if (!known.length) return;
  const kind = differences.log ? "log" : "linear";
  const inside = known.flatMap((row) => [row.size, row.low ?? row.size, row.high ?? row.size]);
  // An interval of two seeds would make all others dots.
  const far = differences.log ? [0.01, 100] : [-Infinity, Infinity];
  const kept = inside.map((value) => Math.min(far[1], Math.max(far[0], value)));
  const ends = axisEnds(kind, extent(kept, [differences.none]));
  const shared = { width: 190, kind, ends, none: differences.none };
  cells.forEach((cell, i) => {
    const row = rows[i];
    if (row) cell.replaceChildren(interval({ ...shared, ...row, label: row.name }));
  });
  const last = cells[cells.length - 1];
  last.append(intervalAxis(shared));
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

function drawGroupCurves(data, place, state) {
  state.thin ??= true;
  const axis = () => stepAxis(data.curves, state.log);
  const figures = data.curves.map((spec, i) => {
    const lines = groupLines(spec, false);
    const figure = drawing({
      title: spec.title,
      legend: i === 0 || lines.length <= 3 ? legend(lines.slice(0, 12)) : [],
      draw: (width) => {
        const shown = groupLines(spec, state.thin);
        const values = shown.flatMap((line) => [line.y, line.low ?? [], line.high ?? []]);
        return chart({
          width,
          height: width < 500 ? 210 : 250,
          label: `${spec.title} by step`,
          x: axis(),
          y: axisFor(values, { fraction: spec.fraction, kind: spec.log ? "log" : "linear" }),
          lines: shown,
        });
      },
      rows: () => chartRows(spec),
    });
    return { figure, spec };
  });
  const redraw = () => figures.forEach(({ figure }) => figure.redraw());
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
  place.replaceChildren(
    html(
      "div",
      { class: "controls noprint" },
      html("label", {}, box, " each seed"),
      html("span", {}, "Steps ", segments("Steps", steps, state.log ?? false, choose)),
      read,
    ),
    html("div", { class: "three charts" }, ...figures.map(({ figure }) => figure)),
  );
  joinCursors(figures, read);
}

function drawEffects(data, place) {
  const values = data.effects.flatMap((effect) => effect.seeds.map((seed) => seed.values));
  const axis = scoreAxis(
    data,
    values.map((list) => list.filter((value) => value !== null)),
  );
  const figures = data.effects.map((effect) =>
    drawing({
      title: effect.key,
      draw: (width) =>
        slopes({
          width,
          height: 260,
          label: `${data.score} of each seed at each value of ${effect.key}`,
          columns: effect.columns,
          seeds: effect.seeds.map((seed) => ({ ...seed, colour: colourOf(seed.colour) })),
          means: effect.means,
          axis,
        }),
      rows: () => [
        ["seed", ...effect.columns],
        ...effect.seeds.map((seed) => [seed.name, ...seed.values]),
      ],
    }),
  );
  place.replaceChildren(html("div", { class: "three charts" }, ...figures));
}

export const sweepDrawings = {
  groups: drawGroups,
  effects: drawEffects,
  // Runs that are no groups have only curves.
  curves: (data, place, state) =>
    (data.checkpoints ? runDrawings.curves : drawGroupCurves)(data, place, state),
};
