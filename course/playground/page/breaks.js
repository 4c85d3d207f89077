// Mistakes to make on purpose in model B, and what to look for: a key of the config, or what no key
// can say, a mistake of course/playground/mistakes.h.
export const breaks = [
  {
    name: "No positions",
    key: "model.positional.kind",
    value: '"none"',
    look:
      "Attention treats its input as a set, so B cannot tell the first token from the last. Only " +
      "the causal mask still says something about the order: sort reaches about 70 %, recall " +
      "about half, and reverse stays near 5 %. The task set has no positions anyway.",
  },
  {
    name: "No causal mask",
    mistake: "no_causal_mask",
    look:
      "B sees the tokens that it has to predict. On sort its loss falls sooner than A's and its " +
      "exact match reaches 100 %, because both are measured with the correct target as input. " +
      "But the predictions are generated token by token, and most of them are wrong. The " +
      "attention shows why: it puts weight to the right of the diagonal, on tokens that come " +
      "later. Recall gains nothing: its only target is not among the tokens that the model reads.",
  },
  {
    name: "No scale",
    key: "model.attention.scale",
    value: '"none"',
    look:
      "The scores are larger by the square root of a head's width, so the softmax saturates " +
      "early and rows become single strong cells. Sort learns later, recall stays near a third, " +
      "and reverse is not affected.",
  },
  {
    name: "Softmax on the wrong axis",
    mistake: "wrong_axis",
    look:
      "Each column of the weights adds up to 1 instead of each row. A query may get a lot of " +
      "weight or almost none, and the amount depends on the other queries, including later ones. " +
      "On sort and reverse the exact match comes close to 100 %, because it is measured with the " +
      "correct target as input, where all queries are present at once. The predictions are " +
      "wrong: they are generated token by token, and a single query gets all the weight of every " +
      "key. Recall reads its whole input at once, so it learns, but later.",
  },
  {
    name: "No normaliser",
    key: "model.attention.normaliser",
    value: '"none"',
    look:
      "The weights are the raw scores. They have any sign and any size, and no longer add up to " +
      "1. Sort still learns, reverse takes longer, and recall stays near a third.",
  },
  {
    name: "Hard attention",
    key: "model.attention.normaliser",
    value: '"hardmax"',
    look:
      "All weight is on the largest score. That choice has no gradient, so queries and keys " +
      "never learn where to point, and the loss stays high.",
  },
  {
    name: "Temperature 100",
    key: "model.attention.temperature",
    value: "100.0",
    look:
      "The scores are divided by 100. Every row therefore starts as the mean over all positions, " +
      "and training must first make the scores larger. Watch how late the rows become uneven.",
  },
  {
    name: "Learning rate 0.1",
    key: "optim.lr",
    value: "0.1",
    look: "Updates overshoot: the loss jumps, and stays far above A's.",
  },
  {
    name: "Huge initial weights",
    key: "model.init.gain",
    value: "8.0",
    look:
      "The first scores are so large that each row attends to a single random position from step " +
      "0 on, and hardly any gradient passes through the softmax.",
  },
  {
    name: "One layer",
    key: "model.layers",
    value: "1",
    look:
      "Recall needs two layers: the first gives each value its key, and the second finds the " +
      "value. With one layer, B stays near guessing among the values that it sees. Sort needs " +
      "only one.",
  },
  {
    name: "Two positions only",
    key: "model.attention.window",
    value: "2",
    look:
      "A position sees only itself and its neighbour. Anything farther away must be passed on " +
      "from layer to layer, and two layers do not reach far: sort and recall stay low.",
  },
  {
    name: "Plain SGD",
    key: "optim.kind",
    value: '"sgd"',
    look:
      "SGD does not divide by the size of the gradient, as Adam does. At the same learning rate " +
      "B learns more slowly.",
  },
];
