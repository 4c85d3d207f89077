// Pieces of HTML that several kinds of pages share.
import { escape, highlight } from "./sources.js";

const button = `<button type="button" data-copy>copy</button>`;

// A command to type, with a button that copies it.
export const command = (text) => `<div class="cmd"><code>${escape(text)}</code>${button}</div>`;

// Code with a note above it; code in a language has a button that copies it.
export function code(text, language, note = "") {
  const head =
    language && language !== "text" ? `<header><span>${note}</span>${button}</header>` : "";
  return `<div class="code">${head}<pre><code>${highlight(text, language)}</code></pre></div>\n`;
}

// What the code above it printed.
export const output = (text) => `<pre class="o"><code>${escape(text)}</code></pre>\n`;

// A table that scrolls on its own where it is too wide. Rows are lists of cells, in HTML.
export const tableOpen = `<div class="wide"><table>\n`;
export const tableClose = "</table></div>\n";
export function table(rows, head = []) {
  const row = (cells, tag) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
  const top = head.length ? `<thead>${row(head, "th")}</thead>` : "";
  const body = rows.map((cells) => row(cells, "td")).join("\n");
  return rows.length ? `${tableOpen}${top}<tbody>${body}</tbody>${tableClose}` : "";
}
