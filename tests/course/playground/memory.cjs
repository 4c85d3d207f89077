// Makes a model again and again, and trains one for long: the memory of the module must not grow after the first of each.
//   node memory.cjs MODULE CONFIG RESETS STEPS
"use strict";
const { readFileSync } = require("fs");
const { resolve } = require("path");
const [moduleFile, config, resets, steps] = process.argv.slice(2);

require(resolve(moduleFile))().then((heed) => {
  const toml = readFileSync(config, "utf8"), at = heed._malloc(8);
  const make = () => heed.ccall("heed_make", "number", ["string", "string"], [toml, ""]);
  const megabytes = () => heed.HEAPU8.length / 2 ** 20;
  let said = performance.now();
  const report = (done, all, of) => {
    if (performance.now() < said + 10000) return;
    said = performance.now();
    console.log(`${done} of ${all} ${of}: ${megabytes()} MiB`);
  };
  const train = (session, count) => {
    for (let i = 0; i < count; ++i) {
      if (heed._heed_step(session, at) < 0) throw new Error(heed.UTF8ToString(heed._heed_error()));
      report(i + 1, count, "steps");
    }
    heed._heed_scores(session);
    heed.ccall("heed_predictions", "number", ["number", "number", "string"], [session, 8, ""]);
    heed.ccall("heed_trace", "number", ["number", "string", "number", "number", "string"], [session, "", 0, -1, ""]);
    heed._heed_heads(session);
    heed.ccall("heed_ablate", "number", ["number", "string"], [session, "decoder.layers.0.attention.head.0"]);
    heed._heed_positions(session);
  };
  let session = make();
  train(session, 20);
  const first = megabytes();
  train(session, Number(steps));
  const trained = megabytes();
  for (let i = 0; i < Number(resets); ++i) {
    heed._heed_free(session);
    session = make();
    train(session, 3);
    report(i + 1, resets, "resets");
  }
  console.log(`memory of the module: ${first} MiB; after ${steps} steps ${trained} MiB; after ${resets} resets ${megabytes()} MiB`);
  process.exitCode = megabytes() === first ? 0 : 1;
});
