// Draws what the data of the page have into the places that the page has for it.
import { html } from "../../page/dom.js";
import { insideDrawings } from "./inside.js";
import { followRuns } from "./live.js";
import { runDrawings } from "./run.js";
import { sweepDrawings } from "./sweep.js";

// What is chosen, by the name of the drawing: it outlives the drawings of a page that follows runs.
const chosen = new Map();
const drawings = { ...runDrawings, ...sweepDrawings, ...insideDrawings };

function draw() {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const place of document.querySelectorAll("[data-draw]")) {
    const name = place.dataset.draw;
    if (!chosen.has(name)) chosen.set(name, {});
    drawings[name](data, place, chosen.get(name));
  }
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

// Marks the link to the section that one reads.
function followScrolling() {
  const links = [...document.querySelectorAll("body > header nav a")];
  const mark = () => {
    let current = links[0];
    for (const link of links) {
      const section = document.getElementById(link.hash.slice(1));
      if (section && section.getBoundingClientRect().top < innerHeight / 3) current = link;
    }
    for (const link of links)
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
  };
  addEventListener("scroll", mark, { passive: true });
  if (links.length) mark();
}

document.addEventListener("click", copyOnClick);
draw();
followScrolling();
if (document.body.hasAttribute("data-live")) followRuns(html, draw);
