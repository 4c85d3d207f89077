// Makes the page of its facts, and draws into the places that it has for drawings.
import { html } from "../../page/dom.js";
import { insideDrawings } from "./inside.js";
import { insidePage } from "./inside_sections.js";
import { listPage, problemPage, viewPage } from "./lists.js";
import { followRuns } from "./live.js";
import { runDrawings } from "./run.js";
import { runPage } from "./run_sections.js";
import { sweepDrawings } from "./sweep.js";
import { sweepPage } from "./sweep_sections.js";

// From the facts to {heading: [element beside it], links: [[id, text]], main: [element]}.
const pages = {
  run: runPage,
  runs: sweepPage,
  inside: insidePage,
  view: viewPage,
  list: listPage,
  problem: problemPage,
};
// What is chosen, by the name of the drawing: it outlives the drawings of a page that follows runs.
const chosen = new Map();
const drawings = { ...runDrawings, ...sweepDrawings, ...insideDrawings };
const header = document.querySelector("body > header");
const title = header.querySelector("h1");
const contents = header.querySelector("nav");

// Marks the link to the section that one reads.
function markCurrent() {
  const links = [...contents.children];
  let current = links[0];
  for (const link of links) {
    const section = document.getElementById(link.hash.slice(1));
    if (section && section.getBoundingClientRect().top < innerHeight / 3) current = link;
  }
  for (const link of links)
    if (link === current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
}

function draw() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = pages[data.page](data);
  title.textContent = data.title;
  for (const beside of header.querySelectorAll(":scope > span")) beside.remove();
  title.after(...(page.heading ?? []));
  contents.replaceChildren(
    ...(page.links ?? []).map(([id, text]) => html("a", { href: `#${id}` }, text)),
  );
  const shown = page.main.filter((part) => part !== null);
  document.querySelector("main").replaceChildren(...shown);
  for (const place of document.querySelectorAll("[data-draw]")) {
    const name = place.dataset.draw;
    if (!chosen.has(name)) chosen.set(name, {});
    drawings[name](data, place, chosen.get(name));
  }
  markCurrent();
}

function copyOnClick(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.parentElement.querySelector("code").textContent;
  const tell = (said) => {
    button.textContent = said;
    setTimeout(() => {
      button.textContent = "copy";
    }, 1500);
  };
  if (!navigator.clipboard) {
    tell("select it");
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => tell("copied"),
    () => tell("select it"),
  );
}

document.addEventListener("click", copyOnClick);
addEventListener("scroll", markCurrent, { passive: true });
draw();
if (document.body.hasAttribute("data-live")) followRuns(draw);
