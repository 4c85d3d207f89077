// The attention of every layer and head: small pictures to choose from, and one of them large, with labels.
const svgElement = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// The weights of a layer at a checkpoint, as bytes (heads, rows, columns); decoded once.
const decoded = new WeakMap();
function weightsOf(map, step) {
  if (!decoded.has(map)) decoded.set(map, []);
  const steps = decoded.get(map);
  const weights = map.weights[step];  // of a report in base64
  steps[step] ??= typeof weights === "string" ? Uint8Array.from(atob(weights), (c) => c.charCodeAt(0)) : weights;
  return steps[step];
}

// One path for each of 15 shades; styles choose the colour.
function headPaths(map, { step, own }, head) {
  const bytes = weightsOf(map, step), rows = map.rows.length, columns = map.columns.length, size = rows * columns;
  const most = own ? Math.max(1, ...bytes.subarray(head * size, (head + 1) * size)) : 255;
  const shades = new Array(16).fill("");
  for (let row = 0, at = head * size; row < rows; ++row)
    for (let column = 0; column < columns; ++column, ++at)
      shades[Math.floor(bytes[at] * 15 / most)] += `M${column} ${row}h1v1h-1z`;
  return shades.flatMap((d, shade) => shade && d ? [svgElement("path", { d, "fill-opacity": (shade / 15).toFixed(2) })] : []);
}

function weightText(map, step, head, row, column) {
  const byte = weightsOf(map, step)[(head * map.rows.length + row) * map.columns.length + column];
  const weight = (byte / 255) ** 2 * map.scale;
  return `${map.rows[row]} → ${map.columns[column]}: ${map.signed ? "±" : ""}${weight.toFixed(3)}`;
}

function smallHead(state, map, layer, head) {
  const svg = svgElement("svg", { class: "head", viewBox: `0 0 ${map.columns.length} ${map.rows.length}` },
    ...headPaths(map, state, head));
  const button = element("button", { type: "button", className: "choose", title: `${map.name}, head ${head}` }, svg);
  button.setAttribute("aria-pressed", state.layer === layer && state.head === head);
  button.addEventListener("click", () => state.choose(layer, head));
  return button;
}

// A picture with a label for each row and column, as many as are legible. A pointer or the arrow keys read its cells.
function largeHead(state, map) {
  const rows = map.rows.length, columns = map.columns.length;
  const cell = Math.max(5, Math.min(34, 440 / Math.max(rows, columns)));
  const every = Math.ceil(11 / cell), font = Math.min(13, Math.max(9, cell * every * 0.75));
  const room = (labels) => 10 + 0.64 * font * Math.min(14, Math.max(...labels.map((label) => [...label].length)));
  const upright = Math.max(...map.columns.map((label) => [...label].length)) * font * 0.64 < cell * every;
  const left = room(map.rows), top = upright ? font + 8 : room(map.columns);
  const short = (label) => [...label].length > 14 ? [...label].slice(0, 13).join("") + "…" : label;
  const svg = svgElement("svg", { class: "large", viewBox: `0 0 ${left + columns * cell + 1} ${top + rows * cell + 1}`,
    width: left + columns * cell + 1, "font-size": font, role: "img", tabindex: 0, "aria-label": `${map.name}, head ${state.head}` });
  const cells = svgElement("g", { transform: `translate(${left} ${top}) scale(${cell})`, class: "cells" },
    svgElement("rect", { class: "ground", width: columns, height: rows }), ...headPaths(map, state, state.head));
  const guides = svgElement("g", { class: "guides" });
  map.rows.forEach((label, i) => i % every || svg.append(svgElement("text", { x: left - 6, y: top + (i + 0.5) * cell,
    "text-anchor": "end", "dominant-baseline": "central", "data-row": i }, short(label))));
  map.columns.forEach((label, i) => {
    if (i % every) return;
    const x = left + (i + 0.5) * cell;
    svg.append(svgElement("text", upright ? { x, y: top - 6, "text-anchor": "middle", "data-column": i }
      : { transform: `translate(${x} ${top - 6}) rotate(-90)`, "dominant-baseline": "central", "data-column": i }, short(label)));
  });
  svg.append(cells, guides);
  const readout = element("p", { className: "readout", textContent: "Point at a cell to read its weight." });
  readout.setAttribute("aria-live", "polite");
  const at = { row: 0, column: -1 };
  const read = (row, column) => {
    const inside = row >= 0 && row < rows && column >= 0 && column < columns;
    guides.replaceChildren(...(inside ? [
      svgElement("rect", { x: left, y: top + row * cell, width: columns * cell, height: cell }),
      svgElement("rect", { x: left + column * cell, y: top, width: cell, height: rows * cell })] : []));
    svg.querySelectorAll("text").forEach((text) =>
      text.classList.toggle("here", inside && (text.dataset.row == row || text.dataset.column == column)));
    if (!inside) return;
    Object.assign(at, { row, column });
    readout.textContent = weightText(map, state.step, state.head, row, column);
  };
  const point = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(cells.getScreenCTM().inverse());
    read(Math.floor(y), Math.floor(x));
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);  // a finger that does not move
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    read(Math.max(0, at.row + move[0]), Math.max(0, at.column + move[1]));
  });
  return [svg, readout];
}

function drawAtlas(atlas) {
  const place = document.getElementById("atlas");
  if (!place || !atlas) return;
  document.querySelector("#attention .drawn")?.remove();
  const large = element("div", { className: "focus" }), small = element("div", { className: "layers" });
  const state = { example: 0, step: atlas.steps.length - 1, layer: atlas.examples[0].maps.length - 1, head: 0, own: false };
  const draw = () => {
    const maps = atlas.examples[state.example].maps;
    const map = maps[state.layer];
    large.replaceChildren(element("h3", { textContent: `${map.name}, head ${state.head}` }), ...largeHead(state, map));
    small.replaceChildren(...maps.flatMap((each, layer) => [
      element("h3", { textContent: each.name }),
      element("div", { className: "heads" }, ...Array.from({ length: each.heads }, (_, head) => smallHead(state, each, layer, head)))]));
  };
  state.choose = (layer, head) => { Object.assign(state, { layer, head }); draw(); };
  const controls = element("div", { className: "controls" });
  if (atlas.examples.length > 1) {
    const select = element("select", { id: "example" }, ...atlas.examples.map((example, i) =>
      element("option", { value: i, textContent: example.title })));
    select.addEventListener("change", () => { state.example = Number(select.value); draw(); });
    controls.append(element("label", {}, "Example", select));
  } else {
    controls.append(element("span", { textContent: atlas.examples[0].title }));
  }
  if (atlas.steps.length > 1) {
    const steps = element("input", { type: "range", id: "checkpoint", min: 0, max: state.step, step: 1, value: state.step });
    steps.addEventListener("input", () => { state.step = steps.valueAsNumber; draw(); });
    controls.append(slider("Checkpoint", steps, (i) => `step ${atlas.steps[i]}`));
  }
  controls.append(checkbox("Each head on its own scale", false, (on) => { state.own = on; draw(); }));
  place.replaceChildren(controls, element("div", { className: "atlas" }, large, small));
  draw();
}
