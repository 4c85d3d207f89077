// The page of several runs: their facts (lab/report/sweep_page.h) in words, sentences and tables.
import { html } from "../../page/dom.js";
import { percent, significant, whole } from "../../page/text.js";
import { settings } from "./effects.js";
import {
  code,
  command,
  fold,
  groupRow,
  linksTo,
  note,
  paragraph,
  place,
  tableRow,
} from "./parts.js";
import { numeric, plotted, section, stateMark, table } from "./parts.js";
import { changedKeys, scoresTable } from "./run_sections.js";
import { counted, duration, scoreText, timeLeft } from "./words.js";

// --- The groups.

const numberText = ({ fraction }, value) => (fraction ? percent(value) : significant(value));

// The interval of a mean: "65.7 … 82.5", in percent for fractions.
function intervalText({ fraction }, { low, high }) {
  if (low === undefined) return "–";
  const [from, to] = [low, high].map((end) =>
    fraction ? (100 * end).toFixed(1) : significant(end),
  );
  return `${from} … ${to}`;
}

const shownScores = 2;

// A row for each group, best first. Drawings put the dots of its seeds into the empty cell, and a
// piece of its line before its name. All but a few scores are folded.
function groupsTable(data) {
  const { keys, groups, columns, score, interval } = data;
  const names = keys.length ? keys.map(({ name }) => name) : [""];
  const other = (text) => [text, "n other"];
  const others = (group, list) =>
    list.map((column, i) => {
      const mean = group.others[i];
      return other(mean === null ? "–" : numberText(column, mean));
    });
  const valuesOf = ({ values }) => (values.length ? values : ["all seeds"]);
  const rowOf = (group) => {
    const isKnown = group.mean !== undefined;
    const cells = [
      ...valuesOf(group),
      [group.count.includes("of") ? html("b", {}, group.count) : group.count, "n"],
      plotted,
      [html("b", {}, isKnown ? numberText(data, group.mean) : "–"), "n"],
      [isKnown ? intervalText(data, group) : "–", "n q"],
      ...others(group, columns.slice(0, shownScores)),
    ];
    return tableRow(cells, undefined, names.length);
  };
  const titles = columns.map(({ name }) => other(name));
  const own = [numeric("seeds"), plotted, numeric(score), numeric(interval)];
  const heads = [...names, ...own, ...titles.slice(0, shownScores)];
  const made = [table(heads, groups.map(rowOf), "groups")];
  if (!columns.length) return made;
  const allRow = (group) =>
    tableRow([...valuesOf(group), ...others(group, columns)], undefined, names.length);
  return [...made, fold("All scores", table([...names, ...titles], groups.map(allRow)))];
}

function resultSection(data) {
  if (data.table) {
    const [heads, ...rows] = data.table;
    const cells = (list) => list.map((text, i) => (i ? numeric(text) : text));
    return section("result", "Result", "", table(cells(heads), rows.map(cells)));
  }
  if (!data.groups) return null;
  const mean = data.log ? "geometric mean" : "mean";
  return section(
    "result",
    "Result",
    `a dot is a seed, the line their ${mean}, the bar its 95 % interval`,
    place("groups"),
    ...groupsTable(data),
    ...data.repeats.map((path) => note(`Left out: ${path}, which repeats another run.`)),
  );
}

// --- Differences.

// A ratio, or a difference with its sign; "–" if it is not finite.
function differenceText({ log, points }, size) {
  if (size === null) return "–";
  if (log) return significant(size);
  const sign = size < 0 ? "" : "+";
  return points
    ? `${sign}${(100 * size).toFixed(1).replace("-", "−")} points`
    : sign + significant(size);
}

// What a row shows: "lower, which is better". The whole sentence is its text.
export function inWords({ none, lower }, { verdict, size }) {
  if (verdict === "few") return "too few seeds";
  if (verdict === "open") return "no difference shown";
  if (verdict === "none" || size === none) return "no difference";
  const isLower = size < none;
  return `${isLower ? "lower" : "higher"}, which is ${isLower === lower ? "better" : "worse"}`;
}

const isOpen = ({ verdict }) => verdict === "few" || verdict === "open";
const pText = (p) => (p === null ? "–" : `${Number(p.toPrecision(2))}`);

// What a row compares: its name in a table and in drawings.
export function nameOf({ of }, { keys, values, instead, name }) {
  if (of === "groups") return name;
  if (of === "keys") return `${settings(keys, values)}, not ${instead.join(", ")}`;
  const [one, two] = keys.map((key, i) => settings([key], [values[i]]));
  return `${one}, not ${instead[0]}, at ${two} over ${instead[1]}`;
}

function noteOf({ of, first, rows }) {
  if (of === "keys") return "each key, averaged over the other keys within each seed";
  if (of === "interaction") {
    const [one, two] = rows[0].keys;
    return `interaction: the effect of ${one} at one value of ${two}, over that at another one`;
  }
  const compared = rows.filter(({ pairs }) => pairs).length;
  const holm = compared > 1 ? `; p corrected for ${compared} comparisons (Holm)` : "";
  return `each group against ${first}${holm}`;
}

function differencesTable(differences) {
  const rowOf = (of, each) => {
    const [size, low, high] = [each.size, each.low, each.high].map((x) =>
      differenceText(differences, x),
    );
    const isTwo = of.of === "interaction" && each.verdict === "difference";
    const words = isTwo ? "the effect depends on it" : inWords(differences, each);
    return [
      nameOf(of, each),
      numeric(`${each.pairs}`),
      numeric(html("b", {}, size)),
      [each.low === null || each.high === null ? "–" : `${low} … ${high}`, "n q"],
      plotted,
      [pText(each.p), "n"],
      [words, isOpen(each) ? "q" : words.endsWith("better") ? "good" : undefined],
    ];
  };
  const size = differences.log ? "factor" : "difference";
  const estimate = [numeric("pairs"), numeric(size), numeric("95 % interval")];
  const heads = ["", ...estimate, plotted, numeric("p"), "in words"];
  const rows = differences.tables.flatMap((of) => [
    groupRow(7, noteOf(of)),
    ...of.rows.map((each) => rowOf(of, each)),
  ]);
  return table(heads, rows, "differences");
}

function differencesSection({ differences, warnings, more, score }) {
  if (!differences?.shown) return null;
  const { log, none, tables } = differences;
  const said = warnings.map((warning) => html("p", {}, `${warning}.`));
  if (tables.length && more) {
    const seeds = `Add ${counted(more.seeds, "seed")} (${counted(more.runs, "run")})`;
    said.push(...command(seeds, more.command));
  }
  const drawn = [
    place("differences"),
    differencesTable(differences),
    fold(
      "Without the assumption of a bell curve",
      table(
        ["", numeric("pairs"), numeric("p of sign flips")],
        tables.flatMap((of) =>
          of.rows.map((each) => [
            nameOf(of, each),
            numeric(`${each.pairs}`),
            numeric(pText(each.flipped_p)),
          ]),
        ),
      ),
    ),
  ];
  const aside = html("div", { class: "aside" }, ...said);
  const content = !tables.length
    ? said.length && [aside]
    : said.length
      ? [html("div", { class: "wide" }, html("div", {}, ...drawn), aside)]
      : drawn;
  const size = log ? "factor" : "difference";
  const rule = `as a ${size} of ${score}, ${none} is no difference`;
  return section(
    "differences",
    "Differences",
    `paired by seed; ${rule}; interval and p by Student`,
    ...(content || []),
  );
}

// --- Time to a target.

function targetSection({ target, groups }) {
  if (!target) return null;
  const timeText = (value, last, text) =>
    value === undefined ? "–" : value === null ? `> ${text(last)}` : text(value);
  const rows = target.groups.map((each, i) => [
    groups[i].name,
    numeric(each.of ? `${each.reached} of ${each.of}` : "–"),
    [each.of ? timeText(each.median, each.last_step, whole) : "–", "n"],
    [timeText(each.seconds, each.last_seconds, (seconds) => seconds.toFixed(1)), "n"],
  ]);
  const out = counted(target.left_out, "run");
  const words =
    "A seed that never reaches it counts as later than all others. So a median can be " +
    `“> ${whole(target.last)}”, and there is no mean.` +
    (target.left_out ? ` Left out: ${out} that failed, or trains and has not reached it.` : "");
  const heads = ["group", numeric("reached"), numeric("median step"), numeric("seconds")];
  return section(
    "target",
    "Time to a target",
    [
      "the first row of the metrics with ",
      code(target.score),
      ` ${target.lower ? "≤" : "≥"} ${target.value}; ▷ had not reached it when training ended`,
    ],
    html(
      "div",
      { class: "pair" },
      html("div", {}, place("target")),
      html("div", {}, table(heads, rows), note(words)),
    ),
  );
}

// --- All runs.

const countOf = (runs, state) => runs.filter((run) => run.state === state).length;

function runRow(data, run) {
  const failed = run.state === "failed" ? run.notes : [];
  // "The run failed: step 3: the loss is NaN"
  const steps = failed.map((text) => Number(/: step (\d+)/.exec(text)?.[1] ?? 0));
  const step = Math.max(run.step, ...steps);
  const share = Math.min(100, (100 * step) / Math.max(1, run.steps)).toFixed(1);
  const folder = `${data.plan?.folder ?? ""}/`;
  const left = run.left === undefined ? "" : timeLeft(run.left);
  return tableRow(
    [
      [data.plan && run.name.startsWith(folder) ? run.name.slice(folder.length) : run.name, "m"],
      stateMark(run.state),
      [
        [html("span", { class: "prog" }, html("i", { style: `width:${share}%` })), whole(step)],
        "nw",
      ],
      [run.value === null ? "–" : scoreText({ value: run.value, fraction: data.fraction }), "n"],
      [(run.seconds ?? null) === null ? "–" : duration(run.seconds), "n"],
      [left + failed.map((text) => `${text} `).join(""), "last"],
    ],
    run.state,
  );
}

const shownRuns = 8;

function runsSection(data) {
  const { runs, score, lower, plan, planned } = data;
  const sign = lower ? 1 : -1;
  const rank = ({ state }) => (state === "failed" ? 0 : state === "running" ? 1 : 2);
  const isScored = ({ state, value }) => state === "done" && value !== null;
  const order = (run) => (isScored(run) ? sign * run.value : Infinity);
  const sorted = [...runs].sort((a, b) => rank(a) - rank(b) || order(a) - order(b) || 0);
  const failed = countOf(runs, "failed");
  const most = Math.max(shownRuns, failed);
  const heads = ["run", "state", "steps", numeric(score), numeric("time"), "last line"];
  const made = (some) =>
    table(
      heads,
      some.map((run) => runRow(data, run)),
      "runs",
    );
  const more = sorted.slice(most);
  const waits = countOf(runs, "done") < planned && (failed || !countOf(runs, "running"));
  const notes = runs.filter(({ state }) => state !== "failed"); // those are in the table
  return section(
    "runs",
    "All runs",
    "failed first, then running, then by score",
    made(sorted.slice(0, most)),
    more.length ? fold(`${more.length} more`, made(more)) : null,
    ...notes.flatMap((run) => run.notes.map((text) => note(`${run.name}: ${text}`))),
    ...(plan && waits
      ? command(
          `Continue${failed ? ", and resume the runs that failed" : ""}`,
          plan.command + (failed ? " --retry-failed" : ""),
        )
      : []),
    fold(
      "Scores and keys of each run",
      ...runs.map((run) => fold(run.name, scoresTable(run.scores), changedKeys(run))),
    ),
  );
}

// --- The head of the page: the question, and what the seeds answer.

export function questionOf(keys, score) {
  if (!keys.length) return `How far does ${score} vary from seed to seed?`;
  if (keys.length === 1) return `Does ${keys[0]} change ${score}?`;
  return `Do ${keys.slice(0, -1).join(", ")} and ${keys.at(-1)} change ${score}?`;
}

// The question of a sweep: its own, or else what its keys ask.
export const questionOfSweep = ({ question, name, keys, score }) =>
  question ||
  (keys
    ? questionOf(
        keys.map((key) => key.name),
        score,
      )
    : name);

const shownAnswers = 4;

export function answersOf({ differences, keys }, most = shownAnswers, page = "") {
  const { rows = [] } = differences.tables[0] ?? {};
  const said = rows.slice(0, most).flatMap((each) => {
    const names = each.keys ?? keys.map(({ name }) => name);
    const name = `${settings(names, each.values)} instead of ${each.instead.join(", ")}`;
    const known = isOpen(each) ? {} : { class: "good" };
    const p = each.p === null ? ". " : `, p = ${pText(each.p)}. `;
    return [html("b", known, `${name}: ${each.text}`), p];
  });
  const more = rows.length - most;
  if (more > 0)
    said.push(html("a", { href: `${page}#differences` }, `${more} more${page ? "" : " below"}.`));
  return said;
}

function topOfRuns(data) {
  const { keys, groups, chosen_by: by } = data;
  if (!groups) {
    const runs = `${counted(data.runs.length, "run")}, each by itself`;
    return html("div", { id: "top" }, paragraph("say", runs));
  }
  const [first] = groups;
  const mean =
    !keys.length && first?.mean !== undefined
      ? `Over ${counted(first.n, "seed")} the mean is ${numberText(data, first.mean)}` +
        `${first.low === undefined ? "" : `, 95 % interval ${intervalText(data, first)}`}.`
      : "";
  return html(
    "div",
    { id: "top" },
    paragraph("say", questionOfSweep({ ...data, ...data.plan })),
    paragraph("lead", ...answersOf(data), mean),
    ...data.failures.map(note),
    paragraph(
      "s q how",
      ...keys.flatMap(({ key, values }) => [code(key), ` = ${values.join(", ")} · `]),
      "the score that decides is ",
      code(by),
      `, ${data.chosen_lower ? "lower" : "higher"} is better`,
    ),
  );
}

export function sweepPage(data) {
  const { runs, planned, left } = data;
  const counts = ["running", "failed"].map((state) => [countOf(runs, state), state]);
  const done = countOf(runs, "done");
  const states = counts.map(([count, state]) => (count ? `, ${count} ${state}` : "")).join("");
  const state = counts[0][0] ? "running" : done === planned ? "done" : "resumable";
  const says = `${done} of ${counted(planned, "run")} done${states}`;
  const drawn = (id, heading, about, isKnown) =>
    section(id, heading, about, isKnown ? place(id) : null);
  const sections = [
    resultSection(data),
    differencesSection(data),
    drawn(
      "curves",
      "Learning curves",
      data.repeats_over_seeds
        ? "thick: mean of the seeds, with its 95 % interval computed on the scale of the axis; " +
            "thin: each seed"
        : "",
      data.curves.length,
    ),
    drawn(
      "effects",
      "Effect of each key",
      "a line is one seed, with the other keys held; dashed: goes the other way; thick: mean",
      data.keys?.length,
    ),
    targetSection(data),
    runsSection(data),
  ];
  const time = html("span", { class: "q s" }, left === undefined ? "" : timeLeft(left));
  return {
    heading: [stateMark(state, says), time],
    links: linksTo(sections),
    main: [topOfRuns(data), ...sections],
  };
}
