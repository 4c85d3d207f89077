// The model as a drawing through which an example flows: rows from the tokens to the logits.
import { dotAt, html, makeButton, picture, px, svg, textAt } from "../../../lab/page/dom.js";
import { habitOf, roleOf, smallMap, telling } from "../../../lab/page/heat.js";
import { percent, significant } from "../../../lab/page/text.js";
import { graphOf, imageOf, placeOfPixel } from "./picture.js";
import { logitsAt, nameOfHead, planOf, useOf, weightOf } from "./plan.js";

export const colourOfHead = (head) => `var(--h${(head % 4) + 1})`;
const heights = { tokens: 34, embedding: 74, local: 50, pool: 96, logits: 164 };
const mostDrawn = 36; // positions
const endRoom = 30; // at an end of them, for "… 64"
const readable = 12; // positions whose tokens can be read

// A head's map as heat.js draws it.
export function headMap(map, head) {
  const weight = (row, column) => Math.min(1, Math.abs(weightOf(map, head, row, column)));
  const names = (count, texts) => Array.from({ length: count }, (_, i) => texts?.[i] ?? `${i}`);
  return {
    rows: names(map.rows, map.queries),
    columns: names(map.columns, map.keys),
    weight,
  };
}

export const weightsOfQuery = (map, head, row) =>
  Array.from({ length: map.columns }, (_, k) =>
    weightOf(map, head, Math.min(row, map.rows - 1), k),
  );

// What a head does, in words that its scores and its weights on this example allow.
export function wordsOfHead(map, head, { scores, trace, position }) {
  const { grid } = trace;
  const found = scores?.find((each) => each.module === map.name && each.head === head);
  const role = roleOf(found);
  if (role) return role.words;
  const [most] = sharesOfPixels(map, head, trace).sort((a, b) => b.share - a.share);
  if (most?.share >= telling) return most.words;
  const habit = map.signed ? "" : habitOf(headMap(map, head));
  if (habit && !grid) return habit;
  const row = Math.min(position, map.rows - 1);
  const weights = weightsOfQuery(map, head, row).map(Math.abs);
  const largest = Math.max(...weights);
  if (largest >= telling && !grid)
    return `here ${map.queries[row]} reads ${map.keys[weights.indexOf(largest)]}`;
  const entropy = found?.entropy ?? Infinity;
  return entropy > 0.6 * Math.log(map.columns)
    ? "spread out, no clear pattern"
    : "no simple pattern";
}

// Which pixels a head reads, on average: {name, words, share} of its weight. Empty where it reads
// none.
export function sharesOfPixels(map, head, { pixels, grid }) {
  if (!pixels || map.rows !== map.columns) return [];
  const share = (isMeant) => {
    let sum = 0;
    for (let q = 0; q < map.rows; ++q)
      for (let k = 0; k < map.columns; ++k)
        if (isMeant(q, k)) sum += Math.abs(weightOf(map, head, q, k));
    return sum / map.rows;
  };
  const width = grid.at(-1);
  const lit = share((q, k) => Math.max(...pixels[k]) > 127);
  const shares = [{ name: "lit pixels", words: "looks at lit pixels", share: lit }];
  if (grid.length > 2) return shares;
  const row = share((q, k) => Math.floor(q / width) === Math.floor(k / width));
  const column = share((q, k) => q % width === k % width);
  return [
    { name: "same row", words: "looks along its row", share: row },
    { name: "same column", words: "looks along its column", share: column },
    ...shares,
  ];
}

// Where the positions of a stack stand: x(i), or null for one that is not drawn. Of many, those
// around one are drawn; an end behind which there are more has room to say so.
export function columnsOf(count, from, width, around) {
  const drawn = Math.min(count, mostDrawn);
  const first = Math.max(0, Math.min(count - drawn, around - drawn / 2));
  const behind = count - first - drawn;
  const start = first > 0 ? endRoom : 0;
  const pitch = (width - start - (behind > 0 ? endRoom : 0)) / drawn;
  const x = (i) =>
    i < first || i >= first + drawn ? null : from + start + (i - first + 0.5) * pitch;
  return {
    behind,
    count,
    first,
    drawn,
    pitch,
    from,
    width,
    x,
    all: Array.from({ length: count }, (_, i) => i),
  };
}

const eachDrawn = (columns, f) => columns.all.flatMap((i) => (columns.x(i) === null ? [] : f(i)));

// The strands of a stack from one norm of its stream to the next, as wide as these are.
function strands(columns, height, before, after, use, scale, y = 0) {
  return eachDrawn(columns, (i) => {
    const x = columns.x(i);
    const [a, b] = [scale(before[i]), scale(after[i])];
    const used = use?.[i] > 0.2;
    return svg("path", {
      d: `M${px(x - a)} ${y}H${px(x + a)}L${px(x + b)} ${height}H${px(x - b)}Z`,
      fill: used ? "var(--path)" : "var(--strand)",
      "fill-opacity": used ? px(Math.max(0.35, use[i])) : 1,
    });
  });
}

function plusSign(x, y) {
  const circle = { cx: px(x), cy: y, r: 5.5, class: "plus" };
  return svg(
    "g",
    { class: "plus" },
    svg("circle", circle),
    svg("path", { d: `M${px(x - 2.5)} ${y}h5M${px(x)} ${y - 2.5}v5` }),
  );
}

// The lines of a map, from the strands of its keys to those of its queries.
function linesOf(map, keys, queries, use, height, view) {
  const grey = [];
  const lit = [];
  const few = keys.count <= readable && queries.count <= readable;
  const wide = view.narrow ? 6 : 8;
  for (let head = map.heads - 1; head >= 0; --head) {
    const part = `${map.name}.head.${head}`;
    const isOff = view.off.has(part);
    const isDim = view.head && view.head.module === map.name && view.head.head !== head;
    for (const q of queries.all) {
      const used = use[q] ?? 0;
      if (queries.x(q) === null || q >= map.rows || (!few && used < 0.2)) continue;
      for (const k of keys.all) {
        const weight = Math.abs(weightOf(map, head, q, k));
        if (keys.x(k) === null || weight < (few ? 0.07 : 0.03)) continue;
        const [x0, x1] = [keys.x(k), queries.x(q)];
        const bend = x0 === x1 ? Math.min(11, keys.pitch / 2) : 0;
        const d =
          `M${px(x0)} 12C${px(x0 + bend)} ${px(height / 2)} ${px(x1 + bend)} ${px(height / 2)} ` +
          `${px(x1)} ${px(height - 16)}`;
        const width = Math.max(0.7, Math.min(1, weight) * wide);
        if (isOff) {
          if (weight < 0.2) continue;
          lit.push(svg("path", { d, stroke: colourOfHead(head), "stroke-dasharray": "2 4" }));
        } else if (used * weight > (few ? 0.12 : 0.02)) {
          const opacity = isDim ? 0.15 : Math.min(0.95, 0.25 + used * weight);
          lit.push(
            svg("path", {
              d,
              stroke: colourOfHead(head),
              "stroke-width": px(few ? width : Math.max(0.7, Math.min(6, weight * 12))),
              "stroke-opacity": opacity.toFixed(2),
            }),
          );
        } else {
          const opacity = (0.08 + 0.22 * Math.min(1, weight)).toFixed(2);
          grey.push(svg("path", { d, "stroke-width": px(width * 0.6), "stroke-opacity": opacity }));
        }
      }
    }
  }
  return svg(
    "g",
    { class: "lines" },
    svg("g", { stroke: "var(--quiet)" }, ...grey),
    svg("g", {}, ...lit),
  );
}

// A small picture of a head for the column beside the drawing.
function thumbOf(map, head, size, view, label) {
  const { trace } = view;
  const row = map.rows === map.columns ? view.position : Math.min(view.position, map.rows - 1);
  const weights = () => weightsOfQuery(map, head, row);
  if (trace.pixels && map.columns === trace.pixels.length)
    return imageOf(trace, size, { weights: weights(), reads: row, label });
  if (trace.edges && map.columns === trace.stages[0].norm.length && size > 60)
    return graphOf({ edges: trace.edges, labels: map.keys }, size, {
      weights: weights(),
      reads: row,
      label,
      colour: colourOfHead(head),
    });
  return smallMap(headMap(map, head), size, colourOfHead(head), false, label);
}

function thumbsOf(map, view) {
  const { narrow } = view;
  const others = view.other?.maps.find(({ name }) => name === map.name);
  const alone = map.heads <= 2 && !view.tight && !others;
  const isVideo = alone && view.trace.grid?.length === 3; // its frames need the whole width
  const sizes = isVideo ? [184, 138] : alone ? [88, 64] : map.heads > 8 ? [18, 18] : [41, 34];
  const size = sizes[narrow ? 1 : 0];
  const buttons = [];
  for (let head = 0; head < map.heads; ++head) {
    const part = `${map.name}.head.${head}`;
    const words = wordsOfHead(map, head, view);
    const label = `${nameOfHead(map.name, head, view.isPair)}: ${words}`;
    const chosen = view.head?.module === map.name && view.head.head === head;
    const isOff = view.off.has(part);
    const pictures = [thumbOf(map, head, size, view, "")];
    if (others && head < others.heads)
      pictures.push(thumbOf(others, head, size, { ...view, trace: view.other }, ""));
    const button = makeButton(
      {
        class: "head",
        "aria-pressed": `${chosen}`,
        "aria-label": label,
        title: label,
        "data-key": `head ${part}`,
        onclick: () => view.on.head(map.name, head),
      },
      html("span", { class: isOff ? "pictures off" : "pictures" }, ...pictures),
      html(
        "span",
        { class: "name1" },
        html("i"),
        alone ? `head ${head + 1}` : `${head + 1}${others ? " · A, B" : ""}`,
        isOff ? html("span", { class: "no" }, " off") : null,
      ),
      alone ? html("span", { class: "what" }, words) : null,
    );
    button.style.setProperty("--c", colourOfHead(head));
    buttons.push(button);
  }
  const box = html(
    "div",
    { class: `maps${isVideo ? " video" : alone ? "" : " small"}` },
    ...buttons,
  );
  box.style.setProperty("--size", `${size * (others ? 2 : 1) + (others ? 4 : 0)}px`);
  return box;
}

// --- rows

const nameOf = (view, part, title, small) =>
  html(
    "div",
    { class: "name" },
    makeButton(
      { class: "plain", "data-key": `part ${part}`, onclick: () => view.on.part(part) },
      title,
      html("small", {}, small),
    ),
  );

const stageRow = (kind, name, canvas, side) =>
  html(
    "div",
    { class: `stage ${kind}` },
    name,
    html("div", { class: "cv" }, canvas),
    side ? html("div", { class: "side" }, side) : null,
  );

function tokensRow(view, columns) {
  const { trace } = view;
  const isImage = Boolean(trace.pixels);
  const count = columns.at(-1).count;
  const canvas = html("div", { class: "tokens" });
  const texts = view.isPair ? [trace.source, trace.inputs] : [trace.inputs];
  columns.forEach((each, side) => {
    const canChoose = side === columns.length - 1;
    for (const i of each.all) {
      if (each.x(i) === null) continue;
      const at = canChoose && i === view.position;
      const text = isImage ? "" : (texts[side]?.[i] ?? `${i}`);
      const isShort = each.drawn <= readable || text.length <= 1 || text === "<bos>";
      const shown = isShort ? text : [...text][0];
      const button = makeButton(
        {
          class: at ? "at" : "",
          tabindex: at ? "0" : "-1",
          disabled: !canChoose,
          "aria-label": `${text || "pixel"}, position ${i}${at ? ", chosen" : ""}`,
          "data-key": `position ${side} ${i}`,
          onclick: () => view.on.position(i),
          onkeydown: (event) => view.on.move(event, i, count),
        },
        plainToken(shown, each.pitch),
      );
      button.style.left = `${px(each.x(i) - each.pitch / 2)}px`;
      button.style.width = `${px(each.pitch)}px`;
      if (isImage) {
        const light = trace.pixels[i].map((byte) => Math.round(0.62 * byte)).join(",");
        button.replaceChildren(html("i"));
        button.firstChild.style.background = `rgb(${light})`;
      }
      canvas.append(button);
    }
    canvas.append(...endsOf(view, each, canChoose));
  });
  const small = isImage ? `${count} by rows` : view.isPair ? "input, output" : `${count} positions`;
  const title = isImage ? "Pixels" : trace.inputs ? "Tokens" : "Positions";
  const row = stageRow("one", nameOf(view, "tokens", title, small), canvas, null);
  canvas.style.height = `${heights.tokens}px`;
  return row;
}

// "… 64" where positions are not drawn; it moves on to them.
function endsOf(view, { first, behind, drawn, from, width }, canChoose) {
  const end = (count, text, left, to) => {
    if (count <= 0) return [];
    const button = makeButton(
      {
        class: "end",
        disabled: !canChoose,
        "aria-label": `${count} more positions`,
        "data-key": `end ${from} ${left > from}`,
        onclick: () => view.on.position(to),
      },
      text,
    );
    button.style.left = `${px(left)}px`;
    button.style.width = `${endRoom}px`;
    return [button];
  };
  return [
    ...end(first, `${first} …`, from, first - 1),
    ...end(behind, `… ${behind}`, from + width - endRoom, first + drawn),
  ];
}

// Cells of one vector: blue below zero, orange above.
function cellsOf(values, x, y, width, height, largest) {
  const cell = width / values.length;
  return values.map((value, i) =>
    svg("rect", {
      x: px(x + i * cell),
      y,
      width: px(Math.max(0.6, cell - 0.4)),
      height,
      fill: value > 0 ? "var(--pos)" : "var(--neg)",
      "fill-opacity": Math.min(1, Math.abs(value) / largest).toFixed(2),
    }),
  );
}

function embeddingRow(view, columns, width) {
  const { trace, plan, scale, use } = view;
  const parts = [];
  columns.forEach((each, side) => {
    const stage = plan.embeddings[side];
    const vectors = trace.vectors.find((one) => one.stage === stage.stage);
    const used = side === columns.length - 1 && plan.isPair ? use[0].right : use[0].left;
    parts.push(...strands(each, heights.embedding, stage.norm, stage.norm, used, scale, 50));
    if (!vectors) return;
    const dims = each.pitch < 12 ? 1 : 8;
    const wide = Math.min(30, each.pitch - (each.pitch < 20 ? 1.5 : 4));
    const sizeOf = (rows) => Math.max(1e-9, ...rows.flat().map((value) => Math.abs(value)));
    const tokens = vectors.token;
    const positions = isAdded(vectors.position) ? vectors.position : null;
    parts.push(
      ...eachDrawn(each, (i) => {
        const x = each.x(i) - wide / 2;
        const ground = { x: px(x - 2), y: 4, width: px(wide + 4), height: 48, fill: "var(--band)" };
        const cells = [
          svg("rect", ground),
          ...cellsOf(tokens[i].slice(0, dims), x, 8, wide, 11, sizeOf(tokens)),
        ];
        if (positions)
          cells.push(
            svg("path", { class: "and", d: `M${px(each.x(i) - 3)} 27h6M${px(each.x(i))} 24v6` }),
            ...cellsOf(positions[i].slice(0, dims), x, 35, wide, 11, sizeOf(positions)),
          );
        return cells;
      }),
    );
  });
  const label = "The embedding of each position, and the vector of the position below it";
  const adds = isAdded(trace.vectors[0]?.position);
  const name = nameOf(view, "embedding", "Embedding", adds ? "+ positions" : "no positions");
  return stageRow(
    "one",
    name,
    picture(width, heights.embedding, label, ...parts),
    sideOfEmbedding(view),
  );
}

// "<bos>" → "bos", or ▸ in little room; of other tokens as many letters as there is room for.
function plainToken(token, room) {
  if (token === "<bos>" && room < 24) return "▸";
  const text = token.replace(/^<(\w+)>$/, "$1");
  return text.length * 8 > room
    ? [...text].slice(0, Math.max(1, Math.floor(room / 8))).join("")
    : text;
}

// Whether there are vectors of positions that change something.
const isAdded = (rows) => Boolean(rows?.flat().some((value) => Math.abs(value) > 1e-6));

function sideOfEmbedding(view) {
  const { trace, narrow, position } = view;
  if (trace.pixels) {
    const isVideo = trace.grid.length === 3;
    const size = narrow ? 50 : isVideo ? 170 : 88;
    const drawn = imageOf(trace, size, { reads: position, label: "The image" });
    drawn.setAttribute("tabindex", "0");
    drawn.dataset.key = "image";
    drawn.addEventListener("keydown", (event) =>
      view.on.move(event, position, trace.pixels.length, trace.grid.at(-1)),
    );
    drawn.addEventListener("click", (event) => {
      const pixel = event.target.dataset.pixel;
      if (pixel !== undefined) view.on.position(Number(pixel));
    });
    const place = placeOfPixel(position, trace.grid);
    const words =
      narrow || isVideo ? `${place} reads` : `The white frame marks the pixel that reads: ${place}`;
    const kind = isVideo && !narrow ? "beside below" : "beside";
    return html("div", { class: kind }, drawn, html("span", { class: "s q" }, words));
  }
  if (narrow) return null;
  if (trace.edges) {
    const labels = trace.maps.at(-1)?.keys ?? trace.stages[0].norm.map((_, i) => `${i}`);
    const words = `The graph. Node ${labels[position] ?? position} reads`;
    return html(
      "div",
      { class: "beside" },
      graphOf({ edges: trace.edges, labels }, 88, { reads: position, label: "The graph" }),
      html("span", { class: "s q" }, words),
    );
  }
  if (view.isPair)
    return html(
      "span",
      { class: "s q" },
      html("b", {}, "Encoder"),
      " on the left, ",
      html("b", {}, "decoder"),
      " on the right: two residual streams.",
    );
  return html(
    "span",
    { class: "s q" },
    "8 numbers of each vector: ",
    html("span", { class: "below" }, "blue"),
    " is below zero, ",
    html("span", { class: "above" }, "orange"),
    " above.",
  );
}

// Boxes at the positions: the darker, the more is added there.
function boxesOf(columns, height, written) {
  const largest = Math.max(1e-9, ...written);
  const half = Math.min(8, columns.pitch / 2 - 1);
  return eachDrawn(columns, (i) => {
    const x = columns.x(i) - half;
    const box = {
      x: px(x),
      y: height / 2 - 8,
      width: px(2 * half),
      height: 16,
      rx: half < 5 ? 1 : 3,
    };
    return [
      svg("rect", { ...box, fill: "var(--ground)" }),
      svg("rect", {
        ...box,
        fill: "var(--ink)",
        "fill-opacity": ((0.62 * written[i]) / largest).toFixed(2),
        stroke: "var(--quiet)",
        "stroke-opacity": 0.6,
      }),
    ];
  });
}

// The hidden units of a feed-forward network at the chosen position.
function unitsOf(view, stage) {
  const found = view.trace.units.find((each) => each.stage === stage.stage);
  if (!found) return null;
  const position = Math.min(view.position, stage.norm.length - 1);
  const count = found.values.length;
  const active = Math.round(stage.active[position] * count);
  const words = html("span", { class: "s q" }, `${active} of ${count} units active here`);
  if (view.narrow) return null;
  const shown = found.values.slice(0, 46);
  const largest = Math.max(1e-9, ...shown.map(Math.abs));
  const cells = shown.map((value, i) =>
    svg("rect", {
      x: i * 4,
      width: 3,
      height: 10,
      fill: "var(--ink)",
      "fill-opacity": (0.07 + (0.85 * Math.max(0, value)) / largest).toFixed(2),
    }),
  );
  const label = `The first ${shown.length} hidden units at this position`;
  return html("div", {}, picture(184, 10, label, ...cells), words);
}

function noteOfRow(view, row) {
  const parts = [`layer ${row.layer + 1}`];
  if (view.isPair && row.kind === "local") parts[0] = row.left ? "encoder" : "decoder";
  if (view.tight || view.narrow) return parts;
  const isFirst = row === view.plan.rows.find(({ kind }) => kind === "attention");
  const reader = view.trace.pixels ? "the framed pixel" : "the chosen position";
  const words =
    row.kind === "cross"
      ? "the decoder reads the encoder"
      : isFirst
        ? `in colour: what ${reader} uses`
        : "";
  if (words) parts.push(html("br", { class: "long" }), html("span", { class: "long" }, words));
  return parts;
}

function layerRow(view, index, columns, width, height, norms) {
  const row = view.plan.rows[index];
  const { scale, use } = view;
  const parts = [];
  const sides = [
    ["left", columns[0]],
    ["right", columns[1]],
  ];
  const encoderGone =
    view.isPair && view.plan.rows.slice(0, index).some((each) => each.encoderEnds);
  for (const [side, each] of sides) {
    if (!each) continue;
    const after = row[side]?.norm ?? norms[side];
    if (side === "left" && (encoderGone || row.encoderEnds)) {
      if (row.encoderEnds)
        parts.push(
          ...eachDrawn(each, (i) => {
            const a = scale(norms.left[i]);
            const d = `M${px(each.x(i) - a)} 0h${px(2 * a)}l${px(0.5 - a)} 26h-1z`;
            return svg("path", {
              d,
              fill: `var(--${use[index].left[i] > 0.2 ? "path" : "strand"})`,
            });
          }),
        );
      continue;
    }
    if (!view.plan.isChain || !row[side]?.map)
      parts.push(...strands(each, height, norms[side], after, use[index][side], scale));
    norms[side] = after;
  }
  if (row.kind === "cross") {
    parts.push(linesOf(row.right.map, columns[0], columns[1], use[index + 1].right, height, view));
    if (columns[1].count <= readable && !view.plan.isChain)
      for (const i of columns[1].all) parts.push(plusSign(columns[1].x(i), height - 11));
  }
  for (const [side, each] of sides) {
    const stage = row[side];
    if (!stage || row.kind === "cross") continue;
    if (!stage.map) {
      parts.push(...boxesOf(each, height, stage.written));
      continue;
    }
    parts.push(linesOf(stage.map, each, each, use[index + 1][side], height, view));
    if (each.count <= readable && !view.plan.isChain)
      for (const i of each.all) parts.push(plusSign(each.x(i), height - 11));
  }
  const stages = [row.left, row.right].filter(Boolean);
  const label =
    row.kind === "local"
      ? `${row.title} at each position; the darker a box, the more it adds`
      : `${row.title}: lines run from the position that is read to the position that reads, ` +
        "as thick as their weight";
  const canvas = picture(width, height, label, ...parts);
  const name = nameOf(view, stages.map(({ stage }) => stage).join(" "), row.title, "");
  name.querySelector("small").append(...noteOfRow(view, row));
  const maps = stages.filter(({ map }) => map);
  let side = null;
  if (row.kind === "local") side = unitsOf(view, stages[0]);
  else if (maps.length === 2)
    side = html(
      "div",
      { class: "twomaps" },
      ...maps.map(({ map, place }) =>
        html(
          "div",
          {},
          html("span", { class: "s q" }, place.stack),
          thumbsOf(map, { ...view, tight: true }),
        ),
      ),
    );
  else if (maps.length) side = thumbsOf(maps[0].map, view);
  return stageRow(row.kind === "local" ? "one local" : "", name, canvas, side);
}

// A layer that is closed: its strands, and a button that opens it.
function closedRow(view, rows, columns, width, height, norms) {
  const last = view.plan.rows[rows.at(-1)];
  const parts = [];
  for (const [side, each] of [
    ["left", columns[0]],
    ["right", columns[1]],
  ]) {
    if (!each) continue;
    const stage = rows.map((i) => view.plan.rows[i][side]).findLast(Boolean);
    const after = stage?.norm ?? norms[side];
    parts.push(...strands(each, height, norms[side], after, view.use[rows[0]][side], view.scale));
    norms[side] = after;
  }
  const open = makeButton(
    {
      class: "plain",
      "data-key": `open ${last.stack ?? ""}${last.layer}`,
      onclick: () => view.on.open(`${last.stack ?? ""}${last.layer}`),
    },
    `Layer ${last.layer + 1}`,
    html("small", {}, height > 34 ? "open" : ""),
  );
  const label = `Layer ${last.layer + 1}, closed`;
  return stageRow(
    "one closed",
    html("div", { class: "name" }, open),
    picture(width, height, label, ...parts),
  );
}

function poolRow(view, columns, width) {
  const { pool } = view.plan;
  const height = heights.pool;
  const spots = columnsOf(pool.rows, width / 4, width / 2, 0);
  const use = Array.from({ length: pool.rows }, () => 1);
  const parts = [linesOf(pool, columns[0], spots, use, height, view)];
  for (const i of spots.all)
    if (spots.x(i) !== null)
      parts.push(dotAt(px(spots.x(i)), height - 11, 6, { fill: "var(--path)" }));
  const label = "Learned queries that read all positions";
  const canvas = picture(width, height, label, ...parts);
  const name = nameOf(view, "pool", "Pool", `${pool.rows} learned queries`);
  return stageRow("", name, canvas, thumbsOf(pool, { ...view, tight: true }));
}

// --- logits

function barsOf(view, found, width) {
  const { bars, target, top } = found;
  const shown =
    view.narrow && bars.length > 8 ? [...bars].sort((a, b) => b.logit - a.logit).slice(0, 8) : bars;
  const pitch = width / shown.length;
  const base = 112;
  const mean = shown.reduce((sum, { logit }) => sum + logit, 0) / shown.length;
  const tallest = Math.max(1.5, ...shown.map(({ logit }) => logit - mean));
  const parts = [svg("path", { d: `M0 ${base}H${width}`, stroke: "var(--control)" })];
  shown.forEach(({ token, logit, probability }, i) => {
    const [x, wide] = [(i + 0.16) * pitch, 0.68 * pitch];
    const height = Math.max(-26, ((logit - mean) / tallest) * 66);
    const isTop = token === top.token;
    parts.push(
      svg("rect", {
        x: px(x),
        y: px(height > 0 ? base - height : base),
        width: px(wide),
        height: px(Math.max(0.8, Math.abs(height))),
        fill: isTop ? "var(--path)" : "var(--control)",
      }),
    );
    // A bar that would be longer is cut, and shows it.
    if (height <= -26)
      parts.push(
        svg("path", {
          d: `M${px(x - 1)} ${base + 22}l${px(wide + 2)} -3`,
          stroke: "var(--ground)",
          "stroke-width": 2,
        }),
      );
    const middle = { x: px(x + wide / 2), "text-anchor": "middle" };
    if (probability > 0.045)
      parts.push(
        svg(
          "text",
          { ...middle, class: "p", y: px(base - Math.max(0, height) - 5) },
          probability > 0.995 ? ">.99" : probability.toFixed(2).slice(1),
        ),
      );
    const words = plainToken(token, pitch);
    const chosen = isTop || token === target || view.logit === token;
    const name = svg("text", { ...middle, class: chosen ? "token here" : "token", y: 154 }, words);
    name.append(
      svg(
        "title",
        {},
        `${token}: logit ${significant(logit)}, probability ${significant(probability)}`,
      ),
    );
    parts.push(name);
    if (token === target)
      parts.push(svg("path", { d: `M${px(x - 2)} 159h${px(wide + 4)}`, class: "target" }));
    parts.push(
      svg("rect", {
        class: "hit",
        x: px(i * pitch),
        y: 34,
        width: px(pitch),
        height: 128,
        tabindex: isTop ? 0 : -1,
        role: "button",
        "aria-label": `${token}, probability ${significant(probability)}`,
        "data-key": `logit ${token}`,
        onclick: () => view.on.logit(token),
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") view.on.logit(token);
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          const other = step && shown[i + step]?.token;
          if (!other) return;
          event.preventDefault();
          event.currentTarget.parentNode
            .querySelector(`[data-key="${CSS.escape(`logit ${other}`)}"]`)
            ?.focus();
        },
      }),
    );
  });
  return parts;
}

const poolWords = { mean: "mean over all positions", first: "position 0 alone" };

function logitsRow(view, columns, width, norms) {
  const { trace, position, scale } = view;
  const outputs = view.outputs;
  const found = logitsAt(trace, position, outputs);
  const isPooled = !Array.isArray(trace.logits[0]);
  const stack = columns.at(-1);
  const norm = view.isPair ? norms.right : norms.left;
  const parts = [];
  const at = isPooled ? width / 2 : stack.x(Math.min(position, stack.count - 1));
  const { pool } = view.plan;
  if (pool)
    for (let i = 0; i < pool.rows; ++i) {
      const x = px(width / 4 + ((i + 0.5) * width) / 2 / pool.rows);
      const d = `M${x} 0C${x} 14 ${px(width / 2)} 8 ${px(width / 2)} 26`;
      parts.push(svg("path", { d, fill: "none", stroke: "var(--path)", "stroke-width": 1.5 }));
    }
  else
    for (const i of stack.all) {
      const x = stack.x(i);
      if (x === null || (!isPooled && i === position)) continue;
      if (isPooled && view.pool === "first" && i > 0) continue;
      const a = scale(norm[i]);
      parts.push(
        isPooled
          ? svg("path", {
              d: `M${px(x)} 0C${px(x)} 14 ${px(width / 2)} 8 ${px(width / 2)} 26`,
              fill: "none",
              stroke: "var(--strand)",
              "stroke-width": 1.2,
            })
          : svg("path", {
              d: `M${px(x - a)} 0h${px(2 * a)}l${px(0.5 - a)} 12h-1z`,
              fill: "var(--strand)",
            }),
      );
    }
  const a = isPooled ? 3 : scale(norm[position] ?? norm.at(-1));
  parts.push(
    svg("path", {
      d: `M${px(at - a)} ${isPooled ? 22 : 0}h${px(2 * a)}V30h${px(-2 * a)}z`,
      fill: "var(--path)",
    }),
    svg("path", { d: `M0.5 36V31H${width - 0.5}V36`, fill: "none", stroke: "var(--path)" }),
    ...(isPooled && !pool
      ? [
          textAt(
            width / 2 + (view.narrow ? -10 : 10),
            26,
            view.narrow ? view.pool : (poolWords[view.pool] ?? `${view.pool} of all positions`),
            view.narrow ? "end" : "start",
            "halo-band",
          ),
        ]
      : []),
    ...barsOf(view, found, width),
  );
  const label = "The logits as bars, probabilities above them";
  const small = isPooled ? `of the ${outputs.length} answers` : "of the next token";
  const name = nameOf(view, "logits", "Logits", small);
  name
    .querySelector("small")
    .append(html("span", { class: "long" }, "; above a bar its probability"));
  return stageRow("", name, picture(width, heights.logits, label, ...parts), outcome(view, found));
}

function outcome(view, { target, loss, top }) {
  const row = (term, ...value) => [html("dt", {}, term), html("dd", {}, ...value)];
  const right = top.token === target;
  const parts = row(
    "prediction",
    html("b", { class: top.token.length > 3 ? "word" : "" }, top.token),
    " ",
    target === null
      ? null
      : html("span", { class: right ? "ok" : "no" }, right ? "✓ correct" : "✗ wrong"),
  );
  parts.push(...row("probability", top.probability.toFixed(2)));
  if (target !== null) {
    const p = Math.exp(-loss);
    const formula = p < 0.99 ? `−ln ${significant(p, 2)} = ` : "";
    parts.push(
      ...row("target", html("span", { class: "m goal" }, target)),
      ...row("loss here", formula + significant(loss, 2)),
    );
  } else {
    parts.push(...row("target", view.trace.typed ? "not known" : "none at this position"));
  }
  return html("div", { class: "out" }, html("dl", {}, ...parts));
}

// Draws it all. view: {trace, other: the trace of model B or null, position, scores of heads,
// head: {module, head} or null, off: set of parts, open: which layer of many, logit, outputs,
// narrow, width of the stream, pool of a classifier, height: pixels that there are, on: {head,
// position, move, part, open, logit}}.
export function drawModel(view) {
  const { trace, narrow } = view;
  const plan = planOf(trace);
  const width = narrow ? 216 : 360;
  const use = useOf(plan, view.position, view.off);
  const counts = plan.embeddings.map(({ norm }) => norm.length);
  const half = (width - 24) / 2;
  const columns = plan.isPair
    ? [
        columnsOf(counts[0], 0, half, view.position),
        columnsOf(counts[1], half + 24, half, view.position),
      ]
    : [columnsOf(counts[0], 0, width, view.position)];
  const largest = Math.max(...trace.stages.flatMap(({ norm }) => norm));
  const widest = Math.min(narrow ? 8 : 13, 0.34 * columns.at(-1).pitch);
  const scale = (norm) => Math.max(0.4, (0.5 * widest * norm) / largest);
  const full = { ...view, plan, use, scale, isPair: plan.isPair };
  const nodes = [tokensRow(full, columns), embeddingRow(full, columns, width)];
  const norms = { left: plan.embeddings[0].norm, right: plan.embeddings[1]?.norm };
  nodes.push(...layerRows(full, columns, width, norms));
  if (plan.pool) nodes.push(poolRow(full, columns, width));
  nodes.push(logitsRow(full, columns, width, norms));
  return [...bands(full, columns, norms), ...nodes];
}

// The rows of the layers, which share the height that there is. Of more than three layers only one
// is open.
function layerRows(view, columns, width, norms) {
  const { plan, narrow } = view;
  const keyOf = (row) => `${row.stack ?? ""}${row.layer}`;
  const keys = [...new Set(plan.rows.map(keyOf))];
  const isClosed = (key) =>
    keys.length > 3 && key !== (keys.includes(view.open) ? view.open : keys.at(-1));
  const open = plan.rows.filter((row) => !isClosed(keyOf(row)));
  const closed = keys.filter(isClosed).length;
  const others =
    heights.tokens + heights.embedding + heights.logits + (plan.pool ? heights.pool : 0);
  const left =
    view.height - others - heights.local * open.filter(({ kind }) => kind === "local").length;
  const tall = open.filter(({ kind }) => kind !== "local").length || 1;
  const closedHeight = closed ? Math.max(20, Math.min(44, (left - 178 * tall) / closed)) : 0;
  const fit = Math.floor((left - closed * closedHeight) / tall);
  const height = narrow ? 150 : Math.max(84, Math.min(178, fit));
  const inner = { ...view, tight: height < 140 };
  const nodes = [];
  let y = heights.embedding;
  plan.rows.forEach((row, i) => {
    const key = keyOf(row);
    if (!isClosed(key)) {
      const two = narrow && row.left?.map && row.right?.map; // their maps stand in two rows
      const own = row.kind === "local" ? heights.local : two ? height + 20 : height;
      nodes.push(layerRow(inner, i, columns, width, own, norms));
      y += own;
      if (row.encoderEnds) norms.encoderEnd = y - own + 34;
    } else if (i === 0 || keyOf(plan.rows[i - 1]) !== key) {
      const rows = plan.rows.flatMap((each, at) => (keyOf(each) === key ? [at] : []));
      nodes.push(closedRow(inner, rows, columns, width, closedHeight, norms));
      y += closedHeight;
    }
  });
  norms.end = y + (plan.pool ? heights.pool : 0) + 22; // with the ends of the strands
  return nodes;
}

// The grounds of the streams, and the button that says what they are.
function bands(view, columns, { end, encoderEnd }) {
  const box = html("div", { class: "bands", "aria-hidden": "true" });
  box.style.height = `${end}px`;
  columns.forEach((each, i) => {
    const band = html("div", { class: "band" });
    band.style.left = `${each.from - 4}px`;
    band.style.width = `${each.width + 8}px`;
    if (view.isPair && i === 0)
      Object.assign(band.style, { bottom: "auto", height: `${encoderEnd}px` });
    box.append(band);
  });
  const words = `residual stream, ${view.width} numbers per position`;
  const stream = makeButton(
    { class: "rs", "data-key": "part stream", onclick: () => view.on.part("stream") },
    words,
  );
  return [box, stream];
}

// Two digits: smaller differences are noise of the validation examples.
export const textOfLoss = (loss) =>
  loss < 0.01 ? "< 0.01" : loss < 100 ? loss.toFixed(2) : significant(loss, 2);
export const textOfExact = (fraction) => percent(fraction);
