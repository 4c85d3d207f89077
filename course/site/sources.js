// Pages of source files, highlighted, with an anchor for each line. Only files that another page
// links to have one.
import fs from "node:fs";
import path from "node:path";

import hljs from "highlight.js";

const languages = {
  cpp: "cpp",
  h: "cpp",
  toml: "ini",
  sh: "bash",
  py: "python",
  cmake: "cmake",
  js: "javascript",
  json: "json",
};

export const escape = (text) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

export function highlight(text, language) {
  const known = languages[language] ?? language;
  return known && hljs.getLanguage(known)
    ? hljs.highlight(text, { language: known }).value
    : escape(text);
}

// Closes a highlighted span at the end of a line and opens it again on the next, so that each line
// is whole.
export function lines(html) {
  const open = [];
  return html.split("\n").map((line) => {
    const before = open.join("");
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g))
      tag === "</span>" ? open.pop() : open.push(tag);
    return before + line + "</span>".repeat(open.length);
  });
}

export class Sources {
  #root;
  #files = new Map(); // path in the repository → url

  constructor(root) {
    this.#root = root;
  }

  // The url of a file or folder of the repository, with the line of `name` in it if there is one.
  // Null if it is missing.
  url(file, name = "") {
    const full = path.join(this.#root, file);
    if (!fs.existsSync(full)) return null;
    const folder = fs.statSync(full).isDirectory();
    const url = folder ? `source/${file.replace(/\/$/, "")}/index.html` : `source/${file}.html`;
    this.#files.set(file.replace(/\/$/, ""), url);
    if (folder || !name) return url;
    const line = this.#lineOf(full, name.split("::").at(-1).replace(/\(.*$/, ""));
    return line ? `${url}#L${line}` : url;
  }

  // The first line that looks like a declaration or definition of `name`, else the first that has
  // it; from 1, 0 if none.
  #lineOf(full, name) {
    const word = new RegExp(`(^|[^\\w])${name.replace(/[^\w]/g, "\\$&")}([^\\w]|$)`);
    const text = fs.readFileSync(full, "utf8").split("\n");
    const code = text.map((line) => line.replace(/\/\/.*/, ""));
    const declares = (line) =>
      word.test(line) &&
      new RegExp(`(class|struct|enum|using|namespace|[\\w>&*] [&*]?(\\w+::)*)\\s*${name}\\b`).test(
        line,
      );
    return code.findIndex(declares) + 1 || code.findIndex((line) => word.test(line)) + 1;
  }

  pages() {
    // A folder's page links to its files, which then have pages, too.
    for (const [file] of [...this.#files])
      if (fs.statSync(path.join(this.#root, file)).isDirectory())
        for (const name of this.#filesOf(file)) this.url(`${file}/${name}`);
    return [...this.#files].sort().map(([file, url]) => ({
      file,
      url,
      title: file,
      section: "source",
      nav: "source",
      kind: "source",
      sections: [],
      body: this.#body(file),
    }));
  }

  #filesOf(folder) {
    const all = fs.readdirSync(path.join(this.#root, folder), { withFileTypes: true });
    return all
      .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
      .map((entry) => entry.name)
      .sort();
  }

  #body(file) {
    const full = path.join(this.#root, file);
    if (fs.statSync(full).isDirectory()) {
      const items = this.#filesOf(file).map(
        (name) => `<li><a href="${escape(name)}.html">${escape(name)}</a></li>`,
      );
      return `<h1 class="m">${escape(file)}/</h1>\n<ul class="m">${items.join("\n")}</ul>`;
    }
    const text = fs.readFileSync(full, "utf8").replace(/\n$/, "");
    const numbered = lines(highlight(text, path.extname(file).slice(1))).map((line, i) => {
      const anchor = `<a id="L${i + 1}" href="#L${i + 1}" aria-label="line ${i + 1}">`;
      return `${anchor}${String(i + 1).padStart(4)}</a> ${line}`;
    });
    const listing = `<pre class="numbered"><code>${numbered.join("\n")}</code></pre>`;
    return `<h1 class="m">${escape(file)}</h1>\n${listing}`;
  }
}
