// Copy buttons and the search of every page. The index is loaded as a script when the search is
// first used: a page from the disk can load scripts, but no modules and no data.
"use strict";
(() => {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = button.closest(".cmd, .code").querySelector("code").textContent;
    navigator.clipboard?.writeText(code).then(
      () => (button.textContent = "copied"),
      () => (button.textContent = "not copied"),
    );
    setTimeout(() => (button.textContent = "copy"), 1500);
  });

  const input = document.getElementById("find");
  const list = document.getElementById("found");
  const root = input.dataset.root;
  let search = null;
  let loading = false;

  function load(file) {
    const script = document.createElement("script");
    script.src = root + file;
    document.head.append(script);
    return new Promise((resolve) => script.addEventListener("load", resolve));
  }

  // search_index.js calls this.
  window.heedSearch = (index) => {
    search = window.MiniSearch.loadJS(index, {
      fields: ["title", "page", "text"],
      storeFields: ["title", "page", "url"],
    });
    show();
  };

  function show() {
    list.replaceChildren();
    const query = input.value.trim();
    const found =
      search && query
        ? search
            .search(query, { prefix: true, fuzzy: 0.15, boost: { title: 4, page: 2 } })
            .slice(0, 12)
        : [];
    for (const { title, page, url } of found) {
      const link = document.createElement("a");
      link.href = root + url;
      link.textContent = title;
      if (page) {
        const where = document.createElement("span");
        where.textContent = page;
        link.append(where);
      }
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    if (query && search && !found.length) {
      const item = document.createElement("li");
      item.className = "q";
      item.textContent = "Nothing found";
      list.append(item);
    }
    list.hidden = !query;
  }

  input.addEventListener("focus", async () => {
    if (loading) return;
    loading = true;
    await load("minisearch.js");
    await load("search_index.js");
  });
  input.addEventListener("input", show);

  document.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && (at >= 0 || document.activeElement === input)) {
      input.value = "";
      show();
      input.focus();
    } else if (
      event.key === "ArrowDown" &&
      (at >= 0 || document.activeElement === input) &&
      links.length
    ) {
      event.preventDefault();
      links[Math.min(at + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (links[at - 1] ?? input).focus();
    } else if (event.key === "Enter" && document.activeElement === input && links.length) {
      links[0].click();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".find")) list.hidden = true;
  });
})();

// The playground within a page loads when it is opened.
for (const play of document.querySelectorAll("details.play")) {
  const frame = play.querySelector("iframe");
  play.addEventListener("toggle", () => (frame.src ||= frame.dataset.src), { once: true });
}
