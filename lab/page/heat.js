// Maps of weights: small ones to choose from, and one with labels, numbers and a colour bar.
//
// map: {rows: [label], columns: [label], weight(row, column) → 0 … 1}
import { inkOn } from "./colours.js";
import { picture, svg, textAt } from "./dom.js";

const shades = 32;

// Returns what is drawn of a weight: itself, or its root, which shows small ones.
export const shadeOf = (weight, root) => (root ? Math.sqrt(weight) : weight);

// The cells as one path for each shade, in units of a cell.
function cellPaths({ rows, columns, weight }, colour, root = false) {
  const paths = new Array(shades + 1).fill("");
  for (let row = 0; row < rows.length; ++row)
    for (let column = 0; column < columns.length; ++column)
      paths[Math.round(shades * shadeOf(weight(row, column), root))] += `M${column} ${row}h1v1h-1z`;
  return paths.flatMap((d, shade) =>
    shade && d
      ? [svg("path", { d, fill: colour, "fill-opacity": (shade / shades).toFixed(3) })]
      : [],
  );
}

// A map without labels that fits a square of `size` pixels.
export function smallMap(map, size, colour, root = false, label = "") {
  const cell = size / Math.max(map.rows.length, map.columns.length);
  const [width, height] = [cell * map.columns.length, cell * map.rows.length];
  return picture(
    width,
    height,
    label,
    svg(
      "g",
      { transform: `scale(${cell})`, "shape-rendering": "crispEdges" },
      svg("rect", { class: "empty", width: map.columns.length, height: map.rows.length }),
      ...cellPaths(map, colour, root),
    ),
  );
}

// A label of at most `most` characters.
export const short = (label, most = 12) => {
  const letters = [...label];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : label;
};

// How many labels a side has room for, and how wide the widest is.
function layoutOf(map, room) {
  const longest = (labels) => Math.max(1, ...labels.map((label) => [...short(label)].length));
  const letter = 7.3;
  const left = 10 + letter * longest(map.rows);
  const cell = Math.max(4, Math.min(34, (room - left - 64) / map.columns.length));
  const upright = letter * longest(map.columns) < cell;
  const top = upright ? 26 : 12 + letter * longest(map.columns);
  return { left, top, cell, upright, every: Math.ceil(12 / cell) };
}

function labelsOf(map, { left, top, cell, upright, every }) {
  const texts = [];
  map.rows.forEach((label, i) => {
    if (i % every) return;
    const y = top + (i + 0.5) * cell + 4;
    const attributes = { class: "token", x: left - 7, y, "text-anchor": "end", "data-row": i };
    texts.push(svg("text", attributes, short(label)));
  });
  map.columns.forEach((label, i) => {
    if (i % every) return;
    const x = left + (i + 0.5) * cell;
    const place = upright
      ? { x, y: top - 7, "text-anchor": "middle" }
      : { transform: `translate(${x + 4} ${top - 7}) rotate(-90)` };
    texts.push(svg("text", { class: "token", "data-column": i, ...place }, short(label)));
  });
  return texts;
}

// The bar beside a map: what a shade says. `scale` is the weight of the full colour.
function colourBar({ x, y, height, colour, root = false, scale = 1 }) {
  const steps = 40;
  const bar = svg("g", { class: "bar" }, svg("rect", { class: "empty", x, y, width: 12, height }));
  for (let i = 0; i < steps; ++i)
    bar.append(
      svg("rect", {
        x,
        y: y + height * (1 - (i + 1) / steps),
        width: 12,
        height: height / steps + 0.3,
        fill: colour,
        "fill-opacity": ((i + 0.5) / steps).toFixed(3),
      }),
    );
  for (const tick of root ? [0, 0.05, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]) {
    const at = y + height * (1 - shadeOf(tick, root));
    bar.append(
      svg("path", { class: "axis", d: `M${x + 12} ${at}h4` }),
      textAt(x + 20, at + 4, `${Number((tick * scale).toPrecision(3))}`),
    );
  }
  bar.append(textAt(x - 8, y - 17, "weight"));
  return bar;
}

// Numbers of weights from 0.10 on, in small cells from 0.30.
function numbersOf(map, { left, top, cell }, colour, root, smallest) {
  if (cell < smallest) return [];
  const isSmall = cell < 26;
  const texts = [];
  for (let row = 0; row < map.rows.length; ++row)
    for (let column = 0; column < map.columns.length; ++column) {
      const weight = map.weight(row, column);
      if (weight < (isSmall ? 0.3 : 0.1)) continue;
      const shade = shadeOf(weight, root);
      const x = left + (column + 0.5) * cell;
      const y = top + (row + 0.5) * cell + 4;
      const text = weight >= 0.995 ? "1" : weight.toFixed(2).slice(1);
      const ink = inkOn(colour, Math.round(shades * shade) / shades);
      const size = isSmall ? { "font-size": 9 } : {};
      const place = { x, y: isSmall ? y - 1 : y, "text-anchor": "middle", ...size };
      texts.push(svg("text", { class: `number ${ink}`, ...place }, text));
    }
  return texts;
}

// A map with labels. `read(row, column)` is called for the cell under the pointer, or that the
// arrow keys have reached; `at` is such a cell from the start, [row, column], and `framed` a row
// that stands out. Cells have numbers from `numbersFrom` pixels on.
export function largeMap(map, options) {
  const { width, colour, root = false, scale = 1, label, read = () => {} } = options;
  const { at = null, framed = null, numbersFrom = 26 } = options;
  const layout = layoutOf(map, width);
  const { left, top, cell } = layout;
  const [wide, high] = [cell * map.columns.length, cell * map.rows.length];
  const cells = svg(
    "g",
    { class: "cells", transform: `translate(${left} ${top}) scale(${cell})` },
    svg("rect", { class: "empty", width: map.columns.length, height: map.rows.length }),
    ...cellPaths(map, colour, root),
  );
  const guides = svg("g", { class: "guides" });
  const barHeight = Math.max(80, high);
  const made = picture(
    left + wide + 64,
    top + barHeight + 6,
    label,
    cells,
    guides,
    ...labelsOf(map, layout),
    ...(scale === 1 ? numbersOf(map, layout, colour, root, numbersFrom) : []),
    ...(framed === null
      ? []
      : [
          svg("rect", {
            class: "framed",
            x: left,
            y: top + framed * cell,
            width: wide,
            height: cell,
          }),
        ]),
    colourBar({ x: left + wide + 20, y: top, height: barHeight, colour, root, scale }),
  );
  made.setAttribute("tabindex", "0");
  const here = { row: 0, column: -1 };
  const choose = (row, column) => {
    if (row < 0 || row >= map.rows.length || column < 0 || column >= map.columns.length) return;
    Object.assign(here, { row, column });
    guides.replaceChildren(
      svg("rect", { x: left, y: top + row * cell, width: wide, height: cell }),
      svg("rect", { x: left + column * cell, y: top, width: cell, height: high }),
    );
    for (const text of made.querySelectorAll("text.token"))
      text.classList.toggle(
        "here",
        text.dataset.row === `${row}` || text.dataset.column === `${column}`,
      );
    read(row, column);
  };
  const point = (event) => {
    const inverse = cells.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(inverse);
    choose(Math.floor(y), Math.floor(x));
  };
  if (at) choose(...at);
  made.addEventListener("pointermove", point);
  made.addEventListener("pointerdown", point); // a finger that does not move
  made.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    choose(Math.max(0, here.row + move[0]), Math.max(0, here.column + move[1]));
  });
  return made;
}

// A score, or a weight, from which on a head is named by it.
export const telling = 0.5;

const roles = {
  induction: "finds what followed its token",
  previous: "looks one position back",
  duplicate: "looks at its earlier copy",
};

// What a head does, if one of its scores (lab/inspect/heads.h) says so: {score, value, words} of
// the largest one, or null. It counts from `least` on.
export function roleOf(scores, least = telling) {
  const [score, value] = Object.keys(roles)
    .map((name) => [name, scores?.[name] ?? 0])
    .reduce((best, each) => (each[1] > best[1] ? each : best));
  return value >= least ? { score, value, words: roles[score] } : null;
}

// What a head does, if the weights of this map say so: the mean weight of one simple rule is
// telling. "" otherwise.
export function habitOf({ rows, columns, weight }) {
  const rules = [
    ["reads its own position", (row) => row],
    ["reads one back", (row) => row - 1],
    ["reads one ahead", (row) => row + 1],
    ["reads the first position", () => 0],
    ["reads from the end", (row) => columns.length - 1 - row],
  ];
  let found = "";
  let most = telling;
  for (const [name, target] of rules) {
    let sum = 0;
    let count = 0;
    for (let row = 0; row < rows.length; ++row) {
      const column = target(row);
      if (column < 0 || column >= columns.length) continue;
      sum += weight(row, column);
      ++count;
    }
    if (count >= 3 && sum / count >= most) [found, most] = [name, sum / count];
  }
  return found;
}
