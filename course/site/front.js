// The front page. Commands and what they print come from README.md, whose quick start is tested.
import fs from "node:fs";
import path from "node:path";

import { lookupDrawing, lossDrawing, seedsDrawing, trainingPanel, withRatios } from "./drawings.js";
import { command } from "./html.js";
import { escape } from "./sources.js";

// The end of the first block of output in README.md after its first command: of its table of scores
// the columns that fit beside the drawing, and what the model predicts.
function sample(readme) {
  const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const first = blocks.findIndex(
    ([, language, text]) => language !== "text" && text.includes("./heed train"),
  );
  const output = blocks
    .slice(first + 1)
    .find(([, language]) => language === "text" || language === "");
  const lines = output ? output[2].trimEnd().split("\n") : [];
  const cells = lines.map((line) => line.trim().split(/ {2,}/));
  const shown = ["split", "loss", "exact match"].map((name) => cells[0].indexOf(name));
  return lines
    .map((line, i) =>
      cells[i].length < cells[0].length
        ? line
        : shown
            .map((at) => cells[i][at].padEnd(16))
            .join("")
            .trimEnd(),
    )
    .join("\n");
}

const door = (drawing, title, text, line, url, link) =>
  `<section>${drawing}<h2>${title}</h2><p>${text}</p>${command(line)}` +
  `<a class="go" href="${url}">${link} →</a></section>`;

const lead =
  "Tensors, automatic differentiation, kernels, layers, optimizers and the training loop are all " +
  "in it. An experiment is a text file, a run is a folder, and every formula appears next to the " +
  "code that computes it.";

export function frontPage(site, render) {
  const readme = fs.readFileSync(path.join(site.root, "README.md"), "utf8");
  // A section of README.md without the output that stands above, rendered.
  const section = (heading) => {
    const [, markdown = ""] =
      new RegExp(`^(## ${heading}\n[\\s\\S]*?)(?=^## |(?![\\s\\S]))`, "m").exec(readme) ?? [];
    const page = {
      file: "README.md",
      url: "index.html",
      markdown: markdown.replace(/^```text\n[\s\S]*?^```\n/m, ""),
    };
    return markdown ? render(page).body : "";
  };
  const { curve, seeds, lookup, ...recorded } = JSON.parse(
    fs.readFileSync(path.join(site.root, "course/site/recording.json"), "utf8"),
  );
  const chapters = site.pages.filter((page) => /^course\/\d/.test(page.file)).length;
  const exercises = site.pages.filter((page) => page.nav === "exercises").length;
  const doors = [
    door(
      lossDrawing(curve),
      "Train",
      "Text, sentence pairs, labels, images or graphs: from your own file to a model that other " +
        "programs can load.",
      "./heed train configs/pairs.toml --set data.path=my.tsv",
      "docs/data.html",
      "Your own data",
    ),
    door(
      seedsDrawing(seeds),
      "Experiment",
      "Several seeds, intervals, paired tests, and a report that says when no difference is shown.",
      "./heed sweep configs/sweeps/course_scale.toml",
      "docs/experiments.html",
      "A study, from question to figure",
    ),
    door(
      lookupDrawing(lookup),
      "Learn",
      `${chapters} chapters, from tensor shapes to a trained Transformer. ` +
        `${exercises} exercises, graded on your machine.`,
      "./heed course start basic-attention",
      "course/04_attention.html",
      "Chapter 4, Attention",
    ),
  ];
  const columns = [withRatios(section("Speed")), section("Quick start")].map(
    (column) => `<section>${column}</section>`,
  );
  const body = `
<div class="hero"><div><h1>heed trains small Transformers on a CPU, with C++ written to be read</h1>
<p>${lead}</p>
${command("./heed train configs/reverse.toml")}
<pre class="after">${escape(sample(readme))}</pre></div>
${trainingPanel(site, { ...recorded.recall, frames: recorded.frames })}</div>
<div class="doors">
${doors.join("\n")}
</div>
<div class="two">${columns.join("")}</div>`;
  return {
    file: "",
    url: "index.html",
    title: "heed",
    section: "",
    nav: "",
    kind: "front",
    body,
    sections: [{ id: "", title: "heed", level: 1, text: lead }],
  };
}
