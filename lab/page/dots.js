// Scores as dots: a dot for each seed, with their mean and its interval; pairs of seeds as lines.
import { picture, px, svg } from "./dom.js";
import { makeScale, ticksOf } from "./scale.js";
import { tickText } from "./text.js";

function horizontalAxis(sx, y, axis, top) {
  const parts = [];
  for (const tick of ticksOf(axis.kind, axis.ends, 5))
    parts.push(
      svg("path", { class: "grid", d: `M${px(sx(tick))} ${top}V${y}` }),
      svg("path", { class: "axis", d: `M${px(sx(tick))} ${y}v4` }),
      svg(
        "text",
        { x: px(sx(tick)), y: y + 16, "text-anchor": "middle" },
        tickText(tick, axis.fraction),
      ),
    );
  return parts;
}

const axisTitle = (axis, width) =>
  svg("text", { class: "title", x: width - 14, y: 34, "text-anchor": "end" }, axis.title);

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
      svg(
        "circle",
        {
          class: "seed",
          cx: px(sx(value)),
          cy: px(y + ((3 * i) % 7) - 3),
          r: 4,
          fill: colour,
          stroke: "var(--ground)",
        },
        svg("title", {}, title),
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
    svg("text", { class: "title", x: begin, y: 10 }, axis.title),
    ...horizontalAxis(sx, bottom, axis, top),
  );
  rows.forEach((row, i) => {
    const y = top + (i + 0.5) * rowHeight;
    made.append(svg("path", { class: "grid", d: `M0 ${y + rowHeight / 2}H${width}` }));
    if (left) made.append(svg("text", { class: "name", x: 0, y: y + 4 }, row.name));
    made.append(...drawnSeeds(row, sx, y));
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

// An effect with its interval in a row of a table: a dot on a bar, and the line of no effect.
export function interval({ width, height = 20, kind, ends, none, size, low, high, label }) {
  const sx = makeScale(kind, ends, [8, width - 8]);
  const y = height / 2;
  const made = picture(
    width,
    height,
    label,
    svg("path", { class: "axis", d: `M${px(sx(none))} 0V${height}` }),
  );
  const caps = [low, high].map((end) => `M${px(sx(end))} ${y - 4}v8`).join("");
  if (Number.isFinite(low) && Number.isFinite(high))
    made.append(
      svg("path", {
        d: `M${px(sx(low))} ${y}H${px(sx(high))}${caps}`,
        stroke: "var(--path)",
        "stroke-width": 1.5,
        fill: "none",
      }),
    );
  made.append(svg("circle", { cx: px(sx(size)), cy: y, r: 4.5, fill: "var(--path)" }));
  return made;
}

// The axis under such rows.
export function intervalAxis({ width, kind, ends }) {
  const sx = makeScale(kind, ends, [8, width - 8]);
  return picture(
    width,
    18,
    "",
    ...ticksOf(kind, ends, 4).flatMap((tick) => [
      svg("path", { class: "axis", d: `M${px(sx(tick))} 0v4` }),
      svg("text", { x: px(sx(tick)), y: 16, "text-anchor": "middle" }, tickText(tick)),
    ]),
  );
}

// The dots of seeds at each value of a key, on one axis; seeds that have two neighbouring values
// are joined by a line, dashed where it goes against the mean.
// columns: [label]; seeds: [{name, colour, values: [number or null for each column]}];
// means: [number or null for each column].
export function slopes({ width, height, label, columns, seeds, means, axis }) {
  const [left, right, top, bottom] = [48, 20, 12, 26];
  const sy = makeScale(axis.kind, axis.ends, [height - bottom, top]);
  const room = (width - left - right) / columns.length;
  const x = (i) => left + (i + 0.5) * room;
  const made = picture(width, height, label);
  for (const tick of ticksOf(axis.kind, axis.ends, 4))
    made.append(
      svg("path", { class: "grid", d: `M${left} ${px(sy(tick))}H${width - right}` }),
      svg(
        "text",
        { x: left - 7, y: px(sy(tick) + 4), "text-anchor": "end" },
        tickText(tick, axis.fraction),
      ),
    );
  const known = (value) => value !== null && value !== undefined;
  for (const { name, colour, values } of seeds)
    values.forEach((value, i) => {
      if (!known(value)) return;
      const next = values[i + 1];
      if (known(next) && known(means[i]) && known(means[i + 1])) {
        const against = (next - value) * (means[i + 1] - means[i]) < 0;
        made.append(
          svg("path", {
            d: `M${px(x(i))} ${px(sy(value))}L${px(x(i + 1))} ${px(sy(next))}`,
            stroke: against ? "var(--bad)" : colour,
            "stroke-dasharray": against ? "5 3" : undefined,
            "stroke-width": against ? 1.6 : 1.2,
            "stroke-opacity": against ? 1 : 0.6,
          }),
        );
      }
      made.append(
        svg(
          "circle",
          { class: "seed", cx: px(x(i)), cy: px(sy(value)), r: 2.8, fill: colour },
          svg("title", {}, `${name}: ${tickText(value, axis.fraction)}`),
        ),
      );
    });
  let path = "";
  means.forEach((mean, i) => {
    if (known(mean)) path += `${path ? "L" : "M"}${px(x(i))} ${px(sy(mean))}`;
  });
  made.append(
    svg("path", { d: path, stroke: "var(--ink)", "stroke-width": 3, fill: "none" }),
    ...columns.map((text, i) =>
      svg("text", { class: "name", x: px(x(i)), y: height - 6, "text-anchor": "middle" }, text),
    ),
  );
  return made;
}
