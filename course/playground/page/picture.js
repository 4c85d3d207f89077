// What features look like: an image or the frames of a video with weights laid over it, a graph
// with lines as thick as weights.
import { picture, px, svg, textAt } from "../../../lab/page/dom.js";

// Images are dark on both grounds; dots and the frame have the colours that stand out on them.
const dot = "#ffd166";

// pixels: [[red, green, blue]] of bytes, row by row; grid: [height, width] or [frames, height,
// width], whose frames stand side by side. `weights` of the pixels become the areas of dots;
// `reads` is framed.
export function imageOf({ pixels, grid }, size, { weights = null, reads = null, label }) {
  const [height, width] = grid.slice(-2);
  const frames = grid.length === 3 ? grid[0] : 1;
  const gap = 0.7;
  const columns = frames * (width + gap) - gap;
  const cell = size / Math.max(columns, height);
  const placeOf = (i) => {
    const frame = Math.floor(i / (height * width));
    const [row, column] = [Math.floor((i % (height * width)) / width), i % width];
    return [(frame * (width + gap) + column) * cell, row * cell];
  };
  const parts = Array.from({ length: frames }, (_, frame) =>
    svg("rect", {
      x: px(frame * (width + gap) * cell),
      width: px(width * cell),
      height: px(height * cell),
      fill: "#000",
    }),
  );
  pixels.forEach((colour, i) => {
    const [x, y] = placeOf(i);
    parts.push(
      svg("rect", {
        x: px(x),
        y: px(y),
        width: px(cell - (cell > 6 ? 0.7 : 0)),
        height: px(cell - (cell > 6 ? 0.7 : 0)),
        fill: `rgb(${colour.map((byte) => Math.round(0.62 * byte)).join(",")})`,
        "data-pixel": i,
      }),
    );
  });
  weights?.forEach((weight, i) => {
    const radius = Math.min(0.48, Math.sqrt(Math.abs(weight))) * cell;
    if (radius < 0.07 * cell) return;
    const [x, y] = placeOf(i);
    const circle = { cx: px(x + cell / 2), cy: px(y + cell / 2), r: px(radius), fill: dot };
    parts.push(svg("circle", { ...circle, stroke: "#000", "stroke-width": 0.5 }));
  });
  if (reads !== null) {
    const [x, y] = placeOf(reads);
    const frame = { x: px(x + 1), y: px(y + 1), width: px(cell - 2), height: px(cell - 2) };
    parts.push(svg("rect", { ...frame, fill: "none", stroke: "#fff", "stroke-width": 2 }));
  }
  return picture(columns * cell, height * cell, label, ...parts);
}

// Where a pixel is, counted from 1: "row 4, column 2", of a video with its frame.
export function placeOfPixel(i, grid) {
  const [height, width] = grid.slice(-2);
  const row = Math.floor(i / width);
  const place = `row ${(row % height) + 1}, column ${(i % width) + 1}`;
  return grid.length === 3 ? `frame ${Math.floor(row / height) + 1}, ${place}` : place;
}

// Nodes on a circle, from the top on; `weights` of the nodes make the lines into `reads` thick.
export function graphOf({ edges, labels }, size, { weights = null, reads = null, label, colour }) {
  const count = labels.length;
  const isSmall = size < 80; // then nodes have no labels
  const radius = size / 2 - (isSmall ? 6 : 12);
  const placeOf = (i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return [size / 2 + radius * Math.cos(angle), size / 2 + radius * Math.sin(angle)];
  };
  const line = (a, b, attributes) => {
    const [[x1, y1], [x2, y2]] = [placeOf(a), placeOf(b)];
    return svg("path", { d: `M${px(x1)} ${px(y1)}L${px(x2)} ${px(y2)}`, ...attributes });
  };
  const parts = edges
    .filter(([from, to]) => from < to)
    .map(([from, to]) => line(from, to, { stroke: "var(--control)" }));
  weights?.forEach((weight, i) => {
    if (i === reads || Math.abs(weight) < 0.03) return;
    const width = px(Math.max(1, 8 * Math.abs(weight)));
    parts.push(line(i, reads, { stroke: colour, "stroke-width": width, "stroke-opacity": 0.8 }));
  });
  labels.forEach((text, i) => {
    const [x, y] = placeOf(i);
    const own = weights && i === reads ? Math.abs(weights[i]) : 0;
    const stroke = i === reads ? "var(--ink)" : "var(--control)";
    const place = { cx: px(x), cy: px(y), r: isSmall ? 4 : 9 };
    const ring = { ...place, fill: "var(--ground)", stroke };
    parts.push(
      svg("circle", { ...ring, "stroke-width": i === reads ? 2 : 1 }),
      svg("circle", { ...place, fill: colour ?? "none", "fill-opacity": own }),
    );
    if (!isSmall) parts.push(textAt(px(x), px(y + 4), text, "middle", "node"));
  });
  return picture(size, size, label, ...parts);
}
