// Writes the page, one HTML file, with all that it needs.
//   node assemble.cjs OUTPUT MODULE CHART.JS LICENCE
"use strict";
const { readFileSync, readdirSync, writeFileSync } = require("fs");
const { join } = require("path");

const [output, moduleFile, chart, licence] = process.argv.slice(2);
const read = (...path) => readFileSync(join(__dirname, ...path), "utf8");
const report = (name) => read("..", "..", "..", "lab", "report", "page", name);

// The text at the head of a task's file says what to look for.
const tasks = ["sort", "reverse", "addition", "recall", "subject", "set", "shapes"].map((name) => {
  const toml = read("..", "tasks", `${name}.toml`);
  const head = toml.split("\n\n")[0].split("\n").map((line) => line.replace(/^# ?/, ""));
  return { name, toml, text: head.join(" ") };
});

// No part may end the element that it is in.
const script = (text) => text.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
const parts = {
  style: report("page.css") + read("playground.css"),
  tasks: JSON.stringify(tasks).replaceAll("<", "\\u003c"),
  worker: script(readFileSync(moduleFile, "utf8") + "\n" + read("worker.js")),
  chart: script(`/*\n${readFileSync(licence, "utf8").replaceAll("*/", "* /")}*/\n` + readFileSync(chart, "utf8")),
  script: script(["charts.js", "attention.js"].map(report).concat(["side.js", "breaks.js", "playground.js"].map((name) => read(name))).join("\n")),
};
const page = read("index.html").replace(/\{(style|tasks|worker|chart|script)\}/g, (_, name) => parts[name]);
writeFileSync(output, page);
