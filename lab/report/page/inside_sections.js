// The page of heed inspect: its facts (lab/report/inside_page.h) in words.
import { html } from "../../page/dom.js";
import { whole } from "../../page/text.js";
import { chooseExample, exampleChooser } from "./inside.js";
import { note, place, section } from "./parts.js";
import { counted, splitWords } from "./words.js";

// "decoder-only · 2 layers × 4 heads · width 64 · 104 192 parameters"
function factsOf({ kind, layers, decoder_layers: others, heads, width, parameters }) {
  const isPair = kind === "encoder-decoder";
  const stack = isPair ? `${layers} + ${others} layers` : counted(layers, "layer");
  const shape = `${stack} × ${counted(heads, "head")}`;
  return [kind, shape, `width ${width}`, `${whole(parameters)} parameters`].join(" · ");
}

const replacements = {
  mean: "its mean over the examples",
  zero: "0",
  resample: "its output for another example",
};

export function insidePage(data) {
  chooseExample(data, 0);
  const { checkpoints, first, model, examples, split, notes, tokens = [] } = data;
  const { heads, lens, parts } = checkpoints[first];
  const saysAfter = "What the model would say after each layer";
  const drawn = [
    ["Heads", heads, "heads", "Heads", ""],
    ["Lens", lens, "lens", saysAfter, "logit lens, at the last target"],
    ["Attribution", parts, "parts", "Which parts make the difference", "direct logit attribution"],
    [
      "Embeddings",
      tokens,
      "embeddings",
      "Embeddings",
      `${tokens.length} tokens, principal components`,
    ],
  ].map(([name, known, ...about]) => [
    name,
    section(...about, known.length ? place(about[0]) : null),
  ]);
  const sections = [
    ...drawn,
    [
      "Reading",
      section(
        "reading",
        "How to read this page",
        "",
        html(
          "p",
          {},
          checkpoints.length > 1
            ? "The slider moves everything: maps, scores, lens and attribution are those of one " +
                "step."
            : `The page shows step ${whole(checkpoints[0].step)}, because the run has the ` +
                "weights of no other. train.snapshots (20, and 0 in a sweep) keeps those of " +
                "earlier steps; the page of such a run has a slider.",
          ` Maps, lens and attribution show one example of the ${splitWords(split)} split; ` +
            `scores and ablation read ${whole(examples)} of its examples. ` +
            "The bar below a head shows how the loss changes when " +
            `${replacements[data.with]} replaces its output, with a 95 % interval, paired by ` +
            "example.",
        ),
        html(
          "p",
          {},
          "A score says where a head looks, not what it does with it. An ablation says that the " +
            "model, as it stands, needs a head; another head may take over if it is trained " +
            "without. If two heads do the same work, the loss changes little without one of them.",
        ),
        ...notes.map(note),
      ),
    ],
  ].filter(([, made]) => made);
  const head = html("section", { id: "head", "aria-label": "The chosen head" }, place("head"));
  const made = sections.map(([, each]) => each);
  if (heads.length) made.splice(1, 0, head);
  return {
    heading: [html("span", { class: "q s" }, factsOf(model)), exampleChooser(data)].filter(Boolean),
    links: sections.map(([name, each]) => [each.id, name]),
    main: [html("div", { id: "steps" }, place("steps")), html("div", { id: "inside" }, ...made)],
  };
}
