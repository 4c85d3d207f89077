// The pages of the site and their order: which file of the repository becomes which page, and in
// which list it appears.
//
// A page is {file, url, title, section, nav, markdown}: `file` is its path in the repository,
// `section` the place in the bar that it belongs to, and `nav` the name of the list beside it.
import fs from "node:fs";
import path from "node:path";

const read = (root, file) => fs.readFileSync(path.join(root, file), "utf8");

// Text of the first heading, without marks.
export const titleOf = (text) => (/^# (.*)$/m.exec(text)?.[1] ?? "").replace(/[`*]/g, "");

// The lists of the reference pages, in their order. A page of docs/ that none names joins the last.
const lists = [
  ["Train", "train", ["install", "data", "commands", "attention", "interoperability"]],
  [
    "Experiment",
    "experiment",
    ["experiments", "inspect", "scores", "scaling", "performance", "measurements", "reliability"],
  ],
  ["Read the code", "source", ["reading", "library", "operations", "classes", "sources"]],
];

// Help, hints and background of an exercise as one page: the task first, hints folded, then what
// lies behind it.
function exercise(root, name) {
  const folder = `course/exercises/${name}`;
  const files = fs.readdirSync(path.join(root, folder));
  let text = read(root, `${folder}/task.md`);
  text += `\n\n\`\`\`sh\n./heed course start ${name}\n./heed course check ${name}\n\`\`\`\n`;
  if (files.includes("hints.md")) {
    read(root, `${folder}/hints.md`)
      .split(/^---$/m)
      .forEach(
        (hint, i) =>
          (text += `\n<details><summary>Hint ${i + 1}</summary>\n\n${hint.trim()}\n\n</details>\n`),
      );
  }
  if (files.includes("background.md"))
    text += `\n${read(root, `${folder}/background.md`).replace(/^# /gm, "## ")}\n`;
  return text;
}

// A config as a page: how to train it, the comment at its top as text, then its keys.
function config(root, file) {
  const [, comment, keys] = /^((?:#.*\n)*)([\s\S]*)$/.exec(read(root, file));
  const link = (name) => {
    const plain = name.replaceAll("\\", "");
    return fs.existsSync(`${root}/${plain}`)
      ? `[${name}](${"../".repeat(file.split("/").length - 1)}${plain})`
      : name;
  };
  // Indented lines are commands, which Markdown wants four spaces away. In the others a file is a
  // link.
  const prose = comment
    .replace(/^# ?/gm, "")
    .split("\n")
    .map((line) =>
      line.startsWith("  ")
        ? `  ${line}`
        : line
            .replace(/[*_<]/g, "\\$&")
            .replace(
              /\b(?:docs|course|configs|data|core|nn|lab)(?:\/[\w\\.-]+)+\.(?:md|toml|cpp|h)\b/g,
              link,
            ),
    )
    .join("\n");
  const verb = file.includes("/sweeps/") ? "sweep" : "train";
  const train = `\`\`\`sh\n./heed ${verb} ${file}\n\`\`\``;
  return `# ${file}\n\n${prose}\n\n${train}\n\n\`\`\`toml\n${keys.trimStart()}\`\`\`\n`;
}

// docs/help.txt, the help of every command, as a page.
function commands(root) {
  const [, ...texts] = read(root, "docs/help.txt").split(/^## /m);
  const sections = texts.map((text) => {
    const [, name, help] = /^(.*)\n([\s\S]*)$/.exec(text);
    return `## ${name}\n\n\`\`\`text\n${help}\`\`\`\n`;
  });
  return (
    "# Commands\n\n`./heed COMMAND --help` prints the text of this page for one command. " +
    "`./heed --man | man -l -` shows all commands as a manual page, and " +
    `\`source <(./heed --completion)\` completes them in bash.\n\n${sections.join("\n")}`
  );
}

export function collectPages(root) {
  const pages = [];
  const add = (file, url, section, nav, text = read(root, file), title = titleOf(text)) => {
    pages.push({ file, url, title, section, nav, markdown: text });
  };
  const names = (folder, end) =>
    fs
      .readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith(end))
      .sort();

  add("course/README.md", "course/index.html", "learn", "course");
  for (const name of names("course", ".md").filter((file) => /^\d/.test(file)))
    add(`course/${name}`, `course/${name.replace(/md$/, "html")}`, "learn", "course");
  for (const name of ["positions", "symmetry", "diary", "alternatives", "minimal", "teaching"])
    add(`course/${name}.md`, `course/${name}.html`, "learn", "course");
  for (const name of names("course/exercises", ""))
    if (fs.existsSync(path.join(root, `course/exercises/${name}/task.md`)))
      add(
        `course/exercises/${name}/task.md`,
        `course/exercises/${name}.html`,
        "learn",
        "exercises",
        exercise(root, name),
      );
  for (const name of names("course/museum", ""))
    if (fs.existsSync(path.join(root, `course/museum/${name}/exhibit.md`)))
      add(`course/museum/${name}/exhibit.md`, `course/museum/${name}.html`, "learn", "museum");

  const docs = names("docs", ".md").map((name) => name.replace(/\.md$/, ""));
  const named = lists.flatMap(([, , of]) => of);
  lists.at(-1)[2].push(...docs.filter((name) => !named.includes(name)));
  for (const [, section, of] of lists)
    for (const name of of)
      if (docs.includes(name)) add(`docs/${name}.md`, `docs/${name}.html`, section, "docs");
      else if (name === "commands")
        add("docs/help.txt", "docs/commands.html", section, "docs", commands(root));
  add("configs/README.md", "configs/index.html", "train", "docs");
  for (const folder of ["configs", "configs/sweeps"])
    for (const name of names(folder, ".toml")) {
      const file = `${folder}/${name}`;
      add(file, file.replace(/toml$/, "html"), "train", "configs", config(root, file), file);
    }
  add("CONTRIBUTING.md", "contributing.html", "source", "docs");
  add("SECURITY.md", "security.html", "source", "docs");
  add("CHANGELOG.md", "changelog.html", "source", "docs");
  return pages;
}

// The lists of links beside a page, as [{heading, links: [{title, url}]}].
export function navigation(site, page) {
  const of = (nav) => site.pages.filter((other) => other.nav === nav);
  if (page.nav === "docs") {
    const headings = { train: "Train", experiment: "Experiment", source: "Read the code" };
    return Object.entries(headings).map(([section, heading]) => ({
      heading,
      links: of("docs").filter((other) => other.section === section),
    }));
  }
  if (page.nav === "api") {
    // The whole list is long: a page shows its own group, and the index shows all.
    const links = site.api.filter((other) => other.group === page.group && other !== site.api[0]);
    return [
      { heading: "API", links: [site.api[0]] },
      ...(links.length ? [{ heading: page.group, mono: true, links }] : []),
    ];
  }
  const headings = {
    course: "The course",
    exercises: "Exercises",
    museum: "Museum of mistakes",
    configs: "Configs",
  };
  return page.nav in headings ? [{ heading: headings[page.nav], links: of(page.nav) }] : [];
}
