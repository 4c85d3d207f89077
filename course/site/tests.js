// Which test compares the gradients of an operation or a layer with central differences or with
// PyTorch's.
import fs from "node:fs";
import path from "node:path";

function casesOf(root, folder, names) {
  return fs
    .readdirSync(path.join(root, folder))
    .filter((name) => names.test(name))
    .flatMap((name) => {
      const file = `${folder}/${name}`;
      const text = fs.readFileSync(path.join(root, file), "utf8");
      const starts = [...text.matchAll(/^TEST_CASE\("(.*)"/gm)];
      return starts.map(({ index, 1: title }, i) => ({
        file,
        title,
        line: text.slice(0, index).split("\n").length,
        body: text.slice(index, starts[i + 1]?.index),
      }));
    });
}

// Returns {file, line, title} for a name, or undefined. A layer without a test of its own is tested
// in whole models.
export function gradientTests(root) {
  const operations = casesOf(root, "tests/core", /^op_table_.*\.cpp$/);
  const layers = casesOf(root, "tests/nn", /\.cpp$/).filter(
    ({ file, title, body }) => /gradient/.test(title + body) || file.endsWith("pytorch.cpp"),
  );
  const models = layers.find(({ title }) => title.startsWith("gradients of whole models"));
  return (name, isLayer) => {
    const whole = new RegExp(`\\b${name}\\b`);
    const call = new RegExp(`\\b${name}\\(`);
    const made = new RegExp(`\\b(make_unique<)?${name}\\b[^;\\n]*[({]`);
    if (/^[a-z]/.test(name))
      return (
        operations.find(({ title }) => whole.test(title)) ??
        operations.find(({ body }) => call.test(body)) ??
        operations.find(({ body }) => whole.test(body))
      );
    const of = layers.filter(({ body }) => made.test(body));
    return (
      of.find(({ title }) => /gradient/.test(title)) ??
      of.find(({ file }) => file.endsWith("pytorch.cpp")) ??
      of.find(({ body }) => body.includes("check_gradients")) ??
      (isLayer ? models : undefined)
    );
  };
}
