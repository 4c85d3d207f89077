// A drawing with its title and a menu that saves it: as SVG or PNG, in light colours at the width
// of a column, and its data as CSV.
import { html, makeButton } from "./dom.js";
import { fileName } from "./text.js";

const column = 360; // pixels of CSS

// What an SVG needs of the styles of the page, so that it looks the same without them.
const properties = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "font-family",
  "font-size",
  "font-weight",
  "paint-order",
];

// Returns the text of a file. Fonts stay text.
function svgText(drawn) {
  const room = html("div", { class: "light", "aria-hidden": "true" });
  room.style.cssText = "position:absolute;left:-9999px;top:0";
  room.append(drawn);
  document.body.append(room);
  for (const each of [drawn, ...drawn.querySelectorAll("*")]) {
    const style = getComputedStyle(each);
    const values = properties.map((name) => [name, style.getPropertyValue(name)]);
    for (const [name, value] of values) each.setAttribute(name, value);
    for (const name of ["class", "style", "tabindex"]) each.removeAttribute(name);
  }
  const ground = getComputedStyle(room).getPropertyValue("--ground").trim();
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: ground }))
    back.setAttribute(name, value);
  drawn.prepend(back);
  room.remove();
  return new XMLSerializer().serializeToString(drawn);
}

// Cells with a comma, a quote or a new line are quoted.
export function csvText(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : `${value}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function download(name, blob) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Returns a PNG with twice the pixels of the SVG.
async function pngOf(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// drawing: {title, draw(width) → picture, rows() → [[cell]]}; without `draw` there are only data.
export function saveMenu({ title, draw, rows }) {
  const menu = html("details", { class: "menu noprint" });
  const name = fileName(title);
  const entry = (label, act) =>
    makeButton(
      {
        onclick: () => {
          menu.open = false;
          act();
        },
      },
      label,
    );
  const svgFile = () => svgText(draw(column));
  const pictures = [
    entry("SVG", () => download(`${name}.svg`, new Blob([svgFile()], { type: "image/svg+xml" }))),
    entry("PNG", async () => download(`${name}.png`, await pngOf(svgFile()))),
  ];
  menu.append(
    html("summary", { "aria-label": `Save ${title}`, title: "Save" }, "⋯"),
    html(
      "div",
      {},
      ...(draw ? pictures : []),
      entry("CSV", () =>
        download(`${name}.csv`, new Blob([csvText(rows())], { type: "text/csv" })),
      ),
    ),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.firstElementChild.focus();
  });
  return menu;
}

// Puts the menu that saves the data of a section's table into the section's header. Without `made`
// it only removes the menu.
export function headerMenu(place, made) {
  const header = place.closest("section").querySelector("header");
  header.querySelector(".menu")?.remove();
  if (made) header.append(saveMenu(made));
}

// Figures below the screen wait for their first drawing, a few in each frame: all of a page at once
// would hold up somebody who scrolls.
const waiting = [];
function drawWaiting() {
  const end = performance.now() + 8; // milliseconds, half a frame
  while (waiting.length && performance.now() < end) waiting.shift().redraw();
  if (waiting.length) requestAnimationFrame(drawWaiting);
}

// A figure that is drawn for the width it has, and again when that changes. Returns the figure;
// figure.redraw() draws it again.
export function drawing({ title, legend = [], note = "", draw, rows, menu = true }) {
  const plot = html("div", { class: "plot" });
  const figure = html(
    "figure",
    { class: "drawing", "data-title": title },
    html(
      "figcaption",
      {},
      html("b", {}, title),
      ...legend,
      note ? html("span", { class: "q s" }, note) : null,
      menu ? saveMenu({ title, draw, rows }) : null,
    ),
    plot,
  );
  let width = 0;
  figure.redraw = () => {
    if (width > 0) plot.replaceChildren(draw(width));
  };
  new ResizeObserver(() => {
    const now = Math.floor(plot.getBoundingClientRect().width);
    if (now === width || now === 0) return;
    width = now;
    if (plot.firstChild || figure.getBoundingClientRect().top < innerHeight) figure.redraw();
    else if (waiting.push(figure) === 1) requestAnimationFrame(drawWaiting);
  }).observe(plot);
  return figure;
}
