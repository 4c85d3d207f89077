// Turns the Markdown of a page into the site's HTML: formulas as MathML, highlighted code beside
// its output, links to the site's own files, predictions, figures, and the list of sections.
import fs from "node:fs";
import path from "node:path";

import katexPlugin from "@vscode/markdown-it-katex";
import MarkdownIt from "markdown-it";
import anchor from "markdown-it-anchor";

import { code, output, tableClose, tableOpen } from "./html.js";
import { breakable } from "./formulas.js";
import { escape } from "./sources.js";

// The anchor that GitHub gives to a heading, which the pages' links use.
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replace(/ /g, "-");

export function markdown(site) {
  const md = new MarkdownIt({ html: true, linkify: false, typographer: false });
  md.use(katexPlugin.default ?? katexPlugin, {
    output: "mathml",
    throwOnError: true,
    strict: "ignore",
    enableFencedBlocks: true,
  });
  md.use(anchor, { slugify: slug, tabIndex: false });

  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const [language = "", kind = ""] = tokens[i].info.trim().split(/\s+/);
    const text = tokens[i].content;
    if (language === "math") return fence(tokens, i, options, env, self);
    const above = tokens[i - 1]?.type === "html_block" ? tokens[i - 2] : tokens[i - 1];
    if (language === "text" && above?.type === "fence") return output(text);
    return code(
      text,
      language,
      kind === "excerpt" ? "from the sources" : kind === "nightly" ? "executed nightly" : "",
    );
  };
  md.renderer.rules.table_open = () => tableOpen;
  md.renderer.rules.table_close = () => tableClose;
  for (const kind of ["math_inline", "math_inline_block", "math_block", "math_inline_bare_block"]) {
    const rule = md.renderer.rules[kind];
    if (rule) md.renderer.rules[kind] = (...all) => breakable(rule(...all));
  }
  // A paragraph that begins with "Predict" or "Try it" has a class of its own. After the latter the
  // playground is embedded. What the code after a prediction prints, and the text about it, are
  // folded: site.js opens them for a prediction.
  md.core.ruler.push("heed_predict", ({ tokens, Token }) => {
    const html = (content) => Object.assign(new Token("html_block", "", 0), { content });
    const isOutput = (token) => token.type === "fence" && /^text\b/.test(token.info);
    const classOf = ({ children }) => {
      const [first, second] = children.filter((token) => token.type !== "text" || token.content);
      const word = first?.type === "strong_open" && /^(Predict|Try it)/.exec(second?.content)?.[1];
      return word ? (word === "Predict" ? "predict" : "try") : "";
    };
    for (let i = 0; i < tokens.length; ++i) {
      if (tokens[i].type !== "paragraph_open" || tokens[i].level > 0) continue;
      const name = classOf(tokens[i + 1]);
      if (name) tokens[i].attrSet("class", name);
      if (name !== "predict") continue;
      let first = i + 3;
      if (tokens[first]?.type === "fence") while (!isOutput(tokens[first])) ++first;
      let end = first + Number(isOutput(tokens[first]));
      while (
        end < tokens.length &&
        !/^(fence|heading_open|html_block|hr)$/.test(tokens[end].type) &&
        !(tokens[end].type === "paragraph_open" && classOf(tokens[end + 1]))
      )
        ++end;
      tokens.splice(end, 0, html("</details>\n"));
      tokens.splice(first, 0, html('<details class="answer"><summary>Show the answer</summary>\n'));
      i = end;
    }
  });
  md.renderer.rules.paragraph_close = (tokens, i, options, env, self) => {
    const end = self.renderToken(tokens, i, options);
    if (!site.playground || tokens[i - 2].attrGet("class") !== "try") return end;
    const url = relative(env.page, "playground.html");
    return `${end}<details class="play"><summary>Open the playground here</summary>
<iframe data-src="${url}" title="Playground"></iframe>
<a class="go" href="${url}">The playground on a page of its own →</a></details>\n`;
  };
  md.renderer.rules.image = (tokens, i, options, env) => {
    const image = path.posix.join(path.posix.dirname(env.page.file), tokens[i].attrGet("src"));
    const alt = escape(tokens[i].content);
    if (!fs.existsSync(path.join(site.root, image)))
      throw new Error(`${env.page.file}: there is no ${image}`);
    site.images.add(image);
    return `<img src="${relative(env.page, image)}" alt="${alt}" loading="lazy">`;
  };

  const relative = (page, url) => path.posix.relative(path.posix.dirname(page.url), url);

  // Where a link of `page` leads on the site. `name` is the text of the link if it is code.
  function target(page, href, name) {
    if (/^(https?|mailto):/.test(href) || href.startsWith("#")) return href;
    const [file, hash = ""] = href.split("#");
    const full = path.posix.join(path.posix.dirname(page.file), file).replace(/\/$/, "");
    const end = hash ? `#${hash}` : "";
    const candidates = [full, `${full}/README.md`, `${full}/exhibit.md`, `${full}/task.md`];
    for (const candidate of candidates)
      if (site.urls.has(candidate)) return relative(page, site.urls.get(candidate)) + end;
    if (full === "README.md" || full === ".") return relative(page, "index.html");
    const url = site.sources.url(full, name);
    if (!url) throw new Error(`${page.file}: the link to ${href} leads nowhere`);
    return relative(page, url) + (url.includes("#") ? "" : end);
  }

  md.core.ruler.push("heed_links", (state) => {
    for (const block of state.tokens)
      (block.children ?? []).forEach((token, i, all) => {
        if (token.type !== "link_open") return;
        const next = all[i + 1];
        const name =
          next?.type === "code_inline" && all[i + 2]?.type === "link_close" ? next.content : "";
        token.attrSet("href", target(state.env.page, token.attrGet("href"), name));
      });
  });

  // Renders `page.markdown`. Returns {body, sections, text}: sections are [{id, title, text}] of
  // headings two and three.
  return (page) => {
    if (page.body !== undefined) return { sections: page.sections ?? [] };
    const env = { page };
    const tokens = md.parse(page.markdown, env);
    const sections = [];
    tokens.forEach((token, i) => {
      const title = (tokens[i + 1]?.children ?? []).map((child) => child.content).join("");
      if (token.type === "heading_open" && /h[1-3]/.test(token.tag))
        sections.push({ id: token.attrGet("id"), title, level: Number(token.tag[1]), text: "" });
      else if (token.type === "inline" && sections.length)
        sections.at(-1).text += ` ${(token.children ?? []).map((child) => child.content).join("")}`;
    });
    return { body: md.renderer.render(tokens, md.options, env), sections };
  };
}
