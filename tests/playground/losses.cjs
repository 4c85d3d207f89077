// Trains every task of the playground with the module and with the program: the losses of 50 steps must agree.
//   node losses.cjs MODULE TASKS PROGRAM
"use strict";
const { execFileSync } = require("child_process");
const { mkdtempSync, readFileSync, readdirSync, rmSync } = require("fs");
const { tmpdir } = require("os");
const { join } = require("path");

const [moduleFile, tasks, program] = process.argv.slice(2);
const steps = 50, tolerance = 1e-4;

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

function lossesOfModule(heed, config) {
  const session = heed.ccall("heed_make", "number", ["string"], [readFileSync(config, "utf8")]);
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

require(moduleFile)().then((heed) => {
  let failed = false;
  for (const name of readdirSync(tasks)) {
    const config = join(tasks, name);
    const native = lossesOfProgram(config), ours = lossesOfModule(heed, config);
    if (native.length !== steps) throw new Error(`${name}: the program logged ${native.length} steps`);
    const difference = Math.max(...native.map((loss, i) => Math.abs(loss - ours[i])));
    console.log(`${name}: loss ${native[0].toFixed(4)} to ${native.at(-1).toFixed(4)}, largest difference ${difference.toExponential(1)}`);
    failed ||= !(difference <= tolerance);
  }
  process.exitCode = failed ? 1 : 0;
});
