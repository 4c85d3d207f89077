// The index of the site's search: one entry for each section of a page, for MiniSearch in site.js,
// which gets the same options with it.
import MiniSearch from "minisearch";

import { torchNames } from "./groups.js";

export const searchOptions = {
  fields: ["title", "words", "page", "text"],
  storeFields: ["title", "where", "url", "weight"],
};

const places = {
  train: "Train",
  experiment: "Experiment",
  learn: "Learn",
  api: "API",
  source: "Source",
};

// The words that a name is made of: KeepMask is found by "mask".
const wordsOf = (title) => title.replace(/([a-z])([A-Z])/g, "$1 $2");

export function searchIndex(pages) {
  const search = new MiniSearch(searchOptions);
  let count = 0;
  for (const page of pages) {
    const place = places[page.section] ?? "";
    const add = (title, inside, url, text, weight) =>
      search.add({
        id: count++,
        title,
        words: wordsOf(title),
        page: wordsOf(inside),
        where: [place, inside].filter(Boolean).join(" · "),
        url,
        text,
        weight,
      });
    if (page.kind === "source") add(page.title, "", page.url, "", 0.5);
    // A page before its sections, and those before the members of a struct; names of the API before
    // texts. Shapes, errors and examples have no words of their own.
    else
      for (const { id, title, level, text } of page.sections)
        if (level === 1 || page.kind !== "api" || text || !/^(shapes|errors|example)$/.test(id))
          add(
            title,
            level > 1 ? page.title : "",
            level > 1 ? `${page.url}#${id}` : page.url,
            text,
            [0, page.kind === "api" ? 2.4 : 1.5, 1, 0.8][level],
          );
  }
  if (pages.some((page) => page.kind === "api"))
    for (const { name, here, page } of torchNames)
      search.add({
        id: count++,
        title: name,
        words: name.split(".").at(-1),
        page: "",
        where: `PyTorch · here ${here}`,
        url: `api/${page}`,
        text: "",
        weight: 2,
      });
  return search.toJSON();
}
