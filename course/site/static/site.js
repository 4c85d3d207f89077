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
  window.heedSearch = (index, options) => {
    search = window.MiniSearch.loadJS(index, options);
    show();
  };

  // Entries with all words of the query, then those with some. A title that is the query comes
  // first.
  function find(query) {
    const isQuery = (name) => name.toLowerCase() === query.toLowerCase();
    const options = {
      prefix: true,
      fuzzy: 0.15,
      boost: { title: 4, words: 4, page: 2 },
      boostDocument: (_, __, { title, weight }) =>
        weight * ([title, title.split(".").at(-1)].some((name) => isQuery(name)) ? 3 : 1),
    };
    const all = search.search(query, { ...options, combineWith: "AND" });
    const known = new Set(all.map((one) => one.id));
    return [...all, ...search.search(query, options).filter((one) => !known.has(one.id))].slice(
      0,
      12,
    );
  }

  function show() {
    list.replaceChildren();
    const query = input.value.trim();
    const found = search && query ? find(query) : [];
    for (const { title, where, url } of found) {
      const link = document.createElement("a");
      link.href = root + url;
      link.textContent = title;
      const place = document.createElement("span");
      place.textContent = where;
      link.append(place);
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

// A prediction opens its answer and stays above it, also when the page is read again.
document.querySelectorAll("details.answer").forEach((answer, i) => {
  const key = `${location.pathname}#predict-${i}`;
  const form = document.createElement("form");
  form.className = "guess";
  form.innerHTML =
    '<input aria-label="Your prediction" placeholder="Your prediction" maxlength="300">' +
    "<button>Compare</button>";
  const input = form.querySelector("input");
  const mine = document.createElement("p");
  mine.className = "mine";
  const compare = () => {
    mine.textContent = input.value.trim() && `You predicted: ${input.value.trim()}`;
    if (mine.textContent) answer.querySelector("summary").after(mine);
    answer.open = true;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    localStorage.setItem(key, input.value);
    compare();
  });
  answer.before(form);
  input.value = localStorage.getItem(key) ?? "";
  if (input.value) compare();
});
addEventListener("beforeprint", () => {
  for (const answer of document.querySelectorAll("details.answer")) answer.open = true;
});
