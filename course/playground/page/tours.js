// Guided tours: a mistake of the museum, with a question before it, in five steps. What the models
// did is measured; the tour says only what to look at, and why.
import { html } from "../../../lab/page/dom.js";
import { percent, significant } from "../../../lab/page/text.js";

const newest = (side) => side.history.at(-1);
const exact = (side) => percent(newest(side).scores.exact_match);
const loss = (side) => significant(newest(side).scores.loss, 3);

// The first step at which a model was right in half of the examples.
const halfAt = (side) => side.history.find(({ scores }) => scores.exact_match >= 0.5)?.step;
const reached = (side) => {
  const step = halfAt(side);
  return step === undefined ? "has not reached 50 %" : `reached 50 % at step ${step}`;
};

const measuredPair = ([a, b]) =>
  `At step ${a.step} exact match is ${exact(a)} for A and ${exact(b)} for B, ` +
  `the loss ${loss(a)} and ${loss(b)}. A ${reached(a)}, B ${reached(b)}.`;

// answers: [text, right]; `look`: where on this page it shows; exhibit: of `heed course museum`.
export const tours = [
  {
    name: "Scores without a scale",
    task: "recall",
    other: { key: "model.attention.scale", value: '"none"', name: "No scale" },
    question: "B does not divide its scores by √K, the root of a head’s width. What happens?",
    answers: [
      ["Nothing: the softmax does not depend on the size of its input.", false],
      ["It learns later or worse: its rows become single strong cells too early.", true],
      ["The loss becomes infinite.", false],
    ],
    look: "Compare the maps A and B of one head: how many cells of a row have colour?",
    reason:
      "A score is a sum of K products, so that its size grows with √K. A softmax of large scores " +
      "gives nearly all weight to one key, and then hardly any gradient tells the others apart.",
    exhibit: "no-scale",
  },
  {
    name: "Softmax on the wrong axis",
    task: "sort",
    other: { mistake: "wrong_axis", name: "Softmax on the wrong axis" },
    question: "B’s softmax runs over the queries: columns add up to 1, not rows. What shows it?",
    answers: [
      ["The loss does not fall.", false],
      ["Exact match may rise; what it generates token by token is wrong.", true],
      ["Training stops with an error.", false],
    ],
    look: "Compare exact match with the predictions of B, which are generated token by token.",
    reason:
      "Exact match is measured with the right target as input, where all queries are there at " +
      "once. In generation there is one query at a time, and it gets all the weight of every key.",
    exhibit: "softmax-wrong-axis",
  },
  {
    name: "No causal mask",
    task: "sort",
    other: { mistake: "no_causal_mask", name: "No causal mask" },
    question: "B sees the tokens that it is to predict. How does its loss look?",
    answers: [
      ["Worse: later tokens disturb it.", false],
      ["Better: it reads the answer, and has learned nothing that it can use.", true],
      ["The same: the weights of later tokens become 0 by themselves.", false],
    ],
    look: "Look right of the diagonal in B’s maps, and at B’s predictions.",
    reason:
      "In training the target is the input, moved by one. Without the mask a position reads the " +
      "next token instead of predicting it. When it generates, there is no next token to read.",
    exhibit: "mask-after-softmax",
  },
];

const stepsOfTour = 5;

export function tourPanel(view) {
  const { tour, tourOn, sides } = view;
  const { of, answer } = tour;
  const button = (words, action) =>
    html("button", { type: "button", "data-key": "tour next", onclick: action }, words);
  const nodes = [
    html(
      "header",
      {},
      html("h2", {}, of.name),
      html("span", { class: "s q" }, `${tour.step + 1} of ${stepsOfTour}`),
      html(
        "button",
        {
          type: "button",
          class: "close",
          "aria-label": "Close",
          "data-key": "close",
          onclick: tourOn.close,
        },
        "✕",
      ),
    ),
    html("p", { class: "lead" }, of.question),
  ];
  const choices = of.answers.map(([text], i) =>
    html(
      "button",
      {
        type: "button",
        class: "choice",
        role: "radio",
        "aria-checked": `${i === answer}`,
        "data-key": `answer ${i}`,
        onclick: () => tourOn.answer(i),
      },
      text,
    ),
  );
  nodes.push(html("div", { role: "radiogroup", "aria-label": "What do you expect?" }, ...choices));
  if (tour.step === 0) {
    if (answer !== null) nodes.push(button("Train both, and see", tourOn.train));
    return { nodes, colour: "var(--link)" };
  }
  const trained = sides.length > 1 && sides[0].step > 0;
  nodes.push(
    html("h3", {}, "Measured"),
    html("p", { "aria-live": "polite" }, trained ? measuredPair(sides) : "Both models start."),
    html("p", { class: "q" }, of.look),
  );
  if (tour.step >= 2) {
    const right = of.answers[answer][1];
    nodes.push(
      html(
        "p",
        { class: right ? "ok" : "no" },
        right ? "✓ You expected it." : "✗ You expected otherwise.",
      ),
    );
  }
  if (tour.step >= 3) nodes.push(html("h3", {}, "Why"), html("p", {}, of.reason));
  if (tour.step >= 4)
    nodes.push(
      html("h3", {}, "In the museum"),
      html("p", {}, html("code", {}, `./heed course museum ${of.exhibit}`)),
      html(
        "p",
        { class: "q" },
        "It builds heed with such a mistake, trains both, and shows how to find it.",
      ),
    );
  else
    nodes.push(
      button(
        ["", "What does it say?", "Why?", "Where is it in the museum?"][tour.step],
        tourOn.next,
      ),
    );
  return { nodes, colour: "var(--link)" };
}
