// The colours of heads and of groups, and the dashes of lines; later ones repeat.

const colours = ["var(--h1)", "var(--h2)", "var(--h3)", "var(--h4)"];
const dashes = [undefined, "6 3", "2 3", "9 3 2 3"];
export const colourOf = (i) => colours[i % colours.length];
export const dashOf = (i) => dashes[i % dashes.length];
