// Scores as dots: a dot for each seed, with their mean and its interval; pairs of seeds as lines.
import { dotAt, picture, px, svg, textAt } from "./dom.js";
import { makeScale, ticksOf } from "./scale.js";
import { tickText, whole } from "./text.js";

function horizontalAxis(sx, y, axis, top) {
  const parts = [];
  for (const tick of ticksOf(axis.kind, axis.ends, 5))
    parts.push(
      svg("path", { class: "grid", d: `M${px(sx(tick))} ${top}V${y}` }),
      svg("path", { class: "axis", d: `M${px(sx(tick))} ${y}v4` }),
      textAt(px(sx(tick)), y + 16, tickText(tick, axis.fraction), "middle"),
    );
  return parts;
}

const axisTitle = (axis, width) => textAt(width - 14, 34, axis.title, "end", "title");

// The seeds of a group around the height y, with mean and interval.
function drawnSeeds({ colour, seeds, mean, low, high }, sx, y) {
  const parts = [];
  if (Number.isFinite(low))
    parts.push(
      svg("rect", {
        x: px(sx(low)),
        y: y - 7,
        width: px(Math.max(1, sx(high) - sx(low))),
        height: 14,
        fill: colour,
        "fill-opacity": 0.2,
      }),
    );
  if (Number.isFinite(mean))
    parts.push(
      svg("path", { d: `M${px(sx(mean))} ${y - 11}v22`, stroke: colour, "stroke-width": 2.5 }),
    );
  seeds.forEach(({ value, title }, i) =>
    parts.push(
      dotAt(
        px(sx(value)),
        px(y + ((3 * i) % 7) - 3),
        4,
        { class: "seed", fill: colour, stroke: "var(--ground)" },
        title,
      ),
    ),
  );
  return parts;
}

// Rows of dots over one axis. rows: [{name, colour, seeds: [{value, title}], mean, low, high}];
// axis: {kind, ends, fraction, title}; `left` is the room for names, 0 for none.
export function dotRows({ width, label, rows, axis, rowHeight = 40, left = 0 }) {
  const top = 21;
  const bottom = top + rows.length * rowHeight;
  const begin = Math.max(8, left);
  const sx = makeScale(axis.kind, axis.ends, [begin, width - 14]);
  const made = picture(
    width,
    bottom + 24,
    label,
    textAt(begin, 10, axis.title, undefined, "title"),
    ...horizontalAxis(sx, bottom, axis, top),
  );
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * rowHeight;
    made.append(svg("path", { class: "grid", d: `M0 ${y + rowHeight / 2}H${width}` }));
    if (left) made.append(textAt(0, y + 4, row.name, undefined, "name"));
    made.append(...drawnSeeds(row, sx, y));
  });
  return made;
}

// When seeds reached a target: dots over the step, and beyond the last one a triangle for each that
// never did. rows: [{name, colour, seeds: [{value (Infinity: never), title}], median}]
export function arrivals({ width, label, rows, last, left }) {
  const rowHeight = 36;
  const never = Math.max(
    62,
    20 + 15 * Math.max(...rows.map((row) => row.seeds.filter((each) => each.value > last).length)),
  );
  const [end, bottom] = [width - never, rows.length * rowHeight];
  const sx = makeScale("linear", [0, last], [left, end]);
  const ticks = ticksOf("linear", [0, last], width < 500 ? 3 : 5);
  const made = picture(
    width,
    bottom + 24,
    label,
    svg("rect", { x: end, y: 0, width: never, height: bottom, fill: "var(--band)" }),
    ...ticks.flatMap((tick) => [
      svg("path", { class: "grid", d: `M${px(sx(tick))} 0V${bottom}` }),
      end - sx(tick) < 40 ? null : textAt(px(sx(tick)), bottom + 16, tickText(tick), "middle"),
    ]),
    textAt(width, bottom + 16, `not by ${whole(last)}`, "end"),
    svg("path", { class: "axis", d: `M${end} 0V${bottom}`, "stroke-dasharray": "3 3" }),
  );
  rows.forEach(({ name, colour, seeds, median }, i) => {
    const y = (i + 0.5) * rowHeight;
    made.append(
      svg("path", { class: "grid", d: `M0 ${y + rowHeight / 2}H${width}` }),
      textAt(0, y + 4, name, undefined, "name"),
    );
    if (median !== null)
      made.append(
        svg("path", {
          d: `M${px(sx(median))} ${y - 15}v30`,
          stroke: colour,
          "stroke-width": 2,
          "stroke-opacity": 0.6,
        }),
      );
    const late = seeds.filter((each) => each.value > last);
    late.forEach(({ title }, k) =>
      made.append(
        svg(
          "path",
          {
            class: "seed",
            d: `M${end + 9 + 15 * k} ${y - 5}l9 5l-9 5z`,
            fill: "var(--ground)",
            stroke: colour,
            "stroke-width": 1.6,
          },
          svg("title", {}, title),
        ),
      ),
    );
    // Seeds of one step stand above each other.
    const steps = [...new Set(seeds.map((each) => each.value))].filter((step) => step <= last);
    for (const step of steps) {
      const same = seeds.filter((each) => each.value === step);
      const apart = Math.min(8.5, (rowHeight - 8) / same.length);
      same.forEach(({ title }, k) =>
        made.append(
          dotAt(
            px(sx(step)),
            px(y + (k - (same.length - 1) / 2) * apart),
            4,
            { class: "seed", fill: colour },
            title,
          ),
        ),
      );
    }
  });
  return made;
}

// The same for one row of a table, and the axis under the last one.
export function seedRow({ width, row, axis, height = 40 }) {
  const sx = makeScale(axis.kind, axis.ends, [8, width - 14]);
  const made = picture(width, height, `${axis.title}: ${row.name}`);
  for (const tick of ticksOf(axis.kind, axis.ends, 5))
    made.append(svg("path", { class: "grid", d: `M${px(sx(tick))} 0V${height}` }));
  made.append(...drawnSeeds(row, sx, height / 2));
  return made;
}
export function seedAxis({ width, axis }) {
  const sx = makeScale(axis.kind, axis.ends, [8, width - 14]);
  return picture(width, 38, axis.title, ...horizontalAxis(sx, 0, axis, 0), axisTitle(axis, width));
}

// The dots of all rows on one line, with its axis.
export function dotStrip({ width, rows, axis }) {
  const sx = makeScale(axis.kind, axis.ends, [8, width - 14]);
  const made = picture(width, 44, `${axis.title}: a dot is a seed`);
  made.append(...horizontalAxis(sx, 22, axis, 0));
  for (const row of rows) made.append(...drawnSeeds({ ...row, mean: NaN, low: NaN }, sx, 12));
  return made;
}

// An effect with its interval around the height y: a dot on a bar, and the line of no effect.
function drawnInterval({ size, low, high }, none, sx, y) {
  const parts = [svg("path", { class: "axis", d: `M${px(sx(none))} ${y - 10}v20` })];
  const caps = [low, high].map((end) => `M${px(sx(end))} ${y - 4}v8`).join("");
  if (Number.isFinite(low) && Number.isFinite(high))
    parts.push(
      svg("path", {
        d: `M${px(sx(low))} ${y}H${px(sx(high))}${caps}`,
        stroke: "var(--path)",
        "stroke-width": 1.5,
        fill: "none",
      }),
    );
  parts.push(dotAt(px(sx(size)), y, 4.5, { fill: "var(--path)" }));
  return parts;
}

const intervalTicks = (sx, y) =>
  ticksOf(sx.kind, sx.domain, 4).flatMap((tick) => [
    svg("path", { class: "axis", d: `M${px(sx(tick))} ${y}v4` }),
    textAt(px(sx(tick)), y + 16, tickText(tick), "middle"),
  ]);

// An effect in a row of a table, and the axis under such rows. axis: {kind, ends, none}.
export function interval({ width, row, axis }) {
  const sx = makeScale(axis.kind, axis.ends, [8, width - 8]);
  return picture(width, 20, row.name, ...drawnInterval(row, axis.none, sx, 10));
}
export function intervalAxis({ width, axis }) {
  const sx = makeScale(axis.kind, axis.ends, [8, width - 8]);
  return picture(width, 18, "", ...intervalTicks(sx, 0));
}

// All effects below each other, with their names.
export function intervals({ width, label, rows, axis, left }) {
  const sx = makeScale(axis.kind, axis.ends, [left, width - 14]);
  const made = picture(width, 28 * rows.length + 20, label, ...intervalTicks(sx, 28 * rows.length));
  rows.forEach((row, i) =>
    made.append(
      textAt(0, 28 * i + 18, row.name, undefined, "name"),
      ...drawnInterval(row, axis.none, sx, 28 * i + 14),
    ),
  );
  return made;
}

// The axes of drawings over the values of a key. Returns {made, x, sy, bottom}: the picture, the
// pixel of a column, the scale of scores and where it ends.
function columnAxes({ width, height, label, columns, axis }, right) {
  const [left, top, bottom] = [48, 12, 26];
  const sy = makeScale(axis.kind, axis.ends, [height - bottom, top]);
  const x = (i) => left + ((i + 0.5) * (width - left - right)) / columns.length;
  const made = picture(width, height, label);
  for (const tick of ticksOf(axis.kind, axis.ends, 4))
    made.append(
      svg("path", { class: "grid", d: `M${left} ${px(sy(tick))}H${width - right}` }),
      textAt(left - 7, px(sy(tick) + 4), tickText(tick, axis.fraction), "end"),
    );
  made.append(...columns.map((text, i) => textAt(px(x(i)), height - 6, text, "middle", "name")));
  return { made, x, sy, bottom: height - bottom };
}

// The means of several lines at each value of a key, with their intervals.
// lines: [{name, colour, points: [{mean, low, high}, or {} for none, for each column]}]
export function meansOver({ lines, ...spec }) {
  const { made, x, sy } = columnAxes(spec, 20);
  lines.forEach(({ name, colour, points }, k) => {
    const place = (i) => px(x(i) + 7 * (k - (lines.length - 1) / 2)); // intervals beside each other
    let path = "";
    points.forEach(({ mean, low, high }, i) => {
      if (!Number.isFinite(mean)) return;
      path += `${path ? "L" : "M"}${place(i)} ${px(sy(mean))}`;
      if (Number.isFinite(low))
        made.append(
          svg("path", {
            d: `M${place(i)} ${px(sy(low))}V${px(sy(high))}`,
            stroke: colour,
            "stroke-width": 1.5,
            "stroke-opacity": 0.6,
          }),
        );
      made.append(
        dotAt(
          place(i),
          px(sy(mean)),
          4,
          { class: "seed", fill: colour },
          `${name}, ${spec.columns[i]}: ${tickText(mean, spec.axis.fraction)}`,
        ),
      );
    });
    made.append(
      svg("path", { class: "line", d: path, stroke: colour, "stroke-width": 2, fill: "none" }),
    );
  });
  return made;
}

// The dots of seeds at each value of a key, on one axis; seeds that have two neighbouring values
// are joined by a line, dashed where it goes against the mean.
// columns: [label]; seeds: [{name, colour, values: [number or null for each column]}];
// means: [number or null for each column]; size: text of the effect of two columns, or "".
export function slopes({ seeds, means, size = "", ...spec }) {
  const { axis } = spec;
  const { made, x, sy, bottom } = columnAxes(spec, size ? 72 : 20);
  const known = (value) => value !== null && value !== undefined;
  const rises = means.at(-1) > means[0];
  const pairs = seeds.filter(({ values }) => known(values[0]) && known(values[1]));
  const agree = pairs.filter(({ values }) => values[1] > values[0] === rises);
  for (const { name, colour, values } of seeds)
    values.forEach((value, i) => {
      if (!known(value)) return;
      const next = values[i + 1];
      if (known(next) && known(means[i]) && known(means[i + 1])) {
        const against = (next - value) * (means[i + 1] - means[i]) < 0;
        made.append(
          svg("path", {
            d: `M${px(x(i))} ${px(sy(value))}L${px(x(i + 1))} ${px(sy(next))}`,
            stroke: colour,
            "stroke-dasharray": against ? "5 3" : undefined,
            "stroke-width": against ? 1.8 : 1.2,
            "stroke-opacity": against ? 1 : 0.6,
          }),
        );
      }
      made.append(
        dotAt(
          px(x(i)),
          px(sy(value)),
          2.8,
          { class: "seed", fill: colour },
          `${name}: ${tickText(value, axis.fraction)}`,
        ),
      );
    });
  let path = "";
  means.forEach((mean, i) => {
    if (known(mean)) path += `${path ? "L" : "M"}${px(x(i))} ${px(sy(mean))}`;
  });
  if (size) {
    const place = { x: px(x(1) + 12), y: px(Math.min(bottom - 16, sy(means[1]) + 4)) };
    const verb = rises ? "rise" : "fall";
    made.append(
      svg("text", { ...place, class: "name bold" }, size),
      textAt(place.x, px(Number(place.y) + 15), `${agree.length} of ${pairs.length} ${verb}`),
    );
  }
  made.append(svg("path", { d: path, stroke: "var(--ink)", "stroke-width": 3, fill: "none" }));
  return made;
}
