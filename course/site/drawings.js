// The drawings of the front page, from recording.json: three small ones, drawn here, and the
// recorded training, whose last step the page's own script draws.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const width = 380;
const height = 104;

const svg = (w, label, body) =>
  `<svg viewBox="0 0 ${w} ${height}" width="${w}" height="${height}" role="img" ` +
  `aria-label="${label}">${body}</svg>`;
const label = (x, y, text, more = "") => `<text x="${x}" y="${y}" ${more}>${text}</text>`;

// Training and validation loss by step, on a logarithmic axis.
export function lossDrawing({ training, validation }) {
  const last = training.at(-1)[0];
  const powers = [...training, ...validation].map(([, loss]) => Math.log10(loss));
  const [high, low] = [Math.max(...powers), Math.min(...powers)];
  const point = ([step, loss]) =>
    [
      40 + (step / last) * (width - 56),
      8 + ((high - Math.log10(loss)) / (high - low)) * (height - 16),
    ].map((v) => v.toFixed(1));
  let out = "";
  for (let power = Math.ceil(low); power <= high; ++power) {
    const [, y] = point([0, 10 ** power]);
    out += `<path d="M40 ${y}H${width - 16}" stroke="var(--rule)"/>`;
    out += label(33, Number(y) + 4, 10 ** power, 'text-anchor="end"');
  }
  const line = (points) => `M${points.map((one) => point(one).join(" ")).join("L")}`;
  out += `<path d="${line(training)}" fill="none" stroke="var(--train)"/>`;
  out += `<path d="${line(validation)}" fill="none" stroke="var(--h1)" stroke-width="2"/>`;
  for (const [x, y] of validation.map(point))
    out += `<circle cx="${x}" cy="${y}" r="3" fill="var(--h1)"/>`;
  return svg(
    width,
    `Training and validation loss during ${last} steps, on a logarithmic axis`,
    out,
  );
}

// A dot for each seed, and the mean with its 95 % interval: Student's t of six seeds.
export function seedsDrawing({ exact_match: groups }) {
  const names = { none: "no scale", inverse_sqrt: "scale 1/√K" };
  const colours = { none: "var(--h2)", inverse_sqrt: "var(--h1)" };
  const x = (value) => 92 + value * (width - 112);
  let out = `<path d="M${x(0)} 84H${x(1)}" stroke="var(--control)"/>`;
  for (const tick of [0, 0.5, 1])
    out += label(x(tick), 100, `${100 * tick} %`, 'text-anchor="middle"');
  Object.keys(names).forEach((group, i) => {
    const [y, colour, values] = [20 + 40 * i, colours[group], groups[group]];
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const half =
      (2.571 * Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1))) /
      Math.sqrt(values.length);
    const [left, right] = [Math.max(0, mean - half), Math.min(1, mean + half)];
    out += label(0, y + 4, names[group], 'class="ink"');
    out += `<rect x="${x(left)}" y="${y - 8}" width="${x(right) - x(left)}" height="16" `;
    out += `fill="${colour}" fill-opacity="0.2"/>`;
    out += `<path d="M${x(mean)} ${y - 12}v24" stroke="${colour}" stroke-width="2.5"/>`;
    values.forEach((value, seed) => {
      out += `<circle cx="${x(value)}" cy="${y + ((seed * 5) % 11) - 5}" r="4" fill="${colour}" `;
      out += 'stroke="var(--ground)"/>';
    });
  });
  return svg(
    width,
    "Exact match of six seeds without and with a scale, with means and 95 % intervals",
    out,
  );
}

// The attention weights of "dog bites man", a row for each query.
export function lookupDrawing({ words, rows }) {
  let out = words.map((word, j) => label(128 + 62 * j, 10, word, 'text-anchor="middle"')).join("");
  rows.forEach(([query, weights], i) => {
    const y = 16 + 29 * i;
    out += label(88, y + 18, query, 'text-anchor="end"');
    weights.forEach((weight, j) => {
      const box = `x="${98 + 62 * j}" y="${y}" width="60" height="27"`;
      out += `<rect ${box} fill="var(--raised)"/>`;
      out += `<rect ${box} fill="var(--h3)" fill-opacity="${(0.6 * weight).toFixed(3)}"/>`;
      out += label(128 + 62 * j, y + 18, weight.toFixed(2), `text-anchor="middle" class="ink"`);
    });
  });
  return svg(290, "Attention weights of three queries on the words dog, bites and man", out);
}

// The table of README.md's speeds with a column that draws its last two: how many times as fast,
// from 0 to 5.
export function withRatios(html) {
  const x = (value) => 4 + Math.min(value, 5) * 24;
  return html
    .replace(/<\/tr>\s*<\/thead>/, '<th class="ratio">● float32 ○ bfloat16</th></tr></thead>')
    .replace(/<tr>\s*((?:<td[^>]*>.*?<\/td>\s*)+)<\/tr>/gs, (_, cells) => {
      const [single, half] = [...cells.matchAll(/>([\d.]+)(?:<\/strong>)?<\/td>/g)]
        .map(([, number]) => Number(number))
        .slice(-2);
      const marks =
        `<path d="M${x(1)} 0V18" stroke="var(--control)" stroke-dasharray="2 2"/>` +
        `<circle cx="${x(single)}" cy="9" r="4.5" fill="var(--h1)"/>` +
        `<circle cx="${x(half)}" cy="9" r="4" fill="none" stroke="var(--h1)" stroke-width="2"/>`;
      const words = `${single} and ${half} times as fast; the dashed line is 1`;
      const drawing =
        '<svg viewBox="0 0 130 18" width="130" height="18" role="img" ' +
        `aria-label="${words}">${marks}</svg>`;
      return `<tr>${cells}<td class="ratio">${drawing}</td></tr>`;
    });
}

export function trainingPanel(site, recording) {
  const context = {};
  vm.runInNewContext(
    fs.readFileSync(path.join(site.root, "course/site/static/panel.js"), "utf8"),
    context,
  );
  const part = context.heedPanel(recording, recording.frames.length - 1);
  const steps = recording.frames.at(-1).step;
  const score = (name, text) =>
    `<div><b data-part="${name}">${part[name]}</b><span>${text}</span></div>`;
  const link = site.playground
    ? `<a class="go" href="playground.html">Open the playground →</a>`
    : "";
  const live = site.trainer
    ? '<button type="button" class="live" hidden>Train it in this browser</button>'
    : "";
  const missing = site.playground
    ? ""
    : ` This site has no playground, which would train it here: <code>./heed playground</code>
builds it.`;
  const scores =
    score("step", `of ${steps} steps`) + score("value", "loss") + score("exact", "exact match");
  const json = JSON.stringify(recording).replace(/</g, "\\u003c");
  return `<div id="panel"><header>
<p>A model learns: which value came with <b class="m">${recording.tokens.at(-1)}</b>?</p>
<button type="button" class="play" hidden>Replay</button></header>
<div class="in"><div data-part="flow">${part.flow}</div>
<div><div class="scores">${scores}</div>
<div data-part="loss">${part.loss}</div><p class="say" data-part="sentence">${part.sentence}</p>
<p class="q s" data-part="note">Recorded from a training run of ${recording.seconds} s on two cores;
the input is a test example.${missing}</p></div></div>
<div class="links">${live}${link}</div></div>
<script type="application/json" id="recording">${json}</script>
<script src="panel.js"></script>`;
}
