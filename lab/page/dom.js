// Elements of HTML and of SVG. Text of a run only ever becomes text: nothing is parsed.

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export const makeButton = (attributes, ...children) =>
  html("button", { type: "button", ...attributes }, ...children);

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A text of a picture at a point. `anchor`: "middle" or "end", where the point is not its start.
export const textAt = (x, y, text, anchor, style) =>
  svg("text", { class: style, x, y, "text-anchor": anchor }, text);

// A dot of a picture. Its title appears where the pointer rests.
export const dotAt = (cx, cy, r, attributes = {}, title = null) =>
  svg("circle", { cx, cy, r, ...attributes }, title === null ? null : svg("title", {}, title));

// The nodes of a message: what stands between ` in it is code.
export const withCode = (message) =>
  message.split(/`([^`]+)`/).map((part, i) => (i % 2 ? html("code", {}, part) : part));

// A coordinate: tenths of a pixel are enough.
export const px = (number) => number.toFixed(1);

// A picture of this size in pixels. `label` says what it shows.
export function picture(width, height, label, ...children) {
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    ...children,
  );
}

// Buttons of which one is pressed. options: [[value, label], …]
export function segments(label, options, chosen, change) {
  const buttons = options.map(([value, text]) =>
    makeButton({ "aria-pressed": `${value === chosen}` }, text),
  );
  buttons.forEach((button, i) =>
    button.addEventListener("click", () => {
      buttons.forEach((each) => each.setAttribute("aria-pressed", `${each === button}`));
      change(options[i][0]);
    }),
  );
  return html("span", { class: "seg", role: "group", "aria-label": label }, ...buttons);
}

// Sets the children of an element. What has the same data-key as before keeps the focus and, if its
// class is "scroll", how far it was scrolled.
export function replace(parent, ...children) {
  const find = (name) => parent.querySelector(`[data-key="${CSS.escape(name)}"]`);
  const key = parent.contains(document.activeElement) && document.activeElement.dataset.key;
  const scrolled = [...parent.querySelectorAll(".scroll[data-key]")].map((each) => [
    each.dataset.key,
    each.scrollTop,
  ]);
  parent.replaceChildren(...children);
  for (const [name, top] of scrolled) find(name)?.scrollTo(0, top);
  if (key) find(key)?.focus({ preventScroll: true });
}
