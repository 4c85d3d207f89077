// Curves over a horizontal axis, as SVG.
//
//   chart({width, height, label, x: {kind, ends}, y: {kind, ends, fraction}, lines, marks, rules})
//
// line: {label, colour, x, y, low, high, width, dash, opacity, points}; low and high are a band.
// mark: {x, y, kind: "checkpoint" | "best", colour}; rule: {y, text, isAbove: of its text,
// dash}, a dotted level.
// `colour` is a colour of CSS, "var(--h1)". Returns the picture, with the scales as picture.scales.
import { dotAt, html, picture, px, svg, textAt } from "./dom.js";
import { axisEnds, extent, makeScale, thin, ticksOf, wantsLog } from "./scale.js";
import { tickText } from "./text.js";

// The path of a line; it breaks where a value cannot be drawn.
export function linePath(xs, ys, sx, sy) {
  let path = "";
  let pen = false;
  xs.forEach((x, i) => {
    const drawn = Number.isFinite(ys[i]) && !(sy.kind === "log" && ys[i] <= 0);
    if (drawn) path += `${pen ? "L" : "M"}${px(sx(x))} ${px(sy(ys[i]))}`;
    pen = drawn;
  });
  return path;
}

// The path around a band, which its scale keeps inside the axis.
export function bandPath(xs, low, high, sx, sy) {
  const upper = xs.map((x, i) => `${px(sx(x))} ${px(sy(high[i]))}`);
  const lower = xs.map((x, i) => `${px(sx(x))} ${px(sy(low[i]))}`).reverse();
  return upper.length ? `M${upper.concat(lower).join("L")}Z` : "";
}

function axes(box, sx, sy, x, y) {
  const parts = [];
  const { left, right, bottom, width, height } = box;
  for (const tick of y.ticks ?? ticksOf(sy.kind, sy.domain, height < 130 ? 3 : 5))
    parts.push(
      svg("path", { class: "grid", d: `M${left} ${px(sy(tick))}H${width - right}` }),
      textAt(left - 7, px(sy(tick) + 4), tickText(tick, y.fraction), "end"),
    );
  parts.push(svg("path", { class: "axis", d: `M${left} ${height - bottom}H${width - right}` }));
  const room = width - left - right;
  const most = Math.max(2, Math.min(6, Math.floor(room / 62)));
  for (const tick of x.ticks ?? ticksOf(sx.kind, sx.domain, most)) {
    const pixel = sx(tick);
    const text = tickText(tick);
    const end = pixel + 3 * text.length > width;
    parts.push(
      svg("path", { class: "axis", d: `M${px(pixel)} ${height - bottom}v4` }),
      textAt(end ? width : px(pixel), height - bottom + 16, text, end ? "end" : "middle"),
    );
  }
  if (x.title) parts.push(textAt(left + room / 2, height - 2, x.title, "middle"));
  return svg("g", { class: "axes" }, ...parts);
}

function drawnMark({ x, y, kind, colour }, sx, sy) {
  const cx = px(sx(x));
  const cy = px(sy(y));
  if (kind === "best")
    return svg(
      "g",
      { class: "mark" },
      dotAt(cx, cy, 7.5, { fill: "var(--ground)", stroke: colour, "stroke-width": 1.5 }),
      dotAt(cx, cy, 3.5, { fill: colour }),
    );
  return svg("path", {
    class: "mark",
    d: `M${cx} ${px(sy(y) - 5)}l5 5l-5 5l-5 -5z`,
    fill: "var(--ground)",
    stroke: colour,
    "stroke-width": 1.5,
  });
}

function drawnLine(line, sx, sy, most) {
  const parts = [];
  const { colour = "var(--path)" } = line;
  if (line.low?.length)
    parts.push(
      svg("path", {
        class: "band",
        d: bandPath(line.x, line.low, line.high, sx, sy),
        fill: colour,
        "fill-opacity": 0.18,
      }),
    );
  const [xs, ys] = thin(line.x, line.y, most);
  parts.push(
    svg("path", {
      class: "line",
      d: linePath(xs, ys, sx, sy),
      fill: "none",
      stroke: colour,
      "stroke-width": line.width ?? 2,
      "stroke-dasharray": line.dash,
      "stroke-opacity": line.opacity,
      "stroke-linejoin": "round",
    }),
  );
  // A single point has no line, so it is a dot.
  if (line.points || line.x.length === 1)
    xs.forEach((x, i) => {
      if (!Number.isFinite(ys[i])) return;
      const [cx, cy] = [px(sx(x)), px(sy(ys[i]))];
      const open = line.points === "open";
      parts.push(
        dotAt(cx, cy, open ? 3 : 3.5, {
          fill: open ? "var(--ground)" : colour,
          stroke: open ? colour : "none",
          "stroke-width": 1.5,
        }),
      );
    });
  return svg("g", { "data-line": line.label }, ...parts);
}

// The kind of the axis of a chart (lab/report/charts.h).
export function axisKind({ lines, ratio = false, fraction = false, from_zero: isLinear = false }) {
  const all = lines.flatMap((line) => [line, ...(line.seeds ?? [])]);
  const range = extent(...all.flatMap(({ y, low = [] }) => [y, low]));
  const isLog = ratio ? range[0] > 0 : !fraction && !isLinear && wantsLog(range);
  return isLog ? "log" : "linear";
}

// The kind of an axis and its ends, for values that are not drawn yet.
export function axisFor(lists, { fraction = false, kind, zero = false } = {}) {
  const range = extent(...lists);
  const chosen = kind ?? (!fraction && wantsLog(range) ? "log" : "linear");
  const usable = chosen === "log" && !(range[0] > 0) ? "linear" : chosen;
  return { kind: usable, ends: axisEnds(usable, range, { fraction, zero }), fraction };
}

export function chart(spec) {
  const { width, height, right = 16, label, lines, marks = [], rules = [] } = spec;
  const box = { width, height, left: 48, right, top: 12, bottom: spec.x.title ? 36 : 22 };
  const sx = makeScale(spec.x.kind, spec.x.ends, [box.left, width - box.right]);
  const sy = makeScale(spec.y.kind, spec.y.ends, [height - box.bottom, box.top]);
  const made = picture(width, height, label, axes(box, sx, sy, spec.x, spec.y));
  for (const { y, text, isAbove, dash = "2 4" } of rules)
    made.append(
      svg("path", {
        d: `M${box.left} ${px(sy(y))}H${width - box.right}`,
        stroke: "var(--quiet)",
        "stroke-dasharray": dash,
      }),
      textAt(width - box.right, px(sy(y) + (isAbove ? -5 : 14)), text ?? "", "end", "halo"),
    );
  for (const line of lines) made.append(drawnLine(line, sx, sy, Math.max(50, 2 * width)));
  for (const mark of marks) made.append(drawnMark(mark, sx, sy));
  made.scales = { x: sx, y: sy, box };
  return made;
}

// Moves the cursor of a chart to a step; null takes it away.
export function drawCursor(made, step) {
  made.querySelector(".cursor")?.remove();
  if (step === null) return;
  const { x, box } = made.scales;
  made.append(
    svg("path", {
      class: "cursor",
      d: `M${px(x(step))} ${box.top}V${box.height - box.bottom}`,
      stroke: "var(--ink)",
      "stroke-opacity": 0.6,
    }),
  );
}

// The legend of lines as it stands beside a title.
export function legend(lines) {
  return lines.map(({ label, colour, dash, width = 2 }) => {
    const key = html("span", { class: "key" }, label);
    key.style.setProperty("--k", colour);
    key.style.setProperty("--d", dash ? "dashed" : "solid");
    key.style.setProperty("--w", `${Math.max(1, Math.round(width))}px`);
    return key;
  });
}
