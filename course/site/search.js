// The index of the site's search: one entry for each section of a page, for MiniSearch in site.js.
import MiniSearch from "minisearch";

export const searchOptions = { fields: ["title", "page", "text"], storeFields: ["title", "page", "url"] };

export function searchIndex(pages) {
  const search = new MiniSearch(searchOptions);
  let id = 0;
  for (const page of pages) {
    if (page.kind === "source" || page.nav === "configs") search.add({ id: id++, title: page.title, page: "", url: page.url, text: "" });
    for (const section of page.kind === "source" ? [] : page.sections)
      search.add({
        id: id++,
        title: section.title,
        page: section.level > 1 ? page.title : "",
        url: section.level > 1 ? `${page.url}#${section.id}` : page.url,
        text: section.text,
      });
  }
  return search.toJSON();
}
