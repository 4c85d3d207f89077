// Pages of one table or one sentence: a view of heed inspect, a problem.
import { html } from "../../page/dom.js";
import { note, numeric, section, table } from "./parts.js";

export const problemPage = ({ problem }) => ({ main: [html("p", {}, problem)] });

const numberIn = (text) =>
  text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);

// A table whose numbers have bars: the length is the part of the largest absolute value of the
// column, blue is positive and red negative. The first column has none.
export function viewPage({ view, shows, rows: [heads, ...rows], notes }) {
  const sizes = heads.map((_, i) =>
    rows.map((row) => numberIn(row[i])).filter((each) => each !== null),
  );
  const most = sizes.map((each, i) => (i ? Math.max(0, ...each.map(Math.abs)) : 0));
  const cell = (text, i) => {
    const number = numberIn(text);
    if (number === null) return text;
    const end = (most[i] > 0 ? (100 * Math.abs(number)) / most[i] : 0).toFixed(1);
    const colour = `color-mix(in srgb,var(--${number < 0 ? "bad" : "h1"}) 30%,transparent)`;
    const style = `background:linear-gradient(to left,${colour} ${end}%,transparent 0)`;
    return [html("span", { style }, text), "n bar"];
  };
  const made = table(
    heads.map((head, i) => (sizes[i].length ? numeric(head) : head)),
    rows.map((row) => row.map(cell)),
  );
  return { main: [section(view, shows, "", made, ...notes.map(note))] };
}
