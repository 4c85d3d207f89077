// The reference pages, from Doxygen's XML of the public headers: a page for each operation of core/ops.h, for each class,
// and for the remaining functions of a header.
import fs from "node:fs";
import path from "node:path";

import { XMLParser } from "fast-xml-parser";

import { escape, highlight } from "./sources.js";

const parser = new XMLParser({ preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: "", trimValues: false });

// An element of the parser's ordered form: {name: [children], ":@": attributes}.
const nameOf = (node) => Object.keys(node).find((key) => key !== ":@");
const childrenOf = (node) => node[nameOf(node)];
const attribute = (node, name) => node[":@"]?.[name] ?? "";
const all = (nodes, name) => nodes.filter((node) => nameOf(node) === name);
const one = (nodes, name) => all(nodes, name)[0];
const text = (nodes) =>
  nodes.map((node) => (nameOf(node) === "#text" ? String(node["#text"]) : text(childrenOf(node)))).join("");
const textOf = (nodes, name) => text(all(nodes, name)).trim();
const unescaped = (value) => value.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

const comment = (node) => ["briefdescription", "detaileddescription", "inbodydescription"].map((part) => textOf(node, part)).join("\n").trim();

function member(node) {
  const inside = childrenOf(node);
  const kind = attribute(node, "kind");
  const location = one(inside, "location");
  const type = textOf(inside, "type");
  const name = textOf(inside, "name");
  let declaration = `${type} ${name}${textOf(inside, "argsstring")}`.trim();
  if (kind === "variable") declaration += ` ${textOf(inside, "initializer")}`;
  if (kind === "typedef") declaration = `using ${name} = ${type}`;
  if (kind === "enum") declaration = `enum class ${name}`;
  declaration = unescaped(declaration).replace(/ ([&*]+)(?=\w)/g, "$1 ").replace(/\s+([&*])/g, "$1").trim();
  const values = all(inside, "enumvalue").map((value) => ({ name: textOf(childrenOf(value), "name"), text: comment(childrenOf(value)) }));
  return {
    kind,
    name,
    declaration,
    values,
    text: unescaped(comment(inside)),
    file: attribute(location, "declfile") || attribute(location, "file"),
    line: attribute(location, "line"),
    isPublic: attribute(node, "prot") === "public",
    isStatic: attribute(node, "static") === "yes",
  };
}

function compound(file) {
  const root = one(parser.parse(fs.readFileSync(file, "utf8")), "doxygen");
  const node = one(childrenOf(root), "compounddef");
  const inside = childrenOf(node);
  const location = one(inside, "location");
  return {
    kind: attribute(node, "kind"),
    name: textOf(inside, "compoundname").replace(/^heed::/, ""),
    bases: all(inside, "basecompoundref").map((base) => text(childrenOf(base)).replace("heed::", "")),
    text: unescaped(comment(inside)),
    file: location ? attribute(location, "file") : "",
    line: location ? attribute(location, "line") : "",
    members: all(inside, "sectiondef").flatMap((section) => all(childrenOf(section), "memberdef").map(member)),
  };
}

const inline = (value) => escape(value).replace(/`([^`]+)`/g, "<code>$1</code>");

// A comment as paragraphs.
const paragraphs = (value) =>
  value
    .split(/\n\s*\n/)
    .filter((part) => part.trim())
    .map((part) => `<p>${inline(part.trim())}</p>`)
    .join("\n");

// A declaration of more than 80 characters has each parameter on a line of its own.
function broken(declaration) {
  const open = declaration.indexOf("(");
  const close = declaration.lastIndexOf(")");
  if (declaration.length <= 80 || open < 0) return declaration;
  let depth = 0;
  let inside = "";
  for (const c of declaration.slice(open + 1, close)) {
    depth += "(<{[".includes(c) - ")>}]".includes(c);
    inside += c === "," && depth === 0 ? ",\n   " : c;
  }
  return `${declaration.slice(0, open + 1)}\n    ${inside}${declaration.slice(close)}`;
}

const signature = (declarations) => `<pre class="sig"><code>${highlight(declarations.map((one) => `${broken(one)};`).join("\n"), "cpp")}</code></pre>`;

const enumTable = (values) =>
  values.length === 0
    ? ""
    : `<div class="wide"><table><tbody>${values
        .map((value) => `<tr><td class="m">${escape(value.name)}</td><td>${inline(unescaped(value.text))}</td></tr>`)
        .join("")}</tbody></table></div>`;

// What a page says of one member: its signature, its comment, the values of an enumeration.
const entry = (of, heading = true) =>
  `${heading ? `<h2 class="m" id="${escape(of.name)}">${escape(of.name)}</h2>` : ""}${signature([of.declaration])}${paragraphs(of.text)}${enumTable(of.values)}`;

// The members of a class: its data as one table, then each function.
function members(of) {
  const data = of.filter((one) => one.kind === "variable");
  const rows = data.map((one) => `<tr id="${escape(one.name)}"><td class="m">${highlight(one.declaration, "cpp")}</td><td>${inline(one.text)}</td></tr>`);
  const table = rows.length ? `<h2 id="members">Members</h2><div class="wide"><table><tbody>${rows.join("")}</tbody></table></div>` : "";
  return table + of.filter((one) => one.kind !== "variable").map((one) => entry(one)).join("\n");
}

// Chapters of the course that link to a name, as in [`softmax`](../core/ops/softmax.cpp).
function chaptersOf(root) {
  const folder = path.join(root, "course");
  const chapters = new Map();
  for (const file of fs.readdirSync(folder).filter((name) => /^\d+_.*\.md$/.test(name)).sort()) {
    const markdown = fs.readFileSync(path.join(folder, file), "utf8");
    for (const [, name] of markdown.matchAll(/\[`([\w:]+)`\]\(\.\.\//g)) {
      const last = name.split("::")[0];
      chapters.set(last, (chapters.get(last) ?? new Set()).add(file));
    }
  }
  return chapters;
}

// The examples of docs/operations.md, which the tests execute: name → HTML of the code and of what it prints.
function examplesOf(root) {
  const markdown = fs.readFileSync(path.join(root, "docs/operations.md"), "utf8");
  const examples = new Map();
  for (const [, names, section] of markdown.matchAll(/^## (.*)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)) {
    const [, text, code, output] = /^([\s\S]*?)```cpp\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(section);
    const html =
      `<h2 id="example">Example</h2>${paragraphs(text)}<div class="code"><header><span>executed by the tests</span>` +
      `<button type="button" data-copy>copy</button></header><pre><code>${highlight(code, "cpp")}</code></pre></div>\n` +
      `<pre class="o"><code>${escape(output)}</code></pre>\n<p class="q s"><span class="m">error(call)</span> prints the message of what the call throws. ` +
      `A name that is not declared here is from <a href="../docs/operations.html">an earlier example</a>.</p>`;
    for (const name of names.split(", ")) examples.set(name, html);
  }
  return examples;
}

export function apiPages(site, xml) {
  const { root } = site;
  if (!xml || !fs.existsSync(path.join(xml, "index.xml"))) return [];
  const compounds = fs
    .readdirSync(xml)
    .filter((name) => /^(class|struct|namespaceheed\.xml|.*_8h\.xml)/.test(name))
    .map((name) => compound(path.join(xml, name)));
  const chapters = chaptersOf(root);
  const examples = examplesOf(root);
  const foot = (name, file, line) => {
    const of = [...(chapters.get(name) ?? [])].map((chapter) => `<a href="../course/${chapter.replace(/md$/, "html")}">chapter ${Number(chapter.slice(0, 2))}</a>`);
    return `<p class="q s">Declared in <a class="m" href="../${site.sources.url(file)}#L${line}">${escape(file)}</a>, line ${line}${of.length ? ` · taught in ${of.join(", ")}` : ""}</p>`;
  };
  const page = (url, title, group, file, body, sections) => ({
    file: `api/${url}`,
    url: `api/${url}`,
    title,
    section: "api",
    nav: "api",
    group,
    kind: "api",
    body: `<p class="meta"><span class="m">heed::</span> · <span class="m">#include &lt;heed/${escape(file)}&gt;</span></p>\n${body}`,
    sections,
  });

  const pages = [];
  const isOperation = (file) => /^core\/(standard|more)_ops\.h$/.test(file);
  const functions = compounds.find((one) => one.kind === "namespace" && one.name === "heed")?.members ?? [];

  const aboutFile = (file) => compounds.find((one) => one.kind === "file" && one.file === file)?.text ?? "";

  const byName = groupBy(functions, (one) => one.name);
  for (const [name, overloads] of byName) {
    const of = overloads.filter((one) => isOperation(one.file) && one.kind === "function" && !one.name.startsWith("operator"));
    if (!of.length) continue;
    const body = `<h1 class="m">${escape(name)}</h1>${of.map((one) => signature([one.declaration]) + paragraphs(one.text)).join("\n")}${examples.get(name) ?? ""}${foot(name, of[0].file, of[0].line)}`;
    pages.push(page(`${name}.html`, name, "core/ops.h", "core/ops.h", body, [{ id: name, title: name, level: 1, text: of.map((one) => one.text).join(" ") }]));
  }
  for (const one of compounds.filter((one) => /^(class|struct)$/.test(one.kind)).sort((a, b) => a.name.localeCompare(b.name))) {
    if (one.name.includes("<") || (!one.text && !one.members.some((of) => of.text))) continue;
    const visible = one.members.filter((of) => of.isPublic && !of.name.startsWith("~"));
    const base = one.bases.length ? `<p class="q s">A ${one.bases.map((name) => `<span class="m">${escape(name)}</span>`).join(", ")}</p>` : "";
    const body = `<h1 class="m">${escape(one.name)}</h1>${base}${paragraphs(one.text || aboutFile(one.file))}${foot(one.name, one.file, one.line)}${members(visible)}`;
    const url = `${one.name.replace(/::/g, ".").replace(/[^\w.]/g, "_")}.html`;
    const sections = [
      { id: one.name, title: one.name, level: 1, text: one.text },
      ...visible.map((of) => ({ id: of.name, title: of.name, level: of.kind === "variable" ? 3 : 2, text: of.text })),
    ];
    pages.push(page(url, one.name, `${one.file.split("/")[0]}: classes`, one.file, body, unique(sections)));
  }
  const rest = functions.filter((one) => !(isOperation(one.file) && one.kind === "function"));
  for (const [file, members] of groupBy(rest, (one) => one.file)) {
    if (!file) continue;
    const about = aboutFile(file);
    const body = `<h1 class="m">${escape(file)}</h1>${paragraphs(about)}${members.map((of) => entry(of)).join("\n")}`;
    const sections = [{ id: file, title: file, level: 1, text: about }, ...members.map((of) => ({ id: of.name, title: of.name, level: 2, text: of.text }))];
    pages.push(page(`${file.replace(/\//g, ".")}.html`, file, "headers: functions and types", file, body, unique(sections)));
  }
  return [index(pages), ...pages];
}

function groupBy(values, key) {
  const groups = new Map();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return groups;
}

// Sections of a page, each id once: overloads share an anchor.
const unique = (sections) => [...new Map(sections.map((section) => [section.id, section])).values()];

function index(pages) {
  const groups = groupBy(pages, (one) => one.group);
  const body = [...groups].map(([group, of]) => {
    const items = of.map((one) => `<li><a class="m" href="${path.posix.basename(one.url)}">${escape(one.title)}</a></li>`);
    return `<h2>${escape(group)}</h2><ul class="names">${items.join("")}</ul>`;
  });
  return {
    file: "api/index.html",
    url: "api/index.html",
    title: "API",
    section: "api",
    nav: "api",
    group: "API",
    kind: "api",
    body: `<h1>API</h1><p>Every public function and class of heed, from the comments of its headers. The letters of shapes (B, T, D, H, K, …) are those of the course.</p>${body.join("\n")}`,
    sections: [{ id: "api", title: "API", level: 1, text: "" }],
  };
}
