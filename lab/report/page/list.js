// The list of runs of heed view: sweeps with what they show, runs, and the curves of chosen ones.
import { colourOf } from "../../page/colours.js";
import { html, makeButton, picture, replace, svg } from "../../page/dom.js";
import { legend, linePath } from "../../page/chart.js";
import { dotStrip } from "../../page/dots.js";
import { extent, makeScale, wantsLog } from "../../page/scale.js";
import { significant, whole } from "../../page/text.js";
import { settings } from "./effects.js";
import { fold, place, stateMark } from "./parts.js";
import { scoreAxis, sweepDrawings } from "./sweep.js";
import { answersOf, questionOfSweep } from "./sweep_sections.js";
import { counted, duration, timeLeft } from "./words.js";

const url = (page, names) =>
  `/${page}?${names.map((name) => `run=${encodeURIComponent(name)}`).join("&")}`;

// "28 Nov, 19:09" of an ISO time, in the reader's zone; "28 Nov 2025" of another year
function dateText(date) {
  const at = new Date(date);
  const isNow = at.getFullYear() === new Date().getFullYear();
  const clock = { hour: "2-digit", minute: "2-digit" };
  return at.toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    ...(isNow ? clock : { year: "numeric" }),
  });
}

const changesOf = ({ changed = [] }) => changed.map(([name, value]) => `${name}=${value}`);

// --- What is shown: sweeps with their runs, and runs of none, filtered and sorted.

const keysOfSort = {
  newest: (run) => -Date.parse(run.date ?? 0),
  name: () => 0, // as they come
  loss: (run) => run.val_loss ?? run.loss ?? Infinity,
  time: (run) => -(run.seconds ?? 0),
};

// {runs, sweeps} → [{sweep, or none, runs}], those that match all words, in the chosen order.
export function entriesOf({ runs, sweeps }, words, sort) {
  const isOf = ({ name }, run) => name === "." || run.name.startsWith(`${name}/`);
  const has = (texts) => {
    const all = texts.join(" ").toLowerCase();
    return words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => all.includes(word));
  };
  const key = keysOfSort[sort];
  const best = (entry) => Math.min(...entry.runs.map(key));
  const of = new Map(sweeps.map((sweep) => [sweep, { sweep, runs: [] }]));
  const entries = [...of.values()];
  for (const run of runs) {
    const sweep = sweeps.findLast((each) => isOf(each, run));
    const about = sweep ? [sweep.question, sweep.name] : [];
    if (!has([run.name, run.state, run.config ?? "", ...changesOf(run), ...about])) continue;
    if (sweep) of.get(sweep).runs.push(run);
    else entries.push({ runs: [run] });
  }
  const shown = entries.filter((entry) => entry.runs.length);
  for (const entry of shown) entry.runs.sort((a, b) => key(a) - key(b) || 0);
  const name = ({ sweep, runs: [run] }) => sweep?.name ?? run.name;
  return shown.sort((a, b) => best(a) - best(b) || name(a).localeCompare(name(b)));
}

// --- One run.

function sparkline({ name, x = [], y = [] }) {
  const [width, height] = [110, 30];
  const kind = wantsLog(extent(y)) ? "log" : "linear";
  const sx = makeScale("linear", extent(x), [2, width - 2]);
  const sy = makeScale(kind, extent(y), [height - 3, 3]);
  const line = { class: "line", fill: "none", stroke: "var(--path)", "stroke-width": 1.5 };
  return picture(
    width,
    height,
    `loss of ${name}`,
    svg("path", { ...line, d: linePath(x, y, sx, sy) }),
  );
}

function progressOf({ state, step, steps, left }) {
  const isPart = step !== undefined && steps && step < steps;
  const share = isPart ? ` ${Math.floor((100 * step) / steps)} %` : "";
  return [
    stateMark(state, state === "none" ? "empty" : `${state}${share}`),
    html("small", {}, left === undefined ? "" : timeLeft(left)),
  ];
}

const box = (name, state, label) => {
  const made = html("input", {
    type: "checkbox",
    name: "run",
    value: name,
    "aria-label": label,
    checked: state.chosen.has(name),
    onchange: () => {
      if (made.checked) state.chosen.add(name);
      else state.chosen.delete(name);
      state.names = [...state.chosen];
      state.draw();
    },
  });
  return html("label", { class: "box" }, made);
};

// `folder`: of the sweep that it is in, with the last "/".
export function listedRun(run, state, folder) {
  const { name, config = "", val_loss: validation, loss, seconds, date } = run;
  const shown = validation ?? loss;
  const about = changesOf(run).join(" · ") || config;
  return html(
    "li",
    { class: "run" },
    box(name, state, name),
    html(
      "div",
      { class: "names" },
      html("a", { href: url("report", [name]) }, name.slice(folder?.length ?? 0)),
      html("small", {}, folder === undefined ? about : ""), // the name of a run of a sweep says it
    ),
    sparkline(run),
    html(
      "div",
      { class: "n" },
      shown === undefined ? "–" : significant(shown),
      html(
        "small",
        {},
        shown === undefined ? "" : validation === undefined ? "training" : "validation",
      ),
    ),
    html("div", {}, ...progressOf(run)),
    html(
      "div",
      { class: "when" },
      date ? dateText(date) : "",
      html("br", {}),
      html("small", {}, seconds === undefined ? "" : `${duration(seconds)} · `),
      html("a", { href: url("inside", [name]), title: "takes some seconds" }, "inside"),
    ),
  );
}

// --- One sweep.

function strip(sweep) {
  const groups = (sweep.groups ?? []).map((group) => ({
    ...group,
    colour: colourOf(group.colour),
    seeds: group.seeds.map(({ seed, value }) => ({ value, title: `${group.name}, seed ${seed}` })),
  }));
  const values = groups.map(({ seeds }) => seeds.map(({ value }) => value));
  if (!values.flat().length) return null;
  const made = html("div", { class: "strip" });
  const axis = scoreAxis(sweep, values);
  const [first] = sweep.keys;
  const lines = new Map(
    groups.map(({ colour, values: [value] }) => [
      colour,
      { colour, label: first ? settings([first.name], [value]) : "a seed" },
    ]),
  );
  const keys = html("p", { class: "line s q" }, `${sweep.score}: `, ...legend([...lines.values()]));
  new ResizeObserver(() => {
    const width = made.clientWidth;
    if (width) made.replaceChildren(keys, dotStrip({ width, rows: groups, axis }));
  }).observe(made);
  return made;
}

function sweepEntry({ sweep, runs }, state) {
  const { name, planned } = sweep;
  const count = (which) => runs.filter((run) => run.state === which).length;
  const states = ["running", "failed"].filter(count).map((each) => `, ${count(each)} ${each}`);
  const mark = count("running") ? "running" : count("done") === planned ? "done" : "resumable";
  const all = counted(planned ?? runs.length, "run");
  const says = `${count("done")} of ${all} done${states.join("")}`;
  const left = Math.max(...runs.map((run) => run.left ?? 0));
  const open = state.open.has(name);
  const list = html("ul", {});
  const [folder, where] = name === "." ? ["", ""] : [`${name}/`, ` of ${name}`];
  const fill = () => {
    if (!list.firstChild) list.append(...runs.map((run) => listedRun(run, state, folder)));
  };
  const made = fold(counted(runs.length, "run") + where, list);
  made.open = open;
  if (open) fill();
  made.addEventListener("toggle", () => {
    if (made.open) state.open.add(name);
    else state.open.delete(name);
    fill();
  });
  return html(
    "li",
    { class: "sweep" },
    box(name, state, `all of ${name}`),
    html(
      "div",
      {},
      html("h2", {}, html("a", { href: url("report", [name]) }, questionOfSweep(sweep))),
      html(
        "p",
        { class: "s q" },
        html("span", { class: "m" }, name === "." ? "" : `${name} `),
        stateMark(mark, says),
        left > 0 ? ` ${timeLeft(left)}` : "",
      ),
      sweep.differences
        ? html("p", { class: "lead" }, ...answersOf(sweep, 2, url("report", [name])))
        : null,
      strip(sweep),
      made,
    ),
  );
}

// --- The curves of what is chosen: those of the page of these runs.

async function drawChosen(section, state, runs) {
  const names = [...state.chosen];
  const drawn = html("div", {});
  const show = () =>
    section.replaceChildren(
      html("h2", {}, "Curves"),
      html("a", { href: url("report", names) }, "open their page"),
      drawn,
    );
  if (!names.length) {
    section.replaceChildren(
      html("p", { class: "q" }, "Tick runs or sweeps to see their curves in one chart."),
    );
    return;
  }
  try {
    const answer = await (await fetch(url("report", names))).text();
    const page = new DOMParser().parseFromString(answer, "text/html");
    const data = JSON.parse(page.getElementById("data").textContent);
    if (names.join() !== [...state.chosen].join()) return; // others were chosen since
    show();
    const named = (name) => data.curves?.filter((spec) => spec.name === name) ?? [];
    const curves = [...named("val.loss"), ...named("loss")].slice(0, 1);
    const one = { ...data, curves, groups: [] }; // without panels by group
    for (const line of curves.flatMap(({ lines }) => lines)) // a run is known by its path
      line.label = runs.find(({ name }) => line.label.endsWith(`/${name}`))?.name ?? line.label;
    if (curves.length) sweepDrawings.curves(one, drawn, state.curves);
    else drawn.append(data.problem ?? "They have no loss yet.");
  } catch {
    show();
    drawn.append("The server does not answer.");
  }
}

// --- The page.

const firstEntries = 100;

function drawList(data, room, state) {
  state.chosen ??= new Set(state.names);
  state.open ??= new Set();
  state.curves ??= {};
  state.most ??= firstEntries;
  state.section ??= html("section", { id: "chosen", "aria-label": "Curves" });
  state.list ??= html("ul", { id: "entries" });
  state.said ??= html("output", { class: "q" });
  state.filter ??= html("input", {
    type: "search",
    id: "filter",
    placeholder: "Filter by name, key or state",
    "aria-label": "Filter",
    value: state.words ?? "",
    oninput: () => state.fill(),
  });
  state.sort ??= html(
    "select",
    { id: "sort", "aria-label": "Sort", onchange: () => state.fill() },
    ...Object.keys(keysOfSort).map((key) =>
      html("option", { value: key, selected: key === state.order }, `sorted by ${key}`),
    ),
  );
  const names = new Set([...data.runs, ...data.sweeps].map(({ name }) => name));
  for (const name of state.chosen) if (!names.has(name)) state.chosen.delete(name);
  state.fill = () => {
    [state.words, state.order] = [state.filter.value, state.sort.value];
    const entries = entriesOf(data, state.filter.value, state.sort.value);
    const more = entries.length - state.most;
    const count = entries.reduce((sum, { runs }) => sum + runs.length, 0);
    state.said.textContent = count < data.runs.length ? `${count} match` : "";
    replace(
      state.list,
      ...entries
        .slice(0, state.most)
        .map((entry) => (entry.sweep ? sweepEntry(entry, state) : listedRun(entry.runs[0], state))),
      more > 0
        ? html(
            "li",
            {},
            makeButton(
              {
                onclick: () => {
                  state.most = Infinity;
                  state.fill();
                },
              },
              `${whole(more)} more`,
            ),
          )
        : "",
    );
  };
  state.draw = () => drawChosen(state.section, state, data.runs);
  room.replaceChildren(
    html("div", { class: "controls" }, state.filter, state.sort, state.said),
    html("div", { class: "two" }, state.list, state.section),
  );
  state.fill();
  if (state.chosen.size || !state.section.firstChild) state.draw();
}

export const listPage = ({ runs }) => ({
  main: [runs.length ? place("list") : html("p", {}, "There is no run here yet.")],
});
export const listDrawings = { list: drawList };
