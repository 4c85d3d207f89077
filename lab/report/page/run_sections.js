// The page of one run: its facts (lab/report/run_page.h) in words, sentences and tables.
import { html } from "../../page/dom.js";
import { short } from "../../page/heat.js";
import { significant, whole } from "../../page/text.js";
import {
  command,
  fold,
  linksTo,
  listing,
  note,
  pairs,
  paragraph,
  place,
  tableRow,
} from "./parts.js";
import { groupRow, numeric, section, stateMark, table } from "./parts.js";
import { counted, headlineOf, leadOf, mainScore, ordinal } from "./words.js";
import { scoreText, spaced, splitWords, timeLeft } from "./words.js";

// A row for each split; the main score first, with its interval where it counts examples.
export function scoresTable(scores) {
  if (!scores.length) return null;
  const main = mainScore(scores);
  const known = [...new Set(scores.flatMap((of) => of.scores.map(({ name }) => name)))];
  const rest = known.filter((name) => name !== main?.name);
  const isSaid = (name) => name !== "perplexity" || !known.includes("loss");
  const names = [...(main ? [main.name] : []), ...rest.filter(isSaid)];
  const hasInterval = main?.name === "exact_match";
  const withInterval = (name, cell, interval) =>
    hasInterval && name === main.name ? [cell, interval] : [cell];
  const heads = names.flatMap((name) =>
    withInterval(name, numeric(spaced(name)), numeric("95 % interval")),
  );
  const rows = scores.map((of) => [
    splitWords(of.split),
    ...names.flatMap((name) => {
      const score = of.scores.find((each) => each.name === name);
      const text = score && score.value !== null ? scoreText(score) : "–";
      const isMain = name === main?.name && of.split === main.split;
      const isWorse = name === main?.name && of.interval?.[1] < main.interval?.[0]; // surely
      const [low, high] = (of.interval ?? []).map((end) => (100 * end).toFixed(1));
      return withInterval(
        name,
        [isMain ? html("b", {}, text) : text, isWorse ? "n bad" : "n"],
        [of.interval ? `${low} … ${high}` : "–", "n q"],
      );
    }),
    [of.examples >= 1 ? whole(of.examples) : "–", "n q"],
  ]);
  return table(["", ...heads, numeric("of")], rows);
}

export const changedKeys = ({ changed }) =>
  fold(
    `${counted(changed.length, "key")} with another value than the default`,
    table(["key", "value", "default", "set in"], changed),
  );

// --- What the run is.

const factColumn = (heading, about, content, style) =>
  html(
    "div",
    { class: style },
    html("h3", {}, `${heading} `, html("span", { class: "q" }, about)),
    content,
  );

// The keys that say what the model is, and then the changed ones of each group, as many as fit.
const keysOf = (changed, groups, always = []) =>
  pairs(
    [
      ...always,
      ...groups.flatMap((group) =>
        changed.filter(([key]) => key.startsWith(group) && !always.some(([each]) => each === key)),
      ),
    ]
      .slice(0, 6)
      .map(([key, value, usual]) => {
        const other = usual ? [" ", html("i", {}, `(${short(usual, 17)})`)] : [];
        return [key, [short(value, 25), ...other]];
      }),
  );

function taskColumn({ samples = [], data = [], task, seed }) {
  const shown = samples.flatMap(({ rows, shown: most }) => rows.slice(0, most));
  const shortest = shown
    .filter(([, , expected]) => expected)
    .reduce((best, each) => (best && best[0].length <= each[0].length ? best : each), null);
  const lines = data.map((line) => paragraph("q", line));
  if (shortest) lines.unshift(paragraph("m", short(`${shortest[0]} → ${shortest[2]}`, 61)));
  if (!lines.length) lines.push(paragraph("q", `seed ${seed}`));
  const heading = html("h3", {}, "Task ", html("span", { class: "q" }, task));
  return html("div", {}, heading, ...lines);
}

function whatItIs(data) {
  const { run, trained, model, machine } = data;
  const { parameters, tokens_per_s: rate } = trained;
  const shown = [...machine];
  if (rate !== undefined) shown.splice(-1, 0, ["rate", `${whole(rate)} tokens/s`]);
  const size = parameters === undefined ? "" : `${whole(parameters)} parameters`;
  const training = keysOf(run.changed, ["optim.", "schedule.", "train."]);
  return html(
    "div",
    { id: "is" },
    taskColumn(data),
    factColumn("Model", size, keysOf(run.changed, ["model."], model), "set"),
    factColumn("Training", "changed (default)", training, "set"),
    factColumn("Machine", "", pairs(shown)),
  );
}

// --- Samples.

// An output: its first wrong word or character struck out, what should stand there behind it.
export function markedOutput(output, expected) {
  const words = output.includes(" ") || expected.includes(" ");
  const unitsOf = (text) => (words ? (text.match(/[^ ]* +|[^ ]+/g) ?? []) : [...text]);
  const bare = (unit) => unit.replace(/([^ ]) +$/, "$1");
  const [given, wanted] = [unitsOf(output), unitsOf(expected)];
  let i = 0;
  while (i < given.length && i < wanted.length && bare(given[i]) === bare(wanted[i])) ++i;
  let right = given.slice(0, i).join("");
  if (i === given.length && i === wanted.length) return [right];
  if (words && i > 0 && i === given.length) right += " "; // the output ends too early
  return [
    right,
    ...(i < given.length ? [html("s", { class: "w" }, bare(given[i])), " "] : []),
    html("ins", { class: "t" }, i < wanted.length ? bare(wanted[i]) : "end"),
    " ",
    html("span", { class: "q" }, given.slice(i + 1).join("")),
  ];
}

export function splitText({ split, wrong, examples, first_error: first }) {
  const name = splitWords(split);
  if (wrong === null) return `${name}: not compared with anything`;
  const are = wrong === 1 ? "is" : "are";
  const mean = `${wrong === 1 ? "" : "on average "}the ${ordinal(first)}`;
  const where = wrong > 0 && first > 0 ? `. The first wrong token is ${mean}` : "";
  return `${name}: ${whole(wrong)} of ${whole(examples)} ${are} wrong${where}`;
}

const sampleRow = ([input, output, expected]) => {
  const mark = output === expected ? ["✓", "ok"] : ["✗", "no"];
  return tableRow([mark, short(input, 201), [markedOutput(output, expected)]]);
};

function samplesSection({ samples = [], lengths, positions, step }) {
  const known = samples.filter(({ rows }) => rows.length);
  const isCompared = ({ rows }) => rows[0][2] !== "";
  const compared = known.filter(isCompared);
  const texts = known.filter((each) => !isCompared(each)).flatMap(({ rows }) => rows);
  if (!known.length) return null;
  const content = [place("samples")];
  if (compared.length)
    content.push(
      html(
        "table",
        { class: "out" },
        html(
          "thead",
          {},
          html("tr", {}, ...["", "input", "output"].map((each) => html("th", {}, each))),
        ),
        html(
          "tbody",
          {},
          ...compared.flatMap((each) => [
            groupRow(3, splitText(each)),
            ...each.rows.slice(0, each.shown).map(sampleRow),
          ]),
        ),
      ),
    );
  content.push(...texts.map(([, output]) => listing(output)));
  const about = compared.length
    ? [
        `greedy, at step ${whole(step)}; wrong ones first. `,
        html("s", { class: "w" }, "12"),
        " ",
        html("ins", { class: "t" }, "21"),
        " the first wrong token and what should stand there",
      ]
    : "generated without a prompt";
  const drawn = [...(lengths ? ["lengths"] : []), ...(positions ? ["positions"] : [])];
  const halves = [html("div", {}, ...content), html("div", {}, ...drawn.map(place))];
  return section(
    "samples",
    "Samples",
    about,
    ...(drawn.length ? [html("div", { class: "two" }, ...halves)] : content),
  );
}

// --- The rest.

function errorsSection({ errors, confusion, split }) {
  if (!errors) return null;
  const rows = errors.map(([expected, output, count]) => [expected, output, numeric(whole(count))]);
  const listed = errors.length
    ? [
        html("h3", {}, "Most frequent errors"),
        table(["expected", "predicted", numeric("times")], rows),
      ]
    : [html("p", {}, "Every target is predicted.")];
  const isDrawn = confusion?.labels.length > 1;
  const halves = [html("div", {}, ...listed), html("div", {}, place("confusion"))];
  const content = isDrawn ? [html("div", { class: "pair" }, ...halves)] : listed;
  return section("errors", "Errors", `targets of the split ${split}`, ...content);
}

function timeSection({ time, trained }) {
  if (!time) return null;
  const before = trained.seconds / trained.steps; // evaluations included
  const isBusier = time.seconds > 2 * before;
  const milliseconds = (seconds) => `${significant(1e3 * seconds, 3)} ms`;
  return section(
    "time",
    "Where the time goes",
    [
      "one training step: ",
      html("b", {}, milliseconds(time.seconds)),
      ", measured for this page",
      isBusier
        ? " on a slower or busier machine than the run’s, whose steps took " +
          `${milliseconds(before)}: read the shares, not the times`
        : "",
      "; pale part of a bar: forward, full part: backward",
    ],
    place("time"),
  );
}

function reproduceSection({ run, commands, record, keys, layers }) {
  const says = {
    trained: "Trained by",
    again: "Train it again, and compare every bit",
    use: "Use it",
  };
  const said = Object.entries(commands).flatMap(([name, text]) => command(says[name], text));
  return section(
    "reproduce",
    "Reproduce",
    "",
    ...(record.length
      ? [html("div", { class: "two" }, html("div", {}, ...said), pairs(record, "record"))]
      : said),
    changedKeys(run),
    fold("All keys", listing(keys)),
    layers ? fold("Layers, shapes and FLOPs", listing(layers)) : null,
  );
}

export function runPage(data) {
  const { run, started } = data;
  const drawn = (id, heading, about, isKnown) =>
    section(id, heading, about, isKnown ? place(id === "parameters" ? "statistics" : id) : null);
  const sections = [
    drawn("curves", "Curves", "", data.curves.length),
    samplesSection(data),
    drawn("attention", "Attention", "rows read, columns are read", data.attention),
    errorsSection(data),
    drawn("parameters", "Parameters and layers", "", data.statistics.length),
    timeSection(data),
    reproduceSection(data),
  ];
  const times = [started, run.left === undefined ? "" : timeLeft(run.left)].filter(Boolean);
  const result = html(
    "div",
    {},
    paragraph("say", headlineOf(data)),
    paragraph("lead", leadOf(data)),
    ...[...run.notes, ...(data.details ?? [])].map(note),
  );
  const more = `/report?run=${encodeURIComponent(data.details_of)}&details=1`;
  return {
    heading: [stateMark(run.state), html("span", { class: "q s" }, times.join(" · "))],
    links: [["top", "Result"], ...linksTo(sections)],
    main: [
      html("div", { id: "top", class: "two" }, result, html("div", {}, scoresTable(run.scores))),
      whatItIs(data),
      ...sections,
      data.details_of === undefined
        ? null
        : html(
            "p",
            {},
            html("a", { href: more }, "Attention, samples, errors and time"),
            " (takes some seconds, and does not follow the run)",
          ),
    ],
  };
}
