// The curves, the circles of events on them, and the slider that goes back.
import { dotAt, html, px, svg, textAt } from "../../../lab/page/dom.js";
import { chart, drawCursor, legend } from "../../../lab/page/chart.js";
import { percent } from "../../../lab/page/text.js";
import { textOfLoss } from "./model.js";

// The means of at most 300 groups of consecutive losses.
export function groupedLosses(losses) {
  const size = Math.ceil(losses.length / 300) || 1;
  const x = [];
  const y = [];
  for (let i = 0; i < losses.length; i += size) {
    const group = losses.slice(i, i + size);
    x.push(i + group.length);
    y.push(group.reduce((a, b) => a + b, 0) / group.length);
  }
  return { x, y };
}

// The end of the axis of steps: the next 200 after the newest step, so that it follows learning.
export const endOfSteps = (step) => Math.max(200, Math.ceil(step / 200) * 200);
// Until when the model learned, with as much again to see that it has: Infinity if it has not.
export function endOfLearning(history) {
  const solved = history.find(({ scores }) => scores.exact_match >= 0.95);
  return solved ? Math.max(100, Math.ceil((1.5 * solved.step) / 50) * 50) : Infinity;
}

const roomForNumber = 58; // beside the end of a curve

const lineOf = (history) => ({
  x: history.map(({ step }) => step),
  y: history.map(({ scores }) => scores.loss),
});
const valueAt = (history, step, score) =>
  history.findLast((each) => each.step <= step)?.scores[score] ?? history[0]?.scores[score];

// A number beside a step: on its right, or where there is no room on its left.
function numberAt(made, step, y, text, attributes) {
  const { x, box } = made.scales;
  const isRight = x(step) + 8 + 7 * text.length <= box.width;
  const place = { x: px(x(step) + (isRight ? 8 : -8)), "text-anchor": isRight ? "start" : "end" };
  made.append(svg("text", { ...place, y: px(y), ...attributes }, text));
}

// The height of a number beside a value: within the axes.
function heightOf({ scales: { y, box } }, value) {
  return Math.min(box.height - box.bottom - 3, Math.max(box.top + 9, y(value) + 4));
}

function levelText(made, step, value, text, colour) {
  const { x, y } = made.scales;
  made.append(dotAt(px(x(step)), px(y(value)), 3.5, { fill: colour }));
  const attributes = { class: "halo level", style: `fill:${colour}` };
  numberAt(made, step, heightOf(made, value), text, attributes);
}

// The drop to what the model without a part gives. Its number does not cover the level.
function drop(made, step, from, to, text) {
  const { x, y } = made.scales;
  made.append(
    svg("path", { d: `M${px(x(step))} ${px(y(from))}V${px(y(to))}`, class: "dropped" }),
    dotAt(px(x(step)), px(y(to)), 4, { class: "dropped" }),
  );
  const [level, own] = [heightOf(made, from), heightOf(made, to)];
  const clear = y(to) < y(from) ? Math.min(own, level - 12) : Math.max(own, level + 12);
  numberAt(made, step, clear, text, { class: "halo no" });
}

function circlesOf(made, events, valueOf, choose) {
  const { x, y } = made.scales;
  let last = -100;
  events.forEach((event, i) => {
    const at = x(event.step);
    if (at - last < 12) return; // one above the other cannot be read
    last = at;
    const place = { cx: px(at), cy: px(y(valueOf(event.step))) };
    const words = `Event ${i + 1}, step ${event.step}: ${event.text} ${event.strong}`;
    made.append(
      svg(
        "g",
        {
          class: "event",
          role: "button",
          tabindex: 0,
          "aria-label": words,
          "data-key": `event ${i}`,
        },
        svg("title", {}, words),
        svg("circle", { ...place, r: 7.5 }),
        textAt(place.cx, Number(place.cy) + 4, `${i + 1}`, "middle"),
      ),
    );
    const drawn = made.lastChild;
    drawn.addEventListener("click", () => choose(event.step));
    drawn.addEventListener("keydown", ({ key }) => {
      if (key === "Enter" || key === " ") choose(event.step);
    });
  });
}

// All steps, as a strip below the curves that end earlier; these lie on its ground.
function wholeStrip(line, { step, width, end, whole }) {
  const made = chart({
    width,
    right: roomForNumber,
    height: 52,
    label: "Loss by step, all steps",
    x: { kind: "linear", ends: [0, whole] },
    y: { kind: "linear", ends: [0, Math.max(...line.y)], ticks: [] },
    lines: [line],
  });
  const { x, box } = made.scales;
  const [left, top] = [px(x(0)), box.top];
  const ground = { x: left, y: top, width: px(x(end) - x(0)), height: 52 - box.bottom - top };
  made.prepend(svg("rect", { ...ground, class: "ground" }));
  drawCursor(made, step);
  made.append(textAt(0, 46, "all"));
  return made;
}

// view: {sides: [{history, losses, label}], step: the one that is shown, last, events, guess,
// ablated: {loss, exact_match} or null, examples, width, heights: [two], end and whole: of the
// axis and of all steps, choose(step)}
export function drawCurves(view) {
  const { sides, events, guess, ablated, width, end, whole } = view;
  const step = Math.min(view.step, end); // a later one is at the edge, and in the strip
  const upTo = (history) => history.filter((each) => each.step <= end);
  const colours = ["var(--h1)", "var(--h2)"];
  const curve = (side, i, score) => ({
    label: i ? side.label : "validation",
    colour: colours[i],
    dash: i ? "5 3" : undefined,
    x: upTo(side.history).map((each) => each.step),
    y: upTo(side.history).map(({ scores }) => scores[score]),
  });
  const training = { ...groupedLosses(sides[0].losses.slice(0, end)), label: "training", width: 1 };
  training.colour = "var(--train)";
  const losses = sides.map((side, i) => curve(side, i, "loss"));
  const largest = Math.max(
    guess,
    ...training.y.slice(0, 20),
    ...losses.flatMap(({ y }) => y.slice(0, 3)),
  );
  const top = Math.max(
    0.5,
    Math.min(1.15 * largest, 2.2 * guess + 0.5),
    (ablated?.loss ?? 0) * 1.05,
  );
  const x = { kind: "linear", ends: [0, end] };
  const loss = chart({
    width,
    right: roomForNumber,
    height: view.heights[0],
    label: "Loss by step",
    x: { ...x, ticks: [] },
    y: { kind: "linear", ends: [0, top] },
    lines: training.x.length ? [training, ...losses] : losses,
    rules: guess > 0 ? [{ y: guess }] : [],
  });
  const exact = chart({
    width,
    right: roomForNumber,
    height: view.heights[1],
    label: "Exact match by step",
    x,
    y: { kind: "linear", ends: [0, 1], ticks: [0, 0.5, 1], fraction: true },
    lines: sides.map((side, i) => curve(side, i, "exact_match")),
  });
  exact.append(textAt(0, view.heights[1] - 6, "step"));
  const guessing = guess > 0 ? [{ label: "guessing", colour: "var(--quiet)", dash: "2 4" }] : [];
  const { history } = sides[0];
  const all = { ...losses[0], ...lineOf(history) };
  const now = {
    loss: valueAt(history, view.step, "loss"),
    exact: valueAt(history, view.step, "exact_match"),
  };
  drawCursor(loss, step);
  drawCursor(exact, step);
  levelText(loss, step, now.loss, textOfLoss(now.loss), "var(--h1)");
  levelText(exact, step, now.exact, percent(now.exact), "var(--h1)");
  circlesOf(loss, upTo(events), (at) => valueAt(history, at, "loss"), view.choose);
  if (ablated) {
    drop(loss, step, now.loss, ablated.loss, textOfLoss(ablated.loss));
    drop(exact, step, now.exact, ablated.exact_match, percent(ablated.exact_match));
  }
  return [
    html(
      "figure",
      {},
      html("figcaption", {}, html("b", {}, "Loss"), ...legend([training, ...losses, ...guessing])),
      loss,
    ),
    html(
      "figure",
      {},
      html(
        "figcaption",
        {},
        html("b", {}, "Exact match"),
        html("span", { class: "s q" }, `${view.examples} validation examples`),
      ),
      exact,
      ...(whole > end ? [wholeStrip(all, view)] : []),
    ),
  ];
}
