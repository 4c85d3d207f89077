// Writes the page, one HTML file, with all that it needs.
//   node assemble.cjs OUTPUT MODULE SCRIPT
// SCRIPT: the modules of the page, joined (cmake/join_modules.cmake).
"use strict";
const { readFileSync, writeFileSync } = require("fs");
const { join } = require("path");

const [output, moduleFile, joined] = process.argv.slice(2);
const read = (...path) => readFileSync(join(__dirname, ...path), "utf8");

// The text at the head of a task's file says what to look for.
const names =
  "reverse copy sort addition recall subject set shapes video graph".split(" ");
const tasks = names.map((name) => {
  const toml = read("tasks", `${name}.toml`);
  const head = toml.split("\n\n")[0].split("\n").map((line) => line.replace(/^# ?/, ""));
  return { name, toml, text: head.join(" ") };
});

// No part may end the element that it is in.
const script = (text) => text.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
const parts = {
  style: read("..", "..", "lab", "page", "style.css") + read("page", "playground.css"),
  tasks: JSON.stringify(tasks).replaceAll("<", "\\u003c"),
  worker: script(`${readFileSync(moduleFile, "utf8")}\n${read("page", "worker.js")}`),
  script: script(readFileSync(joined, "utf8")),
};
const hole = /\{(style|tasks|worker|script)\}/g;
writeFileSync(output, read("page", "index.html").replace(hole, (_, name) => parts[name]));
