// Pieces of HTML that several kinds of pages share.
import { escape, highlight, lines } from "./sources.js";

const button = `<button type="button" data-copy>copy</button>`;

// A command to type, with a button that copies it.
export const command = (text) => `<div class="cmd"><code>${escape(text)}</code>${button}</div>`;

// Lines of code, each of which wraps on its own, further in than it begins.
export const wrapped = (text, language) =>
  lines(highlight(text.replace(/\n$/, ""), language))
    .map((line) => {
      const indent = line.replace(/<[^>]*>/g, "").search(/[^ ]|$/);
      return `<span class="l" style="--i:${indent}">${line}\n</span>`;
    })
    .join("");

// Code with a note above it; code in a language wraps and has a button that copies it.
export function code(text, language, note = "") {
  const head =
    language && language !== "text" ? `<header><span>${note}</span>${button}</header>` : "";
  const body = head ? wrapped(text, language) : escape(text);
  return `<div class="code">${head}<pre><code>${body}</code></pre></div>\n`;
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
