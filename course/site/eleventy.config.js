// Builds the site from the repository's own pages: `./heed site` runs Eleventy with this file.
//
//   HEED_ROOT        folder of the repository
//   HEED_OUT         folder for the site
//   HEED_XML         folder of Doxygen's XML
//   HEED_PLAYGROUND  the playground's page; empty: the site is built without it
//
// Each page of the repository becomes one HTML file that works when it is opened from the disk:
// links inside the site name their .html file, no page loads a module, and nothing is requested
// from outside. A link that leads nowhere ends the build, with its page.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { apiPages } from "./api.js";
import { frontPage } from "./front.js";
import { markdown } from "./markdown.js";
import { collectPages, navigation } from "./pages.js";
import { searchIndex, searchOptions } from "./search.js";
import { Sources } from "./sources.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const { HEED_ROOT: root, HEED_OUT: out, HEED_XML: xml, HEED_PLAYGROUND: playground } = process.env;

function copy(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}

// The colours, fonts and commands that the site shares with the report and the playground.
function tokens(folder) {
  const style = fs.readFileSync(path.join(folder, "lab/page/style.css"), "utf8");
  const end = style.indexOf("\n* {");
  if (end < 0) throw new Error("lab/page/style.css: no rule for * follows the tokens");
  return style.slice(0, end + 1);
}

// trainer.js: the playground's worker, and its task that the front page shows. The front page loads
// it when its button is pressed. Empty if the page is not the playground.
function trainerOf(page) {
  const inside = (id) =>
    new RegExp(`<script type="[^"]*" id="${id}">(.*?)</script>`, "s").exec(page)?.[1];
  const [source, tasks] = [inside("worker"), inside("task-list")];
  if (!source || !tasks) return "";
  const { toml } = JSON.parse(tasks).find(({ name }) => name === "recall");
  return `globalThis.heedTrainer = ${JSON.stringify({ source, toml })};\n`;
}

// The places in the bar of every page.
function barOf(site) {
  const bar = [
    { title: "Train", section: "train", url: "docs/data.html" },
    { title: "Experiment", section: "experiment", url: "docs/experiments.html" },
    { title: "Learn", section: "learn", url: "course/index.html" },
  ];
  if (site.api.length) bar.push({ title: "API", section: "api", url: "api/index.html" });
  if (site.playground)
    bar.push({ title: "Playground", section: "playground", url: "playground.html" });
  return [...bar, { title: "Source", section: "source", url: "docs/reading.html" }];
}

export default function (eleventy) {
  const trainer = playground ? trainerOf(fs.readFileSync(playground, "utf8")) : "";
  const site = {
    root,
    playground: Boolean(playground),
    trainer: Boolean(trainer),
    sources: new Sources(root),
    images: new Set(),
  };
  site.pages = collectPages(root);
  site.api = apiPages(site, xml);
  site.urls = new Map(site.pages.map((page) => [page.file, page.url]));
  const render = markdown(site);

  // Rendering finds the images and sources that pages refer to, so pages are rendered first.
  const rendered = [...site.pages, ...site.api].map((page) => ({ ...page, ...render(page) }));
  const all = [frontPage(site, render), ...rendered, ...site.sources.pages()];
  const urls = new Set();
  for (const { url } of all) {
    if (urls.has(url.toLowerCase()))
      throw new Error(`${url}: two pages differ only in upper and lower case`);
    urls.add(url.toLowerCase());
  }
  const bar = barOf(site);
  for (const page of all) {
    const beside = navigation(site, page);
    const row = beside.flatMap((list) => list.links);
    const at = row.findIndex((other) => other.url === page.url);
    const inRow = page.nav === "course" && at >= 0;
    eleventy.addTemplate(page.url, page.body, {
      title: page.title,
      section: page.section,
      kind: page.kind ?? "text",
      place: page.url,
      math: page.body.includes("<math"),
      bar,
      beside: beside.map(({ heading, mono, links }) => ({
        heading,
        mono,
        links: links.map(({ title, url }) => ({ title, url })),
      })),
      headings: page.sections
        .filter((section) => section.level === 2)
        .map(({ id, title }) => ({ id, title })),
      previous: inRow ? row[at - 1] : null,
      next: inRow ? row[at + 1] : null,
      permalink: page.url,
      layout: "layout.njk",
      templateEngineOverride: false,
    });
  }
  eleventy.addFilter(
    "from",
    (target, url) => path.posix.relative(path.posix.dirname(url), target) || ".",
  );

  eleventy.on("eleventy.after", () => {
    for (const image of site.images) copy(path.join(root, image), path.join(out, image));
    if (playground) copy(playground, path.join(out, "playground.html"));
    if (trainer) fs.writeFileSync(path.join(out, "trainer.js"), trainer);
    for (const file of fs.readdirSync(path.join(here, "static")))
      copy(path.join(here, "static", file), path.join(out, file));
    fs.writeFileSync(
      path.join(out, "site.css"),
      tokens(root) + fs.readFileSync(path.join(out, "site.css"), "utf8"),
    );
    const font = fs.readFileSync(path.join(here, "font/math.woff2")).toString("base64");
    fs.writeFileSync(
      path.join(out, "math.css"),
      `@font-face {font-family: "heed math"; src: url(data:font/woff2;base64,${font})}\n` +
        'math {font-family: "heed math", math}\n' +
        "@media (min-width: 721px) {math {font-size: 1.17em}}\n",
    );
    copy(path.join(here, "font/GUST-FONT-LICENSE.txt"), path.join(out, "math-font-license.txt"));
    copy(
      path.join(here, "node_modules/minisearch/dist/umd/index.js"),
      path.join(out, "minisearch.js"),
    );
    fs.writeFileSync(
      path.join(out, "search_index.js"),
      `heedSearch(${JSON.stringify(searchIndex(all))}, ${JSON.stringify(searchOptions)});\n`,
    );
  });
  return { dir: { input: "templates", output: out } };
}
