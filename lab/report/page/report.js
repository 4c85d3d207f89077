// Makes the page of its facts, and draws into the places that it has for drawings.
import { html, makeButton } from "../../page/dom.js";
import { insideDrawings } from "./inside.js";
import { insidePage } from "./inside_sections.js";
import { listDrawings, listPage } from "./list.js";
import { problemPage, viewPage } from "./lists.js";
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
// A link has it, too, as far as it is numbers, texts and lists of them.
const chosen = new Map();
const linkMark = "#chosen=";
function readLink() {
  if (!location.hash.startsWith(linkMark)) return;
  try {
    const states = JSON.parse(decodeURIComponent(location.hash.slice(linkMark.length)));
    for (const [name, state] of Object.entries(states)) chosen.set(name, { ...state });
  } catch {
    // the link is cut: the page begins as without it
  }
}
function linkOfChosen() {
  const isPlain = (value) => value !== null && (typeof value !== "object" || Array.isArray(value));
  const states = [...chosen].map(([name, state]) => [
    name,
    Object.fromEntries(Object.entries(state).filter(([, value]) => isPlain(value))),
  ]);
  const known = states.filter(([, state]) => Object.keys(state).length);
  const text = encodeURIComponent(JSON.stringify(Object.fromEntries(known)));
  return `${location.href.split("#")[0]}${linkMark}${text}`;
}
const drawings = { ...runDrawings, ...sweepDrawings, ...insideDrawings, ...listDrawings };
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

function draw(readsLink = false) {
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
    try {
      drawings[name](data, place, chosen.get(name));
    } catch (error) {
      if (!readsLink) throw error;
      chosen.set(name, {}); // the link is of another page
      drawings[name](data, place, chosen.get(name));
    }
  }
  markCurrent();
}

function copyOnClick(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const isLink = button.dataset.copy === "link";
  const text = isLink ? linkOfChosen() : button.parentElement.querySelector("code").textContent;
  const before = button.textContent;
  const tell = (said) => {
    button.textContent = said;
    setTimeout(() => {
      button.textContent = before;
    }, 1500);
  };
  if (isLink) history.replaceState(null, "", text); // it stands in the address, too
  const cannot = isLink ? "see the address" : "select it";
  if (!navigator.clipboard) {
    tell(cannot);
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => tell("copied"),
    () => tell(cannot),
  );
}

// What one may keep: a link to what is chosen now, and a served page as one file.
function addKeeping() {
  const kept = html("p", { class: "noprint" }, makeButton({ "data-copy": "link" }, "copy a link"));
  kept.append(" to what is chosen here");
  if (document.querySelector(".home") && location.search)
    kept.append(", or ", html("a", { href: `${location.search}&file=1` }, "save it as one file"));
  document.querySelector("footer").append(kept);
}

document.addEventListener("click", copyOnClick);
addEventListener("scroll", markCurrent, { passive: true });
readLink();
draw(chosen.size > 0);
addKeeping();
if (document.body.hasAttribute("data-live")) followRuns(draw);
