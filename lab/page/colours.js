// The colours of heads and of groups, and the dashes of lines; later ones repeat.

const colours = ["var(--h1)", "var(--h2)", "var(--h3)", "var(--h4)"];
const dashes = [undefined, "6 3", "2 3", "9 3 2 3"];
// Up to the first shade of each colour the dark page needs light text, and up to the second one the
// light page needs dark text.
const edges = [
  [0.616, 0.926],
  [0.627, 0.98],
  [0.59, 0.954],
  [0.595, 0.947],
];
// The token of text that can be read on a shade of a colour.
export function inkOn(colour, shade) {
  const [dark, light] = edges[colours.indexOf(colour)];
  return shade < dark ? "on-low" : shade < light ? "on-mid" : "on-high";
}
export const colourOf = (i) => colours[i % colours.length];
export const dashOf = (i) => dashes[i % dashes.length];
