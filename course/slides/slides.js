// Makes slides of each week of course/teaching.md from the chapters that it names: slides.js ROOT OUT
//
// OUT gets a file week-N.html for each week, which needs no other file and no network. A section of a chapter becomes
// slides with its first sentences and with its formulas, figures, tables, lists and short blocks of code. The whole text is in
// the notes below each slide.
import { Marp } from "@marp-team/marp-core";
import fs from "node:fs";
import path from "node:path";

const [root, out] = process.argv.slice(2);
const course = path.join(root, "course");
const longest = 16; // lines on a slide, and of a block of code or a table
const read = (file) => fs.readFileSync(path.join(course, file), "utf8");

// The rows of the table of weeks: [number, chapters, in class, to hand in].
const weeks = read("teaching.md").split("\n").filter((line) => /^\| [1-9] \|/.test(line))
  .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));

// Splits Markdown into blocks: {kind: "code" | "formula" | "picture" | "lines" | "text", text}.
function blocks(markdown) {
  const result = [];
  for (const part of markdown.split(/(^```[^]*?^```$)/m)) {
    if (part.startsWith("```")) {
      result.push({ kind: "code", text: part.replace(/^```(\S*).*/, "```$1") });
      continue;
    }
    for (const text of part.split(/\n{2,}/).map((block) => block.replace(/^\n+|\s+$/g, "")).filter(Boolean)) {
      const kind = text.startsWith("$$") ? "formula" : /^!\[/.test(text) ? "picture"
        : /^ {4}/.test(text) ? "code" : /^([|]|[-*] |\d+\. )/.test(text) ? "lines" : /^<\/?details/.test(text) ? "hidden" : "text";
      result.push({ kind, text });
    }
  }
  return result;
}

// The sentences of a paragraph. A full stop inside `code` or $formulas$ ends none.
const sentences = (text) => text.replace(/\n/g, " ").match(/(`[^`]*`|\$[^$]*\$|[^`$])+?([.?!:](?=\s|$)|$)/g) ?? [];
const lastSentence = (text) => sentences(text).filter((sentence) => sentence.trim()).pop()?.trim() ?? "";

// The first sentences of a paragraph, up to 240 characters.
function beginning(text) {
  let kept = "";
  for (const sentence of sentences(text)) {
    if (kept && kept.length + sentence.length > 240) break;
    kept += sentence;
  }
  return kept.trim();
}

// Links into the course lead nowhere from a slide: their text remains.
const withoutLinks = (text) => text.replace(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, "$1");

const note = (text) => `\n\n<!--\n${text.replace(/--+>?/g, "-")}\n-->\n`;

// The slides of a section: its heading, and what fits.
function sectionSlides(section) {
  const [heading, ...rest] = section.split("\n");
  const body = rest.join("\n"), shown = body.replace(/<details>[^]*<\/details>/, "").replace(/^### Answers\n[^]*/m, "");
  const parts = [];
  let isFirst = true;
  for (const { kind, text: written } of blocks(shown)) {
    const text = kind === "text" || kind === "lines" ? withoutLinks(written) : written;
    const lines = text.split("\n").length;
    if (kind === "text") {
      if (isFirst || text.startsWith("**")) parts.push({ text: beginning(text), lines: 3 });
      else if (text.endsWith(":")) parts.push({ text: lastSentence(text), lines: 2 });
      isFirst = false;
    } else if (kind === "picture") {
      parts.push({ text: text.replace(/^!\[[^\]]*\]/, "![h:400]"), lines: longest });
    } else if (kind === "formula" || lines <= longest) {
      if (kind !== "hidden") parts.push({ text, lines: kind === "formula" ? 3 : text.startsWith("|") ? 2 * lines : lines + 1 });
    }
  }
  const slides = [];
  let slide = "", used = 0;
  for (const part of parts) {
    if (slide && used + part.lines > longest) {
      slides.push(slide);
      slide = "";
      used = 0;
    }
    slide += `\n${part.text}\n`;
    used += part.lines;
  }
  if (slide) slides.push(slide);
  return slides.map((text, i) => `## ${heading}\n${text}${i === 0 ? note(body) : ""}`);
}

function chapterSlides(file) {
  const [head, ...sections] = read(file).split(/^## /m);
  const title = head.match(/^# (.*)/)[1], goal = head.match(/\| \*\*You will be able to\*\* \| (.*) \|/);
  return [`# ${title}\n\n${goal ? goal[1] : ""}${note(head)}`,
    ...sections.filter((section) => !/^(Where it is in the library|Exercises)\n/.test(section)).flatMap(sectionSlides)];
}

const own = `
body { margin: 0; background: #222; } section { font-size: 26px; } section pre, section pre code { font-size: 19px !important; } section table { font-size: 20px !important; }
div.slide { min-height: 100vh; scroll-snap-align: start; display: flex; flex-direction: column; justify-content: center; }
div.slide > svg { width: 100vw; max-height: 100vh; } html { scroll-snap-type: y mandatory; }
pre.notes { display: none; white-space: pre-wrap; color: #ddd; font: 16px/1.4 sans-serif; max-width: 60em; margin: 1em auto; }
body.with-notes pre.notes { display: block; } body.with-notes div.slide { min-height: 0; }
@media print { @page { size: 1280px 720px; margin: 0; } div.slide { min-height: 0; break-after: page; } pre.notes { display: none !important; } }`;
const script = `
const slides = [...document.querySelectorAll("div.slide")];
document.addEventListener("keydown", (event) => {
  if (event.key === "n") document.body.classList.toggle("with-notes");
  const step = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const now = slides.reduce((best, slide, i) =>
    Math.abs(slide.getBoundingClientRect().top) < Math.abs(slides[best].getBoundingClientRect().top) ? i : best, 0);
  slides[Math.min(Math.max(now + step, 0), slides.length - 1)].scrollIntoView();
});`;

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const picture = (file) => `data:image/svg+xml;base64,${fs.readFileSync(path.join(course, file)).toString("base64")}`;

fs.mkdirSync(out, { recursive: true });
for (const [number, chapters, inClass, handIn] of weeks) {
  const files = [...chapters.matchAll(/\((\d\d_\w+\.md)\)/g)].map((match) => match[1]);
  const slides = [`# Week ${number}\n\n**In class:** ${inClass}\n\n**To hand in:** ${handIn}`, ...files.flatMap(chapterSlides)];
  // Formulas become drawings, so that no font is needed. An image of an emoji would be fetched.
  const marp = new Marp({ math: "mathjax", script: false, emoji: { unicode: false, shortcode: false }, inlineSVG: true, html: false });
  const markdown = `---\npaginate: true\nsize: 16:9\n---\n\n${slides.join("\n\n---\n\n")}`;
  const { html, css, comments } = marp.render(markdown, { htmlAsArray: true });
  const body = html.map((slide, i) => {
    const shown = slide.replace(/(src="|url\(&quot;)((?:figures|drawings)\/[\w.-]+\.svg)/g, (_, before, file) => before + picture(file));
    return `<div class="slide marpit">${shown}${comments[i].length ? `<pre class="notes">${escaped(comments[i].join("\n"))}</pre>` : ""}</div>`;
  });
  const page = `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>heed: week ${number}</title>\n` +
    `<meta name="viewport" content="width=device-width">\n<style>${css}${own}</style>\n</head>\n<body>\n${body.join("\n")}\n` +
    `<script>${script}</script>\n</body>\n</html>\n`;
  fs.writeFileSync(path.join(out, `week-${number}.html`), page);
  console.log(`${path.join(out, `week-${number}.html`)}: ${html.length} slides`);
}
