// The reference pages, from Doxygen's XML of the public headers: a page for each operation of
// core/ops.h, for each class, and for the remaining functions of a header. Shapes, errors and
// examples come from the pages of docs/ that the tests execute.
import fs from "node:fs";
import path from "node:path";

import { XMLParser } from "fast-xml-parser";

import { groupNames, groupOf, torchNames } from "./groups.js";
import { code, output, table, wrapped } from "./html.js";
import { escape, highlight } from "./sources.js";
import { gradientTests } from "./tests.js";

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  trimValues: false,
});

// An element of the parser's ordered form: {name: [children], ":@": attributes}.
const nameOf = (node) => Object.keys(node).find((key) => key !== ":@");
const childrenOf = (node) => node[nameOf(node)];
const attribute = (node, name) => node[":@"]?.[name] ?? "";
const all = (nodes, name) => nodes.filter((node) => nameOf(node) === name);
const firstOf = (nodes, name) => all(nodes, name)[0];
const plainText = (nodes) =>
  nodes
    .map((node) =>
      nameOf(node) === "#text"
        ? String(node["#text"])
        : plainText(childrenOf(node)) + (nameOf(node) === "para" ? "\n\n" : ""),
    )
    .join("");
const textOf = (nodes, name) => plainText(all(nodes, name)).trim();
const unescaped = (value) =>
  value
    .replace(/\u00a0/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");

const comment = (node) =>
  ["briefdescription", "detaileddescription", "inbodydescription"]
    .map((part) => textOf(node, part))
    .join("\n")
    .trim();

function member(node) {
  const inside = childrenOf(node);
  const kind = attribute(node, "kind");
  const location = firstOf(inside, "location");
  const type = textOf(inside, "type");
  const name = textOf(inside, "name");
  let declaration = `${type} ${name}${textOf(inside, "argsstring")}`.trim();
  if (kind === "variable") declaration += ` ${textOf(inside, "initializer")}`;
  if (kind === "typedef") declaration = `using ${name} = ${type}`;
  if (kind === "enum") declaration = `enum class ${name}`;
  declaration = unescaped(declaration)
    .replace(/ ([&*]+)(?=\w)/g, "$1 ")
    .replace(/\s+([&*])/g, "$1")
    .trim();
  const values = all(inside, "enumvalue").map((value) => ({
    name: textOf(childrenOf(value), "name"),
    text: comment(childrenOf(value)),
  }));
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
  const root = firstOf(parser.parse(fs.readFileSync(file, "utf8")), "doxygen");
  const node = firstOf(childrenOf(root), "compounddef");
  const inside = childrenOf(node);
  const location = firstOf(inside, "location");
  return {
    kind: attribute(node, "kind"),
    name: textOf(inside, "compoundname").replace(/^heed::/, ""),
    bases: all(inside, "basecompoundref").map((base) =>
      plainText(childrenOf(base)).replace("heed::", ""),
    ),
    text: unescaped(comment(inside)),
    file: location ? attribute(location, "file") : "",
    line: location ? attribute(location, "line") : "",
    members: all(inside, "sectiondef").flatMap((section) =>
      all(childrenOf(section), "memberdef").map(member),
    ),
  };
}

// HTML of a comment's words: code in backticks, and links of the names that have a page. `names` is
// name → url.
const inline = (value, names = new Map()) =>
  linked(
    escape(value)
      .replace(/`([^`]+)`/g, "<code>$1</code>")
      .replace(/(^|\s)\*(\w+)\*/g, "$1<em>$2</em>"),
    names,
    /[a-z]\w*[A-Z]/,
  );

// Links the names in HTML; outside <code> only those that `plain` matches, so that "Model" at the
// start of a sentence stays a word.
function linked(html, names, plain = /^/) {
  let depth = 0;
  return html.replace(/<(\/?)(\w+)[^>]*>|\b[A-Z]\w+\b/g, (found, close, tag) => {
    if (tag) {
      if (tag === "code") depth += close ? -1 : 1;
      return found;
    }
    const url = names.get(found);
    return url && (depth > 0 || plain.test(found)) ? `<a href="${url}">${found}</a>` : found;
  });
}

// A comment as paragraphs. comments.awk marks the lines that are indented, formulas and code, with
// ⟦ and ⟧.
const paragraphs = (value, names) =>
  value
    .split(/\n\s*\n|((?:⟦[^⟧]*⟧\s*)+)/)
    .filter((part) => part?.trim())
    .map((part) => {
      if (!part.trimStart().startsWith("⟦")) return `<p>${inline(part.trim(), names)}</p>`;
      const lines = [...part.matchAll(/⟦([^⟧]*)⟧/g)].map(([, line]) => line.trimEnd());
      const indent = Math.min(...lines.map((line) => line.search(/\S|$/)));
      const text = lines.map((line) => escape(line.slice(indent))).join("\n");
      return `<pre class="f${lines.length > 1 ? "" : " w"}">${text}</pre>`;
    })
    .join("\n");

// A summary that stands alone: the first sentence, with the formula or the words after its colon.
function summaryOf(value) {
  const [first, ...more] = value
    .replace(/(?<!\bal\.|\be\.g\.)(?<=\.)\s+(?=[^a-z]|\w+ \()|(?<=[.:)])\s+(?=⟦)/g, "\n\n")
    .replace(/(?<=⟧)\s+(?=[^⟦\s])/g, "\n\n")
    .split(/\n\s*\n/)
    .map((part) =>
      part
        .replace(/⟧\s*⟦[^]*|[⟦⟧]/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter(Boolean);
  return first?.endsWith(":") && more.length ? `${first} ${more[0]}` : (first ?? "");
}

// The length of the formula that a comment begins with; 0 if it begins with words.
function formulaLength(value) {
  let depth = 0;
  let end = 0;
  for (; end < value.length; ++end) {
    if ("([{".includes(value[end])) ++depth;
    if (")]}".includes(value[end])) --depth;
    const rest = value.slice(end, end + 12);
    if (
      /^([;:,.]\s| (along|where|of each|over the|if) | \([A-Z][a-z])/.test(rest) &&
      depth < 1 + /^ \(/.test(rest)
    )
      break;
  }
  const first = value.slice(0, end);
  return /[=∘√Σ·²ˣᵉφ+/→-]/.test(first) && !/^[A-Z][a-z]|([a-z]{3,}\s+){2}[a-z]{3,}/.test(first)
    ? end
    : 0;
}

// [formulas, rest] of a comment as HTML: what is set off in it first, else what it begins with.
function formulaFirst(value, names) {
  const lines = value.match(/(?:⟦[^⟧]*⟧\s*)+/)?.[0];
  if (lines && isFormula(lines))
    return [paragraphs(lines), paragraphs(value.replace(lines, "\n\n"), names)];
  const length = formulaLength(value);
  if (!length) return ["", paragraphs(value, names)];
  const rest = value.slice(length).replace(/^[;:,.]?\s*/, "");
  return [
    `<pre class="f w">${escape(value.slice(0, length).replace(/\s+/g, " "))}</pre>`,
    paragraphs(
      rest.replace(/^[a-z](?=[a-z])/, (c) => c.toUpperCase()),
      names,
    ),
  ];
}
const isFormula = (lines) => /[=→]/.test(lines) && !lines.includes(";⟧");

// A declaration as the header has it, or as Doxygen has it where that is elsewhere.
const headers = new Map();
function declarationIn(root, { name, declaration, file, line, kind }) {
  if (!/^(function|enum)$/.test(kind) || !file) return declaration;
  if (!headers.has(file))
    headers.set(file, fs.readFileSync(path.join(root, file), "utf8").split("\n"));
  const lines = headers.get(file);
  let at = Number(line) - 1;
  while (/^\s*template </.test(lines[at - 1] ?? "")) --at;
  const indent = lines[at]?.search(/\S/) ?? 0;
  let depth = 0;
  let text = "";
  for (const one of lines.slice(at, at + 12)) {
    const words = one.slice(indent).replace(/\s*\/\/.*/, "");
    for (const [i, c] of [...words].entries()) {
      const isEnd = depth === 0 && (c === ";" || c === "{" || (c === ":" && /\)\s*$/.test(text)));
      if (isEnd && text.includes(name.replace(/^~/, "")))
        return text.replace(/\b(inline|virtual|friend) /g, "").trim();
      if ("(<{".includes(c) && words[i + 1] !== "=") ++depth;
      if (")}".includes(c) || (c === ">" && words[i - 1] !== "-")) --depth;
      text += c;
    }
    text += "\n";
  }
  return declaration;
}

function signature(declarations, names) {
  const text = declarations.map((one) => `${one};`).join("\n");
  return `<pre class="sig"><code>${linked(wrapped(text, "cpp"), names)}</code></pre>`;
}

const mono = (value) => `<span class="m">${value}</span>`;
const enumTable = (values, names) =>
  table(values.map((value) => [mono(escape(value.name)), inline(unescaped(value.text), names)]));

// What a page says of one member: its signature, its comment, the values of an enumeration.
function entry(of, names) {
  const [first, rest] = formulaFirst(of.text, names);
  return (
    `<h2 class="m" id="${escape(of.name)}">${escape(of.name)}</h2>${first}` +
    signature([of.declaration], names) +
    rest +
    enumTable(of.values, names)
  );
}

// The members of a class: its data as one table, then each function.
function members(of, names) {
  const data = of.filter((one) => one.kind === "variable");
  const rows = data.map((one) => {
    const declaration = linked(highlight(one.declaration, "cpp"), names);
    return [
      `<span class="m" id="${escape(one.name)}">${declaration}</span>`,
      inline(one.text, names),
    ];
  });
  const head = rows.length ? `<h2 id="members">Members</h2>` : "";
  return (
    head +
    table(rows) +
    of
      .filter((one) => one.kind !== "variable")
      .map((one) => entry(one, names))
      .join("\n")
  );
}

// Chapters of the course that link to a name, as in [`softmax`](../core/ops/softmax.cpp).
function chaptersOf(root) {
  const folder = path.join(root, "course");
  const [chapters, used] = [new Map(), new Map()];
  for (const file of fs
    .readdirSync(folder)
    .filter((name) => /^\d+_.*\.md$/.test(name))
    .sort()) {
    const markdown = fs.readFileSync(path.join(folder, file), "utf8");
    const add = (name, to = chapters) => to.set(name, (to.get(name) ?? new Set()).add(file));
    for (const [, name] of markdown.matchAll(/\[`([\w:]+)`\]\(\.\.\//g)) add(name.split("::")[0]);
    for (const [, block] of markdown.matchAll(/^```cpp.*\n([\s\S]*?)^```/gm))
      for (const [name] of block
        .replace(/"[^"]*"|\/\/.*/g, "")
        .matchAll(/(?<!\.)\b[a-zA-Z]\w{2,}(?=[ ({<:])/g))
        add(name, used);
  }
  // A name that no chapter explains is used in some.
  return (name) =>
    chapters.has(name)
      ? ["taught in", [...chapters.get(name)]]
      : ["used in", [...(used.get(name) ?? [])].slice(0, 3)];
}

// The sections of a page whose C++ the tests execute, by each name of their headings: {names, text,
// shapes, html}. Calls of error(…) and the messages that they print become a table of errors, the
// other lines the example.
function examplesOf(root, file) {
  const markdown = fs.readFileSync(path.join(root, file), "utf8");
  const examples = new Map();
  for (const [, heading, section] of markdown.matchAll(
    /^## (.*)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm,
  )) {
    const [, text, program, printed] =
      /^([\s\S]*?)```cpp\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(section) ?? [];
    if (!program) continue;
    const names = heading.split(", ");
    const parts = text.split(/\n\s*\n/).map((part) => part.trim().replace(/\n/g, " "));
    const shapes = parts.filter((part) => part.startsWith("Shapes"));
    const none = parts.find((part) => part.startsWith("Errors: "));
    const calls = [...program.matchAll(/^error\(\[&\] \{ (.*); \}\);\n/gm)].map(([, call]) => call);
    const messages = [...printed.matchAll(/^error: (.*)\n/gm)].map(([, message]) => message);
    const errors = table(
      calls.map((call, i) => [
        `<code>${highlight(call, "cpp")}</code>`,
        mono(escape(messages[i] ?? "")),
      ]),
      ["call", "message of the Error"],
    );
    const example = {
      names,
      text: parts.filter((part) => part && part !== none && !shapes.includes(part)).join("\n\n"),
      shapes,
      errors: errors || (none ? `<p>${inline(none.replace("Errors: n", "N"))}</p>` : ""),
      code: program.replace(/^error\(.*\n/gm, ""),
      output: printed.replace(/^error: .*\n/gm, ""),
    };
    for (const name of names) examples.set(name, example);
  }
  return examples;
}

// "Shapes of f: x (…, I); w (O, I) → (…, O)" as rows of a table: argument, shape, note.
function shapeTable(shapes, name) {
  const lines = shapes.filter(
    (line) =>
      !line.startsWith("Shapes of ") ||
      line
        .slice(10)
        .split(":")[0]
        .split(/, | and /)
        .includes(name),
  );
  const tables = lines.map((line) => {
    const words = line.replace(/^Shapes[^:]*: /, "");
    const [inputs, result] = words.replace(/\.$/, "").split(" → ");
    const row = (piece, fallback) => {
      const [, argument, shape, note] =
        /^([\w, ]*?) ?(\([^)]*\)|scalar)(.*)$/.exec(piece.trim()) ?? [];
      return (
        shape && [
          mono(escape(argument || fallback)),
          `<span class="m nw">${escape(shape)}</span>`,
          inline(note.replace(/^,? /, "")),
        ]
      );
    };
    const rows = [
      ...inputs.split("; ").map((piece) => row(piece, "")),
      ...(result ? [row(result, "returns")] : []),
    ];
    // A line in words stays one.
    return result && rows.every(Boolean)
      ? rows
      : words === "none."
        ? ""
        : `<p>${inline(words[0].toUpperCase() + words.slice(1))}</p>`;
  });
  const rows = tables.filter(Array.isArray).flat();
  const words = tables.filter((one) => !Array.isArray(one)).join("");
  return table(rows, ["", "shape", ""]) + words;
}

const linkOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replace(/ /g, "-");

function exampleOf(example, name, page, names) {
  if (!example) return { before: "", html: "", sections: [] };
  const shapes = shapeTable(example.shapes, name);
  const url = `../${page}.html#${linkOf(example.names.join(", "))}`;
  const parts = [
    ["Shapes", shapes],
    ["Errors", example.errors],
    [
      "Example",
      code(example.code, "cpp", "executed by the tests") +
        output(example.output) +
        `<p class="q s">Names that are not declared here are from <a href="${url}">` +
        "earlier examples of that page</a>.</p>",
    ],
  ].filter(([, html]) => html);
  return {
    before: paragraphs(example.text, names),
    html: parts
      .map(([title, html]) => `<h2 id="${title.toLowerCase()}">${title}</h2>${html}`)
      .join("\n"),
    sections: parts.map(([title]) => ({ id: title.toLowerCase(), title, level: 2, text: "" })),
  };
}

// The file that defines an operation, and the file with the same in plain loops, as links.
function definitions(site, name) {
  const links = [];
  for (const [folder, what] of [
    ["core/ops", "defined in"],
    ["core/reference", "the same as plain loops"],
  ])
    for (const file of fs
      .readdirSync(path.join(site.root, folder))
      .filter((one) => one.endsWith(".cpp"))) {
      const text = fs.readFileSync(path.join(site.root, folder, file), "utf8");
      if (!new RegExp(`^[\\w:<>]+ (reference::)?${name}\\(`, "m").test(text)) continue;
      const full = `${folder}/${file}`;
      links.push(`${what} <a class="m" href="../${site.sources.url(full, name)}">${full}</a>`);
      break;
    }
  return links;
}

export function apiPages(site, xml) {
  const { root } = site;
  if (!xml || !fs.existsSync(path.join(xml, "index.xml"))) return [];
  const compounds = fs
    .readdirSync(xml)
    .filter((name) => /^(class|struct|namespaceheed\.xml|.*_8h\.xml)/.test(name))
    .map((name) => compound(path.join(xml, name)));
  for (const { members: of } of compounds)
    for (const one of of) one.declaration = declarationIn(root, one);
  const chapters = chaptersOf(root);
  const testOf = gradientTests(root);
  const operations = examplesOf(root, "docs/operations.md");
  const classExamples = examplesOf(root, "docs/classes.md");
  const functions =
    compounds.find((one) => one.kind === "namespace" && one.name === "heed")?.members ?? [];
  const classes = compounds
    .filter(
      (one) =>
        /^(class|struct)$/.test(one.kind) &&
        !one.name.includes("<") &&
        (one.text || one.members.some((of) => of.text)),
    )
    .sort((a, b) => a.name.localeCompare(b.name));
  const aboutFile = (file) =>
    compounds.find((one) => one.kind === "file" && one.file === file)?.text ?? "";

  // Pages by the names of types. Where upper and lower case are the same, as on most laptops,
  // Linear and linear must not be one file.
  const urlOf = (name) => `${name.replace(/::/g, ".").replace(/[^\w.]/g, "_")}-class.html`;
  const urlOfFile = (file) => `${file.replace(/\//g, ".")}.html`;
  const types = new Map(
    classes.filter((one) => !one.name.includes("::")).map((one) => [one.name, urlOf(one.name)]),
  );
  for (const one of functions)
    if (/^(enum|typedef)$/.test(one.kind) && one.file && !types.has(one.name))
      types.set(one.name, `${urlOfFile(one.file)}#${one.name}`);
  const typesBut = (name) => new Map([...types].filter(([one]) => one !== name));

  const foot = (name, file, line, more = [], isLayer = false) => {
    const [how, files] = chapters(name);
    const taught = files.map(
      (chapter) =>
        `<a href="../course/${chapter.replace(/md$/, "html")}">` +
        `chapter ${Number(chapter.slice(0, 2))}</a>`,
    );
    const parts = [
      `declared in <a class="m" href="../${site.sources.url(file)}#L${line}">` +
        `${escape(file)}</a>, line ${line}`,
      ...more,
    ];
    if (taught.length) parts.push(`${how} ${taught.join(", ")}`);
    const test = testOf(name, isLayer);
    if (test)
      parts.push(
        `gradients tested in <a class="m" href="../${site.sources.url(test.file)}#L${test.line}">` +
          `${escape(test.file)}</a>: “${escape(test.title)}”`,
      );
    const text = parts.join(" · ");
    return `<p class="q s">${text[0].toUpperCase()}${text.slice(1)}</p>`;
  };
  const page = (url, title, file, body, sections, about) => ({
    file: `api/${url}`,
    url: `api/${url}`,
    title,
    section: "api",
    nav: "api",
    group: groupOf(title, file),
    kind: "api",
    about: summaryOf(about),
    body:
      `<p class="meta">${mono("heed::")} · ` +
      `${mono(`#include &lt;heed/${escape(file.replace("apps/run/", ""))}&gt;`)}</p>\n` +
      body,
    sections,
  });
  // A long name breaks at its underscores.
  const title = (name) => `<h1 class="m">${escape(name).replace(/_/g, "_<wbr>")}</h1>`;

  const isOperation = (one) =>
    /^core\/(standard|more)_ops\.h$/.test(one.file) && one.kind === "function";
  const byName = groupBy(
    functions.filter((one) => isOperation(one) && !one.name.startsWith("operator")),
    (one) => one.name,
  );
  // In the order of docs/operations.md, which is by kind.
  const order = [...operations.keys()];
  const pages = [...byName]
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([name, overloads]) => {
      const example = operations.get(name);
      const { before, html, sections } = exampleOf(example, name, "docs/operations", types);
      const others = (example?.names ?? [])
        .filter((one) => one !== name && byName.has(one))
        .map((one) => `<a class="m" href="${one}.html">${one}</a>`);
      const more = [
        ...definitions(site, name),
        ...(others.length ? [`see also ${others.join(", ")}`] : []),
      ];
      const texts = [...new Set(overloads.map((one) => one.text))];
      const [first, rest] = formulaFirst(texts[0], types);
      const body = overloads
        .map((one, i) => {
          const text = one.text === texts[0] ? rest : paragraphs(one.text, types);
          return (
            signature([one.declaration], types) + (overloads[i + 1]?.text === one.text ? "" : text)
          );
        })
        .join("\n");
      return page(
        `${name}.html`,
        name,
        "core/ops.h",
        title(name) +
          first +
          body +
          before +
          html +
          foot(name, overloads[0].file, overloads[0].line, more),
        [
          { id: name, title: name, level: 1, text: `${texts.join(" ")} ${example?.text ?? ""}` },
          ...sections,
        ],
        texts.find(Boolean) ?? example?.text ?? "",
      );
    });
  for (const one of classes) {
    const names = typesBut(one.name);
    const visible = one.members.filter(
      (of) => of.isPublic && !of.name.startsWith("~") && !of.declaration.endsWith("delete"),
    );
    const bases = one.bases.map((name) => linked(mono(escape(name)), names)).join(", ");
    const base = bases && `<p class="q s">A ${bases}</p>`;
    const {
      before,
      html,
      sections: more,
    } = exampleOf(classExamples.get(one.name), one.name, "docs/classes", names);
    const ofFile = aboutFile(one.file);
    // The main class of a header has the formula in the header's first comment.
    const stem = path.basename(one.file, ".h").replace(/_/g, "");
    const isMain = one.name.toLowerCase().endsWith(stem);
    const about = isMain ? ofFile || one.text : one.text || ofFile;
    const [own, rest] = formulaFirst(one.text || ofFile, names);
    const first = own || (isMain ? formulaFirst(ofFile, names)[0] : "");
    const body = [
      title(one.name),
      base,
      first,
      rest,
      before,
      html,
      members(visible, names),
      foot(
        one.name,
        one.file,
        one.line,
        [],
        one.file.startsWith("nn/") &&
          visible.some((of) => /^Tensor operator\(\)/.test(of.declaration)),
      ),
    ].join("");
    const sections = [
      { id: one.name, title: one.name, level: 1, text: one.text },
      ...more,
      ...visible.map((of) => ({
        id: of.name,
        title: of.name,
        level: of.kind === "variable" ? 3 : 2,
        text: of.text,
      })),
    ];
    pages.push(page(urlOf(one.name), one.name, one.file, body, unique(sections), about));
  }
  const rest = functions.filter((one) => !isOperation(one));
  for (const [file, of] of groupBy(rest, (one) => one.file)) {
    if (!file) continue;
    const about = aboutFile(file);
    const entries = of.map((one) => entry(one, typesBut(one.name)));
    const body = title(file) + paragraphs(about, types) + entries.join("\n");
    const sections = [
      { id: file, title: file, level: 1, text: about },
      ...of.map((one) => ({ id: one.name, title: one.name, level: 2, text: one.text })),
    ];
    pages.push(page(urlOfFile(file), file, file, body, unique(sections), about));
  }
  return [index(pages), ...pages];
}

function groupBy(values, key) {
  const groups = new Map();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return groups;
}

// Sections of a page, each id once: overloads share an anchor.
const unique = (sections) => [
  ...new Map(sections.map((section) => [section.id, section])).values(),
];

function index(pages) {
  const byGroup = groupBy(pages, (one) => one.group);
  const groups = groupNames.map((group) => ({ group, id: linkOf(group), of: byGroup.get(group) }));
  const urls = new Set(pages.map((one) => path.posix.basename(one.url)));
  for (const { name, page } of torchNames)
    if (!urls.has(page.split("#")[0])) throw new Error(`groups.js: ${name} leads nowhere: ${page}`);
  const body = groups.map(({ group, id, of }) => {
    const rows = of.map((one) => [
      `<a class="m" href="${path.posix.basename(one.url)}">${escape(one.title)}</a>`,
      inline(one.about),
    ]);
    return `<h2 id="${id}">${escape(group)}</h2>${table(rows)}`;
  });
  return {
    file: "api/index.html",
    url: "api/index.html",
    title: "All names",
    section: "api",
    nav: "api",
    group: "API",
    kind: "api",
    body:
      "<h1>API</h1><p>Every public function and class of heed, from the comments of its headers. " +
      "The letters of shapes (B, T, D, H, K, …) are those of " +
      `<a href="../course/index.html#one-notation">the course</a>. The last table lists ` +
      `<a href="#pytorch">PyTorch’s names</a>.</p>${body.join("\n")}` +
      `<h2 id="pytorch">PyTorch’s names</h2>` +
      table(
        [...groupBy(torchNames, (one) => one.here)].map(([here, of]) => [
          mono(of.map(({ name }) => escape(name)).join("<br>")),
          `<a href="${of[0].page}">${escape(here)}</a>`,
        ]),
        ["PyTorch", "here"],
      ),
    sections: [
      { id: "api", title: "API", level: 1, text: "" },
      ...groups.map(({ group, id }) => ({ id, title: group, level: 2, text: "" })),
      { id: "pytorch", title: "PyTorch’s names", level: 2, text: "" },
    ],
  };
}
