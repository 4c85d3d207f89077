// Pieces of which pages are made.
import { html, makeButton } from "../../page/dom.js";

// A cell is a text or an element, or such things with the class of the cell: [what, class].
const cellOf = (tag) => (cell) => {
  const [content, style] = Array.isArray(cell) ? cell : [cell];
  return html(tag, { class: style }, ...[content].flat());
};

export const numeric = (what) => [what, "n"];
export const plotted = ["", "plotted"]; // a cell for drawings

// The row of a table; the first `heads` cells are the heads of the row.
export const tableRow = (cells, style, heads = 0) =>
  html("tr", { class: style }, ...cells.map((cell, i) => cellOf(i < heads ? "th" : "td")(cell)));

// A row that names those below it.
export const groupRow = (columns, text) =>
  html("tr", { class: "group" }, html("td", { colspan: columns }, text));

// A table that scrolls where it is too wide. A row is a list of cells, or made by the above.
export const table = (heads, rows, style) =>
  html(
    "div",
    { class: "scroll" },
    html(
      "table",
      { class: style },
      html("thead", {}, html("tr", {}, ...heads.map(cellOf("th")))),
      html("tbody", {}, ...rows.map((each) => (Array.isArray(each) ? tableRow(each) : each))),
    ),
  );

// A list of names and their values.
export const pairs = (list, style) =>
  html(
    "dl",
    { class: style },
    ...list.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, ...[value].flat())]),
  );

export const paragraph = (style, ...content) => html("p", { class: style }, ...content);
export const note = (text) => paragraph("note", text);
export const code = (text) => html("span", { class: "m" }, text);

// A section without content is left out: null. `about` stands beside the heading.
export const section = (id, heading, about, ...content) =>
  content.some((each) => each !== null && each !== undefined)
    ? html(
        "section",
        { id },
        html(
          "header",
          {},
          html("h2", {}, heading),
          html("span", { class: "s q" }, ...[about].flat()),
        ),
        ...content,
      )
    : null;

// The links to sections, [id, text].
export const linksTo = (sections) =>
  sections.filter(Boolean).map((each) => [each.id, each.querySelector("h2").textContent]);

// Text as it is, without an empty first line.
export const listing = (text) => html("pre", {}, text.replace(/^\n/, ""));

// Where the drawing of this name is drawn.
export const place = (name) => html("div", { class: "drawn", "data-draw": name });

// The state of a run, with what is said of it.
export const stateMark = (state, text = state) => html("span", { class: `state ${state}` }, text);

export const fold = (summary, ...content) =>
  html("details", {}, html("summary", {}, summary), ...content);

// A command with a button that copies it, and a line above it.
export const command = (says, text) => [
  paragraph("q s", says),
  html("div", { class: "cmd" }, html("code", {}, text), makeButton({ "data-copy": true }, "copy")),
];
