// The panels beside the drawing: of a head, of the other parts, of a token of the output.
import { html, makeButton, picture, px, svg, withCode } from "../../../lab/page/dom.js";
import { percent, significant } from "../../../lab/page/text.js";
import { largeMap } from "../../../lab/page/heat.js";
import {
  colourOfHead,
  headMap,
  sharesOfPixels,
  textOfLoss,
  weightsOfQuery,
  wordsOfHead,
} from "./model.js";
import { graphOf, imageOf, placeOfPixel } from "./picture.js";
import { logitsAt, nameOfHead, placeOfStage } from "./plan.js";

const scoreTexts = [
  ["previous", "previous token"],
  ["induction", "induction"],
  ["duplicate", "duplicate token"],
  ["copying", "copying"],
];

// The rows of scores of a head: [name, fraction].
function scoresOf(map, head, view) {
  const found = view.scores?.find((each) => each.module === map.name && each.head === head) ?? {};
  const rows = scoreTexts.flatMap(([key, text]) =>
    found[key] === null || found[key] === undefined ? [] : [[text, found[key]]],
  );
  const pixels = sharesOfPixels(map, head, view.trace);
  if (pixels.length) {
    rows.unshift(...pixels.map(({ name, share }) => [name, share]));
  } else if (!found.previous && map.rows > 2 && !view.trace.edges) {
    const share = (target) => {
      let sum = 0;
      for (let q = 0; q < map.rows; ++q) {
        const k = target(q);
        if (k >= 0 && k < map.columns) sum += headMap(map, head).weight(q, k);
      }
      return sum / map.rows;
    };
    rows.unshift(
      ["same position", share((q) => q)],
      ["mirrored position", share((q) => map.columns - 1 - q)],
    );
  }
  if (found.entropy !== null && found.entropy !== undefined)
    rows.push(["entropy / maximum", found.entropy / Math.log(Math.max(2, map.columns))]);
  return rows.slice(0, 5);
}

function bars(rows) {
  return html(
    "div",
    { class: "scores" },
    ...rows.flatMap(([name, value]) => {
      const bar = html("i");
      bar.style.width = `${Math.max(1, Math.min(100, 100 * Math.abs(value))).toFixed(0)}%`;
      return [
        html("span", { class: "q" }, name),
        html("span", { class: "track" }, bar),
        html("b", {}, value.toFixed(2).replace("-", "−")),
      ];
    }),
  );
}

export const header = (title, view, more = null) =>
  html(
    "header",
    {},
    html("h2", {}, title),
    more,
    makeButton(
      { class: "close", "aria-label": "Close", "data-key": "close", onclick: view.on.close },
      "✕",
    ),
  );

// The switch that leaves a part out, and what the model answers.
function ablation(part, words, view) {
  const { off, now } = view;
  const ablated = view.ablated?.part === part ? view.ablated : null;
  const input = html("input", {
    type: "checkbox",
    class: "switch",
    role: "switch",
    "data-key": "ablate",
    checked: off.has(part),
    disabled: Boolean(ablated?.error),
    onchange: ({ target }) => view.on.ablate(part, target.checked),
  });
  const rows = [];
  if (ablated?.error) rows.push(html("dd", { class: "wide" }, ...withCode(ablated.error)));
  else if (ablated) {
    const { loss, delta, interval, exact_match: exact } = ablated;
    const half = interval ? ` ± ${significant((interval[1] - interval[0]) / 2, 2)} (95 %)` : "";
    const sign = delta < 0 ? "−" : "+";
    rows.push(
      html("dt", {}, "loss"),
      html(
        "dd",
        {},
        `${textOfLoss(now.loss)} → `,
        html("b", { class: delta > 0.1 ? "no" : "" }, textOfLoss(loss)),
        html("span", { class: "q" }, ` ${sign}${significant(Math.abs(delta), 2)}${half}`),
      ),
      html("dt", {}, "exact match"),
      html("dd", {}, `${percent(now.exact_match)} → `, html("b", {}, percent(exact))),
    );
  }
  return html(
    "div",
    { class: "ablate" },
    html("label", {}, input, words),
    html("dl", { "aria-live": "polite" }, ...rows),
  );
}

function leadOf(map, head, view) {
  const words = wordsOfHead(map, head, view);
  const row = Math.min(view.position, map.rows - 1);
  const weights = weightsOfQuery(map, head, row).map(Math.abs);
  const best = weights.indexOf(Math.max(...weights));
  const { pixels, grid, edges } = view.trace;
  const nameOf = (names, i) =>
    pixels ? placeOfPixel(i, grid) : edges ? `node ${names[i]}` : `${names[i]} (position ${i})`;
  const habit = words.startsWith("spread")
    ? ["Its weight is ", html("b", {}, "spread out, without a clear pattern"), ". "]
    : words.startsWith("no ") || words.startsWith("here ")
      ? []
      : ["It ", html("b", {}, words), ". "];
  return html(
    "p",
    { class: "lead" },
    ...habit,
    `Here ${nameOf(map.queries, row)} gives the most weight, ${weights[best].toFixed(2)}, to `,
    html("b", {}, nameOf(map.keys, best)),
    ".",
  );
}

export function headPanel(view) {
  const { module, head } = view.head;
  const map = view.trace.maps.find(({ name }) => name === module);
  const { trace } = view;
  const isVideo = trace.grid?.length === 3;
  const colour = colourOfHead(head);
  const row = Math.min(view.position, map.rows - 1);
  const title = nameOfHead(module, head, view.isPair);
  const label = `Weights of ${title}. The arrow keys read a weight.`;
  const readout = html("p", { class: "s readout", "aria-live": "polite" }, " ");
  const readCell = (q, k) => {
    const weight = headMap(map, head).weight(q, k);
    const [reader, read] = [`${map.queries[q]} (${q})`, `${map.keys[k]} (${k})`];
    readout.textContent = `${reader} reads ${read}: ${significant(weight, 3)}`;
    view.cells.set(label, [q, k]);
  };
  let drawn;
  if (trace.pixels && map.columns === trace.pixels.length) {
    const weights = weightsOfQuery(map, head, row);
    drawn = imageOf(trace, isVideo ? 300 : 198, { weights, reads: row, label });
    drawn.setAttribute("tabindex", "0");
    const width = trace.grid.at(-1);
    drawn.addEventListener("keydown", (event) => view.on.move(event, row, map.columns, width));
    drawn.addEventListener("click", ({ target }) => {
      if (target.dataset.pixel !== undefined) view.on.position(Number(target.dataset.pixel));
    });
    readout.textContent = `${placeOfPixel(row, trace.grid)} reads`;
  } else if (trace.edges && map.rows === map.columns) {
    const weights = weightsOfQuery(map, head, row);
    drawn = graphOf({ edges: trace.edges, labels: map.keys }, 198, {
      weights,
      reads: row,
      label,
      colour,
    });
  } else {
    const [q, k] = view.cells.get(label) ?? [-1, -1];
    const at = q < map.rows && k < map.columns ? [q, k] : null;
    const frame = { framed: map.rows > row ? row : null, numbersFrom: 20 };
    drawn = largeMap(headMap(map, head), {
      width: 286,
      colour,
      label,
      read: readCell,
      at,
      ...frame,
    });
    drawn.classList.add("map");
  }
  drawn.dataset.key = "large map";
  const place = placeOfStage(module);
  const words = trace.pixels
    ? "The framed pixel reads. The area of a dot is the weight of the pixel under it, and all " +
      "weights add up to 1."
    : trace.edges
      ? `Node ${map.queries[row]} reads: a line is as thick as the weight of the node at its end.`
      : "Each row is a token that reads, each column a token that is read. A row adds up to 1.";
  const nodes = [
    header(nameOfHead(module, head, view.isPair), view),
    leadOf(map, head, view),
    html("div", { class: isVideo ? "look video" : "look" }, drawn, bars(scoresOf(map, head, view))),
    readout,
    html(
      "p",
      { class: "s q" },
      map.signed ? "Each row is a token that reads. " : `${words} `,
      html("code", {}, `${module}, head ${head}`),
    ),
  ];
  if (place)
    nodes.push(ablation(`${module}.head.${head}`, "Ablate: set this head’s output to 0", view));
  return { nodes, colour };
}

// --- other parts

const partTexts = {
  tokens: ["Tokens", "The model reads tokens. Each has a number: its row in the embedding."],
  embedding: [
    "Embedding and positions",
    "The first vector of each position combines the token’s row of the embedding with a vector " +
      "for the position. The residual stream starts with it.",
  ],
  stream: [
    "Residual stream",
    "One vector per position. Attention and feed-forward networks read it and add to it, and do " +
      "nothing else to it. The longer the vector, the wider its strand.",
  ],
  attention: [
    "Attention",
    "In each head, every position reads other positions. It adds what it read to its stream.",
  ],
  cross_attention: [
    "Cross-attention",
    "Every position of the output reads the encoder’s stream, and adds what it read to its own.",
  ],
  feed_forward: [
    "Feed-forward network",
    "It works on each position alone. The vector becomes the hidden units, and these become a " +
      "vector again, which is added to the stream.",
  ],
  pool: ["Pool", "Learned queries read all positions. The answer depends only on what they read."],
  logits: [
    "Logits",
    "The last norm, if there is one, and the output matrix turn the last vector of the position " +
      "into one number per token, and the softmax turns these into probabilities.",
  ],
};
// In a chain, where each sublayer replaces the stream.
const chainTexts = {
  stream: "One vector per position. Each sublayer reads it and replaces it by another.",
  attention:
    "In each head, every position reads other positions. What it read replaces its vector.",
  cross_attention:
    "Every position of the output reads the encoder’s vectors. What it read replaces its own.",
  feed_forward:
    "It works on each position alone. The vector becomes the hidden units, and these become the " +
    "next vector.",
};

// A table of numbers by position. `name` keeps its focus at the next drawing.
function byPosition(view, name, columns) {
  const labels = view.labels ?? [];
  const count = Math.max(...columns.map(([, values]) => values.length));
  const rows = Array.from({ length: Math.min(count, 40) }, (_, i) =>
    html(
      "tr",
      { class: i === view.position ? "at" : "" },
      html("td", {}, `${i}`),
      html("td", {}, labels[i] ?? ""),
      ...columns.map(([, values]) =>
        html("td", {}, values[i] === undefined ? "" : significant(values[i], 3)),
      ),
    ),
  );
  const heads = ["", "", ...columns.map(([title]) => title)];
  return html(
    "div",
    {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Numbers by position",
      "data-key": `numbers ${name}`,
    },
    html("table", {}, html("tr", {}, ...heads.map((text) => html("th", {}, text))), ...rows),
  );
}

// A matrix as cells, with a readout for the pointer and the arrow keys. `cells` has the cell that
// is read, by label, so that the next drawing still reads it.
function matrix({ rows, columns, values, names, label }, cells) {
  const largest = Math.max(1e-9, ...values.map(Math.abs));
  const cell = Math.max(2, Math.min(9, 300 / columns, 190 / rows));
  const rects = values.map((value, i) =>
    svg("rect", {
      x: px((i % columns) * cell),
      y: px(Math.floor(i / columns) * cell),
      width: px(cell),
      height: px(cell),
      fill: value > 0 ? "var(--pos)" : "var(--neg)",
      "fill-opacity": Math.sqrt(Math.abs(value) / largest).toFixed(2),
    }),
  );
  const drawn = picture(
    columns * cell,
    rows * cell,
    `${label}. The arrow keys read a value.`,
    ...rects,
  );
  drawn.setAttribute("tabindex", "0");
  drawn.dataset.key = `matrix ${label}`;
  const readout = html(
    "p",
    { class: "s readout", "aria-live": "polite" },
    `from ${significant(-largest)} (blue) to ${significant(largest)} (orange)`,
  );
  const read = (row, column) => {
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    cells.set(label, [row, column]);
    const value = significant(values[row * columns + column], 4);
    readout.textContent = `row ${names?.[row] ?? row}, column ${column}: ${value}`;
  };
  const point = ({ clientX, clientY }) => {
    const box = drawn.getBoundingClientRect();
    read(Math.floor((clientY - box.top) / cell), Math.floor((clientX - box.left) / cell));
  };
  drawn.addEventListener("pointermove", point);
  drawn.addEventListener("pointerdown", point);
  drawn.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ];
    if (!move) return;
    event.preventDefault();
    const [row, column] = cells.get(label) ?? [0, 0];
    read(row + move[0], column + move[1]);
  });
  if (cells.has(label)) read(...cells.get(label));
  return [drawn, readout];
}

// `view.part`: the names of stages with spaces, or "tokens", "embedding", "stream", "pool",
// "logits". `view.matrices`: those of this part, which the page has asked for.
export function partPanel(view) {
  const { trace } = view;
  const stages = view.part
    .split(" ")
    .map((name) => trace.stages.find(({ stage }) => stage === name))
    .filter((stage) => stage && placeOfStage(stage.stage));
  const kind = stages.length ? placeOfStage(stages[0].stage)?.part : view.part;
  const [title, usual] = partTexts[kind] ?? [kind, "A part of the model that adds to the stream."];
  const words = (trace.residual === false && chainTexts[kind]) || usual;
  const nodes = [header(title, view), html("p", { class: "lead" }, words)];
  if (kind === "stream")
    nodes.push(
      byPosition(
        view,
        "stream",
        trace.stages
          .filter(({ norm }) => norm.length === view.count)
          .slice(-3)
          .map(({ stage, norm }) => [
            stage.replace(
              /^.*layers\.(\d+)\.(\w).*$/,
              (_, l, p) => `${Number(l) + 1} ${p === "f" ? "ff" : "att"}`,
            ),
            norm,
          ]),
      ),
      html("p", { class: "s q" }, "The length of the vector after each of the last three stages."),
    );
  for (const stage of stages) {
    nodes.push(html("h3", {}, html("code", {}, stage.stage)));
    const columns = [
      ["adds", stage.written],
      ["stream", stage.norm],
    ];
    if (stage.active) columns.unshift(["active", stage.active]);
    nodes.push(byPosition(view, stage.stage, columns));
    const after = stage.logits?.[view.position];
    if (after)
      nodes.push(
        html(
          "p",
          { class: "s" },
          "If the model ended here, it would predict ",
          html("code", {}, after[0].token),
          ` (${percent(after[0].probability, 0)}).`,
        ),
      );
    nodes.push(ablation(stage.stage, "Leave this part out: it adds 0", view));
  }
  for (const each of view.matrices ?? []) {
    nodes.push(html("h3", {}, each.label));
    nodes.push(...matrix(each, view.cells));
  }
  return { nodes, colour: "var(--control)" };
}

// A token of the output: its logit here, after every stage, and its rank.
export function logitPanel(view) {
  const { trace, position, logit } = view;
  const { bars: all, top } = logitsAt(trace, position, view.outputs);
  const found = all.find(({ token }) => token === logit) ?? top;
  const rank = [...all].sort((a, b) => b.logit - a.logit).indexOf(found) + 1;
  const rows = trace.stages.flatMap(({ stage, logits }) => {
    const there = logits?.[Math.min(position, logits.length - 1)];
    if (!there) return [];
    const best = there[0];
    const own = there.find(({ token }) => token === found.token);
    const value = own
      ? significant(own.probability, 2)
      : `< ${significant(there.at(-1).probability, 2)}`;
    return [
      html(
        "tr",
        {},
        html("td", {}, stage.replace("decoder.", "")),
        html("td", {}, value),
        html("td", {}, best.token),
      ),
    ];
  });
  const nodes = [
    header(`Token ${found.token}`, view),
    html(
      "p",
      { class: "lead" },
      "Its logit is ",
      html("b", {}, significant(found.logit)),
      `, its probability ${significant(found.probability)}: ` +
        `rank ${rank} of ${view.outputs.length}.`,
    ),
  ];
  if (found !== top)
    nodes.push(
      html(
        "p",
        { class: "s" },
        `${top.token} is e^${significant(top.logit - found.logit, 3)} = ` +
          `${significant(top.probability / found.probability, 3)} times as likely.`,
      ),
    );
  if (rows.length)
    nodes.push(
      html("h3", {}, "If the model ended earlier"),
      html(
        "table",
        {},
        html(
          "tr",
          {},
          ...["after", `p(${found.token})`, "predicts"].map((text) => html("th", {}, text)),
        ),
        ...rows,
      ),
    );
  return { nodes, colour: "var(--control)" };
}

// --- all keys, and the config

export function keysPanel(view) {
  const filter = html("input", {
    type: "text",
    placeholder: "part of a name",
    "aria-label": "Part of a name",
    "data-key": "filter",
    value: view.filter,
    oninput: ({ target }) => view.on.filter(target.value),
  });
  const rows = view.keys
    .filter(([key]) => key.includes(view.filter))
    .map(([key]) => html("label", { class: "row" }, html("code", {}, key), view.field(key)));
  const nodes = [
    header("All keys", view),
    html(
      "p",
      { class: "s q" },
      "Every key of a config that affects this task. A change starts a new model at step 0.",
    ),
    filter,
    html("div", { class: "keys" }, ...rows),
  ];
  return { nodes, colour: "var(--control)" };
}

export function configPanel(view) {
  const text = html("textarea", {
    rows: 18,
    spellcheck: "false",
    "aria-label": "Config as TOML",
    "data-key": "toml",
  });
  text.value = view.config;
  const said = html("output", { "aria-live": "polite" });
  const copy = (value, what) => {
    const done = () => {
      said.textContent = `${what} copied.`;
    };
    const failed = () => {
      said.textContent = "This browser does not allow pages to copy.";
    };
    navigator.clipboard?.writeText(value).then(done, failed) ?? failed();
  };
  const button = (words, action) => makeButton({ "data-key": words, onclick: action }, words);
  const nodes = [
    header("Config as TOML", view),
    html(
      "p",
      { class: "s q" },
      "The keys that differ from their defaults. In a terminal: ",
      html("code", {}, "./heed train FILE"),
    ),
    text,
    html(
      "div",
      { class: "chips" },
      button("Use this config", () => view.on.use(text.value)),
      button("Copy config", () => copy(text.value, "Config")),
      button("Copy link", () => copy(view.on.link(), "Link")),
      said,
    ),
  ];
  return { nodes, colour: "var(--control)" };
}
