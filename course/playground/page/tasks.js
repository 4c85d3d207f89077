// What the page says about each task: an example for the list, its question, and its knobs.
const common = {
  layers: ["model.layers", "Layers"],
  heads: ["model.heads", "Heads"],
  width: ["model.dim", "Width"],
  positions: ["model.positional.kind", "Positions"],
  normaliser: ["model.attention.normaliser", "Normaliser"],
  rate: ["optim.lr", "Learning rate"],
  batch: ["train.batch_size", "Batch size"],
  seed: ["seed", "Seed"],
};
const { layers, heads, width, positions, normaliser, rate, batch, seed } = common;
const knobsWith = (...own) => [
  layers,
  heads,
  width,
  positions,
  normaliser,
  ...own,
  rate,
  batch,
  seed,
];

const strong = (tokens) => ({ strong: tokens.join(" ") });
const isOrdinary = (token) => !/^<.*>$/.test(token);

// What was written before the chosen position, as in "after 1 4".
function afterOf({ inputs, position, from }) {
  const written = inputs.slice(from, position + 1).filter(isOrdinary);
  return written.length
    ? [" Which token follows ", strong(written), "?"]
    : [" Which one is first?"];
}

const pairQuestion = (words) => (view) => [
  "Read ",
  strong(view.source),
  words,
  ...afterOf({ ...view, from: 0 }),
];

// ask({inputs, source, position, prompt}) → texts, and {strong} for what stands out. `prompt`: the
// number of tokens that are read before the first that is predicted.
export const taskTexts = {
  sort: {
    example: "2 0 1 → 0 1 2",
    ask: (view) => [
      "Sort ",
      strong(view.inputs.slice(0, view.prompt)),
      ".",
      ...afterOf({ ...view, from: view.prompt }),
    ],
    knobs: knobsWith(["data.lengths", "Digits"], ["data.symbols", "Distinct digits"]),
  },
  reverse: {
    example: "3 1 2 → 2 1 3",
    ask: pairQuestion(" and write it backwards."),
    knobs: knobsWith(["data.lengths", "Digits"], ["data.symbols", "Distinct digits"]),
  },
  copy: {
    example: "3 1 2 → 3 1 2",
    ask: pairQuestion(" and write it again."),
    knobs: knobsWith(["data.lengths", "Digits"], ["data.symbols", "Distinct digits"]),
  },
  addition: {
    example: "85 + 50 → 531",
    ask: (view) => [
      "Add the two numbers of ",
      strong(view.inputs.slice(0, view.prompt)),
      ", last digit first.",
      ...afterOf({ ...view, from: view.prompt }),
    ],
    knobs: knobsWith(["data.digits", "Digits"]),
  },
  recall: {
    example: "k2 v0 … k2 → v0",
    ask: ({ inputs }) => [
      "Each key k came with a value v. Which value came with ",
      strong(inputs.slice(-1)),
      "?",
    ],
    knobs: knobsWith(["data.lengths", "Pairs"], ["data.symbols", "Distinct keys"]),
  },
  subject: {
    example: "which noun acts",
    ask: () => ["The verb v says which case c its subject has. Which noun n is the subject?"],
    knobs: knobsWith(["data.lengths", "Words"], ["data.nouns", "Nouns"]),
  },
  set: {
    example: "{4 1 4 9} → 3",
    ask: ({ inputs }) => ["How many distinct numbers are in ", strong(inputs), "?"],
    knobs: knobsWith(["data.lengths", "Size"], ["data.symbols", "Distinct values"]),
  },
  shapes: {
    example: "image → T",
    ask: () => ["Which figure is this? Every pixel is a position."],
    knobs: knobsWith(["data.size", "Image size"], ["data.noise", "Noise"]),
  },
  video: {
    example: "frames → where to",
    ask: () => ["Which way does the figure move? Every pixel of every frame is a position."],
    knobs: knobsWith(["data.size", "Image size"], ["data.frames", "Frames"]),
  },
  graph: {
    example: "nodes → colour",
    ask: () => ["What colour is the marked node two steps from node 0?"],
    knobs: knobsWith(["data.lengths", "Nodes"], ["data.symbols", "Colours"]),
  },
};
export const ownTask = { ask: () => ["A config of your own."], knobs: knobsWith() };

// More keys that a second model may have otherwise.
export const moreKeys = [
  ["model.attention.scale", "Scale of scores"],
  ["model.attention.temperature", "Temperature"],
  ["model.attention.similarity", "Similarity"],
  ["model.attention.window", "Window"],
  ["model.block.mixing", "Mixing"],
  ["model.activation", "Activation"],
  ["model.block.feed_forward", "Feed-forward network"],
  ["model.block.residual", "Residual"],
  ["model.norm", "Norm"],
  ["model.norm_first", "Norm first"],
  ["model.dropout", "Dropout"],
  ["optim.kind", "Optimizer"],
  ["optim.weight_decay", "Weight decay"],
  ["schedule.kind", "Schedule"],
  ["schedule.warmup_steps", "Warmup steps"],
];
