// Trains every task of the playground with the module and natively: the losses of 50 steps must agree.
//   node losses.cjs float MODULE TASKS HEED              with the program
//   node losses.cjs double MODULE TASKS NATIVE_DOUBLE    the module in double with native_double.cpp
"use strict";
const { execFileSync } = require("child_process");
const { mkdtempSync, readFileSync, readdirSync, rmSync } = require("fs");
const { tmpdir } = require("os");
const { join, resolve } = require("path");

const [precision, moduleFile, tasks, program] = process.argv.slice(2);
const steps = 50;
const { native, tolerance } = {
  float: { native: lossesOfProgram, tolerance: 1e-4 },
  double: { native: lossesInDouble, tolerance: 1e-9 },
}[precision];

function lossesOfProgram(config) {
  const work = mkdtempSync(join(tmpdir(), "heed-playground-"));
  try {
    execFileSync(program, ["train", config, "--run", join(work, "run"), "--until", String(steps), "--set", "train.log_every=1"],
      { stdio: "ignore" });
    return readFileSync(join(work, "run", "metrics.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line))
      .filter((row) => "loss" in row).map((row) => row.loss);
  } finally {
    rmSync(work, { recursive: true });
  }
}

function lossesInDouble(config) {
  return execFileSync(program, [config, String(steps)], { encoding: "utf8" }).trim().split("\n").map(Number);
}

function lossesOfModule(heed, config) {
  const session = heed.ccall("heed_make", "number", ["string", "string"], [readFileSync(config, "utf8"), ""]);
  if (!session) throw new Error(heed.UTF8ToString(heed._heed_error()));
  const at = heed._malloc(8), losses = [];
  for (let step = 1; step <= steps; ++step) {
    if (heed._heed_step(session, at) !== step) throw new Error(heed.UTF8ToString(heed._heed_error()));
    losses.push(heed.HEAPF64[at / 8]);
  }
  heed._free(at);
  heed._heed_free(session);
  return losses;
}

require(resolve(moduleFile))().then((heed) => {
  let failed = false;
  for (const name of readdirSync(tasks)) {
    const config = join(tasks, name);
    const expected = native(config), ours = lossesOfModule(heed, config);
    if (expected.length !== steps) throw new Error(`${name}: ${program} gave ${expected.length} losses`);
    const difference = Math.max(...expected.map((loss, i) => Math.abs(loss - ours[i])));
    console.log(`${name}, ${precision}: loss ${expected[0].toFixed(4)} to ${expected.at(-1).toFixed(4)}, largest difference ` +
      difference.toExponential(1));
    failed ||= !(difference <= tolerance);
  }
  process.exitCode = failed ? 1 : 0;
});
