// Guided tours: a mistake of the museum in five steps. Its question, the wrong model beside the
// right one, what was measured, the reason, the museum. Nothing of what the models did is written
// here: `outcomeOf` reads it off the measurements, and may say that a run does not show it.
import { html, makeButton } from "../../../lab/page/dom.js";
import { smallMap } from "../../../lab/page/heat.js";
import { percent, significant, whole } from "../../../lab/page/text.js";
import { breaks } from "./breaks.js";
import { headMap, weightsOfQuery } from "./model.js";
import { header } from "./panel.js";

const brokenBy = (name) => breaks.find((each) => each.name === name);
const rowsOf = (map, head) =>
  Array.from({ length: map.rows }, (_, q) => weightsOfQuery(map, head, q).map(Math.abs));
const sumOf = (values) => values.reduce((a, b) => a + b, 0);
const meanOf = (values) => sumOf(values) / Math.max(1, values.length);

// What a map shows of a mistake, as text: of one head, in the example that is drawn.
export const measures = {
  largest: (map, head) =>
    meanOf(
      rowsOf(map, head)
        .slice(1)
        .map((row) => Math.max(...row)),
    ).toFixed(2), // row 0: one key
  sums: (map, head) => {
    const sums = rowsOf(map, head).map(sumOf);
    return `${Math.min(...sums).toFixed(2)} … ${Math.max(...sums).toFixed(2)}`;
  },
  ahead: (map, head) =>
    meanOf(rowsOf(map, head).map((row, q) => sumOf(row.slice(q + 1)))).toFixed(2),
};

const firstAt = (history, level) => history.find(({ scores }) => scores.exact_match >= level)?.step;

// What is known of one model: its newest scores, when it passed levels of the exact match, and how
// many of the examples that it generated are right.
export function recordOf({ step, history }, predictions) {
  const right = predictions.filter(({ predicted, expected }) => predicted === expected).length;
  const { loss, exact_match: exact } = history.at(-1).scores;
  const [half, most] = [0.5, 0.95].map((level) => firstAt(history, level));
  return { step, loss, exact, half, most, right, generated: predictions.length };
}

const generatesWell = ({ right, generated }) => right > 0.5 * generated;

// answers: [text, whether it is what happens]; happened(a, b) → whether these records show it, null
// while it is too early to say; `measure` of the maps, and `look`: where it shows; exhibit: of
// `heed course museum`, and what it has to do with the mistake.
export const tours = [
  {
    name: "Scores without a scale",
    task: "recall",
    other: brokenBy("No scale"),
    question:
      "B does not divide its scores by √K, the square root of a head’s width. What happens?",
    answers: [
      ["Nothing: a softmax does not depend on the size of its input.", false],
      ["It learns later, or less.", true],
      ["Its loss becomes infinite.", false],
    ],
    happened: (a, b) =>
      a.half === undefined ? null : b.half === undefined || b.half > 1.2 * a.half,
    measure: ["largest weight of a row, mean", measures.largest],
    look: "How many cells of a row are coloured?",
    reason:
      "A score adds up K products, so its size grows with √K. A softmax of large scores gives " +
      "nearly all weight to one key, chosen by chance before anything was learned. Hardly any " +
      "gradient then reaches the other keys.",
    exhibit: ["no-scale", "It makes this mistake in heed’s C++, and trains with six seeds."],
  },
  {
    name: "Softmax on the wrong axis",
    task: "sort",
    other: brokenBy("Softmax on the wrong axis"),
    question: "In B the columns of the weights add up to 1, not the rows. Where does it show?",
    answers: [
      ["In the loss, which does not fall.", false],
      ["In what it generates. Loss and exact match look right.", true],
      ["In an error that stops training.", false],
    ],
    happened: (a, b) =>
      a.most === undefined || b.half === undefined ? null : generatesWell(a) && !generatesWell(b),
    measure: ["sum of a row", measures.sums],
    look: "Add up the cells of one row.",
    reason:
      "Each column is divided by a sum over all queries, including later ones. Exact match is " +
      "measured with the correct target as input, where all queries are present at once. " +
      "Generation has one query at a time, and every key gives it all of its weight.",
    exhibit: [
      "softmax-wrong-axis",
      "It makes this mistake in heed’s C++. You find it by its row sums.",
    ],
  },
  {
    name: "No causal mask",
    task: "sort",
    other: brokenBy("No causal mask"),
    question: "B sees the tokens that it has to predict. How do its scores look?",
    answers: [
      ["Worse: later tokens confuse it.", false],
      ["Better, but what it generates is wrong.", true],
      ["The same: the weights of later tokens become 0 by themselves.", false],
    ],
    // 50 %, as near 95 % chance may decide which model is first
    happened: (a, b) =>
      b.most === undefined ? null : (a.half === undefined || b.half <= a.half) && !generatesWell(b),
    measure: ["weight on later tokens, mean", measures.ahead],
    look: "Is there colour to the right of the diagonal?",
    reason:
      "In training the target is the input, shifted by one. Without the mask a position copies " +
      "the next token instead of predicting it. When the model generates, there is no next token.",
    exhibit: ["mask-after-softmax", "It makes a mistake of the same kind, which is harder to see."],
  },
];

// "passed 50 % at step 219 and 95 % at step 297", of the exact match.
const passedText = ({ step, half, most }) => {
  if (half === undefined) return `has not passed 50 % by step ${whole(step)}`;
  const second = most === undefined ? "" : ` and 95 % at step ${whole(most)}`;
  return `passed 50 % at step ${whole(half)}${second}`;
};

// What the measurements say of an answer: [class, text].
export function outcomeOf(of, answer, a, b) {
  const shown = of.happened(a, b);
  if (shown === null) return ["q", "Too early to say: let both models train longer."];
  if (!shown) return ["q", "This run does not show what the mistake usually does."];
  const [expected, isRight] = of.answers[answer];
  return isRight ? ["ok", "✓ You expected it."] : ["no", `✗ You expected: ${expected}`];
}

// The chapter on the museum: in the site, or in the repository in which the page was built.
const chapter = () =>
  location.pathname.endsWith("/playground.html")
    ? "course/16_museum.html"
    : "../../course/16_museum.md";

const headOfMaps = (trace) => trace.maps.findLast(({ name }) => name.endsWith(".attention"));

function pairOfMaps({ trace, other }) {
  const maps = [trace, other].map((each) => each && headOfMaps(each));
  const names = ["A, right", "B, wrong"];
  return html(
    "div",
    { class: "versus" },
    ...maps.map((map, i) =>
      map
        ? html(
            "figure",
            {},
            smallMap(headMap(map, 0), 118, "var(--h1)", false, `Weights of ${names[i]}`),
            html("figcaption", { class: "s" }, names[i]),
          )
        : null,
    ),
  );
}

function measuredTable({ tour, trace, other }, [a, b]) {
  const [name, measure] = tour.of.measure;
  const generated = ({ right, generated: all }) => `${right} of ${all}`;
  const rows = [
    ["exact match", percent(a.exact), percent(b.exact)],
    ["loss", significant(a.loss, 2), significant(b.loss, 2)],
    ["generated right", generated(a), generated(b)],
    [name, ...[trace, other].map((each) => (each ? measure(headOfMaps(each), 0) : ""))],
  ];
  const cells = (tag, texts) => html("tr", {}, ...texts.map((text) => html(tag, {}, text)));
  return html(
    "table",
    {},
    cells("th", [`step ${whole(a.step)}`, "A", "B"]),
    ...rows.map((row) => cells("td", row)),
  );
}

// What each step shows below the question.
const steps = [
  ({ tour, tourOn }) => [
    html(
      "div",
      { role: "radiogroup", "aria-label": "What do you expect?" },
      ...tour.of.answers.map(([text], i) =>
        makeButton(
          {
            class: "choice",
            role: "radio",
            "aria-checked": `${i === tour.answer}`,
            "data-key": `answer ${i}`,
            onclick: () => tourOn.answer(i),
            onkeydown: (event) => {
              const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
              if (!move) return;
              event.preventDefault();
              const { length } = tour.of.answers;
              tourOn.answer((i + move + length) % length);
            },
          },
          text,
        ),
      ),
    ),
    html("p", { class: "s q" }, "Choose what you expect. Then both models train from step 0."),
  ],
  (view, records) => [
    pairOfMaps(view),
    html(
      "p",
      { class: "s q" },
      `Head 1 of the last layer. ${view.tour.of.look} In the drawing, A’s maps are next to B’s.`,
    ),
    measuredTable(view, records),
  ],
  ({ tour }, [a, b]) => {
    const [kind, words] = outcomeOf(tour.of, tour.answer, a, b);
    return [
      html("p", {}, html("b", {}, "A "), `${passedText(a)}.`),
      html("p", {}, html("b", {}, "B "), `${passedText(b)}.`),
      html(
        "p",
        {},
        `When they generate token by token, A gets ${a.right} of ${a.generated} examples right, ` +
          `and B gets ${b.right}.`,
      ),
      html("p", { class: kind, "aria-live": "polite" }, words),
    ];
  },
  ({ tour }) => [html("p", { class: "lead" }, tour.of.reason), html("p", {}, tour.of.look)],
  ({ tour, tourOn }) => [
    html("p", {}, html("code", {}, `./heed course museum ${tour.of.exhibit[0]}`)),
    html("p", {}, tour.of.exhibit[1]),
    html(
      "p",
      {},
      html(
        "a",
        { href: chapter(), target: "_blank", rel: "noopener", "data-key": "museum" },
        "The chapter on the museum",
      ),
      " has more of them.",
    ),
    html("h3", {}, "Other tours"),
    ...tours
      .filter((each) => each !== tour.of)
      .map((each) =>
        makeButton(
          {
            class: "choice",
            "data-key": `tour to ${each.name}`,
            onclick: () => tourOn.begin(each),
          },
          each.name,
        ),
      ),
  ],
];
export const tourSteps = steps.length;
const titles = ["What do you expect?", "Side by side", "What happened", "Why", "In the museum"];
const nextWords = ["Train both, and see", "What happened?", "Why?", "In the museum", "Done"];

export function tourPanel(view) {
  const { tour, tourOn, sides, predictions } = view;
  const { of, step, answer } = tour;
  const isTrained = sides.length > 1 && predictions.length > 1 && sides[1].history.length > 0;
  const records = isTrained ? sides.map((side, i) => recordOf(side, predictions[i])) : null;
  const button = (words, key, action, disabled = false) =>
    makeButton({ "data-key": key, onclick: action, disabled }, words);
  const needsModels = step === 1 || step === 2;
  const nodes = [
    header(of.name, view, html("span", { class: "s q" }, `${step + 1} of ${steps.length}`)),
    html("p", { class: "lead" }, of.question),
    html("h3", {}, titles[step]),
    ...(needsModels && !records
      ? [html("p", { class: "q" }, "Both models start.")]
      : steps[step](view, records)),
    html(
      "div",
      { class: "chips next" },
      step > 0 ? button("Back", "tour back", tourOn.back) : null,
      button(nextWords[step], "tour next", tourOn.next, answer === null),
    ),
  ];
  return { nodes, colour: "var(--link)" };
}
