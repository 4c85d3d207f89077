// Holds one model and trains it, away from the page. A message is {id, name, args}; the reply is
// {id, result} or {id, error}. The module stands before this text.
/* global heedModule */

function serve(heed) {
  const lossAt = heed._malloc(8);
  const frames = new Map(); // the weights by step
  let session = 0;
  let weightCount = 0;

  const lastError = () => heed.UTF8ToString(heed._heed_error());
  const parsed = (text) => {
    if (!text) throw new Error(lastError());
    return JSON.parse(heed.UTF8ToString(text));
  };
  // Calls a function with the session and these arguments; returns what its JSON says.
  const called = (name, types, ...values) =>
    parsed(heed.ccall(name, "number", ["number", ...types], [session, ...values]));

  function copyOut() {
    const place = heed._malloc(4 * weightCount);
    heed._heed_weights(session, place);
    const copy = heed.HEAPF32.slice(place / 4, place / 4 + weightCount);
    heed._free(place);
    return copy;
  }

  function copyIn(weights) {
    const place = heed._malloc(4 * weightCount);
    heed.HEAPF32.set(weights, place / 4);
    heed._heed_set_weights(session, place);
    heed._free(place);
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

  return {
    keys: () => parsed(heed._heed_keys()),
    // Makes a model. If that fails, the one before stays.
    make(toml, mistake) {
      const made = heed.ccall("heed_make", "number", ["string", "string"], [toml, mistake]);
      if (!made) throw new Error(lastError());
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
        if (heed._heed_step(session, lossAt) < 0) throw new Error(lastError());
        losses.push(heed.HEAPF64[lossAt / 8]);
      }
      return losses;
    },
    // Keeps the weights of this step, and returns its scores and those of its heads.
    frame(step) {
      frames.set(step, copyOut());
      const scores = parsed(heed._heed_scores(session));
      const heads = heed._heed_heads(session); // a model without attention has none
      return { scores, heads: heads ? parsed(heads).heads : [] };
    },
    drop(steps) {
      steps.forEach((step) => frames.delete(step));
    },
    trace: (step, text, example, position, without) =>
      at(step, () =>
        called(
          "heed_trace",
          ["string", "number", "number", "string"],
          text,
          example,
          position,
          without,
        ),
      ),
    ablate: (step, part) => at(step, () => called("heed_ablate", ["string"], part)),
    positions: (step) => at(step, () => parsed(heed._heed_positions(session))),
    predictions: (step, count, without) =>
      at(step, () => called("heed_predictions", ["number", "string"], count, without)),
    weights: (step, from, count) => frames.get(step).slice(from, from + count),
  };
}

(function answerMessages() {
  self.fetch = undefined; // emscripten's loader would fetch its own data: URL, which is a request
  let queue = heedModule().then(serve);
  self.onmessage = ({ data: { id, name, args } }) => {
    queue = queue.then((calls) => {
      try {
        self.postMessage({ id, result: calls[name](...args) });
      } catch (error) {
        self.postMessage({ id, error: error.message || String(error) });
      }
      return calls;
    });
  };
})();
