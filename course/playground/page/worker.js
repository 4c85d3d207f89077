// Holds one model and trains it, away from the page. A message is {id, name, args}; the reply {id, result} or
// {id, error}. The module stands before this text.
"use strict";

let heed = null, session = 0, lossAt = 0, weightCount = 0;
const frames = new Map();  // the weights by step

const last = () => heed.UTF8ToString(heed._heed_error());
const parsed = (text) => {
  if (!text) throw new Error(last());
  return JSON.parse(heed.UTF8ToString(text));
};

function copyOut() {
  const at = heed._malloc(4 * weightCount);
  heed._heed_weights(session, at);
  const copy = heed.HEAPF32.slice(at / 4, at / 4 + weightCount);
  heed._free(at);
  return copy;
}

function copyIn(weights) {
  const at = heed._malloc(4 * weightCount);
  heed.HEAPF32.set(weights, at / 4);
  heed._heed_set_weights(session, at);
  heed._free(at);
}

// Calls f with the weights of a frame, and puts back the present ones.
function at(step, f) {
  const then = frames.get(step);
  if (!then) throw new Error(`there is no frame of step ${step}`);
  const now = copyOut();
  copyIn(then);
  try {
    return f();
  } finally {
    copyIn(now);
  }
}

const calls = {
  keys: () => parsed(heed._heed_keys()),
  // Makes a model. If that fails, the one before stays.
  make(toml, mistake) {
    const made = heed.ccall("heed_make", "number", ["string", "string"], [toml, mistake]);
    if (!made) throw new Error(last());
    heed._heed_free(session);
    session = made;
    frames.clear();
    weightCount = heed._heed_weight_count(session);
    return parsed(heed._heed_summary(session));
  },
  // Trains for so many steps; returns their losses.
  train(count) {
    const losses = [];
    for (let i = 0; i < count; ++i) {
      if (heed._heed_step(session, lossAt) < 0) throw new Error(last());
      losses.push(heed.HEAPF64[lossAt / 8]);
    }
    return losses;
  },
  // Keeps the weights of this step, and returns the scores.
  frame(step) {
    frames.set(step, copyOut());
    return parsed(heed._heed_scores(session));
  },
  drop(steps) { steps.forEach((step) => frames.delete(step)); },
  attention: (step, text) => at(step, () =>
    parsed(heed.ccall("heed_attention", "number", ["number", "string"], [session, text]))),
  positions: (step) => at(step, () => parsed(heed._heed_positions(session))),
  predictions: (step, count) => at(step, () => parsed(heed._heed_predictions(session, count))),
  weights: (step, from, count) => frames.get(step).slice(from, from + count),
};

self.fetch = undefined;  // the loader of emscripten would fetch its own data: URL, which counts as a request
let queue = heedModule().then((module) => {
  heed = module;
  lossAt = heed._malloc(8);
});
onmessage = ({ data: { id, name, args } }) => {
  queue = queue.then(() => {
    try {
      postMessage({ id, result: calls[name](...args) });
    } catch (error) {
      postMessage({ id, error: error.message || String(error) });
    }
  });
};
