// The front page. Commands and what they print come from README.md, whose quick start is tested.
import fs from "node:fs";
import path from "node:path";

import { escape } from "./sources.js";

export const command = (text) => `<div class="cmd"><code>${escape(text)}</code><button type="button" data-copy>copy</button></div>`;

// The first block of output in README.md after its first command.
function sample(readme) {
  const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const first = blocks.findIndex(([, language, text]) => language !== "text" && text.includes("./heed train"));
  const output = blocks.slice(first + 1).find(([, language]) => language === "text" || language === "");
  return output ? output[2].trimEnd() : "";
}

const door = (title, text, line, url, link) =>
  `<section><h2>${title}</h2><p>${text}</p>${command(line)}<a class="go" href="${url}">${link} →</a></section>`;

export function frontPage(site, render) {
  const readme = fs.readFileSync(path.join(site.root, "README.md"), "utf8");
  const lead = /^(?!#|!|\[|<|`)(\S.*(?:\n\S.*)*)/m.exec(readme)?.[1] ?? "";
  // A section of README.md without the output that stands above, rendered.
  const section = (heading) => {
    const [, markdown = ""] = new RegExp(`^(## ${heading}\n[\\s\\S]*?)(?=^## |(?![\\s\\S]))`, "m").exec(readme) ?? [];
    const page = { file: "README.md", url: "index.html", markdown: markdown.replace(/^```text\n[\s\S]*?^```\n/m, "") };
    return markdown ? render(page).body : "";
  };
  site.images.add("docs/hero.svg");
  const chapters = site.pages.filter((page) => /^course\/\d/.test(page.file)).length;
  const exercises = site.pages.filter((page) => page.nav === "exercises").length;
  const play = site.playground ? `<a class="go" href="playground.html">Train a model in this browser →</a>` : "";
  const body = `
<div class="hero"><div><h1>heed trains small Transformers on a CPU, with C++ written to be read</h1>
<p>${escape(lead.replace(/\n/g, " ").replace(/`/g, ""))}</p></div>
<div><img src="docs/hero.svg" alt="A config, its training curve, what its attention heads read, and its output">
${command("./heed train configs/reverse.toml")}
<pre class="after">${escape(sample(readme))}</pre>${play}</div></div>
<div class="doors">
${door("Train", "Text, pairs of sentences, labels, images, graphs: from a file of your own to a model that another program loads.", "./heed train configs/pairs.toml", "docs/data.html", "Your own data")}
${door("Experiment", "Several seeds, intervals, paired tests, and a page that says when the seeds are too few.", "./heed sweep configs/sweeps/scale.toml", "docs/experiments.html", "A study, from question to figure")}
${door("Learn", `${chapters} chapters, from a tensor’s shape to attention. ${exercises} exercises, graded on your machine.`, "./heed course start basic-attention", "course/04_attention.html", "Chapter 4, Attention")}
</div>
<div class="two"><section>${section("Speed")}</section><section>${section("Quick start")}</section></div>`;
  return { file: "", url: "index.html", title: "heed", section: "", nav: "", kind: "front", body, sections: [{ id: "", title: "heed", level: 1, text: lead }] };
}
