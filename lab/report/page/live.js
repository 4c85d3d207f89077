// A page of `heed view` follows its runs: whenever the server says that they have changed, the page
// reads itself again, takes over what is new, and draws it by the same code. What one has chosen,
// opened or ticked stays.

const folds = (root) => [...root.querySelectorAll("details:not(.menu)")];
const foldName = (fold) => fold.querySelector("summary").textContent;

// Takes the facts of the other page, and makes this one of them anew.
function takeOver(page, draw) {
  const main = document.querySelector("main");
  const open = new Set(folds(main).flatMap((fold) => (fold.open ? [foldName(fold)] : [])));
  const boxes = () => [...main.querySelectorAll("input[name=run]")];
  const ticked = new Set(boxes().flatMap((box) => (box.checked ? [box.value] : [])));
  const focused = main.contains(document.activeElement) ? document.activeElement : null;
  const [key, id] = [focused?.dataset.key, focused?.id];
  main.style.minHeight = `${main.offsetHeight}px`; // or it would scroll up until all is drawn
  document.getElementById("data").textContent = page.getElementById("data").textContent;
  draw();
  for (const fold of folds(main)) fold.open = open.has(foldName(fold));
  for (const box of boxes()) box.checked = ticked.has(box.value);
  const found = key
    ? main.querySelector(`[data-key="${CSS.escape(key)}"]`)
    : id && document.getElementById(id);
  if (found) found.focus({ preventScroll: true });
}

// Somebody drags or has a menu open: the page waits until they are done.
const isBusy = () => document.querySelector(".menu[open], :active:not(html, body, main)") !== null;

export function followRuns(draw) {
  const status = document.getElementById("live");
  // The version that the page was made from: what has changed since is told at once.
  const asked = new URLSearchParams(location.search);
  asked.set("version", document.body.dataset.live);
  const events = new EventSource(`/events?${asked}`);
  const state = { reading: false, again: false };
  const refresh = async () => {
    if (state.reading || isBusy()) {
      state.again = true;
      return;
    }
    state.reading = true;
    try {
      const answer = await fetch(location.href);
      takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"), draw);
    } catch {
      state.again = false; // the server has ended; the events say so
    }
    state.reading = false;
  };
  setInterval(() => {
    if (!state.again) return;
    state.again = false;
    refresh();
  }, 1000);
  events.onmessage = () => {
    state.again = true;
  };
  const say = (text, kind) => {
    status.textContent = text;
    status.className = `state ${kind}`;
  };
  events.onopen = () => say("live", "running");
  events.onerror = () => say("not connected", "failed");
}
