// The attention of every layer and head over the checkpoints: small maps to choose from, one of
// them large (lab/report/attention_atlas.h).
import { colourOf } from "./colours.js";
import { html, makeButton, replace, segments } from "./dom.js";
import { habitOf, largeMap, roleOf, smallMap } from "./heat.js";
import { saveMenu } from "./save.js";
import { whole } from "./text.js";

// Bytes in base64 are the root of the weight over the scale of the map; decoded once.
const decoded = new WeakMap();
function bytesOf(map, step) {
  if (!decoded.has(map)) decoded.set(map, []);
  const steps = decoded.get(map);
  steps[step] ??= Uint8Array.from(atob(map.weights[step]), (letter) => letter.charCodeAt(0));
  return steps[step];
}

// The weights of a head at a checkpoint, as a fraction of the map's scale.
export function weightsOf(map, step, head) {
  const bytes = bytesOf(map, step);
  const [rows, columns] = [map.rows.length, map.columns.length];
  const weight = (row, column) => (bytes[(head * rows + row) * columns + column] / 255) ** 2;
  return { rows: map.rows, columns: map.columns, weight };
}

// "decoder.layers.1.cross_attention" → {module: "decoder reads input", layer: 1}
export function placeOf(name, names) {
  const parts = /^(?:(.*)\.)?layers\.(\d+)\.(\w+)$/.exec(name);
  if (!parts) return { module: name, layer: 0 };
  const [, stack = "", layer, part] = parts;
  const crosses = names.some((each) => each.endsWith("cross_attention"));
  const words =
    part === "cross_attention"
      ? `${stack} reads input`
      : stack === "decoder" && crosses
        ? "decoder, itself"
        : stack || "attention";
  return { module: words, layer: Number(layer) };
}

// What a head does: by its scores at this checkpoint, or else by the map that is drawn.
function wordsOf(atlas, map, step, head, weights) {
  const isIt = (each) => each.module === map.name && each.head === head;
  const role = roleOf(atlas.scores[step].find(isIt));
  if (role) return `${role.words} ${role.value.toFixed(2)}`;
  return map.signed ? "" : habitOf(weights);
}

export const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// state: {example, step, map, head, root}; it stays as it is when the page is drawn again.
export function drawAtlas(atlas, state, place) {
  const last = atlas.steps.length - 1;
  state.step = Math.min(state.step ?? last, last);
  state.example = Math.min(state.example ?? 0, atlas.examples.length - 1);
  const maps = () => atlas.examples[state.example].maps;
  state.map = Math.min(state.map ?? maps().length - 1, maps().length - 1);
  state.head = Math.min(state.head ?? 0, maps()[state.map].heads - 1);
  const modules = html("div", { class: "mods" });
  const focus = html("div", { class: "focus" });
  const step = html("b", {});

  const button = (map, index, head, size, words) => {
    const weights = weightsOf(map, state.step, head);
    const chosen = index === state.map && head === state.head;
    const habit = wordsOf(atlas, map, state.step, head, weights);
    const name = `${words}, head ${head + 1}${habit ? `, ${habit}` : ""}`;
    const made = makeButton(
      {
        "data-key": `${index},${head}`,
        "aria-pressed": `${chosen}`,
        "aria-label": name,
        title: name,
        onclick: () => {
          Object.assign(state, { map: index, head });
          draw();
        },
      },
      smallMap(weights, size, colourOf(head), state.root, ""),
      html("i", {}),
      `head ${head + 1}`,
      habit ? html("small", {}, habit) : null,
    );
    made.style.setProperty("--c", colourOf(head));
    return made;
  };

  const drawSmall = () => {
    const names = maps().map((map) => map.name);
    const places = names.map((name) => placeOf(name, names));
    const rows = [...new Set(places.map((each) => each.module))];
    const size = place.clientWidth < 720 ? Math.floor((place.clientWidth - 24) / 4) : 78;
    replace(
      modules,
      ...rows.flatMap((module) => [
        html("h3", {}, upper(module)),
        html(
          "div",
          { class: "layers" },
          ...maps().flatMap((map, index) => {
            if (places[index].module !== module) return [];
            const words = `${module}, layer ${places[index].layer + 1}`;
            const heads = Array.from({ length: map.heads }, (_, head) =>
              button(map, index, head, size, words),
            );
            return [
              html(
                "div",
                {},
                html("p", { class: "q s" }, `layer ${places[index].layer + 1}`),
                html("div", { class: "four" }, ...heads),
              ),
            ];
          }),
        ),
      ]),
    );
  };

  const drawLarge = () => {
    const map = maps()[state.map];
    const weights = weightsOf(map, state.step, state.head);
    const names = maps().map((each) => each.name);
    const { module, layer } = placeOf(map.name, names);
    const title = `${upper(module)}, layer ${layer + 1}, head ${state.head + 1}`;
    const habit = wordsOf(atlas, map, state.step, state.head, weights);
    const readout = html(
      "p",
      { class: "readout s q", "aria-live": "polite" },
      "Rows read, columns are read. Point at a cell, or use the arrow keys.",
    );
    const sizeOf = (row, column) => (weights.weight(row, column) * map.scale).toFixed(3);
    const read = (row, column) => {
      const sign = map.signed ? "±" : "";
      const cell = `${map.rows[row]} → ${map.columns[column]}`;
      readout.textContent = `${cell}: ${sign}${sizeOf(row, column)}`;
    };
    const draw = (width) =>
      largeMap(weights, {
        width,
        colour: colourOf(state.head),
        root: state.root,
        scale: map.scale,
        label: `${title}: weights`,
        read,
      });
    const rows = () => [
      ["row", "column", "weight"],
      ...map.rows.flatMap((row, i) => map.columns.map((column, j) => [row, column, sizeOf(i, j)])),
    ];
    replace(
      focus,
      html(
        "div",
        { class: "line" },
        html("h3", {}, title),
        html("span", { class: "q m s" }, map.name),
        saveMenu({ title: `Attention ${map.name} head ${state.head}`, draw, rows }),
      ),
      html("p", { class: "s q" }, upper(habit) || "A row adds up to 1."),
      draw(Math.max(260, Math.min(focus.clientWidth || 372, 560))),
      readout,
    );
  };

  const draw = () => {
    step.textContent = `step ${whole(atlas.steps[state.step])}`;
    drawSmall();
    drawLarge();
  };

  const controls = html("div", { class: "controls noprint" }, step);
  if (last > 0) {
    const slider = html("input", {
      type: "range",
      id: "checkpoint",
      min: 0,
      max: last,
      value: state.step,
      "aria-label": "Checkpoint",
      oninput: () => {
        state.step = slider.valueAsNumber;
        slider.setAttribute("aria-valuetext", `step ${atlas.steps[state.step]}`);
        draw();
      },
    });
    controls.append(slider);
  }
  if (atlas.examples.length > 1) {
    const select = html(
      "select",
      {
        "aria-label": "Example",
        onchange: () => {
          state.example = select.selectedIndex;
          draw();
        },
      },
      ...atlas.examples.map((example) => html("option", {}, example.title)),
    );
    select.selectedIndex = state.example;
    controls.append(select);
  } else {
    controls.append(html("span", { class: "m s" }, atlas.examples[0].title));
  }
  controls.append(
    html("span", { class: "q s" }, "Shade"),
    segments(
      "Shade by",
      [
        [false, "weight"],
        [true, "√ weight"],
      ],
      state.root ?? false,
      (root) => {
        state.root = root;
        draw();
      },
    ),
  );
  place.replaceChildren(controls, html("div", { class: "two" }, modules, focus));
  draw();
}
