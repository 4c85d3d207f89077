// The contrast of the tokens of lab/page/style.css, light and dark, by WCAG 2.2: text has at least
// 4.5 on its ground, lines and edges that say something have 3.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { colourOf, inkOn } from "../../lab/page/colours.js";

const style = readFileSync(new URL("../../lab/page/style.css", import.meta.url), "utf8");
const tokensIn = (css) =>
  Object.fromEntries(
    [...css.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, hex]) => [name, hex]),
  );
const [before, after] = style.split("prefers-color-scheme: dark");
const themes = { light: tokensIn(before), dark: { ...tokensIn(before), ...tokensIn(after) } };

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const lightOf = (rgb) => {
  const [r, g, b] = rgb.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
function contrast(a, b) {
  const [low, high] = [lightOf(a), lightOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

for (const [name, tokens] of Object.entries(themes)) {
  const of = (token) => channels(tokens[token]);
  const holds = (token, ground, least) => {
    const found = contrast(of(token), of(ground));
    assert.ok(found >= least, `${name}: ${token} on ${ground}: ${found.toFixed(2)}`);
  };

  test(`text can be read, ${name}`, () => {
    for (const token of ["ink", "quiet", "link", "good", "bad"])
      for (const ground of ["ground", "raised", "band"]) holds(token, ground, 4.5);
    holds("on-link", "link", 4.5);
  });

  test(`lines and edges can be seen, ${name}`, () => {
    const lines = ["h1", "h2", "h3", "h4", "train", "control", "path", "pos", "neg"];
    for (const token of lines) holds(token, "ground", 3);
  });

  test(`numbers can be read on every shade of every head, ${name}`, () => {
    for (let head = 0; head < 4; ++head)
      for (let shade = 0.1; shade <= 1.0001; shade += 0.01) {
        const colour = colourOf(head);
        const [over, under] = [of(colour.slice(6, -1)), of("raised")];
        const mixed = over.map((c, i) => shade * c + (1 - shade) * under[i]);
        const found = contrast(of(inkOn(colour, shade)), mixed);
        const where = `${name}: on ${colour} at ${shade.toFixed(2)}: ${found.toFixed(2)}`;
        assert.ok(found >= 4.5, where);
      }
  });
}
