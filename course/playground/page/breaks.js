// Mistakes to make on purpose in model B, and what to look for: a key of the config, or what no key
// can say, a mistake of course/playground/mistakes.h.
export const breaks = [
  {
    name: "No positions",
    key: "model.positional.kind",
    value: '"none"',
    look:
      "Attention treats what it sees as a set: B cannot tell the first token from the last. " +
      "Only the causal mask tells it something of the order, so that sort gets to about 70 " +
      "% and recall to about half; reverse stays near 5 %. Set has no positions anyway.",
  },
  {
    name: "No causal mask",
    mistake: "no_causal_mask",
    look:
      "B sees the tokens that it is to predict. On sort its loss falls sooner than A's and " +
      "its exact match reaches 100 %, for both are measured with the right target as input. " +
      "But look at the predictions, which are generated token by token: most are wrong. The " +
      "attention shows why: weight lies on the right of the diagonal, on what is still to " +
      "come. Recall, whose one target is not among the tokens that it reads, gains nothing.",
  },
  {
    name: "Softmax on the wrong axis",
    mistake: "wrong_axis",
    look:
      "Each column of the weights adds up to 1, not each row: a query may get a lot of " +
      "weight or next to none, and how much depends on the other queries, later ones too. " +
      "The exact match of sort and reverse comes close to 100 %, as it is measured with the " +
      "right target as input, where all queries are there at once. The predictions are " +
      "generated token by token, by one query that gets all the weight of every key: they " +
      "are wrong. Recall reads all of its input at once, and learns, but later.",
  },
  {
    name: "No scale",
    key: "model.attention.scale",
    value: '"none"',
    look:
      "Scores are larger by the root of the width of a head, so that the softmax saturates " +
      "early: rows turn into single strong cells. Sort learns later, and recall stays near " +
      "a third; reverse does not mind.",
  },
  {
    name: "No normaliser",
    key: "model.attention.normaliser",
    value: '"none"',
    look:
      "Weights are the raw scores, with either sign and any size: they no longer add up to " +
      "one. Sort can be learned all the same; reverse takes longer, and recall stays near a " +
      "third.",
  },
  {
    name: "Hard attention",
    key: "model.attention.normaliser",
    value: '"hardmax"',
    look:
      "All weight is on the largest score. The choice has no gradient, so that queries and " +
      "keys never learn to point: the loss stays high.",
  },
  {
    name: "Temperature 100",
    key: "model.attention.temperature",
    value: "100.0",
    look:
      "Scores are divided by 100: every row begins as the mean over all positions, and " +
      "training must first grow the scores. Watch how late the rows become uneven.",
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
      "The first scores are so large that each row attends to one position at random, from " +
      "step 0 on, and hardly any gradient passes the softmax.",
  },
  {
    name: "One layer",
    key: "model.layers",
    value: "1",
    look:
      "Recall needs two layers: one gives each value its key, the next finds the value. " +
      "With one layer B stays near guessing among the values it sees. Sort needs one only.",
  },
  {
    name: "Two positions only",
    key: "model.attention.window",
    value: "2",
    look:
      "A position sees itself and its neighbour. What stands farther away must be handed on " +
      "from layer to layer, and two layers do not reach far: sort and recall stay low.",
  },
  {
    name: "Plain SGD",
    key: "optim.kind",
    value: '"sgd"',
    look:
      "At the same rate, without Adam's division by the size of the gradient, B learns more " +
      "slowly.",
  },
];
