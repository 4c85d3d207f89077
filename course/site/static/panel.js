// The recorded training on the front page: tokens, two layers of attention, the prediction, and the
// loss. The build also runs this script to draw the last step into the page, so that the page is
// complete without scripts. A button trains the same model in the browser: trainer.js.
"use strict";
(() => {
  const width = 368;
  const height = 258;
  const colours = ["var(--h1)", "var(--h2)"];
  const bottom = 216;
  const tops = [44, 128]; // of the lines of each layer, 74 high
  const percent = (value) => `${value.toFixed(value < 99.95 ? 1 : 0)}\u202f%`;

  const weight = (map, query, key) => map[(query * (query + 1)) / 2 + key] / 100;

  // The part that each position plays in the last prediction, by layer: 1 for the last position in
  // the last layer, and below that its largest weight times the part of the position that reads it.
  function parts({ weights }, count) {
    const all = [];
    let part = Array.from({ length: count }, (_, i) => Number(i === count - 1));
    for (let layer = weights.length; layer-- > 0; ) {
      all[layer] = part;
      part = part.map((_, key) =>
        Math.max(
          part[key] * Number(key === count - 1),
          ...weights[layer].map((map) => {
            let largest = 0;
            for (let query = key; query < count; ++query)
              largest = Math.max(largest, part[query] * weight(map, query, key));
            return largest;
          }),
        ),
      );
    }
    return all;
  }

  // The line of the largest weight into a position of a layer: {head, key, weight}.
  function strongest(maps, query) {
    let found = { head: 0, key: 0, weight: 0 };
    maps.forEach((map, head) => {
      for (let key = 0; key <= query; ++key)
        if (weight(map, query, key) > found.weight)
          found = { head, key, weight: weight(map, query, key) };
    });
    return found;
  }

  const line = (d, style) => `<path d="${d}" ${style}/>`;
  const word = (x, y, text, anchor = "", style = "") =>
    `<text class="${style}" x="${x}" y="${y}" text-anchor="${anchor || "start"}">${text}</text>`;
  const drawing = (w, h, label, body) =>
    `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="${label}">${body}</svg>`;

  function flow({ tokens, target }, frame) {
    const step = width / tokens.length;
    const at = (position) => (position + 0.5) * step;
    const last = tokens.length - 1;
    const path = `stroke="var(--path)" stroke-width="6"`;
    const strand = `stroke="var(--strand)" stroke-width="4"`;
    let out = `<rect y="26" width="${width}" height="190" rx="8" fill="var(--band)"/>`;
    tokens.forEach((token, i) => {
      out += word(at(i), 16, token, "middle", i === last ? "m now" : "m");
      out += line(`M${at(i)} 26V${bottom}`, i === last ? path : strand);
    });
    const part = parts(frame, tokens.length);
    const lines = [];
    frame.weights.forEach((maps, layer) =>
      maps.forEach((map, head) =>
        tokens.forEach((_, query) => {
          for (let key = 0; key <= query; ++key) {
            const value = weight(map, query, key);
            if (value < 0.08) continue;
            const used = value * part[layer][query];
            const [x, y, to] = [at(key), tops[layer], at(query)];
            const style =
              used > 0.3
                ? `stroke="${colours[head]}" stroke-width="${(7 * value).toFixed(1)}"`
                : `stroke="var(--quiet)" stroke-width="${(3 * value).toFixed(1)}" opacity="0.22"`;
            const curve = `M${x} ${y}C${x} ${y + 37} ${to} ${y + 37} ${to} ${y + 74}`;
            lines.push([used, line(curve, `fill="none" ${style}`)]);
          }
        }),
      ),
    );
    out += lines
      .sort((a, b) => a[0] - b[0])
      .map(([, one]) => one)
      .join("");
    out += word(6, 120, "layer 1") + word(6, 206, "layer 2");
    const right = frame.token === target;
    const verdict = right ? "✓ right" : `✗ target ${target}`;
    const sure = `${verdict}, probability ${frame.probability.toFixed(2)}`;
    out += line(`M${at(last)} ${bottom}V228`, path);
    out += word(width, 248, frame.token, "end", "m answer");
    out += word(width - 40, 248, sure, "end", right ? "good" : "bad");
    return drawing(width, height, "Tokens, two layers of attention, and the prediction", out);
  }

  function losses({ frames, end = frames.at(-1).step }, index) {
    const [w, h, left, right, top, foot] = [250, 112, 22, 16, 6, 22];
    const x = (step) => left + (step / end) * (w - left - right);
    const most = Math.max(3, Math.ceil(frames[0].loss));
    const y = (value) => h - foot - (value / most) * (h - foot - top);
    let out = "";
    for (let value = 0; value <= most; ++value)
      out +=
        line(`M${left} ${y(value)}H${w - right}`, `stroke="var(--rule)"`) +
        word(left - 8, y(value) + 4, value, "end");
    for (const step of [0, end / 2, end]) out += word(x(step), h - 5, step, "middle");
    const shown = frames
      .slice(0, index + 1)
      .map(({ step, loss }) => `${x(step).toFixed(1)} ${y(loss).toFixed(1)}`);
    const [cx, cy] = shown.at(-1).split(" ");
    out += line(`M${shown.join("L")}`, `fill="none" stroke="var(--h1)" stroke-width="2"`);
    out += `<circle cx="${cx}" cy="${cy}" r="4" fill="var(--h1)"/>`;
    return drawing(w, h, "Validation loss by step", out);
  }

  // What the drawing shows, in a sentence that states only measured weights.
  function sentence({ tokens, target }, frame) {
    const last = tokens.length - 1;
    const answer = tokens.indexOf(tokens[last]) + 1;
    const second = strongest(frame.weights[1], last);
    const first = strongest(frame.weights[0], answer);
    const found = second.key === answer && second.weight > 0.5;
    const link = first.key === answer - 1 && first.weight > 0.5;
    const heads = [first.head + 1, second.head + 1];
    if (found && link)
      return (
        `Head ${heads[0]} of layer 1 links ${target} to the key before it; ` +
        `head ${heads[1]} of layer 2 <b>finds the value of the same key</b>.`
      );
    if (link)
      return `Head ${heads[0]} of layer 1 <b>looks one position back</b>, from ${target} to a key.`;
    if (tokens.includes(frame.token)) return "It answers with <b>a value that it has read</b>.";
    return "It answers with a value that it has not read.";
  }

  function draw(recording, index) {
    const frame = recording.frames[index];
    return {
      flow: flow(recording, frame),
      loss: losses(recording, index),
      step: String(frame.step),
      value: frame.loss.toFixed(frame.loss < 0.1 ? 3 : 2),
      exact: percent(frame.exact),
      sentence: sentence(recording, frame),
    };
  }
  globalThis.heedPanel = draw;
  if (typeof document === "undefined") return;

  const panel = document.getElementById("panel");
  const button = panel.querySelector("button.play");
  let recording = JSON.parse(document.getElementById("recording").textContent);
  let index = recording.frames.length - 1;
  let timer = 0;

  const isAtEnd = () => index === recording.frames.length - 1;
  function show() {
    for (const [name, html] of Object.entries(draw(recording, index)))
      panel.querySelector(`[data-part=${name}]`).innerHTML = html;
    button.textContent = timer ? "Pause" : isAtEnd() ? "Replay" : "Go on";
  }
  function tick() {
    if (!isAtEnd()) ++index;
    if (isAtEnd()) stop();
    else show();
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    show();
  }
  function start() {
    if (isAtEnd()) index = 0;
    timer = setInterval(tick, 400);
    show();
  }

  // --- training in the browser

  const live = panel.querySelector("button.live");
  const note = panel.querySelector("[data-part=note]");

  function load(file) {
    const script = document.createElement("script");
    script.src = file;
    document.head.append(script);
    return new Promise((done, failed) => {
      script.addEventListener("load", done);
      script.addEventListener("error", () => failed(new Error(`${file} could not be loaded`)));
    });
  }

  // Calls a function of the playground's worker, one at a time.
  const call = (worker, name, ...args) =>
    new Promise((done, failed) => {
      worker.onmessage = ({ data: { result, error } }) =>
        error === undefined ? done(result) : failed(new Error(error));
      worker.onerror = ({ message }) => failed(new Error(message));
      worker.postMessage({ id: 0, name, args });
    });

  // A training step in the form of the recording. attention_bytes() makes the bytes of the weights.
  function frameOf(step, { loss, exact_match: exact }, { logits, maps }) {
    const rowOf = (bytes, scale) => bytes.map((byte) => 100 * (byte / 255) ** 2 * scale);
    const weights = maps.map(({ heads, rows, weights: bytes, scale }) =>
      Array.from({ length: heads }, (_, head) =>
        Array.from({ length: rows }, (__, query) => {
          const first = (head * rows + query) * rows;
          return rowOf(bytes.slice(first, first + query + 1), scale);
        }).flat(),
      ),
    );
    const [{ token, probability }] = logits.at(-1);
    return { step, loss, exact: 100 * exact, token, probability, weights };
  }

  async function trainHere(worker, toml) {
    const { frames } = recording;
    const [every, end] = [frames[1].step - frames[0].step, frames.at(-1).step];
    await call(worker, "make", toml.replace(/^steps = .*/m, `steps = ${end}`), "");
    const began = performance.now();
    stop();
    button.hidden = true;
    for (let step = 0; step <= end; step += every) {
      if (step > 0) await call(worker, "train", every);
      const { scores } = await call(worker, "frame", step);
      const trace = await call(worker, "trace", step, "", 0, -1, "");
      const frame = frameOf(step, scores, trace);
      if (step === 0)
        recording = { tokens: trace.inputs, target: trace.targets.at(-1), end, frames: [] };
      panel.querySelector("header b").textContent = trace.inputs.at(-1);
      recording.frames.push(frame);
      index = recording.frames.length - 1;
      show();
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    note.textContent = `Trained here in ${seconds} s; the input is a validation example.`;
  }

  live?.addEventListener("click", async () => {
    let worker = null;
    live.disabled = true;
    note.textContent = "This browser trains the model now.";
    try {
      if (!globalThis.heedTrainer) await load("trainer.js");
      const { source, toml } = globalThis.heedTrainer;
      worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      await trainHere(worker, toml);
      live.textContent = "Train it again";
    } catch (error) {
      note.textContent = `This browser cannot train it: ${error.message}`;
    }
    worker?.terminate();
    button.hidden = live.disabled = false;
  });

  if (live) live.hidden = false;
  button.hidden = false;
  button.addEventListener("click", () => (timer ? stop() : start()));
  show();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) start();
})();
