// As much of a document as makes the elements of lab/page/dom.js, and their text as HTML.

class Element {
  constructor(tag) {
    this.tag = tag;
    this.attributes = {};
    this.children = [];
  }
  setAttribute(name, value) {
    this.attributes[name] = `${value}`;
  }
  addEventListener() {}
  append(...parts) {
    this.children.push(...parts);
  }
  get id() {
    return this.attributes.id;
  }
  querySelector(tag) {
    for (const child of this.children.filter((each) => each instanceof Element)) {
      const found = child.tag === tag ? child : child.querySelector(tag);
      if (found) return found;
    }
    return null;
  }
  get textContent() {
    return this.children.map((each) => each.textContent ?? `${each}`).join("");
  }
}

globalThis.document = {
  createElement: (tag) => new Element(tag),
  createElementNS: (space, tag) => new Element(tag),
};
globalThis.matchMedia = () => ({ matches: false });

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// What a browser would make of an element, a text or a list of them: '<td class="n">1</td>'.
export function markup(part) {
  if (Array.isArray(part)) return part.map(markup).join("");
  if (part === null) return "";
  if (!(part instanceof Element)) return escape(`${part}`);
  const attributes = Object.entries(part.attributes).map(
    ([name, value]) => ` ${name}="${escape(value).replaceAll('"', "&quot;")}"`,
  );
  return `<${part.tag}${attributes.join("")}>${markup(part.children)}</${part.tag}>`;
}
